package client

import (
	"encoding/json"

	"github.com/evertty/evertty/wire"
)

// Terminal is a terminal without its screen.
type Terminal struct {
	wire.Terminal
	Raw json.RawMessage `json:"-"` // the object as the server sent it, with fields of newer servers
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *Terminal) UnmarshalJSON(p []byte) error { return decodeRaw(p, &t.Terminal, &t.Raw) }

// MarshalJSON implements json.Marshaler: it is Raw, unless that is nil.
func (t Terminal) MarshalJSON() ([]byte, error) { return encodeRaw(t.Raw, t.Terminal) }

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

// MarshalJSON implements json.Marshaler: it is Raw, unless that is nil.
func (r ExecResult) MarshalJSON() ([]byte, error) { return encodeRaw(r.Raw, r.ExecResult) }

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

// MarshalJSON implements json.Marshaler: it is Raw, unless that is nil.
func (c Command) MarshalJSON() ([]byte, error) { return encodeRaw(c.Raw, c.Command) }

// ShellInfo is a shell of a session.
type ShellInfo struct {
	wire.ShellInfo
	Raw json.RawMessage `json:"-"` // the object as the server sent it
}

// UnmarshalJSON implements json.Unmarshaler.
func (i *ShellInfo) UnmarshalJSON(p []byte) error { return decodeRaw(p, &i.ShellInfo, &i.Raw) }

// MarshalJSON implements json.Marshaler: it is Raw, unless that is nil.
func (i ShellInfo) MarshalJSON() ([]byte, error) { return encodeRaw(i.Raw, i.ShellInfo) }

// Thread owns terminals. It outlives their processes.
type Thread struct {
	wire.Thread
	Raw json.RawMessage `json:"-"` // the object as the server sent it
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *Thread) UnmarshalJSON(p []byte) error { return decodeRaw(p, &t.Thread, &t.Raw) }

// MarshalJSON implements json.Marshaler: it is Raw, unless that is nil.
func (t Thread) MarshalJSON() ([]byte, error) { return encodeRaw(t.Raw, t.Thread) }

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

// MarshalJSON implements json.Marshaler: it is Raw, unless that is nil.
func (l Lease) MarshalJSON() ([]byte, error) { return encodeRaw(l.Raw, l.Lease) }

// Permissions say what may be done with the terminals of a thread: a mode and rules.
type Permissions struct {
	wire.Permissions
	Raw json.RawMessage `json:"-"` // the object as the server sent it
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *Permissions) UnmarshalJSON(b []byte) error { return decodeRaw(b, &p.Permissions, &p.Raw) }

// MarshalJSON implements json.Marshaler: it is Raw, unless that is nil.
func (p Permissions) MarshalJSON() ([]byte, error) { return encodeRaw(p.Raw, p.Permissions) }

// Approval is a call that a person decides or has decided about.
type Approval struct {
	wire.Approval
	Raw json.RawMessage `json:"-"` // the object as the server sent it
}

// UnmarshalJSON implements json.Unmarshaler.
func (a *Approval) UnmarshalJSON(p []byte) error { return decodeRaw(p, &a.Approval, &a.Raw) }

// MarshalJSON implements json.Marshaler: it is Raw, unless that is nil.
func (a Approval) MarshalJSON() ([]byte, error) { return encodeRaw(a.Raw, a.Approval) }

// Attached is the state of a thread's record after AttachThread.
type Attached struct {
	wire.Attached
	Raw json.RawMessage `json:"-"` // the object as the server sent it
}

// UnmarshalJSON implements json.Unmarshaler.
func (a *Attached) UnmarshalJSON(p []byte) error { return decodeRaw(p, &a.Attached, &a.Raw) }

// MarshalJSON implements json.Marshaler: it is Raw, unless that is nil.
func (a Attached) MarshalJSON() ([]byte, error) { return encodeRaw(a.Raw, a.Attached) }

// decodeRaw decodes p into v and copies it into raw.
func decodeRaw(p []byte, v any, raw *json.RawMessage) error {
	if err := json.Unmarshal(p, v); err != nil {
		return err
	}
	*raw = append((*raw)[:0], p...)
	return nil
}

// encodeRaw is raw, or v where the server has not sent it.
func encodeRaw(raw json.RawMessage, v any) ([]byte, error) {
	if raw != nil {
		return raw, nil
	}
	return json.Marshal(v)
}

// The lists of replies; see the types of package wire that they embed.
type (
	// TerminalList has terminals.
	TerminalList struct {
		wire.TerminalList
		Items []Terminal `json:"items"`
	}
	// ShellList has shells.
	ShellList struct {
		wire.ShellList
		Shells []ShellInfo `json:"shells"`
	}
	// CommandList has commands.
	CommandList struct {
		wire.CommandList
		Commands []Command `json:"commands"`
	}
	// ThreadList has threads.
	ThreadList struct {
		wire.ThreadList
		Threads []Thread `json:"threads"`
	}
	// LeaseList has leases.
	LeaseList struct {
		wire.LeaseList
		Leases []Lease `json:"leases"`
	}
	// Approvals has approvals.
	Approvals struct {
		approvals
		Approvals []Approval `json:"approvals"`
	}
)

// approvals names wire.Approvals otherwise than its one list.
type approvals = wire.Approvals

// pageItems is how many items of a list one request asks for.
const pageItems = 1000

// pages returns all items of a list that comes in pages. get returns the page behind the item after, and behind which
// item the next one begins, "" at the end.
func pages[T any](get func(after string) (page []T, next string, err error)) ([]T, error) {
	all := []T{}
	for after := ""; ; {
		page, next, err := get(after)
		all = append(all, page...)
		if err != nil || next == "" {
			return all, err
		}
		after = next
	}
}
