package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/evertty/evertty/internal/shell/history"
	"github.com/evertty/evertty/internal/shell/output"
	"github.com/evertty/evertty/internal/shell/script"
	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/internal/shell/stdio"
)

// Exec is one command of a shell. All methods may be called at the same time from several goroutines.
type Exec struct {
	shell   *Shell
	id      string
	dir     string
	history *history.Store // keeps its record; nil of an internal command, which is in no list
	outputs [2]*output.Log
	streams *stdio.Streams
	started chan struct{} // closed when it runs, and when it ended without that
	done    chan struct{} // closed when the record has the result
	stop    chan struct{} // closed by the first Cancel
	// turnTimer fires at the end of a QueueTimeout; nil without one. Set before others see the command in the queue.
	turnTimer *time.Timer

	saving sync.Mutex // held over the disk, taken before mu

	mu      sync.Mutex // guards what follows, and the closing of started and stop; nothing blocks under it
	phase   phase
	entry   history.Entry
	problem error  // why it Failed
	reason  string // Result.Reason of the end that is on its way
	secret  bool   // it had variables of its own, which its record does not keep
}

// newExec makes the Exec of a record, which is the phase that the record has. The caller closes what an ended one has
// open.
func (s *Shell) newExec(r *history.Entry, dir string, h *history.Store) (*Exec, error) {
	e := &Exec{shell: s, id: r.Info.ID, dir: dir, history: h, phase: phaseOf(r.Info.Status), entry: *r,
		started: make(chan struct{}), done: make(chan struct{}), stop: make(chan struct{})}
	limit := max(r.Spec.MaxOutput, r.Spec.MaxReply)
	for i, name := range [...]string{shelldir.StdoutFile, shelldir.StderrFile} {
		l, err := output.OpenLog(filepath.Join(dir, name), limit, &s.printed, s.config.Logs)
		if err != nil {
			return nil, fmt.Errorf("shell: command %s: %w", r.Info.ID, err)
		}
		e.outputs[i] = l
	}
	e.streams = &stdio.Streams{Dir: dir, ID: e.holdID(), Stdin: r.Spec.StdinOpen, Outputs: e.outputs,
		Keeper: s.config.Keeper, NoSplice: s.config.SpliceErr != nil, Ctx: s.ctx, Work: &s.work}
	if e.phase >= running {
		close(e.started)
	}
	if e.phase == ended {
		close(e.done)
		if r.Info.Result == nil {
			e.problem = problemOf(r.Info.Error)
		}
	}
	return e, nil
}

// internal reports whether the command is one of the shell itself: it sets variables or a directory.
func (e *Exec) internal() bool { return e.history == nil }

// ID is unique in the server.
func (e *Exec) ID() string { return e.id }

// Info is the command as it is now.
func (e *Exec) Info() Info {
	e.mu.Lock()
	info := e.entry.Info
	e.mu.Unlock()
	if info.Result != nil {
		r := *info.Result
		r.Lost = slices.Clone(r.Lost)
		info.Result = &r
	}
	info.StdoutBytes, info.StderrBytes = e.outputs[0].Size(), e.outputs[1].Size()
	info.LogCut = reasonOf(e.logCut(), info.Result)
	if info.Status == Queued {
		info.Position = e.shell.queue.position(e)
	}
	return info
}

// Started is closed when the command runs, and when it has ended without running.
func (e *Exec) Started() <-chan struct{} { return e.started }

// Done is closed when the command has a result, or has failed.
func (e *Exec) Done() <-chan struct{} { return e.done }

// Wait waits for Done. Errors: ctx.Err(); ErrDeleted, ErrEnded, ErrClosing and others of a command that Failed.
func (e *Exec) Wait(ctx context.Context) (Result, error) {
	select {
	case <-e.done:
	case <-ctx.Done():
	case <-e.shell.ctx.Done():
		if errors.Is(context.Cause(e.shell.ctx), ErrDeleted) && !e.internal() {
			<-e.done // Delete ends all of them
		}
	}
	if !shelldir.Closed(e.done) {
		cause := context.Cause(ctx)
		if cause == nil {
			cause = context.Cause(e.shell.ctx)
		}
		return Result{}, fmt.Errorf("shell: wait for %s: %w", e.id, cause)
	}
	e.mu.Lock()
	problem := e.problem
	e.mu.Unlock()
	info := e.Info()
	switch {
	case problem != nil:
		return Result{}, fmt.Errorf("shell: command %s: %w", e.id, problem)
	case info.Result == nil:
		return Result{}, fmt.Errorf("shell: command %s: %w", e.id, ErrEnded)
	}
	return *info.Result, nil
}

// Cancel ends the command: at once when it is queued, else SIGINT and after a second SIGKILL. It returns without
// waiting for the end. A command in the background or isolated gets SIGTERM, after KillGrace SIGKILL. One that has
// ended is left alone.
func (e *Exec) Cancel() {
	e.mu.Lock()
	first := closeOnce(e.stop)
	e.mu.Unlock()
	if first && e.shell.queue.remove(e) {
		e.endIfCancelled()
	}
}

// closeOnce closes a channel, and reports whether it was open. A lock is held for it.
func closeOnce(c chan struct{}) bool {
	if shelldir.Closed(c) {
		return false
	}
	close(c)
	return true
}

// setReason notes the reason for Result.Reason.
func (e *Exec) setReason(why string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.reason = why
}

// endIfCancelled ends a cancelled command that has not run, and reports whether it did. The command has no output and
// no open files.
func (e *Exec) endIfCancelled() bool {
	if !shelldir.Closed(e.stop) {
		return false
	}
	e.finishOutputs()
	e.end(Cancelled, &Result{ExitCode: cancelCode, Cancelled: true, Cwd: e.shell.cwdNow()}, nil)
	return true
}

// ReadAt reads the log of an output, as io.ReaderAt does.
func (e *Exec) ReadAt(o Stream, p []byte, at int64) (int, error) { return e.output(o).ReadAt(p, at) }

// Size is the size of an output's log, in bytes.
func (e *Exec) Size(o Stream) int64 { return e.output(o).Size() }

// output is the log of a stream.
func (e *Exec) output(o Stream) *output.Log { return e.outputs[o-Stdout] }

// Follow waits until one of the logs is longer than the given bytes, or complete: then more is false. Late output of
// background processes counts too. Errors: ctx.Err().
func (e *Exec) Follow(ctx context.Context, stdout, stderr int64) (more bool, err error) {
	return output.Follow(ctx, e.outputs[0], e.outputs[1], stdout, stderr)
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
		closeOnce(e.started)
	}
	e.mu.Unlock()
	e.stopTurnTimer()
	e.notifyChanged()
}

// stopTurnTimer stops the timer of QueueTimeout.
func (e *Exec) stopTurnTimer() {
	if e.turnTimer != nil {
		e.turnTimer.Stop()
	}
}

// end gives the command its end, once, and wakes everybody who waits. With a problem no more output can come.
func (e *Exec) end(status Status, r *Result, problem error) {
	if status == Done && errors.Is(context.Cause(e.shell.ctx), ErrDeleted) {
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
	begun := shelldir.Closed(e.started)
	e.mu.Unlock()
	e.noteLast(r)
	e.streams.CloseInput()
	e.stopTurnTimer()
	if !begun || problem != nil { // nothing can have written to them and nothing will, or nobody looks for more
		e.finishOutputs()
	}
	shelldir.MakePrivate(e.dir)
	_ = os.Remove(filepath.Join(e.dir, shelldir.InputFile)) // who still reads it has it open
	e.save()
	e.mu.Lock()
	closeOnce(e.started)
	e.mu.Unlock()
	close(e.done)
	e.notifyChanged()
}

// forgetValues removes the files with variables of a command for which its bash has no use any more.
func (e *Exec) forgetValues() {
	for _, name := range []string{shelldir.BeforeFile, shelldir.PwdFile} {
		_ = os.Remove(filepath.Join(e.dir, name))
	}
	_ = os.Truncate(filepath.Join(e.dir, shelldir.EvalFile), 0) // has $_; script.Told asks whether there is one
}

// save writes the record. After a failure the next server has an older record.
func (e *Exec) save() {
	if err := e.trySave(); err != nil {
		e.shell.config.Log.Warn("the record of a command was not saved", "command", e.id, "err", err)
	}
}

func (e *Exec) trySave() error {
	if e.internal() {
		return nil
	}
	e.saving.Lock()
	defer e.saving.Unlock()
	e.mu.Lock()
	r, secret := e.entry, e.secret
	e.mu.Unlock()
	r.Info.StdoutBytes, r.Info.StderrBytes = e.outputs[0].Size(), e.outputs[1].Size()
	if secret {
		return e.history.Replace(&r)
	}
	return e.history.Save(&r)
}

// finishOutputs completes the logs.
func (e *Exec) finishOutputs() { e.streams.FinishOutputs() }

// notifyChanged calls Config.OnChanged.
func (e *Exec) notifyChanged() {
	if e.shell.config.OnChanged != nil && !e.internal() {
		e.shell.config.OnChanged(e.Info())
	}
}

// hasEnded reports whether there is a result or a problem.
func (e *Exec) hasEnded() bool { return shelldir.Closed(e.done) }

// spec is the submitted command, without text and input.
func (e *Exec) spec() Command {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.entry.Spec
}

// holdID is the id under which the keeper holds the command's files.
func (e *Exec) holdID() string { return Prefix + e.shell.spec.ID + ".c." + e.id }

// stdinOpen reports whether Input may write.
func (e *Exec) stdinOpen() bool { return e.spec().StdinOpen }

// hasInput reports whether the command reads a regular file.
func (e *Exec) hasInput() bool {
	_, err := os.Lstat(filepath.Join(e.dir, shelldir.InputFile))
	return err == nil && !e.stdinOpen()
}

// text is the control lines of the command.
func (e *Exec) text(home, cwd string) (string, error) {
	c := e.script(home, cwd)
	if !c.Internal && c.Relay == nil {
		c.Look = e.shell.look(c)
	}
	if echo := c.Echo(); echo != "" && e.Size(Stderr) == 0 { // else it was made before, for another process
		e.outputs[1].Append([]byte(echo))
	}
	lines, err := c.Lines()
	if err == nil && !c.Background {
		e.shell.mu.Lock()
		e.shell.mayAlias = c.MayAlias()
		e.shell.mu.Unlock()
	}
	return lines, err
}

// script is the command for package script; cwd is the directory of this command alone.
func (e *Exec) script(home, cwd string) *script.Command {
	spec := e.spec()
	e.mu.Lock()
	text := e.entry.Info.Command
	e.mu.Unlock()
	c := &script.Command{Bash: e.shell.scriptBash(), ID: e.id, Dir: e.dir, Text: text, Internal: e.internal(),
		Background: spec.Background, Cwd: cwd, Home: home, Env: spec.Env}
	e.shell.mu.Lock()
	c.Last = e.shell.last
	e.shell.mu.Unlock()
	if e.shell.remote() {
		c.Relay = append(slices.Clone(e.shell.config.Remote.Program), e.dir)
	}
	switch {
	case spec.StdinOpen:
		c.Input = script.OpenInput
	case e.hasInput():
		c.Input = script.FileInput
	}
	return c
}

// status is the exit code of a command in the foreground or background, once the shell has reported it.
func (e *Exec) status() (code int, ok bool) {
	ended, ok := script.End(e.dir)
	return ended.Code, ok
}

// Input writes to the standard input of a command with StdinOpen, and closes it after data with eof. It returns when
// everything is in the FIFO. Errors: ErrNoStdin, ErrFinished, ctx.Err().
func (e *Exec) Input(ctx context.Context, data []byte, eof bool) error {
	if !e.stdinOpen() {
		return fmt.Errorf("shell: input for %s: %w", e.id, ErrNoStdin)
	}
	select {
	case <-e.started:
	case <-ctx.Done():
		return fmt.Errorf("shell: input for %s: %w", e.id, context.Cause(ctx))
	}
	spec := e.spec()
	began := func() bool {
		if spec.Background { // it tells of its process behind that
			_, begun := shelldir.FindNumber(e.dir, shelldir.PidName)
			return begun
		}
		_, err := os.Lstat(filepath.Join(e.dir, shelldir.InOpened))
		return err == nil
	}
	if spec.Isolated {
		began = nil
	}
	if err := e.streams.WriteInput(ctx, data, eof, e.done, began); err != nil {
		return fmt.Errorf("shell: input for %s: %w", e.id, err)
	}
	return nil
}

// noteTruncated notes in a result whether and why the logs, or a reply of MaxReply, are not complete.
func (e *Exec) noteTruncated(r *Result) {
	why := e.logCut()
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

// reasonOf is why the logs of a command with the result r, nil without one, are not complete; cut is what the logs say.
// The result knows more than a log that a later server has opened.
func reasonOf(cut string, r *Result) string {
	switch {
	case r == nil, r.TruncatedReason == "":
	case cut == output.CutLog && r.TruncatedReason != output.CutReply,
		cut == "" && r.TruncatedReason == output.CutUnheld:
		return r.TruncatedReason
	}
	return cut
}

// logCut is why the logs are not complete, "" when they are.
func (e *Exec) logCut() string {
	if why := e.outputs[0].CutReason(); why != "" {
		return why
	}
	return e.outputs[1].CutReason()
}

// MaxReply bounds each output in a reply, in bytes; 0 is no bound.
func (e *Exec) MaxReply() int64 { return e.spec().MaxReply }
