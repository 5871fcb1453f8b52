package stream

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
)

// Shot is a snapshot: the whole state at one position of the output. It is
// immutable; its encodings are made outside the hub's lock, once, by whoever
// needs them first. Safe for concurrent use.
type Shot struct {
	Frame *vt.Frame
	Seq   uint64
	Dead  bool // the program has ended: modes that wait for input are left out

	id      string
	version uint64
	observe func(bytes int, took time.Duration)
	verify  *verifier // nil unless it is wanted

	large *Large

	fitting sync.Mutex // guards fitted; held while one is found out
	fitted  map[fitting]fitted

	once   sync.Once
	ansi   []byte // nil when it is large
	quoted sync.Once
	json   []byte

	mu       sync.Mutex
	messages map[Reason]*Message // with the whole history
}

// ANSI is what a viewer writes to a fresh xterm.js, with the whole history. The
// caller must not change it. A large one is not kept.
func (s *Shot) ANSI() []byte {
	if !s.small(-1) {
		return s.encode(-1)
	}
	return s.ansi
}

// small reports whether the text with the last n lines of history, all when n is
// negative, is not large. The first caller encodes it to know.
func (s *Shot) small(n int) bool {
	if n >= 0 && n < s.Frame.History.Len() && s.Frame.Memory() < largeSize/smallFactor {
		return true
	}
	s.once.Do(func() {
		if s.Frame.Memory() > largeSize {
			return
		}
		b := &atMost{room: largeSize}
		start := time.Now()
		if err := s.write(b, s.Frame, -1); err != nil {
			return
		}
		s.ansi = b.Bytes()
		s.encoded(snapshot.Options{Scrollback: -1, Ended: s.Dead}, s.ansi, start)
	})
	return s.ansi != nil
}

// smallFactor is how many times larger than a frame its text is at most.
const smallFactor = 8

// atMost is a buffer for room bytes; more are an error.
type atMost struct {
	bytes.Buffer
	room int
}

var errLarge = errors.New("the snapshot is large")

func (b *atMost) Write(p []byte) (int, error) {
	if b.room -= len(p); b.room < 0 {
		return 0, errLarge
	}
	return b.Buffer.Write(p)
}

// reply is {"data","cols","rows","seq"} of one that is small.
func (s *Shot) reply(n int) []byte {
	b := s.AppendQuoted([]byte(`{"data":`), n)
	b = append(append(b, ','), sizeMembers(s.Frame.Cols, s.Frame.Rows, s.Seq)...)
	return append(b, "}\n"...)
}

// AppendQuoted appends the ANSI form with the last n lines of history, all when
// n is negative, as a JSON string.
func (s *Shot) AppendQuoted(b []byte, n int) []byte {
	if n < 0 || n >= s.Frame.History.Len() {
		return append(b, s.escaped()...)
	}
	return appendString(b, s.encode(n))
}

// encode makes the ANSI form with the last n lines of history, all when n is
// negative.
func (s *Shot) encode(n int) []byte {
	start := time.Now()
	o := snapshot.Options{Scrollback: n, Ended: s.Dead}
	b := snapshot.ANSI(s.Frame, o)
	s.encoded(o, b, start)
	return b
}

// encoded is told of each text that was made.
func (s *Shot) encoded(o snapshot.Options, b []byte, start time.Time) {
	if s.observe != nil {
		s.observe(len(b), time.Since(start))
	}
	if s.verify != nil {
		s.verify.check(s, o, b)
	}
}

// escaped is ANSI as a JSON string.
func (s *Shot) escaped() []byte {
	s.quoted.Do(func() {
		a := s.ANSI()
		s.json = appendString(make([]byte, 0, len(a)*9/8+2), a)
	})
	return s.json
}

// message is the snapshot event for a viewer that wants n lines of history.
// Viewers that want all and have the same reason share it. It does not encode.
func (s *Shot) message(r Reason, n int) *Message {
	if n >= 0 && n < s.Frame.History.Len() {
		return s.newMessage(r, n)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.messages[r]
	if m == nil {
		if s.messages == nil {
			s.messages = map[Reason]*Message{}
		}
		m = s.newMessage(r, -1)
		s.messages[r] = m
	}
	return m
}

func (s *Shot) newMessage(r Reason, n int) *Message {
	f := s.Frame
	rest := sizeMembers(f.Cols, f.Rows, s.Seq)
	rest = fmt.Appendf(rest, `,"unicode":%q,"reason":%q`, f.Unicode, r)
	return &Message{Kind: KindSnapshot, Seq: s.Seq, id: s.id, rest: rest, shot: s, last: n}
}
