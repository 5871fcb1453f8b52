package service

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/internal/shell"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/internal/thread/lifecycle"
)

const (
	// recorderQueue is how many notes may wait to be written. Who has one more waits: some hundred
	// milliseconds of the busiest server.
	recorderQueue = 4096
	// recorderBatch is how many notes one transaction takes.
	recorderBatch = 256
	// recorderPause is how long a note waits for others: a transaction costs more than what is in
	// it.
	recorderPause = 10 * time.Millisecond
	// recorderRetry is the time between two attempts to write to a database that refuses.
	recorderRetry = time.Second
)

// note is one thing to write down. Of those about one command the last of its life stands for all
// in its batch.
type note struct {
	command *thread.Command
	do      func(*lifecycle.Batch) error
	written chan struct{} // closed when all notes before it are written, or cannot be
}

// recorder writes notes into the records in their order, so that neither a command nor a byte of
// output waits for the database. What is not written when this process is killed, the next server
// takes from the shells' own histories and from what is alive (see reconcile).
type recorder struct {
	queue    chan note
	flushNow chan struct{} // has a value when somebody waits for a batch
	stop     chan struct{}
	done     chan struct{}
}

func newRecorder() recorder {
	return recorder{make(chan note, recorderQueue), make(chan struct{}, 1), make(chan struct{}), make(chan struct{})}
}

// note has something written down. It waits only when the queue is full.
func (d *Service) note(do func(*lifecycle.Batch) error) { d.put(note{do: do}) }

func (d *Service) put(n note) {
	if d.Manager == nil {
		return
	}
	select {
	case d.recorder.queue <- n:
	case <-d.recorder.done: // what happens now the next server finds out
	}
}

// flush waits until everything that was noted before is written, or cannot be. Errors: the reason
// of ctx.
func (d *Service) flush(ctx context.Context) error {
	n := note{written: make(chan struct{})}
	select {
	case d.recorder.queue <- n:
	case <-d.recorder.done:
	case <-ctx.Done(): // the queue is full
		return context.Cause(ctx)
	}
	select {
	case d.recorder.flushNow <- struct{}{}:
	default:
	}
	select {
	case <-n.written:
	case <-d.recorder.done:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// record is the recorder's goroutine.
func (d *Service) record() {
	defer close(d.recorder.done)
	retry := time.NewTicker(recorderRetry)
	defer retry.Stop()
	for {
		select {
		case n := <-d.recorder.queue:
			d.write(d.gather(n))
		case <-retry.C:
			if d.trouble.Load() != nil {
				d.reconcileAgain()
			}
		case <-d.recorder.stop:
			for len(d.recorder.queue) > 0 {
				d.write(d.gather(<-d.recorder.queue))
			}
			return
		}
	}
}

// gather is a note with those that come soon after it.
func (d *Service) gather(first note) []note {
	list := []note{first}
	if first.written != nil {
		return list
	}
	pause := time.NewTimer(recorderPause)
	defer pause.Stop()
	for len(list) < recorderBatch {
		select {
		case n := <-d.recorder.queue:
			if list = append(list, n); n.written != nil {
				return list
			}
			continue
		default:
		}
		select {
		case n := <-d.recorder.queue:
			if list = append(list, n); n.written != nil {
				return list
			}
		case <-d.recorder.flushNow:
			pause.Reset(0)
		case <-pause.C:
			return list
		case <-d.recorder.stop:
			return list
		}
	}
	return list
}

// write writes notes in one transaction. A database that refuses is behind from now on, until
// reconcileAgain succeeds.
func (d *Service) write(list []note) {
	defer func() {
		for _, n := range list {
			if n.written != nil {
				close(n.written)
			}
		}
	}()
	if d.trouble.Load() != nil {
		return
	}
	last := map[string]int{}
	work := false
	for i, n := range list {
		if n.command != nil {
			// Nothing comes after the end, and nothing is queued after it ran, whatever overtook it
			// on the way here.
			if at, seen := last[n.command.ID]; !seen || !list[at].command.Ended() &&
				n.command.Status != thread.CommandQueued {
				last[n.command.ID] = i
			}
		}
		work = work || n.written == nil
	}
	if !work {
		return
	}
	err := d.Manager.Batch(func(b *lifecycle.Batch) error {
		for i, n := range list {
			var err error
			switch {
			case n.command != nil && last[n.command.ID] == i:
				err = b.Command(*n.command)
			case n.do != nil:
				err = n.do(b)
			}
			if err != nil && !isRefusal(err) {
				return err
			}
			if err != nil {
				d.cfg.Log.Warn("a record was refused", "error", err)
			}
		}
		return nil
	})
	if err != nil {
		d.failed(err)
	}
}

// isRefusal tells an error that the same change would have again from one of the database itself.
func isRefusal(err error) bool {
	for _, e := range []error{thread.ErrNotFound, thread.ErrInvalid, thread.ErrTransition, thread.ErrConflict,
		thread.ErrInUse} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// failed notes that the database refuses to be written.
func (d *Service) failed(err error) {
	text := datadir.Describe("write the records of threads", err)
	if errors.Is(err, thread.ErrNoSpace) {
		text = "the disk is full: cannot write the records of threads"
	}
	if old := d.trouble.Swap(&text); old == nil {
		d.cfg.Log.Error("cannot write the records of threads", "error", err)
	}
}

// commandChanged records a change of a command.
func (d *Service) commandChanged(key string, i shell.Info) {
	if d.Manager == nil {
		return
	}
	k := rowOf(key, i)
	d.put(note{command: &k})
}

// ForgetCommand removes a command that has ended from the records, with its text. Errors: the reason of ctx.
func (d *Service) ForgetCommand(ctx context.Context, id string) error {
	if d.Manager == nil {
		return nil
	}
	d.note(func(b *lifecycle.Batch) error { return b.ForgetCommand(id) })
	return d.flush(ctx)
}

// rowOf is a command as the records have it. What it printed is in its directory below that of the
// server's data.
func rowOf(key string, i shell.Info) thread.Command {
	k := thread.Command{ID: i.ID, Terminal: key, Line: i.Command, Cwd: i.Cwd, Background: i.Background, PID: i.PID,
		Status:      thread.CommandStatus(i.Status),
		StdoutBytes: i.StdoutBytes, StderrBytes: i.StderrBytes, StartedAt: i.StartedAt.UTC(),
		FinishedAt: i.FinishedAt.UTC(),
		Log:        filepath.Join("shells", key, "c", i.ID)}
	if i.Result != nil {
		k.ExitCode, k.Reason = &i.Result.ExitCode, i.Result.Reason
	}
	return k
}
