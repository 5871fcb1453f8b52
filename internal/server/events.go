package server

import (
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
)

// heartbeat is how often a stream without output shows that it lives: below the
// 30 s to 60 s after which proxies drop a silent connection.
const heartbeat = 15 * time.Second

const (
	// writePiece is how much of a reply is written at once, in bytes, each piece
	// with its own deadline: a slow connection may take as long as it needs, one
	// that takes nothing for writeTimeout is closed.
	writePiece   = 64 << 10
	writeTimeout = 60 * time.Second
)

// eventWire is an event stream on its way to a client.
type eventWire struct {
	out     io.Writer
	control *http.ResponseController
}

// openEvents begins an event stream.
func openEvents(c echo.Context) eventWire {
	h := c.Response().Header()
	h.Set(echo.HeaderContentType, "text/event-stream")
	h.Set(echo.HeaderCacheControl, "no-store")
	h.Set("X-Accel-Buffering", "no") // nginx would hold events back
	c.Response().WriteHeader(http.StatusOK)
	control := http.NewResponseController(c.Response())
	_ = control.Flush() // what fails here fails at the first event again
	return eventWire{newDeadlineWriter(c.Response()), control}
}

// send writes p and has it on its way.
func (w eventWire) send(p []byte) error {
	if len(p) == 0 {
		return nil
	}
	if _, err := w.out.Write(p); err != nil {
		return err
	}
	if err := w.control.Flush(); err != nil {
		return &sendError{err}
	}
	return nil
}

var heartbeatComment = []byte(": heartbeat\n\n")

// appendEvent appends an event whose data is v, which is always JSON.
func appendEvent(b []byte, name string, v any) []byte {
	data, err := encode(v)
	if err != nil {
		panic(err.Error()) // a type of ours
	}
	return fmt.Appendf(b, "event: %s\ndata: %s\n\n", name, data)
}

// headOfEvents answers HEAD where GET is a stream of events: with its headers, at once, and without a viewer.
func headOfEvents(c echo.Context) error {
	header := c.Response().Header()
	header.Set(echo.HeaderContentType, "text/event-stream")
	header.Set(echo.HeaderCacheControl, "no-store")
	header.Set("X-Accel-Buffering", "no")
	return c.NoContent(http.StatusOK)
}

// deadlineWriter sends in pieces, each with its own deadline.
type deadlineWriter struct {
	w       io.Writer
	control *http.ResponseController
}

// newDeadlineWriter sends to a reply that has begun.
func newDeadlineWriter(w http.ResponseWriter) *deadlineWriter {
	return &deadlineWriter{w, http.NewResponseController(w)}
}

// sendError is why a client gets no more: it left or takes nothing.
type sendError struct{ error }

func (e *sendError) Unwrap() error { return e.error }

func (p *deadlineWriter) Write(b []byte) (sent int, err error) {
	for sent < len(b) {
		if err := p.control.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
			return sent, &sendError{err}
		}
		n, err := p.w.Write(b[sent:min(len(b), sent+writePiece)])
		if sent += n; err != nil {
			return sent, &sendError{err}
		}
	}
	return sent, nil
}
