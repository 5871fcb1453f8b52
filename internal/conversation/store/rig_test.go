package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/conversation/store"
	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/internal/thread/sqlite"
	"github.com/evertty/evertty/tests/polling"
)

// patience bounds a wait for a fact.
const patience = 60 * time.Second

// rig is Conversations on a real database with real files, which can be left and opened again.
type rig struct {
	*store.Conversations
	t     testing.TB
	dir   string
	db    *sqlite.Store
	limit int64
	idle  bool   // nobody calls Run
	stop  func() // leaves
	mu    sync.Mutex
	told  map[string]int
	wrong []error
}

// open makes a rig in a new directory, with the thread "t".
func open(t testing.TB, limit int64) *rig {
	t.Helper()
	return opened(t, &rig{limit: limit})
}

// openIdle is open without the purge that Run begins with, for a test with Conversations of its own: the
// purge of one takes the rows of another's import for rows of a deleted thread.
func openIdle(t testing.TB) *rig {
	t.Helper()
	return opened(t, &rig{idle: true})
}

func opened(t testing.TB, r *rig) *rig {
	t.Helper()
	r.t, r.dir, r.told = t, t.TempDir(), map[string]int{}
	r.begin()
	t.Cleanup(func() { r.stop() })
	r.thread("t")
	return r
}

func (r *rig) begin() {
	r.t.Helper()
	var err error
	r.db, err = sqlite.Open(filepath.Join(r.dir, "evertty.db"))
	must(r.t, err)
	files, err := store.OpenFiles(filepath.Join(r.dir, "threads"), r.limit)
	must(r.t, err)
	r.Conversations = store.New(store.Config{Store: r.db.Conversations(), Files: files, Notify: r.notify,
		Failed: r.failed, Enforcer: permission.NewEnforcer(permission.Rules{})})
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	if !r.idle {
		work.Go(func() { r.Run(ctx) })
	}
	r.stop = sync.OnceFunc(func() {
		cancel()
		work.Wait()
		must(r.t, r.Close(context.Background()))
		must(r.t, r.db.Close())
	})
}

// keeping are conversations without files, of which nobody hears.
func keeping(db store.Database) *store.Conversations {
	return store.New(store.Config{Store: db, Enforcer: permission.NewEnforcer(permission.Rules{}),
		Notify: func(string) {}, Failed: func(error) {}})
}

// again is another server on the same directory.
func (r *rig) again() {
	r.t.Helper()
	r.stop()
	r.begin()
}

func (r *rig) notify(thread string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told[thread]++
}

func (r *rig) failed(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wrong = append(r.wrong, err)
}

func (r *rig) failures() []error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]error(nil), r.wrong...)
}

func (r *rig) thread(id string) {
	r.t.Helper()
	now := time.Date(2026, 2, 8, 10, 0, 0, 0, time.UTC)
	must(r.t, r.db.Update(func(tx *sqlite.Tx) error {
		tx.PutThread(thread.Thread{ID: id, Provider: thread.Local, Policy: thread.DefaultPolicy(),
			CreatedAt: now, UpdatedAt: now})
		return nil
	}))
}

// events are the types of a thread's events, in order.
func (r *rig) events(threadID string) (kinds []string) {
	r.t.Helper()
	must(r.t, r.db.View(func(tx *sqlite.Tx) error {
		list, err := tx.Events(threadID, 0, 0)
		for _, e := range list {
			kinds = append(kinds, e.Type)
		}
		return err
	}))
	return kinds
}

func (r *rig) file(name string) string { return filepath.Join(r.dir, "threads", name) }

// saved is the document in a conversation's file.
func (r *rig) saved(id string) conversation.Document {
	r.t.Helper()
	b, err := os.ReadFile(r.file(id + ".json"))
	must(r.t, err)
	d, err := conversation.DecodeDocument(b)
	must(r.t, err)
	return d
}

func (r *rig) head(thread string) conversation.Head {
	r.t.Helper()
	h, err := r.Head(thread, "")
	must(r.t, err)
	return h
}

// pretend changes what the head of a thread's record says, for a bound that would take long to
// reach.
func (r *rig) pretend(thread string, change func(*conversation.Head)) {
	r.t.Helper()
	must(r.t, r.db.Conversations().Update(func(tx store.Tx) error {
		h, err := tx.CurrentConversation(thread)
		if err != nil {
			return err
		}
		change(&h)
		tx.PutConversation(h)
		return nil
	}))
}

// say appends messages, "user: text" and so on.
func (r *rig) say(thread string, lines ...string) []conversation.Kept {
	r.t.Helper()
	var list []conversation.Message
	for i, text := range lines {
		role := conversation.RoleUser
		if i%2 == 1 {
			role = conversation.RoleAssistant
		}
		list = append(list, conversation.Message{Role: role, Content: text})
	}
	kept, err := r.Append(thread, list)
	must(r.t, err)
	return kept
}

func (r *rig) contents(thread, rid string, q store.MessageQuery) (list []string) {
	r.t.Helper()
	kept, err := r.Messages(thread, rid, q)
	must(r.t, err)
	for _, k := range kept {
		list = append(list, k.Content)
	}
	return list
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func refused(t testing.TB, err, sentinel error) {
	t.Helper()
	if !errors.Is(err, sentinel) {
		t.Errorf("error %v, want %v", err, sentinel)
	}
}

// until waits for a fact.
func until(t testing.TB, what string, fact func() bool) {
	t.Helper()
	if !polling.Until(patience, fact) {
		t.Fatalf("waited in vain for %s", what)
	}
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	must(t, err)
	return string(b)
}

func same(t testing.TB, what string, got, want any) {
	t.Helper()
	if g, w := asJSON(t, got), asJSON(t, want); g != w {
		t.Errorf("%s:\n got %s\nwant %s", what, g, w)
	}
}

func ptr[T any](v T) *T { return &v }
