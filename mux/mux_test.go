package mux_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evertty/evertty/mux"
	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt/vt10x"
)

// patience is how long a test waits for a fact before it fails.
const patience = 20 * time.Second

func open(t *testing.T, dir string) *mux.Mux {
	t.Helper()
	before := goroutines()
	store, err := snapshot.OpenStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	m, err := mux.New(mux.Config{Engine: vt10x.New, Store: store})
	if err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	t.Cleanup(func() {
		once.Do(m.Close)
		store.Close()
		limit := time.After(patience)
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for goroutines() > before {
			select {
			case <-tick.C:
			case <-limit:
				t.Fatalf("%d goroutines are left, %d were there before", goroutines(), before)
			}
		}
	})
	return m
}

// goroutines counts all but the one that os/signal keeps once this process was
// started with ignored signals.
func goroutines() int {
	var buf [256 << 10]byte
	stacks := string(buf[:runtime.Stack(buf[:], true)])
	return runtime.NumGoroutine() - strings.Count(stacks, "\nos/signal.loop(")
}

func start(t *testing.T, m *mux.Mux, cmd ...string) *mux.Terminal {
	t.Helper()
	term, err := m.Create(mux.Spec{Session: "s", Cmd: cmd})
	if err != nil {
		t.Fatal(err)
	}
	return term
}

func wait(t *testing.T, term *mux.Terminal, c mux.Condition) mux.Waited {
	t.Helper()
	if c.Timeout == 0 {
		c.Timeout = patience
	}
	w, err := term.Wait(context.Background(), c)
	if err != nil {
		t.Fatalf("wait for %s %q: %v; the screen is\n%s", c.For, c.Pattern, err, w.Text)
	}
	return w
}

func TestWaitConditions(t *testing.T) {
	m := open(t, t.TempDir())
	term := start(t, m, "bash", "--norc")
	wait(t, term, mux.Condition{For: "prompt"})
	ctx := context.Background()
	if err := term.Input(ctx, []byte("echo $((6*7))\n")); err != nil {
		t.Fatal(err)
	}
	if w := wait(t, term, mux.Condition{For: "text", Pattern: "\n42\n"}); w.Seq == 0 {
		t.Errorf("position %d after output", w.Seq)
	}
	wait(t, term, mux.Condition{For: "regex", Pattern: `(?m)^4\d$`})
	wait(t, term, mux.Condition{For: "idle", Idle: 50 * time.Millisecond})
	if err := term.Input(ctx, []byte("sleep 1000\n")); err != nil {
		t.Fatal(err)
	}
	wait(t, term, mux.Condition{For: "text", Pattern: "sleep 1000\n"})
	if w, err := term.Wait(ctx, mux.Condition{For: "text", Pattern: "never", Timeout: 50 * time.Millisecond}); !errors.Is(err, mux.ErrTimeout) || !strings.Contains(w.Text, "42") {
		t.Errorf("text that never comes: %v with %q, want ErrTimeout with the screen", err, w.Text)
	}
	if err := term.Signal("INT"); err != nil {
		t.Fatal(err)
	}
	wait(t, term, mux.Condition{For: "prompt"})
	if err := term.Input(ctx, []byte("exit 7\n")); err != nil {
		t.Fatal(err)
	}
	wait(t, term, mux.Condition{For: "exit"})
	if e := term.Info().Exit; e == nil || *e.Code != 7 || e.Reason != "exit" {
		t.Errorf("exit %+v, want 7", e)
	}
	if _, err := term.Wait(ctx, mux.Condition{For: "text", Pattern: "never"}); !errors.Is(err, mux.ErrExited) {
		t.Errorf("wait after the end: %v, want ErrExited", err)
	}
	if err := term.Input(ctx, []byte("x")); !errors.Is(err, mux.ErrExited) {
		t.Errorf("input after the end: %v, want ErrExited", err)
	}
}

func TestWaitPromptBelievesTheShell(t *testing.T) {
	m := open(t, t.TempDir())
	term := start(t, m, "sh", "-c", `printf '\033]133;C\007busy'; read x; printf '\033]133;A\007ready\033]133;B\007'; read x`)
	wait(t, term, mux.Condition{For: "text", Pattern: "busy"})
	if _, err := term.Wait(context.Background(), mux.Condition{For: "prompt", Timeout: 400 * time.Millisecond}); !errors.Is(err, mux.ErrTimeout) {
		t.Errorf("a command is running by its own word: %v, want ErrTimeout", err)
	}
	if err := term.Input(context.Background(), []byte("\n")); err != nil {
		t.Fatal(err)
	}
	wait(t, term, mux.Condition{For: "prompt"})
}

func TestInputToAProgramThatDoesNotRead(t *testing.T) {
	m := open(t, t.TempDir())
	term := start(t, m, "sh", "-c", "stty raw -echo; printf ready; exec sleep 1000")
	wait(t, term, mux.Condition{For: "text", Pattern: "ready"})
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	err := term.Input(ctx, make([]byte, 1<<20))
	if err == nil || !strings.Contains(err.Error(), "of 1048576 bytes were taken") {
		t.Errorf("%v, want how many bytes were taken", err)
	}
	if err := m.Delete(context.Background(), term, true); err != nil {
		t.Error(err)
	}
}

func TestNamesAreUniqueInASession(t *testing.T) {
	m := open(t, t.TempDir())
	var made, taken atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			_, err := m.Create(mux.Spec{Session: "s", Name: "n", Cmd: []string{"cat"}})
			switch {
			case err == nil:
				made.Add(1)
			case errors.Is(err, mux.ErrNameTaken):
				taken.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if made.Load() != 1 || taken.Load() != 7 {
		t.Errorf("%d made, %d refused; want 1 and 7", made.Load(), taken.Load())
	}
	if _, err := m.Create(mux.Spec{Session: "other", Name: "n", Cmd: []string{"cat"}}); err != nil {
		t.Errorf("the name in another session: %v", err)
	}
	if _, err := m.Find("", "n"); !errors.Is(err, mux.ErrAmbiguous) {
		t.Errorf("the name without session: %v, want ErrAmbiguous", err)
	}
	term, err := m.Find("s", "n")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Delete(context.Background(), term, false); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Create(mux.Spec{Session: "s", Name: "n", Cmd: []string{"cat"}}); err != nil {
		t.Errorf("the name after its terminal was deleted: %v", err)
	}
}

func TestFailedCreateLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir)
	for _, c := range []struct {
		spec mux.Spec
		want error
	}{
		{mux.Spec{Session: "s", Cmd: []string{"no-such-program"}}, pty.ErrNoCommand},
		{mux.Spec{Session: "s", Cwd: "/no/such/dir"}, pty.ErrNoDir},
		{mux.Spec{Session: "s", Env: map[string]string{"A=B": ""}}, pty.ErrBadEnv},
		{mux.Spec{Session: "s", Cols: 1001}, mux.ErrInvalid},
		{mux.Spec{Session: "s", Cmd: []string{}}, mux.ErrInvalid},
		{mux.Spec{Session: "s/x"}, mux.ErrInvalid},
		{mux.Spec{Session: "s", Name: "a b"}, mux.ErrInvalid},
		{mux.Spec{Session: "s", SizePolicy: "mine"}, mux.ErrInvalid},
	} {
		if _, err := m.Create(c.spec); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v, want %v", c.spec, err, c.want)
		}
	}
	if n := len(m.List("")); n != 0 {
		t.Errorf("%d terminals are listed", n)
	}
	if left, _ := os.ReadDir(filepath.Join(dir, "terminals")); len(left) != 0 {
		t.Errorf("files are left: %v", left)
	}
}

func TestTerminalsComeBack(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir)
	ended := start(t, m, "sh", "-c", "printf 'done here'; exit 3")
	wait(t, ended, mux.Condition{For: "exit"})
	ran := start(t, m, "sh", "-c", "cd /; printf 'still at it'; exec sleep 1000")
	wait(t, ran, mux.Condition{For: "text", Pattern: "still at it"})
	gone := start(t, m, "true")
	wait(t, gone, mux.Condition{For: "exit"})
	if err := m.Delete(context.Background(), gone, false); err != nil {
		t.Fatal(err)
	}
	m.Close()

	m = open(t, dir)
	if n := len(m.List("s")); n != 2 {
		t.Errorf("%d terminals are listed, want 2", n)
	}
	for _, c := range []struct {
		id, text, reason string
		state            mux.State
	}{{ended.ID, "done here", "exit", mux.StateExited}, {ran.ID, "still at it", "lost", mux.StateLost}} {
		term, err := m.Find("s", c.id)
		if err != nil {
			t.Fatal(err)
		}
		i := term.Info()
		if i.State != c.state || i.Exit == nil || i.Exit.Reason != c.reason || i.PID != 0 {
			t.Errorf("%s came back as %s with exit %+v", c.text, i.State, i.Exit)
		}
		if got := snapshot.Text(term.Hub().Shot().Frame, -1); !strings.HasPrefix(got, c.text+"\n") {
			t.Errorf("screen %q, want %q", got, c.text)
		}
		if err := term.Input(context.Background(), []byte("x")); !errors.Is(err, mux.ErrExited) {
			t.Errorf("input: %v, want ErrExited", err)
		}
		if _, err := term.Wait(context.Background(), mux.Condition{For: "prompt"}); !errors.Is(err, mux.ErrExited) {
			t.Errorf("wait for a prompt: %v, want ErrExited", err)
		}
		if err := term.Resize(100, 30); !errors.Is(err, mux.ErrExited) {
			t.Errorf("resize: %v, want ErrExited", err)
		}
	}
	if term, err := m.Find("", gone.ID); err != nil || term.Info().DeletedAt == nil {
		t.Errorf("the deleted terminal by id: %v", err)
	}
	for _, id := range []string{ended.ID, ran.ID, gone.ID} {
		term, err := m.Find("", id)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Delete(context.Background(), term, true); err != nil {
			t.Error(err)
		}
	}
	if left, _ := os.ReadDir(filepath.Join(dir, "terminals")); len(left) != 0 {
		t.Errorf("after the purge %v are left", left)
	}
}

func TestOneDamagedTerminalCostsNothingElse(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir)
	whole, hurt, lost := start(t, m, "echo", "whole"), start(t, m, "echo", "hurt"), start(t, m, "echo", "lost")
	for _, term := range []*mux.Terminal{whole, hurt, lost} {
		wait(t, term, mux.Condition{For: "exit"})
	}
	m.Close()
	screens, _ := filepath.Glob(filepath.Join(dir, "terminals", hurt.ID, "screen.*"))
	for _, f := range append(screens, filepath.Join(dir, "terminals", lost.ID, "meta")) {
		if err := os.WriteFile(f, []byte("rubbish"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m = open(t, dir)
	term, err := m.Find("", whole.ID)
	if err != nil || !strings.Contains(snapshot.Text(term.Hub().Shot().Frame, -1), "whole") {
		t.Errorf("the whole one: %v", err)
	}
	if term, err = m.Find("", hurt.ID); err != nil {
		t.Fatal(err)
	}
	term.Hub()
	if term.Info().Damage == "" {
		t.Error("the damage is not told")
	}
	if _, err = m.Find("", lost.ID); !errors.Is(err, mux.ErrNotFound) {
		t.Errorf("the one without a record: %v, want ErrNotFound", err)
	}
}

func TestDeleteEndsTheWholeTree(t *testing.T) {
	m := open(t, t.TempDir())
	term := start(t, m, "sh", "-c", "trap '' HUP; sleep 1001 & printf started; wait")
	wait(t, term, mux.Condition{For: "text", Pattern: "started"})
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := m.Delete(ctx, term, false); err != nil {
		t.Fatal(err)
	}
	if i := term.Info(); i.State != mux.StateExited || i.Exit.Reason != "killed" {
		t.Errorf("%s %+v, want exited and killed", i.State, i.Exit)
	}
	if len(m.List("")) != 0 {
		t.Error("a deleted terminal is listed")
	}
	if err := m.Delete(ctx, term, false); err != nil {
		t.Errorf("deleting again: %v", err)
	}
}
