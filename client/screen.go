package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Format is a form of a snapshot.
type Format string

// The forms.
const (
	ANSI Format = "ansi" // what rebuilds the screen on a fresh terminal of its size
	Text Format = "text" // plain lines
	JSON Format = "json" // cells, styles, modes
	HTML Format = "html" // a page fragment
)

// AllHistory asks for all history lines there are.
const AllHistory = -1

// Snapshot is the screen at one position of the output. Which of the contents
// is set depends on the format.
type Snapshot struct {
	Data string `json:"data,omitempty"` // ansi
	Text string `json:"text,omitempty"` // text
	HTML string `json:"html,omitempty"` // html
	Cols int    `json:"cols"`
	Rows int    `json:"rows"`
	Seq  uint64 `json:"seq"`
	// Raw is the whole reply, of every format.
	Raw json.RawMessage `json:"-"`
}

// Content is the snapshot as the format it was asked in.
func (s Snapshot) Content(f Format) string {
	switch f {
	case ANSI:
		return s.Data
	case Text:
		return s.Text
	case HTML:
		return s.HTML
	}
	return string(s.Raw)
}

// Snapshot returns the screen and the last scrollback lines of its history:
// 0 is the screen alone, negative (AllHistory) is everything.
func (c *Client) Snapshot(ctx context.Context, id string, f Format, scrollback int) (Snapshot, error) {
	q := url.Values{"format": {string(f)}, "scrollback": {strconv.Itoa(max(scrollback, AllHistory))}}
	var s Snapshot
	if err := c.call(ctx, http.MethodGet, c.at(q, "pty", id, "snapshot"), nil, &s.Raw); err != nil {
		return s, err
	}
	return s, json.Unmarshal(s.Raw, &s)
}

// WaitRequest says what to wait for.
type WaitRequest struct {
	For     string        // text, regex, idle, exit or prompt
	Pattern string        // of text and regex
	Idle    time.Duration // of idle; 0: the server's default
	Timeout time.Duration // 0: the server's default
	Since   *uint64       // nil: what is on the screen counts too
}

// WaitReply is what a wait found.
type WaitReply struct {
	Matched bool   `json:"matched"`
	Text    string `json:"text"`
	Seq     uint64 `json:"seq"`
	Exit    *Exit  `json:"exit,omitempty"`
}

// Wait returns when the condition holds. When it does not in time the error
// matches ErrTimeout. ctx should live longer than r.Timeout.
func (c *Client) Wait(ctx context.Context, id string, r WaitRequest) (WaitReply, error) {
	body := struct {
		For     string  `json:"for"`
		Pattern string  `json:"pattern,omitempty"`
		Idle    int64   `json:"idle_ms,omitempty"`
		Timeout int64   `json:"timeout_ms,omitempty"`
		Since   *uint64 `json:"since,omitempty"`
	}{r.For, r.Pattern, r.Idle.Milliseconds(), r.Timeout.Milliseconds(), r.Since}
	var w WaitReply
	err := c.call(ctx, http.MethodPost, c.at(nil, "pty", id, "wait"), body, &w)
	return w, err
}
