package terminal_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evertty/evertty/internal/supervisor"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/internal/terminal/wait"
	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/tests/polling"
	"github.com/evertty/evertty/tests/supervisortest"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

// marked is an engine that calls a function when it gets certain output.
type marked struct {
	vt.Engine
	mark string
	call func()
}

func (m marked) WriteSome(p []byte, work int) (text []byte, n int) {
	if bytes.Contains(p, []byte(m.mark)) {
		m.call()
	}
	return m.Engine.WriteSome(p, work)
}

func openMarked(t *testing.T, dir, mark string, call func()) *supervisor.Supervisor {
	return supervisortest.OpenWith(
		t,
		dir,
		supervisor.Config{Terminals: terminal.Config{Engine: func(c vt.Config) vt.Engine {
			return marked{vt.NewEngine(c), mark, call}
		}}},
	)
}

// leaveTail ends a server as a kill does that leaves output without a snapshot.
func leaveTail(t *testing.T, m *supervisor.Supervisor, dir string) {
	t.Helper()
	supervisortest.Leave(t, m)
	list, err := filepath.Glob(filepath.Join(dir, "terminals", "*", "screen.*"))
	if err != nil || len(list) == 0 {
		t.Fatalf("no snapshots: %v", err)
	}
	for _, name := range list {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
}

func textOf(t *terminal.Terminal) string { return snapshot.Text(t.Hub().Snapshot().Frame, -1) }

func findIn(t *testing.T, m *supervisor.Supervisor, id string) *terminal.Terminal {
	t.Helper()
	term, err := m.Terminals.Find("", id)
	if err != nil {
		t.Fatal(err)
	}
	return term
}

// goesOnWithout checks that a terminal has lost what it showed, says why and goes on, and that the
// other one, which shows "fine", is whole.
func goesOnWithout(t *testing.T, m *supervisor.Supervisor, id, lost, why, other string) {
	t.Helper()
	b, g := findIn(t, m, id), findIn(t, m, other)
	if got := textOf(b); strings.Contains(got, lost) {
		t.Errorf("the screen is %q", got)
	}
	if i := b.Wire(); !strings.Contains(i.Damage, why) || i.State != terminal.StateRunning {
		t.Errorf("%s with damage %q", i.State, i.Damage)
	}
	if _, _, damaged := m.Terminals.Problems(); damaged != 1 {
		t.Errorf("%d terminals are damaged", damaged)
	}
	if got := textOf(g); !strings.HasPrefix(got, "fine\n") || g.Wire().Damage != "" {
		t.Errorf("the other one: %q, %q", got, g.Wire().Damage)
	}
	typeIn(t, b, "goes on\n")
	see(t, b, "goes on")
}

// TestAFailedReplayIsOneTerminalsDamage: the emulator that fails with the output of one terminal
// costs that screen; every start works, and the program goes on.
func TestAFailedReplayIsOneTerminalsDamage(t *testing.T) {
	dir := t.TempDir()
	m := openMarked(t, dir, "\x00", func() {})
	bad, good := start(t, m, "sh", "-c", "echo b''ad; exec cat"), start(t, m, "sh", "-c", "echo fine; exec cat")
	see(t, bad, "bad")
	see(t, good, "fine")
	leaveTail(t, m, dir)
	for range 2 {
		m = openMarked(t, dir, "bad\r\n", func() { panic("a fault of the emulator") })
		goesOnWithout(t, m, bad.ID, "bad", "a fault of the emulator", good.ID)
		leaveTail(t, m, dir)
	}
	m = openMarked(t, dir, "\x00", func() {})
	if got := textOf(findIn(t, m, bad.ID)); !strings.HasPrefix(got, "bad\n") {
		t.Errorf("an emulator without the fault shows %q", got)
	}
}

// TestNobodyWaitsForAnotherReplay: a server opens while the screen of a terminal is made again.
// Others are served, that one gets input, and its screen is exact when it is there.
func TestNobodyWaitsForAnotherReplay(t *testing.T) {
	dir := t.TempDir()
	m := openMarked(t, dir, "\x00", func() {})
	heard := filepath.Join(t.TempDir(), "heard")
	busy := start(t, m, "sh", "-c", "echo sl''ow; read x; echo $x > "+heard+"; read x; echo \"<$x>\"; exec cat")
	other := start(t, m, "cat")
	see(t, busy, "slow")
	leaveTail(t, m, dir)
	hold := make(chan struct{})
	m = openMarked(t, dir, "slow\r\n", func() { <-hold })
	b, o := findIn(t, m, busy.ID), findIn(t, m, other.ID)
	typeIn(t, o, "here\n")
	see(t, o, "here\nhere")
	if i := b.Wire(); i.State != terminal.StateRunning || i.Cols != busy.Wire().Cols || len(m.Terminals.List("")) != 2 {
		t.Errorf("%+v", i)
	}
	typeIn(t, b, "early\n") // the program has it, whatever the screen
	if !polling.Until(supervisortest.Patience, func() bool {
		p, _ := os.ReadFile(heard)
		return string(p) == "early\n"
	}) {
		t.Fatal("input does not come to the program")
	}
	w, err := waits.Wait(context.Background(), b, wire.Wait{Any: []wire.WaitCondition{{For: "text", Pattern: "x"}},
		TimeoutMS: 50})
	if !wait.NotMet(err) || w.Seq == 0 {
		t.Errorf("a wait before the screen is there: %+v, %v", w, err)
	}
	close(hold)
	typeIn(t, b, "late\n")
	see(t, b, "<late>")
	if got := textOf(b); !strings.HasPrefix(got, "slow\nearly\nlate\n<late>\n") {
		t.Errorf("the screen is %q", got)
	}
}
