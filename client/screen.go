package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
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

// Snapshot is the screen at one position of the output. The format decides which of the contents is
// set.
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

// Content is the snapshot in the format f, in which it was asked for.
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

// Snapshot returns the screen and the last scrollback lines of its history: 0 is the screen alone,
// negative (AllHistory) is everything.
func (t terminals) Snapshot(ctx context.Context, id string, f Format, scrollback int) (Snapshot, error) {
	q := url.Values{"format": {string(f)}, "scrollback": {strconv.Itoa(max(scrollback, AllHistory))}}
	var s Snapshot
	if err := t.call(ctx, http.MethodGet, t.at(q, "pty", id, "snapshot"), nil, &s.Raw); err != nil {
		return s, err
	}
	return s, json.Unmarshal(s.Raw, &s)
}
