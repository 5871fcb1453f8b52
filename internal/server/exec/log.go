package exec

import (
	"errors"
	"io"
	"math"
	"sync"

	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/shell"
)

// logPage is how much of a log is in memory at a time for each client, in bytes: large
// enough for hundreds of megabytes a second, small enough for hundreds of clients.
const logPage = 128 << 10

// maxKept bounds what a buffer that goes back to its pool may have grown to, in bytes: the
// worst page, every byte of it six in JSON, and the frame around it.
const maxKept = 6*logPage + 4<<10

// logBuffers are what a reply needs while it is sent: a page, and its JSON.
type logBuffers struct {
	page []byte
	out  []byte
}

var logPool = sync.Pool{New: func() any {
	return &logBuffers{page: make([]byte, logPage), out: make([]byte, 0, logPage+logPage/4)}
}}

func (l *logBuffers) release() {
	if l.out = l.out[:0]; cap(l.out) <= maxKept {
		logPool.Put(l)
	}
}

// logCursor reads the log of one output from a position on. Nothing is queued for its
// client: what it has not taken is in the log.
type logCursor struct {
	exec   *shell.Exec
	output shell.Stream
	at     int64 // everything before was sent
	seen   int64 // read up to here; what is between is a character whose rest is missing
	end    int64 // where the client stops, or -1
}

// next returns what can be sent, at most a page of it and never half a character
// unless its rest does not come any more, and moves on. Nothing: there is no more now.
func (l *logCursor) next(page []byte) ([]byte, error) {
	if l.end >= 0 {
		page = page[:min(int64(len(page)), max(0, l.end-l.at))]
	}
	if len(page) == 0 {
		return nil, nil
	}
	n, err := l.exec.ReadAt(l.output, page, l.at)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	l.seen = l.at + int64(n)
	if l.seen != l.end {
		n = httpapi.WholeRunes(page[:n])
	}
	l.at += int64(n)
	return page[:n], nil
}

// awaited is the position behind which something more is of interest.
func (l *logCursor) awaited() int64 {
	if l.end >= 0 && l.at >= l.end {
		return math.MaxInt64
	}
	return l.seen
}

// stopHere makes what is in the log now the last to be sent, when nothing was before.
func (l *logCursor) stopHere() {
	if size := l.exec.Size(l.output); l.end < 0 || size < l.end {
		l.end = max(l.at, size)
	}
}
