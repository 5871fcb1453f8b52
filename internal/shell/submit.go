package shell

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/evertty/evertty/internal/shell/history"
	"github.com/evertty/evertty/internal/shell/script"
	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/internal/shell/state"
)

// Submit queues a command. Errors: ErrInvalid, ErrBadEnv, ErrQueueFull, ErrDeleted, ErrClosing, ErrNoSpace.
func (s *Shell) Submit(c Command) (*Exec, error) {
	e, err := s.accept(c)
	if err != nil {
		return nil, fmt.Errorf("shell: submit: %w", err)
	}
	e.notifyChanged()
	return e, nil
}

// accept checks a command, writes it to the disk and puts it where its turn comes.
func (s *Shell) accept(c Command) (e *Exec, err error) {
	if err := s.complete(&c); err != nil {
		return nil, err
	}
	s.submitting.Lock()
	defer s.submitting.Unlock()
	if err := s.checkRoom(c); err != nil {
		return nil, err
	}
	err = s.withRoom(func() (err error) {
		e, err = s.enroll(c)
		return err
	})
	if err != nil {
		return nil, shelldir.FileError(err)
	}
	if err := s.enqueue(e, c); err != nil {
		_ = os.RemoveAll(e.dir)
		return nil, err
	}
	return e, nil
}

// complete checks a command and fills in the shell's defaults.
func (s *Shell) complete(c *Command) error {
	if c.Timeout == 0 {
		c.Timeout = s.spec.Timeout
	}
	if c.MaxOutput == 0 {
		c.MaxOutput = s.spec.MaxOutput
	}
	if c.MaxReply == 0 {
		c.MaxReply = s.spec.MaxReply
	}
	return c.Check()
}

// checkRoom reports whether there is room for a command. Errors: ErrQueueFull, ErrDeleted, ErrClosing.
func (s *Shell) checkRoom(c Command) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.detached():
		return context.Cause(s.life)
	case c.TTY: // on a terminal, of which there are as many as the server allows
	case c.Isolated && s.parallel >= maxParallel:
		return fmt.Errorf("%w: %d run beside the shell", ErrQueueFull, s.parallel)
	case !c.Isolated && len(s.queue) >= maxQueue:
		return fmt.Errorf("%w: %d", ErrQueueFull, len(s.queue))
	}
	return nil
}

// enroll writes a command to the disk, so that it runs even if this server is killed now.
func (s *Shell) enroll(c Command) (*Exec, error) {
	id, err := s.history.Next()
	if err != nil {
		return nil, shelldir.SpaceError(err)
	}
	text := c.Text
	if c.Isolated {
		text = state.QuoteWords(c.Argv)
	}
	r := &history.Entry{Info: Info{ID: id, Shell: s.spec.DisplayName(), Command: text, Status: Queued,
		Background: c.Background, Isolated: c.Isolated, CreatedAt: time.Now()}, Spec: c}
	r.Spec.Text, r.Spec.Stdin, r.Spec.Env = "", nil, maps.Clone(c.Env)
	dir := s.history.Dir(id)
	e, err := s.newExec(r, dir)
	if err == nil {
		err = s.writeInputs(dir, c)
	}
	if err == nil {
		err = e.trySave()
	}
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, shelldir.SpaceError(err)
	}
	return e, nil
}

// writeInputs writes the input of a command and, for a relay, its text. Others' text is written in its turn, in the
// form for the shell.
func (s *Shell) writeInputs(dir string, c Command) error {
	if s.remote() && !c.Isolated {
		if err := script.WriteText(dir, c.Text); err != nil {
			return err
		}
	}
	if len(c.Stdin) == 0 {
		return nil
	}
	return os.WriteFile(filepath.Join(dir, shelldir.InputFile), c.Stdin, 0o600)
}

// enqueue appends a command to the queue. An isolated one starts at once, one on a terminal is started by its caller.
// Errors: ErrDeleted, ErrClosing.
func (s *Shell) enqueue(e *Exec, c Command) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.detached() {
		return context.Cause(s.life)
	}
	if !e.internal {
		s.all = append(s.all, e)
		s.byID[e.id] = e
	}
	s.active = time.Now()
	switch {
	case c.TTY:
		return nil
	case c.Isolated:
		s.parallel++
		s.work.Go(func() { s.isolated(e) })
		return nil
	}
	s.queue = append(s.queue, e)
	s.limitWait(e)
	s.wakeQueue()
	return nil
}

// wakeQueue wakes the goroutine of the queue.
func (s *Shell) wakeQueue() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// dequeue takes a command out of the queue, and reports whether it was in it.
func (s *Shell) dequeue(e *Exec) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.Index(s.queue, e)
	if at >= 0 {
		s.queue = slices.Delete(s.queue, at, at+1)
	}
	return at >= 0
}

// CheckEnv refuses variables that SetEnv cannot change. Errors: ErrBadEnv.
func CheckEnv(set map[string]string, unset []string) error {
	names := map[string]string{}
	for _, name := range unset {
		names[name] = ""
	}
	return errors.Join(history.CheckEnv(set), history.CheckEnv(names))
}

// SetEnv exports and unsets variables in the shell, in its turn in the queue. Errors: those of Submit, the reason of
// ctx.
func (s *Shell) SetEnv(ctx context.Context, set map[string]string, unset []string) error {
	if err := CheckEnv(set, unset); err != nil {
		return fmt.Errorf("shell: set variables: %w", err)
	}
	set, unset = maps.Clone(set), slices.Compact(slices.Sorted(slices.Values(unset)))
	e, r, err := s.change(ctx, "set variables",
		func(now state.Environment) state.Environment { return now.With(set, unset) },
		func() string {
			bash := s.scriptBash()
			return bash.Environment(set, unset, bash.Return(1))
		})
	switch {
	case err != nil && e != nil && ctx.Err() != nil && !s.remote():
		e.Cancel()
	case err == nil && r.ExitCode != 0:
		err = fmt.Errorf("shell: set variables: %w: %s", ErrBadEnv, e.complaint())
	}
	s.discard(e)
	return err
}

// change changes the state in its turn in the queue: the file of a remote shell by remote, a bash by the text that
// compose makes then. The caller discards e, which is nil when the change was not queued. Errors: those of Submit, the
// reason of ctx.
func (s *Shell) change(ctx context.Context, what string, remote func(state.Environment) state.Environment,
	compose func() string) (e *Exec, r Result, err error) {
	if s.remote() {
		what = "change the state"
		e, err = s.submitHidden(nil, func() error { return s.changeRemote(remote) })
	} else {
		e, err = s.submitHidden(compose, nil)
	}
	if err != nil {
		return nil, r, fmt.Errorf("shell: %s: %w", what, err)
	}
	r, err = e.Wait(ctx)
	return e, r, err
}

// submitHidden queues an internal command, whose text compose makes in its turn, or a function that runs instead of
// one.
func (s *Shell) submitHidden(compose func() string, instead func() error) (*Exec, error) {
	s.submitting.Lock()
	defer s.submitting.Unlock()
	if err := s.checkRoom(Command{}); err != nil {
		return nil, err
	}
	var dir string
	err := s.withRoom(func() (err error) {
		parent := filepath.Join(s.spec.Dir, shelldir.InternalDir)
		if err = os.MkdirAll(parent, 0o700); err == nil {
			dir, err = os.MkdirTemp(parent, "")
		}
		return err
	})
	if err != nil {
		return nil, shelldir.FileError(err)
	}
	r := &history.Entry{Info: Info{ID: "e" + filepath.Base(dir), Shell: s.spec.DisplayName(), Status: Queued,
		CreatedAt: time.Now()}, Spec: Command{MaxOutput: s.spec.MaxOutput}}
	e, err := s.newExec(r, dir)
	if err == nil {
		e.internal, e.instead, e.compose = true, instead, compose
		err = s.enqueue(e, Command{})
	}
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, shelldir.SpaceError(err)
	}
	return e, nil
}

// complaint is the beginning of the command's standard error, without the name of its file.
func (e *Exec) complaint() string {
	text := make([]byte, min(e.Size(Stderr), 500))
	n, _ := e.ReadAt(Stderr, text, 0)
	words := strings.TrimSpace(strings.ToValidUTF8(string(text[:n]), string(utf8.RuneError)))
	if _, after, ok := strings.Cut(words, filepath.Join(e.dir, shelldir.TextFile)+": "); ok {
		return after
	}
	return words
}
