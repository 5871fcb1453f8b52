package terminal_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

// TestControls: keys are as the program's modes demand, signals reach the foreground, and each control says what is
// wrong with it and that a terminal has ended.
func TestControls(t *testing.T) {
	parallel(t)
	m := open(t, t.TempDir())
	term := start(t, m, "bash", "-c", `trap 'echo "<usr1>"; exit 4' USR1; echo ready; while :; do read x; done`)
	see(t, term, "ready")
	ctx := context.Background()
	keys := start(t, m, "sh", "-c", `stty raw -echo; printf '\033[?1hready'; exec cat -v`)
	see(t, keys, "ready")
	if _, err := keys.Keys(ctx, []string{"Up", "C-c", "F5"}); err != nil {
		t.Fatal(err)
	}
	see(t, keys, `\^\[OA\^C\^\[\[15~`)
	if _, err := keys.Keys(ctx, []string{"Up", "Hyper"}); !errors.Is(err, vt.ErrUnknownKey) {
		t.Error(err)
	}
	if err := term.Signal("NONE"); !errors.Is(err, pty.ErrBadSignal) {
		t.Error(err)
	}
	if err := term.Resize(0, 24); !errors.Is(err, terminal.ErrInvalid) {
		t.Error(err)
	}
	if err := term.Signal("USR1"); err != nil {
		t.Fatal(err)
	}
	see(t, term, "<usr1>")
	<-term.Done()
	_, pasted := term.Paste(ctx, "x")
	_, pressed := term.Keys(ctx, []string{"Up"})
	_, moved := term.Mouse(ctx, vt.MouseEvent{Action: "press", Button: "left"})
	for name, err := range map[string]error{"paste": pasted, "keys": pressed, "mouse": moved,
		"resize": term.Resize(90, 30), "signal": term.Signal("USR1"), "exit": term.ExitError()} {
		if !errors.Is(err, terminal.ErrExited) || !strings.Contains(err.Error(), term.ID+" is exited") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestViewersShapeTheTerminal: the size that a viewer asks for counts while it watches and is not hidden.
func TestViewersShapeTheTerminal(t *testing.T) {
	parallel(t)
	m := open(t, t.TempDir())
	const program = "stty -echo; while read x; do clear; stty size; done"
	term, err := m.Terminals.Create("s", wire.CreateTerminal{Cmd: []string{"sh", "-c", program},
		SizePolicy: wire.SizePolicy(stream.PolicySmallest)})
	if err != nil {
		t.Fatal(err)
	}
	sizes := func(what string, viewers, cols, rows int) {
		t.Helper()
		w := term.Wire()
		if n := term.AttachedViewers(); n != viewers || w.Cols != cols || w.Rows != rows {
			t.Errorf("%s: %d viewers, %dx%d", what, n, w.Cols, w.Rows)
		}
		typeIn(t, term, "\n")
		see(t, term, fmt.Sprintf(`(?m)^%d %d$`, rows, cols))
	}
	wide := term.Hub().Subscribe(stream.SubscribeOptions{})
	narrow := term.Hub().Subscribe(stream.SubscribeOptions{})
	for sub, cols := range map[*stream.Subscription]int{wide: 120, narrow: 60} {
		if err := term.RequestSize(sub, cols, 40); err != nil {
			t.Fatal(err)
		}
	}
	sizes("both", 2, 60, 40)
	term.Hide(narrow, true)
	sizes("the narrow one is hidden", 2, 120, 40)
	term.Hide(narrow, false)
	sizes("and is back", 2, 60, 40)
	if err := term.RequestSize(wide, vt.MaxSize+1, vt.MaxSize+1); err != nil {
		t.Error(err)
	}
	term.Detach(narrow)
	sizes("one that asks for too much", 1, vt.MaxSize, vt.MaxSize)
	term.Detach(wide)
	if n := term.AttachedViewers(); n != 0 {
		t.Errorf("%d viewers are left", n)
	}
}

// TestPrinted counts what the program prints, under the server that is asked.
func TestPrinted(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	m := open(t, dir)
	term := start(t, m, "sh", "-c", "stty -echo -onlcr; printf 12345; while read x; do printf %s $x; done; exit 3")
	printed := func(want uint64) {
		t.Helper()
		until(t, "the output", func() bool { return term.Printed() >= want })
		if n := term.Printed(); n != want {
			t.Errorf("%d bytes, want %d", n, want)
		}
	}
	printed(5)
	leave(t, m)
	m = open(t, dir)
	term = findIn(t, m, term.ID)
	see(t, term, "12345")
	printed(0)
	typeIn(t, term, "678\n")
	printed(3)
	typeIn(t, term, "\x04")
	<-term.Done()
	term, err := m.Terminals.Restart(term)
	if err != nil {
		t.Fatal(err)
	}
	see(t, term, "restarted[^\n]*\n12345")
	printed(5)
}

// TestDirectory: where a program is comes from the system with links followed, whatever the program reports; where it
// says that it is counts for the next start.
func TestDirectory(t *testing.T) {
	parallel(t)
	base, m := t.TempDir(), open(t, t.TempDir())
	place, link, told := filepath.Join(base, "place"), filepath.Join(base, "link"), filepath.Join(base, "told")
	for _, err := range []error{os.Mkdir(place, 0o700), os.Mkdir(told, 0o700), os.Symlink(place, link)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	term := startIn(t, m, link, "sh", "-c", `printf ready; read x; printf '\033]7;file://%s\007-' "$x"; read x`)
	see(t, term, "ready")
	if d, cwd := term.Directory(), term.RefreshCwd(); d != place || cwd != link {
		t.Errorf("it is in %s, shown as %s", d, cwd)
	}
	typeIn(t, term, told+"\n")
	see(t, term, "-$")
	until(t, "the report", func() bool { return term.RefreshCwd() == told })
	if d := term.Directory(); d != place {
		t.Errorf("it is in %s, want %s", d, place)
	}
	typeIn(t, term, "\n")
	<-term.Done()
	if d := term.Directory(); d != told {
		t.Errorf("after the end %s, want the last known one", d)
	}
	if err := os.Remove(told); err != nil {
		t.Fatal(err)
	}
	term, err := m.Terminals.Restart(term)
	if err != nil {
		t.Fatal(err)
	}
	see(t, term, "restarted[^─]*── "+told+" is gone")
	if w := term.Wire(); w.CwdFallback != told || w.Cwd != base {
		t.Errorf("it starts in %s instead of %s", w.Cwd, w.CwdFallback)
	}
}

// TestPromptMark: the newest mark has its place, and the process group that had the foreground at the prompt.
func TestPromptMark(t *testing.T) {
	parallel(t)
	m := open(t, t.TempDir())
	term := start(t, m, "sh", "-c", `stty -echo; printf ready; while read x; do printf "\033]133;$x\007.$x"; done`)
	see(t, term, "ready")
	if mark := term.PromptMark(); mark != nil {
		t.Errorf("%+v before any", mark)
	}
	seq := uint64(len("ready"))
	for _, kind := range []string{"A", "B", "C", "D"} {
		typeIn(t, term, kind+"\n")
		see(t, term, `\.`+kind)
		seq += uint64(len("\x1b]133;A\a"))
		mark := term.PromptMark()
		if mark == nil || string(mark.Kind) != kind || mark.Seq != seq || mark.Group != term.Process().PID() {
			t.Errorf("%s: %+v at %d of %d", kind, mark, seq, term.Process().PID())
		}
		seq += uint64(len(".A"))
	}
}

// TestResizeBeforeTheProgramDraws: what a program draws when it hears of a new size is on a screen of that size,
// however long others keep the screen.
func TestResizeBeforeTheProgramDraws(t *testing.T) {
	m := open(t, t.TempDir())
	const draw = "\x1b[2J\x1b[1;70H|"
	term := start(t, m, "bash", "-c", `stty -echo; trap 'printf "\e[2J\e[1;70H|"' WINCH; seq 5000; echo ready; `+
		`sleep 1000 & while :; do wait; done`)
	see(t, term, "ready")
	ctx, stop := context.WithCancel(context.Background())
	var others sync.WaitGroup
	for range 4 {
		others.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				term.Hub().Modes()
				term.Hub().Snapshot()
			}
		})
	}
	defer others.Wait()
	defer stop()
	for n := range 100 {
		cols := 40 + n%2*40
		seq := term.Wire().Seq
		if err := term.Resize(cols, 24); err != nil {
			t.Fatal(err)
		}
		until(t, "it is drawn", func() bool { return term.Wire().Seq == seq+uint64(len(draw)) })
		if row := strings.TrimRight(lineOf(term), " "); cols == 80 && row != strings.Repeat(" ", 69)+"|" {
			t.Fatalf("resize %d: the first row is %q", n, row)
		}
	}
}

// lineOf is the first row of a terminal's screen.
func lineOf(term *terminal.Terminal) string {
	text, _, _ := strings.Cut(snapshot.Text(term.Hub().Snapshot().Frame, 0), "\n")
	return text
}
