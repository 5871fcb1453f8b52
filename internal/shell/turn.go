package shell

import (
	"context"
	"errors"

	"github.com/evertty/evertty/internal/shell/bash"
	"github.com/evertty/evertty/internal/shell/script"
	"github.com/evertty/evertty/internal/shell/shelldir"
)

// serve is the goroutine of the queue: it runs one job after the other until the shell is detached.
func (s *Shell) serve() {
	for j := s.queue.next(s.ctx); j != nil; j = s.queue.next(s.ctx) {
		j.run()
		s.queue.setCurrent(nil)
	}
}

// turn runs a command in its turn: it starts the shell when that has ended, runs the command, and captures the state.
// compose makes the text of an internal command then, which commands before it may change; nil of others.
func (e *Exec) turn(compose func() string) {
	s := e.shell
	b, notice, err := s.procs.ready()
	if err == nil {
		notice = s.state.takeRestart(notice, e)
	}
	switch {
	case s.detached():
		return // Delete ends it, or the next server runs it
	case e.endIfCancelled():
		s.state.returnRestart(notice, e)
		return
	case err != nil:
		e.failUnknown(err)
		return
	}
	if compose != nil {
		if err := s.withRoom(func() error { return script.WriteText(e.dir, compose()) }); err != nil {
			e.end(Failed, nil, err)
			return
		}
	}
	if e.spec().Background {
		e.runInShell(b, notice)
		s.state.change(func(f *bashFacts) { f.last.Code, f.last.Pipe = 0, nil }) // as after an & of the shell itself
		s.pruneIfDue()
		return
	}
	defer close(s.state.beginCapture())
	s.afterCommand(e.runInShell(b, notice), e)
}

// Settled waits until the state after the last answered command is known: then State is that one. It does not wait for
// a command that runs. Errors: ctx.Err().
func (s *Shell) Settled(ctx context.Context) error {
	captured := s.state.now().captured // before the look at the turn: the next one begins after its close
	if !s.queue.busy() {
		select {
		case <-captured:
		case <-ctx.Done():
		case <-s.ctx.Done():
		}
	}
	return context.Cause(ctx)
}

// afterCommand is the work between the answer to a command and the next one.
func (s *Shell) afterCommand(b *bash.Process, e *Exec) {
	s.queue.setCurrent(nil)
	s.procs.capture(b, e)
	if !s.detached() { // else bash may be about to read them, and the next server does this
		e.forgetValues()
	}
	if e.endedShell() {
		s.state.noteUncaptured(e, "the shell ended with it")
	}
	unreachable := s.procs.scriptBash().Snapshot.Builtin(".") == "" // it can no longer read a file
	if unreachable && !s.detached() && !shelldir.Closed(b.Ended) {
		b.Kill()
		b.AwaitEnd()
	}
	s.pruneIfDue()
}

// withRoom makes the files of a command, once more after making space on a full disk.
func (s *Shell) withRoom(files func() error) error {
	err := shelldir.SpaceError(files())
	if errors.Is(err, shelldir.ErrNoSpace) && s.config.MakeRoom != nil && s.config.MakeRoom() {
		err = shelldir.SpaceError(files())
	}
	return err
}
