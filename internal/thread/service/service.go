// Package service joins the rows of threads with what lives: it opens a thread for each
// use, writes down what its terminals and shells do, ends what its policy ends, and
// brings the rows in line with what is there after a start.
package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evertty/evertty/internal/conversation/store"
	"github.com/evertty/evertty/internal/lifetime"
	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/local"
	"github.com/evertty/evertty/internal/shell"
	"github.com/evertty/evertty/internal/shell/registry"
	"github.com/evertty/evertty/internal/startdir"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/internal/thread/lifecycle"
	"github.com/evertty/evertty/stream"
)

// ErrNoStore is what everything durable answers when the database could not be opened. Terminals
// and shells work without it.
var ErrNoStore = errors.New("there are no records of threads")

// Service is the durable layer: the records of threads and who writes them. Without a database its
// Manager is nil.
//
// The id of a thread is the session of terminals and shells. A terminal's row has the terminal's
// id, a shell's row its key. The hot path reads only memory (Manager.AuthorizeCommand, TouchInput);
// the recorder writes the rest.
type Service struct {
	Manager       *lifecycle.Manager // nil without records
	cfg           Config
	ctx           context.Context
	life          *lifetime.Lifetime
	terminals     *terminal.Registry
	shells        *registry.Shells
	enforcer      *permission.Enforcer
	conversations *store.Manager // of harnesses; nil without a store
	why           error          // of no Manager
	boot          string
	recorder      recorder
	watchers      watchers
	pauses        *pauses
	doors         doors
	local         *local.Provider
	providers     map[string]provider.Lifecycle // with local
	wake          chan struct{}                 // has a value when a session is over its budget
	sweeping      sync.WaitGroup

	trouble atomic.Pointer[string] // why the records cannot be written; nil when they can

	mu  sync.Mutex               // a leaf
	cpu map[string]time.Duration // processor time of threads with a budget of it, as of the last look
}

// Config is what a durable is made of.
type Config struct {
	Life *lifetime.Lifetime
	Log  *slog.Logger
	// Store are the threads with their rows; nil is none, and NoStore why: then nothing is durable
	// but screens and shells.
	Store   thread.Store
	NoStore error
	// Copied says that the data directory is a copy: instances of providers are the first one's.
	Copied bool
	// Conversations is what conversations are kept with; its Store is of the same database, or nil
	// for none. Notify and Failed are the service's.
	Conversations store.Config
	// Policy is that of threads that bring none; nil is thread.DefaultPolicy. PolicyChosen says
	// that somebody wanted it: see end.
	Policy       *thread.Policy
	PolicyChosen bool
	// Providers are where processes can run beside this machine, by name. With any of them Relay is
	// needed.
	Providers map[string]RemoteProvider
	// ProviderSetup says how to set up each provider that a server can have, by name.
	ProviderSetup map[string]string
	Relay         Relay
}

// New makes a service whose hooks can be given away. Open has to follow before anything is brought
// back.
func New(cfg Config) *Service {
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if cfg.Conversations.Enforcer == nil {
		cfg.Conversations.Enforcer = permission.NewEnforcer(permission.Rules{})
	}
	if cfg.Policy == nil {
		p := thread.DefaultPolicy()
		cfg.Policy = &p
	}
	return &Service{cfg: cfg, life: cfg.Life, ctx: cfg.Life.Context(), enforcer: cfg.Conversations.Enforcer,
		why: cfg.NoStore, boot: bootID(), recorder: newRecorder(),
		wake: make(chan struct{}, 1), cpu: map[string]time.Duration{}}
}

// Open has the service work with the terminals and shells of a server, of which none is there yet,
// and opens the records.
func (d *Service) Open(t *terminal.Registry, s *registry.Shells) error {
	d.terminals, d.shells = t, s
	if err := d.openRelay(); err != nil {
		return err
	}
	d.openStore()
	return nil
}

// openStore begins with what the database has. It happens before anything is brought back.
func (d *Service) openStore() {
	defer d.loadPermissions()
	if d.cfg.Store == nil {
		if d.why == nil {
			d.why = errors.New("this server has none")
		}
		return
	}
	d.pauses = newPauses(d)
	d.local = local.New(local.Config{Lookup: d.localInstance})
	d.providers = map[string]provider.Lifecycle{thread.Local: d.local}
	for name, p := range d.cfg.Providers {
		d.providers[name] = p.Provider
	}
	manager, err := lifecycle.NewManager(lifecycle.Config{Store: d.cfg.Store, Policy: d.cfg.Policy,
		Chosen: d.cfg.PolicyChosen, Providers: d.providers, ProviderSetup: d.cfg.ProviderSetup,
		ComputeChanged: d.pauses.computeChanged,
		Cwd:            d.firstDir, InUse: d.inUse, Settle: d.settle, End: d.end,
		Notify: func(e thread.Event) { d.watchers.notify(e.Thread) }})
	if err != nil {
		d.why = err
		d.cfg.NoStore = err
		d.cfg.Log.Error("the records of threads cannot be read", "error", err)
		return
	}
	if d.cfg.Copied {
		list, err := manager.ForgetInstances()
		if err != nil {
			d.why, d.cfg.NoStore = err, err // else it would pause and destroy what is not its own
			d.cfg.Log.Error("the records of threads are a copy and cannot be made its own", "error", err)
			return
		}
		for _, i := range list {
			d.cfg.Log.Warn("an instance stays with the directory that this one is a copy of", "lease", i.Lease,
				"instance", i.Session)
		}
	}
	d.Manager = manager
	d.pauses.remember()
	d.openConversations()
}

// bootID tells one run of the machine from the next.
func bootID() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // "" only makes every process of an earlier server lost
	return strings.TrimSpace(string(b))
}

// Begin starts what writes the records and ends sessions.
func (d *Service) Begin() {
	if d.Manager == nil {
		close(d.recorder.done)
		return
	}
	d.reconcile()
	d.pauses.settle()
	go d.record()
	d.life.Go(d.maintenanceLoop)
	d.life.Go(d.chargeLoop)
	d.runConversations()
}

// Close writes what is left. Nothing changes any more.
func (d *Service) Close() {
	if d.Manager == nil {
		return
	}
	d.sweeping.Wait()
	close(d.recorder.stop)
	<-d.recorder.done
	d.closeConversations()
	if err := d.Manager.Flush(); err != nil {
		d.cfg.Log.Warn("the last activity of sessions is not written", "error", err)
	}
}

// available says why there are no records, nil when there are. Errors: ErrNoStore.
func (d *Service) available() error {
	if d.Manager == nil {
		return fmt.Errorf("%w: %w", ErrNoStore, d.why)
	}
	return nil
}

// currentPatience bounds the wait of somebody who looks for what was done a moment ago.
const currentPatience = 5 * time.Second

// current waits until everything that has happened in a thread, "" is none, is in the records.
// Errors: ErrNoStore, the reason of ctx.
func (d *Service) current(ctx context.Context, thread string) error {
	if err := d.available(); err != nil {
		return err
	}
	limit, cancel := context.WithTimeout(ctx, currentPatience)
	defer cancel()
	if thread != "" {
		d.refresh(limit, thread, func(string) bool { return true })
	}
	_ = d.flush(limit)
	return ctx.Err()
}

// refresh notes the directories of those terminals and shells of a thread whose ids are wanted.
func (d *Service) refresh(ctx context.Context, thread string, wanted func(id string) bool) {
	if d.pauses.isFrozen(thread) {
		return // what stands still changes nothing
	}
	for _, s := range d.shells.List(thread) {
		if wanted(s.Key) {
			_ = s.Settled(ctx) // what hangs is told as it was
		}
	}
	for _, t := range d.terminals.Running(thread) {
		if wanted(t.ID) {
			d.noteCwd(t, t.RefreshCwd())
		}
	}
}

func isMissing(err error) bool { return errors.Is(err, thread.ErrNotFound) }

// firstDir is where the first process of a terminal starts when nobody said it.
func (d *Service) firstDir(name string) string {
	if name == thread.Local {
		return startdir.Home()
	}
	return "" // where its instances begin: the first command tells
}

// inUse says whether people look at the terminals of a thread, or a program there has printed what
// was not charged yet.
func (d *Service) inUse(thread string) bool {
	return slices.ContainsFunc(d.terminals.Running(thread), func(t *terminal.Terminal) bool {
		return t.AttachedViewers() > 0 || t.Printed() > row(t).charged.Load()
	})
}

// openPatience bounds how long a command waits for its thread: for a provider to resume it, for the
// processes of an old session to end.
const openPatience = 60 * time.Second

// openThread opens a thread for a use: lifecycle.Manager.Open with a timeout. Database errors never
// block a terminal: it returns nil then, and /healthz says why. at is where what uses it runs, ""
// is here. Errors: thread.ErrDeleting, ErrProvider, ErrNoProvider, ErrConflict, ErrInvalid, ErrUnsupported (the
// thread's processes run elsewhere), the reason of ctx.
func (d *Service) openThread(ctx context.Context, threadID string, u thread.Use, at string) (thread.Layers, error) {
	leave, err := d.doors.enter(threadID)
	if err != nil {
		return thread.Layers{}, err
	}
	defer leave()
	ctx, cancel := context.WithTimeout(ctx, openPatience)
	defer cancel()
	l, err := d.Manager.Open(ctx, threadID, u)
	if errors.Is(err, thread.ErrConflict) && u.Name != "" {
		u.Name = "" // a shell and a terminal may be called the same, rows not
		l, err = d.Manager.Open(ctx, threadID, u)
	}
	switch {
	case err == nil:
	case ctx.Err() != nil || isRefusal(err) || at != "":
		return l, err
	case errors.Is(err, thread.ErrProvider), errors.Is(err, thread.ErrNoProvider):
		return l, err
	default:
		d.failed(err)
		return l, nil
	}
	if l.Lease.Provider != cmp.Or(at, thread.Local) {
		return l, fmt.Errorf("%w: thread %s is at %s, not at %s", thread.ErrUnsupported, threadID, l.Lease.Provider,
			cmp.Or(at, thread.Local))
	}
	return l, nil
}

// authorize lets a command begin in a shell. In an open session it is a look into memory. Errors:
// thread.ErrBudget, and those of ready.
func (d *Service) authorize(s *registry.Shell) error {
	if d.Manager == nil {
		return nil
	}
	err := thread.ErrExpired
	if shellRow(s).recorded.Load() && !d.pauses.isFrozen(s.Session) {
		err = d.Manager.AuthorizeCommand(s.Session)
	}
	if errors.Is(err, thread.ErrExpired) {
		if _, err := d.openThread(d.ctx, s.Session, useOfShell(s), s.Spec().Provider); err != nil {
			return err
		}
		d.recordShell(s)
		err = d.Manager.AuthorizeCommand(s.Session)
	}
	if errors.Is(err, thread.ErrBudget) {
		d.wakeMaintenance()
		return err
	}
	return nil // a session without time ends again at once; its command runs
}

// touch is activity of somebody who types, which lets a paused thread go on and makes a new session
// when the old one is over. Errors: those of ready.
func (d *Service) touch(ctx context.Context, t *terminal.Terminal) error {
	if d.Manager == nil {
		return nil
	}
	if row(t).recorded.Load() && !d.pauses.isFrozen(t.Thread()) && d.Manager.TouchInput(t.Thread()) == nil {
		return nil
	}
	if _, err := d.openThread(ctx, t.Thread(), useOf(t), t.Spec().Provider); err != nil {
		return err
	}
	d.recordTerminal(t)
	return nil
}

// use is the row of a shell.
func useOfShell(s *registry.Shell) thread.Use {
	return thread.Use{Kind: thread.Shell, Terminal: s.Key, Name: s.ID, Cwd: terminal.Absolute(s.Stats().Cwd)}
}

// use is the row of a terminal.
func useOf(t *terminal.Terminal) thread.Use {
	return thread.Use{Kind: thread.PTY, Terminal: t.ID, Name: t.Spec().Name, Cmd: t.Spec().Cmd, Cols: *t.Spec().Cols,
		Rows: *t.Spec().Rows, Cwd: terminal.Absolute(t.Cwd()), Env: t.Spec().Env}
}

// recordShell notes the process and the state of a shell whose row is there.
func (d *Service) recordShell(s *registry.Shell) {
	if shellRow(s).recorded.Swap(true) {
		return
	}
	if p, ok := proc.Find(s.Stats().PID); ok {
		d.note(func(b *lifecycle.Batch) error { return b.Begin(s.Key, d.process(p)) })
	}
	d.noteState(s)
}

// recordTerminal notes the process of a terminal whose row is there, and where it is: its program
// may have ended already.
func (d *Service) recordTerminal(t *terminal.Terminal) {
	if row(t).recorded.Swap(true) {
		return
	}
	defer func() { d.noteCwd(t, t.Cwd()) }()
	if !t.Running() {
		return
	}
	if p, ok := proc.Find(t.Process().PID()); ok {
		d.note(func(b *lifecycle.Batch) error { return b.Begin(t.ID, d.process(p)) })
	}
}

func (d *Service) process(p proc.Process) lifecycle.Process {
	return lifecycle.Process{PID: p.PID, PIDStart: int64(p.Start), Boot: d.boot}
}

// noteState notes the state of a shell when it is another one.
func (d *Service) noteState(s *registry.Shell) {
	state := s.State()
	if !strings.HasPrefix(state.Cwd, "/") {
		return
	}
	d.note(func(b *lifecycle.Batch) error {
		return b.Save(s.Key, thread.State{Cwd: state.Cwd, Env: state.Delta, Unset: state.Unset})
	})
}

// noteCwd notes the directory of a terminal's program and what its shell exports when they are
// others than were noted last: a rollback stays until something new is seen. Exports stay as they
// are when nothing runs that shows them.
func (d *Service) noteCwd(t *terminal.Terminal, dir string) {
	r := row(t)
	if !r.recorded.Load() {
		return
	}
	moved := false
	if strings.HasPrefix(dir, "/") {
		old := r.noted.Swap(&dir)
		moved = old == nil || *old != dir
	}
	e, began, seen := shown(t)
	seen = seen && !e.same(r.exported.Swap(e))
	if !moved && !seen {
		return
	}
	d.note(func(b *lifecycle.Batch) error {
		return b.Change(t.ID, func(s thread.State) thread.State {
			if moved {
				s.Cwd = dir
			}
			if seen {
				s = e.applied(s, began)
			}
			return s
		})
	})
}

// terminalRow is what the service keeps with a live terminal.
type terminalRow struct {
	recorded atomic.Bool             // its row is in the records
	noted    atomic.Pointer[string]  // the directory that was noted there last
	exported atomic.Pointer[exports] // what its shell exported, as noted there last
	charged  atomic.Uint64           // what of Printed was charged
}

func row(t *terminal.Terminal) *terminalRow { return t.Data.(*terminalRow) }

// liveShellRow is what the service keeps with a shell.
type liveShellRow struct {
	recorded atomic.Bool            // its row is in the records
	charged  atomic.Int64           // what of Printed was charged
	instance atomic.Pointer[string] // that the last command elsewhere ran on; nil before the first of this server
}

func shellRow(s *registry.Shell) *liveShellRow { return s.Data.(*liveShellRow) }

// shellStarted makes the row of a shell that has started, or brings the shell to the state of the
// row that it was started for.
func (d *Service) shellStarted(s *registry.Shell, kept registry.SavedState) error {
	if d.Manager == nil {
		return nil
	}
	if _, err := d.openThread(d.life.Opening(), s.Session, useOfShell(s), s.Spec().Provider); err != nil {
		return err
	}
	err := d.restoreState(s, kept)
	d.recordShell(s)
	return err
}

// shellMoved records a change of a shell's process.
func (d *Service) shellMoved(s *registry.Shell, e shell.ProcessEvent) {
	if !shellRow(s).recorded.Load() {
		return // recordShell and reconcile note it
	}
	switch e.Kind {
	case shell.ProcessStarted:
		d.note(func(b *lifecycle.Batch) error { return b.Begin(s.Key, d.process(e.Process)) })
	case shell.ProcessEnded:
		end := lifecycle.RuntimeEnd{Code: &e.ExitCode, Lost: e.ExitCode < 0}
		if end.Lost {
			end.Code = nil
		}
		d.note(func(b *lifecycle.Batch) error { return b.End(s.Key, end) })
	case shell.StateCaptured:
		d.noteState(s)
	}
}

// Problems are what the records cannot do now, one sentence each.
func (d *Service) Problems() (list []string) {
	if err := d.cfg.NoStore; err != nil {
		list = append(list, fmt.Sprintf("there are no records of threads: %v", err))
	}
	if err := d.enforcer.FailedClosed(); err != nil {
		list = append(list, fmt.Sprintf("the permissions of threads cannot be read, and everything is denied: %v", err))
	}
	if text := d.trouble.Load(); text != nil {
		list = append(list, *text)
	}
	if b := d.conversations; b != nil && b.Trouble() != nil {
		list = append(list, fmt.Sprintf("a record file cannot be saved: %v", b.Trouble()))
	}
	return list
}

// TerminalHooks are what the service wants to know of terminals.
func (d *Service) TerminalHooks() terminal.Hooks {
	return terminal.Hooks{
		NewData:     func(*terminal.Terminal) any { return &terminalRow{} },
		Enter:       d.doors.enter,
		Provider:    d.providerOf,
		Program:     d.program,
		DropProgram: d.dropProgram,
		Authorize:   d.touch,
		Paused:      d.isPaused,
		Next:        d.nextProgram,
		HideSecrets: thread.HideSecrets,
		Moved:       d.noteCwd,
		Exited:      d.terminalEnded,
		Removed: func(t *terminal.Terminal) {
			d.note(func(b *lifecycle.Batch) error { return b.DeleteTerminal(t.ID) })
		},
	}
}

// terminalEnded notes the end of a terminal's program.
func (d *Service) terminalEnded(t *terminal.Terminal, e stream.Exit) {
	end := lifecycle.RuntimeEnd{Code: e.Code, Signal: e.Signal, Lost: e.Code == nil && e.Signal == ""}
	d.note(func(b *lifecycle.Batch) error { return b.End(t.ID, end) })
}

// ShellHooks returns the hooks by which the service follows shells.
func (d *Service) ShellHooks() registry.Hooks {
	return registry.Hooks{
		NewData:        func(*registry.Shell) any { return &liveShellRow{} },
		Enter:          d.doors.enter,
		Provider:       d.providerName,
		SavedState:     d.unstartedState,
		Started:        d.shellStarted,
		Admit:          d.authorize,
		Paused:         d.isPaused,
		ProcessChanged: d.shellMoved,
		Changed:        d.commandChanged,
		Ended:          d.chargeLast,
		Removed:        func(key string) { d.note(func(b *lifecycle.Batch) error { return b.DeleteTerminal(key) }) },
	}
}

// unstartedState is the state of a session's first shell of which there is only the row.
func (d *Service) unstartedState(session string) registry.SavedState {
	row, ok := d.unstartedShell(session)
	if !ok {
		return registry.SavedState{}
	}
	return registry.SavedState{Key: row.ID, Cwd: row.State.Cwd, Env: row.State.Env, Unset: row.State.Unset}
}

// chargeLast charges what a shell that ends has printed: nobody finds it any more.
func (d *Service) chargeLast(s *registry.Shell) {
	if n := newOutputOf(s); n > 0 && d.Manager != nil {
		d.charge(s.Session, thread.Usage{Bytes: n})
	}
}
