package service

import (
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/evertty/evertty/internal/lifetime"
	"github.com/evertty/evertty/internal/provider/local"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/internal/thread/sqlite"
)

// recording is a recorder with a database, whose goroutine does not run, and a terminal.
func recording(t *testing.T) (rc *recorder, terminal string) {
	t.Helper()
	db, err := sqlite.Open(filepath.Join(t.TempDir(), "evertty.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	threads := New(Config{Life: lifetime.New(), Store: db, Log: slog.New(slog.DiscardHandler)})
	threads.computeChanged = func(thread.Lease, thread.Observed) {}
	threads.database.providers[thread.Local] = local.New(local.Config{Dir: t.TempDir()})
	l, err := threads.CreateThread(t.Context(), "t", thread.Use{})
	if err != nil {
		t.Fatal(err)
	}
	return threads.recorder, l.Terminal.ID
}

// commandNote is a command at one time of its life.
func commandNote(terminal string, status thread.CommandStatus) *thread.Command {
	k := thread.Command{ID: "c1", Terminal: terminal, Line: "exit 3", Cwd: "/", Status: status}
	if k.Ended() {
		code := 3
		k.ExitCode = &code
	}
	return &k
}

// TestEndIsNotOvertaken: the callbacks of a shell come from several goroutines, so that the note of
// a command's end may come before an earlier one. The end stands, whether both are in one
// transaction or not, and no other note is lost.
func TestEndIsNotOvertaken(t *testing.T) {
	const queued, running, done, cancelled = thread.CommandQueued, thread.CommandRunning, thread.CommandDone,
		thread.CommandCancelled
	for name, c := range map[string]struct {
		batches [][]thread.CommandStatus
		want    thread.CommandStatus
	}{
		"in order":             {[][]thread.CommandStatus{{queued, running, done}}, done},
		"queued after the end": {[][]thread.CommandStatus{{done, queued}}, done},
		"all after the end":    {[][]thread.CommandStatus{{done, queued, running}}, done},
		"in the middle":        {[][]thread.CommandStatus{{queued, done, running}}, done},
		"twice ended":          {[][]thread.CommandStatus{{cancelled, done, queued}}, cancelled},
		"a batch later":        {[][]thread.CommandStatus{{done}, {queued}, {running}}, done},
		"not ended yet":        {[][]thread.CommandStatus{{queued}, {running, queued}}, running},
	} {
		t.Run(name, func(t *testing.T) {
			rc, terminal := recording(t)
			saved := 0
			for _, statuses := range c.batches {
				list := []note{{do: func(*change) error { saved++; return nil }}}
				for _, status := range statuses {
					list = append(list, note{command: commandNote(terminal, status)})
				}
				rc.write(list)
			}
			k, err := read(rc.database, func(tx *sqlite.Tx) (thread.Command, error) { return tx.Command("c1") })
			if err != nil {
				t.Fatal(err)
			}
			if coded := k.ExitCode != nil && *k.ExitCode == 3; k.Status != c.want || coded != k.Ended() ||
				saved != len(c.batches) || rc.trouble.Load() != nil {
				t.Errorf("%+v, other notes %d, trouble %v", k, saved, rc.trouble.Load())
			}
		})
	}
}
