package shell

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/shell/bash"
	"github.com/evertty/evertty/internal/shell/proctree"
	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/internal/shell/state"
)

// readyShell is a shell that is ready, with the notice of its restart.
type readyShell struct {
	*bash.Process
	restartNotice
}

// readyProcess returns the running process, or starts the next one. It tries maxStarts times.
func (s *Shell) readyProcess() (readyShell, error) {
	s.mu.Lock()
	proc := s.proc
	s.mu.Unlock()
	if proc != nil && !shelldir.Closed(proc.Ended) && !s.isEnding(proc) && !s.endIfStopped(proc) {
		return readyShell{Process: proc}, nil
	}
	var err error
	for range maxStarts {
		var r readyShell
		err = s.withRoom(func() (err error) {
			r, err = s.restart()
			return err
		})
		if err == nil || s.detached() || errors.Is(err, shelldir.ErrNoSpace) {
			return r, err
		}
		s.config.Log.Warn("a shell did not start again", "shell", s.spec.ID, "err", err)
	}
	return readyShell{}, err
}

// isStopped reports whether bash is stopped, but not by SetFrozen.
func (s *Shell) isStopped(p *bash.Process) bool {
	now, ok := proc.Find(p.Proc().PID)
	return ok && !s.isFrozen() && now.Stopped && now.Start == p.Proc().Start
}

// isEnding reports whether bash has ended or was killed, and waits for its end. Without this a command right after
// its end would go to no process, or to one that reads it and ends before it runs.
func (s *Shell) isEnding(proc *bash.Process) bool {
	if bash := proc.Proc(); bash.PID > 0 && bash.Alive() && !proctree.IsKilled(bash.PID) {
		return false
	}
	return proc.AwaitEnd()
}

// endIfStopped kills an idle shell that somebody has stopped, before a command is sent to it. It waits before, for
// somebody to continue it.
func (s *Shell) endIfStopped(proc *bash.Process) bool {
	if !s.isStopped(proc) {
		return false
	}
	select {
	case <-time.After(stoppedLooks * stoppedLook):
	case <-s.ctx.Done():
		return false
	}
	if !s.isStopped(proc) {
		return false
	}
	s.destroy(proc, nil)
	return true
}

// restart starts the next bash with the state of the last capture.
func (s *Shell) restart() (readyShell, error) {
	s.mu.Lock()
	found, wanted := s.snapshot, s.cwd
	number := s.number + 1
	s.mu.Unlock()
	env, restore := s.firstEnv, false
	var dropped []string
	before := found
	var damaged []string
	if found != nil {
		if wanted == found.PWD() {
			wanted = found.Cwd() // a link may lead elsewhere since then, or nowhere
		}
		var err error
		if found, dropped = found.Usable(); len(dropped) > 0 {
			s.config.Log.Warn("a shell cannot be told to read a file; it comes back without what is in the way",
				"shell", s.spec.ID, "without", dropped)
		}
		if env, damaged, err = found.WriteRestore(s.spec.Dir, s.firstEnv); err != nil {
			return readyShell{}, err
		}
		if len(damaged) > 0 {
			s.config.Log.Warn("the file of a shell's state cannot be read", "shell", s.spec.ID)
			found = found.WithoutFunctions()
		}
		restore = true
	}
	r := readyShell{restartNotice: restartNotice{recreated: true}}
	if wanted == "" {
		wanted = s.spec.Cwd
	}
	dir := shelldir.Nearest(wanted)
	if s.remote() {
		dir, wanted, r.recreated = s.home(), s.home(), false // the bash had no state
	}
	if dir != wanted {
		r.fallback = wanted
	}
	proc, err := s.launch(s.ctx, number, dir, env, restore)
	if err != nil {
		return readyShell{}, err
	}
	r.Process = proc
	if found != nil {
		r.lost = append(append(before.Lost(proc.Proc().PID), dropped...), damaged...)
	}
	s.mu.Lock()
	s.proc, s.snapshot, s.mayAlias = proc, found, false
	r.lost, s.uncaptured = append(r.lost, s.uncaptured...), nil
	if !s.remote() {
		s.cwd = dir
	}
	s.mu.Unlock()
	return r, nil
}

// capture captures the state of the shell for the next bash, after the answer to e, which is nil without a command.
// It kills a shell that does not return from it.
func (s *Shell) capture(proc *bash.Process, e *Exec) {
	if s.remote() {
		s.readRemote()
		s.notify(StateCaptured, proc.Proc(), 0)
		return
	}
	if s.detached() {
		return
	}
	if shelldir.Closed(proc.Ended) {
		_ = s.adopt() // an earlier server may not have come to take what was captured
		return
	}
	if s.clock.Wait(s.ctx) != nil {
		return
	}
	ctx, cancel := s.clock.WithTimeout(s.ctx, captureLimit)
	defer cancel()
	state.Prepare(s.spec.Dir)
	err := proc.Barrier(ctx, state.CaptureLine(s.spec.Dir))
	if err == nil {
		s.noteList(e)
	}
	if err == nil && s.adopt() != nil {
		err = s.captureAgain(ctx, proc, e)
	}
	switch {
	case s.detached():
		return
	case errors.Is(err, ErrEnded):
		if s.adopt() != nil {
			s.noteUncaptured(e, "the shell ended")
		}
		return
	case err != nil:
		s.noteUncaptured(e, "it could not be read")
		s.config.Log.Warn("the state of a shell could not be captured; the shell is ended", "shell", s.spec.ID, "err",
			err)
		s.destroy(proc, nil)
		return
	}
	s.notify(StateCaptured, proc.Proc(), 0)
}

// captureAgain captures the state of a shell that lacks builtins. errNoBuiltins is of a shell without any way to do
// so; lack of space is no error.
func (s *Shell) captureAgain(ctx context.Context, proc *bash.Process, e *Exec) error {
	if err := proc.Barrier(ctx, state.CaptureLineEnabling(s.spec.Dir, s.scriptBash().Snapshot.TraceFD())); err != nil {
		return err
	}
	err := s.adopt()
	if err == nil {
		return nil
	}
	if !state.NotRead(s.spec.Dir) || state.WriteScript(s.spec.Dir) != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			s.config.Log.Warn("the state of a shell was not captured", "shell", s.spec.ID, "err", err)
			s.noteUncaptured(e, "the file of the state did not take it, for its size, a limit of the shell or the disk")
		}
		return nil
	}
	s.noteUncaptured(e, "builtins were disabled")
	return errNoBuiltins
}

// errNoBuiltins is of a shell that can neither read a file nor enable the builtins for it.
var errNoBuiltins = errors.New("builtins are disabled, enable too")

// adopt makes the newest capture the state. Errors: as state.Adopt.
func (s *Shell) adopt() error {
	found, err := state.Adopt(s.spec.Dir)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.snapshot, s.mayAlias, s.uncaptured = found, false, nil
	s.mu.Unlock()
	return nil
}
