package terminal_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/evertty/evertty/internal/supervisor"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

// TestRestartLeavesNothingOfTheProgramBefore: whatever a program switched on, the next
// one begins as on a new terminal.
func TestRestartLeavesNothingOfTheProgramBefore(t *testing.T) {
	parallel(t)
	m := open(t, t.TempDir())
	left := `\e[20h\e[4h\e[?1h\e[?5h\e[?6h\e[?7l\e[?9h\e[?25l\e[?45h\e[?66h\e[?1003h\e[?1004h\e[?1006h` +
		`\e[?2004h\e[?2026h\e[?2031h` +
		`\e[>5u\e[3;9r\e(0\e[3g\e[5 q\e[1;31m\e]8;;http://a.example\e\\\e]4;1;#123456\e\\\e]10;#111111\e\\\e[1"q` +
		`\e[?1049h\e[=7u\e[>3u\e7text\e[?1049l\e[31`
	term := startIn(t, m, t.TempDir(), "bash", "-c",
		`if [ -e was ]; then printf '\n\ta\nb'; else touch was; printf '`+left+`'; fi`)
	waitFor(t, term, wire.WaitCondition{For: "exit"})
	next, err := m.Terminals.Restart(term)
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, next, wire.WaitCondition{For: "exit"})
	f := next.Hub().Snapshot().Frame
	ascii := vt.Charsets{G: [4]byte{'B', 'B', 'B', 'B'}}
	if f.Modes != vt.DefaultModes() {
		t.Errorf("modes %+v, want %+v", f.Modes, vt.DefaultModes())
	}
	if f.Main.Tabs != nil || len(f.Palette) > 0 || f.Foreground != 0 || f.CursorStyle != 0 || f.Charsets != ascii {
		t.Errorf("tabs %v, palette %v, foreground %v, cursor %v, charsets %v", f.Main.Tabs, f.Palette, f.Foreground,
			f.CursorStyle, f.Charsets)
	}
	if f.Hidden != nil && len(f.Hidden.Kitty) > 0 || len(f.Main.Kitty) > 0 && f.Main.Kitty[0] != 0 || f.Main.Top != 0 ||
		f.Main.Bottom != f.Rows-1 {
		t.Errorf("hidden %+v, kitty %v, region %d to %d", f.Hidden, f.Main.Kitty, f.Main.Top, f.Main.Bottom)
	}
	if !reflect.DeepEqual(f.Pen, vt.Style{}) {
		t.Errorf("pen %+v", f.Pen)
	}
	var lines []string
	for _, l := range f.Main.Lines {
		lines = append(lines, l.Text())
	}
	if all := strings.Join(lines, "\n"); !strings.Contains(all, "restarted") ||
		!strings.Contains(all, "\n\n        a\nb\n") {
		t.Errorf("the next program's lines do not stand at the tab stop and the left margin:\n%s", all)
	}
}

func startIn(t *testing.T, m *supervisor.Supervisor, dir string, cmd ...string) *terminal.Terminal {
	t.Helper()
	term, err := m.Terminals.Create("s", wire.CreateTerminal{Cmd: cmd, Cwd: dir})
	if err != nil {
		t.Fatal(err)
	}
	return term
}

// TestAFailedRestartCostsNothing: a terminal whose program is not there any more stays as it was, also under the next
// server, and starts when the program is back.
func TestAFailedRestartCostsNothing(t *testing.T) {
	dir, bin := t.TempDir(), t.TempDir()
	program, away := filepath.Join(bin, "program"), filepath.Join(bin, "away")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho runs; exit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	m := open(t, dir)
	term := startIn(t, m, bin, program)
	<-term.Done()
	if err := os.Rename(program, away); err != nil {
		t.Fatal(err)
	}
	for round := range 2 {
		before := term.Wire()
		if _, err := m.Terminals.Restart(term); !errors.Is(err, pty.ErrNoCommand) {
			t.Fatalf("got %v", err)
		}
		if findIn(t, m, term.ID) != term {
			t.Error("another generation is found")
		}
		leave(t, m)
		m = open(t, dir)
		term = findIn(t, m, term.ID)
		if text := textOf(term); strings.TrimSpace(text) != "runs" {
			t.Errorf("the screen is %q", text)
		}
		if i := term.Wire(); i.State != terminal.StateExited || i.Exit == nil || *i.Exit.Code != 3 ||
			i.Generation != 1 || i.Damage != "" || i.Seq != before.Seq {
			t.Errorf("round %d: %+v, before %+v", round, i, before)
		}
	}
	if err := os.Rename(away, program); err != nil {
		t.Fatal(err)
	}
	next, err := m.Terminals.Restart(term)
	if err != nil {
		t.Fatal(err)
	}
	see(t, next, `(?m)^runs\n── exit code 3 · restarted .*\nruns$`)
}

// TestRestartSaysHowItEnded: the line between two programs says what ended the first.
func TestRestartSaysHowItEnded(t *testing.T) {
	parallel(t)
	m := open(t, t.TempDir())
	for program, says := range map[string]string{"exit 0": "exit code 0", "exit 7": "exit code 7",
		"kill -KILL $$": "ended by SIGKILL"} {
		term := start(t, m, "sh", "-c", program)
		<-term.Done()
		next, err := m.Terminals.Restart(term)
		if err != nil {
			t.Fatal(err)
		}
		see(t, next, "(?m)^── "+says+` · restarted [-0-9: ]+UTC ──$`)
		if _, err := m.Terminals.Restart(term); !errors.Is(err, terminal.ErrRunning) {
			t.Errorf("%s: the generation before is started again: %v", program, err)
		}
	}
}
