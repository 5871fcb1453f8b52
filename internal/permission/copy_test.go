package permission

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
)

// TestPermissionsCopy: a server that cannot read its database holds what was set before.
func TestPermissionsCopy(t *testing.T) {
	file := filepath.Join(t.TempDir(), "permissions.json")
	e := NewEnforcer(Rules{}).WithCopy(file)
	if err := e.LoadCopy(); err != nil {
		t.Fatal(err) // nobody has set anything
	}
	want := Permissions{Thread: "one", Mode: ModeAllow,
		Rules: rulesOf(t, `{"deny":[{"tool":"exec","contains":"<rm>"}]}`)}
	e.Set(want)
	e.Set(Permissions{Thread: "two", Mode: ModeReadOnly, Rules: listed(Rules{})})
	if err := e.Save(); err != nil {
		t.Fatal(err)
	}
	if i, err := os.Stat(file); err != nil || i.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", i, err)
	}
	next := NewEnforcer(Rules{}).WithCopy(file)
	if err := next.LoadCopy(); err != nil || !reflect.DeepEqual(next.Permissions("one"), want) ||
		!next.Applies("two") || next.Applies("three") {
		t.Errorf("%+v (%v)", next.threads, err)
	}
	next.Forget("one")
	next.Forget("two")
	if err := next.Save(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a copy of nothing is left")
	}
	for _, bad := range []string{"", "{", `{"format":2,"threads":[]}`, `[]`, "null"} {
		if err := os.WriteFile(file, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := next.LoadCopy(); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), file) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestFailClosedLeavesTheCopy: it is of a server that knew all threads.
func TestFailClosedLeavesTheCopy(t *testing.T) {
	file := filepath.Join(t.TempDir(), "permissions.json")
	e := NewEnforcer(Rules{}).WithCopy(file)
	e.Set(Permissions{Thread: "one", Mode: ModeReadOnly, Rules: listed(Rules{})})
	if err := e.Save(); err != nil {
		t.Fatal(err)
	}
	e = NewEnforcer(Rules{}).WithCopy(file)
	e.FailClosed(errors.New("no database"))
	e.Set(Permissions{Thread: "two", Mode: ModeReadOnly, Rules: listed(Rules{})})
	if err := e.Save(); err != nil {
		t.Fatal(err)
	}
	next := NewEnforcer(Rules{}).WithCopy(file)
	if err := next.LoadCopy(); err != nil || !next.Applies("one") {
		t.Errorf("%+v (%v)", next.threads, err)
	}
}

// FuzzPermissionsCopy: what is read decides without a panic, and rules that are not understood
// allow nothing.
func FuzzPermissionsCopy(f *testing.F) {
	f.Add([]byte(`{"format":1,"threads":[{"thread_id":"one","mode":"allow","rules":{"deny":[{"tool":"exec"}]}}]}`))
	f.Add([]byte(`{"format":1,"threads":[{"thread_id":"one","mode":"allow","rules":{"denied":[]}},{"mode":"x"}]}`))
	f.Add([]byte(`{"format":1,"threads":[{"thread_id":"one","mode":"x","rules":{"allow":[{"tool":"exec"}]}}]}`))
	server := rulesOf(f, `{"allow":[{"tool":"exec"}]}`)
	f.Fuzz(func(t *testing.T, b []byte) {
		list, err := parseCopy(b)
		if err != nil && !errors.Is(err, ErrDamaged) {
			t.Fatal(err)
		}
		for _, p := range list {
			d, err := p.decide(server, Call{Tool: ToolExec})
			if err != nil || CheckMode(p.Mode) != nil && d.Decision != Deny {
				t.Fatalf("%+v: %+v (%v)", p, d, err)
			}
		}
	})
}

// TestSaveLeavesNoLock: permissions can be changed after the copy is written.
func TestSaveLeavesNoLock(t *testing.T) {
	e := NewEnforcer(Rules{}).WithCopy(filepath.Join(t.TempDir(), "permissions.json"))
	e.Set(Permissions{Thread: "one", Mode: ModeReadOnly})
	if err := e.Save(); err != nil {
		t.Fatal(err)
	}
	if !e.mu.TryLock() {
		t.Fatal("Save holds the lock")
	}
	e.mu.Unlock()
}

// TestOddCopy: a copy that is no regular file, or too long, is refused and not read.
func TestOddCopy(t *testing.T) {
	dir := t.TempDir()
	long := filepath.Join(dir, "long")
	if err := os.WriteFile(long, []byte(`{"format":1,"threads":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(long, maxCopy+1); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("absent", link); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{long, link, dir} {
		err := NewEnforcer(Rules{}).WithCopy(file).LoadCopy()
		if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "no file of at most") {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// TestActionCall: the rules see the JSON of the arguments; what has none is a programming error.
func TestActionCall(t *testing.T) {
	c := Action{ToolResize, ResizeArgs{Terminal: "t", Cols: 80, Rows: 24}}.Call()
	if c.Tool != ToolResize || string(c.Arguments) != `{"terminal":"t","cols":80,"rows":24}` {
		t.Errorf("%s %s", c.Tool, c.Arguments)
	}
	defer func() {
		if recover() == nil {
			t.Error("arguments without JSON are taken")
		}
	}()
	Action{ToolResize, func() {}}.Call()
}

// TestEnforcerAtOnce: permissions change, are asked and are saved at the same time, as the race detector sees it.
func TestEnforcerAtOnce(t *testing.T) {
	e := NewEnforcer(Rules{}).WithCopy(filepath.Join(t.TempDir(), "permissions.json"))
	var all sync.WaitGroup
	for _, do := range []func(thread string) error{
		func(thread string) error { e.Set(Permissions{Thread: thread, Mode: ModeReadOnly}); return nil },
		func(thread string) error { e.Forget(thread); return nil },
		func(thread string) error { e.Applies(thread); return nil },
		func(thread string) error { e.Permissions(thread); return nil },
		func(thread string) error { return e.Save() },
		func(thread string) error { e.FailClosed(nil); return e.FailedClosed() },
	} {
		all.Go(func() {
			for i := range 100 {
				if err := do(string('a' + rune(i%4))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// TestSaveAfterAKill: what a killed server left beside the copy is replaced, and a link there is not followed.
func TestSaveAfterAKill(t *testing.T) {
	dir := t.TempDir()
	file, other := filepath.Join(dir, "permissions.json"), filepath.Join(dir, "other")
	for _, leave := range []func(next string) error{
		func(next string) error { return os.WriteFile(next, []byte("half"), 0o600) },
		func(next string) error { return os.Symlink(other, next) },
	} {
		if err := leave(file + ".new"); err != nil {
			t.Fatal(err)
		}
		e := NewEnforcer(Rules{}).WithCopy(file)
		e.Set(Permissions{Thread: "one", Mode: ModeReadOnly, Rules: listed(Rules{})})
		if err := e.Save(); err != nil {
			t.Fatal(err)
		}
		next := NewEnforcer(Rules{}).WithCopy(file)
		if err := next.LoadCopy(); err != nil || !next.Applies("one") {
			t.Errorf("%+v (%v)", next.threads, err)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) > 0 {
		t.Errorf("%v are left (%v)", names, err)
	}
}

// TestArgumentsOfBytes: rules and whoever approves see text, and beside bytes that are none their base 64.
func TestArgumentsOfBytes(t *testing.T) {
	for _, c := range []struct {
		args any
		want string
	}{
		{NewInputArgs("t", []byte("é")), `{"terminal":"t","data":"é"}`},
		{NewInputArgs("t", []byte{0xff}), `{"terminal":"t","data":"\ufffd","data_b64":"/w=="}`},
		{NewCommandArgs("c", []byte("ls"), false), `{"command_id":"c","data":"ls"}`},
		{NewCommandArgs("c", []byte{0xff}, true), `{"command_id":"c","data":"\ufffd","data_b64":"/w==","eof":true}`},
	} {
		if got := string((Action{ToolResize, c.args}).Call().Arguments); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}
