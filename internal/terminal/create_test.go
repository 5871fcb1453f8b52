package terminal_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/evertty/evertty/internal/supervisor"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

// createAtOnce creates many terminals at once: some are made, the others refused with an error.
func createAtOnce(t *testing.T, m *supervisor.Supervisor, name string, refusal error) (made, refused int) {
	t.Helper()
	var oks, noes atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			_, err := m.Terminals.Create("s", wire.CreateTerminal{Name: name, Cmd: []string{"cat"}})
			switch {
			case err == nil:
				oks.Add(1)
			case errors.Is(err, refusal):
				noes.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	return int(oks.Load()), int(noes.Load())
}

func TestNamesAreUniqueInASession(t *testing.T) {
	m := open(t, t.TempDir())
	if made, taken := createAtOnce(t, m, "n", terminal.ErrNameTaken); made != 1 || taken != 7 {
		t.Errorf("%d made, %d refused; want 1 and 7", made, taken)
	}
	if _, err := m.Terminals.Create("other", wire.CreateTerminal{Name: "n", Cmd: []string{"cat"}}); err != nil {
		t.Errorf("the name in another session: %v", err)
	}
	if _, err := m.Terminals.Find("", "n"); !errors.Is(err, terminal.ErrAmbiguous) {
		t.Errorf("the name without session: %v, want ErrAmbiguous", err)
	}
	term, err := m.Terminals.Find("s", "n")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Terminals.Delete(context.Background(), term, false); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Terminals.Create("s", wire.CreateTerminal{Name: "n", Cmd: []string{"cat"}}); err != nil {
		t.Errorf("the name after its terminal was deleted: %v", err)
	}
	ended, err := m.Terminals.Create("s", wire.CreateTerminal{Name: "ended", Cmd: []string{"true"}})
	if err != nil {
		t.Fatal(err)
	}
	<-ended.Done()
	if _, err := m.Terminals.Create("s", wire.CreateTerminal{Name: "ended"}); !errors.Is(err, terminal.ErrNameTaken) {
		t.Errorf("the name of one that has ended: %v, want ErrNameTaken", err)
	}
	if _, err := m.Terminals.Restart(ended); err != nil {
		t.Errorf("its restart: %v", err)
	}
}

// TestLimitOfASession: a session has as many running terminals as it may have, and one more takes the place of the
// oldest where the policy says so; those of other sessions, and ended ones, do not count.
func TestLimitOfASession(t *testing.T) {
	for _, endOldest := range []bool{false, true} {
		m := openWith(t, t.TempDir(), supervisor.Config{Terminals: terminal.Config{Engine: vt.NewEngine,
			Clean: terminal.CleanPolicy{MaxPerSession: 2, EndOldest: endOldest}}})
		ended := start(t, m, "true")
		<-ended.Done()
		other := create(t, m.Terminals, "other", "")
		list := []*terminal.Terminal{start(t, m, "cat"), start(t, m, "cat")}
		_, err := m.Terminals.Create("s", wire.CreateTerminal{Cmd: []string{"no-such-program"}})
		if !errors.Is(err, pty.ErrNoCommand) {
			t.Errorf("a program that is not there: %v", err)
		}
		one, err := m.Terminals.Create("s", wire.CreateTerminal{Cmd: []string{"cat"}})
		if endOldest && err == nil {
			list = append(list[1:], one)
			one, err = m.Terminals.Restart(ended)
		}
		switch {
		case endOldest && err == nil:
			list = []*terminal.Terminal{one, list[1]} // by the time of creation
		case endOldest || !errors.Is(err, terminal.ErrLimit):
			t.Errorf("ending the oldest %v: %v", endOldest, err)
		default:
			list = append([]*terminal.Terminal{ended}, list...)
			if _, err := m.Terminals.Restart(ended); !errors.Is(err, terminal.ErrLimit) {
				t.Errorf("a restart above the limit: %v", err)
			}
		}
		if got := m.Terminals.List("s"); !slices.Equal(got, list) || !other.Running() {
			t.Errorf("ending the oldest %v: left are %q, want %q", endOldest, ids(got), ids(list))
		}
	}
}

// TestLimitOfASessionAtOnce: of callers at once no more than the limit start a program.
func TestLimitOfASessionAtOnce(t *testing.T) {
	m := openWith(t, t.TempDir(), supervisor.Config{Terminals: terminal.Config{Engine: vt.NewEngine,
		Clean: terminal.CleanPolicy{MaxPerSession: 2}}})
	if made, refused := createAtOnce(t, m, "", terminal.ErrLimit); made != 2 || refused != 6 {
		t.Errorf("%d made, %d refused; want 2 and 6", made, refused)
	}
}

func TestFailedCreateLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	odd := filepath.Join(t.TempDir(), "no-format")
	if err := os.WriteFile(odd, []byte("\x7fELF"), 0o700); err != nil {
		t.Fatal(err)
	}
	m := open(t, dir)
	for _, c := range []struct {
		session string
		create  wire.CreateTerminal
		want    error
	}{
		{"s", wire.CreateTerminal{Cmd: []string{"no-such-program"}}, pty.ErrNoCommand},
		{"s", wire.CreateTerminal{Cwd: "/no/such/dir"}, pty.ErrNoDir},
		{"s", wire.CreateTerminal{Env: map[string]string{"A=B": ""}}, pty.ErrBadEnv},
		{"s", wire.CreateTerminal{Cols: new(1001)}, terminal.ErrInvalid},
		{"s", wire.CreateTerminal{Cmd: []string{}}, terminal.ErrInvalid},
		{"s/x", wire.CreateTerminal{}, terminal.ErrInvalid},
		{"s", wire.CreateTerminal{Name: "a b"}, terminal.ErrInvalid},
		{"s", wire.CreateTerminal{SizePolicy: "mine"}, terminal.ErrInvalid},
		{"s", wire.CreateTerminal{Scrollback: new(vt.MaxScrollback + 1)}, terminal.ErrInvalid},
		{"s", wire.CreateTerminal{Scrollback: new(-1)}, terminal.ErrInvalid},
		{"s", wire.CreateTerminal{Cmd: []string{odd}}, pty.ErrNoCommand}, // the kernel finds out at its start
	} {
		if _, err := m.Terminals.Create(c.session, c.create); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v, want %v", c, err, c.want)
		}
	}
	if n := len(m.Terminals.List("")); n != 0 {
		t.Errorf("%d terminals are listed", n)
	}
	if left, _ := os.ReadDir(filepath.Join(dir, "terminals")); len(left) != 0 {
		t.Errorf("files are left: %v", left)
	}
}
