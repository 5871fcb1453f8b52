package terminal_test

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/wire"
)

// TestTerminalsComeBack: what ran runs on under the next server, what had ended
// is there as it was.
func TestTerminalsComeBack(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir)
	ended := start(t, m, "sh", "-c", "printf 'done here\\a\\a'; exit 3")
	waitFor(t, ended, wire.WaitCondition{For: "exit"})
	ran := start(t, m, "sh", "-c", "cd /; stty cols 90; printf 'still at it'; read x; printf \"heard $x\"; exit 4")
	waitFor(t, ran, wire.WaitCondition{For: "text", Pattern: "still at it"})
	gone := start(t, m, "true")
	waitFor(t, gone, wire.WaitCondition{For: "exit"})
	if err := m.Terminals.Delete(context.Background(), gone, false); err != nil {
		t.Fatal(err)
	}
	pid, printed := ran.Wire().PID, ended.Wire().LastOutputAt
	leave(t, m)

	m = open(t, dir)
	if n := len(m.Terminals.List("s")); n != 2 {
		t.Errorf("%d terminals are listed, want 2", n)
	}
	again := findIn(t, m, ended.ID)
	if i := again.Wire(); i.State != terminal.StateExited || i.Exit == nil || *i.Exit.Code != 3 || i.PID != 0 {
		t.Errorf("the ended one came back as %s with exit %+v", i.State, i.Exit)
	}
	if got := snapshot.Text(again.Hub().Snapshot().Frame, -1); !strings.HasPrefix(got, "done here\n") {
		t.Errorf("screen %q", got)
	}
	if i := again.Wire(); i.BellCount != 2 || i.LastOutputAt == nil || !i.LastOutputAt.Equal(*printed) {
		t.Errorf("with its screen %d bells and the last output at %v, want %v", i.BellCount, i.LastOutputAt, printed)
	}
	if _, err := again.Input(context.Background(), []byte("x")); !errors.Is(err, terminal.ErrExited) {
		t.Errorf("input: %v, want ErrExited", err)
	}
	if _, err := waits.Wait(context.Background(), again,
		within(wire.WaitCondition{For: "prompt"}, patience)); !errors.Is(err,
		terminal.ErrExited) {
		t.Errorf("wait for a prompt: %v, want ErrExited", err)
	}
	if err := again.Resize(100, 30); !errors.Is(err, terminal.ErrExited) {
		t.Errorf("resize: %v, want ErrExited", err)
	}
	on := findIn(t, m, ran.ID)
	if i := on.Wire(); i.State != terminal.StateRunning || i.PID != pid || i.Cwd != "/" {
		t.Errorf("the running one came back as %s, process %d in %q, was %d in /", i.State, i.PID, i.Cwd, pid)
	}
	waitFor(t, on, wire.WaitCondition{For: "text", Pattern: "still at it"})
	if _, err := on.Input(context.Background(), []byte("you\n")); err != nil {
		t.Error(err)
	}
	waitFor(t, on, wire.WaitCondition{For: "exit"})
	waitFor(t, on, wire.WaitCondition{For: "text", Pattern: "heard you"})
	if i := on.Wire(); i.State != terminal.StateExited || *i.Exit.Code != 4 || i.Cols != 90 {
		t.Errorf("it ended as %s %+v with %d columns", i.State, i.Exit, i.Cols)
	}
	if findIn(t, m, gone.ID).Wire().DeletedAt.IsZero() {
		t.Error("the deleted terminal is no longer deleted")
	}
	for _, id := range []string{ended.ID, ran.ID, gone.ID} {
		if err := m.Terminals.Delete(context.Background(), findIn(t, m, id), true); err != nil {
			t.Error(err)
		}
	}
	if left, _ := os.ReadDir(filepath.Join(dir, "terminals")); len(left) != 0 {
		t.Errorf("after the purge %v are left", left)
	}
}

func TestOneDamagedTerminalCostsNothingElse(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	m := open(t, dir)
	whole, hurt, lost := start(t, m, "echo", "whole"), start(t, m, "echo", "hurt"), start(t, m, "echo", "lost")
	for _, term := range []*terminal.Terminal{whole, hurt, lost} {
		waitFor(t, term, wire.WaitCondition{For: "exit"})
	}
	leave(t, m)
	screens, _ := filepath.Glob(filepath.Join(dir, "terminals", hurt.ID, "screen.*"))
	for _, f := range append(screens, filepath.Join(dir, "terminals", lost.ID, "meta")) {
		if err := os.WriteFile(f, []byte("rubbish"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m = open(t, dir)
	term, err := m.Terminals.Find("", whole.ID)
	if err != nil || !strings.Contains(snapshot.Text(term.Hub().Snapshot().Frame, -1), "whole") {
		t.Errorf("the whole one: %v", err)
	}
	if term, err = m.Terminals.Find("", hurt.ID); err != nil {
		t.Fatal(err)
	}
	if f := term.Hub().Snapshot().Frame; f.Rows != 24 || len(f.Main.Lines) != 24 || f.Main.Bottom != 23 {
		t.Errorf("without a screen %d rows and %d lines, down to %d", f.Rows, len(f.Main.Lines), f.Main.Bottom)
	}
	if term.Wire().Damage == "" {
		t.Error("the damage is not told")
	}
	if i := findIn(t, m, lost.ID).Wire(); i.Damage == "" || i.Cmd[0] != "echo" {
		t.Errorf("the one whose newest record is rubbish: command %q, damage %q", i.Cmd, i.Damage)
	}
}

// TestAProgramWithoutARecord: a program goes on whose record, or everything about it on disk, was lost.
func TestAProgramWithoutARecord(t *testing.T) {
	for _, what := range []string{"removed", "rubbish"} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			m := open(t, dir)
			term := start(t, m, "bash", "-c", "[ -e $0 ] && exec cat; : > $0", filepath.Join(t.TempDir(), "was"))
			<-term.Done()
			term, err := m.Terminals.Restart(term)
			if err != nil {
				t.Fatal(err)
			}
			typeIn(t, term, "before\n")
			see(t, term, "before\nbefore")
			if err := term.Resize(100, 30); err != nil {
				t.Fatal(err)
			}
			was := term.Wire()
			leave(t, m)
			files := filepath.Join(dir, "terminals", term.ID)
			if what == "removed" {
				err = os.RemoveAll(files)
			} else {
				for _, name := range []string{"meta", "meta.1"} {
					err = errors.Join(err, os.WriteFile(filepath.Join(files, name), []byte("rubbish"), 0o600))
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			m = open(t, dir)
			term = findIn(t, m, term.ID)
			typeIn(t, term, "after\n")
			see(t, term, "after\nafter")
			i := term.Wire()
			if i.State != terminal.StateRunning || i.PID != was.PID || i.Generation != 2 ||
				i.Cols != 100 || i.Rows != 30 || i.Session != terminal.RecoveredSession ||
				i.Cmd[0] != "cat" || i.Seq < was.Seq || i.Damage == "" {
				t.Errorf("%+v, was %+v", i, was)
			}
			if kept := strings.Contains(textOf(term), "before"); kept != (what == "rubbish") {
				t.Errorf("the screen is %q", textOf(term))
			}
		})
	}
}

// TestNothingIsLeftOfARecord: what has neither record, process nor screen is not brought back, and others are.
func TestNothingIsLeftOfARecord(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir)
	bare, shown := start(t, m, "echo", "bare"), start(t, m, "echo", "shown")
	<-bare.Done()
	<-shown.Done()
	leave(t, m)
	for _, pattern := range []string{bare.ID + "/*", shown.ID + "/meta*"} {
		list, err := filepath.Glob(filepath.Join(dir, "terminals", pattern))
		for _, name := range list {
			err = errors.Join(err, os.WriteFile(name, []byte("rubbish"), 0o600))
		}
		if err != nil || len(list) < 2 {
			t.Fatalf("%q, %v", list, err)
		}
	}
	m = open(t, dir)
	if _, err := m.Terminals.Find("", bare.ID); !errors.Is(err, terminal.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	term := findIn(t, m, shown.ID)
	if i := term.Wire(); i.State != terminal.StateLost || i.Exit == nil || i.Exit.Reason != "lost" || i.Damage == "" ||
		!strings.HasPrefix(textOf(term), "shown\n") {
		t.Errorf("%+v with the screen %q", i, textOf(term))
	}
}

// forgetEnd makes the record of a terminal that has ended one that was written before the last output.
func forgetEnd(t *testing.T, dir, id string) {
	t.Helper()
	editRecord(t, dir, id, func(r map[string]any) {
		r["state"] = terminal.StateRunning
		delete(r, "exit")
		delete(r, "ended_at")
		r["seq"] = 0
	})
}

// cutEnd takes the frame with the program's end, and what follows, off the index of a terminal's journal.
func cutEnd(t *testing.T, dir, id string) {
	t.Helper()
	const magic, frameOver, kindExit = 8, 7, 7 // see package journal
	name := filepath.Join(dir, "terminals", id, "index.0")
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	at := magic
	for at < len(b) && b[at+2] != kindExit {
		at += frameOver + int(binary.LittleEndian.Uint16(b[at:]))
	}
	if at >= len(b) {
		t.Fatalf("no end in %q", b)
	}
	if err := os.Truncate(name, int64(at)); err != nil {
		t.Fatal(err)
	}
}

// TestTheEndIsInTheJournal: everything was killed after the end of a program was told to viewers and before the record
// had it: the next server has the same end.
func TestTheEndIsInTheJournal(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir)
	term := start(t, m, "sh", "-c", "echo last w''ords; exit 7")
	<-term.Done()
	at := term.EndedAt()
	leaveTail(t, m, dir)
	forgetEnd(t, dir, term.ID)
	m = open(t, dir)
	term = findIn(t, m, term.ID)
	if i := term.Wire(); i.State != terminal.StateExited || i.Exit == nil || i.Exit.Reason != "exit" ||
		i.Exit.Code == nil || *i.Exit.Code != 7 || i.Damage != "" || !term.EndedAt().Equal(at) {
		t.Errorf("%+v, ended at %v, want %v", i, term.EndedAt(), at)
	}
	if text := textOf(term); !strings.HasPrefix(text, "last words\n") {
		t.Errorf("the screen is %q", text)
	}
}

// TestALostTerminal: a program that ended while nobody looked is lost, with the screen that the journal has; the
// servers after that say the same, and it can be restarted.
func TestALostTerminal(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir)
	term := start(t, m, "sh", "-c", "echo last w''ords")
	<-term.Done()
	leaveTail(t, m, dir)
	forgetEnd(t, dir, term.ID)
	cutEnd(t, dir, term.ID)
	m = open(t, dir)
	until(t, "the snapshot", func() bool {
		list, _ := filepath.Glob(filepath.Join(dir, "terminals", term.ID, "screen.*"))
		return len(list) > 0
	})
	at := findIn(t, m, term.ID).EndedAt()
	for range 2 {
		term = findIn(t, m, term.ID)
		if i := term.Wire(); i.State != terminal.StateLost || i.Exit == nil || i.Exit.Reason != "lost" ||
			i.Exit.Code != nil || i.Damage != "" || i.Seq != uint64(len("last words\r\n")) ||
			at.IsZero() || !term.EndedAt().Equal(at) {
			t.Errorf("%+v, ended at %v, before at %v", i, term.EndedAt(), at)
		}
		if text := textOf(term); !strings.HasPrefix(text, "last words\n") {
			t.Errorf("the screen is %q", text)
		}
		leave(t, m)
		m = open(t, dir)
	}
	next, err := m.Terminals.Restart(findIn(t, m, term.ID))
	if err != nil {
		t.Fatal(err)
	}
	see(t, next, `(?m)^last words\n── its process was lost · restarted [-0-9: ]+UTC ──\nlast words$`)
}

// TestSizesComeBack: the screen has the size of the terminal under the next server, also when it is made from the
// journal, and so had its output.
func TestSizesComeBack(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir)
	wide := strings.Repeat("x", 90)
	run, over := start(t, m, "cat"), start(t, m, "sh", "-c", "read x; echo $x")
	for _, term := range []*terminal.Terminal{run, over} {
		if err := term.Resize(100, 30); err != nil {
			t.Fatal(err)
		}
		typeIn(t, term, wide+"\n")
		see(t, term, "(?m)^"+wide+"\n"+wide+"$")
		if term == run {
			for _, cols := range []int{95, 98} {
				if err := term.Resize(cols, 31); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	<-over.Done()
	leaveTail(t, m, dir)
	m = open(t, dir)
	for term, size := range map[*terminal.Terminal][2]int{run: {98, 31}, over: {100, 30}} {
		term = findIn(t, m, term.ID)
		f := term.Hub().Snapshot().Frame
		if i := term.Wire(); i.Cols != size[0] || i.Rows != size[1] || f.Cols != size[0] || f.Rows != size[1] ||
			i.Damage != "" && term.Running() { // the snapshot of the other one is missed
			t.Errorf("%+v with a screen of %dx%d, want %v", i, f.Cols, f.Rows, size)
		}
		if text := textOf(term); !strings.HasPrefix(text, wide+"\n"+wide+"\n") {
			t.Errorf("the screen is %q", text)
		}
	}
}
