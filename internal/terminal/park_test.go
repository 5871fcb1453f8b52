package terminal_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/supervisor"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

// colourful fills the screen and prints more when it gets a line.
const colourful = `stty -echo; printf '\033]0;work\a\033[31mred\033[?2004h\033[3;7r\033[5;5Hx\a'; ` +
	`seq 200; printf 'ready\342\202'; read -r _; printf '\254 after\n'; read -r _`

// stateOf is everything that a terminal's screen is.
func stateOf(t *terminal.Terminal) []byte {
	return snapshot.ANSI(t.Hub().Snapshot().Frame, snapshot.Options{Scrollback: -1, Engine: true})
}

// park parks a terminal and checks what lists show.
func park(t *testing.T, term *terminal.Terminal) {
	t.Helper()
	before := term.Wire()
	if err := term.Park(); err != nil {
		t.Fatal(err)
	}
	checkParked(t, term, before)
}

// checkParked checks that lists show what they showed before, and wake nothing.
func checkParked(t *testing.T, term *terminal.Terminal, before wire.Terminal) {
	t.Helper()
	after := term.Wire()
	if !after.Parked || after.MemoryBytes != 0 || after.State != terminal.StateRunning || after.PID != before.PID {
		t.Errorf("lists show %+v", after)
	}
	if after.Title != before.Title || after.Cols != before.Cols || after.Rows != before.Rows || after.Seq != before.Seq ||
		after.BellCount != before.BellCount || after.AltScreen != before.AltScreen || after.Cwd != before.Cwd {
		t.Errorf("lists show %+v, before %+v", after, before)
	}
}

// TestPark: the screen of a parked terminal is the same after it was woken, by a look, by input, by output, under the
// next server; the half of a character is not lost.
func TestPark(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir)
	twin, term := start(t, m, "bash", "-c", colourful), start(t, m, "bash", "-c", colourful)
	see(t, twin, "ready")
	see(t, term, "ready")
	park(t, term)
	if got, want := stateOf(term), stateOf(twin); !bytes.Equal(got, want) {
		t.Errorf("a look got\n%q\nwant\n%q", got, want)
	}
	if term.Parked() {
		t.Error("parked after a look")
	}
	park(t, term)
	before := term.Wire()
	leave(t, m)

	m = open(t, dir)
	twin, term = findIn(t, m, twin.ID), findIn(t, m, term.ID)
	if err := term.AwaitScreen(context.Background()); err != nil {
		t.Fatal(err)
	}
	if term.Parked() { // half a character is not part of a record
		checkParked(t, term, before)
	}
	typeIn(t, twin, "\n")
	typeIn(t, term, "\n")
	see(t, twin, "€ after")
	see(t, term, "€ after")
	if got, want := stateOf(term), stateOf(twin); !bytes.Equal(got, want) {
		t.Errorf("after output\n%q\nwant\n%q", got, want)
	}
}

// TestParkAtOnce: many callers park one terminal at the same time. None of them waits for itself.
func TestParkAtOnce(t *testing.T) {
	m := open(t, t.TempDir())
	term := start(t, m, "bash", "-c", colourful)
	see(t, term, "ready")
	parked := make(chan error)
	for range 8 {
		go func() { parked <- term.Park() }()
	}
	for range 8 {
		if err := <-parked; err != nil {
			t.Error(err)
		}
	}
	if !term.Parked() {
		t.Error("it is awake")
	}
}

// TestParkedOverServers: a parked terminal stays parked under the next server, which has no screen of it before a look.
// One that prints in between is not, and shows all of it.
func TestParkedOverServers(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir)
	silent := start(t, m, "bash", "-c", `printf '\033]0;work\a\033[7mmine'; read -r _; echo more; read -r _`)
	at := t.TempDir()
	noisy := start(t, m, "bash", "-c", `cd "$0"; printf mine; until [ -e go ]; do sleep 0.02; done; echo yours; `+
		`touch done; read -r _`, at)
	see(t, silent, "mine")
	see(t, noisy, "mine")
	park(t, silent)
	park(t, noisy)
	before := silent.Wire()
	leave(t, m)
	if err := os.WriteFile(filepath.Join(at, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	until(t, "the program printed", func() bool { _, err := os.Stat(filepath.Join(at, "done")); return err == nil })

	m = open(t, dir)
	silent, noisy = findIn(t, m, silent.ID), findIn(t, m, noisy.ID)
	for _, term := range []*terminal.Terminal{silent, noisy} {
		if err := term.AwaitScreen(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	checkParked(t, silent, before)
	see(t, noisy, "mineyours")
	if got := strings.TrimSpace(textOf(silent)); got != "mine" {
		t.Errorf("the screen is %q", got)
	}
	park(t, silent)
	typeIn(t, silent, "\n")
	see(t, silent, "more")
	if i := silent.Wire(); i.Damage != "" || i.Parked {
		t.Errorf("damage %q, parked %v", i.Damage, i.Parked)
	}
}

// TestParkedOverQuotas: quotas drop the older snapshot and the journal of a parked terminal, never what it is made
// of again.
func TestParkedOverQuotas(t *testing.T) {
	dir := t.TempDir()
	m := openWith(t, dir, supervisor.Config{Terminals: terminal.Config{Engine: vt.NewEngine,
		Clean: terminal.CleanPolicy{SnapshotQuota: 1, JournalQuota: 1}}})
	term := start(t, m, "bash", "-c", `printf '\033[1mfirst'; read -r _; echo second; read -r _`)
	see(t, term, "first")
	typeIn(t, term, "\n")
	see(t, term, "second")
	want := stateOf(term)
	park(t, term)
	until(t, "the older snapshot is dropped", func() bool { return len(snapshots(t, dir, term.ID)) == 1 })
	if got := stateOf(term); !bytes.Equal(got, want) {
		t.Errorf("over a quota\n%q\nwant\n%q", got, want)
	}
}

// TestParkedWithoutItsSnapshot: a parked terminal is exact also when the snapshot of its parking is damaged.
func TestParkedWithoutItsSnapshot(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir)
	term := start(t, m, "bash", "-c", `printf '\033[1mfirst'; read -r _; echo second; read -r _`)
	see(t, term, "first")
	park(t, term)
	typeIn(t, term, "\n")
	see(t, term, "second")
	want := stateOf(term)
	park(t, term)
	newest := slices.Max(snapshots(t, dir, term.ID))
	b, err := os.ReadFile(newest)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 0xff
	if err := os.WriteFile(newest, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := stateOf(term); !bytes.Equal(got, want) {
		t.Errorf("from the older one\n%q\nwant\n%q", got, want)
	}
}

// snapshots are the snapshot files of a terminal, of which there are few.
func snapshots(t *testing.T, dir, id string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "terminals", id, "screen.*"))
	if err != nil || len(list) == 0 {
		t.Fatalf("no snapshots: %v", err)
	}
	return list
}

// TestParkRefuses: a watched terminal is not parked, nor one that has ended.
func TestParkRefuses(t *testing.T) {
	m := open(t, t.TempDir())
	term := start(t, m, "cat")
	sub := term.Hub().Subscribe(stream.SubscribeOptions{})
	if err := term.Park(); !errors.Is(err, terminal.ErrInUse) {
		t.Errorf("with a viewer: %v", err)
	}
	term.Detach(sub)
	park(t, term)
	for what, use := range map[string]func() error{
		"resize": func() error { return term.Resize(70, 20) },
		"signal": func() error { return term.Signal("CONT") },
		"keys":   func() error { _, err := term.Keys(context.Background(), []string{"a"}); return err },
	} {
		if err := use(); err != nil || term.Parked() {
			t.Errorf("%s: %v, parked %v", what, err, term.Parked())
		}
		until(t, "it is parked again", func() bool { return term.Park() == nil })
	}
	typeIn(t, term, "\x04\x04")
	<-term.Done()
	if err := term.Park(); !errors.Is(err, terminal.ErrExited) {
		t.Errorf("after the end: %v", err)
	}
}

// TestParkAfter: an idle terminal is parked by itself, again and again; a watched one is not.
func TestParkAfter(t *testing.T) {
	m := openWith(t, t.TempDir(), supervisor.Config{Terminals: terminal.Config{Engine: vt.NewEngine,
		ParkAfter: time.Millisecond}})
	idle, watched := start(t, m, "cat"), start(t, m, "cat")
	sub := watched.Hub().Subscribe(stream.SubscribeOptions{})
	defer watched.Detach(sub)
	for i := range 2 {
		until(t, "it is parked", idle.Parked)
		typeIn(t, idle, fmt.Sprintf("line %d\n", i))
		see(t, idle, fmt.Sprintf("line %d", i))
	}
	if watched.Parked() {
		t.Error("a watched terminal is parked")
	}
}

// TestParkInAFlood: a program that prints is parked and woken all the time and loses no line.
func TestParkInAFlood(t *testing.T) {
	m := open(t, t.TempDir())
	term := start(t, m, "bash", "-c", `for ((i = 0; i < 20000; i++)); do echo $i; done; read -r _`)
	parked := 0
	for term.Wire().Seq < 100_000 {
		if err := term.Park(); err == nil {
			parked++
		} else if !errors.Is(err, terminal.ErrInUse) {
			t.Fatal(err)
		}
	}
	see(t, term, "19999")
	want := bytes.Buffer{}
	for i := 20000 - 500; i < 20000; i++ {
		fmt.Fprintf(&want, "%d\n", i)
	}
	if got := textOf(term); !bytes.Contains([]byte(got), want.Bytes()) {
		t.Errorf("parked %d times, the last lines are %q", parked, got[max(0, len(got)-200):])
	}
	if d := term.Wire().Damage; d != "" {
		t.Errorf("damage %q", d)
	}
}

// TestRest: a terminal at rest has no goroutine, and shows at once what its program prints, each time.
func TestRest(t *testing.T) {
	const n = 20
	m := open(t, t.TempDir())
	empty := runtime.NumGoroutine()
	terms := make([]*terminal.Terminal, n)
	for i := range terms {
		terms[i] = start(t, m, "bash", "-c", `stty -echo; for i in 1 2 3; do echo "line $i"; read -r _; done`)
	}
	for _, seen := range []string{"line 1", "line 2", "line 3"} {
		for _, term := range terms {
			see(t, term, seen)
			term.Rest()
		}
		until(t, "none of a terminal at rest is left", func() bool { return runtime.NumGoroutine() < empty+n/2 })
		for _, term := range terms {
			typeIn(t, term, "\n")
		}
	}
	for _, term := range terms {
		<-term.Done()
	}
}

// TestQuietHistoryIsCompressed: the history of a terminal that has printed much takes less memory once it is quiet, of
// a parked one as soon as it is looked at, and under the next server.
func TestQuietHistoryIsCompressed(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir)
	term := start(t, m, "bash", "-c", `for i in {1..4000}; do echo "some words that repeat $i"; done; read -r _`)
	see(t, term, "4000")
	const loose = 4000 * len("some words that repeat 4000")
	small := func() bool {
		memory := term.Hub().Stats().Memory
		return memory > 0 && memory < loose*2/3
	}
	until(t, "it is quiet", small)
	park(t, term)
	if see(t, term, "4000"); !small() {
		t.Errorf("%d bytes after a look", term.Hub().Stats().Memory)
	}
	leave(t, m)
	m = open(t, dir)
	term = findIn(t, m, term.ID)
	see(t, term, "4000") // of a screen that is parked
	until(t, "the next server has it", small)
}

// TestParkedKeepsNoGoroutine: a parked terminal has no goroutine, under this server and the next one; what its program
// prints, and its end, are seen all the same.
func TestParkedKeepsNoGoroutine(t *testing.T) {
	const n = 20
	dir := t.TempDir()
	m := open(t, dir)
	empty := runtime.NumGoroutine()
	ids := make([]string, n)
	for i := range n {
		term := start(t, m, "bash", "-c", `stty -echo; echo one; read -r _; echo two; read -r _`)
		see(t, term, "one")
		ids[i] = term.ID
	}
	few := func() bool { return runtime.NumGoroutine() < empty+n/2 }
	if few() {
		t.Error("terminals that are awake have none: the test tells nothing")
	}
	for _, id := range ids {
		park(t, findIn(t, m, id))
	}
	until(t, "none of a parked terminal is left", few)
	leave(t, m)

	m = open(t, dir)
	for _, id := range ids {
		if err := findIn(t, m, id).AwaitScreen(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "the next server has none", few)
	for _, id := range ids {
		term := findIn(t, m, id)
		typeIn(t, term, "\n")
		see(t, term, "two")
		park(t, term)
	}
	until(t, "none is left after another time", few)
	for _, id := range ids {
		term := findIn(t, m, id)
		if err := unix.Kill(term.Wire().PID, unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		<-term.Done()
	}
}
