package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/evertty/evertty/internal/shell/history"
	"github.com/evertty/evertty/internal/shell/script"
	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/internal/shell/state"
)

// Submit queues a command. Errors: ErrInvalid, ErrBadEnv, ErrQueueFull, ErrDeleted, ErrClosing, ErrNoSpace.
func (s *Shell) Submit(c Command) (*Exec, error) { return s.submit(c, "submit") }

// submit queues a command, completed with the shell's defaults; doing names that in an error.
func (s *Shell) submit(c Command, doing string) (*Exec, error) {
	c.Timeout = cmp.Or(c.Timeout, s.spec.Timeout)
	c.MaxOutput = cmp.Or(c.MaxOutput, s.spec.MaxOutput)
	c.MaxReply = cmp.Or(c.MaxReply, s.spec.MaxReply)
	err := c.Check()
	var e *Exec
	if err == nil {
		e, err = s.accept(c, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("shell: %s: %w", doing, err)
	}
	e.notifyChanged()
	return e, nil
}

// accept writes a command to the disk and puts it where its turn comes. compose makes an internal one, which the caller
// discards; see turn. Errors: as Submit.
func (s *Shell) accept(c Command, compose func() string) (e *Exec, err error) {
	s.submitting.Lock()
	defer s.submitting.Unlock()
	if err := s.checkRoom(c); err != nil {
		return nil, err
	}
	err = s.withRoom(func() (err error) {
		e, err = s.enroll(c, compose != nil)
		return err
	})
	if err != nil {
		return nil, shelldir.FileError(err)
	}
	if err := s.enqueue(e, c, compose); err != nil {
		_ = os.RemoveAll(e.dir)
		return nil, err
	}
	return e, nil
}

// checkRoom reports whether there is room for a command. Errors: ErrQueueFull, ErrDeleted, ErrClosing.
func (s *Shell) checkRoom(c Command) error {
	waiting, beside, _ := s.queue.counts()
	switch {
	case s.detached():
		return context.Cause(s.ctx)
	case c.TTY: // the server bounds the number of terminals
	case c.Isolated && beside >= maxParallel:
		return fmt.Errorf("%w: %d run beside the shell", ErrQueueFull, beside)
	case !c.Isolated && waiting >= maxQueue:
		return fmt.Errorf("%w: %d", ErrQueueFull, waiting)
	}
	return nil
}

// enroll writes a command to the disk, so that it runs even if this server is killed now. An internal one is in no
// history.
func (s *Shell) enroll(c Command, internal bool) (e *Exec, err error) {
	store := s.history
	var id, dir string
	if internal {
		store = nil
		parent := filepath.Join(s.spec.Dir, shelldir.InternalDir)
		if err = os.MkdirAll(parent, 0o700); err == nil {
			dir, err = os.MkdirTemp(parent, "")
		}
		id = "e" + filepath.Base(dir)
	} else if id, err = store.Next(); err == nil {
		dir = store.Dir(id)
	}
	if err != nil {
		return nil, err
	}
	text := c.Text
	if c.Isolated {
		text = state.QuoteWords(c.Argv)
	}
	row := &history.Entry{Info: Info{ID: id, Shell: s.spec.DisplayName(), Command: text, Status: Queued,
		Background: c.Background, Isolated: c.Isolated, CreatedAt: time.Now()}, Spec: c}
	row.Spec.Text, row.Spec.Stdin, row.Spec.Env = "", nil, maps.Clone(c.Env)
	e, err = s.newExec(row, dir, store)
	if err == nil && s.remote != nil && !c.Isolated { // the text of others is written in its turn, in the form for bash
		err = script.WriteText(dir, c.Text)
	}
	if err == nil && len(c.Stdin) > 0 {
		err = os.WriteFile(filepath.Join(dir, shelldir.InputFile), c.Stdin, 0o600)
	}
	if err == nil {
		err = e.save(e.outputs)
	}
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	return e, nil
}

// enqueue appends a command to the queue; see turn for compose. An isolated one starts at once, one on a terminal is
// started by its caller. Errors: ErrQueueFull, ErrDeleted, ErrClosing.
func (s *Shell) enqueue(e *Exec, c Command, compose func() string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.detached() {
		return context.Cause(s.ctx)
	}
	if c.Isolated && !c.TTY {
		if err := s.queue.takeSlot(); err != nil {
			return err
		}
	}
	if !e.internal() {
		s.add(e)
	}
	s.active = time.Now()
	switch {
	case c.TTY:
	case c.Isolated:
		s.work.Go(e.runIsolated)
	default:
		s.push(e, compose)
	}
	return nil
}

// push appends a command to the queue. It fails when it has not got its turn by the end of its QueueTimeout, which
// counts from the submission, over restarts of the server. s.mu is held: a timer that fires waits for the push.
func (s *Shell) push(e *Exec, compose func() string) {
	row := e.row()
	if limit := row.Spec.QueueTimeout; limit > 0 {
		left := max(0, time.Until(row.Info.CreatedAt.Add(limit)))
		e.turnTimer = time.AfterFunc(left, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			if !s.detached() && s.queue.remove(e) { // else it has its turn
				s.work.Go(func() { e.end(Failed, nil, fmt.Errorf("%w: it waited %v", ErrQueueTimeout, limit)) })
			}
		})
	}
	s.queue.push(&job{cmd: e, run: func() { e.turn(compose) }})
}

// problemOf is the error of a failed command, from its record.
func problemOf(why string) error {
	for _, known := range [...]error{ErrQueueTimeout, ErrDeleted} {
		if rest, is := strings.CutPrefix(why, known.Error()); is {
			return fmt.Errorf("%w%s", known, rest)
		}
	}
	if why == "" {
		return ErrEnded
	}
	return fmt.Errorf("%w: %s", ErrEnded, strings.TrimPrefix(why, ErrEnded.Error()+": "))
}

// CheckEnv refuses variables that SetEnv cannot change. Errors: ErrBadEnv.
func CheckEnv(set map[string]string, unset []string) error {
	names := map[string]string{}
	for _, name := range unset {
		names[name] = ""
	}
	return errors.Join(history.CheckEnv(set), history.CheckEnv(names))
}

// SetEnv exports and unsets variables in the shell, in its turn in the queue. Errors: as Submit, ErrBadEnv,
// ctx.Err().
func (s *Shell) SetEnv(ctx context.Context, set map[string]string, unset []string) error {
	if err := CheckEnv(set, unset); err != nil {
		return fmt.Errorf("shell: set variables: %w", err)
	}
	set, unset = maps.Clone(set), slices.Compact(slices.Sorted(slices.Values(unset)))
	if s.remote != nil {
		_, err := s.remote.change(ctx, func(now state.Environment) state.Environment { return now.With(set, unset) })
		return err
	}
	e, err := s.accept(Command{MaxOutput: s.spec.MaxOutput}, func() string {
		bash := s.procs.scriptBash()
		return bash.Environment(set, unset, bash.Return(1))
	})
	if err != nil {
		return fmt.Errorf("shell: set variables: %w", err)
	}
	defer s.discard(e)
	r, err := e.Wait(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		e.Cancel()
	case err == nil && r.ExitCode != 0:
		err = fmt.Errorf("shell: set variables: %w: %s", ErrBadEnv, e.complaint(e.dir))
	}
	return err
}

// discard removes the directory of an internal command when it has ended and the shell has read all of its control
// lines: the shell ends when it cannot write there.
func (s *Shell) discard(e *Exec) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.detached() {
		return // Delete removes all of them
	}
	s.work.Go(func() {
		_, _ = e.Wait(s.ctx)
		if s.Settled(s.ctx) == nil && !s.detached() {
			_ = os.RemoveAll(e.dir)
			e.forget()
		}
	})
}

// Roll sets the directory and the environment, which is given by its differences from the first start, in its turn in
// the queue; submitted reports that it has a place there. It returns when it has happened or ctx has ended, and goes on
// then. For a directory that does not exist it takes the nearest parent. Errors: as Submit, ctx.Err().
func (s *Shell) Roll(ctx context.Context, cwd string, delta map[string]string, unset []string) (submitted bool,
	err error) {
	dir := "." // the directory of the shell
	if cwd != "" {
		dir = shelldir.Nearest(cwd)
	}
	delta, unset = maps.Clone(delta), slices.Clone(unset)
	if s.remote != nil {
		return s.remote.change(ctx, func(state.Environment) state.Environment {
			return state.Environment{Cwd: cwd, Delta: map[string]string{}, Unset: unset}.With(delta, nil)
		})
	}
	e, err := s.accept(Command{MaxOutput: s.spec.MaxOutput}, func() string { return s.rollText(dir, delta, unset) })
	if err != nil {
		return false, fmt.Errorf("shell: roll: %w", err)
	}
	defer s.discard(e)
	if _, err := e.Wait(ctx); err != nil {
		return true, err
	}
	return true, s.Settled(ctx)
}

// rollText restores the environment of the first start, then applies the differences. It is called in its turn, when
// the current environment is known.
func (s *Shell) rollText(cwd string, delta map[string]string, unset []string) string {
	now, set := s.State(), map[string]string{}
	gone := slices.AppendSeq(slices.Clone(unset), maps.Keys(now.Delta))
	for _, pair := range s.procs.firstEnv {
		name, value, _ := strings.Cut(pair, "=")
		if _, changed := now.Delta[name]; changed || slices.Contains(now.Unset, name) {
			set[name] = value
		}
	}
	for _, name := range unset {
		delete(set, name)
	}
	maps.Copy(set, delta)
	gone = slices.DeleteFunc(gone, func(name string) bool { _, is := set[name]; return is || !state.ValidName(name) })
	maps.DeleteFunc(set, func(name, _ string) bool { return !state.ValidName(name) })
	slices.Sort(gone)
	bash := s.procs.scriptBash()
	return bash.ChangeDir(cwd) + bash.Environment(set, slices.Compact(gone), "((1))")
}
