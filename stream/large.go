package stream

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/evertty/evertty/internal/jsonstring"
	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
)

const (
	// largeSize is from how many bytes on a snapshot is large: it is not kept for
	// others, and few are encoded at once.
	largeSize = 4 << 20
	// maxLarge is how many large snapshots are encoded at once in a server. Each
	// keeps a frame in memory, which may take what a terminal may.
	maxLarge = 4
	// slowWrite is how long a viewer may take for one piece before others may encode
	// meanwhile: a slow line keeps nobody waiting.
	slowWrite = time.Second
)

// Large bounds how many large snapshots are encoded at once. All hubs of a server
// share one. It is safe for concurrent use.
type Large struct{ slots chan struct{} }

// NewLarge makes the bound of a server.
func NewLarge() *Large { return &Large{slots: make(chan struct{}, maxLarge)} }

// turn is one encoding: a writer that begins to wait for a slot when what is written
// becomes large. Its owner must call end.
type turn struct {
	large *Large
	ctx   context.Context
	w     io.Writer
	size  int
	holds bool
}

// take waits for a slot. Its error is the context's.
func (t *turn) take() error {
	if t.holds {
		return nil
	}
	select {
	case t.large.slots <- struct{}{}:
		t.holds = true
		return nil
	case <-t.ctx.Done():
		return t.ctx.Err()
	}
}

// end gives the slot back.
func (t *turn) end() {
	if t.holds {
		t.holds = false
		<-t.large.slots
	}
}

// Write implements io.Writer.
func (t *turn) Write(p []byte) (int, error) {
	if t.size += len(p); t.size > largeSize {
		if err := t.take(); err != nil {
			return 0, err
		}
	}
	if !t.holds {
		return t.w.Write(p)
	}
	slow := time.AfterFunc(slowWrite, func() { <-t.large.slots })
	n, err := t.w.Write(p)
	if !slow.Stop() {
		t.holds = false // the timer has given it back
		if err == nil {
			err = t.take()
		}
	}
	return n, err
}

// weight is what the state takes that a snapshot would be made of.
func (h *Hub) weight() int { return h.Facts().Memory }

// turn is one for encoding the hub's state to w. A slot is waited for before the
// state is looked at when that is large itself, so that who waits keeps nothing.
func (h *Hub) turn(ctx context.Context, w io.Writer) (*turn, error) {
	t := &turn{large: h.large, ctx: ctx, w: w}
	if h.weight() > largeSize {
		if err := t.take(); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// Format is a form of a snapshot in a reply.
type Format string

// The formats.
const (
	FormatANSI Format = "ansi"
	FormatText Format = "text"
	FormatHTML Format = "html"
	FormatJSON Format = "json"
)

// WriteSnapshot writes the state as the JSON object of a reply, with the last lines of
// history, all when lines is negative, but no more of them than make snapshot.MaxSize
// bytes. A large one waits until few others are written. Errors are the context's and
// the writer's.
func (h *Hub) WriteSnapshot(ctx context.Context, w io.Writer, format Format, lines int) error {
	t, err := h.turn(ctx, w)
	if err != nil {
		return err
	}
	defer t.end()
	shot := h.Shot()
	if format == FormatANSI && shot.small(lines) {
		_, err := t.Write(shot.reply(lines))
		return err
	}
	start := time.Now()
	encode := shot.encoder(format)
	f, n, err := shot.fit(format, lines, encode)
	if err != nil {
		return err
	}
	err = encode(t, f, n)
	if shot.observe != nil {
		shot.observe(t.size, time.Since(start))
	}
	return err
}

// fitting is what of a shot can be sent in a format.
type fitting struct {
	format Format
	wanted int // lines of history
}

type fitted struct {
	frame *vt.Frame
	lines int
}

// fit is snapshot.Fit for the shot, done once for all who want the same.
func (s *Shot) fit(format Format, lines int, encode snapshot.Encoder) (*vt.Frame, int, error) {
	s.fitting.Lock()
	defer s.fitting.Unlock()
	key := fitting{format, lines}
	if a, ok := s.fitted[key]; ok {
		return a.frame, a.lines, nil
	}
	f, n, err := snapshot.Reduce(s.Frame, lines, snapshot.MaxSize, encode)
	if err == nil {
		if s.fitted == nil {
			s.fitted = map[fitting]fitted{}
		}
		s.fitted[key] = fitted{f, n}
	}
	return f, n, err
}

// encoder writes the whole reply in a format.
func (s *Shot) encoder(format Format) snapshot.Encoder {
	return func(w io.Writer, f *vt.Frame, n int) error {
		place := string(sizeMembers(f.Cols, f.Rows, s.Seq))
		if format == FormatJSON {
			rest := string(append([]byte{','}, appendUint(nil, "seq", s.Seq)...))
			if err := snapshot.WriteJSON(w, f, n, rest); err != nil {
				return err
			}
			_, err := io.WriteString(w, "\n")
			return err
		}
		inner, member := snapshot.Encoder(snapshot.WriteText), "text"
		switch format {
		case FormatHTML:
			inner, member = snapshot.WriteHTML, "html"
		case FormatANSI:
			inner, member = s.write, "data"
		}
		q := &quoter{w: w}
		if _, err := io.WriteString(w, `{"`+member+`":"`); err != nil {
			return err
		}
		if err := inner(q, f, n); err != nil {
			return err
		}
		_, err := io.WriteString(w, `",`+place+"}\n")
		return err
	}
}

// write is the Encoder of the shot's text for viewers.
func (s *Shot) write(w io.Writer, f *vt.Frame, n int) error {
	return snapshot.Options{Scrollback: n, Ended: s.Dead}.Write(w, f)
}

// quoter escapes what goes through as the inside of a JSON string. Each piece has to
// be whole characters.
type quoter struct {
	w   io.Writer
	buf []byte
}

func (q *quoter) Write(p []byte) (int, error) {
	q.buf, _ = jsonstring.Append(q.buf[:0], p)
	if _, err := q.w.Write(q.buf); err != nil {
		return 0, err
	}
	return len(p), nil
}

// IsLarge reports whether the event is a snapshot that is too large to be kept for
// others. WriteLargeSSE or WriteLarge sends it, in place of SSE and Frame.
func (m *Message) IsLarge() bool { return m.shot != nil && !m.shot.small(m.last) }

// WriteLargeSSE writes a large event in the form of Server-Sent Events. It waits
// until few others are written. Errors are the context's and the writer's.
func (m *Message) WriteLargeSSE(ctx context.Context, w io.Writer) error {
	head := fmt.Sprintf("event: %s\nid: %d\ndata: %s", m.Kind, m.Seq, m.jsonHead(""))
	return m.pour(ctx, w, head, "\"}\n\n", false)
}

// WriteLarge writes a large event as the payload of a WebSocket message, as
// WriteLargeSSE does.
func (m *Message) WriteLarge(ctx context.Context, w io.Writer, form Form) error {
	if form == FormBinary {
		return m.pour(ctx, w, string(m.binaryHead()), "", true)
	}
	return m.pour(ctx, w, m.jsonHead(m.head()), `"}`, false)
}

// pour writes a large snapshot event: head and tail surround it, and what is between
// them is the JSON object, or with binary the text itself.
func (m *Message) pour(ctx context.Context, w io.Writer, head, tail string, binary bool) error {
	t := &turn{large: m.shot.large, ctx: ctx, w: w}
	defer t.end()
	if err := t.take(); err != nil {
		return err
	}
	if _, err := io.WriteString(t, head); err != nil {
		return err
	}
	f, n, err := m.shot.fit(FormatANSI, m.last, m.shot.encoder(FormatANSI))
	if err != nil {
		return err
	}
	text := io.Writer(t)
	if !binary {
		text = &quoter{w: t}
	}
	if err := m.shot.write(text, f, n); err != nil {
		return err
	}
	_, err = io.WriteString(t, tail)
	return err
}

// jsonHead is how the event's JSON object begins, up to the text.
func (m *Message) jsonHead(members string) string {
	return "{" + members + string(m.rest) + `,"data":"`
}
