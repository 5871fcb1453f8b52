package supervisor_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/conversation/store"
	"github.com/evertty/evertty/internal/supervisor"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/internal/thread/service"
	"github.com/evertty/evertty/vt/vt10x"
)

func harness(t *testing.T, m *supervisor.Supervisor, thread string) *store.Conversations {
	t.Helper()
	var b *store.Conversations
	err := m.Threads.WriteConversation(background(t), thread, func(r *store.Conversations) error {
		b = r
		_, err := r.List(thread)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestARecordIsAPartOfItsThread: the first use makes the thread, its events are in the thread's
// stream, another server has it, and it goes with the thread.
func TestARecordIsAPartOfItsThread(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	m := openRecorded(t, dir)
	if _, err := m.Threads.ReadConversation("t"); !errors.Is(err, thread.ErrNotFound) {
		t.Errorf("a reader of nothing: %v", err)
	}
	add := func(thread, role string) error {
		return m.Threads.WriteConversation(background(t), thread, func(r *store.Conversations) error {
			_, err := r.Append(thread, []conversation.Message{{Role: role}})
			return err
		})
	}
	if err := add("../t", conversation.RoleUser); !errors.Is(err, thread.ErrInvalid) {
		t.Errorf("a thread of no name: %v", err)
	}
	if err := add("t", "nobody"); !errors.Is(err, conversation.ErrInvalid) {
		t.Errorf("a message of nobody: %v", err)
	}
	if _, err := m.Threads.ReadConversation("t"); !errors.Is(err, thread.ErrNotFound) {
		t.Errorf("a thread by a message that was refused: %v", err)
	}
	if _, err := harness(t, m, "t").Append("t",
		[]conversation.Message{{Role: conversation.RoleUser, Content: "list the files"}}); err != nil {
		t.Fatal(err)
	}
	events, err := m.Threads.ThreadEvents("t", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer events.Close()
	run(t, defaultShell(t, m, "t"), "ls /")
	threadID(t, m, "t") // what was noted is written
	if _, err := harness(t, m, "t").Append("t",
		[]conversation.Message{{Role: conversation.RoleTool, Content: "bin"}}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for len(got) == 0 || got[len(got)-1] != store.MessageAdded || !slices.Contains(got, thread.CommandFinished) {
		list, err := events.Next(background(t))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			got = append(got, e.Type)
		}
	}
	said, done := slices.Index(got, store.MessageAdded), slices.Index(got, thread.CommandFinished)
	if said < 0 || done < said || slices.Index(got, thread.ThreadCreated) > said {
		t.Errorf("%v", got)
	}
	head, err := harness(t, m, "t").Head("t", "")
	if err != nil || head.Messages != 2 {
		t.Fatalf("%+v, %v", head, err)
	}
	leave(t, m)
	m = openRecorded(t, dir)
	again, err := harness(t, m, "t").Head("t", "")
	if err != nil || again != head {
		t.Errorf("%+v, %v", again, err)
	}
	file := filepath.Join(dir, "threads", head.SessionID+".json")
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
	if err := m.Threads.DeleteThread(background(t), "t"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file of a deleted thread: %v", err)
	}
	if _, err := m.Threads.ReadConversation("t"); !errors.Is(err, thread.ErrNotFound) {
		t.Errorf("a deleted thread: %v", err)
	}
	b, err := m.Threads.ReadConversation("")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Latest(""); !errors.Is(err, conversation.ErrNotFound) {
		t.Errorf("the latest of none: %v", err)
	}
}

// TestNoRecordsOfHarnesses: a server without them says so, and its threads go on.
func TestNoRecordsOfHarnesses(t *testing.T) {
	parallel(t)
	check := func(t *testing.T, m *supervisor.Supervisor) {
		if _, err := m.Threads.ReadConversation("t"); !errors.Is(err, service.ErrNoStore) {
			t.Error(err)
		}
		run(t, defaultShell(t, m, "t"), "true")
	}
	t.Run("no database", func(t *testing.T) {
		check(t, openWith(t, t.TempDir(), supervisor.Config{Terminals: terminal.Config{Engine: vt10x.New},
			Threads: service.Config{NoStore: thread.ErrDamaged}}))
	})
	t.Run("no store", func(t *testing.T) {
		check(t, openRecorded(t, t.TempDir(), func(c *supervisor.Config) { c.Threads.Conversations.Store = nil }))
	})
}

// TestARecordFileInTheWay: /healthz says so, until it can be saved.
func TestARecordFileInTheWay(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	m := openRecorded(t, dir)
	say := func() {
		if _, err := harness(t, m, "t").Append("t",
			[]conversation.Message{{Role: conversation.RoleUser, Content: "x"}}); err != nil {
			t.Fatal(err)
		}
	}
	say()
	head, err := harness(t, m, "t").Head("t", "")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "threads", head.SessionID+".json")
	if err := errors.Join(os.Remove(file), os.Mkdir(file, 0o700)); err != nil {
		t.Fatal(err)
	}
	say()
	if h := m.Health(); len(h.Reasons) != 1 || !h.Lossless {
		t.Errorf("%+v", h)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	say()
	if h := m.Health(); len(h.Reasons) != 0 {
		t.Errorf("%+v", h)
	}
}
