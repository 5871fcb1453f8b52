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
	if err := s.enqueue(e, c, nil); err != nil {
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
	waiting, beside, _ := s.queue.counts()
	switch {
	case s.detached():
		return context.Cause(s.ctx)
	case c.TTY: // on a terminal, of which there are as many as the server allows
	case c.Isolated && beside >= maxParallel:
		return fmt.Errorf("%w: %d run beside the shell", ErrQueueFull, beside)
	case !c.Isolated && waiting >= maxQueue:
		return fmt.Errorf("%w: %d", ErrQueueFull, waiting)
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
	e, err := s.newExec(r, dir, s.history)
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
		s.all = append(s.all, e)
		s.byID[e.id] = e
	}
	s.active = time.Now()
	switch {
	case c.TTY:
		return nil
	case c.Isolated:
		s.work.Go(func() { s.isolated(e) })
		return nil
	}
	s.push(e, compose)
	return nil
}

// push bounds the wait of a command and appends it to the queue. s.mu is held: a timer that fires waits for the push.
func (s *Shell) push(e *Exec, compose func() string) {
	s.limitWait(e)
	s.queue.push(&job{e, func() { s.turn(e, compose) }})
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
	if s.remote() {
		_, err := s.changeRemote(ctx, func(now state.Environment) state.Environment { return now.With(set, unset) })
		return err
	}
	e, err := s.submitInternal(func() string {
		bash := s.scriptBash()
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
		err = fmt.Errorf("shell: set variables: %w: %s", ErrBadEnv, e.complaint())
	}
	return err
}

// submitInternal queues an internal command; see turn for compose. The caller discards it. Errors: as Submit.
func (s *Shell) submitInternal(compose func() string) (*Exec, error) {
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
	e, err := s.newExec(r, dir, nil)
	if err == nil {
		err = s.enqueue(e, Command{}, compose)
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
