package exec

import (
	"errors"
	"io"
	"math"
	"sync"
	"unicode/utf8"

	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/shell"
)

// logPage is the part of a log in memory for each client, in bytes: large enough for hundreds of megabytes a second,
// small enough for hundreds of clients.
const logPage = 128 << 10

// maxKept bounds a buffer that is kept in the pool, in bytes: the worst page, every byte of it six in JSON, and the
// frame around it.
const maxKept = 6*logPage + 4<<10

// logBuffers are the buffers of one reply: a page, and its JSON.
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

// logCursor reads the log of one output. Nothing is queued for its client: the log has the rest.
type logCursor struct {
	exec   *shell.Exec
	output shell.Stream
	at     int64 // everything before was sent
	seen   int64 // read up to here; between is a character whose rest is missing
	end    int64 // where the client stops, or -1
	over   bool  // the log has all that is the client's
}

// next returns at most a page, and advances. It returns a part of a character only when the rest cannot come any
// more, and nothing when there is no more now. A character that goes on behind the end is left out.
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
	whole := httpapi.WholeRunes(page[:n])
	if l.seen == l.end && whole < n {
		switch cut, known := cutsCharacter(l.exec, l.output, l.at+int64(whole)); {
		case cut:
			l.end = l.at + int64(whole)
		case known || l.over:
			whole = n
		default:
			l.seen = max(l.seen, l.exec.Size(l.output)) // the next bytes tell
		}
	}
	l.at += int64(whole)
	return page[:whole], nil
}

// cutsCharacter reports whether the log has a whole character at a position; known is false when it ends too early to
// tell.
func cutsCharacter(e *shell.Exec, o shell.Stream, at int64) (cut, known bool) {
	p := make([]byte, utf8.UTFMax)
	n, _ := e.ReadAt(o, p, at)
	r, size := utf8.DecodeRune(p[:n])
	return r != utf8.RuneError || size > 1, utf8.FullRune(p[:n])
}

// WholeEnd is how much of an output of a command that has ended goes into a reply of at most limit bytes: no part of a
// character, unless the output is none of text there.
func WholeEnd(e *shell.Exec, o shell.Stream, limit int64) int64 {
	if size := e.Size(o); size <= limit {
		return size
	}
	tail := make([]byte, min(limit, utf8.UTFMax))
	n, _ := e.ReadAt(o, tail, limit-int64(len(tail)))
	at := limit - int64(n-httpapi.WholeRunes(tail[:n]))
	if cut, _ := cutsCharacter(e, o, at); cut && at < limit {
		return at
	}
	return limit
}

// awaited is the position after which new bytes matter.
func (l *logCursor) awaited() int64 {
	if l.end >= 0 && l.at >= l.end {
		return math.MaxInt64
	}
	return l.seen
}

// stopHere ends the cursor at the current end of the log, unless it ends before. Nothing that comes later is read.
func (l *logCursor) stopHere() {
	if size := l.exec.Size(l.output); l.end < 0 || size < l.end {
		l.end = max(l.at, size)
	}
	l.over = true
}
