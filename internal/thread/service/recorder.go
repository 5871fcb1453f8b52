package service

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/internal/notify"
	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/shell"
	"github.com/evertty/evertty/internal/shell/registry"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/stream"
)

const (
	// recorderQueue is how many notes may wait to be written. The next one blocks: some hundred
	// milliseconds of the busiest server.
	recorderQueue = 4096
	// recorderBatch is how many notes one transaction takes.
	recorderBatch = 256
	// recorderPause is how long a note waits for others: a transaction costs more than its changes.
	recorderPause = 10 * time.Millisecond
	// recorderRetry is the time between two attempts to write to a database that refuses.
	recorderRetry = time.Second
	// currentTimeout bounds the wait of a reader for what happened a moment ago.
	currentTimeout = 5 * time.Second
)

// note is one change to write. Of the notes about one command the last of its life stands for all
// in its transaction.
type note struct {
	command *thread.Command
	do      func(*change) error
	written chan struct{} // closed when all notes before it are written, or cannot be
}

// recorder writes notes into the database in their order, so that neither a command nor a byte of
// output waits for it. What is not written when this process is killed, the next server takes from
// the shells' own histories and from what is alive (see reconcile). One goroutine, run, writes;
// everything else is safe for concurrent use.
type recorder struct {
	*database
	*parts
	hooks  *hooks // opens the threads of what has no row
	pauses *pauses
	boot   string // id of the machine's boot

	queue    chan note
	troubled notify.Signal // trouble was set
	flushNow notify.Signal // a caller of flush waits for a transaction
	stop     chan struct{}
	done     chan struct{}

	trouble atomic.Pointer[string] // why the database cannot be written; nil when it can
}

func newRecorder(db *database, p *parts, ps *pauses) *recorder {
	return &recorder{database: db, parts: p, pauses: ps, boot: bootID(), queue: make(chan note, recorderQueue),
		flushNow: notify.NewSignal(), troubled: notify.NewSignal(), stop: make(chan struct{}),
		done: make(chan struct{})}
}

// note has a change written. It blocks only when the queue is full.
func (rc *recorder) note(do func(*change) error) { rc.put(note{do: do}) }

func (rc *recorder) put(n note) {
	if !rc.isOpen() {
		return
	}
	select {
	case rc.queue <- n:
	case <-rc.done: // the next server finds it
	}
}

// flush waits until everything that was noted before is written, or cannot be. Errors:
// ctx.Err().
func (rc *recorder) flush(ctx context.Context) error {
	n := note{written: make(chan struct{})}
	select {
	case rc.queue <- n:
	case <-rc.done:
	case <-ctx.Done(): // the queue is full
		return context.Cause(ctx)
	}
	rc.flushNow.Set()
	select {
	case <-n.written:
	case <-rc.done:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// current waits until all that has happened in a thread, "" is none, is in the database. Errors:
// ErrNoStore, ctx.Err().
func (rc *recorder) current(ctx context.Context, threadID string) error {
	if err := rc.available(); err != nil {
		return err
	}
	limit, cancel := context.WithTimeout(ctx, currentTimeout)
	defer cancel()
	if threadID != "" {
		rc.refresh(limit, threadID, func(string) bool { return true })
	}
	_ = rc.flush(limit)
	return ctx.Err()
}

// refresh notes the directories of the terminals and shells of a thread whose ids are wanted.
func (rc *recorder) refresh(ctx context.Context, threadID string, wanted func(id string) bool) {
	if rc.pauses.isFrozen(threadID) {
		return // paused processes change nothing
	}
	for _, s := range rc.shells.List(threadID) {
		if wanted(s.Key) {
			_ = s.Settled(ctx) // a shell that hangs keeps its last state
		}
	}
	for _, t := range rc.terminals.Running(threadID) {
		if wanted(t.ID) {
			rc.noteCwd(t, t.RefreshCwd())
		}
	}
}

// run writes notes until stop is closed.
func (rc *recorder) run() {
	defer close(rc.done)
	var retry <-chan time.Time // nil while nothing has failed
	for {
		select {
		case n := <-rc.queue:
			rc.write(rc.gather(n))
		case <-rc.troubled:
			retry = time.After(recorderRetry)
		case <-retry:
			if retry = nil; rc.trouble.Load() == nil {
				break
			}
			if rc.reconcileAgain(); rc.trouble.Load() != nil {
				retry = time.After(recorderRetry)
			}
		case <-rc.stop:
			for len(rc.queue) > 0 {
				rc.write(rc.gather(<-rc.queue))
			}
			return
		}
	}
}

// gather returns a note with the next ones of recorderPause.
func (rc *recorder) gather(first note) []note {
	list := []note{first}
	pause := time.NewTimer(recorderPause)
	defer pause.Stop()
	for len(list) < recorderBatch && list[len(list)-1].written == nil {
		select {
		case n := <-rc.queue:
			list = append(list, n)
		default:
			select {
			case n := <-rc.queue:
				list = append(list, n)
			case <-rc.flushNow:
				pause.Reset(0)
			case <-pause.C:
				return list
			case <-rc.stop:
				return list
			}
		}
	}
	return list
}

// write writes notes in one transaction. A database that refuses is behind from now on, until
// reconcileAgain succeeds.
func (rc *recorder) write(list []note) {
	defer func() {
		for _, n := range list {
			if n.written != nil {
				close(n.written)
			}
		}
	}()
	if rc.trouble.Load() != nil || len(list) == 1 && list[0].written != nil {
		return
	}
	last := map[string]int{}
	for i, n := range list {
		if n.command == nil {
			continue
		}
		// Nothing comes after the end, and nothing is queued after it ran, whatever overtook it on
		// the way here.
		if at, seen := last[n.command.ID]; !seen || !list[at].command.Ended() &&
			n.command.Status != thread.CommandQueued {
			last[n.command.ID] = i
		}
	}
	err := rc.update(func(c *change) error {
		for i, n := range list {
			var err error
			switch {
			case n.command != nil && last[n.command.ID] == i:
				err = c.command(*n.command)
			case n.do != nil:
				err = n.do(c)
			}
			if err = c.outcome(err); err != nil && !isRefusal(err) {
				return err
			} else if err != nil {
				rc.log.Warn("a record was refused", "error", err)
			}
		}
		return nil
	})
	if err != nil {
		rc.failed(err)
	}
}

// isRefusal reports whether the same change would fail again, other than for the database itself.
func isRefusal(err error) bool {
	for _, e := range []error{thread.ErrNotFound, thread.ErrInvalid, thread.ErrTransition, thread.ErrConflict,
		thread.ErrInUse} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// failed notes that the database cannot be written.
func (rc *recorder) failed(err error) {
	text := datadir.Describe("write the records of threads", err)
	if errors.Is(err, thread.ErrNoSpace) {
		text = "the disk is full: cannot write the records of threads"
	}
	old := rc.trouble.Swap(&text)
	rc.troubled.Set()
	if old == nil {
		rc.log.Error("cannot write the records of threads", "error", err)
	}
}

// commandChanged records a change of a command.
func (rc *recorder) commandChanged(key string, i shell.Info) {
	if !rc.isOpen() {
		return
	}
	k := rowOf(key, i)
	rc.put(note{command: &k})
}

// rowOf returns the row of a command. What it printed is in its directory, below the server's data.
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

// recordShell notes the process and the state of a shell that has got its row.
func (rc *recorder) recordShell(s *registry.Shell) {
	if shellRow(s).recorded.Swap(true) {
		return
	}
	if p, ok := proc.Find(s.Stats().PID); ok {
		rc.noteBegin(s.Key, p)
	}
	rc.noteState(s)
}

// recordTerminal notes the process of a terminal that has got its row, and its directory: its
// program may have ended already.
func (rc *recorder) recordTerminal(t *terminal.Terminal) {
	if row(t).recorded.Swap(true) {
		return
	}
	if p := rc.processOf(t); p != nil && !row(t).began.Load() {
		rc.note(func(c *change) error { return c.began(t.ID, processIn(p)) })
	}
	rc.noteCwd(t, t.Cwd())
}

// processOf is the process of a terminal; nil when none runs.
func (rc *recorder) processOf(t *terminal.Terminal) *thread.Runtime {
	if t.Process() == nil || !t.Running() {
		return nil
	}
	p, ok := proc.Find(t.Process().PID())
	if !ok {
		return nil
	}
	return &thread.Runtime{PID: p.PID, PIDStart: int64(p.Start), Boot: rc.boot}
}

// began says that a terminal has got its row together with its process, which may have ended before.
func (rc *recorder) began(t *terminal.Terminal) {
	row(t).began.Store(true)
	if e := t.Exit(); e != nil {
		rc.noteExit(t, *e)
	}
}

// noteExit notes the end of a terminal's program.
func (rc *recorder) noteExit(t *terminal.Terminal, e stream.Exit) {
	end := runtimeEnd{code: e.Code, signal: e.Signal, lost: e.Code == nil && e.Signal == ""}
	rc.note(func(c *change) error { return c.ended(t.ID, end) })
}

// noteBegin notes that a process runs in a terminal or shell.
func (rc *recorder) noteBegin(terminal string, p proc.Process) {
	rc.note(func(c *change) error { return c.began(terminal, rc.process(p)) })
}

func (rc *recorder) process(p proc.Process) process {
	return process{PID: p.PID, PIDStart: int64(p.Start), Boot: rc.boot}
}

// noteState notes the state of a shell.
func (rc *recorder) noteState(s *registry.Shell) {
	if state, ok := stateOf(s); ok {
		rc.note(func(c *change) error {
			return c.saved(s.Key, func(thread.State) thread.State { return state })
		})
	}
}

// stateOf returns the state of a shell; ok is false as long as its directory is not known.
func stateOf(s *registry.Shell) (state thread.State, ok bool) {
	now := s.State()
	return thread.State{Cwd: now.Cwd, Env: now.Delta, Unset: now.Unset}, strings.HasPrefix(now.Cwd, "/")
}

// noteCwd notes the directory of a terminal's program and the exports of its shell when they are
// others than were noted last: a rollback stays until something new is seen. Exports stay as they
// are when no program runs that shows them.
func (rc *recorder) noteCwd(t *terminal.Terminal, dir string) {
	r := row(t)
	if !r.recorded.Load() {
		return
	}
	moved := false
	if strings.HasPrefix(dir, "/") {
		old := r.noted.Swap(&dir)
		moved = old == nil || *old != dir
	}
	e, began, seen := shown(t)
	seen = seen && !e.same(r.exported.Swap(e))
	if !moved && !seen {
		return
	}
	rc.note(func(c *change) error {
		return c.saved(t.ID, func(s thread.State) thread.State {
			if moved {
				s.Cwd = dir
			}
			if seen {
				s = e.applied(s, began)
			}
			return s
		})
	})
}
