package client

import (
	"encoding/json"
	"fmt"

	"github.com/evertty/evertty/wire"
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
	Partial    bool   // of a snapshot: the screen without its history; false likewise
	Viewer     string // of the first event: the id of this connection among the viewers; "" likewise
	Meta       *wire.EventMeta
	Exit       *wire.Exit
	Err        *Error
}

// decodeEvent reads the JSON object of an event. known is false for kinds that this package does not
// know; a newer server may send them.
func decodeEvent(kind Kind, p []byte) (e Event, known bool, err error) {
	e.Kind = kind
	switch kind {
	case KindSnapshot, KindResume, KindData, KindResize:
		err = e.decodePosition(p)
	case KindMeta:
		e.Meta = &wire.EventMeta{}
		err = json.Unmarshal(p, e.Meta)
	case KindExit:
		var x wire.EventExit
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
	var w wire.EventSnapshot // it has every field of the others
	if err := json.Unmarshal(p, &w); err != nil {
		return err
	}
	e.Data, e.Seq = []byte(w.Data), w.Seq
	e.Cols, e.Rows, e.Unicode, e.Reason = w.Cols, w.Rows, w.Unicode, w.Reason
	e.Partial, e.Viewer = w.Partial, w.Viewer
	return nil
}
