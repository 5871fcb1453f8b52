package shell

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// fileCounter counts the files that are made and removed in directories, when it is asked.
type fileCounter struct {
	t             *testing.T
	fd            int
	made, removed int
	names         []string
}

// countFiles counts from now on, in a directory and all below it.
func countFiles(t *testing.T, dir string) *fileCounter {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_, err = unix.InotifyAddWatch(fd, path, unix.IN_CREATE|unix.IN_DELETE)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return &fileCounter{t: t, fd: fd}
}

// read counts what has happened since.
func (c *fileCounter) read() {
	c.t.Helper()
	for buf := make([]byte, 64<<10); ; {
		n, err := unix.Read(c.fd, buf)
		if errors.Is(err, unix.EAGAIN) {
			return
		}
		if err != nil {
			c.t.Fatal(err)
		}
		for at := 0; at < n; {
			mask := binary.NativeEndian.Uint32(buf[at+4:])
			end := at + unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(buf[at+12:]))
			c.names = append(c.names, strings.TrimRight(string(buf[at+unix.SizeofInotifyEvent:end]), "\x00"))
			switch {
			case mask&unix.IN_Q_OVERFLOW != 0:
				c.t.Fatal("the kernel has lost some")
			case mask&unix.IN_CREATE != 0:
				c.made++
			default:
				c.removed++
			}
			at = end
		}
	}
}

// TestNewFiles: a command makes its directory and its record, and a file for its output if it has any. Nothing is made
// to be removed: on ext4 without a journal each new file would cost a search among removed ones.
func TestNewFiles(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, c := range []struct {
		text     string
		commands int
		each     int // files in the directory of a command
	}{{"true", 100, 2}, {"true\ntrue", 20, 3}, {"false", 20, 2}, {"echo out", 20, 3}} {
		for range 4 { // each slot has the files for it
			run(t, s, c.text)
		}
		settled(t, s)
		counted := countFiles(t, s.spec.Dir)
		inside := 0
		for range c.commands {
			e := begin(t, s, Command{Text: c.text})
			result(t, e)
			settled(t, s)
			found, err := filepath.Glob(filepath.Join(e.dir, "*"))
			if err != nil {
				t.Fatal(err)
			}
			inside += len(found)
		}
		counted.read()
		if counted.made != c.commands || inside != c.each*c.commands || counted.removed != 0 {
			t.Errorf("%q: %d directories and files are made, %d in these, %d removed: %v", c.text, counted.made, inside,
				counted.removed, counted.names)
		}
	}
}

// TestReusedFIFOsKeepCommandsApart: a process that a command has left, which holds its output or reads from it, has
// nothing to do with later commands: their cancel does not end it, and their output does not go to it.
func TestReusedFIFOsKeepCommandsApart(t *testing.T) {
	t.Parallel()
	s := start(t)
	if holds := run(t, s, "( setsid sleep 1000 & echo $! >holds )"); !holds.Background {
		t.Errorf("%+v", holds)
	}
	if left := fifos(t, s.spec.Dir); len(left) > 1 {
		t.Errorf("FIFOs %v that a job holds", left)
	}
	run(t, s, "( setsid bash -c 'while sleep 0.02; do cat; done' </dev/stdout >taken 2>/dev/null & echo $! >reads )")
	for range 2 {
		timed(t, s, "sleep 100", false)
		expect(t, run(t, s, "echo out; echo err >&2; for n in {1..100}; do echo $n; done | tail -n 1"), 0, "out\n100\n")
	}
	expect(t, run(t, s, "kill -0 $(<holds) && cat taken"), 0, "")
	run(t, s, "kill $(<holds) $(<reads)")
}
