package shell

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/internal/shell/state"
)

// Remote says how remote shells run commands. Each command is a local program, the relay, which the shell's bash
// starts in the command's turn, and which runs the command at the provider. So queue, output, cancel, history and
// recovery are the same as for any command, and the command survives this server. The bash has no state; the relay
// reads the state from a file before a command and writes it after it.
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

// remoteGrace is cancelGrace for a remote command, whose end is asked for over a network.
const remoteGrace = 15 * time.Second

// remote is the part of a shell that runs its commands at a provider: the state there, and the relays.
type remote struct {
	*Remote
	shell *Shell
	file  string // of the state

	mu  sync.Mutex // guards env; a leaf
	env state.Environment
}

// init writes the first state.
func (r *remote) init() error {
	spec := r.shell.spec
	now := state.Environment{Cwd: spec.Cwd, Delta: spec.Env}
	if now.Delta == nil {
		now.Delta = map[string]string{}
	}
	return r.save(now)
}

// save makes an environment the state.
func (r *remote) save(now state.Environment) error {
	err := state.SaveEnvironment(r.file, now)
	if err == nil {
		r.set(now)
	}
	return err
}

// set sets the state that the shell reports.
func (r *remote) set(now state.Environment) {
	r.shell.state.setDirectory(now.Cwd)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.env = now
}

// read sets the state that the shell reports from its file.
func (r *remote) read() {
	now, err := state.LoadEnvironment(r.file)
	if err != nil {
		r.shell.config.Log.Warn("the state of a shell is damaged", "shell", r.shell.spec.ID, "error", err)
		return
	}
	r.set(now)
}

// environment is the state. The instance's own environment is unknown: Env is the difference.
func (r *remote) environment() state.Environment {
	r.mu.Lock()
	defer r.mu.Unlock()
	return state.Environment{Cwd: r.env.Cwd, Env: maps.Clone(r.env.Delta), Delta: maps.Clone(r.env.Delta),
		Unset: slices.Clone(r.env.Unset)}
}

// change changes the state in its turn in the queue. Errors: as Submit, ErrBadEnv of a shell that is stopped before,
// ctx.Err(). submitted reports that it happens, perhaps after the return.
func (r *remote) change(ctx context.Context, f func(state.Environment) state.Environment) (submitted bool, err error) {
	s, done := r.shell, make(chan error, 1)
	if err := r.submit(&job{run: func() { done <- shelldir.SpaceError(r.apply(f)) },
		drop: func(why error) { done <- why }}); err != nil {
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

// submit queues a change, which needs no process. Errors: as Shell.Submit.
func (r *remote) submit(j *job) error {
	s := r.shell
	s.submitting.Lock()
	defer s.submitting.Unlock()
	if err := s.checkRoom(Command{}); err != nil {
		return err
	}
	s.touch()
	s.queue.push(j)
	return nil
}

// apply changes the file of the state.
func (r *remote) apply(f func(state.Environment) state.Environment) error {
	now, err := state.LoadEnvironment(r.file)
	if err != nil {
		return err
	}
	if err := r.save(f(now)); err != nil {
		return err
	}
	r.shell.notify(StateCaptured, proc.Process{}, 0)
	return nil
}

// ready prepares a relay for a command. It ends with the command.
func (r *remote) ready(e *Exec, again bool) (recreated bool, err error) {
	ctx, cancel := context.WithCancel(r.shell.ctx)
	defer cancel()
	defer context.AfterFunc(e.stopped, cancel)()
	spec := e.spec()
	c := RemoteCommand{Shell: r.shell.spec.ID, Dir: e.dir, Cwd: spec.Cwd, Env: spec.Env, State: r.file,
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
	return r.Ready(ctx, c)
}

// answerAsked gives a relay that asks for it another instance, or the answer that there is none. It reports whether
// the instance is new.
func (r *remote) answerAsked(e *Exec) (recreated bool) {
	if os.Remove(filepath.Join(e.dir, RemoteAsk)) != nil {
		return false
	}
	recreated, err := r.ready(e, true)
	if err != nil {
		r.shell.config.Log.Warn("a command has no compute", "shell", r.shell.spec.ID, "command", e.id, "error", err)
		_ = os.WriteFile(filepath.Join(e.dir, RemoteRefused), nil, 0o600)
	}
	return recreated
}
