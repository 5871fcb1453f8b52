package registry

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/evertty/evertty/internal/confine"
	"github.com/evertty/evertty/internal/descriptors"
	"github.com/evertty/evertty/internal/owner"
	"github.com/evertty/evertty/internal/shell"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/wire"
)

// Limits of shells. An idle shell costs the memory of a launcher, a bash and a part of the keeper, and six
// descriptors here.
const (
	Max           = 1000
	MaxPerSession = 64
)

// Sentinels of shells.
var (
	ErrNotFound = errors.New("no such shell")
	ErrExists   = errors.New("the shell exists already")
)

// Spec describes a new shell.
type Spec struct {
	Session  string
	ID       string // "" lets the server choose one
	Cwd      string
	Env      map[string]string
	Login    bool
	Timeout  time.Duration
	MaxReply int64
	// Default makes it the session's default shell; ErrExists when there is one.
	Default bool

	Sandbox wire.Sandbox

	provider string // where it runs: see shell.Spec
}

// Shell is an exec shell of a session. All methods are safe for concurrent use.
type Shell struct {
	*shell.Shell        // nil until it has started; it cannot be found before
	ID           string // unique in its session
	Session      string
	Default      bool // it is the one that the session's execs without a name go to

	// Data is of the hooks; see Hooks.NewData.
	Data any

	shells *Shells

	sandbox wire.Sandbox     // "" is none
	rules   *confine.Sandbox // of it

	Key     string // unique in the server, never used again: what the disk and the keeper know the shell as
	created time.Time

	starting func()        // ends what was begun with lifetime.Start; nil of one that came back
	started  chan struct{} // closed when the start is over
	failure  error         // of the start; to be read after started
	gone     chan struct{} // closed when the deletion is over
	remains  error         // why something is left; to be read after gone
	phase    phase         // guarded by Shells.mu
}

// phase is the phase of a shell between its creation and its end.
type phase int

const (
	shellStarting phase = iota // its name and place are taken
	shellFound                 // it can be found
	shellEnding                // it is being deleted: the name is free, the place is not yet
)

// newShell makes a shell that has not started.
func (ss *Shells) newShell(r shellRecord) *Shell {
	s := &Shell{shells: ss, ID: r.ID, Session: r.Session, Default: r.Default, Key: r.Shell, created: r.CreatedAt,
		sandbox: r.Sandbox, rules: r.Rules,
		started: make(chan struct{}), gone: make(chan struct{})}
	s.Data = ss.cfg.Hooks.NewData(s)
	return s
}

// awaitStart waits for the start of a shell. Errors: why it failed.
func (s *Shell) awaitStart() (*Shell, error) {
	<-s.started
	if s.failure != nil {
		return nil, s.failure
	}
	return s, nil
}

// Submit is shell.Submit in a thread that admits it: a paused thread continues, an ended session gets a successor.
// Errors: thread.ErrBudget, errors of Hooks.Admit and shell.Submit.
func (s *Shell) Submit(c shell.Command) (*shell.Exec, error) {
	if err := s.shells.cfg.Hooks.Admit(s); err != nil {
		return nil, err
	}
	if c.StdinOpen && s.Spec().Provider != "" {
		return nil, fmt.Errorf("%w: a command at %s is given all of its input at its start", thread.ErrUnsupported,
			s.Spec().Provider)
	}
	release, err := s.shells.cfg.Descriptors.TakeHere(descriptors.Command)
	if err != nil {
		return nil, err
	}
	defer release()
	return s.Shell.Submit(c)
}

// SetEnv is shell.SetEnv in the same way; it counts as a command.
func (s *Shell) SetEnv(ctx context.Context, set map[string]string, unset []string) error {
	if err := s.shells.cfg.Hooks.Admit(s); err != nil {
		return err
	}
	return s.Shell.SetEnv(ctx, set, unset)
}

// Wire is the shell as lists show it.
func (s *Shell) Wire() wire.ShellInfo {
	now := s.Stats()
	return wire.ShellInfo{ID: s.ID, Session: s.Session, Default: s.Default, PID: now.PID, Cwd: now.Cwd,
		Sandbox: s.Sandbox(),
		State:   now.State, Busy: now.Busy, Queued: now.Queued, CreatedAt: s.created}
}

// Sandbox is where the shell runs; of one whose record was damaged it is `read-only` when there is one at all.
func (s *Shell) Sandbox() wire.Sandbox {
	if s.sandbox == "" && s.Spec().Sandbox != nil {
		return wire.SandboxReadOnly
	}
	return cmp.Or(s.sandbox, wire.SandboxNone)
}

// WireDetail is the shell with its settings and the changes of its environment.
func (s *Shell) WireDetail() wire.Shell {
	spec, state := s.Spec(), s.State()
	w := wire.Shell{ShellInfo: s.Wire(), Login: spec.Login, CommandTimeoutMS: spec.Timeout.Milliseconds(),
		MaxOutputBytes: cmp.Or(spec.MaxReply, spec.MaxOutput), EnvDelta: state.Delta,
		EnvUnset: append([]string{}, state.Unset...)}
	if w.EnvDelta == nil {
		w.EnvDelta = map[string]string{}
	}
	return w
}

// in reports whether the shell is of a session, any for "".
func (s *Shell) in(session string) bool { return owner.In(s.Session, session) }

// shellFormat is the version of shellRecord. Readers refuse others.
const shellFormat = 1

// shellRecord is the registry's record of a shell on disk; package shell has the rest.
type shellRecord struct {
	Format    int              `json:"format"`
	Shell     string           `json:"shell"` // its key
	ID        string           `json:"id"`
	Session   string           `json:"session"`
	Default   bool             `json:"default,omitempty"`
	CreatedAt time.Time        `json:"created_at"`
	Sandbox   wire.Sandbox     `json:"sandbox,omitempty"`
	Rules     *confine.Sandbox `json:"rules,omitempty"`
	Deleted   bool             `json:"deleted,omitempty"` // a client deleted it: the next server removes the rest
}

// saveShell writes the record to disk.
func (ss *Shells) saveShell(s *Shell, deleted bool) error {
	b, err := json.Marshal(shellRecord{Format: shellFormat, Shell: s.Key, ID: s.ID, Session: s.Session,
		Default: s.Default, CreatedAt: s.created, Sandbox: s.sandbox, Rules: s.rules, Deleted: deleted})
	if err != nil {
		panic(fmt.Sprintf("invariant violation: record of shell %s: %v", s.Key, err))
	}
	return ss.cfg.Store.SaveShell(s.Key, b)
}

func parseShellRecord(key string, b []byte) (shellRecord, error) {
	var r shellRecord
	if err := json.Unmarshal(b, &r); err != nil {
		return r, fmt.Errorf("record of shell %s: %w", key, err)
	}
	if r.Format != shellFormat || r.Shell != key {
		return r, fmt.Errorf("record of shell %s: format %d of shell %q; this server reads format %d", key, r.Format,
			r.Shell, shellFormat)
	}
	if err := errors.Join(terminal.CheckSession(r.Session), terminal.CheckName("shell", r.ID)); err != nil {
		return r, fmt.Errorf("record of shell %s: %w", key, err)
	}
	return r, nil
}
