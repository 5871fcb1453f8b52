package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

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
func (s *Shell) turn(e *Exec, compose func() string) {
	b, err := s.readyProcess()
	if err == nil {
		b = s.takeRestart(b, e)
	}
	switch {
	case s.detached():
		return // Delete ends it, or the next server runs it
	case e.endIfCancelled():
		s.returnRestart(b, e)
		return
	case err != nil:
		s.failUnknown(e, err)
		return
	}
	if compose != nil {
		if err := s.withRoom(func() error { return script.WriteText(e.dir, compose()) }); err != nil {
			e.end(Failed, nil, err)
			return
		}
	}
	if e.spec().Background {
		s.inShell(b, e)
		s.mu.Lock()
		s.last.Code, s.last.Pipe = 0, nil // as after an & of the shell itself
		s.mu.Unlock()
		s.pruneIfDue()
		return
	}
	captured := make(chan struct{})
	defer close(captured)
	s.mu.Lock()
	s.captured = captured
	s.mu.Unlock()
	s.afterCommand(s.inShell(b, e), e)
}

// Settled waits until the state after the last answered command is known: then State is that one. It does not wait for
// a command that runs. Errors: ctx.Err().
func (s *Shell) Settled(ctx context.Context) error {
	s.awaitCapture(ctx.Done())
	return context.Cause(ctx)
}

// awaitCapture is Settled up to the close of stop.
func (s *Shell) awaitCapture(stop <-chan struct{}) {
	s.mu.Lock()
	captured := s.captured // before the look at the turn: the next one begins after its close
	s.mu.Unlock()
	if s.queue.busy() {
		return
	}
	select {
	case <-captured:
	case <-stop:
	case <-s.ctx.Done():
	}
}

// afterCommand is the work between the answer to a command and the next one.
func (s *Shell) afterCommand(proc *bash.Process, e *Exec) {
	s.queue.setCurrent(nil)
	s.capture(proc, e)
	if !s.detached() { // else bash may be about to read them, and the next server does this
		e.forgetValues()
	}
	if e.endedShell() {
		s.noteUncaptured(e, "the shell ended with it")
	}
	if s.unreachable() && !s.detached() && !shelldir.Closed(proc.Ended) {
		proc.Kill()
		proc.AwaitEnd()
	}
	s.pruneIfDue()
}

// pruneIfDue prunes after every pruneEvery commands.
func (s *Shell) pruneIfDue() {
	s.mu.Lock()
	due := len(s.all)-s.pruned >= pruneEvery
	if due {
		s.pruned = len(s.all)
	}
	s.mu.Unlock()
	if due {
		s.prune()
	}
}

// prune removes the oldest commands beyond the history's bounds.
func (s *Shell) prune() {
	s.pruning.Lock()
	defer s.pruning.Unlock()
	s.mu.Lock()
	list := append([]*Exec(nil), s.all...)
	s.mu.Unlock()
	var ended []Info
	for _, e := range list {
		if e.hasEnded() && e.outputs[0].Finished() && e.outputs[1].Finished() {
			ended = append(ended, e.Info())
		}
	}
	gone := map[string]bool{}
	for _, id := range s.history.Prune(ended, len(list)) {
		gone[id] = true
	}
	if len(gone) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := s.all[:0:0]
	for _, e := range s.all {
		if gone[e.id] {
			e.outputs[0].Forget()
			e.outputs[1].Forget()
			delete(s.byID, e.id)
		} else {
			kept = append(kept, e)
		}
	}
	s.all, s.pruned = kept, len(kept)
}

// Forget removes a command that has ended from the history, with its text and output. Errors: ErrUnended.
func (s *Shell) Forget(e *Exec) error {
	s.pruning.Lock()
	defer s.pruning.Unlock()
	if !e.hasEnded() || !e.outputs[0].Finished() || !e.outputs[1].Finished() {
		return fmt.Errorf("shell: forget %s: %w", e.id, ErrUnended)
	}
	if err := os.RemoveAll(e.dir); err != nil {
		return fmt.Errorf("shell: forget %s: %w", e.id, err)
	}
	e.outputs[0].Forget()
	e.outputs[1].Forget()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = slices.DeleteFunc(slices.Clone(s.all), func(o *Exec) bool { return o == e })
	s.pruned = min(s.pruned, len(s.all))
	delete(s.byID, e.id)
	return nil
}

// withRoom makes the files of a command, once more after making space on a full disk.
func (s *Shell) withRoom(files func() error) error {
	err := shelldir.SpaceError(files())
	if errors.Is(err, shelldir.ErrNoSpace) && s.config.MakeRoom != nil && s.config.MakeRoom() {
		err = shelldir.SpaceError(files())
	}
	return err
}
