package shell

import (
	"sync"
	"time"

	"github.com/evertty/evertty/internal/shell/history"
	"github.com/evertty/evertty/internal/shell/proctree"
)

// record is what the disk keeps of a command, and where the command is on its way.
type record struct {
	store *history.Store // nil of an internal command, which is in no list and on no disk

	saving sync.Mutex // held over the disk, taken before mu

	mu     sync.Mutex // guards what follows; nothing blocks under it
	phase  phase
	entry  history.Entry
	reason string // Result.Reason of the end that is on its way
	secret bool   // it had variables of its own, which the disk does not keep
}

// internal reports whether the command is one of the shell itself: it sets variables or a directory.
func (r *record) internal() bool { return r.store == nil }

// row is the record as it is now.
func (r *record) row() history.Entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.entry
}

// spec is the submitted command, without text and input.
func (r *record) spec() Command { return r.row().Spec }

// deadline is the end of the command's timeout as known now; zero without one.
func (r *record) deadline() time.Time { return r.row().Deadline }

// MaxReply bounds each output in a reply, in bytes; 0 is no bound.
func (r *record) MaxReply() int64 { return r.spec().MaxReply }

// earlier are the children of the shell before the command.
func (r *record) earlier() proctree.Starts { return proctree.ParseStarts(r.row().Processes) }

// change changes the record.
func (r *record) change(f func(row *history.Entry)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(&r.entry)
}

// save writes the record with the sizes of the logs.
func (r *record) save(logs outputs) error {
	if r.internal() {
		return nil
	}
	r.saving.Lock()
	defer r.saving.Unlock()
	r.mu.Lock()
	row, secret := r.entry, r.secret
	r.mu.Unlock()
	row.Info.StdoutBytes, row.Info.StderrBytes = logs.Size(Stdout), logs.Size(Stderr)
	if secret {
		return r.store.Replace(&row)
	}
	return r.store.Save(&row)
}

// moveDeadline moves the deadline of a running command by the length of a pause, and reports whether it did.
func (r *record) moveDeadline(since, now time.Time) (moved bool) {
	r.change(func(row *history.Entry) {
		if moved = !row.Deadline.IsZero() && !row.PauseCounted.Equal(since); moved {
			row.Deadline, row.PauseCounted = row.Deadline.Add(now.Sub(later(since, row.Info.StartedAt))), since
		}
	})
	return moved
}
