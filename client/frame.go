package client

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
)

// First byte of a binary WebSocket frame.
const (
	frameInput    = 0x00 // to the server: input bytes
	frameSnapshot = 0x01 // u16be cols, u16be rows, u64be seq, ANSI
	frameData     = 0x02 // u64be seq, output
	frameControl  = 0x03 // JSON, both ways
)

// Sizes of the headers behind the first byte, in bytes.
const (
	snapshotHeader = 2 + 2 + 8
	dataHeader     = 8
)

// ErrBadFrame is wrapped by the errors of frames that break the protocol.
var ErrBadFrame = errors.New("bad frame")

// decodeFrame reads a binary frame. Data of the event aliases p. known is false for frames that this
// package does not know; a newer server may send them.
func decodeFrame(p []byte) (e Event, known bool, err error) {
	if len(p) == 0 {
		return e, false, fmt.Errorf("client: %w: it is empty", ErrBadFrame)
	}
	kind, p := p[0], p[1:]
	switch kind {
	case frameSnapshot:
		if len(p) < snapshotHeader {
			return e, false, fmt.Errorf("client: %w: snapshot of %d bytes", ErrBadFrame, len(p))
		}
		return Event{
			Kind: KindSnapshot,
			Cols: int(binary.BigEndian.Uint16(p)), Rows: int(binary.BigEndian.Uint16(p[2:])),
			Seq: binary.BigEndian.Uint64(p[4:]), Data: p[snapshotHeader:],
		}, true, nil
	case frameData:
		if len(p) < dataHeader {
			return e, false, fmt.Errorf("client: %w: data of %d bytes", ErrBadFrame, len(p))
		}
		return Event{Kind: KindData, Seq: binary.BigEndian.Uint64(p), Data: p[dataHeader:]}, true, nil
	case frameControl:
		return decodeControl(p)
	}
	return e, false, nil
}

// decodeControl reads the JSON of a control frame: an event with its name in it.
func decodeControl(p []byte) (e Event, known bool, err error) {
	var head struct {
		Event Kind `json:"event"`
	}
	if err := json.Unmarshal(p, &head); err != nil {
		return e, false, fmt.Errorf("client: %w: %w", ErrBadFrame, err)
	}
	return decodeEvent(head.Event, p)
}

// controlFrame is a command of wire in a control frame.
func controlFrame(command any) []byte {
	b, _ := json.Marshal(command) // cannot fail: strings and numbers
	return append([]byte{frameControl}, b...)
}
