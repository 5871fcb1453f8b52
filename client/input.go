package client

import (
	"context"
	"net/http"
)

// inputPiece bounds the input of one request, in bytes: as base64 it stays below
// the 1 MiB that the server takes.
const inputPiece = 512 << 10

// Sent is what became of something that was typed.
type Sent struct {
	Bytes int `json:"bytes"` // that the program got
	// Seq is the position of the output just before: what the input leads to is
	// printed behind it. It is the Since of a wait that misses nothing.
	Seq uint64 `json:"seq"`
}

// Input writes data to the program, all of it and in order, as if typed. Any
// bytes are allowed. Sent.Bytes is less than len(data) only together with an error.
func (c *Client) Input(ctx context.Context, id string, data []byte) (Sent, error) {
	var all Sent
	for {
		piece := data[all.Bytes:min(len(data), all.Bytes+inputPiece)]
		body := struct {
			Data []byte `json:"data_b64"`
		}{append([]byte{}, piece...)}
		s, err := c.send(ctx, id, "input", body)
		if err != nil {
			return all, err
		}
		if all.Bytes == 0 {
			all.Seq = s.Seq
		}
		if all.Bytes += len(piece); all.Bytes == len(data) {
			return all, nil
		}
	}
}

// Keys presses named keys (tmux's names: C-c, Up, Enter, F1, text:abc), encoded
// the way the program asked for.
func (c *Client) Keys(ctx context.Context, id string, keys ...string) (Sent, error) {
	return c.send(ctx, id, "keys", struct {
		Keys []string `json:"keys"`
	}{keys})
}

// MouseEvent is what a mouse does in a cell.
type MouseEvent struct {
	X      int      `json:"x"`                // column, from 0
	Y      int      `json:"y"`                // row, from 0
	Button string   `json:"button,omitempty"` // left, middle, right, wheel_up, wheel_down, wheel_left, wheel_right, none
	Action string   `json:"action,omitempty"` // press, release, move, click
	Mods   []string `json:"mods,omitempty"`   // shift, alt, ctrl
}

// Mouse sends what a mouse does, the way the program asked for. Sent.Bytes is 0
// when it did not ask.
func (c *Client) Mouse(ctx context.Context, id string, e MouseEvent) (Sent, error) {
	return c.send(ctx, id, "keys", struct {
		Mouse MouseEvent `json:"mouse"`
	}{e})
}

// Paste inserts text as a terminal pastes it: in brackets when the program asked
// for them, without control characters. Bytes that are not UTF-8 become U+FFFD.
func (c *Client) Paste(ctx context.Context, id, text string) (Sent, error) {
	return c.send(ctx, id, "paste", struct {
		Data string `json:"data"`
	}{text})
}

func (c *Client) send(ctx context.Context, id, verb string, body any) (s Sent, err error) {
	err = c.call(ctx, http.MethodPost, c.at(nil, "pty", id, verb), body, &s)
	return s, err
}

// Resize changes the screen, 1..1000 columns and rows; the program gets SIGWINCH.
func (c *Client) Resize(ctx context.Context, id string, cols, rows int) error {
	return c.post(ctx, id, "resize", struct {
		Cols int `json:"cols"`
		Rows int `json:"rows"`
	}{cols, rows})
}

// Signal sends a signal (INT, SIGTERM, …) to the foreground process group.
func (c *Client) Signal(ctx context.Context, id, name string) error {
	return c.post(ctx, id, "signal", struct {
		Signal string `json:"signal"`
	}{name})
}

func (c *Client) post(ctx context.Context, id, verb string, body any) error {
	return c.call(ctx, http.MethodPost, c.at(nil, "pty", id, verb), body, nil)
}
