package auth

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// AuditFile is the name of the audit log in the data directory; older ones are audit.log.1 to audit.log.4, the
	// newest first.
	AuditFile = "audit.log"
	// MaxAudit is the size at which a new file begins, in bytes: about 40,000 lines.
	MaxAudit = 8 << 20
	// RefusedAuditFile has the refusals, in as many files: anybody can cause them, and they displace no other line.
	RefusedAuditFile = "audit.refused.log"
	// MaxRefusedAudit is MaxAudit of RefusedAuditFile.
	MaxRefusedAudit = 1 << 20
	// OldAudits is how many older files are kept.
	OldAudits = 4
	// MaxAuditWaiting bounds the queue for the disk, in bytes; further lines are only counted.
	MaxAuditWaiting = 1 << 20
	// AuditPatience is the longest wait of a request for its line, so that a hanging disk does not
	// delay it. The line is written later.
	AuditPatience = 200 * time.Millisecond
)

// AuditEntry is one line of the audit log: who did what, with which result. It never has input,
// output or variables.
type AuditEntry struct {
	At     time.Time `json:"at"`
	Who    string    `json:"who"`    // token, cookie, ticket, anyone (--auth none), nobody (wrong or no credentials)
	From   string    `json:"from"`   // address and port, or unix
	What   string    `json:"what"`   // noun.verb, see auditWords; refused
	Target string    `json:"target"` // ids or names; of a request that was refused its method and path
	Result string    `json:"result"` // ok, or the code of the error
}

// AuditLog appends lines to DIR/audit.log, and those about refusals to DIR/audit.refused.log. It is safe for
// concurrent use; a nil AuditLog writes nothing. It has a goroutine only while lines are waiting.
type AuditLog struct {
	path    string
	max     int64 // bytes of a file
	log     *slog.Logger
	refused *AuditLog // of lines about refusals; nil in that one

	Mu      sync.Mutex
	Waiting auditBatch
	writing bool   // a goroutine is at work
	lost    int    // lines that nobody will read
	trouble string // why the last write failed, "" when it did not

	// Only the writing goroutine uses these.
	File *os.File // nil before the first line and after a failure
	size int64
	torn bool // the file ends within a line
}

// auditBatch is the lines of one write.
type auditBatch struct {
	Lines []byte
	count int
	done  chan struct{} // closed when it was written, or could not be
}

// OpenAuditLog returns the audit log of a data directory. The first line opens its file; failures
// go to log.
func OpenAuditLog(dir string, log *slog.Logger) *AuditLog {
	open := func(name string, size int64) *AuditLog {
		return &AuditLog{path: filepath.Join(dir, name), max: size, log: log, Waiting: newAuditBatch()}
	}
	a := open(AuditFile, MaxAudit)
	a.refused = open(RefusedAuditFile, MaxRefusedAudit)
	return a
}

func newAuditBatch() auditBatch { return auditBatch{done: make(chan struct{})} }

// Add writes a line and waits for the write, at most AuditPatience.
func (a *AuditLog) Add(e AuditEntry) {
	if a == nil {
		return
	}
	if a.refused != nil && e.isRefusal() {
		a = a.refused
	}
	if done := a.enqueue(e.line()); done != nil {
		patience := time.NewTimer(AuditPatience)
		defer patience.Stop()
		select {
		case <-done:
		case <-patience.C:
		}
	}
}

// isRefusal reports whether the line is about refused requests.
func (e AuditEntry) isRefusal() bool { return e.What == AuditRefused || e.What == auditSkipped }

// line returns the line with its LF; <, > and & stay as they are, so that it is no longer than its texts need.
func (e AuditEntry) line() []byte {
	e.At = e.At.UTC().Truncate(time.Millisecond)
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(e) // cannot fail: texts and a time
	return b.Bytes()
}

// enqueue returns a channel that is closed after the write, or nil when the queue is full.
func (a *AuditLog) enqueue(line []byte) <-chan struct{} {
	a.Mu.Lock()
	defer a.Mu.Unlock()
	if len(a.Waiting.Lines)+len(line) > MaxAuditWaiting {
		a.lost++
		return nil
	}
	a.Waiting.Lines = append(a.Waiting.Lines, line...)
	a.Waiting.count++
	if !a.writing {
		a.writing = true
		go a.write()
	}
	return a.Waiting.done
}

// Trouble returns the error of the last write to a file, nil after a success.
func (a *AuditLog) Trouble() error {
	if a == nil {
		return nil
	}
	a.Mu.Lock()
	defer a.Mu.Unlock()
	if a.trouble == "" {
		return a.refused.Trouble()
	}
	return errors.New(a.trouble)
}

// write writes the queue until it is empty.
func (a *AuditLog) write() {
	for {
		a.Mu.Lock()
		batch := a.Waiting
		if batch.count == 0 {
			a.writing = false
			a.Mu.Unlock()
			return
		}
		a.Waiting = newAuditBatch()
		lost := a.lost
		a.Mu.Unlock()
		if lost > 0 {
			batch.Lines = append(lostLine(lost), batch.Lines...)
		}
		err := a.append(batch.Lines)
		a.wrote(batch, lost, err)
		close(batch.done)
	}
}

// wrote records the result of a batch, and logs the first failure of a series.
func (a *AuditLog) wrote(batch auditBatch, lost int, err error) {
	a.Mu.Lock()
	defer a.Mu.Unlock()
	if err == nil {
		a.lost -= lost
		a.trouble = ""
		return
	}
	a.lost += batch.count
	if a.trouble == "" {
		a.log.Error("the audit log cannot be written", "error", err)
	}
	a.trouble = err.Error()
}

// lostLine returns the line that reports n missing lines.
func lostLine(n int) []byte {
	return AuditEntry{At: time.Now(), Who: "server", What: "audit.lost", Result: strconv.Itoa(n)}.line()
}

// append writes lines to the end of the file, and begins another file when it is full.
func (a *AuditLog) append(lines []byte) error {
	if err := a.open(); err != nil {
		return err
	}
	if a.torn {
		lines = append([]byte{'\n'}, lines...)
	}
	n, err := a.File.Write(lines)
	a.size += int64(n)
	a.torn = err != nil && (n > 0 || a.torn)
	if err != nil {
		return fmt.Errorf("audit log: %w", err)
	}
	return nil
}

// open returns a file to append to: the current one unless it is full or was removed.
func (a *AuditLog) open() error {
	if a.File != nil {
		var st unix.Stat_t
		removed := unix.Fstat(int(a.File.Fd()), &st) == nil && st.Nlink == 0
		if !removed && a.size < a.max {
			return nil
		}
		_ = a.File.Close()
		a.File = nil
		if !removed {
			a.rotate()
		}
	}
	f, err := os.OpenFile(a.path, os.O_RDWR|os.O_APPEND|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return fmt.Errorf("audit log: %w", err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", a.path)
	}
	if err == nil {
		err = f.Chmod(0o600)
	}
	if err != nil {
		_ = f.Close()
		return fmt.Errorf("audit log: %w", err)
	}
	a.File, a.size, a.torn = f, info.Size(), endsTorn(f, info.Size())
	return nil
}

// endsTorn reports whether a file ends inside a line, after a kill or on a full disk.
func endsTorn(f *os.File, size int64) bool {
	if size == 0 {
		return false
	}
	last := make([]byte, 1)
	_, err := f.ReadAt(last, size-1)
	return err == nil && last[0] != '\n'
}

// rotate renames each file to the next number and removes the last one. If that fails, the file
// grows and the next write tries again.
func (a *AuditLog) rotate() {
	name := func(n int) string {
		if n == 0 {
			return a.path
		}
		return a.path + "." + strconv.Itoa(n)
	}
	for n := OldAudits; n > 0; n-- {
		if err := os.Rename(name(n-1), name(n)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			a.log.Warn("an audit log cannot be renamed", "error", err)
		}
	}
}
