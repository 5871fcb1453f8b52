package mux

import (
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/evertty/evertty/provider"
	"github.com/evertty/evertty/session"
	"github.com/evertty/evertty/session/sqlite"
)

// recording is a recorder with a database, whose goroutine does not run, and a terminal.
func recording(t *testing.T) (d *durable, terminal string) {
	t.Helper()
	db, err := sqlite.Open(filepath.Join(t.TempDir(), "evertty.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	here := rented{Place{Provider: provider.NewLocal(provider.LocalConfig{Dir: t.TempDir()})}, newPauses(&durable{})}
	m, err := session.NewManager(session.Config{Store: db, Providers: map[string]session.Provider{session.Local: here}})
	if err != nil {
		t.Fatal(err)
	}
	l, err := m.Open(t.Context(), "t", session.Use{})
	if err != nil {
		t.Fatal(err)
	}
	return &durable{Manager: m, mux: &Mux{cfg: Config{Log: slog.New(slog.DiscardHandler)}}}, l.Terminal.ID
}

// commandNote is a command at one time of its life.
func commandNote(terminal string, status session.CommandStatus) *session.Command {
	k := session.Command{ID: "c1", Terminal: terminal, Line: "exit 3", Cwd: "/", Status: status}
	if k.Ended() {
		code := 3
		k.ExitCode = &code
	}
	return &k
}

// TestEndIsNotOvertaken: the callbacks of a shell come from several goroutines, so that the note of a command's end may come before an earlier one. The end stands, whether both
// are in one transaction or not, and no other note is lost.
func TestEndIsNotOvertaken(t *testing.T) {
	const queued, running, done, cancelled = session.CommandQueued, session.CommandRunning, session.CommandDone, session.CommandCancelled
	for name, c := range map[string]struct {
		batches [][]session.CommandStatus
		want    session.CommandStatus
	}{
		"in order":             {[][]session.CommandStatus{{queued, running, done}}, done},
		"queued after the end": {[][]session.CommandStatus{{done, queued}}, done},
		"all after the end":    {[][]session.CommandStatus{{done, queued, running}}, done},
		"in the middle":        {[][]session.CommandStatus{{queued, done, running}}, done},
		"twice ended":          {[][]session.CommandStatus{{cancelled, done, queued}}, cancelled},
		"a batch later":        {[][]session.CommandStatus{{done}, {queued}, {running}}, done},
		"not ended yet":        {[][]session.CommandStatus{{queued}, {running, queued}}, running},
	} {
		t.Run(name, func(t *testing.T) {
			d, terminal := recording(t)
			saved := 0
			for _, statuses := range c.batches {
				list := []note{{do: func(*session.Batch) error { saved++; return nil }}}
				for _, status := range statuses {
					list = append(list, note{command: commandNote(terminal, status)})
				}
				d.write(list)
			}
			k, err := d.Command("c1")
			if err != nil {
				t.Fatal(err)
			}
			if coded := k.ExitCode != nil && *k.ExitCode == 3; k.Status != c.want || coded != k.Ended() || saved != len(c.batches) || d.trouble.Load() != nil {
				t.Errorf("%+v, other notes %d, trouble %v", k, saved, d.trouble.Load())
			}
		})
	}
}
