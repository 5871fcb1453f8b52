package journal

import (
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestJournalSyncFails: fdatasync(2) fails, because the descriptor is a pipe's.
func TestJournalSyncFails(t *testing.T) {
	for _, mode := range []SyncMode{SyncInterval, SyncAlways} {
		s := openStore(t, t.TempDir())
		j := openJournal(t, s, "a", Options{Sync: mode})
		appendText(t, j, "one ")
		r, w, err := os.Pipe()
		must(t, err)
		good := j.writer.open.index
		j.writer.open.index = w
		j.writer.unsynced.index = true
		if mode == SyncAlways {
			_, err = j.Append(BytesSource([]byte("two ")), 4, make([]byte, 4))
		} else {
			err = j.Sync()
		}
		if !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ESPIPE) {
			t.Errorf("%s: %v", mode, err)
		}
		must(t, errors.Join(r.Close(), good.Close()))
		if mode == SyncInterval && j.writer.open == nil {
			j.writer.retry = time.Now()
		}
		appendText(t, j, "three")
		if n := len(j.segments.list); n != 2 {
			t.Errorf("%s: %d segments", mode, n)
		}
		if got := strings.ReplaceAll(told(readAll(t, j, 0)), "!", ""); !strings.HasPrefix(got, "one ") ||
			!strings.HasSuffix(got, "three") {
			t.Errorf("%s: %s", mode, got)
		}
		must(t, j.Sync())
	}
}

// TestSyncOfSealedFiles: what was closed since the last sync is synced by name, unless nothing is synced.
func TestSyncOfSealedFiles(t *testing.T) {
	for mode, want := range map[SyncMode][]string{SyncInterval: {"data.0", "index.0"}, SyncNone: nil} {
		j := openJournal(t, openStore(t, t.TempDir()), "a", Options{Sync: mode})
		appendText(t, j, "0123456789")
		must(t, j.Roll())
		if _, dirty, err := j.collect(); err != nil || !slices.Equal(dirty.sealed, want) {
			t.Errorf("%s: %v, %v", mode, dirty.sealed, err)
		}
	}
}

// TestFailedSyncBesideOutput: the segment that could not be synced is replaced under the lock, as the race detector
// sees it: others always find one that is open.
func TestFailedSyncBesideOutput(t *testing.T) {
	j := openJournal(t, openStore(t, t.TempDir()), "a", Options{})
	appendText(t, j, "one ")
	o, _, err := j.collect()
	must(t, err)
	r, w, err := os.Pipe() // refuses fdatasync(2)
	must(t, err)
	must(t, errors.Join(r.Close(), o.index.Close()))
	o.index = w
	failed := make(chan error)
	go func() { failed <- j.syncOpen(o, unsynced{index: true}) }()
	j.mu.Lock()
	if j.writer.open == nil {
		t.Error("no segment is open")
	}
	j.mu.Unlock()
	if err := <-failed; !errors.Is(err, syscall.EINVAL) {
		t.Errorf("the sync: %v", err)
	}
	appendText(t, j, "two ")
	if got := strings.ReplaceAll(told(readAll(t, j, 0)), "!", ""); got != "one two " || len(j.segments.list) != 2 {
		t.Errorf("%q in %d segments", got, len(j.segments.list))
	}
}

// TestSyncOfPositions: the file of positions is synced once after an error, when nothing else says how much is lost.
func TestSyncOfPositions(t *testing.T) {
	j := openJournal(t, openStore(t, t.TempDir()), "a", Options{})
	for i, c := range []struct {
		late error
		want bool
	}{{nil, false}, {syscall.EIO, true}, {syscall.EIO, false}} {
		j.writer.late = c.late
		_, dirty, err := j.collect()
		if got := slices.Contains(dirty.sealed, positionsFile); got != c.want || !errors.Is(err, c.late) {
			t.Errorf("%d: synced %v, %v", i, got, err)
		}
	}
}
