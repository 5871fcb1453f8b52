package stream

import (
	"encoding/binary"
	"encoding/json"
	"strconv"
	"sync"

	"github.com/gorilla/websocket"

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
	json   sync.Once
	packed *websocket.PreparedMessage
	binary sync.Once
	frame  *websocket.PreparedMessage
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

func dataMessage(id string, text []byte, seq uint64) *Message {
	own := append([]byte(nil), text...)
	return &Message{Kind: KindData, Seq: seq, id: id, text: own, rest: appendUint(nil, "seq", seq)}
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

// JSON is the event as a WebSocket text message.
func (m *Message) JSON() *websocket.PreparedMessage {
	m.json.Do(func() {
		m.packed, _ = websocket.NewPreparedMessage(websocket.TextMessage, m.AppendJSON(nil, m.head())) // fails for control messages only
	})
	return m.packed
}

// head are the members that a message on a WebSocket has besides those of an
// event on a stream of its own.
func (m *Message) head() string {
	return `"event":"` + string(m.Kind) + `","pty":"` + m.id + `",`
}

// First byte of a binary WebSocket frame from the server.
const (
	frameSnapshot = 0x01 // u16be cols, u16be rows, u64be seq, ANSI
	frameData     = 0x02 // u64be seq, output
	frameControl  = 0x03 // JSON, also from the client
	frameInput    = 0x00 // from the client: input
)

// Binary is the event as a binary WebSocket message: a snapshot or data with a
// small header, anything else as JSON.
func (m *Message) Binary() *websocket.PreparedMessage {
	m.binary.Do(func() {
		m.frame, _ = websocket.NewPreparedMessage(websocket.BinaryMessage, m.appendBinary(nil))
	})
	return m.frame
}

func (m *Message) appendBinary(b []byte) []byte {
	switch m.Kind {
	case KindSnapshot:
		b = append(b, frameSnapshot)
		b = binary.BigEndian.AppendUint16(b, uint16(m.shot.Frame.Cols))
		b = binary.BigEndian.AppendUint16(b, uint16(m.shot.Frame.Rows))
	case KindData:
		b = append(b, frameData)
	default:
		return m.AppendJSON(append(b, frameControl), m.head())
	}
	b = binary.BigEndian.AppendUint64(b, m.Seq)
	return append(b, m.Text()...)
}
