package terminal_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/tests/polling"
	"github.com/evertty/evertty/tests/supervisortest"
	"github.com/evertty/evertty/wire"
)

// smallDisk is a data directory on a file system of 1 MiB, which takes root to mount.
func smallDisk(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m,mode=0700"); err != nil {
		t.Skipf("cannot mount a small file system: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

const filler = "filler"

// fill takes all space that is left, but for some bytes.
func fill(t *testing.T, dir string, but int64) {
	t.Helper()
	path := filepath.Join(dir, filler)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = f.Write(make([]byte, 512))
	}
	_ = f.Close()
	if info, err := os.Stat(path); err != nil || os.Truncate(path, info.Size()-but) != nil {
		t.Fatalf("cannot give %d bytes back: %v", but, err)
	}
}

// shows is the position when the screen ends with a line.
func shows(t *testing.T, term *terminal.Terminal, line string) uint64 {
	t.Helper()
	if !polling.Until(supervisortest.Patience, func() bool {
		return strings.HasSuffix(strings.TrimSpace(textOf(term)), line)
	}) {
		t.Fatalf("the screen is %q", textOf(term))
	}
	return term.Wire().Seq
}

// TestPositionsGrowOnAFullDisk: a terminal that was created, and one that was restarted, while nothing could be
// written down goes on with the next server and the one after it, and no position comes twice. That holds also
// when a little space comes back in between, and when a server ends before it has made the screen again.
func TestPositionsGrowOnAFullDisk(t *testing.T) {
	const page = 4096
	loop := `while read n; do seq 500; echo "$n"; done`
	for _, c := range []struct {
		name      string
		recorded  bool // the disk becomes full only after the creation
		restarted bool
		back      int64 // space that is there for the second server, in bytes
	}{
		{"created", false, false, 0},
		{"created, a page comes back", false, false, page},
		{"created, pages come back", false, false, 3 * page},
		{"restarted", false, true, 0},
		{"restarted, a page comes back", false, true, page},
		{"restarted, pages come back", false, true, 3 * page},
		{"restarted, with a record of before", true, true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := smallDisk(t)
			m := open(t, dir)
			var term *terminal.Terminal
			if c.recorded {
				term = start(t, m, "bash", "-c", loop)
			}
			fill(t, dir, 0)
			defer os.Remove(filepath.Join(dir, filler)) // a keeper ends when the end of its programs is written down
			if !c.recorded {
				term = start(t, m, "bash", "-c", loop)
			}
			if c.restarted {
				typeIn(t, term, "\x04")
				<-term.Done()
				var err error
				if term, err = m.Terminals.Restart(term); err != nil {
					t.Fatal(err)
				}
			}
			pid := term.Process().PID()
			typeIn(t, term, "begun\n")
			shown := shows(t, term, "500\nbegun")
			for round := range 3 {
				supervisortest.Leave(t, m)
				fill(t, dir, c.back)
				m = open(t, dir)
				term = findIn(t, m, term.ID)
				if p := term.Process(); p == nil || p.PID() != pid {
					t.Fatalf("round %d: the program does not go on: %+v", round, term.Wire())
				}
				if before, after := term.Wire().Seq, term.Hub().Stats().Seq; before < shown || after < shown {
					t.Fatalf("round %d: position %d, with its screen %d, was %d: %s", round, before, after, shown,
						term.Wire().Damage)
				}
				if i := term.Wire(); c.back == 0 && !strings.Contains(i.Damage, "missing") {
					t.Errorf("round %d: the damage is %q", round, i.Damage)
				}
				typeIn(t, term, fmt.Sprintf("round %d\n", round))
				shown = shows(t, term, fmt.Sprintf("500\nround %d", round))
			}
		})
	}
}

// TestARestartOnAFullDiskIsTold: health says at once that the line above the new program is not on disk, though the
// program prints nothing.
func TestARestartOnAFullDiskIsTold(t *testing.T) {
	dir := smallDisk(t)
	m := open(t, dir)
	term := start(t, m, "sh", "-c", "stty -echo; [ -e $0 ] && exec cat; : > $0", filepath.Join(t.TempDir(), "was"))
	<-term.Done()
	fill(t, dir, 0)
	defer os.Remove(filepath.Join(dir, filler))
	if _, err := m.Terminals.Restart(term); err != nil {
		t.Fatal(err)
	}
	if lossy, _, _ := m.Terminals.Problems(); !strings.Contains(strings.Join(lossy, "\n"), "write a journal") {
		t.Errorf("told are %q", lossy)
	}
}

// TestWaitOnAFullDisk: a wait sees what the journal could not keep, while the disk is full, also one
// that begins behind it.
func TestWaitOnAFullDisk(t *testing.T) {
	dir := smallDisk(t)
	m := open(t, dir)
	before := start(t, m, "bash", "--norc")
	awaits := func(term *terminal.Terminal, c wire.WaitCondition, since *uint64) {
		t.Helper()
		await(t, term, wire.Wait{Any: []wire.WaitCondition{c}, Since: since})
	}
	awaits(before, wire.WaitCondition{For: "prompt"}, nil)
	fill(t, dir, 0)
	defer os.Remove(filepath.Join(dir, filler))
	for _, term := range []*terminal.Terminal{before, start(t, m, "bash", "--norc")} {
		awaits(term, wire.WaitCondition{For: "prompt"}, nil)
		for round := range 3 {
			var seen sync.WaitGroup
			seen.Go(func() { see(t, term, fmt.Sprintf("much  %d", round)) })
			seq := typeIn(t, term, fmt.Sprintf("echo %s' '%d\r", strings.Repeat("much ", 200), round))
			seen.Wait()
			for _, pattern := range []string{"much  %d$", `(?s)much  %d\n`} {
				awaits(term, wire.WaitCondition{For: "regex", Pattern: fmt.Sprintf(pattern, round)}, &seq)
			}
			awaits(term, wire.WaitCondition{For: "prompt"}, &seq)
		}
	}
}
