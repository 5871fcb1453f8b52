package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/evertty/evertty/internal/shell/history"
	"github.com/evertty/evertty/internal/shell/output"
	"github.com/evertty/evertty/internal/shell/script"
	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/internal/shell/stdio"
)

// Exec is one command of a shell. All methods may be called at the same time from several goroutines.
type Exec struct {
	record
	outputs
	shell   *Shell
	id      string
	dir     string
	streams *stdio.Streams
	started context.Context // ends when the command runs, and when it ended without that
	begin   context.CancelFunc
	stopped context.Context // ends with the first Cancel
	cancel  context.CancelFunc
	done    chan struct{} // closed when the record has the result
	problem error         // why it Failed; to be read after done
	// turnTimer fires at the end of a QueueTimeout; nil without one. Set before others see the command in the queue.
	turnTimer *time.Timer
}

// newExec makes the Exec of a record, which is in the phase that the record has; store is nil of an internal command.
// The caller closes the open files of an ended one.
func (s *Shell) newExec(row *history.Entry, dir string, store *history.Store) (*Exec, error) {
	e := &Exec{record: record{store: store, phase: phaseOf[row.Info.Status], entry: *row}, shell: s, id: row.Info.ID,
		dir: dir, done: make(chan struct{})}
	e.started, e.begin = context.WithCancel(context.Background())
	e.stopped, e.cancel = context.WithCancel(context.Background())
	limit := max(row.Spec.MaxOutput, row.Spec.MaxReply)
	for i, name := range [...]string{shelldir.StdoutFile, shelldir.StderrFile} {
		l, err := output.OpenLog(filepath.Join(dir, name), limit, &s.printed, s.config.Logs)
		if err != nil {
			return nil, fmt.Errorf("shell: command %s: %w", e.id, err)
		}
		e.outputs[i] = l
	}
	e.streams = &stdio.Streams{Dir: dir, Unused: unusedFIFOs(s.spec.Dir, row.Spec), ID: e.holdID(),
		Stdin: row.Spec.StdinOpen, Outputs: e.outputs, Keeper: s.config.Keeper,
		NoSplice: s.config.SpliceErr != nil, Ctx: s.ctx, Work: &s.work}
	if e.phase >= running {
		e.begin()
	}
	if e.phase == ended {
		close(e.done)
		if row.Info.Result == nil {
			e.problem = problemOf(row.Info.Error)
		}
	}
	return e, nil
}

// unusedFIFOs is the directory whose FIFOs a command takes: one in the foreground that of its shell, as no other one
// runs beside it; "" for none.
func unusedFIFOs(shell string, spec Command) string {
	if spec.Background || spec.Isolated {
		return ""
	}
	return shell
}

// ID is unique in the server.
func (e *Exec) ID() string { return e.id }

// Info is the command as it is now. The caller does not change the Result.
func (e *Exec) Info() Info {
	info := e.row().Info
	info.StdoutBytes, info.StderrBytes = e.Size(Stdout), e.Size(Stderr)
	info.LogCut = cutReason(e.cut(), info.Result)
	if info.Status == Queued {
		info.Position = e.shell.queue.position(e)
	}
	return info
}

// Started is closed when the command runs, and when it has ended without running.
func (e *Exec) Started() <-chan struct{} { return e.started.Done() }

// Done is closed when the command has a result, or has failed.
func (e *Exec) Done() <-chan struct{} { return e.done }

// Wait waits for Done. Errors: ctx.Err(); ErrDeleted, ErrEnded, ErrClosing and others of a command that Failed.
func (e *Exec) Wait(ctx context.Context) (Result, error) {
	select {
	case <-e.done:
	case <-ctx.Done():
	case <-e.shell.ctx.Done():
		if e.shell.isDeleted() && !e.internal() {
			<-e.done // Delete ends all of them
		}
	}
	if !e.hasEnded() {
		cause := cmp.Or(context.Cause(ctx), context.Cause(e.shell.ctx))
		return Result{}, fmt.Errorf("shell: wait for %s: %w", e.id, cause)
	}
	if e.problem != nil {
		return Result{}, fmt.Errorf("shell: command %s: %w", e.id, e.problem)
	}
	return *e.Info().Result, nil
}

// Cancel ends the command: at once when it is queued, else SIGINT and after a second SIGKILL. It returns without
// waiting for the end. A command in the background or isolated gets SIGTERM, after KillGrace SIGKILL. One that has
// ended is left alone.
func (e *Exec) Cancel() {
	e.cancel()
	if e.shell.queue.remove(e) {
		e.endIfCancelled()
	}
}

// endIfCancelled ends a cancelled command that has not run, and reports whether it did. The command has no output and
// no open files.
func (e *Exec) endIfCancelled() bool {
	if e.stopped.Err() == nil {
		return false
	}
	e.finish()
	e.end(Cancelled, &Result{ExitCode: cancelCode, Cancelled: true, Cwd: e.shell.state.directory()}, nil)
	return true
}

// markStarting notes that the command is about to run in a directory: its time counts from now.
func (e *Exec) markStarting(cwd string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.to(starting) {
		return
	}
	i := &e.entry.Info
	i.Status, i.StartedAt, i.Cwd = Running, time.Now(), cwd
	if limit := e.entry.Spec.Timeout; limit > 0 {
		e.entry.Deadline = i.StartedAt.Add(limit)
	}
}

// markRunning notes that the command runs, as a process.
func (e *Exec) markRunning(pid int) {
	e.mu.Lock()
	if e.to(running) {
		e.entry.Info.PID = pid
		e.begin()
	}
	e.mu.Unlock()
	e.notifyChanged()
}

// end gives the command its end, once, and wakes everybody who waits. With a problem no more output can come.
func (e *Exec) end(status Status, r *Result, problem error) {
	if status == Done && e.shell.isDeleted() {
		status, r, problem = Failed, nil, ErrDeleted // the hangup of Delete has ended it
	}
	e.mu.Lock()
	if !e.to(ended) {
		e.mu.Unlock()
		return
	}
	e.entry.Info.Status, e.entry.Info.FinishedAt = status, time.Now()
	if r != nil && e.reason != "" {
		r.Reason = e.reason
	}
	e.entry.Info.Result, e.problem = r, problem
	e.secret, e.entry.Spec.Env = len(e.entry.Spec.Env) > 0, nil
	if problem != nil {
		e.entry.Info.Error = problem.Error()
	}
	e.mu.Unlock()
	if last, ok := e.lastOf(r); ok {
		before := e.shell.state.now().last
		e.shell.state.change(func(f *bashFacts) { f.last = last })
		before.Forget()
	}
	e.streams.CloseInput()
	if e.turnTimer != nil {
		e.turnTimer.Stop()
	}
	if e.started.Err() == nil || problem != nil { // nothing has written to the logs and nothing will, or nobody follows
		e.finish()
	}
	shelldir.MakePrivate(e.dir)
	_ = os.Remove(filepath.Join(e.dir, shelldir.InputFile)) // who still reads it has it open
	e.saveOrLog()
	e.begin()
	close(e.done)
	e.notifyChanged()
}

// lastOf is how the command ended, for $? and PIPESTATUS in the next one; ok is false of a command that has not run in
// the foreground.
func (e *Exec) lastOf(r *Result) (last script.Last, ok bool) {
	row := e.row()
	begun := !row.Info.StartedAt.IsZero()
	if e.internal() || r == nil || !begun || row.Spec.Isolated || row.Spec.TTY || row.Spec.Background {
		return last, false
	}
	if r.TimedOut || r.Cancelled {
		return script.Last{Code: r.ExitCode}, true
	}
	return script.Told(e.dir).Last(r.ExitCode), true
}

// forgetValues removes the files with variables of a command for which its bash has no use any more.
func (e *Exec) forgetValues() {
	for _, name := range []string{shelldir.BeforeFile, shelldir.PwdFile} {
		_ = os.Remove(filepath.Join(e.dir, name))
	}
	script.Forget(e.dir, e.shell.spec.Dir)
}

// saveOrLog writes the record. After a failure the next server has an older record.
func (e *Exec) saveOrLog() {
	if err := e.save(e.outputs); err != nil {
		e.shell.config.Log.Warn("the record of a command was not saved", "command", e.id, "error", err)
	}
}

// notifyChanged calls Config.OnChanged.
func (e *Exec) notifyChanged() {
	if e.shell.config.OnChanged != nil && !e.internal() {
		e.shell.config.OnChanged(e.Info())
	}
}

// hasEnded reports whether there is a result or a problem.
func (e *Exec) hasEnded() bool { return shelldir.Closed(e.done) }

// isComplete reports whether the command has ended and no more output can come.
func (e *Exec) isComplete() bool { return e.hasEnded() && e.finished() }

// holdID is the id under which the keeper holds the command's files.
func (e *Exec) holdID() string { return Prefix + e.shell.spec.ID + ".c." + e.id }

// hasInput reports whether the command reads a regular file.
func (e *Exec) hasInput() bool { return exists(e.dir, shelldir.InputFile) && !e.spec().StdinOpen }

// exists reports whether a directory has an entry of a name.
func exists(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, name))
	return err == nil
}

// status is the exit code of a command in the foreground or background, once the shell has reported it.
func (e *Exec) status() (code int, ok bool) {
	ended, ok := script.End(e.dir)
	return ended.Code, ok
}

// Input writes to the standard input of a command with StdinOpen, and closes it after data with eof. It returns when
// everything is in the FIFO. Errors: ErrNoStdin, ErrFinished, ctx.Err().
func (e *Exec) Input(ctx context.Context, data []byte, eof bool) error {
	if err := e.input(ctx, data, eof); err != nil {
		return fmt.Errorf("shell: input for %s: %w", e.id, err)
	}
	return nil
}

func (e *Exec) input(ctx context.Context, data []byte, eof bool) error {
	spec := e.spec()
	if !spec.StdinOpen {
		return ErrNoStdin
	}
	select {
	case <-e.Started():
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	began := func() bool { return exists(e.dir, shelldir.InOpened) }
	switch {
	case spec.Isolated:
		began = nil
	case spec.Background: // it reports its process after that
		began = func() bool { _, begun := shelldir.FindNumber(e.dir, shelldir.PidName); return begun }
	}
	return e.streams.WriteInput(ctx, data, eof, e.done, began)
}

// noteTruncated notes in a result whether and why the logs, or a reply of MaxReply, are not complete.
func (e *Exec) noteTruncated(r *Result) {
	why := e.cut()
	if limit := e.MaxReply(); why == "" && limit > 0 && max(e.Size(Stdout), e.Size(Stderr)) > limit {
		why = output.CutReply
	}
	r.Truncated, r.TruncatedReason = why != "", why
}

// RemoveLogs removes the complete logs of a command that has ended, and returns their size in bytes. The command
// stays in the history.
func (e *Exec) RemoveLogs() int64 {
	if !e.hasEnded() {
		return 0
	}
	return e.outputs[0].Remove() + e.outputs[1].Remove()
}

// Running is a context that ends with ErrTimedOut at the timeout of the command, in which pauses do not count, with
// ErrCancelled at the first Cancel, or with the shell. stop ends the watch.
func (e *Exec) Running() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(e.shell.ctx)
	forget := context.AfterFunc(e.stopped, func() { cancel(ErrCancelled) })
	if !e.deadline().IsZero() {
		e.shell.work.Go(func() {
			if e.shell.clock.WaitUntil(ctx, e.deadline) == nil {
				cancel(ErrTimedOut)
			}
		})
	}
	return ctx, func() {
		forget()
		cancel(nil)
	}
}

// endedShell reports whether the shell ended with the command, after a possible change of its state.
func (e *Exec) endedShell() bool {
	info := e.row().Info
	return info.Result != nil && info.Result.ShellEnded && !e.shell.state.onlyEnds(info.Command)
}

// fail ends a command that could not be started.
func (e *Exec) fail(err error) {
	shelldir.RemoveFIFOs(e.dir)
	switch {
	case e.shell.detached():
	case errors.Is(err, ErrEnded):
		e.failUnknown(err)
	default:
		e.end(Failed, nil, fmt.Errorf("start: %w", shelldir.SpaceError(err)))
	}
}

// failUnknown ends a command whose result is unknown.
func (e *Exec) failUnknown(why error) {
	shelldir.RemoveFIFOs(e.dir)
	e.end(Failed, nil, fmt.Errorf("%w: %w", ErrEnded, why))
}

// endUnstarted ends a command that could not be started, as a shell does: with a message on standard error and a
// code.
func (e *Exec) endUnstarted(message, cwd string, r Result) {
	e.log(Stderr).Append([]byte(message))
	e.finish()
	e.change(func(row *history.Entry) { row.Info.Cwd, row.Info.StartedAt = cwd, time.Now() })
	e.end(Done, &r, nil)
}
