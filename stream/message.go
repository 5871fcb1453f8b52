package stream

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/evertty/evertty/internal/jsonstring"
	"github.com/evertty/evertty/wire"
)

// Exit says how a program ended.
type Exit = wire.Exit

// Size is a screen's size in cells.
type Size = wire.Size

// Kind names an event of wire.StreamEvents.
type Kind string

// The kinds.
const (
	KindSnapshot Kind = "snapshot"
	KindResume   Kind = "resume"
	KindData     Kind = "data"
	KindResize   Kind = "resize"
	KindMeta     Kind = "meta"
	KindExit     Kind = "exit"
)

// Message is one event. It and its encodings are immutable and shared by all viewers that get it;
// each encoding is made when the first viewer needs it. Its JSON is the type in wire.StreamEvents,
// written by hand where it is on the way of output.
type Message struct {
	Kind Kind
	Seq  uint64 // output bytes applied up to and including this event

	id       string          // of the terminal
	members  []byte          // members of the JSON object but data: `"cols":80,…`, without braces; nil for KindData
	text     []byte          // of data
	snapshot *SharedSnapshot // of a snapshot; encoded when first needed
	lines    int             // of a snapshot: lines of history, negative for all

	sseOnce sync.Once
	sse     []byte
	frames  [3]frame // by Form

	lent    *lent        // memory of text and of a frame that is used again; nil: of its own
	holders atomic.Int32 // viewers that have not called Release; with lent
}

func dataMessage(id string, text []byte, seq uint64) *Message {
	m := &Message{Kind: KindData, Seq: seq, id: id}
	if len(text) >= lentFrom {
		m.lent = lend()
		m.lent.text = append(m.lent.text[:0], text...)
		m.text = m.lent.text
	} else {
		m.text = bytes.Clone(text)
	}
	return m
}

// Raw is output as the program wrote it, for FormRaw. The message has p.
func Raw(p []byte, seq uint64) *Message { return &Message{Kind: KindData, Seq: seq, text: p} }

// placeMessage is a resize or resume event.
func placeMessage(kind Kind, id string, size Size, seq uint64) *Message {
	return &Message{Kind: kind, Seq: seq, id: id, members: appendPlace(nil, size, seq)}
}

// metaMessage does not retain m.
func metaMessage(id string, m *wire.EventMeta) *Message {
	return &Message{Kind: KindMeta, id: id, members: membersOf(m)}
}

func exitMessage(id string, e Exit, seq uint64) *Message {
	return &Message{Kind: KindExit, Seq: seq, id: id, members: membersOf(wire.EventExit{Exit: e, Seq: seq})}
}

// membersOf are the members of v, which has strings and numbers, as a JSON object.
func membersOf(v any) []byte {
	b, _ := json.Marshal(v) // cannot fail
	return b[1 : len(b)-1]
}

// appendPlace appends the members cols, rows and seq.
func appendPlace(b []byte, size Size, seq uint64) []byte {
	b = appendUint(b, "cols", uint64(size.Cols))
	b = appendUint(append(b, ','), "rows", uint64(size.Rows))
	return appendUint(append(b, ','), "seq", seq)
}

// appendUint appends one member.
func appendUint(b []byte, name string, v uint64) []byte {
	b = append(b, '"')
	b = append(b, name...)
	b = append(b, '"', ':')
	return strconv.AppendUint(b, v, 10)
}

// cost is how much of MaxQueue the message takes, in bytes.
func (m *Message) cost() int { return len(m.text) + messageCost }

// Text is the terminal output that the event carries, nil when it has none. The caller must not
// change it.
func (m *Message) Text() []byte {
	if m.snapshot == nil {
		return m.text
	}
	return m.snapshot.appendText(nil, m.lines)
}

// ShortText is Text; that of a large snapshot is the screen alone.
func (m *Message) ShortText() []byte {
	if m.IsLarge() {
		return m.snapshot.appendText(nil, 0)
	}
	return m.Text()
}

// Decode sets what v has of the event, as in its JSON, but not data. Errors: those of json.Unmarshal.
func (m *Message) Decode(v any) error {
	return json.Unmarshal(append(append([]byte{'{'}, m.members...), '}'), v)
}

// appendString appends s, which is UTF-8 as engines return it, as a JSON string.
func appendString(b, s []byte) []byte {
	return append(jsonstring.AppendValid(append(b, '"'), s), '"')
}

// AppendJSON appends the event as one JSON object on one line; first are members that come before
// its own, as `"event":"data",`.
func (m *Message) AppendJSON(b []byte, first string) []byte {
	b = append(append(b, '{'), first...)
	b = append(b, m.members...)
	switch m.Kind {
	case KindData:
		b = appendString(append(appendUint(b, "seq", m.Seq), `,"data":`...), m.text)
	case KindSnapshot:
		b = m.snapshot.appendQuoted(append(b, `,"data":`...), m.lines)
	}
	return append(b, '}')
}

// SSE is the event in the form of Server-Sent Events (WHATWG HTML, 9.2): event, id and one line of
// data. Meta events are at no position of the output and have no id. The caller must not change
// it.
func (m *Message) SSE() []byte {
	m.sseOnce.Do(func() {
		b := append(make([]byte, 0, len(m.text)*9/8+messageCost), "event: "...)
		b = append(b, m.Kind...)
		if m.Kind != KindMeta {
			b = append(b, "\nid: "...)
			b = strconv.AppendUint(b, m.Seq, 10)
		}
		b = append(b, "\ndata: "...)
		m.sse = append(m.AppendJSON(b, ""), "\n\n"...)
	})
	return m.sse
}

// Form is the encoding of events on a WebSocket.
type Form int

// The forms.
const (
	FormJSON   Form = iota // a JSON object, in a text message
	FormBinary             // a snapshot or data behind a small header, anything else as JSON, in a binary message
	FormRaw                // the text of data alone, in a binary message
)

// frame is a message in one form as a connection sends it.
type frame struct {
	once sync.Once
	made []byte
}

// Frame is the event's payload in a form as seal has completed it, for all viewers that get it. seal is called once,
// with the payload behind room free bytes, and returns what is sent; it may use the same memory. Nobody changes it.
func (m *Message) Frame(form Form, room int, seal func(b []byte) []byte) []byte {
	f := &m.frames[form]
	f.once.Do(func() {
		b := m.room(form, room)
		switch form {
		case FormBinary:
			b = m.appendBinary(b)
		case FormRaw:
			b = append(b, m.text...)
		default:
			b = m.appendSocketJSON(b)
		}
		if m.lent != nil {
			m.lent.frames[form] = b
		}
		f.made = seal(b)
	})
	return f.made
}

// room returns n bytes with room for a frame behind them.
func (m *Message) room(form Form, n int) []byte {
	if m.lent != nil && cap(m.lent.frames[form]) >= n {
		return m.lent.frames[form][:n]
	}
	return make([]byte, n, n+len(m.text)*9/8+len(m.id)+messageCost/2)
}

// appendSocketJSON is AppendJSON with the members that an event has on a WebSocket only.
func (m *Message) appendSocketJSON(b []byte) []byte { return m.AppendJSON(b, m.socketMembers()) }

// socketMembers are these members.
func (m *Message) socketMembers() string {
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
	b := binary.BigEndian.AppendUint16([]byte{FrameSnapshot}, uint16(m.snapshot.Frame.Cols))
	b = binary.BigEndian.AppendUint16(b, uint16(m.snapshot.Frame.Rows))
	return binary.BigEndian.AppendUint64(b, m.Seq)
}

func (m *Message) appendBinary(b []byte) []byte {
	switch m.Kind {
	case KindSnapshot:
		return m.snapshot.appendText(append(b, m.binaryHead()...), m.lines)
	case KindData:
		b = append(b, FrameData)
		b = binary.BigEndian.AppendUint64(b, m.Seq)
		return append(b, m.text...)
	}
	return m.appendSocketJSON(append(b, FrameControl))
}
