package stream

import (
	"encoding/binary"
	"encoding/json"
	"strconv"
	"sync"

	"github.com/evertty/evertty/internal/jsonstring"
	"github.com/evertty/evertty/vt"
)

// Kind names an event of the contract.
type Kind string

// The kinds.
const (
	KindSnapshot Kind = "snapshot"
	KindResume   Kind = "resume" // instead of the first snapshot: what follows continues what the viewer has
	KindData     Kind = "data"
	KindResize   Kind = "resize"
	KindMeta     Kind = "meta"
	KindExit     Kind = "exit"
)

// Message is one event. It is immutable and shared by all viewers that get it,
// and so are its encodings, each made when the first viewer needs it.
type Message struct {
	Kind Kind
	Seq  uint64 // output bytes applied up to and including this event
	id   string

	rest []byte // the members of the JSON object but data: `"seq":1,…`, without braces
	text []byte // of data
	shot *Shot  // of a snapshot: the state, encoded when first needed
	last int    // of a snapshot: lines of history, negative for all

	lines  sync.Once
	sse    []byte
	frames [2]frame // by Form
}

// Exit says how a program ended.
type Exit struct {
	Code   *int   `json:"code"`   // nil when it is not known
	Signal string `json:"signal"` // "" unless a signal ended it
	Reason string `json:"reason"` // exit, signal, killed or lost
}

// Meta is a change that is not bytes; only the fields that changed are set.
type Meta struct {
	Title   *string          `json:"title,omitempty"`
	Cwd     *string          `json:"cwd,omitempty"`
	Bell    bool             `json:"bell,omitempty"`
	Notify  *vt.Notification `json:"notify,omitempty"`
	Viewers *int             `json:"viewers,omitempty"`
	Owner   uint64           `json:"owner,omitempty"`
	Size    *Size            `json:"size,omitempty"`
	// Clipboard is for viewers that may type, and for nobody else.
	Clipboard *Clipboard `json:"clipboard,omitempty"`
}

// Clipboard is what a program wants on the clipboard (OSC 52, see vt.Effects).
type Clipboard struct {
	Selection string `json:"selection"`
	Data      []byte `json:"data_b64"` // at most vt.MaxClipboard bytes
}

// Size is a screen's size in cells.
type Size struct {
	Cols int `json:"cols"`
	Rows int `json:"rows"`
}

const maxDigits = 20 // of a uint64

func dataMessage(id string, text []byte, seq uint64) *Message {
	own := append([]byte(nil), text...)
	rest := appendUint(make([]byte, 0, len(`"seq":`)+maxDigits), "seq", seq)
	return &Message{Kind: KindData, Seq: seq, id: id, text: own, rest: rest}
}

func resizeMessage(id string, cols, rows int, seq uint64) *Message {
	return &Message{Kind: KindResize, Seq: seq, id: id, rest: sizeMembers(cols, rows, seq)}
}

func resumeMessage(id string, cols, rows int, seq uint64) *Message {
	return &Message{Kind: KindResume, Seq: seq, id: id, rest: sizeMembers(cols, rows, seq)}
}

func metaMessage(id string, m Meta) *Message {
	if m.Title != nil { // the hub goes on changing its own copy
		t := *m.Title
		m.Title = &t
	}
	if m.Cwd != nil {
		c := *m.Cwd
		m.Cwd = &c
	}
	b, _ := json.Marshal(m) // cannot fail: strings and numbers
	return &Message{Kind: KindMeta, id: id, rest: b[1 : len(b)-1]}
}

func exitMessage(id string, e Exit, seq uint64) *Message {
	b, _ := json.Marshal(e) // cannot fail: strings and numbers
	return &Message{Kind: KindExit, Seq: seq, id: id, rest: appendUint(append(b[1:len(b)-1], ','), "seq", seq)}
}

func sizeMembers(cols, rows int, seq uint64) []byte {
	b := appendUint(nil, "cols", uint64(cols))
	b = appendUint(append(b, ','), "rows", uint64(rows))
	return appendUint(append(b, ','), "seq", seq)
}

func appendUint(b []byte, name string, v uint64) []byte {
	b = append(b, '"')
	b = append(b, name...)
	b = append(b, '"', ':')
	return strconv.AppendUint(b, v, 10)
}

// cost is what the message takes of a viewer's queue, in bytes.
func (m *Message) cost() int { return len(m.text) + messageCost }

// Text is the terminal output that the event carries, nil when it has none.
// The caller must not change it.
func (m *Message) Text() []byte {
	switch {
	case m.shot == nil:
		return m.text
	case m.last < 0:
		return m.shot.ANSI()
	}
	return m.shot.encode(m.last)
}

// appendText appends the output as a JSON string.
func (m *Message) appendText(b []byte) []byte {
	if m.shot != nil && m.last < 0 {
		return append(b, m.shot.escaped()...)
	}
	return appendString(b, m.Text())
}

// appendString appends s, which is UTF-8 as engines return it, as a JSON string.
func appendString(b, s []byte) []byte {
	b, _ = jsonstring.Append(append(b, '"'), s)
	return append(b, '"')
}

// AppendJSON appends the event's members as one JSON object on one line; head
// is put in front of them, as `"event":"data",`.
func (m *Message) AppendJSON(b []byte, head string) []byte {
	b = append(append(b, '{'), head...)
	b = append(b, m.rest...)
	if m.Kind == KindData || m.Kind == KindSnapshot {
		b = m.appendText(append(b, `,"data":`...))
	}
	return append(b, '}')
}

// SSE is the event in the form of Server-Sent Events (WHATWG HTML, 9.2): event,
// id and one line of data. Events that are not positions of the output have no
// id. The caller must not change it.
func (m *Message) SSE() []byte {
	m.lines.Do(func() { m.sse = m.appendSSE(make([]byte, 0, len(m.text)*9/8+messageCost)) })
	return m.sse
}

func (m *Message) appendSSE(b []byte) []byte {
	b = append(b, "event: "...)
	b = append(b, m.Kind...)
	if m.Kind != KindMeta {
		b = append(b, "\nid: "...)
		b = strconv.AppendUint(b, m.Seq, 10)
	}
	b = append(b, "\ndata: "...)
	b = m.AppendJSON(b, "")
	return append(b, "\n\n"...)
}

// Form is how an event is said on a WebSocket.
type Form int

// The forms.
const (
	FormJSON   Form = iota // a JSON object, in a text message
	FormBinary             // a snapshot or data behind a small header, anything else as JSON, in a binary message
)

// frame is a message in one form as a connection sends it.
type frame struct {
	once sync.Once
	made any
}

// Frame is what prepare makes of the event's payload in a form, which it may keep.
// It is called for the first viewer alone; the others share what it has made.
func (m *Message) Frame(form Form, prepare func(payload []byte) any) any {
	f := &m.frames[form]
	f.once.Do(func() {
		if form == FormBinary {
			f.made = prepare(m.appendBinary(nil))
		} else {
			f.made = prepare(m.AppendJSON(nil, m.head()))
		}
	})
	return f.made
}

// head are the members that a message on a WebSocket has besides those of an
// event on a stream of its own.
func (m *Message) head() string {
	return `"event":"` + string(m.Kind) + `","pty":"` + m.id + `",`
}

// First byte of a binary WebSocket frame.
const (
	FrameInput    = 0x00 // from the client: input
	FrameSnapshot = 0x01 // u16be cols, u16be rows, u64be seq, ANSI
	FrameData     = 0x02 // u64be seq, output
	FrameControl  = 0x03 // JSON, also from the client
)

// binaryHead is what comes before the text of a snapshot in a binary frame.
func (m *Message) binaryHead() []byte {
	b := binary.BigEndian.AppendUint16([]byte{FrameSnapshot}, uint16(m.shot.Frame.Cols))
	b = binary.BigEndian.AppendUint16(b, uint16(m.shot.Frame.Rows))
	return binary.BigEndian.AppendUint64(b, m.Seq)
}

func (m *Message) appendBinary(b []byte) []byte {
	switch m.Kind {
	case KindSnapshot:
		return append(append(b, m.binaryHead()...), m.Text()...)
	case KindData:
		b = append(b, FrameData)
	default:
		return m.AppendJSON(append(b, FrameControl), m.head())
	}
	b = binary.BigEndian.AppendUint64(b, m.Seq)
	return append(b, m.Text()...)
}
