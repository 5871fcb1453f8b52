package keeper_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestForeignSocket: a keeper whose directory was removed and made again does not remove the socket of the keeper that
// is there now, also when it was upgraded before.
func TestForeignSocket(t *testing.T) {
	for _, releases := range [][]string{{"a"}, {"a", "b"}} {
		p := newPlace(t)
		p.dir = filepath.Join(p.dir, "data")
		if err := os.Mkdir(p.dir, 0o700); err != nil {
			t.Fatal(err)
		}
		old := 0
		for _, release := range releases {
			c := p.connect(release)
			old = c.PID()
			_ = c.Close()
		}
		if err := os.RemoveAll(p.dir); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(p.dir, 0o700); err != nil {
			t.Fatal(err)
		}
		c := p.connect("b")
		start(t, c, "x", shell("/", "cat"))
		pid := c.PID()
		if pid == old {
			t.Fatal("one keeper for two directories")
		}
		_ = c.Close()
		path := filepath.Join(p.dir, "keeper.sock")
		before := inode(t, path)
		if err := unix.Kill(old, unix.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if !poll(func() bool { return ended(old) }) {
			t.Fatal("it does not end")
		}
		if inode(t, path) != before { // not only found again: it was never away
			t.Error("another socket")
		}
		c = p.connect("b")
		if c.PID() != pid || len(taken(t, c)) != 1 {
			t.Errorf("keeper %d, want %d", c.PID(), pid)
		}
		_ = c.Close()
	}
}

// ended reports whether a process is no more: this one reaps the keepers it started.
func ended(pid int) bool {
	return unix.Kill(pid, 0) == unix.ESRCH
}

// TestSocketRemoved: a keeper is found again when somebody has removed its socket, also after it was upgraded, and ends
// as it should.
func TestSocketRemoved(t *testing.T) {
	p := newPlace(t)
	c := p.connect("a")
	s := start(t, c, "x", shell(p.dir, "cat"))
	pid := c.PID()
	_ = c.Close()
	path := filepath.Join(p.dir, "keeper.sock")
	for _, release := range []string{"a", "b", "b"} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		c := p.connect(release)
		if c.PID() != pid || len(taken(t, c)) != 1 {
			t.Errorf("keeper %d, want %d", c.PID(), pid)
		}
		_ = c.Close()
	}
	before := inode(t, path)
	if err := unix.Kill(pid, unix.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	c = p.connect("b")
	s.send("hello\n")
	s.expect("hello")
	if inode(t, path) != before {
		t.Error("the socket was made again although it was there")
	}
	s.send("\x04")
	s.exit()
	c.Release("x")
	_ = c.Close()
	terminate(t, p, pid)
	if !poll(p.vacant) {
		t.Fatal("it does not end")
	}
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("socket: %v", err)
	}
}

func inode(t *testing.T, path string) uint64 {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		t.Fatal(err)
	}
	return st.Ino
}
