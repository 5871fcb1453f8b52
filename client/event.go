package client

import (
	"encoding/json"
	"fmt"
)

// Kind names an event.
type Kind string

// The kinds of events.
const (
	KindSnapshot Kind = "snapshot" // the whole screen: reset, take its size, write Data
	KindResume   Kind = "resume"   // instead of the first snapshot: keep the screen, take its size, go on
	KindData     Kind = "data"     // output since: write Data
	KindResize   Kind = "resize"   // the screen has a new size from here on
	KindMeta     Kind = "meta"     // something changed that is not bytes
	KindExit     Kind = "exit"     // the last one, after all output
	KindError    Kind = "error"    // the server refused what this viewer sent
)

// Event is one event of a stream. Fields that its kind does not have are zero.
type Event struct {
	Kind Kind
	Seq  uint64 // output bytes applied up to and including this event
	// Data is the snapshot's ANSI or the output. It is the receiver's to keep.
	Data       []byte
	Cols, Rows int    // of snapshot, resume and resize
	Unicode    string // width table of a snapshot; "" when the stream does not say
	Reason     string // of a snapshot: connect, lag, resize or restore; "" likewise
	Meta       *Meta
	Exit       *Exit
	Err        *Error
}

// Exit says how a program ended.
type Exit struct {
	Code   *int   `json:"code"`   // nil when it is not known
	Signal string `json:"signal"` // "" unless a signal ended it
	Reason string `json:"reason"` // exit, signal, killed or lost
}

// Meta holds what changed; the rest is nil or zero.
type Meta struct {
	Title   *string       `json:"title,omitempty"`
	Cwd     *string       `json:"cwd,omitempty"`
	Bell    bool          `json:"bell,omitempty"`
	Notify  *Notification `json:"notify,omitempty"`
	Viewers *int          `json:"viewers,omitempty"`
	Owner   *uint64       `json:"owner,omitempty"` // number of the viewer who decides the size
	Size    *Size         `json:"size,omitempty"`
	// Clipboard is what the program wants on the clipboard. Only those who may type
	// are told, and each decides whether it gets there.
	Clipboard *Clipboard `json:"clipboard,omitempty"`
}

// Clipboard is a write to the clipboard (xterm ctlseqs, OSC 52).
type Clipboard struct {
	// Selection is made of the letters and digits "cpqs01234567" of OSC 52; c is the
	// clipboard, and so is "" with most programs.
	Selection string `json:"selection"`
	Data      []byte `json:"data_b64"` // at most 1 MiB
}

// Notification is a message a program wants a person to see.
type Notification struct {
	Title string `json:"title,omitempty"`
	Body  string `json:"body"`
}

// Size is a screen's size in cells.
type Size struct {
	Cols int `json:"cols"`
	Rows int `json:"rows"`
}

// decodeEvent reads the JSON object of an event. known is false for kinds this
// package does not know, which a newer server may send.
func decodeEvent(kind Kind, p []byte) (e Event, known bool, err error) {
	e.Kind = kind
	switch kind {
	case KindSnapshot, KindResume, KindData, KindResize:
		err = e.decodePosition(p)
	case KindMeta:
		e.Meta = &Meta{}
		err = json.Unmarshal(p, e.Meta)
	case KindExit:
		var x struct {
			Exit
			Seq uint64 `json:"seq"`
		}
		err = json.Unmarshal(p, &x)
		e.Exit, e.Seq = &x.Exit, x.Seq
	case KindError:
		var b problemBody
		err = json.Unmarshal(p, &b)
		e.Err = b.refusal()
	default:
		return e, false, nil
	}
	if err != nil {
		err = fmt.Errorf("client: event %s: %w", kind, err)
	}
	return e, true, err
}

func (e *Event) decodePosition(p []byte) error {
	var w struct {
		Data    string `json:"data"`
		Cols    int    `json:"cols"`
		Rows    int    `json:"rows"`
		Seq     uint64 `json:"seq"`
		Unicode string `json:"unicode"`
		Reason  string `json:"reason"`
	}
	if err := json.Unmarshal(p, &w); err != nil {
		return err
	}
	e.Data, e.Seq = []byte(w.Data), w.Seq
	e.Cols, e.Rows, e.Unicode, e.Reason = w.Cols, w.Rows, w.Unicode, w.Reason
	return nil
}
