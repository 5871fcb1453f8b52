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
)

// Exec is one command of a shell. All methods may be called at the same time from several goroutines.
type Exec struct {
	shell   *Shell
	id      string
	dir     string
	hidden  bool          // SetEnv: in no list and no history
	instead func() error  // of a hidden one: what is done in its turn instead of a command
	compose func() string // of a hidden one: its text, made in its turn, for commands before it may change it
	outputs [2]*output.Log
	started chan struct{} // closed when it runs, and when it ended without that
	done    chan struct{} // closed when record has the result
	stop    chan struct{} // closed by the first Cancel
	// patience fires at the end of a QueueTimeout; nil without one. Set before others see the command in the queue.
	patience *time.Timer

	saving sync.Mutex // held over the disk, taken before mu

	mu      sync.Mutex // guards what follows; nothing blocks under it
	record  history.Entry
	problem error    // why it Failed
	input   *os.File // the writing end of an open standard input, nil before the start and after the end of it
	writing sync.Mutex
	stopped bool   // stop is closed
	why     string // the reason of the end that it is about to come to: Result.Reason
	begun   bool   // started is closed
}

// newExec makes the live side of a record.
func (s *Shell) newExec(r *history.Entry, dir string) (*Exec, error) {
	e := &Exec{shell: s, id: r.Info.ID, dir: dir, record: *r,
		started: make(chan struct{}), done: make(chan struct{}), stop: make(chan struct{})}
	limit := max(r.Spec.MaxOutput, r.Spec.MaxReply)
	for i, name := range [...]string{shelldir.StdoutFile, shelldir.StderrFile} {
		l, err := output.OpenLog(filepath.Join(dir, name), limit, &s.printed, s.config.Logs)
		if err != nil {
			return nil, fmt.Errorf("shell: command %s: %w", r.Info.ID, err)
		}
		e.outputs[i] = l
	}
	return e, nil
}

// ID is unique in the server.
func (e *Exec) ID() string { return e.id }

// Info is the command as it is now.
func (e *Exec) Info() Info {
	e.mu.Lock()
	info := e.record.Info
	e.mu.Unlock()
	if info.Result != nil {
		r := *info.Result
		r.Lost = slices.Clone(r.Lost)
		info.Result = &r
	}
	info.StdoutBytes, info.StderrBytes = e.outputs[0].Size(), e.outputs[1].Size()
	info.LogCut = e.LogCut()
	if info.Status == Queued {
		info.Position = e.shell.position(e)
	}
	return info
}

// Started is closed when the command runs, and when it ended without that.
func (e *Exec) Started() <-chan struct{} { return e.started }

// Done is closed when the command has a result (of a background one: when it has ended).
func (e *Exec) Done() <-chan struct{} { return e.done }

// Wait waits for Done. Errors: the reason of ctx; ErrDeleted, ErrEnded, ErrClosing and others of a command that Failed.
func (e *Exec) Wait(ctx context.Context) (Result, error) {
	select {
	case <-e.done:
	case <-ctx.Done():
	case <-e.shell.life.Done():
		if errors.Is(context.Cause(e.shell.life), ErrDeleted) && !e.hidden {
			<-e.done // Delete ends all of them
		}
	}
	if !shelldir.Closed(e.done) {
		cause := context.Cause(ctx)
		if cause == nil {
			cause = context.Cause(e.shell.life)
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
	first := !e.stopped
	e.stopped = true
	if first {
		close(e.stop)
	}
	e.mu.Unlock()
	if first && e.shell.unqueue(e) {
		e.withdrawn()
	}
}

// because notes why a command is about to be ended.
func (e *Exec) because(why string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.why = why
}

// withdrawn ends a command that was cancelled while certainly nothing of it has run, and tells whether it was. It has
// no output, and nothing is open of it.
func (e *Exec) withdrawn() bool {
	if !shelldir.Closed(e.stop) {
		return false
	}
	e.finishOutputs()
	e.end(Cancelled, &Result{ExitCode: cancelCode, Cancelled: true, Cwd: e.shell.cwdNow()}, nil)
	return true
}

// ReadAt reads the log of an output from a position, as io.ReaderAt does.
func (e *Exec) ReadAt(o Stream, p []byte, at int64) (int, error) { return e.output(o).ReadAt(p, at) }

// Size is how many bytes the log of an output has now.
func (e *Exec) Size(o Stream) int64 { return e.output(o).Size() }

// output is the log of a stream.
func (e *Exec) output(o Stream) *output.Log { return e.outputs[o-Stdout] }

// Follow waits until one of the outputs has more than the given bytes, or no more can come: then more is false. Late
// output of what a command left behind comes too. Errors: the reason of ctx.
func (e *Exec) Follow(ctx context.Context, stdout, stderr int64) (more bool, err error) {
	return output.Follow(ctx, e.outputs[0], e.outputs[1], stdout, stderr)
}

// markStarted says that the command has been started.
func (e *Exec) markStarted(pid int) {
	e.mu.Lock()
	e.record.Info.Status, e.record.Info.PID = Running, pid
	first := !e.begun
	e.begun = true
	if first {
		close(e.started)
	}
	e.mu.Unlock()
	e.unhurry()
	e.tellChanged()
}

// unhurry ends the bound of the wait for a turn.
func (e *Exec) unhurry() {
	if e.patience != nil {
		e.patience.Stop()
	}
}

// end gives the command its end, once, and tells everybody. With a problem no more output can come.
func (e *Exec) end(status Status, r *Result, problem error) {
	if status == Done && errors.Is(context.Cause(e.shell.life), ErrDeleted) {
		status, r, problem = Failed, nil, ErrDeleted // the hangup of Delete has ended it
	}
	e.mu.Lock()
	if e.record.Info.Result != nil || e.problem != nil {
		e.mu.Unlock()
		return
	}
	e.record.Info.Status, e.record.Info.FinishedAt = status, time.Now()
	if r != nil && e.why != "" {
		r.Reason = e.why
	}
	e.record.Info.Result, e.problem = r, problem
	if problem != nil {
		e.record.Info.Error = problem.Error()
	}
	input := e.input
	e.input = nil
	first := !e.begun
	e.begun = true
	e.mu.Unlock()
	if input != nil {
		_ = input.Close()
		e.shell.config.Keeper.Release(e.holdID() + holdInput)
	}
	e.unhurry()
	if first || problem != nil { // nothing can have written to them and nothing will, or nobody looks for more
		e.finishOutputs()
	}
	shelldir.Seal(e.dir)
	e.save()
	if first {
		close(e.started)
	}
	close(e.done)
	e.tellChanged()
}

// save writes the record as it is now; one that cannot be written is behind after a restart of the server.
func (e *Exec) save() {
	if err := e.trySave(); err != nil {
		e.shell.config.Log.Warn("the record of a command was not saved", "command", e.id, "err", err)
	}
}

func (e *Exec) trySave() error {
	if e.hidden {
		return nil
	}
	e.saving.Lock()
	defer e.saving.Unlock()
	e.mu.Lock()
	r := e.record
	e.mu.Unlock()
	r.Info.StdoutBytes, r.Info.StderrBytes = e.outputs[0].Size(), e.outputs[1].Size()
	return e.shell.history.Save(&r)
}

// finishOutputs says that no more output comes.
func (e *Exec) finishOutputs() {
	e.outputs[0].Finish()
	e.outputs[1].Finish()
}

// tellChanged calls Config.Changed.
func (e *Exec) tellChanged() {
	if e.shell.config.Changed != nil && !e.hidden {
		e.shell.config.Changed(e.Info())
	}
}

// hasEnded tells whether there is a result or a problem.
func (e *Exec) hasEnded() bool { return shelldir.Closed(e.done) }

// spec is what was submitted, without text and input.
func (e *Exec) spec() Command {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.record.Spec
}

// holdID is what the keeper holds the command's files under.
func (e *Exec) holdID() string { return Prefix + e.shell.spec.ID + ".c." + e.id }

// holdInput ends the id under which the keeper holds the writing end of an open standard input.
const holdInput = ".in"

// stdinOpen tells whether Input may write.
func (e *Exec) stdinOpen() bool { return e.spec().StdinOpen }

// hasInput tells whether the command reads a regular file.
func (e *Exec) hasInput() bool {
	_, err := os.Lstat(filepath.Join(e.dir, shelldir.InputFile))
	return err == nil && !e.stdinOpen()
}

// text is all that the shell is told of a command.
func (e *Exec) text(home, cwd string) (string, error) {
	c := e.script(home, cwd)
	lines, err := c.Lines()
	if err == nil && !c.Background {
		e.shell.mu.Lock()
		e.shell.mayAlias = c.MayAlias()
		e.shell.mu.Unlock()
	}
	return lines, err
}

// script is the command for those who write what the shell is told; cwd is the directory of the command alone.
func (e *Exec) script(home, cwd string) *script.Command {
	spec := e.spec()
	e.mu.Lock()
	text := e.record.Info.Command
	e.mu.Unlock()
	c := &script.Command{Bash: e.shell.scriptBash(), ID: e.id, Dir: e.dir, Text: text, Internal: e.hidden,
		Background: spec.Background, Cwd: cwd, Home: home, Env: spec.Env}
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

// status is what the shell has reported of the end of a command in the foreground or in the background.
func (e *Exec) status() (code int, ok bool) { return script.Status(e.dir) }

// Input writes to the standard input of a command with StdinOpen, and closes it after data with eof. It returns when
// everything is in the FIFO. Errors: ErrNoStdin, ErrFinished, the reason of ctx.
func (e *Exec) Input(ctx context.Context, data []byte, eof bool) error {
	if !e.stdinOpen() {
		return fmt.Errorf("shell: input for %s: %w", e.id, ErrNoStdin)
	}
	select {
	case <-e.started:
	case <-ctx.Done():
		return fmt.Errorf("shell: input for %s: %w", e.id, context.Cause(ctx))
	}
	e.writing.Lock()
	defer e.writing.Unlock()
	input := e.openedInput()
	switch {
	case e.hasEnded():
		return fmt.Errorf("shell: input for %s: %w", e.id, ErrFinished)
	case input == nil:
		return fmt.Errorf("shell: input for %s: %w: it was closed", e.id, ErrNoStdin)
	}
	if err := e.write(ctx, input, data); err != nil {
		return fmt.Errorf("shell: input for %s: %w", e.id, err)
	}
	if !eof {
		return nil
	}
	if err := e.awaitReader(ctx); err != nil {
		return fmt.Errorf("shell: input for %s: %w", e.id, err)
	}
	e.closeInput()
	return nil
}

// readerPause is the time between two looks whether a command that was told to begin has its input open. It takes a
// millisecond as a rule.
const readerPause = time.Millisecond

// awaitReader waits until the command has its input open or has ended: a FIFO that nobody has open forgets what is in
// it, and a command that opened it after that would wait for ever. An isolated one begins with its input open.
func (e *Exec) awaitReader(ctx context.Context) error {
	spec := e.spec()
	if spec.Isolated {
		return nil
	}
	pause := time.NewTicker(readerPause)
	defer pause.Stop()
	for {
		if e.hasReader(spec.Background) {
			return nil
		}
		select {
		case <-pause.C:
		case <-e.done:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// hasReader tells whether a command has opened its input. One in the background tells of its process behind that.
func (e *Exec) hasReader(background bool) bool {
	if background {
		_, begun := shelldir.FindNumber(e.dir, shelldir.PidName)
		return begun
	}
	_, err := os.Lstat(filepath.Join(e.dir, shelldir.InOpened))
	return err == nil
}

// openedInput is the writing end of an open standard input, nil when it is not open.
func (e *Exec) openedInput() *os.File {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.input
}

// write writes all of data unless ctx or the command ends first.
func (e *Exec) write(ctx context.Context, input *os.File, data []byte) error {
	_ = input.SetWriteDeadline(time.Time{})
	stop := context.AfterFunc(ctx, func() { _ = input.SetWriteDeadline(time.Unix(1, 0)) })
	defer stop()
	_, err := input.Write(data)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, os.ErrClosed):
		return ErrFinished
	}
	return err
}

// closeInput ends an open standard input.
func (e *Exec) closeInput() {
	e.mu.Lock()
	input := e.input
	e.input = nil
	e.mu.Unlock()
	if input != nil {
		_ = input.Close()
		e.shell.config.Keeper.Release(e.holdID() + holdInput)
	}
}

// RemoveLogs removes the logs of a command that has ended and prints no more, and returns how many bytes those were. The command stays in the history.
func (e *Exec) RemoveLogs() int64 {
	if !e.hasEnded() {
		return 0
	}
	return e.outputs[0].Remove() + e.outputs[1].Remove()
}

// LogCut is why the logs miss something of what was printed, "" when they have all.
func (e *Exec) LogCut() string {
	if why := e.outputs[0].CutReason(); why != "" {
		return why
	}
	return e.outputs[1].CutReason()
}

// MaxReply is how much of each output a reply is to have, in bytes; 0 is no bound.
func (e *Exec) MaxReply() int64 { return e.spec().MaxReply }
