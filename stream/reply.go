package stream

import (
	"context"
	"io"
	"time"

	"github.com/evertty/evertty/internal/jsonstring"
	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

// WriteSnapshot writes the state as the JSON object of a reply (wire.ScreenANSI and the like), with
// the last lines of history, all when lines is negative, but no more of them than make
// snapshot.MaxSize bytes. A large one waits until few others are written. Errors: ctx.Err(), the
// writer's.
func (h *Hub) WriteSnapshot(ctx context.Context, w io.Writer, format string, lines int) error {
	slot := &slotWriter{large: h.large, ctx: ctx, w: w}
	defer slot.release()
	if h.Stats().Memory > largeSize { // wait before the state is frozen: a waiter keeps nothing in memory
		if err := slot.acquire(); err != nil {
			return err
		}
	}
	s := h.Snapshot()
	if format == wire.FormatANSI && s.isSmall(lines) {
		_, err := slot.Write(s.ansiReply(lines))
		return err
	}
	start := time.Now()
	encode := s.replyEncoder(format)
	f, n, err := s.reduce(format, lines, encode)
	if err != nil {
		return err
	}
	err = encode(slot, f, n)
	if s.onMade != nil {
		s.onMade(slot.size, time.Since(start))
	}
	return err
}

// ansiReply is the reply with a small text.
func (s *SharedSnapshot) ansiReply(lines int) []byte {
	b := s.appendQuoted([]byte(`{"data":`), lines)
	b = appendPlace(append(b, ','), Size{Cols: s.Frame.Cols, Rows: s.Frame.Rows}, s.Seq)
	return append(b, "}\n"...)
}

// replyEncoder writes the whole reply in a format.
func (s *SharedSnapshot) replyEncoder(format string) snapshot.Encoder {
	inner, member := snapshot.Encoder(snapshot.WriteText), "text"
	switch format {
	case wire.FormatJSON:
		return func(w io.Writer, f *vt.Frame, lines int) error {
			if err := snapshot.WriteJSON(w, f, lines, string(appendUint([]byte{','}, "seq", s.Seq))); err != nil {
				return err
			}
			_, err := io.WriteString(w, "\n")
			return err
		}
	case wire.FormatHTML:
		inner, member = snapshot.WriteHTML, "html"
	case wire.FormatANSI:
		inner, member = s.write, "data"
	}
	return func(w io.Writer, f *vt.Frame, lines int) error {
		if _, err := io.WriteString(w, `{"`+member+`":"`); err != nil {
			return err
		}
		if err := inner(&quoter{w: w}, f, lines); err != nil {
			return err
		}
		place := appendPlace([]byte(`",`), Size{Cols: f.Cols, Rows: f.Rows}, s.Seq)
		_, err := w.Write(append(place, "}\n"...))
		return err
	}
}

// quoter escapes its input as the inside of a JSON string. Each write has to be whole
// characters.
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
