package terminal_test

import (
	"errors"
	"os"
	"sync"
	"testing"

	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/wire"
)

// TestNest: what is refused, with ids and with devices, and that a view that ended
// refuses nothing any more.
func TestNest(t *testing.T) {
	parallel(t)
	m := open(t, t.TempDir())
	var terms [3]*terminal.Terminal
	for i := range terms {
		term, err := m.Terminals.Create("s", wire.CreateTerminal{Cmd: []string{"cat"}})
		if err != nil {
			t.Fatal(err)
		}
		terms[i] = term
	}
	in := func(of ...*terminal.Terminal) wire.Nesting {
		w := wire.Nesting{Nested: true}
		for _, one := range of {
			w.Inside = append(w.Inside, one.ID)
		}
		return w
	}
	nest := func(shown *terminal.Terminal, w wire.Nesting, want error) func() {
		t.Helper()
		release, err := m.Terminals.Nest(shown, "", w)
		if !errors.Is(err, want) {
			t.Errorf("%v in %v: %v, want %v", shown.ID, w, err, want)
		}
		if release == nil {
			return func() {}
		}
		return release
	}
	a, b, c := terms[0], terms[1], terms[2]
	nest(a, wire.Nesting{}, nil)
	nest(a, in(a), terminal.ErrCycle)
	nest(a, wire.Nesting{Inside: []string{"of another server"}}, terminal.ErrNested)
	aShowsB := nest(b, in(a), nil)
	again := nest(b, in(a), nil)
	bShowsC := nest(c, in(b), nil)
	nest(a, in(c), terminal.ErrCycle)
	nest(a, in(b), terminal.ErrCycle)
	nest(c, in(a), nil)()
	aShowsB()
	aShowsB() // twice is once
	nest(a, in(b), terminal.ErrCycle)
	again()
	nest(a, in(b), nil)
	nest(b, in(a), terminal.ErrCycle)

	bShowsC()
	// Devices: those of a process on the terminal, whatever it knows.
	s := pty.SurroundingsOf(c.Wire().PID)
	if len(s.Terminals) == 0 || s.Terminals[0] != c.ID || len(s.Devices) == 0 {
		t.Fatalf("around the program of %s: %+v", c.ID, s)
	}
	nest(c, wire.Nesting{TTY: s.Devices[:1], Nested: true}, terminal.ErrCycle)
	nest(b, wire.Nesting{TTY: s.Devices[:1]}, terminal.ErrNested)
	if own := pty.SurroundingsOf(os.Getpid()); len(own.Terminals) > 0 {
		t.Skip("the test itself runs inside a terminal")
	}
	nest(b, wire.Nesting{TTY: []string{"x:1:2"}}, nil)
}

// TestNestAtOnce: of two viewers that would make a circle together one is refused.
func TestNestAtOnce(t *testing.T) {
	parallel(t)
	m := open(t, t.TempDir())
	var terms [2]*terminal.Terminal
	for i := range terms {
		var err error
		if terms[i], err = m.Terminals.Create("s", wire.CreateTerminal{Cmd: []string{"cat"}}); err != nil {
			t.Fatal(err)
		}
	}
	for range 200 {
		var releases [2]func()
		var errs [2]error
		var wg sync.WaitGroup
		for i := range terms {
			wg.Go(func() {
				releases[i], errs[i] = m.Terminals.Nest(terms[i], "",
					wire.Nesting{Inside: []string{terms[1-i].ID}, Nested: true})
			})
		}
		wg.Wait()
		if (errs[0] == nil) == (errs[1] == nil) {
			t.Fatalf("both or neither: %v, %v", errs[0], errs[1])
		}
		for _, release := range releases {
			if release != nil {
				release()
			}
		}
	}
}
