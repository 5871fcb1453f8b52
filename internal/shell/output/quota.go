package output

import (
	"errors"
	"math"
	"os"
	"sync/atomic"

	"github.com/evertty/evertty/internal/shell/shelldir"
)

// Quota is what the logs of all commands of a server may take together. All methods may be called at the same time from
// several goroutines; a nil *Logs has no bound.
type Quota struct {
	// Limit is the bound in bytes.
	Limit int64
	// Free, when not nil, removes the oldest logs of commands that have ended, of so many bytes at least where there
	// are as many. It is called under no lock of a Shell, and may take as long as the disk does.
	Free func(bytes int64)

	used atomic.Int64
}

// quotaShare is the part of the quota that is freed at a time beyond what is needed: else a flood would look for the
// oldest logs with each of its pieces.
const quotaShare = 16

// Used is how much all logs have, in bytes.
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

// room is how much more may be written, after the oldest logs made way when there was none.
func (l *Quota) room() int64 {
	if l == nil {
		return math.MaxInt64
	}
	if l.Limit <= l.used.Load() && l.Free != nil {
		l.Free(l.used.Load() - l.Limit + l.Limit/quotaShare + 1)
	}
	return max(0, l.Limit-l.used.Load())
}

// errLogQuota says that output was dropped because all logs together had no room left.
var errLogQuota = errors.New("the logs of all commands take as much as they may")

// The reasons why output is missing.
const (
	CutReply  = "max_output_bytes" // the reply is to have less than what was printed; the log has it
	CutLog    = "log_limit"        // the log of one output has all that it may
	CutQuota  = "log_quota"        // all logs together have; or the log was removed for newer ones
	CutDisk   = "disk_full"
	CutFailed = "write_failed"
	CutUnheld = "not_followed" // the server and the keeper ended while it printed
)

// CutReason is why the log misses something, "" when it has all.
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

// Remove takes the bytes of a finished log from the disk and returns how many there were. It reads as cut from then on.
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

// Forget says that the files of a log are gone with those of its command.
func (l *Log) Forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.quota.add(-l.end)
	l.quota = nil
}
