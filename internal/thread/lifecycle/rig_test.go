package lifecycle_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/internal/thread/lifecycle"
	"github.com/evertty/evertty/internal/thread/sqlite"
)

// rig is a Manager on a real database with a clock and a cloud that a test turns.
type rig struct {
	*lifecycle.Manager
	t     *testing.T
	cfg   lifecycle.Config
	path  string
	store *sqlite.Store
	cloud *cloud
	clock *handClock
	mu    sync.Mutex
	told  []thread.Event
	ended []string // reasons
	looks int      // viewers of every thread
	after func()   // at the end of End
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

func newRig(t *testing.T, change ...func(*lifecycle.Config)) *rig {
	t.Helper()
	t.Parallel()
	r := &rig{t: t, path: filepath.Join(t.TempDir(), "evertty.db"), clock: &handClock{at: noon}}
	r.cloud = &cloud{instances: map[string]thread.Observed{}, order: func(what string) { r.note(what) }}
	r.cfg = lifecycle.Config{
		Clock: r.clock.now,
		Providers: map[string]provider.Lifecycle{thread.Local: cloudOf{r.cloud, thread.Local},
			"e2b":     cloudOf{r.cloud, "e2b"},
			"daytona": cloudOf{r.cloud, "daytona"}},
		Provider: "e2b",
		Cwd:      func(string) string { return "/home/user" },
		InUse:    func(string) bool { r.mu.Lock(); defer r.mu.Unlock(); return r.looks > 0 },
		End: func(_ context.Context, _ string, _ []thread.Runtime, reason string) error {
			r.note("end " + reason)
			if r.after != nil {
				r.after()
			}
			return nil
		},
		Notify: func(e thread.Event) { r.mu.Lock(); defer r.mu.Unlock(); r.told = append(r.told, e) },
	}
	for _, f := range change {
		f(&r.cfg)
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
	r.cfg.Store = r.store
	if r.Manager, err = lifecycle.NewManager(r.cfg); err != nil {
		r.t.Fatal(err)
	}
}

// restart is another server on the same file; between runs in between.
func (r *rig) restart(between ...func()) {
	r.t.Helper()
	r.ok(r.Flush())
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
	l, err := r.Open(r.t.Context(), thread, u)
	r.ok(err)
	return l
}

func (r *rig) status(threadID string) thread.Layers {
	r.t.Helper()
	l, err := r.Status(r.t.Context(), threadID, thread.Use{})
	r.ok(err)
	return l
}

func (r *rig) sweep() lifecycle.Swept {
	r.t.Helper()
	s, err := r.Sweep(r.t.Context())
	r.ok(err)
	return s
}

func (r *rig) save(terminal, cwd string, env map[string]string, unset ...string) thread.Terminal {
	r.t.Helper()
	t, _, err := r.Save(terminal, thread.State{Cwd: cwd, Env: env, Unset: unset})
	r.ok(err)
	return t
}

func (r *rig) command(terminal string) thread.Command {
	r.t.Helper()
	k, err := r.BeginCommand(thread.Command{Terminal: terminal, Line: "true", Cwd: "/", Status: thread.CommandRunning})
	r.ok(err)
	return k
}

// types are the types of a thread's kept events; that they were told in the same order is checked
// too.
func (r *rig) types(thread string) []string {
	r.t.Helper()
	list, err := r.Events(thread, 0, 0)
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
		if e.Thread == thread && e.Seq > 0 {
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
