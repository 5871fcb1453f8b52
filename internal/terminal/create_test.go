package terminal_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/wire"
)

func TestNamesAreUniqueInASession(t *testing.T) {
	m := open(t, t.TempDir())
	var made, taken atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			_, err := m.Terminals.Create("s", wire.CreateTerminal{Name: "n", Cmd: []string{"cat"}})
			switch {
			case err == nil:
				made.Add(1)
			case errors.Is(err, terminal.ErrNameTaken):
				taken.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if made.Load() != 1 || taken.Load() != 7 {
		t.Errorf("%d made, %d refused; want 1 and 7", made.Load(), taken.Load())
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
}

func TestFailedCreateLeavesNothing(t *testing.T) {
	dir := t.TempDir()
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
