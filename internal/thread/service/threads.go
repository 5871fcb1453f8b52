// Package service joins the rows of threads with what lives: it opens a thread for each use, writes
// down what its terminals and shells do, ends what its policy ends, and reconciles the rows with the
// live processes after a start.
package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/evertty/evertty/internal/conversation/store"
	"github.com/evertty/evertty/internal/lifetime"
	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/local"
	"github.com/evertty/evertty/internal/shell/registry"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/internal/thread"
)

// Config of Threads. Life and Log must be given.
type Config struct {
	Life *lifetime.Lifetime
	Log  *slog.Logger

	// Store has the rows; nil is none, and NoStore says why: then nothing is durable but screens
	// and shells.
	Store   Store
	NoStore error
	// Copied says that the data directory is a copy: instances of providers belong to the original.
	Copied bool
	// Conversations is the configuration of conversations; its Store is of the same database, or nil
	// for none. Threads sets Notify and Failed.
	Conversations store.Config

	// Policy is the policy of threads that bring none; nil is thread.DefaultPolicy. PolicyChosen
	// says that the operator set it: see processes.end.
	Policy       *thread.Policy
	PolicyChosen bool

	// Providers are where processes can run beside this machine, by name. With any of them Relay is
	// needed. ProviderSetup says how to set up each provider that a server can have, by name.
	Providers     map[string]RemoteProvider
	ProviderSetup map[string]string
	Relay         Relay
}

// parts are the parts of the server that threads join. Constant after Threads.Open.
type parts struct {
	ctx       context.Context
	life      *lifetime.Lifetime
	log       *slog.Logger
	terminals *terminal.Registry
	shells    *registry.Shells
}

// Threads has the threads of a server. A thread's id is the session of its terminals and shells; the
// row of a terminal has the terminal's id, the row of a shell its key. Without a database every
// method fails with ErrNoStore, and terminals and shells work.
//
// Safe for concurrent use. See database for the order of locks.
type Threads struct {
	*database
	*parts
	*Leases
	*States
	*Permissions
	*Conversations
	*hooks
	*remote

	lifecycle *lifecycle
	expiry    *expiry
	processes *processes
	recorder  *recorder
	pauses    *pauses
	watchers  *watchers
	noStore   error // why the database cannot be used; nil also when the server has none
	copied    bool
}

// New makes Threads with their hooks. Open has to follow before the server recovers anything.
func New(cfg Config) *Threads {
	if cfg.Conversations.Enforcer == nil {
		cfg.Conversations.Enforcer = permission.NewEnforcer(permission.Rules{})
	}
	policy := thread.DefaultPolicy()
	if cfg.Policy != nil {
		policy = *cfg.Policy
	}
	w := &watchers{}
	db := &database{store: cfg.Store, why: cmp.Or(cfg.NoStore, errors.New("this server has none")), policy: policy,
		chosen: cfg.PolicyChosen, provider: thread.Local, providers: map[string]provider.Lifecycle{},
		setup: cfg.ProviderSetup, notify: func(e thread.Event) { w.notify(e.ThreadID) }, memory: newMemory(time.Now)}
	t := &Threads{database: db, parts: &parts{ctx: cfg.Life.Context(), life: cfg.Life, log: cfg.Log},
		watchers: w, noStore: cfg.NoStore, copied: cfg.Copied}
	t.join(cfg)
	return t
}

// join makes the parts of t and joins them.
func (t *Threads) join(cfg Config) {
	db, p := t.database, t.parts
	t.pauses = &pauses{database: db, parts: p, frozen: map[string]time.Time{}, gone: map[string]bool{}}
	t.recorder = newRecorder(db, p, t.pauses)
	t.processes = &processes{database: db, parts: p, pauses: t.pauses}
	here := local.New(local.Config{Lookup: t.processes.localInstance})
	if db.isOpen() {
		db.providers[thread.Local] = here
		for name, p := range cfg.Providers {
			db.providers[name] = p.Provider
		}
	}
	t.Leases = &Leases{database: db, recorder: t.recorder, computeChanged: t.pauses.computeChanged}
	act := newActivity(db, p)
	act.processes, act.inUse, act.settling = t.processes, t.processes.inUse, t.processes.settling
	t.expiry = &expiry{database: db, parts: p, activity: act, leases: t.Leases,
		settle: func(ctx context.Context) { _ = t.recorder.current(ctx, "") }, end: t.processes.end}
	t.lifecycle = &lifecycle{database: db, expiry: t.expiry, leases: t.Leases}
	t.remote = &remote{database: db, parts: p, leases: t.Leases, remotes: cfg.Providers, relay: cfg.Relay}
	t.hooks = &hooks{database: db, parts: p, lifecycle: t.lifecycle, activity: act, recorder: t.recorder,
		remote: t.remote, pauses: t.pauses, rules: cfg.Conversations.Enforcer}
	t.Conversations = &Conversations{database: db, parts: p, lifecycle: t.lifecycle, recorder: t.recorder,
		cfg: cfg.Conversations}
	t.Conversations.cfg.Notify = t.watchers.notify
	t.Conversations.cfg.Failed = func(err error) { p.log.Error("trouble with the records of harnesses", "error", err) }
	t.Permissions = &Permissions{conversations: t.Conversations, leases: t.Leases, threads: t,
		enforcer: cfg.Conversations.Enforcer}
	t.States = &States{database: db, parts: p, lifecycle: t.lifecycle, recorder: t.recorder, hooks: t.hooks,
		remote: t.remote}
	t.processes.leases, t.processes.remote = t.Leases, t.remote
	t.pauses.leases, t.pauses.processes, t.pauses.local = t.Leases, t.processes, here
	t.recorder.hooks, t.remote.hooks = t.hooks, t.hooks
}

// Open has threads work with the terminals and shells of a server, of which there are none yet, and
// takes over what the database has. Errors: any of making the directory of Relay.
func (t *Threads) Open(terminals *terminal.Registry, shells *registry.Shells) error {
	t.terminals, t.shells = terminals, shells
	if err := t.remote.open(); err != nil {
		return err
	}
	if t.isOpen() {
		if err := t.takeOver(); err != nil {
			t.store, t.why, t.noStore = nil, err, err
		} else {
			t.pauses.remember()
			t.Conversations.open()
		}
	}
	t.loadPermissions()
	return nil
}

// takeOver loads the live sessions, and forgets instances that belong to the original of a copy.
func (t *Threads) takeOver() error {
	if err := t.load(); err != nil {
		t.log.Error("the records of threads cannot be read", "error", err)
		return err
	}
	if !t.copied {
		return nil
	}
	list, err := t.forgetInstances()
	if err != nil { // else it would pause and destroy instances of the original
		t.log.Error("the records of threads are a copy and cannot be made its own", "error", err)
		return err
	}
	for _, i := range list {
		t.log.Warn("an instance stays with the directory that this one is a copy of", "lease", i.Lease,
			"instance", i.Session)
	}
	return nil
}

// loadPermissions brings the permissions of threads into memory, from their copy where there is no
// database. Where neither can be read everything is denied.
func (t *Threads) loadPermissions() {
	load := t.enforcer.LoadCopy
	if t.manager != nil {
		load = t.manager.LoadPermissions
	}
	if err := load(); err != nil {
		t.log.Error("the permissions of threads cannot be read; everything is denied that they could forbid",
			"error", err)
		t.enforcer.FailClosed(err)
	}
}

// bootID tells one run of the machine from the next. An empty one makes every process of an earlier
// server lost.
func bootID() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(b))
}

// Begin starts the goroutines that write the rows and end sessions.
func (t *Threads) Begin() {
	if !t.isOpen() {
		close(t.recorder.done)
		return
	}
	t.recorder.reconcile()
	t.pauses.settle()
	go t.recorder.run()
	t.life.Go(t.expiry.run)
	t.life.Go(t.expiry.chargeLoop)
	if m := t.manager; m != nil {
		t.life.Go(func() { m.Run(t.ctx) })
	}
}

// Close writes all that waits. Nothing may change any more.
func (t *Threads) Close() {
	if !t.isOpen() {
		return
	}
	t.expiry.sweeping.Wait()
	close(t.recorder.stop)
	<-t.recorder.done
	t.Conversations.close()
	if err := t.expiry.flush(); err != nil {
		t.log.Warn("the last activity of sessions is not written", "error", err)
	}
}

// Problems returns what cannot be written or read now, one sentence each.
func (t *Threads) Problems() (list []string) {
	if t.noStore != nil {
		list = append(list, fmt.Sprintf("%v: %v", ErrNoStore, t.noStore))
	}
	if err := t.enforcer.FailedClosed(); err != nil {
		list = append(list, fmt.Sprintf("the permissions of threads cannot be read, and everything is denied: %v", err))
	}
	if text := t.recorder.trouble.Load(); text != nil {
		list = append(list, *text)
	}
	if m := t.manager; m != nil && m.Trouble() != nil {
		list = append(list, fmt.Sprintf("a record file cannot be saved: %v", m.Trouble()))
	}
	return list
}
