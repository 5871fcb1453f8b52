package client

import (
	"context"
	"net/http"
)

// inputPiece bounds the input of one request, in bytes: as base64 it stays below
// the 1 MiB that the server takes.
const inputPiece = 512 << 10

// Input writes data to the program, all of it and in order, as if typed. Any
// bytes are allowed. It returns the number of bytes the server has accepted,
// which is less than len(data) only together with an error.
func (c *Client) Input(ctx context.Context, id string, data []byte) (int, error) {
	sent := 0
	for {
		piece := data[sent:min(len(data), sent+inputPiece)]
		body := struct {
			Data []byte `json:"data_b64"`
		}{append([]byte{}, piece...)}
		if err := c.post(ctx, id, "input", body); err != nil {
			return sent, err
		}
		if sent += len(piece); sent == len(data) {
			return sent, nil
		}
	}
}

// Keys presses named keys (tmux's names: C-c, Up, Enter, F1, text:abc), encoded
// the way the program asked for.
func (c *Client) Keys(ctx context.Context, id string, keys ...string) error {
	return c.post(ctx, id, "keys", struct {
		Keys []string `json:"keys"`
	}{keys})
}

// Paste inserts text as a terminal pastes it: in brackets when the program asked
// for them. Bytes that are not UTF-8 become U+FFFD.
func (c *Client) Paste(ctx context.Context, id, text string) error {
	return c.post(ctx, id, "paste", struct {
		Data string `json:"data"`
	}{text})
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
