package sqlite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/thread"
)

// crowd writes threads with a long event each.
func crowd(t *testing.T, s *Store, n int) {
	t.Helper()
	long := strings.Repeat("x", 4000)
	err := s.Update(func(tx *Tx) error {
		for i := range n {
			id := fmt.Sprintf("t%04d", i)
			tx.PutThread(thread.Thread{ID: id, Provider: thread.Local, CreatedAt: time.Now(), UpdatedAt: time.Now()})
			tx.AddEvent(thread.Event{ThreadID: id, Type: "x", At: time.Now(), Data: thread.Detail{Command: long}})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func leave(t *testing.T, s *Store, n int) {
	t.Helper()
	err := s.Update(func(tx *Tx) error {
		for i := range n {
			tx.DeleteThread(fmt.Sprintf("t%04d", i))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func sizeOf(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// TestTheFileShrinks: what is deleted leaves the file, one made by an earlier version too, and the
// WAL with it. Who reads meanwhile is not hindered.
func TestTheFileShrinks(t *testing.T) {
	t.Parallel()
	for _, old := range []bool{false, true} {
		t.Run(fmt.Sprintf("old %t", old), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "evertty.db")
			s, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			if old { // as files were before
				if _, err := s.writer.ExecContext(context.Background(), "PRAGMA auto_vacuum = 0"); err != nil {
					t.Fatal(err)
				}
				if _, err := s.writer.ExecContext(context.Background(), "VACUUM"); err != nil {
					t.Fatal(err)
				}
				if mode, err := s.pragma("auto_vacuum"); err != nil || mode != 0 {
					t.Fatalf("auto_vacuum %d, %v", mode, err)
				}
				crowd(t, s, 10)
				leave(t, s, 10)
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				if s, err = Open(path); err != nil {
					t.Fatal(err)
				}
			}
			defer s.Close()
			crowd(t, s, 1000)
			s.checkpoint(t)
			full := sizeOf(t, path)
			leave(t, s, 1000)
			s.shrink()
			if now, wal := sizeOf(t, path), sizeOf(t, path+"-wal"); now > full/4 || wal > 1<<20 {
				t.Errorf("the file had %d bytes and has %d, the WAL %d", full, now, wal)
			}
			if free, err := s.pragma("freelist_count"); err != nil || free > spareFree {
				t.Errorf("%d pages are free, %v", free, err)
			}
			crowd(t, s, 3)
			list, err := s.threads()
			if err != nil || len(list) != 3 {
				t.Errorf("%d threads, %v", len(list), err)
			}
		})
	}
}

func (s *Store) checkpoint(t *testing.T) {
	t.Helper()
	if _, err := s.writer.ExecContext(context.Background(), "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		t.Fatal(err)
	}
}

func (s *Store) threads() (list []thread.Thread, err error) {
	return list, s.View(func(tx *Tx) error { list, err = tx.Threads("", "", 0); return err })
}

// TestShrinkingWaitsForNobody: a reader in the middle of its work neither stops it for long nor
// loses what it sees.
func TestShrinkingWaitsForNobody(t *testing.T) {
	t.Parallel()
	s, err := Open(filepath.Join(t.TempDir(), "evertty.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	crowd(t, s, 300)
	err = s.View(func(tx *Tx) error {
		if list, err := tx.Threads("", "", 0); err != nil || len(list) != 300 {
			return fmt.Errorf("%d threads, %w", len(list), err)
		}
		leave(t, s, 300)
		began := time.Now()
		s.shrink()
		if took := time.Since(began); took > busyTimeout/2 {
			t.Errorf("it waited %v for a reader", took)
		}
		list, err := tx.Threads("", "", 0)
		if err == nil && len(list) != 300 {
			t.Errorf("the reader sees %d threads", len(list))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestHistoryGoesInSteps: no transaction deletes more than it was told.
func TestHistoryGoesInSteps(t *testing.T) {
	t.Parallel()
	s, err := Open(filepath.Join(t.TempDir(), "evertty.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	crowd(t, s, 1)
	err = s.Update(func(tx *Tx) error {
		for range 24 {
			tx.AddEvent(thread.Event{ThreadID: "t0000", Type: "x", At: time.Now()})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for steps := 0; ; steps++ {
		var more bool
		var left []thread.Event
		err := s.Update(func(tx *Tx) (err error) {
			more = tx.DropHistory("t0000", 10)
			left, err = tx.Events("t0000", 0, 0)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if want := max(25-10*(steps+1), 0); len(left) != want {
			t.Errorf("after step %d %d events are left, want %d", steps, len(left), want)
		}
		if !more {
			break
		}
	}
}
