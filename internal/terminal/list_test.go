package terminal_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/wire"
)

func ids(list []*terminal.Terminal) (out []string) {
	for _, t := range list {
		out = append(out, t.ID)
	}
	return out
}

// create starts cat on a terminal.
func create(t *testing.T, m *terminal.Registry, session, name string) *terminal.Terminal {
	t.Helper()
	term, err := m.Create(session, wire.CreateTerminal{Name: name, Cmd: []string{"cat"}})
	if err != nil {
		t.Fatal(err)
	}
	return term
}

func remove(t *testing.T, m *terminal.Registry, term *terminal.Terminal, purge bool) {
	t.Helper()
	if err := m.Delete(context.Background(), term, purge); err != nil {
		t.Fatal(err)
	}
}

// TestParts: the parts of a list have each terminal of the session once, oldest first, also behind one that was
// deleted meanwhile.
func TestParts(t *testing.T) {
	m := open(t, t.TempDir()).Terminals
	var all []*terminal.Terminal
	for range 4 {
		all = append(all, create(t, m, "s", ""))
	}
	other := create(t, m, "other", "")
	remove(t, m, all[1], false)
	want := []string{all[0].ID, all[2].ID, all[3].ID}
	for limit, sizes := range [][]int{{3}, {1, 1, 1}, {2, 1}, {3}, {3}} {
		var got []string
		var parts []int
		for next := ""; len(parts) == 0 || next != ""; {
			var list []*terminal.Terminal
			var err error
			if list, next, err = m.Part(terminal.Filter{Session: "s"}, next, limit); err != nil {
				t.Fatal(err)
			}
			got, parts = append(got, ids(list)...), append(parts, len(list))
		}
		if !slices.Equal(got, want) || !slices.Equal(parts, sizes) {
			t.Errorf("by %d there are %v of %q, want %v of %q", limit, parts, got, sizes, want)
		}
	}
	if list, _, err := m.Part(terminal.Filter{Session: "s"}, all[1].ID, 0); err != nil ||
		!slices.Equal(ids(list), want[1:]) {
		t.Errorf("behind the deleted one are %q, %v", ids(list), err)
	}
	for _, after := range []string{other.ID, "none"} {
		if _, _, err := m.Part(terminal.Filter{Session: "s"}, after, 0); !errors.Is(err, terminal.ErrNotFound) {
			t.Errorf("behind %s: %v", after, err)
		}
	}
	if list, _, err := m.Part(terminal.Filter{}, all[3].ID, 0); err != nil ||
		!slices.Equal(ids(list), []string{other.ID}) {
		t.Errorf("of all sessions %q, %v", ids(list), err)
	}
}

// TestFind: a terminal is found by its id, also when it was deleted, and by its name while it is listed; never by that
// of another session.
func TestFind(t *testing.T) {
	m := open(t, t.TempDir()).Terminals
	named, plain, gone := create(t, m, "s", "name"), create(t, m, "s", ""), create(t, m, "s", "gone")
	other := create(t, m, "other", "its")
	ended, err := m.Create("s", wire.CreateTerminal{Cmd: []string{"true"}})
	if err != nil {
		t.Fatal(err)
	}
	<-ended.Done()
	remove(t, m, gone, false)
	for _, c := range []struct {
		session, ref string
		want         string
	}{
		{"s", named.ID, named.ID}, {"s", "name", named.ID}, {"", "name", named.ID}, {"", named.ID, named.ID},
		{"s", plain.ID, plain.ID}, {"s", gone.ID, gone.ID}, {"", "its", other.ID}, {"other", "its", other.ID},
		{"s", "", ""}, {"s", "gone", ""}, {"s", other.ID, ""}, {"s", "its", ""}, {"other", "name", ""},
		{"", "none", ""},
	} {
		switch found, err := m.Find(c.session, c.ref); {
		case c.want == "" && !errors.Is(err, terminal.ErrNotFound):
			t.Errorf("%q of session %q: %v", c.ref, c.session, err)
		case c.want != "" && (err != nil || found.ID != c.want):
			t.Errorf("%q of session %q: %v, want %s", c.ref, c.session, err, c.want)
		}
	}
	got, want := ids(m.Running("s")), []string{named.ID, plain.ID}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("in the session run %q", got)
	}
}

// TestListedDirectory: a list follows a program that goes to another directory, also one that says nothing.
func TestListedDirectory(t *testing.T) {
	m, dir := open(t, t.TempDir()).Terminals, t.TempDir()
	for name, script := range map[string]string{
		"prints": "read x; cd " + dir + "; echo there; exec sleep 100",
		"silent": "until [ -e " + dir + "/go ]; do sleep 0.01; done; cd " + dir + "; exec sleep 100"} {
		term, err := m.Create("s", wire.CreateTerminal{Name: name, Cwd: "/", Cmd: []string{"sh", "-c", script}})
		if err != nil {
			t.Fatal(err)
		}
		if got := term.Listed().Cwd; got != "/" {
			t.Errorf("%s starts in %s", name, got)
		}
	}
	list := m.List("s")
	for _, term := range list {
		if _, err := term.Input(t.Context(), []byte("\n")); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, term := range list {
		until(t, "the new directory in a list", func() bool { return term.Listed().Cwd == dir })
	}
}
