package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"
)

// Bounds of a stream of events.
const (
	// maxEvent bounds one event, in bytes, as the same snapshot is bounded in a reply. The buffer
	// grows to it only when an event needs it.
	maxEvent = maxReply
	// eventBuffer is the first size of the buffer, in bytes: several pieces of the output of a
	// command that prints much.
	eventBuffer = 256 << 10
	// silence is how long a stream may bring nothing at all before it counts as broken: three of the
	// server's heartbeats.
	silence = 45 * time.Second
)

var (
	// errSilent is why a stream ends that brings nothing for too long.
	errSilent = fmt.Errorf("%w: the server has been silent for %v", ErrClosed, silence)
	// errEventSize is why a stream ends that sends an event larger than maxEvent.
	errEventSize = errors.New("an event is too large")
)

// events is a reply of Server-Sent Events (HTML, 9.2) that is read while it comes. next has one
// caller at a time; close may be called from any goroutine.
type events struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	body   io.ReadCloser
	timer  *time.Timer // ends the stream when a read brings nothing for the time of silence
	buf    []byte      // what has come; valid until the next read
	taken  int         // bytes of buf that next has returned
	err    error       // of the connection
}

// events sends a request whose reply is a stream of events, with body as JSON unless it is nil. The
// header is of the reply. ctx governs the whole life of the stream.
func (c *connection) events(ctx context.Context, method, target string, body []byte) (*events, http.Header, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	resp, err := c.open(ctx, method, target, "text/event-stream", body) //nolint:bodyclose // close of the stream does
	if err != nil {
		cancel(nil)
		return nil, nil, err
	}
	return newEvents(ctx, cancel, resp.Body), resp.Header, nil
}

func newEvents(ctx context.Context, cancel context.CancelCauseFunc, body io.ReadCloser) *events {
	t := time.AfterFunc(silence, func() { cancel(errSilent) })
	t.Stop()
	return &events{ctx: ctx, cancel: cancel, body: body, timer: t}
}

// next returns the name and the data of the next event that has data. The data is valid until the
// next call. An event that the connection did not bring whole is dropped. Errors match ErrClosed or
// are the cause of ctx.
func (e *events) next() (name string, data []byte, err error) {
	for {
		text, err := e.event()
		switch {
		case e.ctx.Err() != nil:
			return "", nil, context.Cause(e.ctx)
		case errors.Is(err, io.EOF):
			return "", nil, ErrClosed
		case err != nil:
			return "", nil, fmt.Errorf("%w: %w", ErrClosed, err)
		}
		if name, data := parseEvent(text); len(data) > 0 {
			return name, data, nil
		}
	}
}

// nextOf is the next event that decode knows. What the server refused is an *Error.
func nextOf[E any](s *events, decode func(name string, data []byte) (e E, known bool, err error)) (none E, err error) {
	for {
		name, data, err := s.next()
		if err != nil {
			return none, err
		}
		e, known, err := decode(name, data)
		if refused, ok := errors.AsType[*Error](err); ok {
			return none, refused
		}
		if err != nil {
			return none, s.fail(name, err)
		}
		if known {
			return e, nil
		}
	}
}

// fail ends the stream because of an event that cannot be read: nothing may follow a gap.
func (e *events) fail(name string, err error) error {
	err = fmt.Errorf("%w: event %s: %w", ErrClosed, name, err)
	e.cancel(err)
	return err
}

// close ends the connection. A pending next returns.
func (e *events) close() error {
	e.cancel(ErrClosed)
	e.timer.Stop()
	return e.body.Close()
}

// event returns the text of the next event with its empty line.
func (e *events) event() ([]byte, error) {
	for from := e.taken; ; {
		end, next := endOfEvent(e.buf, from)
		if end > 0 {
			text := e.buf[e.taken:end]
			e.taken = end
			return text, nil
		}
		if e.err != nil {
			return nil, e.err
		}
		from = next - e.taken
		e.fill() // moves what was not taken to the beginning
	}
}

// fill reads once.
func (e *events) fill() {
	e.buf = e.buf[:copy(e.buf, e.buf[e.taken:])]
	e.taken = 0
	if len(e.buf) >= maxEvent {
		e.err = errEventSize
		return
	}
	if len(e.buf) > cap(e.buf)/2 || cap(e.buf) == 0 {
		e.buf = slices.Grow(e.buf, max(eventBuffer, len(e.buf)))
	}
	e.timer.Reset(silence) // counts only during a read
	n, err := e.body.Read(e.buf[len(e.buf):cap(e.buf)])
	e.timer.Stop()
	e.buf, e.err = e.buf[:len(e.buf)+n], err
}

// endOfEvent is behind the first empty line that begins at from or later; lines end with LF or CR
// LF. It is 0 when there is none yet; next is where to look again when more has come.
func endOfEvent(p []byte, from int) (end, next int) {
	for {
		i := bytes.IndexByte(p[from:], '\n')
		if i < 0 {
			return 0, len(p)
		}
		line := from + i
		rest := p[line+1:]
		switch {
		case bytes.HasPrefix(rest, []byte("\n")):
			return line + len("\n\n"), 0
		case bytes.HasPrefix(rest, []byte("\r\n")):
			return line + len("\n\r\n"), 0
		case len(rest) == 0, len(rest) == 1 && rest[0] == '\r':
			return 0, line
		}
		from = line + 1
	}
}

// parseEvent reads the lines of an event. Ids and comments are left out.
func parseEvent(text []byte) (name string, data []byte) {
	for line := range bytes.Lines(text) {
		field, value, _ := bytes.Cut(bytes.TrimRight(line, "\r\n"), []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "event":
			name = string(value)
		case "data":
			if data == nil {
				data = value
			} else {
				data = slices.Concat(data, []byte("\n"), value)
			}
		}
	}
	return name, data
}
