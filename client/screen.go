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

// WaitCondition is what can be waited for.
type WaitCondition struct {
	For     string // text, regex, idle, exit, prompt, title, cursor, alt_screen or mode
	Pattern string // of text, regex and title
	Idle    time.Duration
	// Not waits for absence: of text, regex, title, cursor, alt_screen, mode or prompt.
	Not        bool
	ScreenOnly bool   // text and regex leave the history out
	X, Y       *int   // of cursor, from 0; nil: any
	Mode       string // of mode: a name of the modes in the snapshot as JSON
	Value      any    // of mode; nil is true
}

// WaitRequest says what to wait for.
type WaitRequest struct {
	For     string        // as in WaitCondition; "" with Any
	Pattern string        // of text, regex and title
	Idle    time.Duration // of idle; 0: the server's default
	Timeout time.Duration // 0: the server's default
	// Since has only what was printed or changed behind this position count: Seq of
	// what was sent, or of the wait before. nil: what is on the screen counts too.
	Since      *uint64
	IgnoreEcho bool // the echo of what was sent does not count as text
	Not        bool
	ScreenOnly bool
	X, Y       *int
	Mode       string
	Value      any
	Any        []WaitCondition // conditions instead of one; WaitReply.Index says which was true
}

// WaitReply is what a wait found.
type WaitReply struct {
	Matched bool   `json:"matched"`
	Text    string `json:"text"`
	// Seq is the Since of a next wait that misses nothing.
	Seq   uint64     `json:"seq"`
	Index *int       `json:"index,omitempty"` // of Any
	Match *WaitMatch `json:"match,omitempty"` // of text and regex
	Exit  *Exit      `json:"exit,omitempty"`
}

// WaitMatch is what text or regex matched, and the positions in the output that
// it was printed between.
type WaitMatch struct {
	Text  string `json:"text"`
	Start uint64 `json:"start_seq"`
	End   uint64 `json:"end_seq"`
}

// condition is a condition as the server takes it.
type condition struct {
	For        string `json:"for,omitempty"`
	Pattern    string `json:"pattern,omitempty"`
	Idle       int64  `json:"idle_ms,omitempty"`
	Not        bool   `json:"not,omitempty"`
	ScreenOnly bool   `json:"screen_only,omitempty"`
	X          *int   `json:"x,omitempty"`
	Y          *int   `json:"y,omitempty"`
	Mode       string `json:"mode,omitempty"`
	Value      any    `json:"value,omitempty"`
}

func (c WaitCondition) body() condition {
	return condition{c.For, c.Pattern, c.Idle.Milliseconds(), c.Not, c.ScreenOnly, c.X, c.Y, c.Mode, c.Value}
}

// Wait returns when the condition holds. When it does not in time the error
// matches ErrTimeout. ctx should live longer than r.Timeout.
func (c *Client) Wait(ctx context.Context, id string, r WaitRequest) (WaitReply, error) {
	body := struct {
		condition
		Any        []condition `json:"any,omitempty"`
		Timeout    int64       `json:"timeout_ms,omitempty"`
		Since      *uint64     `json:"since,omitempty"`
		IgnoreEcho bool        `json:"ignore_echo,omitempty"`
	}{Timeout: r.Timeout.Milliseconds(), Since: r.Since, IgnoreEcho: r.IgnoreEcho}
	body.condition = WaitCondition{r.For, r.Pattern, r.Idle, r.Not, r.ScreenOnly, r.X, r.Y, r.Mode, r.Value}.body()
	for _, one := range r.Any {
		body.Any = append(body.Any, one.body())
	}
	var w WaitReply
	err := c.call(ctx, http.MethodPost, c.at(nil, "pty", id, "wait"), body, &w)
	return w, err
}
