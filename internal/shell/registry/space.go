package registry

import (
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/internal/shell"
	"github.com/evertty/evertty/internal/shell/output"
	"github.com/evertty/evertty/internal/terminal"
)

// space is the disk space of exec shells.
type space struct {
	logs    output.Quota
	trouble atomic.Pointer[string] // why output or files of commands do not fit, nil when they do
}

// OpenSpace sets the quota of logs and makes the reserve. It is called before the first shell.
func (ss *Shells) OpenSpace() {
	ss.space.logs.Limit = ss.cfg.LogQuota
	ss.space.logs.Free = func(bytes int64) { ss.freeExecLogs(bytes) }
	ss.holdReserve()
}

// freeExecLogs removes the oldest logs of ended commands, at least so many bytes where there are as many, and returns
// how many it removed.
func (ss *Shells) freeExecLogs(bytes int64) (freed int64) {
	type old struct {
		at   time.Time
		exec *shell.Exec
	}
	var list []old
	for _, s := range ss.List("") {
		for _, e := range s.Execs() {
			if i := e.Info(); i.StdoutBytes+i.StderrBytes > 0 && !i.FinishedAt.IsZero() {
				list = append(list, old{i.FinishedAt, e})
			}
		}
	}
	slices.SortFunc(list, func(a, b old) int { return a.at.Compare(b.at) })
	gone := 0
	for _, o := range list {
		if freed >= bytes {
			break
		}
		if n := o.exec.RemoveLogs(); n > 0 {
			freed, gone = freed+n, gone+1
		}
	}
	if gone > 0 {
		ss.cfg.Metrics.Cleaned.WithLabelValues(terminal.CleanedExecLog).Add(float64(gone))
		ss.cfg.Log.Info("cleaned up", "reason", terminal.CleanedExecLog, "commands", gone, "bytes", freed)
	}
	return freed
}

// makeExecRoom frees space on a full disk for the files of one command: the reserve, else the oldest logs.
func (ss *Shells) makeExecRoom() bool {
	ss.setTrouble(datadir.ErrNoSpace)
	return ss.cfg.Store.ReleaseReserve() || ss.freeExecLogs(datadir.ReserveBytes) > 0
}

// KeepSpace enforces the quota, restores the reserve and updates Trouble.
func (ss *Shells) KeepSpace() {
	if over := ss.space.logs.Used() - ss.space.logs.Limit; over > 0 {
		ss.freeExecLogs(over)
	}
	ss.holdReserve()
}

// holdReserve restores the reserve, and clears the trouble when more than that is free.
func (ss *Shells) holdReserve() {
	err := ss.cfg.Store.HoldReserve()
	if free, e := ss.cfg.Store.FreeSpace(); err == nil && e == nil && free < datadir.ReserveBytes {
		err = datadir.ErrNoSpace
	}
	ss.setTrouble(err)
}

// setTrouble notes why files of commands cannot be written; nil when they can.
func (ss *Shells) setTrouble(err error) {
	if err == nil {
		ss.space.trouble.Store(nil)
		return
	}
	text := datadir.Describe("write the output of commands in exec shells", err)
	if old := ss.space.trouble.Swap(&text); old == nil || *old != text {
		ss.cfg.Log.Error("cannot write the output of commands in exec shells", "error", err)
	}
}

// lostOutput notes that the disk has refused the output of a command.
func (ss *Shells) lostOutput(i shell.Info) {
	switch {
	case i.Result == nil:
	case i.Result.TruncatedReason == output.CutDisk:
		ss.setTrouble(datadir.ErrNoSpace)
	case i.Result.TruncatedReason == output.CutFailed:
		ss.setTrouble(errors.New("the disk refuses it"))
	}
}

// Trouble is why output or files of commands cannot be written, "" when they can.
func (ss *Shells) Trouble() string {
	if text := ss.space.trouble.Load(); text != nil {
		return *text
	}
	return ""
}
