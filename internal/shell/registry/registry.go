// Package registry keeps the exec shells of a server: it names, finds, recovers and ends them, and runs commands of a
// shell on a terminal. What one shell does is package shell.
package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/evertty/evertty/internal/confine"
	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/internal/descriptors"
	"github.com/evertty/evertty/internal/lifetime"
	"github.com/evertty/evertty/internal/metrics"
	"github.com/evertty/evertty/internal/owner"
	"github.com/evertty/evertty/internal/parallel"
	"github.com/evertty/evertty/internal/shell"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/pty/keeper"
)

// Hooks connect the shells with the owner of the sessions.
type Hooks struct {
	// NewData makes Shell.Data of a new shell, before anybody finds it.
	NewData func(*Shell) any
	// Enter comes before a shell of a session is started, and leave when it can be found or has failed. An error
	// refuses the start: the session is being deleted.
	Enter func(session string) (leave func(), err error)
	// Provider names the provider that the processes of a session run at, "" for this machine.
	Provider func(session string) (string, error)
	// SavedState is the state of the session's first shell, which has no shell now; Key is "" when there is none.
	SavedState func(session string) SavedState
	// Started is called after the start of a shell, and restores the saved state. An error ends the shell.
	Started func(s *Shell, k SavedState) error
	// Admit is called before a command; an error refuses it.
	Admit func(*Shell) error
	// Paused reports whether the processes of a session are stopped on purpose.
	Paused func(session string) bool
	// ProcessChanged is called after a change of a shell's process or state, Changed after one of a command. Neither
	// may block.
	ProcessChanged func(*Shell, shell.ProcessEvent)
	Changed        func(key string, i shell.Info)
	// Ended is called when a shell and its processes have ended by request, Removed when its files are gone too.
	Ended   func(*Shell)
	Removed func(key string)
}

// SavedState is the state of a shell that does not exist any more.
type SavedState struct {
	Key   string // of the shell that had it
	Cwd   string
	Env   map[string]string
	Unset []string
}

// Config has what New needs.
type Config struct {
	Life        *lifetime.Lifetime
	Store       *datadir.Store
	Keeper      *keeper.Client
	Descriptors *descriptors.Budget
	Terminals   *terminal.Registry // for commands on a terminal
	Hooks       Hooks
	Remote      *shell.Remote // how commands run at a provider
	SpliceErr   error         // see terminal.Config
	Address     string        // of the server, for pty.Identity
	Socket      string        // likewise
	Max         int           // shells there may be; 0 means Max
	// MaxOf bounds the shells of a user; nil, and 0, are no bound of their own.
	MaxOf     func(user string) int
	Idle      time.Duration // after which an unused shell ends; 0 is never
	LogQuota  int64         // bytes that the logs of all commands may take
	OnCleanup func(error)   // notes that space could not be freed; nil that it could
	Log       *slog.Logger
	Metrics   *metrics.Set
}

// Shells are the exec shells of a server. All methods are safe for concurrent use.
type Shells struct {
	space
	cfg     Config
	life    *lifetime.Lifetime
	ctx     context.Context
	damaged damagedShells

	mu    sync.Mutex
	byKey map[string]*Shell // of every phase
}

// New makes an empty registry; Recover adds the shells of the disk.
func New(cfg Config) *Shells {
	cfg.Max = cmp.Or(cfg.Max, Max)
	ss := &Shells{cfg: cfg, life: cfg.Life, ctx: cfg.Life.Context(), byKey: map[string]*Shell{},
		damaged: damagedShells{byKey: map[string]damagedShell{}}}
	ss.space.shells = ss
	return ss
}

// shellConfig is the configuration of one shell.
func (ss *Shells) shellConfig(key, session string) shell.Config {
	return shell.Config{Identity: terminal.Identity(ss.cfg.Address, ss.cfg.Socket, session, ""),
		Keeper:    ss.cfg.Keeper,
		Log:       ss.cfg.Log,
		DataDir:   ss.cfg.Store.Dir(),
		SpliceErr: ss.cfg.SpliceErr, Remote: ss.cfg.Remote, Logs: &ss.logs, MakeRoom: ss.makeRoom,
		OnProcess: func(e shell.ProcessEvent) {
			if s := ss.ByKey(e.Shell); s != nil {
				ss.cfg.Hooks.ProcessChanged(s, e)
			}
		},
		OnChanged: func(i shell.Info) {
			ss.cfg.Metrics.Command(i)
			ss.noteLost(i)
			ss.cfg.Hooks.Changed(key, i)
		}}
}

// Create starts a shell. Errors: ErrInvalid, ErrExists, ErrLimit, ErrClosing, errors of shell.Start and the keeper.
func (ss *Shells) Create(spec Spec) (*Shell, error) { return ss.open(spec, false) }

// Default is the shell for execs that name none. The first call of a session starts it. Errors: as Create.
func (ss *Shells) Default(session string) (*Shell, error) {
	return ss.open(Spec{Session: session, Default: true}, true)
}

// open starts a shell. A shared one is the session's default shell, which may be there already.
func (ss *Shells) open(spec Spec, shared bool) (*Shell, error) {
	if err := spec.check(); err != nil {
		return nil, err
	}
	leave, err := ss.cfg.Hooks.Enter(spec.Session)
	if err != nil {
		return nil, err
	}
	defer leave()
	var saved SavedState
	if shared {
		ss.mu.Lock()
		s := ss.defaultShell(spec.Session)
		ss.mu.Unlock()
		if s != nil {
			return s.awaitStart()
		}
		saved = ss.cfg.Hooks.SavedState(spec.Session)
	}
	if spec.provider, err = ss.cfg.Hooks.Provider(spec.Session); err != nil {
		return nil, err
	}
	if saved.Key != "" {
		spec.Cwd, _ = terminal.StartDir(spec.provider, saved.Cwd)
	}
	rules, err := spec.rules(ss.cfg.Store.Dir())
	if err != nil {
		return nil, err
	}
	ss.mu.Lock()
	s, err := ss.reserveShell(spec, rules, saved.Key)
	ss.mu.Unlock()
	switch {
	case err == nil:
		return ss.startShell(s, spec, saved)
	case shared && s != nil: // of two first uses at once one starts it for both
		return s.awaitStart()
	}
	return nil, err
}

// Directory is shell.Directory of a shell, the default one for the id "", also while there is none: then of the one
// that the next use starts.
func (ss *Shells) Directory(session, id, cwd string) string {
	dir, provider, s := ss.Begins(session, id)
	switch {
	case s != nil:
		return s.Directory(cwd)
	case provider != "":
		return shell.Join(dir, cwd)
	}
	return shell.Resolve(dir, cwd)
}

// Begins is the directory of a shell, the default one for the id "", and its provider; s is nil while there is none.
// Then they are of the one that the next use starts, and the directory at a provider may be "", which is not known.
func (ss *Shells) Begins(session, id string) (dir, provider string, s *Shell) {
	for _, one := range ss.List(session) {
		if one.ID == id || id == "" && one.Default {
			return one.Stats().Cwd, one.Spec().Provider, one
		}
	}
	provider, _ = ss.cfg.Hooks.Provider(session) // the start returns the error
	dir, _ = terminal.StartDir(provider, ss.cfg.Hooks.SavedState(session).Cwd)
	return dir, provider, nil
}

// check refuses invalid names. shell.Start checks the rest. Errors: ErrInvalid.
func (s *Spec) check() error {
	if err := terminal.CheckSession(s.Session); err != nil {
		return err
	}
	if s.ID != "" {
		return terminal.CheckNewName("shell", s.ID)
	}
	return nil
}

// rules is the sandbox of a new shell, nil for none. Errors: as terminal.NewSandbox.
func (s *Spec) rules(dataDir string) (*confine.Sandbox, error) {
	if s.provider != "" {
		return nil, terminal.CheckProvider(s.provider, s.Sandbox, nil)
	}
	if !filepath.IsAbs(s.Cwd) && s.Cwd != "" {
		return nil, nil // shell.Start refuses it
	}
	return terminal.NewSandbox(s.Sandbox, cmp.Or(s.Cwd, shell.HomeDir(s.Env)), dataDir, s.Env)
}

// defaultShell is the default shell of a session, which may still be starting, or nil. The lock is held.
func (ss *Shells) defaultShell(session string) *Shell {
	for _, s := range ss.byKey {
		if s.Default && s.Session == session && s.phase != shellEnding {
			return s
		}
	}
	return nil
}

// reserveShell reserves a name and an entry for a new shell, so that two requests for one name start one shell. key
// is the one of a row that waits for its shell, "" for a new one. The caller calls startShell, which gives both back
// on failure. It returns the default shell that exists already, with an error. The lock is held.
func (ss *Shells) reserveShell(spec Spec, rules *confine.Sandbox, key string) (*Shell, error) {
	if s := ss.defaultShell(spec.Session); s != nil && spec.Default {
		return s, fmt.Errorf("%w: session %q has a default shell, %q", ErrExists, spec.Session, s.ID)
	}
	here, own := 0, 0
	space := owner.Space(spec.Session)
	for _, s := range ss.byKey {
		if s.in(space) {
			own++
		}
		if s.Session != spec.Session {
			continue
		}
		here++
		if s.ID == spec.ID && s.phase != shellEnding {
			return nil, fmt.Errorf("%w: session %q has a shell %q; delete it or choose another id", ErrExists,
				spec.Session, spec.ID)
		}
	}
	if len(ss.byKey) >= ss.cfg.Max {
		return nil, fmt.Errorf("%w: %d shells are there, the most that this server holds (max_shells); delete one, or "+
			"try again later", terminal.ErrLimit, ss.cfg.Max)
	}
	if user, _ := owner.Split(space); user != "" && ss.cfg.MaxOf != nil {
		if limit := ss.cfg.MaxOf(user); limit > 0 && own >= limit {
			return nil, fmt.Errorf("%w: you have %d shells, the most that you may have (max_shells of the user); "+
				"delete one", terminal.ErrLimit, own)
		}
	}
	if here >= MaxPerSession {
		return nil, fmt.Errorf("%w: session %q has %d shells, the most that a session may have; delete one, or use "+
			"another session", terminal.ErrLimit, spec.Session, here)
	}
	if key == "" || ss.damaged.has(key) || ss.byKey[key] != nil {
		key = terminal.NewID()
	}
	done, ok := ss.life.Start()
	if !ok {
		return nil, terminal.ErrClosing
	}
	s := ss.newShell(shellRecord{Shell: key, ID: cmp.Or(spec.ID, key), Session: spec.Session, Default: spec.Default,
		CreatedAt: time.Now().UTC(), Sandbox: spec.Sandbox, Rules: rules})
	s.starting = done
	ss.byKey[key] = s
	return s, nil
}

// startShell starts a reserved shell. After it the shell can be found.
func (ss *Shells) startShell(s *Shell, spec Spec, kept SavedState) (*Shell, error) {
	defer s.starting()
	defer close(s.started)
	release, err := ss.cfg.Descriptors.Take(descriptors.Shell)
	if s.failure = err; err == nil {
		s.failure = ss.start(s, spec, kept)
		release()
	}
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if s.failure != nil {
		delete(ss.byKey, s.Key)
		return nil, s.failure
	}
	s.phase = shellFound
	return s, nil
}

// start starts a shell in a directory of its own. The record is written last: the next server removes a directory
// without one, which no client knows.
func (ss *Shells) start(s *Shell, spec Spec, kept SavedState) error {
	dir, err := ss.cfg.Store.MakeShell(s.Key)
	switch {
	case errors.Is(err, datadir.ErrNoSpace):
		return err
	case err != nil:
		return fmt.Errorf("%w: %w", shell.ErrNoFiles, err)
	}
	s.Shell, err = shell.Start(ss.shellConfig(s.Key, s.Session),
		shell.Spec{ID: s.Key, Name: s.ID, Dir: dir, Cwd: spec.Cwd, Env: spec.Env,
			Login: spec.Login, Timeout: spec.Timeout, MaxReply: spec.MaxReply, Provider: spec.provider,
			Sandbox: s.rules})
	if err == nil {
		if err = ss.saveShell(s, false); err == nil {
			err = ss.cfg.Hooks.Started(s, kept)
		}
		if err == nil {
			return nil
		}
		if e := s.Shell.Delete(ss.ctx); e != nil {
			ss.cfg.Log.Warn("something is left of a shell that could not be created", "key", s.Key, "error", e)
		}
	}
	if e := ss.cfg.Store.RemoveShell(s.Key); e != nil {
		ss.cfg.OnCleanup(e)
	}
	return err
}

// Find returns a shell by its id, of any session for "". Errors: ErrNotFound; ErrAmbiguous when shells of several
// sessions have the id.
func (ss *Shells) Find(session, id string) (*Shell, error) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	var found *Shell
	for _, s := range ss.byKey {
		if s.ID != id || !s.in(session) || s.phase != shellFound {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("%w: shells of several sessions are called %q", terminal.ErrAmbiguous, id)
		}
		found = s
	}
	if found == nil {
		return nil, fmt.Errorf("%w: %q", ErrNotFound, id)
	}
	return found, nil
}

// List returns the shells of a session, all for "", oldest first.
func (ss *Shells) List(session string) []*Shell {
	var list []*Shell
	ss.mu.Lock()
	for _, s := range ss.byKey {
		if s.phase != shellStarting && s.in(session) {
			list = append(list, s)
		}
	}
	ss.mu.Unlock()
	slices.SortFunc(list, func(a, b *Shell) int {
		return cmp.Or(a.created.Compare(b.created), cmp.Compare(a.Key, b.Key))
	})
	return list
}

// Delete ends a shell with all its processes and removes its files. It continues after the end of ctx. A second
// Delete is no error. Errors: as shell.Delete, after which the next server tries again; ErrClosing; ctx.Err().
func (ss *Shells) Delete(ctx context.Context, s *Shell) error {
	ss.mu.Lock()
	if s.phase == shellFound {
		if !ss.life.TryGo(func() { ss.remove(s) }) {
			ss.mu.Unlock()
			return terminal.ErrClosing
		}
		s.phase = shellEnding
	}
	ss.mu.Unlock()
	select {
	case <-s.gone:
		return s.remains
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// remove ends a shell in the phase shellEnding and removes its files. A shell that cannot be ended or removed keeps
// its entry and its record, so that the next server tries again.
func (ss *Shells) remove(s *Shell) {
	defer close(s.gone)
	if err := ss.saveShell(s, true); err != nil { // it matters only if this server dies now
		ss.cfg.Log.Warn("cannot note that a shell is deleted", "key", s.Key, "error", err)
	}
	s.remains = s.Shell.Delete(ss.ctx)
	ss.cfg.Hooks.Ended(s)
	if s.remains != nil {
		ss.cfg.Log.Warn("cannot delete a shell", "key", s.Key, "session", s.Session, "id", s.ID, "error", s.remains)
		return
	}
	if s.remains = ss.cfg.Store.RemoveShell(s.Key); s.remains != nil {
		ss.cfg.OnCleanup(s.remains)
	}
	ss.mu.Lock()
	delete(ss.byKey, s.Key)
	ss.mu.Unlock()
	ss.cfg.Hooks.Removed(s.Key)
}

// DeletesAtOnce is how many shells of a session end at the same time: an end mostly waits for processes, but each
// look for them reads /proc.
const DeletesAtOnce = 16

// DeleteSession ends all shells of a session, of all sessions for "", several at a time, waits for those that end
// already, as an earlier server's, and removes the damaged ones. Errors: as Delete.
func (ss *Shells) DeleteSession(ctx context.Context, session string) error {
	err := parallel.Each(ss.List(session), DeletesAtOnce, func(s *Shell) error { return ss.Delete(ctx, s) })
	return errors.Join(err, ss.damaged.remove(session, ss.cfg.Store))
}

// Close closes the files of all shells in this process. The shells continue.
func (ss *Shells) Close() {
	for _, s := range ss.List("") {
		s.Detach()
	}
}

// Lookup returns the shell of a session with a key, nil when there is none.
func (ss *Shells) Lookup(session, key string) *Shell {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if s := ss.byKey[key]; s != nil && s.phase == shellFound && s.Session == session {
		return s
	}
	return nil
}

// ByKey returns the shell with a key, in whatever phase; nil when there is none.
func (ss *Shells) ByKey(key string) *Shell {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	return ss.byKey[key]
}
