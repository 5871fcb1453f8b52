package datadir

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

func identify(t *testing.T, dir string) Identity {
	t.Helper()
	i, err := Identify(dir)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// TestIdentify: a directory keeps its ID, also under another name; a copy gets another one and is one until it settles.
func TestIdentify(t *testing.T) {
	top := t.TempDir()
	dir, moved, copied := filepath.Join(top, "a"), filepath.Join(top, "b"), filepath.Join(top, "c")
	first := identify(t, dir)
	shell := filepath.Join(dir, "shells", "key")
	for _, d := range []string{shell, filepath.Join(shell, shellMarkers)} {
		must(t, os.MkdirAll(d, 0o700))
	}
	must(t, os.WriteFile(filepath.Join(shell, shellTag), []byte("tag"), 0o600))
	must(t, os.Rename(dir, moved))
	if again := identify(t, moved); first.ID == "" || first.Copied || again != first || IDOf(moved) != first.ID {
		t.Errorf("%+v became %+v", first, again)
	}
	must(t, exec.Command("cp", "-a", moved, copied).Run())
	second := identify(t, copied)
	if second.ID == first.ID || !second.Copied || second.Place == first.Place || identify(t, copied) != second {
		t.Errorf("%+v and its copy %+v", first, second)
	}
	tag, err := os.ReadFile(filepath.Join(copied, "shells", "key", shellTag))
	_, marks := os.Stat(filepath.Join(copied, "shells", "key", shellMarkers))
	if err != nil || string(tag) == "tag" || marks == nil {
		t.Errorf("the shell of the copy has the tag %q, %v, and marks: %v", tag, err, marks == nil)
	}
	must(t, second.Settle(copied))
	if now := identify(t, copied); now.Copied || now.ID != second.ID {
		t.Errorf("settled it is %+v", now)
	}
}

// TestIdentifyUnderAKeeper: the programs of a keeper of an older release stay those of the directory.
func TestIdentifyUnderAKeeper(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, keeperLock))
	must(t, err)
	defer f.Close()
	must(t, unix.Flock(int(f.Fd()), unix.LOCK_EX))
	first := identify(t, dir)
	if first.ID != "" || first.Copied || identify(t, dir) != first {
		t.Errorf("it is %+v", first)
	}
}

// TestCopiedTo: devices have other numbers after a start of the machine, inodes have not.
func TestCopiedTo(t *testing.T) {
	here := Place{Boot: "x", Device: "1:2", Inode: 3, Born: "4"}
	for _, c := range []struct {
		other Place
		want  bool
	}{
		{here, false}, {Place{"y", "1:5", 3, "4"}, false}, {Place{"x", "1:5", 3, "4"}, true},
		{Place{"x", "1:2", 6, "4"}, true}, {Place{"y", "1:2", 3, "5"}, true},
	} {
		if got := here.copiedTo(c.other); got != c.want {
			t.Errorf("%+v: %v", c.other, got)
		}
	}
}

// TestLockAfterAKill: a server that starts right after kill -9 waits for the one before; one that lives is told.
func TestLockAfterAKill(t *testing.T) {
	dir := t.TempDir()
	for range 8 {
		cmd := helper(t, "save for ever", dir)
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		_, _ = out.Read(make([]byte, 1))
		if _, err := LockAfter(dir); err == nil {
			t.Error("took the lock of a process that lives")
		}
		must(t, cmd.Process.Kill())
		release, err := LockAfter(dir)
		if err != nil {
			t.Errorf("right after a kill: %v", err)
		} else {
			release()
		}
		_ = cmd.Wait() // it was killed
	}
}

// TestServersStartAtOnce: what they look at beside each other is no error. The lock decides.
func TestServersStartAtOnce(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				root, err := openDataDir(dir)
				if err != nil {
					t.Error(err)
					return
				}
				_ = root.Close()
			}
		})
	}
	all.Wait()
}
