package foreign

import (
	"bytes"
	"encoding/binary"
	"time"
	"unicode/utf8"

	"github.com/evertty/evertty/internal/server/viewer"
	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/wire"
)

// Events of ALiS version 1, asciinema's live stream: the first byte. Numbers are unsigned LEB128.
const (
	alisInit   = 0x01 // also a reset at any time
	alisOutput = 'o'
	alisResize = 'r'
	alisExit   = 'x'
	alisEOT    = 0x04 // behind it, a player does not come back

	alisMagic   = "ALiS\x01"
	alisNoTheme = 0
)

// The player (3.18) hangs in a text of 65,511 to 65,524 bytes: its allocator ends there. It asks for up to three times
// the length of what is not ASCII.
const (
	alisPiece  = 16 << 10 // bytes of one output event
	alisTrap   = 65_500   // bytes of a screen; from here on it gets filled up to
	alisBeyond = 64 << 10 // this, with CAN, which does nothing
)

// ALiSName is the subprotocol of ALiS.
const ALiSName = "v1.alis"

// ALiS is what asciinema-player speaks. It only looks.
type ALiS struct {
	name   string
	screen func() *stream.SharedSnapshot // of now
	now    func() time.Time
	start  time.Time     // of the connection's clock
	at     time.Duration // of the last event
	id     uint64        // of the last event
	begun  bool          // the magic was sent
}

var _ viewer.Protocol = (*ALiS)(nil)

// NewALiS makes a connection with a subprotocol, or none, whose clock is now, to a terminal whose screen is screen.
func NewALiS(name string, now func() time.Time, screen func() *stream.SharedSnapshot) *ALiS {
	return &ALiS{name: name, screen: screen, now: now, start: now()}
}

// Name implements viewer.Protocol.
func (a *ALiS) Name() string { return a.name }

// Text implements viewer.Protocol.
func (*ALiS) Text() bool { return false }

// Waits implements viewer.Protocol.
func (*ALiS) Waits() bool { return false }

// Send implements viewer.Protocol.
func (a *ALiS) Send(m *stream.Message) (list [][]byte) {
	if !a.begun {
		a.begun = true
		list = message([]byte(alisMagic))
	}
	switch m.Kind {
	case stream.KindSnapshot:
		list = append(list, a.init(sizeIn(m), m.ShortText()))
	case stream.KindData:
		for text := m.Text(); len(text) > 0; {
			n := pieceOf(text)
			list = append(list, appendText(a.event(alisOutput), text[:n]))
			text = text[n:]
		}
	case stream.KindResize:
		list = append(list, appendSize(a.event(alisResize), sizeIn(m)))
	case stream.KindExit:
		// A player plays output a little later, and drops what it has not played when the stream ends.
		s := a.screen()
		list = append(list, a.init(wire.Size{Cols: s.Frame.Cols, Rows: s.Frame.Rows}, s.Screen()),
			binary.AppendUvarint(a.event(alisExit), statusOf(exitOf(m))))
	}
	return list
}

// init is a snapshot: the player begins anew.
func (a *ALiS) init(s wire.Size, text []byte) []byte {
	if n := len(text); n >= alisTrap && n < alisBeyond {
		text = append(bytes.Repeat([]byte{'\x18'}, alisBeyond-n), text...)
	}
	a.at = a.now().Sub(a.start)
	b := binary.AppendUvarint([]byte{alisInit}, a.id)
	b = binary.AppendUvarint(b, uint64(a.at.Microseconds()))
	return appendText(append(appendSize(b, s), alisNoTheme), text)
}

// pieceOf is how much of a text goes into one event: whole characters.
func pieceOf(text []byte) int {
	if len(text) <= alisPiece {
		return len(text)
	}
	n := alisPiece
	for !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}

// event begins an event of now. Its time counts from the event before.
func (a *ALiS) event(kind byte) []byte {
	at := max(a.now().Sub(a.start), a.at)
	b := binary.AppendUvarint([]byte{kind}, a.id+1)
	b = binary.AppendUvarint(b, uint64(at.Microseconds()-a.at.Microseconds()))
	a.id, a.at = a.id+1, at
	return b
}

// appendText appends text and before it its length.
func appendText(b, text []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// sizeIn is the size that an event has.
func sizeIn(m *stream.Message) (s wire.Size) {
	_ = m.Decode(&s) // cannot fail: the hub has made it
	return s
}

func appendSize(b []byte, s wire.Size) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(s.Cols)), uint64(s.Rows))
}

// statusOf is the exit code, 255 for one that nobody knows.
func statusOf(e wire.Exit) uint64 {
	if e.Code == nil || *e.Code < 0 {
		return 255
	}
	return uint64(*e.Code)
}

// Last implements viewer.Protocol.
func (a *ALiS) Last(code int, _ string) ([][]byte, int) {
	if !final(code) {
		return nil, code
	}
	return message([]byte{alisEOT}), code
}

// Read implements viewer.Protocol.
func (*ALiS) Read(int, []byte) (viewer.Act, *viewer.BadMessage) {
	return viewer.Act{}, wrongKind("a player of a stream says nothing")
}
