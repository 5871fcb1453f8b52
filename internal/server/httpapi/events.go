package httpapi

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
)

// Heartbeat is how often a connection without output shows that it lives: below the
// 30 s to 60 s after which proxies drop a silent one.
const Heartbeat = 15 * time.Second

const (
	// WritePiece is how much of a reply is written at once, in bytes, each piece
	// with its own deadline: a slow connection may take as long as it needs, one
	// that takes nothing for WriteTimeout is closed.
	WritePiece = 64 << 10
	// WriteTimeout is the deadline of a piece.
	WriteTimeout = 60 * time.Second
)

// HeartbeatComment is an event stream's comment, which every reader skips.
const HeartbeatComment = ": heartbeat\n\n"

// EventWriter sends Server-Sent Events (WHATWG HTML, 9.2) to one client. Its errors
// are of type *SendError.
type EventWriter struct{ *DeadlineWriter }

// OpenEvents begins an event stream: it sends the header of the reply.
func OpenEvents(w http.ResponseWriter) EventWriter {
	setEventHeader(w.Header())
	w.WriteHeader(http.StatusOK)
	e := EventWriter{NewDeadlineWriter(w)}
	_ = e.Flush() // what fails here fails at the first event again
	return e
}

func setEventHeader(h http.Header) {
	h.Set(echo.HeaderContentType, "text/event-stream")
	h.Set(echo.HeaderCacheControl, "no-store")
	h.Set("X-Accel-Buffering", "no") // nginx would hold events back
}

// Send writes events and flushes them.
func (e EventWriter) Send(p []byte) error {
	if len(p) == 0 {
		return nil
	}
	if _, err := e.Write(p); err != nil {
		return err
	}
	return e.Flush()
}

// Beat shows that the stream lives.
func (e EventWriter) Beat() error { return e.Send([]byte(HeartbeatComment)) }

// AppendEvent appends an event whose data is v, which is always JSON.
func AppendEvent(b []byte, name string, v any) []byte {
	data, err := Encode(v)
	if err != nil {
		panic(err.Error()) // a type of ours
	}
	return fmt.Appendf(b, "event: %s\ndata: %s\n\n", name, data)
}

// WantsEvents reports whether a client wants a stream of events, and not a list as JSON: by the format that its query
// names, sse or json, else by what it accepts.
func WantsEvents(c echo.Context, format string) bool {
	accepts := c.Request().Header.Get(echo.HeaderAccept)
	return format == "sse" || format == "" && !strings.Contains(accepts, echo.MIMEApplicationJSON)
}

// HeadOfEvents answers HEAD where GET is a stream of events: with its headers, at once, and without
// a viewer.
func HeadOfEvents(c echo.Context) error {
	setEventHeader(c.Response().Header())
	return c.NoContent(http.StatusOK)
}

// DeadlineWriter sends in pieces, each with its own deadline.
type DeadlineWriter struct {
	w       io.Writer
	control *http.ResponseController
}

// NewDeadlineWriter sends to a reply that has begun.
func NewDeadlineWriter(w http.ResponseWriter) *DeadlineWriter {
	return &DeadlineWriter{w, http.NewResponseController(w)}
}

// SendError is why a client gets no more: it left or takes nothing.
type SendError struct{ Err error }

func (e *SendError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *SendError) Unwrap() error { return e.Err }

// Write sends b. Errors are of type *SendError.
func (d *DeadlineWriter) Write(b []byte) (sent int, err error) {
	for sent < len(b) {
		if err := d.control.SetWriteDeadline(time.Now().Add(WriteTimeout)); err != nil {
			return sent, &SendError{err}
		}
		n, err := d.w.Write(b[sent:min(len(b), sent+WritePiece)])
		if sent += n; err != nil {
			return sent, &SendError{err}
		}
	}
	return sent, nil
}

// Flush sends what net/http has kept so far. Its error is of type *SendError.
func (d *DeadlineWriter) Flush() error {
	if err := d.control.Flush(); err != nil {
		return &SendError{err}
	}
	return nil
}
