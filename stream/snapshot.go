package stream

import (
	"fmt"
	"io"
	"sync"
	"time"
	"weak"

	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
)

// smallFactor is how many times larger than a frame its text is at most.
const smallFactor = 8

// SharedSnapshot is the whole state at one position of the output. It is immutable; each encoding
// is made outside the hub's lock, once, by its first user. Safe for concurrent use.
type SharedSnapshot struct {
	Frame *vt.Frame
	Seq   uint64
	Ended bool // the program has ended: modes that wait for input are left out

	id      string
	version uint64
	onMade  func(bytes int, took time.Duration) // Hooks.Snapshot
	verify  *verifier                           // nil without Hooks.Differs
	large   *Large

	reducing sync.Mutex // guards reduced; held while one is made
	reduced  map[reduceKey]reduced

	encoding sync.Once
	pieces   *snapshot.Pieces // the text with all history; nil when it is large

	messages map[Reason]*Message // with all history; guarded by the hub's lock
	shown    map[Reason]*Message // the screen alone; guarded by the hub's lock
}

// Snapshot returns the snapshot of now. Callers at the same instant share one, and with it its
// encodings; it lives as long as somebody uses it.
func (h *Hub) Snapshot() *SharedSnapshot {
	h.lock()
	defer h.mu.Unlock()
	return h.snapshotLocked()
}

// snapshotLocked is Snapshot with the hub's lock held.
func (h *Hub) snapshotLocked() *SharedSnapshot {
	if s := h.snapshot.Value(); s != nil && s.version == h.version {
		return s
	}
	s := &SharedSnapshot{version: h.version, Frame: h.final, Seq: h.applied(), Ended: h.exit != nil, id: h.id,
		onMade: h.hooks.Snapshot, verify: h.verify, large: h.large, messages: map[Reason]*Message{},
		shown:   map[Reason]*Message{},
		reduced: map[reduceKey]reduced{}}
	if h.engine != nil {
		s.Frame = h.engine.Freeze()
	}
	h.snapshot = weak.Make(s)
	return s
}

// ANSI is what a viewer writes to a fresh xterm.js, with all history. The caller owns it.
func (s *SharedSnapshot) ANSI() []byte { return s.appendText(nil, -1) }

// Screen is ANSI without history.
func (s *SharedSnapshot) Screen() []byte { return s.appendText(nil, 0) }

// appendText appends the text with the last lines of history, all when lines is negative.
func (s *SharedSnapshot) appendText(b []byte, lines int) []byte {
	if p := s.text(lines); p != nil {
		return p.Append(b)
	}
	return append(b, s.encode(lines)...)
}

// isSmall reports whether the text with the last lines of history, all when lines is negative, has
// at most largeSize bytes. The first caller encodes it to know.
func (s *SharedSnapshot) isSmall(lines int) bool {
	return !s.isWhole(lines) && s.Frame.Memory() < largeSize/smallFactor || s.whole() != nil
}

// whole is the text with all history in pieces, nil when it is large. The first caller encodes it.
func (s *SharedSnapshot) whole() *snapshot.Pieces {
	s.encoding.Do(func() {
		if s.Frame.Memory() > largeSize {
			return
		}
		if s.pieces = s.encodePieces(-1); s.pieces != nil {
			s.large.keep(s, s.pieces.Size())
		}
	})
	return s.pieces
}

// text is the text with the last lines of history in pieces, nil when it is large.
func (s *SharedSnapshot) text(lines int) *snapshot.Pieces {
	if s.isWhole(lines) {
		return s.whole()
	}
	return s.encodePieces(lines)
}

// encodePieces makes the text with the last lines of history in pieces; nil when it is large.
func (s *SharedSnapshot) encodePieces(lines int) *snapshot.Pieces {
	start := time.Now()
	o := snapshot.Options{Scrollback: lines, Ended: s.Ended}
	p, err := o.Pieces(s.Frame, largeSize)
	if err != nil {
		return nil
	}
	s.report(o, p.Size(), func() []byte { return p.Append(nil) }, start)
	return p
}

// isWhole reports whether lines are all history.
func (s *SharedSnapshot) isWhole(lines int) bool { return lines < 0 || lines >= s.Frame.History.Len() }

// write writes the text for viewers; it is a snapshot.Encoder.
func (s *SharedSnapshot) write(w io.Writer, f *vt.Frame, lines int) error {
	return snapshot.Options{Scrollback: lines, Ended: s.Ended}.Write(w, f)
}

// encode makes the text with the last lines of history, all when lines is negative.
func (s *SharedSnapshot) encode(lines int) []byte {
	start := time.Now()
	o := snapshot.Options{Scrollback: lines, Ended: s.Ended}
	b := snapshot.ANSI(s.Frame, o)
	s.report(o, len(b), func() []byte { return b }, start)
	return b
}

// report reports a text of so many bytes, made since start, to the hooks, and verifies it.
func (s *SharedSnapshot) report(o snapshot.Options, size int, text func() []byte, start time.Time) {
	if s.onMade != nil {
		s.onMade(size, time.Since(start))
	}
	if s.verify != nil {
		s.verify.check(s, o, text())
	}
}

// appendQuoted appends the text with the last lines of history, all when lines is negative, as a
// JSON string.
func (s *SharedSnapshot) appendQuoted(b []byte, lines int) []byte {
	if p := s.text(lines); p != nil {
		return append(p.AppendQuoted(append(b, '"'), closing), '"')
	}
	return appendString(b, s.encode(lines))
}

// closing is room for what follows a quoted text in a message or reply, in bytes.
const closing = 64

// message is the snapshot event for a viewer that wants so many lines of history. Viewers that
// want all and have the same reason share it. It does not encode. The hub's lock is held.
func (s *SharedSnapshot) message(r Reason, lines int) *Message {
	if !s.isWhole(lines) {
		return s.newMessage(r, lines)
	}
	if s.messages[r] == nil {
		s.messages[r] = s.newMessage(r, -1)
	}
	return s.messages[r]
}

// screen is the snapshot event without history for viewers that are behind or lazy, who share it. The hub's lock is
// held.
func (s *SharedSnapshot) screen(r Reason) *Message {
	if s.shown[r] == nil {
		s.shown[r] = s.newMessage(r, 0)
		s.shown[r].members = append(s.shown[r].members, `,"partial":true`...)
	}
	return s.shown[r]
}

func (s *SharedSnapshot) newMessage(r Reason, lines int) *Message {
	f := s.Frame
	members := appendPlace(nil, Size{Cols: f.Cols, Rows: f.Rows}, s.Seq)
	members = fmt.Appendf(members, `,"unicode":%q,"reason":%q`, f.Unicode, r)
	return &Message{Kind: KindSnapshot, Seq: s.Seq, id: s.id, members: members, snapshot: s, lines: lines}
}

// reduceKey is what a snapshot is reduced for.
type reduceKey struct {
	format string
	lines  int // of history that were asked for
}

// reduced is what of a snapshot has at most snapshot.MaxSize bytes.
type reduced struct {
	frame *vt.Frame
	lines int
}

// reduce is snapshot.Reduce for the snapshot, done once for all who ask for the same.
func (s *SharedSnapshot) reduce(format string, lines int, encode snapshot.Encoder) (*vt.Frame, int, error) {
	s.reducing.Lock()
	defer s.reducing.Unlock()
	key := reduceKey{format, lines}
	if r, ok := s.reduced[key]; ok {
		return r.frame, r.lines, nil
	}
	f, n, err := snapshot.Reduce(s.Frame, lines, snapshot.MaxSize, encode)
	if err == nil {
		s.reduced[key] = reduced{f, n}
	}
	return f, n, err
}
