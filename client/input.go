package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/evertty/evertty/wire"
)

// inputPiece bounds the input of one request, in bytes: as base64 it stays below the 1 MiB that the
// server takes.
const inputPiece = 512 << 10

// Input writes data to the program, all of it and in order, as if it was typed. Any bytes are
// allowed. Bytes of the reply is less than len(data) only together with an error: it is how much
// the program got. More than 512 KiB go in several requests, which end behind a line where they can,
// so that the server sees lines that are too long whole.
func (t terminals) Input(ctx context.Context, id string, data []byte) (wire.Sent, error) {
	var all wire.Sent
	for {
		before := all.Bytes
		piece := data[before : before+pieceOf(data[before:], inputPiece)]
		s, err := t.API().SendInput(ctx,
			wire.Input{TerminalRef: wire.TerminalRef{ID: id}, DataB64: new(append([]byte{}, piece...))})
		if refused, ok := errors.AsType[*Error](err); ok && refused.Code == codeBlocked {
			_ = json.Unmarshal(refused.Details, &s) // bytes and seq
		} else if err == nil {
			s.Bytes = len(piece)
		}
		if all.Bytes += s.Bytes; before == 0 {
			all.Seq = s.Seq
		}
		switch all.Success = err == nil; {
		case err != nil && before > 0:
			return all, fmt.Errorf("%d bytes were typed, then: %w", before, err)
		case err != nil || all.Bytes == len(data):
			return all, err
		}
	}
}

// pieceOf is the length of the part of p, of at most so many bytes, that is sent at once: up to the
// end of a line unless a single one is longer.
func pieceOf(p []byte, most int) int {
	if len(p) <= most {
		return len(p)
	}
	if end := bytes.LastIndexAny(p[:most], "\r\n"); end >= 0 {
		return end + 1
	}
	return most
}

// Keys presses named keys (tmux's names: C-c, Up, Enter, F1, text:abc), encoded the way the program
// asked for.
func (t terminals) Keys(ctx context.Context, id string, keys ...string) (wire.Sent, error) {
	return t.API().SendKeys(ctx, wire.Keys{TerminalRef: wire.TerminalRef{ID: id}, Keys: keys})
}

// Paste inserts text as a terminal pastes it: bracketed when the program asked for it, without
// control characters. Bytes that are not UTF-8 become U+FFFD.
func (t terminals) Paste(ctx context.Context, id, text string) (wire.Sent, error) {
	return t.API().Paste(ctx, wire.Paste{TerminalRef: wire.TerminalRef{ID: id}, Data: &text})
}
