package supervisor_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/supervisor"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/internal/thread/service"
	"github.com/evertty/evertty/internal/thread/sqlite"
	"github.com/evertty/evertty/wire"
)

// typed types a line into a terminal.
func typed(t *testing.T, term *terminal.Terminal, line string) {
	t.Helper()
	if _, err := term.Input(background(t), []byte(line+"\n")); err != nil {
		t.Fatal(err)
	}
}

// interrupt types Ctrl-C until there is a prompt: a shell may lose the one that
// comes while it forks (dash does), and which of two prompts is seen says nothing.
func interrupt(t *testing.T, term *terminal.Terminal) {
	t.Helper()
	until(t, "the prompt after Ctrl-C", func() bool {
		if _, err := term.Input(background(t), []byte{3}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(background(t), time.Second)
		defer cancel()
		_, err := waits.Wait(ctx, term, within(wire.WaitCondition{For: "prompt"}, patience))
		return err == nil
	})
}

// TestExportsOfATerminal: what a shell on a terminal exports is in its row without anybody asking,
// as one version, and its next generation begins with it.
func TestExportsOfATerminal(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for shells to show what they export")
	}
	parallel(t)
	var db service.Store
	m := openRecorded(t, t.TempDir(), func(c *supervisor.Config) { db = c.Threads.Store })
	term, err := m.Terminals.Create("t", wire.CreateTerminal{Cmd: []string{"bash", "--norc", "--noprofile"},
		Cwd: "/usr", Env: map[string]string{"A": "a", "B": "b", "C": "c"}})
	if err != nil {
		t.Fatal(err)
	}
	row := func() (s thread.State) { // past the look that a request has
		if err := db.View(func(tx *sqlite.Tx) error {
			r, err := tx.Terminal(term.ID)
			s = r.State
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return s
	}
	before := threadID(t, m, "t").Terminal.State
	typed(t, term, "export X=1 B=2; unset A; sh -c 'echo run''ning; exec sleep 1000'")
	until(t, "the exports", func() bool { return row().Env["X"] == "1" })
	want := map[string]string{"X": "1", "B": "2", "C": "c"}
	s := row()
	if !maps.Equal(s.Env, want) || !slices.Equal(s.Unset, []string{"A"}) || s.Cwd != "/usr" ||
		s.Version != before.Version+1 {
		t.Errorf("before %+v, after %+v", before, s)
	}
	interrupt(t, term)
	typed(t, term, "(echo fork''ed; while :; do read -t 0.1; done)") // has executed nothing
	until(t, "the subshell", func() bool { return strings.Contains(screen(term), "forked") })
	for range 20 { // each is a look at it
		if l := threadID(t, m, "t"); !l.Terminal.State.Same(s) {
			t.Fatalf("with a subshell %+v", l.Terminal.State)
		}
	}
	interrupt(t, term)
	typed(t, term, "exit")
	until(t, "the end", func() bool { return term.Wire().State == terminal.StateExited })
	next, err := m.Terminals.Restart(term)
	if err != nil {
		t.Fatal(err)
	}
	typed(t, next, `echo "<$X ${A-none} $B $C $PWD>"`)
	until(t, "the variables", func() bool { return strings.Contains(screen(next), "<1 none 2 c /usr>") })
	// Another word than before the restart, which is still on the screen: a Ctrl-C while bash forks
	// leaves the program alive and bash without its terminal.
	typed(t, next, "sh -c 'echo second'' program; exec sleep 1000'")
	until(t, "the program", func() bool { return strings.Contains(screen(next), "second program") })
	v := threadID(t, m, "t").Terminal.State
	if !v.Same(s) || v.Version != s.Version {
		t.Errorf("the next generation has %+v, the one before had %+v", v, s)
	}
	interrupt(t, next)
	typed(t, next, "unset X; export A=back; sleep 1000")
	until(t, "what was changed back", func() bool {
		s := threadID(t, m, "t").Terminal.State
		return s.Env["A"] == "back" && len(s.Unset) == 1 && s.Unset[0] == "X"
	})
	back, err := m.Threads.RollbackTerminal(background(t), "t", term.ID, s.Version)
	if err != nil || !maps.Equal(back.EnvDelta, want) {
		t.Fatalf("%+v, %v", back, err)
	}
	if l := threadID(t, m, "t"); l.Terminal.State.Version != back.Version { // a rollback stays
		t.Errorf("rolled back to %+v, now %+v", back, l.Terminal.State)
	}
}

func screen(term *terminal.Terminal) string {
	var b strings.Builder
	for _, l := range term.Hub().Snapshot().Frame.Main.Lines {
		b.WriteString(l.Text() + "\n")
	}
	return b.String()
}
