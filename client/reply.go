package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/evertty/evertty/wire"
)

// Terminal is a terminal without its screen.
type Terminal struct {
	wire.Terminal
	Raw json.RawMessage `json:"-"` // the object as the server sent it, with fields of newer servers
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *Terminal) UnmarshalJSON(p []byte) error { return decodeRaw(p, &t.Terminal, &t.Raw) }

// ExecResult is how a command ended. Of one in the background it has only CommandID and PID.
type ExecResult struct {
	wire.ExecResult
	PID int             `json:"pid"` // of a command in the background
	Raw json.RawMessage `json:"-"`   // the object as the server sent it
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *ExecResult) UnmarshalJSON(p []byte) error {
	reply := struct {
		*wire.ExecResult
		PID *int `json:"pid"`
	}{&r.ExecResult, &r.PID}
	return decodeRaw(p, &reply, &r.Raw)
}

// Output is the exact stdout and stderr.
func (r *ExecResult) Output() (stdout, stderr []byte) {
	return exact(r.Stdout, r.StdoutB64), exact(r.Stderr, r.StderrB64)
}

// exact are the bytes of a text; b64 is nil when the text is valid UTF-8.
func exact(text string, b64 []byte) []byte {
	if b64 != nil {
		return b64
	}
	return []byte(text)
}

// Command is a command of a shell.
type Command struct {
	wire.Command
	Raw json.RawMessage `json:"-"` // the object as the server sent it
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *Command) UnmarshalJSON(p []byte) error { return decodeRaw(p, &c.Command, &c.Raw) }

// ShellInfo is a shell of a session.
type ShellInfo struct {
	wire.ShellInfo
	Raw json.RawMessage `json:"-"` // the object as the server sent it
}

// UnmarshalJSON implements json.Unmarshaler.
func (i *ShellInfo) UnmarshalJSON(p []byte) error { return decodeRaw(p, &i.ShellInfo, &i.Raw) }

// Thread owns terminals. It outlives their processes.
type Thread struct {
	wire.Thread
	Raw json.RawMessage `json:"-"` // the object as the server sent it
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *Thread) UnmarshalJSON(p []byte) error { return decodeRaw(p, &t.Thread, &t.Raw) }

// ThreadEvent is one thing that happened to a thread. Numbers grow by one from 1; Seq 0 is
// ThreadDeleted, the last event.
type ThreadEvent struct {
	wire.ThreadEvent
	Raw json.RawMessage `json:"-"` // the object as the server sent it
}

// UnmarshalJSON implements json.Unmarshaler.
func (e *ThreadEvent) UnmarshalJSON(p []byte) error { return decodeRaw(p, &e.ThreadEvent, &e.Raw) }

// Lease is the durable handle of compute.
type Lease struct {
	wire.Lease
	Raw json.RawMessage `json:"-"` // the object as the server sent it
}

// UnmarshalJSON implements json.Unmarshaler.
func (l *Lease) UnmarshalJSON(p []byte) error { return decodeRaw(p, &l.Lease, &l.Raw) }

// Permissions say what may be done with the terminals of a thread: a mode and rules.
type Permissions struct {
	wire.Permissions
	Raw json.RawMessage `json:"-"` // the object as the server sent it
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *Permissions) UnmarshalJSON(b []byte) error { return decodeRaw(b, &p.Permissions, &p.Raw) }

// Approval is a call that a person decides or has decided about.
type Approval struct {
	wire.Approval
	Raw json.RawMessage `json:"-"` // the object as the server sent it
}

// UnmarshalJSON implements json.Unmarshaler.
func (a *Approval) UnmarshalJSON(p []byte) error { return decodeRaw(p, &a.Approval, &a.Raw) }

// Attached is the state of a thread's record after AttachThread.
type Attached struct {
	wire.Attached
	Raw json.RawMessage `json:"-"` // the object as the server sent it
}

// UnmarshalJSON implements json.Unmarshaler.
func (a *Attached) UnmarshalJSON(p []byte) error { return decodeRaw(p, &a.Attached, &a.Raw) }

// decodeRaw decodes p into v and copies it into raw.
func decodeRaw(p []byte, v any, raw *json.RawMessage) error {
	if err := json.Unmarshal(p, v); err != nil {
		return err
	}
	*raw = append((*raw)[:0], p...)
	return nil
}

// call is connection.call for a reply of type T.
func call[T any](ctx context.Context, c *connection, method, target string, body any) (reply T, err error) {
	err = c.call(ctx, method, target, body, &reply)
	return reply, err
}

// list returns the field of a reply that is a list of T.
func list[T any](ctx context.Context, c *connection, field, target string) (items []T, err error) {
	reply, err := call[map[string]json.RawMessage](ctx, c, http.MethodGet, target, nil)
	if err == nil && reply[field] != nil {
		err = json.Unmarshal(reply[field], &items)
	}
	return items, err
}

// pages returns all items of a list that comes in pages.
func pages[T any](ctx context.Context, c *connection, field string, query url.Values, segments ...string) ([]T, error) {
	all := []T{}
	query.Set("limit", "1000")
	for {
		page, err := call[map[string]json.RawMessage](ctx, c, http.MethodGet, c.at(query, segments...), nil)
		var items []T
		var next string
		for name, into := range map[string]any{field: &items, "next": &next} {
			if err == nil && page[name] != nil {
				err = json.Unmarshal(page[name], into)
			}
		}
		all = append(all, items...)
		if err != nil || next == "" {
			return all, err
		}
		query.Set("after", next)
	}
}
