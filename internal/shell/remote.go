package shell

import (
	"context"
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

// Remote says how shells run commands elsewhere. Each command is a program here, the relay, which the shell's bash
// starts in the command's turn and which has the command run where it belongs: so queue, output, cancel, history and
// recovery are those of any command, and the command survives this server. The bash itself has no state; the state is a
// file that the relay reads before a command and writes after it.
type Remote struct {
	// Program is the relay with its first arguments; the directory of the command follows.
	Program []string
	// Ready writes down in the command's directory what the relay needs, and tells whether what the command runs on is
	// new. Called under no lock.
	Ready func(ctx context.Context, c RemoteCommand) (recreated bool, err error)
	// Outcome is why a relay could not have a command run, or follow it to its end; nil when the command has ended by
	// itself.
	Outcome func(dir string) error
}

// RemoteCommand is what a relay has to know of a command.
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

// Names of files in the directory of a command, for a relay that asks for other compute because its command did not
// start.
const (
	RemoteAsk     = "again"   // it asks; only in the foreground
	RemoteRefused = "refused" // there is none
)

const (
	// remoteGrace is cancelGrace where the end of a command has to be asked for over a network.
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

// setRemote makes a state that which the shell tells.
func (s *Shell) setRemote(state state.Environment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cwd, s.remoteEnv = state.Cwd, state
}

// readRemote makes the state of the file that which the shell tells.
func (s *Shell) readRemote() {
	state, err := state.LoadEnvironment(s.remoteFile())
	if err != nil {
		s.config.Log.Warn("the state of a shell is damaged", "shell", s.spec.ID, "err", err)
		return
	}
	s.setRemote(state)
}

// remoteState is State of a shell elsewhere. What the compute gives is not known: Env is what differs.
func (s *Shell) remoteState() state.Environment {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.remoteEnv
	return state.Environment{Cwd: e.Cwd, Env: maps.Clone(e.Delta), Delta: maps.Clone(e.Delta),
		Unset: slices.Clone(e.Unset)}
}

// changeRemote changes the file of the state.
func (s *Shell) changeRemote(change func(state.Environment) state.Environment) error {
	now, err := state.LoadEnvironment(s.remoteFile())
	if err == nil {
		now = change(now)
		err = state.SaveEnvironment(s.remoteFile(), now)
	}
	if err == nil {
		s.setRemote(now)
	}
	return err
}

// runInternal carries out a change of ours that has its turn.
func (s *Shell) runInternal(e *Exec) {
	err := e.instead()
	e.outputs[0].Finish()
	e.outputs[1].Finish()
	if err != nil {
		e.end(Failed, nil, shelldir.SpaceError(err))
		return
	}
	e.end(Done, &Result{Cwd: s.cwdNow()}, nil)
	s.notify(StateCaptured, proc.Process{}, 0)
}

// ready makes a relay ready for a command. It ends with the command.
func (s *Shell) ready(e *Exec, again bool) (recreated bool, err error) {
	ctx, cancel := context.WithCancel(s.life)
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

// failUnready ends a command that no relay could be made ready for.
func (s *Shell) failUnready(e *Exec, err error) {
	if s.detached() || e.endIfCancelled() {
		return
	}
	e.end(Failed, nil, err)
}

// answerAsked gives a relay other compute that asks for it, or tells it that there is none. It returns whether the
// compute is new.
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

// answer gives a command its end: failed when the relay could not have it run.
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

// home is the directory that bash starts in.
func (s *Shell) home() string {
	if s.remote() {
		return shelldir.Nearest(history.HomeDir(nil))
	}
	return s.spec.Cwd
}

// given is what the first environment of bash has besides the server's.
func (s *Shell) given() map[string]string {
	if s.remote() {
		return nil
	}
	return s.spec.Env
}
