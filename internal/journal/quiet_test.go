package journal

import (
	"os"
	"path/filepath"
	"testing"
)

// filesOf counts the open files of a journal.
func filesOf(j *Journal) (n int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if o := j.writer.open; o != nil {
		for _, f := range []*os.File{o.data, o.index} {
			if f != nil {
				n++
			}
		}
	}
	return n
}

// TestQuietJournalHasNoFiles: a journal closes its files only when the disk has everything, and goes on exactly.
func TestQuietJournalHasNoFiles(t *testing.T) {
	s := openStore(t, t.TempDir())
	asleep := 0
	o := Options{Cols: 80, Rows: 24, Input: true, Sleep: func(n int) { asleep += n }}
	j := openJournal(t, s, "a", o)
	appendText(t, j, "one ")
	if j.CloseQuiet(); filesOf(j) != 2 {
		t.Error("it closes files that were not synced")
	}
	for _, next := range []func(){
		func() { appendText(t, j, "two ") },
		func() { j.Resized(j.End(), 50, 10) },
		func() { appendText(t, j, "three ") },
		func() { must(t, j.Input([]byte("in"))) },
		func() { must(t, j.Roll()) },
		func() { appendText(t, j, "four") },
	} {
		must(t, j.Sync())
		if j.CloseQuiet(); filesOf(j) != 0 {
			t.Error("a quiet journal has open files")
		}
		if next(); asleep != quietFiles-filesOf(j) {
			t.Errorf("%d files sleep of %d", asleep, quietFiles-filesOf(j))
		}
	}
	must(t, j.Sync())
	j.CloseQuiet()
	const want = "one two [50x10]three [in in]four"
	if got := told(readAll(t, j, 0)); got != want {
		t.Error(got)
	}
	must(t, j.Close())
	if asleep != 0 {
		t.Errorf("%d files of a closed journal sleep", asleep)
	}
	if got := told(readAll(t, openJournal(t, s, "a", Options{}), 0)); got != want {
		t.Errorf("opened again: %s", got)
	}
}

// TestQuietJournalLosesItsFiles: what cannot be opened again is a gap, and the journal goes on behind it.
func TestQuietJournalLosesItsFiles(t *testing.T) {
	dir := t.TempDir()
	j := openJournal(t, openStore(t, dir), "a", Options{Cols: 80, Rows: 24})
	appendText(t, j, "one ")
	must(t, j.Sync())
	j.CloseQuiet()
	index := filepath.Join(dir, "terminals", "a", "index.0")
	must(t, os.Rename(index, index+"x"))
	got, err := j.Append(BytesSource([]byte("two ")), 4, make([]byte, 4))
	if string(got) != "two " || err == nil {
		t.Errorf("%q, %v", got, err)
	}
	must(t, os.Rename(index+"x", index))
	j.writer.retry = j.writer.retry.Add(-retryPause)
	appendText(t, j, "three")
	if got := told(readAll(t, j, 0)); got != "one [gap 4]three" {
		t.Error(got)
	}
}
