package client

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"time"
)

// errEventSize is why a stream ends that sends an event larger than maxEvent.
var errEventSize = errors.New("an event is too large")

// firstEventBuffer is what is reserved for events at first, in bytes.
const firstEventBuffer = 32 << 10

// eventBody hands out a stream of Server-Sent Events in whole events. r3labs looks
// through all it has of an event with every piece that comes, which for a snapshot
// of megabytes in small pieces takes seconds; and what a broken connection left of
// an event it takes for a whole one. Here the first costs one look at each byte,
// and the second is left out.
//
// It also calls silent when a Read brings nothing for the time of silence.
type eventBody struct {
	io.ReadCloser
	timer *time.Timer
	buf   []byte // what has come and was not handed out
	whole int    // bytes of it that are whole events
	err   error  // of the connection
}

func newEventBody(r io.ReadCloser, silent func()) *eventBody {
	t := time.AfterFunc(silence, silent)
	t.Stop()
	return &eventBody{ReadCloser: r, timer: t, buf: make([]byte, 0, firstEventBuffer)}
}

// Read implements io.Reader.
func (b *eventBody) Read(p []byte) (int, error) {
	for b.whole == 0 {
		if b.err != nil {
			return 0, b.err
		}
		b.fill()
	}
	n := copy(p, b.buf[:b.whole])
	b.whole -= n
	b.buf = b.buf[n:]
	return n, nil
}

// fill reads once and looks for the end of an event in what came.
func (b *eventBody) fill() {
	if len(b.buf) >= maxEvent {
		b.err = errEventSize
		return
	}
	b.buf = slices.Grow(b.buf, max(firstEventBuffer, len(b.buf)/2))
	b.timer.Reset(silence) // counts only while somebody reads
	n, err := b.ReadCloser.Read(b.buf[len(b.buf):cap(b.buf)])
	b.timer.Stop()
	seen := len(b.buf)
	b.buf, b.err = b.buf[:seen+n], err
	b.whole = endOfEvents(b.buf, seen)
}

// endOfEvents is behind the last empty line in p, of which the first seen bytes
// have none; 0 when there is none.
func endOfEvents(p []byte, seen int) int {
	end := 0
	for _, blank := range []string{"\n\n", "\n\r\n"} {
		// Forwards: bytes.Index is many times faster than bytes.LastIndex.
		for at := max(0, seen-len("\n\r")); ; end = max(end, at) {
			i := bytes.Index(p[at:], []byte(blank))
			if i < 0 {
				break
			}
			at += i + len(blank)
		}
	}
	return end
}

// Close implements io.Closer.
func (b *eventBody) Close() error {
	b.timer.Stop()
	return b.ReadCloser.Close()
}
