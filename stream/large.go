package stream

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/evertty/evertty/wire"
)

const (
	// largeSize is from how many bytes on a snapshot is large: it is not kept for others, and few
	// are encoded at once.
	largeSize = 4 << 20
	// maxLarge is how many large snapshots are encoded at once in a server. Each keeps a frame in
	// memory, which may take as much as a terminal may.
	maxLarge = 4
	// slowWrite is how long a viewer may take for one piece before its slot is free for others: a
	// slow line delays nobody else.
	slowWrite = time.Second
	// keepFor is how long a snapshot that was encoded is kept for others.
	keepFor = 5 * time.Second
	// maxKept bounds what is kept so in a server, in bytes.
	maxKept = 64 << 20
	// keptForms is how many times its text a snapshot takes: the text, quoted, and in an event.
	keptForms = 3
)

// Large bounds how many large snapshots are encoded at once, and what is kept of others. All hubs of a server share one.
// It is safe for concurrent use.
type Large struct {
	slots chan struct{}
	kept  atomic.Int64 // bytes that keep keeps
}

// NewLarge makes the bound of a server.
func NewLarge() *Large { return &Large{slots: make(chan struct{}, maxLarge)} }

// keep keeps s, whose text has size bytes, in memory for a while: viewers that all reconnect at once come one after the
// other, and in between garbage may be collected.
func (l *Large) keep(s *SharedSnapshot, size int) {
	taken := int64(size)*keptForms + int64(s.Frame.Memory())
	if l.kept.Add(taken) > maxKept {
		l.kept.Add(-taken)
		return
	}
	time.AfterFunc(keepFor, func() {
		runtime.KeepAlive(s)
		l.kept.Add(-taken)
	})
}

// slotWriter writes one snapshot to w. It waits for a slot before it writes more than largeSize
// bytes. Its owner must call release. One goroutine uses it.
type slotWriter struct {
	large *Large
	ctx   context.Context
	w     io.Writer
	size  int
	holds bool
}

// acquire waits for a slot. Errors: ctx.Err().
func (s *slotWriter) acquire() error {
	if s.holds {
		return nil
	}
	select {
	case s.large.slots <- struct{}{}:
		s.holds = true
		return nil
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
}

// release gives the slot back.
func (s *slotWriter) release() {
	if s.holds {
		s.holds = false
		<-s.large.slots
	}
}

// Write implements io.Writer.
func (s *slotWriter) Write(p []byte) (int, error) {
	if s.size += len(p); s.size > largeSize {
		if err := s.acquire(); err != nil {
			return 0, err
		}
	}
	if !s.holds {
		return s.w.Write(p)
	}
	slow := time.AfterFunc(slowWrite, func() { <-s.large.slots })
	n, err := s.w.Write(p)
	if !slow.Stop() {
		s.holds = false // the timer has given it back
		if err == nil {
			err = s.acquire()
		}
	}
	return n, err
}

// IsLarge reports whether the event is a snapshot that is too large to be kept for others.
// WriteLargeSSE or WriteLarge sends it, in place of SSE and Frame.
func (m *Message) IsLarge() bool { return m.snapshot != nil && !m.snapshot.isSmall(m.lines) }

// WriteLargeSSE writes a large event in the form of Server-Sent Events. It waits until few others
// are written. Errors: ctx.Err(), the writer's.
func (m *Message) WriteLargeSSE(ctx context.Context, w io.Writer) error {
	head := fmt.Sprintf("event: %s\nid: %d\ndata: %s", m.Kind, m.Seq, m.jsonHead(""))
	return m.writeLarge(ctx, w, head, "\"}\n\n", false)
}

// WriteLarge writes a large event as the payload of a WebSocket message, as WriteLargeSSE does.
func (m *Message) WriteLarge(ctx context.Context, w io.Writer, form Form) error {
	if form == FormBinary {
		return m.writeLarge(ctx, w, string(m.binaryHead()), "", true)
	}
	return m.writeLarge(ctx, w, m.jsonHead(m.socketMembers()), `"}`, false)
}

// jsonHead is how the event's JSON object begins, up to the text.
func (m *Message) jsonHead(first string) string {
	return "{" + first + string(m.members) + `,"data":"`
}

// writeLarge writes head, the snapshot's text, and tail. The text is the inside of a JSON string,
// or with binary itself.
func (m *Message) writeLarge(ctx context.Context, w io.Writer, head, tail string, binary bool) error {
	slot := &slotWriter{large: m.snapshot.large, ctx: ctx, w: w}
	defer slot.release()
	if err := slot.acquire(); err != nil {
		return err
	}
	if _, err := io.WriteString(slot, head); err != nil {
		return err
	}
	f, n, err := m.snapshot.reduce(wire.FormatANSI, m.lines, m.snapshot.replyEncoder(wire.FormatANSI))
	if err != nil {
		return err
	}
	text := io.Writer(slot)
	if !binary {
		text = &quoter{w: slot}
	}
	if err := m.snapshot.write(text, f, n); err != nil {
		return err
	}
	_, err = io.WriteString(slot, tail)
	return err
}
