package httpapi

import (
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
)

// Heartbeat is how often a stream without output shows that it lives: below the
// 30 s to 60 s after which proxies drop a silent connection.
const Heartbeat = 15 * time.Second

const (
	// WritePiece is how much of a reply is written at once, in bytes, each piece
	// with its own deadline: a slow connection may take as long as it needs, one
	// that takes nothing for writeTimeout is closed.
	WritePiece   = 64 << 10
	writeTimeout = 60 * time.Second
)

// EventWire is an event stream on its way to a client.
type EventWire struct {
	out     io.Writer
	control *http.ResponseController
}

// OpenEvents begins an event stream.
func OpenEvents(c echo.Context) EventWire {
	h := c.Response().Header()
	h.Set(echo.HeaderContentType, "text/event-stream")
	h.Set(echo.HeaderCacheControl, "no-store")
	h.Set("X-Accel-Buffering", "no") // nginx would hold events back
	c.Response().WriteHeader(http.StatusOK)
	control := http.NewResponseController(c.Response())
	_ = control.Flush() // what fails here fails at the first event again
	return EventWire{NewDeadlineWriter(c.Response()), control}
}

// Send writes p and has it on its way.
func (w EventWire) Send(p []byte) error {
	if len(p) == 0 {
		return nil
	}
	if _, err := w.out.Write(p); err != nil {
		return err
	}
	if err := w.control.Flush(); err != nil {
		return &SendError{err}
	}
	return nil
}

var HeartbeatComment = []byte(": heartbeat\n\n")

// AppendEvent appends an event whose data is v, which is always JSON.
func AppendEvent(b []byte, name string, v any) []byte {
	data, err := Encode(v)
	if err != nil {
		panic(err.Error()) // a type of ours
	}
	return fmt.Appendf(b, "event: %s\ndata: %s\n\n", name, data)
}

// HeadOfEvents answers HEAD where GET is a stream of events: with its headers, at once, and without a viewer.
func HeadOfEvents(c echo.Context) error {
	header := c.Response().Header()
	header.Set(echo.HeaderContentType, "text/event-stream")
	header.Set(echo.HeaderCacheControl, "no-store")
	header.Set("X-Accel-Buffering", "no")
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

func (p *DeadlineWriter) Write(b []byte) (sent int, err error) {
	for sent < len(b) {
		if err := p.control.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
			return sent, &SendError{err}
		}
		n, err := p.w.Write(b[sent:min(len(b), sent+WritePiece)])
		if sent += n; err != nil {
			return sent, &SendError{err}
		}
	}
	return sent, nil
}
