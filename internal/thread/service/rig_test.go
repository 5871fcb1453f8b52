package service

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/lifetime"
	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/internal/thread/sqlite"
)

// rig is Threads on a real database, with a clock and a cloud that a test turns. It has no terminals
// and shells: what it would ask them is in its own fields.
type rig struct {
	*Threads
	t     *testing.T
	path  string
	store *sqlite.Store
	cloud *cloud
	clock *handClock

	chosen bool                  // see Config.PolicyChosen
	settle func(context.Context) // see expiry.settle
	end    func(ctx context.Context, list []thread.Runtime) error
	mu     sync.Mutex
	told   []thread.Event
	ended  []string // reasons
	looks  int      // viewers of every thread
	after  func()   // at the end of end
}

type handClock struct {
	mu sync.Mutex
	at time.Time
}

func (c *handClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *handClock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

var noon = time.Date(2026, 2, 8, 10, 0, 0, 0, time.UTC)

func newRig(t *testing.T, change ...func(*rig)) *rig {
	t.Helper()
	t.Parallel()
	r := &rig{t: t, path: filepath.Join(t.TempDir(), "evertty.db"), clock: &handClock{at: noon},
		settle: func(context.Context) {}}
	r.end = func(context.Context, []thread.Runtime) error { return nil }
	r.cloud = &cloud{instances: map[string]thread.Observed{}, order: func(what string) { r.note(what) }}
	for _, f := range change {
		f(r)
	}
	r.ok(os.WriteFile(r.path, empty(t), 0o600))
	r.start()
	t.Cleanup(func() { _ = r.store.Close() })
	return r
}

// emptyFile is a database that was made and closed; all tests begin with a copy, for making one
// takes longer than most of them.
var emptyFile struct {
	once sync.Once
	data []byte
	err  error
}

func empty(t *testing.T) []byte {
	t.Helper()
	e := &emptyFile
	e.once.Do(func() {
		path := filepath.Join(t.TempDir(), "empty.db")
		var s *sqlite.Store
		if s, e.err = sqlite.Open(path); e.err == nil {
			if e.err = s.Close(); e.err == nil {
				e.data, e.err = os.ReadFile(path)
			}
		}
	})
	if e.err != nil {
		t.Fatal(e.err)
	}
	return e.data
}

func (r *rig) note(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = append(r.ended, what)
}

func (r *rig) notes() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.ended)
}

func (r *rig) start() {
	r.t.Helper()
	var err error
	if r.store, err = sqlite.Open(r.path); err != nil {
		r.t.Fatal(err)
	}
	r.Threads = r.threads(r.store)
	r.ok(r.load())
}

// threads are those of a server whose threads are made in the cloud.
func (r *rig) threads(s Store) *Threads {
	t := New(Config{Life: lifetime.New(), Store: s, PolicyChosen: r.chosen, Log: slog.New(slog.DiscardHandler)})
	t.memory = newMemory(r.clock.now)
	t.provider = "e2b"
	for _, name := range []string{thread.Local, "e2b", "daytona"} {
		t.database.providers[name] = cloudOf{r.cloud, name}
	}
	t.notify = func(e thread.Event) { r.mu.Lock(); defer r.mu.Unlock(); r.told = append(r.told, e) }
	t.expiry.inUse = func(string) bool { r.mu.Lock(); defer r.mu.Unlock(); return r.looks > 0 }
	t.expiry.settling = func(string) bool { return false }
	t.expiry.settle = func(ctx context.Context) { r.settle(ctx) }
	t.expiry.end = func(ctx context.Context, _ string, list []thread.Runtime, reason string) error {
		r.note("end " + reason)
		if r.after != nil {
			r.after()
		}
		return r.end(ctx, list)
	}
	t.computeChanged = func(thread.Lease, thread.Observed) {}
	return t
}

// restart is another server on the same file; between runs in between.
func (r *rig) restart(between ...func()) {
	r.t.Helper()
	r.ok(r.expiry.flush())
	r.ok(r.store.Close())
	for _, f := range between {
		f()
	}
	r.start()
}

// raw runs SQL as somebody's sqlite3 does, without foreign keys.
func (r *rig) raw(query string, args ...any) {
	r.t.Helper()
	db, err := sql.Open("sqlite", r.path)
	r.ok(err)
	defer db.Close()
	_, err = db.Exec(query, args...)
	r.ok(err)
}

func (r *rig) ok(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) refused(err, want error) {
	r.t.Helper()
	if !errors.Is(err, want) {
		r.t.Fatalf("error %v, want %v", err, want)
	}
}

func (r *rig) open(thread string, u thread.Use) thread.Layers {
	r.t.Helper()
	l, err := r.lifecycle.open(r.t.Context(), thread, u)
	r.ok(err)
	return l
}

func (r *rig) status(threadID string) thread.Layers {
	r.t.Helper()
	l, err := r.lifecycle.status(r.t.Context(), threadID, thread.Use{})
	r.ok(err)
	return l
}

// sweptNow has the counts of one sweep.
type sweptNow struct{ Closed, Warned int }

func (r *rig) sweep() sweptNow {
	r.t.Helper()
	before := r.announced()
	r.ok(r.expiry.sweep(r.t.Context()))
	after := r.announced()
	return sweptNow{after.Closed - before.Closed, after.Warned - before.Warned}
}

// announced counts the events of sweeps.
func (r *rig) announced() (n sweptNow) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.told {
		switch e.Type {
		case thread.SessionClosed:
			n.Closed++
		case thread.SessionExpiring:
			n.Warned++
		}
	}
	return n
}

// save is what the recorder writes of a state.
func (r *rig) save(terminal, cwd string, env map[string]string, unset ...string) thread.Terminal {
	r.t.Helper()
	state := thread.State{Cwd: cwd, Env: env, Unset: unset}
	r.ok(r.update(func(c *change) error {
		return c.saved(terminal, func(thread.State) thread.State { return state })
	}))
	t, err := r.terminal(terminal)
	r.ok(err)
	return t
}

// command begins a command, which its session has authorized.
func (r *rig) command(terminal string) thread.Command {
	r.t.Helper()
	t, err := r.terminal(terminal)
	r.ok(err)
	r.ok(r.memory.authorizeCommand(t.Thread))
	return r.begin(thread.Command{ID: newID("cmd"), Terminal: terminal, Line: "true", Cwd: "/",
		Status: thread.CommandRunning})
}

func (r *rig) begin(k thread.Command) thread.Command {
	r.t.Helper()
	r.ok(r.update(func(c *change) error { return c.command(k) }))
	got, err := r.commandRow(k.ID)
	r.ok(err)
	return got
}

// finish notes the end of a command.
func (r *rig) finish(id string, status thread.CommandStatus) error {
	return r.update(func(c *change) error {
		k, err := c.Command(id)
		k.Status = status
		return errors.Join(err, c.command(k))
	})
}

func (r *rig) commandRow(id string) (thread.Command, error) {
	return read(r.database, func(tx *sqlite.Tx) (thread.Command, error) { return tx.Command(id) })
}

func (r *rig) commands(q thread.CommandQuery) ([]thread.Command, error) {
	return commandsOf(r.database, q)
}

// began notes that a process runs in a terminal.
func (r *rig) began(terminal string, p process) (thread.Runtime, error) {
	r.ok(r.update(func(c *change) error { return c.began(terminal, p) }))
	return r.lastRuntime(terminal)
}

func (r *rig) lastRuntime(terminal string) (thread.Runtime, error) {
	return read(r.database, func(tx *sqlite.Tx) (thread.Runtime, error) { return tx.LastRuntime(terminal) })
}

func (r *rig) endRuntime(of thread.Runtime, e runtimeEnd) error {
	return r.update(func(c *change) error { return c.ended(of.Terminal, e) })
}

func (r *rig) deleteTerminal(id string) error {
	return r.update(func(c *change) error { return c.deleteTerminal(id) })
}

func (r *rig) history(terminal string) ([]thread.State, error) {
	return read(r.database, func(tx *sqlite.Tx) ([]thread.State, error) { return tx.States(terminal) })
}

func (r *rig) activate(threadID, terminal string) error {
	_, err := r.ActivateTerminal(r.t.Context(), threadID, terminal)
	return err
}

func (r *rig) allThreads() ([]thread.Thread, error) {
	return read(r.database, func(tx *sqlite.Tx) ([]thread.Thread, error) { return tx.Threads("", "", 0) })
}

// live is the session of a thread as a reader finds it. Errors: thread.ErrExpired, ErrNotFound.
func (r *rig) live(ctx context.Context, threadID string) (thread.Session, error) {
	l, err := r.lifecycle.status(ctx, threadID, thread.Use{})
	if err == nil && !l.Session.Live() {
		err = thread.ErrExpired
	}
	return l.Session, err
}

func (r *rig) session(id string) (thread.Session, error) {
	list, err := r.expiry.sessionsOf("t1")
	r.ok(err)
	i := slices.IndexFunc(list, func(s thread.Session) bool { return s.ID == id })
	if i < 0 {
		return thread.Session{}, thread.ErrNotFound
	}
	return list[i], nil
}

// types are the types of a thread's kept events; that they were told in the same order is checked
// too.
func (r *rig) types(thread string) []string {
	r.t.Helper()
	list, err := r.ListEvents(thread, 0, 0)
	r.ok(err)
	var kept, told []string
	for i, e := range list {
		if e.Seq != int64(i+1) {
			r.t.Fatalf("event %d has number %d", i+1, e.Seq)
		}
		kept = append(kept, e.Type)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.told {
		if e.ThreadID == thread && e.Seq > 0 {
			told = append(told, e.Type)
		}
	}
	if !slices.Equal(kept, told) {
		r.t.Fatalf("kept %v, told %v", kept, told)
	}
	return kept
}

func policy(idle, most time.Duration) *thread.Policy {
	return &thread.Policy{Idle: idle, Max: most}
}

// cloud is a provider whose instances are words, with switches for its faults.
type cloud struct {
	provider.Lifecycle // of which nothing else is asked

	mu        sync.Mutex
	instances map[string]thread.Observed
	made      int
	calls     map[string]int
	fail      error  // of every call
	failing   string // the only call that fails, "" is every one
	order     func(string)
}

func (c *cloud) call(what string) error {
	if c.calls == nil {
		c.calls = map[string]int{}
	}
	c.calls[what]++
	if c.fail != nil && (c.failing == "" || c.failing == what) {
		return c.fail
	}
	if what != "status" {
		c.order(what)
	}
	return nil
}

// cloudOf is the cloud by the name of one provider.
type cloudOf struct {
	*cloud
	name string
}

func (c cloudOf) Create(context.Context, provider.CreateRequest) (provider.Instance, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.call("create"); err != nil {
		return provider.Instance{}, err
	}
	c.made++
	id := fmt.Sprintf("%s-i%d", c.name, c.made)
	c.instances[id] = thread.Running
	return provider.Instance{ID: id}, nil
}

func (c *cloud) Pause(_ context.Context, id string) error   { return c.to("pause", id, thread.Frozen) }
func (c *cloud) Resume(_ context.Context, id string) error  { return c.to("resume", id, thread.Running) }
func (c *cloud) Destroy(_ context.Context, id string) error { return c.to("destroy", id, thread.Dead) }

func (c *cloud) to(what, id string, s thread.Observed) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.call(what); err != nil {
		return err
	}
	c.instances[id] = s
	return nil
}

func (c *cloud) Status(_ context.Context, id string) (thread.Observed, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.call("status"); err != nil {
		return thread.Unknown, err
	}
	if s, ok := c.instances[id]; ok {
		return s, nil
	}
	return thread.Dead, nil
}

func (c *cloud) set(id string, s thread.Observed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.instances[id] = s
}

func (c *cloud) breaks(err error, what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fail, c.failing = err, what
}

func (c *cloud) count(what string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls[what]
}
