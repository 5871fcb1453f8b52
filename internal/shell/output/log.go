// Package output keeps the output of commands: the log of one output, the quota of all logs, and
// the copier that moves bytes from a FIFO to a log without copying them to the memory of the
// process.
package output

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"

	"github.com/evertty/evertty/internal/shell/shelldir"
)

// cutMode is the mode of a log that is not complete: read-only for its owner. A mode needs no space
// on a full disk and survives the server.
const cutMode fs.FileMode = 0o400

// Log is one output of one command on disk. Its file is made with the first byte, so that a command
// without output costs none; the file's size is the position. A log keeps the first max bytes; what
// comes after a byte that it did not take is dropped too, so that it is always a prefix of the
// output. It has a descriptor open only between the first byte and Finish. All methods may be
// called at the same time from several goroutines, but one copier writes.
type Log struct {
	path string
	max  int64
	// total, when not nil, counts every byte that came, kept or not.
	total *atomic.Int64
	// quota is what all logs share; nil is no bound.
	quota *Quota

	mu      sync.Mutex // guards what follows; only memory is touched under it
	file    *os.File   // nil before the first byte and after Finish
	end     int64
	cut     bool
	over    bool
	grew    chan struct{} // nil without a waiter
	failure error         // why the disk refused
}

// OpenLog opens the log of a path, which needs not exist, for limit bytes. What is in it already
// counts: size, and truncated when it was so before. printed, when not nil, counts every byte that
// comes from now on, kept or not; quota is what all logs share, nil is no bound.
func OpenLog(path string, limit int64, printed *atomic.Int64, quota *Quota) (*Log, error) {
	l := &Log{path: path, max: limit, total: printed, quota: quota}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return l, nil
	case err != nil:
		return nil, err
	}
	l.end = info.Size()
	l.cut = info.Mode().Perm() == cutMode
	l.quota.add(l.end)
	return l, nil
}

// Size is how many bytes the log has.
func (l *Log) Size() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.end
}

// has reports whether there are more than at bytes. A nil log has none.
func (l *Log) has(at int64) bool { return l != nil && l.Size() > at }

// Finished reports whether no more can come in this process. A nil log is finished.
func (l *Log) Finished() bool {
	if l == nil {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over
}

// changed is a channel that is closed once the log has more than at bytes or is finished; nil when
// it is finished without more. A nil log is.
func (l *Log) changed(at int64) <-chan struct{} {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.end > at:
		return shelldir.ClosedChannel
	case l.over:
		return nil
	case l.grew == nil:
		l.grew = make(chan struct{})
	}
	return l.grew
}

// ReadAt reads as io.ReaderAt does: io.EOF at the end that the log has now. It works after Finish
// too, as long as the file is there.
func (l *Log) ReadAt(p []byte, at int64) (int, error) {
	l.mu.Lock()
	file, end := l.file, l.end
	l.mu.Unlock()
	if at >= end {
		return 0, io.EOF
	}
	if file != nil {
		n, err := io.NewSectionReader(file, 0, end).ReadAt(p, at)
		if !errors.Is(err, os.ErrClosed) { // else Finish came in between
			return n, err
		}
	}
	file, err := os.Open(l.path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	return io.NewSectionReader(file, 0, end).ReadAt(p, at)
}

// Finish completes the log: it closes the file and wakes all waiters. Finishing again does nothing.
func (l *Log) Finish() {
	l.mu.Lock()
	file := l.file
	l.file = nil
	l.over = true
	l.wake()
	l.mu.Unlock()
	if file != nil {
		_ = file.Close() // reads and splices have no errors left for it
	}
}

// wake wakes all waiters. The lock is held.
func (l *Log) wake() {
	if l.grew != nil {
		close(l.grew)
		l.grew = nil
	}
}

// open reports whether the file is open.
func (l *Log) open() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file != nil
}

// room is the file to write to and how many bytes it may still take; nil when everything is to be
// dropped. Only the copier calls it.
func (l *Log) room() (*os.File, int64, int64) {
	l.mu.Lock()
	file, end, cut := l.file, l.end, l.cut || l.over
	l.mu.Unlock()
	if cut || end >= l.max {
		return nil, 0, 0
	}
	room := min(l.max-end, l.quota.room())
	switch {
	case room <= 0:
		l.Drop(errLogQuota)
		return nil, 0, 0
	case file != nil:
		return file, end, room
	}
	file, err := os.OpenFile(l.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		l.Drop(err)
		return nil, 0, 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		_ = file.Close()
		return nil, 0, 0
	}
	l.file = file
	return file, end, room
}

// Append writes to the log instead of a copier. One caller appends at a time.
func (l *Log) Append(p []byte) {
	for len(p) > 0 {
		file, at, room := l.room()
		if file == nil {
			l.count(int64(len(p)))
			l.Drop(nil)
			return
		}
		n, err := file.WriteAt(p[:min(room, int64(len(p)))], at)
		l.added(int64(n))
		if p = p[n:]; err != nil {
			l.Drop(err)
		}
	}
}

// added notes n more bytes in the file. Only the copier calls it.
func (l *Log) added(n int64) {
	l.count(n)
	l.quota.add(n)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end += n
	l.wake()
}

// count counts n bytes that the command has printed.
func (l *Log) count(n int64) {
	if l.total != nil {
		l.total.Add(n)
	}
}

// Drop notes that output was dropped, because of err or, when that is nil, of max. From now on all
// is dropped. Only the copier calls it.
func (l *Log) Drop(err error) {
	l.mu.Lock()
	known := l.cut
	l.cut = true
	if l.failure == nil {
		l.failure = err
	}
	l.mu.Unlock()
	if known {
		return
	}
	// Only a file of ours gets the mark, never what a link points to. A log that cannot be marked
	// is cut for this process only.
	if info, err := os.Lstat(l.path); err == nil && info.Mode().IsRegular() {
		_ = os.Chmod(l.path, cutMode)
	}
}
