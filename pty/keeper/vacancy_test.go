package keeper_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/pty/keeper"
)

// deserted is a keeper in a directory that can be removed, with a terminal whose program ignores SIGHUP and has left a
// child behind; no server is there.
func deserted(t *testing.T, extra ...string) (p *place, keeperPID int, programs []int) {
	t.Helper()
	p = newPlace(t)
	top := p.dir
	p.dir, p.extra = filepath.Join(top, "data"), extra
	if err := os.Mkdir(p.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.dir = top }) // where nobody is
	c := p.connect("a")
	keeperPID = c.PID()
	s := start(t, c, "x", shell("/",
		`trap "" HUP; (setsid sleep 1001 & echo =$!); sleep 1000 & echo =$!; echo =$$; wait`))
	programs = orphansOf(t, s)
	_ = c.Close()
	return p, keeperPID, programs
}

// allGone waits until nobody of a list is there.
func allGone(t testing.TB, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		if !poll(func() bool { return unix.Kill(pid, 0) == unix.ESRCH || parent(pid) == 0 }) {
			t.Errorf("process %d is still there", pid)
		}
	}
}

// TestDirectoryGone: a keeper that nobody can reach any more ends its programs, also those that ignore SIGHUP, and
// itself.
func TestDirectoryGone(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for the time limits of a keeper")
	}
	t.Parallel()
	awaitGone(t)
}

// awaitGone removes the directory of a keeper of its own and waits until that has ended: by then any other keeper that
// was to end, for a reason that was there before, has ended too.
func awaitGone(t *testing.T) {
	t.Helper()
	p, pid, programs := deserted(t, "--gone", "1s")
	if err := os.RemoveAll(p.dir); err != nil {
		t.Fatal(err)
	}
	allGone(t, append(programs, pid)...)
}

// TestDirectoryMadeAgain: the same when the directory is there again and another keeper's, which goes on.
func TestDirectoryMadeAgain(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for the time limits of a keeper")
	}
	t.Parallel()
	p, pid, programs := deserted(t, "--gone", "1s")
	if err := errors.Join(os.RemoveAll(p.dir), os.Mkdir(p.dir, 0o700)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.end)
	other := p.connect("a")
	number := other.PID()
	if number == pid {
		t.Skip("it was faster than the test and has the new directory")
	}
	allGone(t, append(programs, pid)...)
	if now := other.PID(); now != number {
		t.Errorf("the other keeper was process %d and is %d", number, now)
	}
}

// TestTerminatedWithoutDirectory: SIGTERM ends a keeper at once whose directory is gone, and no other one that holds
// something.
func TestTerminatedWithoutDirectory(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for the time limits of a keeper")
	}
	t.Parallel()
	p, pid, programs := deserted(t)
	if err := unix.Kill(pid, unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if !poll(func() bool { return strings.Contains(p.log(), "SIGTERM is ignored") }) {
		t.Fatalf("log: %s", p.log())
	}
	alive(t, programs, true, true, true)
	if err := os.RemoveAll(p.dir); err != nil {
		t.Fatal(err)
	}
	if err := unix.Kill(pid, unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	allGone(t, append(programs, pid)...)
}

// TestRenamedDirectory: what was only renamed is not gone, and a keeper with a server stays whatever happens to the
// directory.
func TestRenamedDirectory(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for the time limits of a keeper")
	}
	t.Parallel()
	p, pid, programs := deserted(t, "--gone", "1s")
	renamed := p.dir + "2"
	if err := os.Rename(p.dir, renamed); err != nil {
		t.Fatal(err)
	}
	awaitGone(t)
	alive(t, programs, true, true, true)
	p.dir = renamed
	p.extra = nil
	c := p.connect("a")
	if c.PID() != pid || len(taken(t, c)) != 1 {
		t.Errorf("keeper %d, want %d", c.PID(), pid)
	}
	if err := os.RemoveAll(p.dir); err != nil {
		t.Fatal(err)
	}
	awaitGone(t)
	alive(t, programs, true, true, true)
	_ = c.Close()
	if err := unix.Kill(pid, unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	allGone(t, append(programs, pid)...)
}

// TestFilesOfTheKeeperRemoved: a keeper that has lost its socket, or its socket and its lock, can be found again
// without anybody asking for it.
func TestFilesOfTheKeeperRemoved(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for the time limits of a keeper")
	}
	t.Parallel()
	p, pid, programs := deserted(t, "--gone", "1h")
	path := filepath.Join(p.dir, "keeper.sock")
	for _, names := range [][]string{{"keeper.sock"}, {"keeper.lock"}, {"keeper.sock", "keeper.lock"}} {
		for _, name := range names {
			if err := os.Remove(filepath.Join(p.dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range []string{"keeper.sock", "keeper.lock"} {
			if !poll(func() bool { _, err := os.Lstat(filepath.Join(p.dir, name)); return err == nil }) {
				t.Fatalf("after the loss of %v there is no %s", names, name)
			}
		}
		c, err := keeper.Connect(limited(t), p.config("a"))
		if err != nil {
			t.Fatal(err)
		}
		if c.PID() != pid {
			t.Errorf("after the loss of %v the keeper is %d, want %d", names, c.PID(), pid)
		}
		_ = c.Close()
	}
	info, err := os.Lstat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	if err := os.RemoveAll(p.dir); err != nil {
		t.Fatal(err)
	}
	if err := unix.Kill(pid, unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	allGone(t, append(programs, pid)...)
}
