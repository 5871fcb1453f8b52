package registry

import (
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/internal/metrics"
	"github.com/evertty/evertty/internal/shell"
	"github.com/evertty/evertty/internal/shell/output"
)

// space is the disk space of exec shells. It has no lock: a quota has its own.
type space struct {
	shells  *Shells
	logs    output.Quota
	trouble atomic.Pointer[string] // why output or files of commands do not fit, nil when they do
}

// OpenSpace sets the quota of logs and makes the reserve. It is called before the first shell.
func (sp *space) OpenSpace() {
	sp.logs.Limit = sp.shells.cfg.LogQuota
	sp.logs.Free = func(bytes int64) { sp.freeLogs(bytes) }
	sp.holdReserve()
}

// freeLogs removes the oldest logs of ended commands, at least so many bytes where there are as many, and returns
// how many it removed.
func (sp *space) freeLogs(bytes int64) (freed int64) {
	type old struct {
		at   time.Time
		exec *shell.Exec
	}
	var list []old
	for _, s := range sp.shells.List("") {
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
	if cfg := sp.shells.cfg; gone > 0 {
		cfg.Metrics.Cleaned.WithLabelValues(metrics.CleanedExecLog).Add(float64(gone))
		cfg.Log.Info("cleaned up", "reason", metrics.CleanedExecLog, "commands", gone, "bytes", freed)
	}
	return freed
}

// makeRoom frees space on a full disk for the files of one command: the reserve, else the oldest logs.
func (sp *space) makeRoom() bool {
	sp.setTrouble(datadir.ErrNoSpace)
	return sp.shells.cfg.Store.ReleaseReserve() || sp.freeLogs(datadir.ReserveBytes) > 0
}

// KeepSpace enforces the quota, restores the reserve and updates Trouble.
func (sp *space) KeepSpace() {
	if over := sp.logs.Used() - sp.logs.Limit; over > 0 {
		sp.freeLogs(over)
	}
	sp.holdReserve()
}

// holdReserve restores the reserve, and clears the trouble when more than that is free.
func (sp *space) holdReserve() {
	err := sp.shells.cfg.Store.HoldReserve()
	if free, e := sp.shells.cfg.Store.FreeSpace(); err == nil && e == nil && free < datadir.ReserveBytes {
		err = datadir.ErrNoSpace
	}
	sp.setTrouble(err)
}

// setTrouble notes why files of commands cannot be written; nil when they can.
func (sp *space) setTrouble(err error) {
	if err == nil {
		sp.trouble.Store(nil)
		return
	}
	text := datadir.Describe("write the output of commands in exec shells", err)
	if old := sp.trouble.Swap(&text); old == nil || *old != text {
		sp.shells.cfg.Log.Error("cannot write the output of commands in exec shells", "error", err)
	}
}

// noteLost notes that the disk has refused the output of a command.
func (sp *space) noteLost(i shell.Info) {
	switch {
	case i.Result == nil:
	case i.Result.TruncatedReason == output.CutDisk:
		sp.setTrouble(datadir.ErrNoSpace)
	case i.Result.TruncatedReason == output.CutFailed:
		sp.setTrouble(errors.New("the disk refuses it"))
	}
}

// Trouble is why output or files of commands cannot be written, "" when they can.
func (sp *space) Trouble() string {
	if text := sp.trouble.Load(); text != nil {
		return *text
	}
	return ""
}
