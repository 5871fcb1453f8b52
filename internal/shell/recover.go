package shell

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/shell/bash"
	"github.com/evertty/evertty/internal/shell/history"
	"github.com/evertty/evertty/internal/shell/proctree"
	"github.com/evertty/evertty/internal/shell/script"
	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/internal/shell/state"
	"github.com/evertty/evertty/internal/shell/stdio"
	"github.com/evertty/evertty/pty/keeper"
)

// Recover brings back the shell of a directory: it takes over what the keeper has held for it (held, those whose id
// begins with Prefix+ID+"."), follows the command that runs and the ones in the background, and starts what was queued.
// spare is what the caller knows of a shell whose record cannot be read: its names, and its sandbox, which always
// counts. Errors: ErrDamaged; held is the
// caller's then.
//
// A killed server may have come to any step of a command. The disk and the keeper show how far:
//
//   - queued on disk: the shell got nothing; the command is queued again;
//   - running on disk: the shell may have got its lines or not. The shell gets one more line: when it has read that
//     and there is no status, the command has not run, and runs now. Lines are written all at once, so nothing runs in
//     part or twice;
//   - a status as a file: the command has ended; its outputs are drained and it gets its result;
//   - ended on disk: only late output is followed.
func Recover(c Config, dir string, held []*keeper.Program, spare Spec) (*Shell, error) {
	saved, what, lost, err := history.FindShell(dir, held, spare)
	if err != nil {
		return nil, fmt.Errorf("shell: recover %s: %w", dir, err)
	}
	saved.Spec.Dir = dir
	if spare.Sandbox != nil {
		saved.Spec.Sandbox = spare.Sandbox
	}
	s, err := prepare(c, saved.Spec)
	if err != nil {
		return nil, err
	}
	s.created, s.procs.firstEnv, s.procs.number, s.active = saved.CreatedAt, saved.FirstEnv, saved.Process, time.Now()
	s.damage, s.state.facts.uncaptured = lost, lost
	if what != "" {
		s.config.Log.Warn("the record of a shell could not be read", "shell", s.spec.ID, "what", what, "lost", lost)
		if err := s.procs.save(); err != nil {
			s.config.Log.Warn("the record of a shell is not written again", "shell", s.spec.ID, "error", err)
		}
	}
	store, records, err := history.Open(dir)
	if store == nil {
		s.shutDown(ErrClosing)
		return nil, fmt.Errorf("shell: recover %s: %w", dir, err)
	}
	if err != nil {
		s.config.Log.Warn("commands of a shell are damaged", "shell", s.spec.ID, "error", err)
	}
	s.history = store
	captured := s.state.beginCapture()
	r := recovery{shell: s, held: map[string]*keeper.Program{}}
	r.internal, _ = os.ReadDir(filepath.Join(dir, shelldir.InternalDir)) // none when nothing was left
	for _, p := range held {
		r.held[p.ID] = p
	}
	r.state()
	r.process()
	for _, one := range records {
		r.command(one)
	}
	r.endedByCommand()
	r.last = r.lastEnded()
	r.pause(c.Frozen)
	r.releaseUnused()
	for _, f := range r.isolated { // not before: they look at what the others are
		s.work.Go(f)
	}
	s.work.Go(func() { r.serve(captured) })
	return s, nil
}

// recovery recovers one Shell.
type recovery struct {
	shell *Shell
	held  map[string]*keeper.Program // not taken yet
	proc  *bash.Process              // nil when there is none
	// foreground is the command in the foreground, with its files; nil without one.
	foreground *execution
	last       *Exec // the newest one in the foreground that has ended; nil without one
	// earlier are ended commands in the foreground whose end could not be recorded on a full disk.
	earlier []*execution
	// backgrounds are those in the background.
	backgrounds []*execution
	// isolated follow those, each in a goroutine.
	isolated []func()
	// internal are directories of an earlier server's internal commands, which bash may still read.
	internal []os.DirEntry
}

// endedByCommand notes what the newest command may have changed in a shell that ended with it.
func (r *recovery) endedByCommand() {
	s := r.shell
	if r.proc != nil && r.proc.Proc().PID > 0 || r.foreground != nil {
		return
	}
	for _, e := range slices.Backward(s.all) {
		if i := e.Info(); i.Background || i.Isolated || i.PTY != "" || i.Result == nil {
			continue
		}
		if e.endedShell() {
			s.state.noteUncaptured(e, "the shell ended with it")
		}
		return
	}
}

// take returns what the keeper held under an id, once; nil for nothing.
func (r *recovery) take(id string) *keeper.Program {
	p := r.held[id]
	delete(r.held, id)
	return p
}

// state loads the last capture.
func (r *recovery) state() {
	s := r.shell
	b, dir := &s.state.facts, s.spec.Dir
	b.cwd, b.listOn = s.spec.Cwd, exists(dir, script.ListFile)
	found, err := state.Load(dir)
	switch {
	case s.remote != nil:
		s.remote.read()
	case err == nil:
		b.snapshot, b.cwd = found, cmp.Or(found.Cwd(), b.cwd)
	case errors.Is(err, fs.ErrNotExist):
		b.uncaptured = append(b.uncaptured, "the whole state of the shell: its file is missing")
	default:
		b.uncaptured = append(b.uncaptured, "the whole state of the shell: its file is damaged")
		s.config.Log.Warn("the state of a shell is damaged", "shell", s.spec.ID, "error", err)
	}
	if err := errors.Join(state.WriteScript(dir), bash.WriteLauncher(dir)); err != nil {
		s.config.Log.Warn("files of a shell are as an earlier server left them", "shell", s.spec.ID, "error", err)
	}
}

// process takes over the process of the shell.
func (r *recovery) process() {
	s := r.shell
	number := s.procs.number
	r.proc = bash.Recover(s.procs.config(), number, r.take(Prefix+s.spec.ID+"."+strconv.Itoa(number)), s.config.Frozen)
	s.procs.current.Store(r.proc)
	if r.proc == nil || s.remote != nil {
		return
	}
	if dir, err := r.proc.Cwd(); err == nil && r.proc.Proc().PID > 0 {
		s.state.setDirectory(proc.LogicalDir(s.state.facts.snapshot.PWD(), dir))
	}
}

// lastEnded finds how the newest command of the queue that has begun ended, for $? in the next one. It returns that
// command if it has ended in the foreground.
func (r *recovery) lastEnded() *Exec {
	for _, e := range slices.Backward(r.shell.all) {
		i := e.Info() // a QueueTimeout may end one that waits meanwhile
		if i.Background && !i.StartedAt.IsZero() {
			break
		}
		if last, ok := e.lastOf(i.Result); ok {
			r.shell.state.facts.last = last
			return e
		}
	}
	return nil
}

// command takes over one command.
func (r *recovery) command(saved *history.Entry) {
	s := r.shell
	dir := s.history.Dir(saved.Info.ID)
	e, err := s.newExec(saved, dir, s.history)
	if err != nil {
		s.config.Log.Warn("a command is damaged", "shell", s.spec.ID, "command", saved.Info.ID, "error", err)
		return
	}
	s.add(e)
	files := r.take(e.holdID())
	if input := r.take(stdio.InputID(e.holdID())); input != nil && len(input.Files) > 0 {
		e.streams.SetInput(input.Files[0])
	}
	switch status := saved.Info.Status; {
	case saved.Spec.TTY && status == Running: // its caller goes on with it
	case saved.Spec.TTY && status == Queued: // it has not run
		e.end(Failed, nil, fmt.Errorf("%w: the server ended before it began", ErrEnded))
	case status == Running:
		r.running(e, saved, files)
	case status == Queued && saved.Info.Isolated:
		shelldir.RemoveFIFOs(dir)
		s.queue.beside++
		r.isolated = append(r.isolated, e.runIsolated)
	case status == Queued:
		shelldir.RemoveFIFOs(dir)
		s.mu.Lock()
		s.push(e, nil)
		s.mu.Unlock()
	default:
		shelldir.RemoveFIFOs(dir)
		r.ended(e, files)
	}
}

// running takes over a command that has begun, or was about to.
func (r *recovery) running(e *Exec, saved *history.Entry, files *keeper.Program) {
	s := r.shell
	opened, err := stdio.Reopen(e.streams, files)
	if err != nil {
		e.failUnknown(err)
		return
	}
	x := &execution{cmd: e, files: opened, launch: launcherOf(saved.Spec, r.proc), try: 1}
	switch {
	case saved.Info.Isolated && (files == nil || files.Child == nil):
		opened.Close()
		e.failUnknown(errors.New("the server ended while it started"))
	case saved.Info.Isolated:
		s.queue.beside++
		e.entry.Info.PID = files.Child.PID()
		opened.CloseWriters()
		x.launch, x.home = &isolated{child: files.Child}, s.state.directory()
		r.isolated = append(r.isolated, x.runBeside)
	case saved.Info.Background:
		s.queue.beside++
		r.backgrounds = append(r.backgrounds, x)
	default:
		if r.foreground != nil {
			r.earlier = append(r.earlier, r.foreground)
		}
		r.foreground = x
		s.queue.setCurrent(&job{cmd: e})
		if r.proc != nil {
			e.entry.Info.PID = r.proc.Proc().PID
		}
	}
}

// ended takes over the late output of a command.
func (r *recovery) ended(e *Exec, files *keeper.Program) {
	e.streams.CloseInput()
	if files == nil || len(files.Files) < 2 {
		e.finish()
		return
	}
	opened, err := stdio.Reopen(e.streams, files)
	if err != nil {
		r.shell.config.Log.Warn("late output of a command is lost", "command", e.id, "error", err)
		e.finish()
		r.held[e.holdID()] = files
		return
	}
	opened.CloseWriters()
	opened.FollowLate(false)
}

// releaseUnused releases the rest of what the keeper held: launchers of earlier processes, and files of forgotten
// commands.
func (r *recovery) releaseUnused() {
	s := r.shell
	for id, p := range r.held {
		if !strings.HasPrefix(id, Prefix+s.spec.ID+".") {
			continue
		}
		for _, f := range p.Files {
			_ = f.Close()
		}
		if p.Child != nil {
			s.work.Go(func() { dispose(p.Child) })
		}
		s.config.Keeper.Release(id)
	}
}

// serve is the goroutine of a recovered shell: it ends the commands that have begun, closes captured, then serves the
// queue.
func (r *recovery) serve(captured chan struct{}) {
	// Without a command that has begun there is nothing to follow while the shell is frozen.
	if r.foreground != nil || len(r.backgrounds) > 0 || r.shell.clock.Wait(r.shell.ctx) == nil {
		r.resumeAll()
	}
	close(captured)
	r.shell.serve()
}

// resumeAll ends or follows the commands that have begun, in the order in which the shell got them.
func (r *recovery) resumeAll() {
	s := r.shell
	r.continueStopped()
	known := r.sendBarrier()
	for _, x := range r.earlier {
		x.concludeWithoutProcess(false)
	}
	for _, x := range r.backgrounds {
		r.resumeBackground(x, known)
	}
	if r.foreground != nil {
		r.resume(r.foreground, known)
		s.queue.setCurrent(nil)
	} else if r.proc != nil {
		s.procs.capture(r.proc, nil)
	}
	if !s.detached() {
		if r.last != nil {
			r.last.forgetValues()
		}
		for _, left := range r.internal { // not the parent: commands of this server may be in it
			_ = os.RemoveAll(filepath.Join(s.spec.Dir, shelldir.InternalDir, left.Name()))
		}
	}
}

// continueStopped handles a shell that an earlier server has stopped for an interrupt: it ends the command, or
// continues the shell.
func (r *recovery) continueStopped() {
	s, path := r.shell, r.shell.procs.interruptMarker()
	if !exists(s.spec.Dir, shelldir.InterruptFile) || s.clock.Wait(s.ctx) != nil {
		return
	}
	if r.foreground != nil && r.proc != nil && !shelldir.Closed(r.proc.Ended) {
		e := r.foreground.cmd
		if _, ok := e.status(); !ok {
			if at := e.deadline(); at.IsZero() || time.Now().Before(at) {
				e.Cancel()
			}
			return
		}
	}
	if r.proc != nil {
		for _, p := range append(proctree.Members(r.proc.Proc(), "", nil), r.proc.Proc()) {
			_ = p.Signal(unix.SIGCONT)
		}
	}
	_ = os.Remove(path)
}

// sendBarrier sends a barrier after all earlier control lines, and returns the prefix of its marker; "" without a
// shell.
func (r *recovery) sendBarrier() string {
	if r.proc == nil || shelldir.Closed(r.proc.Ended) {
		return ""
	}
	prefix, line := r.proc.BarrierLine()
	if err := r.proc.Send(line); err != nil {
		return ""
	}
	return prefix
}

// resume follows the command in the foreground, or runs it when it was not sent to the shell.
func (r *recovery) resume(x *execution, prefix string) {
	s := r.shell
	x.home = s.state.directory()
	if r.proc == nil {
		x.concludeWithoutProcess(true)
		return
	}
	was := x.wasSent(r.proc, prefix)
	switch {
	case s.detached():
		x.files.Close()
	case was != notSent:
		if x.run() {
			x.cmd.turn(nil)
		} else if x.cmd.hasEnded() {
			s.afterCommand(r.proc, x.cmd)
		}
	case x.files.Held && x.resend(r.proc) == nil:
		r.resume(x, "")
	default:
		x.files.Reset()
		x.cmd.turn(nil)
	}
}

// resend sends the control lines of a command whose files an earlier server has made.
func (x *execution) resend(proc *bash.Process) error {
	s, e := x.cmd.shell, x.cmd
	spec := e.spec()
	if spec.StdinOpen && !e.streams.InputOpened() {
		if err := errors.Join(e.streams.OpenInput(), e.streams.HoldInput()); err != nil {
			return err
		}
	}
	var cwd string
	x.home, cwd, _ = s.procs.directories(proc, spec)
	text, err := x.controlLines(cwd)
	if err != nil {
		return err
	}
	return proc.Send(text)
}

// sending is how far an earlier server has come with the control lines of a command.
type sending int

const (
	notSent sending = iota // the shell has not got them
	sent                   // it has got them, or the command is to end
	over                   // the command has a status, or its shell has ended
)

// wasSent waits until it is known whether a command was sent to the shell. It is notSent of a shell that is detached.
func (x *execution) wasSent(proc *bash.Process, prefix string) sending {
	s, e := x.cmd.shell, x.cmd
	dir := filepath.Join(s.spec.Dir, shelldir.MarkersDir)
	ctx, stop := e.Running()
	defer stop()
	for {
		_, passed := shelldir.FindNumber(dir, prefix) // before the look at the status
		_, reported := e.status()
		switch {
		case reported:
			return over
		case !x.files.Held:
			return notSent // files are held before the lines are sent, and until the command's end is on the disk
		case prefix == "":
			return sent
		case passed || s.detached():
			return notSent
		case ctx.Err() != nil:
			return sent
		}
		select {
		case <-x.files.Watch.Changed:
		case <-s.procs.watch.Changed:
		case <-ctx.Done():
		case <-proc.Ended:
			return over
		}
	}
}

// resumeBackground follows a background command, or runs it when it was not sent to the shell.
func (r *recovery) resumeBackground(x *execution, prefix string) {
	s, e, b := r.shell, x.cmd, x.launch.(*background)
	x.home = s.state.directory()
	pid, begun := shelldir.FindNumber(e.dir, shelldir.PidName)
	_, hasStatus := e.status()
	if !begun && !hasStatus && r.proc != nil && prefix != "" && !shelldir.Closed(r.proc.Ended) {
		was := x.wasSent(r.proc, prefix)
		pid, begun = shelldir.FindNumber(e.dir, shelldir.PidName)
		if !begun && was == notSent && !s.detached() {
			_, reached := shelldir.FindMarker(e.dir, shelldir.ReachedName)
			if !reached && !(x.files.Held && x.resend(r.proc) == nil) {
				x.files.Reset()
				s.queue.freeSlot()
				e.runInShell(r.proc, restartNotice{})
				return
			}
			b.awaitStart(x)
			pid = b.pid
		}
	}
	if b.pid = pid; pid > 0 {
		e.markRunning(pid) // the server that began it may not have come to write down as what
	}
	s.work.Go(x.runBeside)
}

// concludeWithoutProcess answers a command that is over. Without a status its result is unknown.
func (x *execution) concludeWithoutProcess(shellEnded bool) {
	code, ok := x.cmd.status()
	if !ok {
		x.files.Close()
		x.cmd.failUnknown(errors.New("an earlier server or the keeper ended and left no result"))
		return
	}
	r := Result{ExitCode: code, ShellEnded: shellEnded}
	x.launch.(*foreground).settle(x, &r)
	x.conclude(r)
}
