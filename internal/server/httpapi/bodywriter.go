package httpapi

import (
	"io"
	"net/http"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/labstack/echo/v4"
)

// zstdWindow is how far back zstd looks, in bytes: it takes some times as much
// memory for each reply that is on its way.
const zstdWindow = 512 << 10

// bodyWriter sends a reply of JSON text that comes in pieces, compressed in the way
// the client prefers when it is large. Until the first piece is full nothing is sent,
// so an error before can still be answered.
type bodyWriter struct {
	c     echo.Context
	buf   []byte
	Begun bool
	to    io.Writer
	close func() error
}

// NewBodyWriter is for the reply to c, which has not begun; its owner calls Finish.
func NewBodyWriter(c echo.Context) *bodyWriter {
	return &bodyWriter{c: c, buf: make([]byte, 0, WritePiece)}
}

// Write implements io.Writer.
func (b *bodyWriter) Write(p []byte) (n int, err error) {
	for n < len(p) {
		k := min(len(p)-n, cap(b.buf)-len(b.buf))
		b.buf = append(b.buf, p[n:n+k]...)
		n += k
		if len(b.buf) == cap(b.buf) {
			if err := b.send(); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// send sends what was collected.
func (b *bodyWriter) send() error {
	if !b.Begun {
		if err := b.begin(); err != nil {
			return err
		}
	}
	_, err := b.to.Write(b.buf)
	b.buf = b.buf[:0]
	return err
}

// begin sends the header of a reply that is larger than one piece.
func (b *bodyWriter) begin() error {
	b.Begun = true
	header := b.c.Response().Header()
	header.Add(echo.HeaderVary, echo.HeaderAcceptEncoding)
	header.Set(echo.HeaderContentType, echo.MIMEApplicationJSON)
	out := NewDeadlineWriter(b.c.Response())
	b.to, b.close = out, func() error { return nil }
	if coding := AcceptedCoding(b.c.Request().Header.Get(echo.HeaderAcceptEncoding)); coding != "" {
		z, err := NewCompressor(out, coding, zstd.WithWindowSize(zstdWindow), zstd.WithLowerEncoderMem(true))
		if err != nil {
			return err
		}
		b.to, b.close = z, z.Close
		header.Set(echo.HeaderContentEncoding, coding)
	}
	b.c.Response().WriteHeader(http.StatusOK)
	return nil
}

// Finish sends the rest. A reply of one piece goes out as WriteBody does it.
func (b *bodyWriter) Finish() error {
	if !b.Begun {
		return WriteBody(b.c, http.StatusOK, b.buf)
	}
	// the connection may serve more
	defer func() { _ = http.NewResponseController(b.c.Response()).SetWriteDeadline(time.Time{}) }()
	if err := b.send(); err != nil {
		return err
	}
	return b.close()
}
