package output

import (
	"errors"
	"math"
	"os"
	"sync/atomic"

	"github.com/evertty/evertty/internal/shell/shelldir"
)

// Quota bounds the logs of all commands of a server together. All methods may be called at the same
// time from several goroutines; a nil *Quota is no bound.
type Quota struct {
	// Limit is the bound in bytes.
	Limit int64
	// Free, when not nil, removes the oldest logs of ended commands, at least so many bytes where
	// there are as many. It is called under no lock of a Shell, and may take as long as the disk.
	Free func(bytes int64)

	used atomic.Int64
}

// quotaShare is the part of the quota that is freed beyond the need: else a flood would search for
// the oldest logs with each piece.
const quotaShare = 16

// Used is the size of all logs, in bytes.
func (l *Quota) Used() int64 {
	if l == nil {
		return 0
	}
	return l.used.Load()
}

func (l *Quota) add(n int64) {
	if l != nil {
		l.used.Add(n)
	}
}

// room is how much more may be written, after removing the oldest logs when there is none.
func (l *Quota) room() int64 {
	if l == nil {
		return math.MaxInt64
	}
	if l.Limit <= l.used.Load() && l.Free != nil {
		l.Free(l.used.Load() - l.Limit + l.Limit/quotaShare + 1)
	}
	return max(0, l.Limit-l.used.Load())
}

// errLogQuota is of output that was dropped because the quota is used up.
var errLogQuota = errors.New("the logs of all commands take as much as they may")

// The reasons why a log or a reply is not complete.
const (
	CutReply  = "max_output_bytes" // the reply is to have less than the output; the log has it
	CutLog    = "log_limit"        // the log of one output has all that it may
	CutQuota  = "log_quota"        // all logs together have; or the log was removed for newer ones
	CutDisk   = "disk_full"
	CutFailed = "write_failed"
	CutUnheld = "not_followed" // the server and the keeper ended while it printed
)

// CutReason is why the log is not complete, "" when it is.
func (l *Log) CutReason() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case !l.cut:
		return ""
	case l.failure == nil && l.end == 0:
		return CutQuota
	case l.failure == nil:
		return CutLog
	case errors.Is(l.failure, errLogQuota):
		return CutQuota
	case errors.Is(shelldir.SpaceError(l.failure), shelldir.ErrNoSpace):
		return CutDisk
	}
	return CutFailed
}

// Remove removes the bytes of a finished log, which is not complete from then on, and returns how
// many there were.
func (l *Log) Remove() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.over || l.end == 0 {
		return 0
	}
	if os.Truncate(l.path, 0) != nil && os.Remove(l.path) != nil {
		return 0
	}
	_ = os.Chmod(l.path, cutMode)
	n := l.end
	l.end, l.cut, l.failure = 0, true, errLogQuota
	l.quota.add(-n)
	return n
}

// Forget takes a log, whose files were removed, out of the quota.
func (l *Log) Forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.quota.add(-l.end)
	l.quota = nil
}
