package client

import (
	"context"
	"net/http"

	"github.com/evertty/evertty/wire"
)

// inputPiece bounds the input of one request, in bytes: as base64 it stays below the 1 MiB that the
// server takes.
const inputPiece = 512 << 10

// inputBody is a wire.Input whose bytes are always there, also when there are none.
type inputBody struct {
	Data []byte `json:"data_b64"`
}

func newInputBody(p []byte) inputBody { return inputBody{append([]byte{}, p...)} }

// Input writes data to the program, all of it and in order, as if it was typed. Any bytes are
// allowed. Bytes of the reply is less than len(data) only together with an error.
func (c *Client) Input(ctx context.Context, id string, data []byte) (wire.Sent, error) {
	var all wire.Sent
	for {
		piece := data[all.Bytes:min(len(data), all.Bytes+inputPiece)]
		s, err := c.send(ctx, id, "input", newInputBody(piece))
		if err != nil {
			return all, err
		}
		if all.Bytes == 0 {
			all.Seq = s.Seq
		}
		all.Success = true
		if all.Bytes += len(piece); all.Bytes == len(data) {
			return all, nil
		}
	}
}

// Keys presses named keys (tmux's names: C-c, Up, Enter, F1, text:abc), encoded the way the program
// asked for.
func (c *Client) Keys(ctx context.Context, id string, keys ...string) (wire.Sent, error) {
	return c.send(ctx, id, "keys", wire.Keys{Keys: keys})
}

// Mouse sends a mouse event in the encoding that the program asked for. Bytes of the reply is 0 when
// it did not ask.
func (c *Client) Mouse(ctx context.Context, id string, e wire.MouseEvent) (wire.Sent, error) {
	return c.send(ctx, id, "keys", wire.Keys{Mouse: &e})
}

// Paste inserts text as a terminal pastes it: bracketed when the program asked for it, without
// control characters. Bytes that are not UTF-8 become U+FFFD.
func (c *Client) Paste(ctx context.Context, id, text string) (wire.Sent, error) {
	return c.send(ctx, id, "paste", wire.Paste{Data: text})
}

func (c *Client) send(ctx context.Context, id, verb string, body any) (wire.Sent, error) {
	return call[wire.Sent](ctx, c, http.MethodPost, c.at(nil, "pty", id, verb), body)
}

// Resize changes the screen, 1..1000 columns and rows; the program gets SIGWINCH.
func (c *Client) Resize(ctx context.Context, id string, cols, rows int) error {
	return c.post(ctx, id, "resize", wire.Size{Cols: cols, Rows: rows})
}

// Signal sends a signal (INT, SIGTERM, …) to the foreground process group.
func (c *Client) Signal(ctx context.Context, id, name string) error {
	return c.post(ctx, id, "signal", wire.Signal{Signal: name})
}

func (c *Client) post(ctx context.Context, id, verb string, body any) error {
	return c.call(ctx, http.MethodPost, c.at(nil, "pty", id, verb), body, nil)
}
