package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/thread"
)

func open(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func fresh(t *testing.T) *Store {
	t.Parallel()
	return open(t, filepath.Join(t.TempDir(), "evertty.db"))
}

var noon = time.Date(2026, 2, 8, 10, 0, 0, 0, time.UTC)

// put makes a thread with everything that belongs to it.
func put(tx *Tx, threadID string) error {
	l := thread.Lease{ID: "lease-" + threadID, Provider: "local", Desired: thread.WantRunning, Observed: thread.Dead,
		Status: thread.LeaseActive, CreatedAt: noon, UpdatedAt: noon}
	x := thread.Terminal{ID: "term-" + threadID, Thread: threadID, Lease: l.ID, Kind: thread.Shell, Name: "default",
		State: thread.NewState("/"), CreatedAt: noon, UpdatedAt: noon}
	th := thread.Thread{ID: threadID, Provider: "local", Lease: l.ID, Policy: thread.DefaultPolicy(), Default: x.ID,
		Active: x.ID, CreatedAt: noon, UpdatedAt: noon}
	s := thread.Session{ID: "sess-" + threadID, Thread: threadID, Status: thread.Active, Policy: th.Policy,
		StartedAt: noon, LastActiveAt: noon}
	tx.PutLease(l)
	tx.PutThread(th)
	tx.PutTerminal(x)
	tx.PutState(x.ID, x.State)
	tx.PutSession(s)
	return tx.Err()
}

func want(t *testing.T, err, sentinel error) {
	t.Helper()
	if !errors.Is(err, sentinel) {
		t.Fatalf("error %v, want %v", err, sentinel)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func word(t *testing.T, c *conn, pragma string) (w string) {
	t.Helper()
	must(t, c.QueryRowContext(context.Background(), "PRAGMA "+pragma).Scan(&w))
	return w
}

// test_ensure_tables of sessions, leases and terminals: the tables of the older design are there
// under their names, with their columns, and are not writable by mistake.
func TestEnsureTables(t *testing.T) {
	s := fresh(t)
	must(t, s.Update(func(tx *Tx) error { return put(tx, "t1") }))
	for table, columns := range map[string]string{
		"chat_sessions": "session_id, thread_id, terminal_id, lease_id, idle_timeout_seconds, " +
			"max_duration_seconds, created_at, last_activity_at",
		"abstract_terminals": "terminal_id, thread_id, lease_id, cwd, env_delta_json, state_version, created_at, " +
			"updated_at",
		"sandbox_leases": "lease_id, provider_name, current_instance_id, instance_status, instance_created_at, " +
			"created_at, updated_at",
	} {
		rows, err := s.writer.QueryContext(context.Background(), "SELECT "+columns+" FROM "+table)
		must(t, err)
		n := 0
		for rows.Next() {
			n++
		}
		must(t, rows.Close())
		if n != 1 {
			t.Errorf("%s has %d rows", table, n)
		}
	}
}

// Settings are of a connection, so every one is looked at.
func TestEveryConnectionIsSetUp(t *testing.T) {
	s := fresh(t)
	list := []*conn{s.writer}
	for range readers {
		list = append(list, <-s.readers)
	}
	for i, c := range list {
		for pragma, want := range map[string]string{"journal_mode": "wal", "foreign_keys": "1", "synchronous": "1",
			"busy_timeout": fmt.Sprint(busyTimeout.Milliseconds())} {
			if got := word(t, c, pragma); got != want {
				t.Errorf("connection %d: %s is %s, want %s", i, pragma, got, want)
			}
		}
	}
	for _, c := range list[1:] {
		if _, err := c.ExecContext(context.Background(), "DELETE FROM threads"); err == nil {
			t.Error("a reader writes")
		}
		s.readers <- c
	}
	info, err := os.Stat(s.path)
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}

func TestForeignKeysAreEnforced(t *testing.T) {
	s := fresh(t)
	must(t, s.Update(func(tx *Tx) error { return put(tx, "t1") }))
	for name, f := range map[string]func(tx *Tx){
		"lease in use":        func(tx *Tx) { tx.DeleteLease("lease-t1") },
		"terminal pointed at": func(tx *Tx) { tx.DeleteTerminal("term-t1") },
		"terminal of no thread": func(tx *Tx) {
			tx.PutTerminal(thread.Terminal{ID: "x", Thread: "none", Lease: "lease-t1", Kind: thread.PTY,
				State: thread.NewState("/")})
		},
		"session of no thread": func(tx *Tx) {
			tx.PutSession(thread.Session{ID: "x", Thread: "none", Status: thread.Active})
		},
		"command of no terminal": func(tx *Tx) {
			tx.PutCommand(thread.Command{ID: "x", Terminal: "none", Status: "done"})
		},
		"thread of no lease": func(tx *Tx) {
			tx.PutThread(thread.Thread{ID: "x", Lease: "none", CreatedAt: noon, UpdatedAt: noon})
		},
	} {
		err := s.Update(func(tx *Tx) error { f(tx); return nil })
		if !errors.Is(err, thread.ErrInUse) && !errors.Is(err, thread.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	second := thread.Session{ID: "sess-2", Thread: "t1", Status: thread.Paused, StartedAt: noon, LastActiveAt: noon}
	// two live sessions
	want(t, s.Update(func(tx *Tx) error { tx.PutSession(second); return nil }), thread.ErrConflict)
	second.Status = thread.Closed
	must(t, s.Update(func(tx *Tx) error { tx.PutSession(second); return nil }))
	must(t, s.Update(func(tx *Tx) error { tx.DeleteThread("t1"); return nil })) // and all that is its own
	must(t, s.View(func(tx *Tx) error {
		_, err := tx.Terminal("term-t1")
		want(t, err, thread.ErrNotFound)
		_, err = tx.LastSession("t1")
		want(t, err, thread.ErrNotFound)
		return nil
	}))
	must(t, s.Update(func(tx *Tx) error { tx.DeleteLease("lease-t1"); return nil }))
}

func TestAnUpdateIsAllOrNothing(t *testing.T) {
	s := fresh(t)
	no := errors.New("no")
	want(t, s.Update(func(tx *Tx) error {
		if err := put(tx, "t1"); err != nil {
			return err
		}
		return no
	}), no)
	func() {
		defer func() { _ = recover() }()
		_ = s.Update(func(tx *Tx) error { must(t, put(tx, "t1")); panic("bug") })
	}()
	must(t, s.Update(func(tx *Tx) error { return put(tx, "t2") }))
	must(t, s.View(func(tx *Tx) error {
		_, err := tx.Thread("t1")
		want(t, err, thread.ErrNotFound)
		_, err = tx.Thread("t2")
		return err
	}))
}

// A view stays as it is while others write, and nobody waits for it.
// A write that fails ends the transaction, whatever comes after it; its error is the first one's.
func TestTheFirstFailureCounts(t *testing.T) {
	s := fresh(t)
	must(t, s.Update(func(tx *Tx) error { return put(tx, "t1") }))
	event := thread.Event{ThreadID: "t1", Type: "x", At: noon}
	want(t, s.Update(func(tx *Tx) error {
		tx.AddEvent(event)
		tx.DeleteLease("lease-t1")
		tx.DeleteLease("none")
		if seq := tx.AddEvent(event); seq != 0 {
			t.Errorf("event %d was written after a failure", seq)
		}
		return nil
	}), thread.ErrInUse)
	must(t, s.Update(func(tx *Tx) error {
		tx.AddEvent(event)
		tx.DeleteLease("none")
		want(t, tx.TakeErr(), thread.ErrNotFound)
		tx.AddEvent(event)
		return tx.Err()
	}))
	must(t, s.View(func(tx *Tx) error {
		list, err := tx.Events("t1", 0, 0)
		if len(list) != 2 || list[1].Seq != 2 {
			t.Errorf("events %+v", list)
		}
		return err
	}))
}

func TestAViewIsOnePicture(t *testing.T) {
	s := fresh(t)
	must(t, s.View(func(tx *Tx) error {
		_, err := tx.Thread("t1")
		want(t, err, thread.ErrNotFound)
		must(t, s.Update(func(tx *Tx) error { return put(tx, "t1") }))
		_, err = tx.Thread("t1")
		want(t, err, thread.ErrNotFound)
		return nil
	}))
}

func TestOddPaths(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a b", "what?", "100%", "#1", "quo'te\"", "ünï", "a&b=c;d", "%41"} {
		dir := filepath.Join(t.TempDir(), name)
		must(t, os.Mkdir(dir, 0o700))
		s := open(t, filepath.Join(dir, "evertty.db"))
		must(t, s.Update(func(tx *Tx) error { return put(tx, "t1") }))
		must(t, s.Close())
		entries, err := os.ReadDir(dir)
		must(t, err)
		if len(entries) != 1 || entries[0].Name() != "evertty.db" {
			t.Errorf("%q has %v", name, entries)
		}
	}
}

// Damage is told, by name, and not touched.
func TestDamage(t *testing.T) {
	t.Parallel()
	good := filepath.Join(t.TempDir(), "good.db")
	s := open(t, good)
	must(t, s.Update(func(tx *Tx) error {
		for i := range 200 {
			if err := put(tx, fmt.Sprint("t", i)); err != nil {
				return err
			}
		}
		return nil
	}))
	must(t, s.Close())
	whole, err := os.ReadFile(good)
	must(t, err)
	for name, damage := range map[string]func([]byte) []byte{
		"another file": func([]byte) []byte { return []byte(strings.Repeat("not a database ", 400)) },
		"cut off":      func(b []byte) []byte { return b[:len(b)/2] },
		"overwritten":  func(b []byte) []byte { copy(b[4096*3:], strings.Repeat("\xff", 4096*8)); return b },
		"bad header":   func(b []byte) []byte { b[3] = 'x'; return b },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "evertty.db")
			bad := damage([]byte(string(whole)))
			must(t, os.WriteFile(path, bad, 0o600))
			_, err := Open(path)
			want(t, err, thread.ErrDamaged)
			if !strings.Contains(err.Error(), path) {
				t.Errorf("it does not say which file: %v", err)
			}
			after, err := os.ReadFile(path)
			must(t, err)
			if string(after) != string(bad) {
				t.Error("the file was changed")
			}
		})
	}
}

func TestNotAFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.Symlink("/dev/null", filepath.Join(dir, "link")))
	for _, path := range []string{dir, filepath.Join(dir, "link"), filepath.Join(dir, "absent", "evertty.db")} {
		if s, err := Open(path); err == nil {
			t.Errorf("%s was opened", path)
			_ = s.Close()
		}
	}
}

func TestNewerFile(t *testing.T) {
	s := fresh(t)
	_, err := s.writer.ExecContext(context.Background(), "PRAGMA user_version = 999")
	must(t, err)
	must(t, s.Close())
	_, err = Open(s.path)
	want(t, err, thread.ErrNewer)
}

// A full disk refuses what does not fit, keeps what was there, and is no end: with room again the
// same store writes on.
func TestFullDisk(t *testing.T) {
	s := fresh(t)
	must(t, s.Update(func(tx *Tx) error { return put(tx, "t1") }))
	var pages int
	must(t, s.writer.QueryRowContext(context.Background(), "PRAGMA page_count").Scan(&pages))
	limit := func(n int) {
		_, err := s.writer.ExecContext(context.Background(), fmt.Sprintf("PRAGMA max_page_count = %d", n))
		must(t, err)
	}
	limit(pages + 2)
	var err error
	for i := 0; err == nil && i < 1000; i++ {
		err = s.Update(func(tx *Tx) error {
			tx.PutCommand(thread.Command{ID: fmt.Sprint("c", i), Terminal: "term-t1",
				Line: strings.Repeat("x", 1000), Status: "done"})
			return nil
		})
	}
	want(t, err, thread.ErrNoSpace)
	limit(1 << 20)
	must(t, s.Update(func(tx *Tx) error { return put(tx, "t2") }))
	if w := word(t, s.writer, "integrity_check"); w != "ok" {
		t.Error(w)
	}
}

// Another program that has the file locked is waited for.
func TestSomebodyElseWrites(t *testing.T) {
	s := fresh(t)
	other, err := sql.Open("sqlite", s.path)
	must(t, err)
	defer other.Close()
	other.SetMaxOpenConns(1)
	_, err = other.Exec("BEGIN IMMEDIATE")
	must(t, err)
	done := make(chan error, 1)
	go func() { done <- s.Update(func(tx *Tx) error { return put(tx, "t1") }) }()
	select {
	case err := <-done:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	_, err = other.Exec("COMMIT")
	must(t, err)
	must(t, <-done)
}

func TestTrimming(t *testing.T) {
	s := fresh(t)
	must(t, s.Update(func(tx *Tx) error { return put(tx, "t1") }))
	_, err := s.writer.ExecContext(context.Background(),
		`WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 10500)
		INSERT INTO events SELECT 't1', v, 'x', '2026-02-08T10:00:00.000000Z', '{}' FROM n`)
	must(t, err)
	_, err = s.writer.ExecContext(context.Background(), `UPDATE threads SET event_seq = 10500`)
	must(t, err)
	must(t, s.Update(func(tx *Tx) error {
		for i := range int64(trimStep) {
			if seq := tx.AddEvent(thread.Event{ThreadID: "t1", Type: "x", At: noon}); seq != 10501+i {
				return fmt.Errorf("event %d: %d %w", 10501+i, seq, tx.Err())
			}
		}
		list, err := tx.Events("t1", 0, 1)
		if err == nil && (len(list) != 1 || list[0].Seq > 10500+trimStep-maxEvents+1 ||
			list[0].Seq <= 10500-maxEvents) {
			err = fmt.Errorf("the oldest is %+v", list)
		}
		return err
	}))
}
