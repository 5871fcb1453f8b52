package shell

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/shell/history"
	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/internal/shell/state"
)

// Remote says how remote shells run commands. Each command is a local program, the relay, which the shell's bash
// starts in the command's turn, and which runs the command at the provider. So queue, output, cancel, history and
// recovery are those of any command, and the command survives this server. The bash has no state; the relay reads the
// state from a file before a command and writes it after it.
type Remote struct {
	// Program is the relay with its first arguments; the directory of the command follows.
	Program []string
	// Ready writes the relay's job into the command's directory, and reports whether the instance is new. Called
	// under no lock.
	Ready func(ctx context.Context, c RemoteCommand) (recreated bool, err error)
	// Outcome is why a relay could not run a command, or follow it to its end; nil when the command has ended by
	// itself.
	Outcome func(dir string) error
}

// RemoteCommand is a command for a relay.
type RemoteCommand struct {
	Shell string // Spec.ID
	Dir   string // the command's own
	Text  string // shell text
	Cwd   string // of this command alone; "" is the state's
	Env   map[string]string
	State string // the file of the state; see LoadEnvironment
	Keep  bool   // the state after the command is the next one's
	Again bool   // the command did not start: what was ready is not any more
}

// Names of files in the directory of a command, by which a relay asks for another instance because its command did
// not start.
const (
	RemoteAsk     = "again"   // it asks; only in the foreground
	RemoteRefused = "refused" // there is none
)

const (
	// remoteGrace is cancelGrace for a remote command, whose end is asked for over a network.
	remoteGrace = 15 * time.Second
)

func (s *Shell) remoteFile() string { return filepath.Join(s.spec.Dir, shelldir.RemoteFile) }

func (s *Shell) remote() bool { return s.spec.Provider != "" }

// initRemote writes the first state.
func (s *Shell) initRemote() error {
	now := state.Environment{Cwd: s.spec.Cwd, Delta: s.spec.Env}
	if now.Delta == nil {
		now.Delta = map[string]string{}
	}
	s.setRemote(now)
	return state.SaveEnvironment(s.remoteFile(), now)
}

// setRemote sets the state that the shell reports.
func (s *Shell) setRemote(state state.Environment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cwd, s.remoteEnv = state.Cwd, state
}

// readRemote sets the state that the shell reports from its file.
func (s *Shell) readRemote() {
	state, err := state.LoadEnvironment(s.remoteFile())
	if err != nil {
		s.config.Log.Warn("the state of a shell is damaged", "shell", s.spec.ID, "err", err)
		return
	}
	s.setRemote(state)
}

// remoteState is State of a remote shell. The instance's own environment is unknown: Env is the difference.
func (s *Shell) remoteState() state.Environment {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.remoteEnv
	return state.Environment{Cwd: e.Cwd, Env: maps.Clone(e.Delta), Delta: maps.Clone(e.Delta),
		Unset: slices.Clone(e.Unset)}
}

// changeRemote changes the state of a remote shell in its turn in the queue. Errors: as Submit, ctx.Err().
// submitted reports that it happens, perhaps after the return.
func (s *Shell) changeRemote(ctx context.Context, change func(state.Environment) state.Environment) (submitted bool,
	err error) {
	done := make(chan error, 1)
	if err := s.submitJob(func() { done <- shelldir.SpaceError(s.applyRemote(change)) }); err != nil {
		return false, fmt.Errorf("shell: change the state: %w", err)
	}
	select {
	case err = <-done:
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-s.ctx.Done():
		err = context.Cause(s.ctx)
	}
	if err != nil {
		return true, fmt.Errorf("shell: change the state: %w", err)
	}
	return true, nil
}

// submitJob queues a change that needs no process. Errors: as Submit.
func (s *Shell) submitJob(run func()) error {
	s.submitting.Lock()
	defer s.submitting.Unlock()
	if err := s.checkRoom(Command{}); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active = time.Now()
	s.queue.push(&job{run: run})
	return nil
}

// applyRemote changes the file of the state.
func (s *Shell) applyRemote(change func(state.Environment) state.Environment) error {
	now, err := state.LoadEnvironment(s.remoteFile())
	if err != nil {
		return err
	}
	now = change(now)
	if err := state.SaveEnvironment(s.remoteFile(), now); err != nil {
		return err
	}
	s.setRemote(now)
	s.notify(StateCaptured, proc.Process{}, 0)
	return nil
}

// ready prepares a relay for a command. It ends with the command.
func (s *Shell) ready(e *Exec, again bool) (recreated bool, err error) {
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	go func() {
		select {
		case <-e.stop:
		case <-ctx.Done():
		}
		cancel()
	}()
	spec := e.spec()
	c := RemoteCommand{Shell: s.spec.ID, Dir: e.dir, Cwd: spec.Cwd, Env: spec.Env, State: s.remoteFile(),
		Keep: !spec.Isolated && !spec.Background, Again: again}
	if spec.Isolated {
		c.Text = state.QuoteWords(spec.Argv)
	} else {
		text, err := os.ReadFile(filepath.Join(e.dir, shelldir.TextFile))
		if err != nil {
			return false, err
		}
		c.Text = string(text)
	}
	return s.config.Remote.Ready(ctx, c)
}

// failUnready ends a command without a relay.
func (s *Shell) failUnready(e *Exec, err error) {
	if s.detached() || e.endIfCancelled() {
		return
	}
	e.end(Failed, nil, err)
}

// answerAsked gives a relay that asks for it another instance, or tells it that there is none. It reports whether the
// instance is new.
func (s *Shell) answerAsked(e *Exec) (recreated bool) {
	if !s.remote() || os.Remove(filepath.Join(e.dir, RemoteAsk)) != nil {
		return false
	}
	recreated, err := s.ready(e, true)
	if err != nil {
		s.config.Log.Warn("a command has no compute", "shell", s.spec.ID, "command", e.id, "err", err)
		_ = os.WriteFile(filepath.Join(e.dir, RemoteRefused), nil, 0o600)
	}
	return recreated
}

// answer ends a command: failed when the relay could not run it.
func (e *Exec) answer(r *Result) {
	if e.shell.remote() && !r.Cancelled && !r.TimedOut {
		if err := e.shell.config.Remote.Outcome(e.dir); err != nil {
			e.end(Failed, nil, err)
			return
		}
	}
	e.end(r.Status(), r, nil)
}

// grace is how long a command may take to end after SIGINT.
func (s *Shell) grace() time.Duration {
	if s.remote() {
		return remoteGrace
	}
	return cancelGrace
}

// home is the first directory of bash.
func (s *Shell) home() string {
	if s.remote() {
		return shelldir.Nearest(history.HomeDir(nil))
	}
	return s.spec.Cwd
}

// given are the variables of the first bash besides the server's.
func (s *Shell) given() map[string]string {
	if s.remote() {
		return nil
	}
	return s.spec.Env
}
