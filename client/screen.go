package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"github.com/evertty/evertty/wire"
)

// Format is a form of a snapshot.
type Format string

// The forms.
const (
	ANSI Format = wire.FormatANSI
	Text Format = wire.FormatText
	JSON Format = wire.FormatJSON
	HTML Format = wire.FormatHTML
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
	var text string
	switch f {
	case ANSI:
		return s.Data
	case JSON:
		return string(s.Raw)
	}
	var reply map[string]json.RawMessage
	if json.Unmarshal(s.Raw, &reply) == nil {
		_ = json.Unmarshal(reply[string(f)], &text) // "" for another format
	}
	return text
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
