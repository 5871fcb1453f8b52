package sqlite

import (
	"context"
	"strings"
	"testing"

	"github.com/evertty/evertty/internal/thread"
)

// Every question that is asked in passing is answered by an index: nothing that is read with a
// thread's id gets slower with the number of threads.
func TestQueriesUseIndexes(t *testing.T) {
	s := fresh(t)
	must(t, s.Update(func(tx *Tx) error { return put(tx, "t1") }))
	must(t, s.View(func(tx *Tx) error {
		for _, f := range []func() error{
			func() error { _, err := tx.Terminals("t1", "", 0); return err }, func() error {
				_, err := tx.LiveRuntimes("t1")
				return err
			},
			func() error { _, err := tx.OpenCommands("t1"); return err }, func() error {
				_, err := tx.LeaseCommands("l")
				return err
			},
			func() error { _, err := tx.ThreadLeases("t1"); return err },
			func() error { _, err := tx.FindTerminal("t1", thread.Shell); return err },
			func() error { _, err := tx.TerminalsOfKind("t1", thread.Shell); return err },
			func() error { _, err := tx.LeaseThreads("l"); return err }, func() error {
				_, err := tx.FindInstance("e2b", "i")
				_ = err
				return nil
			},
			func() error { _, err := tx.Sessions("t1"); return err },
			func() error { _, err := tx.Thread("t1"); return err },
			func() error { _, err := tx.LastSession("t1"); return err },
			func() error { _, err := tx.Terminal("term-t1"); return err },
			func() error { _, err := tx.Lease("lease-t1"); return err },
			func() error { _, err := tx.LastState("term-t1"); return err },
			func() error { _, err := tx.Events("t1", 0, 0); return err },
			func() error { _, err := tx.Instances("l"); return err },
			func() error { _, err := tx.LeaseEvents("l", 0, 0); return err }, func() error {
				_, err := tx.States("x")
				return err
			},
			func() error { _, err := tx.Commands(thread.CommandQuery{Thread: "t1"}); return err },
			func() error { _, err := tx.Commands(thread.CommandQuery{Thread: "t1", Terminal: "x"}); return err },
		} {
			if err := f(); err != nil {
				return err
			}
		}
		return nil
	}))
	must(t, s.Update(func(tx *Tx) error { // what a command writes
		k := thread.Command{ID: "c", Terminal: "term-t1", Status: thread.CommandDone}
		run := thread.Runtime{ID: "r", Terminal: "term-t1", Generation: 1, State: thread.Up, StartedAt: noon}
		tx.AddEvent(thread.Event{ThreadID: "t1", Type: thread.CommandFinished, At: noon})
		tx.PutRuntime(run)
		tx.PutCommand(k)
		tx.Pulse("sess-t1", noon, thread.Usage{})
		tx.TrimStates("term-t1", 0)
		return tx.ForgetCommand("c")
	}))
	queries := map[string]bool{}
	for range readers {
		c := <-s.readers
		for q := range c.stmts {
			queries[q] = true
		}
		defer func() { s.readers <- c }()
	}
	for q := range s.writer.stmts {
		queries[q] = true
	}
	for q := range queries {
		for _, line := range plan(t, s.writer, q) {
			if strings.HasPrefix(line, "SCAN") && !strings.Contains(line, "CONSTANT") {
				t.Errorf("%s\n%s", line, q)
			}
		}
	}
}

func plan(t *testing.T, c *conn, query string) (lines []string) {
	t.Helper()
	if query == "COMMIT" || strings.HasPrefix(query, "BEGIN") ||
		strings.Contains(query, "FROM sessions WHERE status") { // asked once, at the start
		return nil
	}
	args := make([]any, strings.Count(query, "?"))
	rows, err := c.QueryContext(context.Background(), "EXPLAIN QUERY PLAN "+query, args...)
	if err != nil {
		t.Fatalf("%v: %s", err, query)
	}
	defer rows.Close()
	for rows.Next() {
		var id, parent, unused int
		var line string
		must(t, rows.Scan(&id, &parent, &unused, &line))
		lines = append(lines, line)
	}
	return lines
}
