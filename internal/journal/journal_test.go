package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/datadir"
)

func openJournal(t testing.TB, s *datadir.Store, id string, o Options) *Journal {
	t.Helper()
	j, err := Open(s, id, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

// appendText appends p in one piece and checks that it comes back.
func appendText(t testing.TB, j *Journal, p string) {
	t.Helper()
	got, err := j.Append(BytesSource([]byte(p)), len(p), make([]byte, len(p)))
	if err != nil || string(got) != p {
		t.Fatalf("append of %d bytes: %d bytes, %v", len(p), len(got), err)
	}
}

// entries reads to the end as of now. Data are copied.
func entries(t testing.TB, r *Reader) (list []Entry) {
	t.Helper()
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		e.Data = bytes.Clone(e.Data)
		list = append(list, e)
	}
}

func readAll(t testing.TB, j *Journal, from uint64) []Entry {
	t.Helper()
	r, err := j.Read(from)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	return entries(t, r)
}

// told is a journal in short: output as text, joined over marks, and everything
// else in brackets.
func told(list []Entry) string {
	var b strings.Builder
	for _, e := range list {
		bad := ""
		if e.Damaged {
			bad = "!"
		}
		switch e.Kind {
		case EntryOutput:
			b.WriteString(bad)
			b.Write(e.Data)
		case EntryResize:
			fmt.Fprintf(&b, "[%dx%d]", e.Cols, e.Rows)
		case EntryInput:
			fmt.Fprintf(&b, "[in %s]", e.Data)
		case EntryExit:
			fmt.Fprintf(&b, "[exit %s%s]", e.End.Signal, e.End.Reason)
		case EntryRestart:
			fmt.Fprintf(&b, "[restart %d %dx%d]", e.Generation, e.Cols, e.Rows)
		case EntryGap:
			fmt.Fprintf(&b, "[gap%s %d]", bad, e.Bytes)
		}
	}
	return b.String()
}

// checkOrder checks what holds for any list of entries: positions and times
// ascend, and positions count what was given.
func checkOrder(t testing.TB, from uint64, list []Entry) {
	t.Helper()
	var last time.Time
	for i, e := range list {
		want := from + uint64(len(e.Data))
		if e.Kind == EntryInput {
			want = from
		}
		if e.Seq != want+e.Bytes || len(e.Data) > maxRange {
			t.Fatalf("entry %d (%v) of %d bytes ends at %d, it began at %d", i, e.Kind, len(e.Data), e.Seq, from)
		}
		if e.Time.Before(last) {
			t.Fatalf("entry %d (%v): %v is before %v", i, e.Kind, e.Time, last)
		}
		from, last = e.Seq, e.Time
	}
}

func TestJournalTellsWhatHappened(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	j := openJournal(t, s, "a", Options{Cols: 80, Rows: 24, Input: true})
	appendText(t, j, "one ")
	j.Resized(4, 100, 30)
	appendText(t, j, "two ")
	must(t, j.Input([]byte("x\r")))
	must(t, j.Answered(8))
	code := 3
	must(t, j.Exit(End{Code: &code, Reason: "bye", Time: time.Now()}))
	must(t, j.Restart(2, 90, 20))
	must(t, j.Write([]byte("three")))
	const want = "one [100x30]two [in x\r][exit bye][restart 2 90x20]three"
	check := func(j *Journal) {
		t.Helper()
		list := readAll(t, j, 0)
		checkOrder(t, 0, list)
		if got := told(list); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if j.End() != 13 || j.Start() != 0 || j.LastAnswered() != 8 || j.Damage() != nil {
			t.Errorf("[%d, %d), answered %d, %v", j.Start(), j.End(), j.LastAnswered(), j.Damage())
		}
		if cols, rows := j.Size(); cols != 90 || rows != 20 {
			t.Errorf("size %dx%d", cols, rows)
		}
		for from, rest := range []string{want, want[1:]} {
			if got := told(readAll(t, j, uint64(from))); got != rest {
				t.Errorf("from %d: %s", from, got)
			}
		}
		r, err := j.Read(4)
		must(t, err)
		if cols, rows := r.Size(); cols != 80 || rows != 24 {
			t.Errorf("size at 4: %dx%d", cols, rows)
		}
		if list := entries(t, r); list[0].Kind != EntryResize || list[3].End != nil && *list[3].End.Code != 3 {
			t.Errorf("from 4: %s", told(list))
		}
		if cols, rows := r.Size(); cols != 90 || rows != 20 {
			t.Errorf("size at the end: %dx%d", cols, rows)
		}
		must(t, r.Close())
		if _, err := r.Next(); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("after Close: %v", err)
		}
	}
	check(j)
	must(t, j.Sync())
	check(j)
	must(t, j.Close())
	must(t, j.Close())
	check(j)
	r, err := Read(s, "a")
	must(t, err)
	check(r)
	check(openJournal(t, s, "a", Options{}))
	for _, from := range []uint64{14, 1 << 63} {
		if _, err := j.Read(from); !errors.Is(err, ErrNotKept) {
			t.Errorf("read from %d: %v", from, err)
		}
	}
	if _, err := Read(s, "b"); !errors.Is(err, datadir.ErrNotFound) {
		t.Errorf("no such terminal: %v", err)
	}
	if _, err := r.Append(BytesSource([]byte("x")), 1, make([]byte, 1)); !errors.Is(err, errReadingOnly) {
		t.Errorf("append to a journal for reading: %v", err)
	}
	checkModesOf(t, filepath.Join(dir, "terminals", "a"))
}

func checkModesOf(t *testing.T, dir string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range list {
		if info, err := e.Info(); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: mode %v, %v", e.Name(), info.Mode(), err)
		}
	}
}

// TestJournalRotates: segments of 10 bytes, and positions that go on over them and
// over restarts of the server.
func TestJournalRotates(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	o := Options{Sync: SyncNone, Segment: 10, Cols: 80, Rows: 24}
	var want strings.Builder
	j := openJournal(t, s, "a", o)
	for i := range 50 {
		if i%7 == 3 {
			must(t, j.Close())
			j = openJournal(t, s, "a", o)
			must(t, j.Damage())
		}
		p := fmt.Sprintf("line %d;", i)
		appendText(t, j, p)
		want.WriteString(p)
		if i%5 == 0 {
			j.Resized(j.End(), 80+i, 24)
			fmt.Fprintf(&want, "[%dx24]", 80+i)
		}
	}
	list := readAll(t, j, 0)
	checkOrder(t, 0, list)
	if told(list) != want.String() {
		t.Errorf("got  %s\nwant %s", told(list), want.String())
	}
	if n := len(files(t, dir, "a")); n < 40 {
		t.Errorf("%d files", n)
	}
	for from := uint64(0); from <= j.End(); from++ {
		list := readAll(t, j, from)
		checkOrder(t, from, list)
		if got := told(list); !strings.HasSuffix(want.String(), got) {
			t.Fatalf("from %d: %s", from, got)
		}
	}
	u, err := s.Usage()
	if err != nil || len(u) != 1 || u[0].Journal != j.Bytes() || u[0].Snapshots != 0 {
		must(t, j.Flush())
		if u, _ = s.Usage(); u[0].Journal != j.Bytes() {
			t.Errorf("usage %+v, %v; the journal says %d", u, err, j.Bytes())
		}
	}
}

// TestJournalAfterKill: what a process that is killed leaves, at any moment: bytes in the
// data file without records, half a record.
func TestJournalAfterKill(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	j := openJournal(t, s, "a", Options{Cols: 80, Rows: 24})
	appendText(t, j, "one ")
	must(t, j.Flush())
	appendText(t, j, "two ") // its mark is never written
	r, err := Read(s, "a")
	must(t, err)
	if got := told(readAll(t, r, 0)); got != "one two " {
		t.Errorf("read: %s", got)
	}
	path := filepath.Join(dir, "terminals", "a", "data.0")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	must(t, err)
	_, err = f.WriteString("three ") // moved by a splice whose result nobody saw
	must(t, errors.Join(err, f.Close()))
	index := filepath.Join(dir, "terminals", "a", "index.0")
	whole, err := os.ReadFile(index)
	must(t, err)
	for n := range whole {
		must(t, os.WriteFile(index, whole[:n], 0o600))
		for _, name := range []string{"data.14", "index.14", positionsFile} { // of the try before
			must(t, os.RemoveAll(filepath.Join(dir, "terminals", "a", name)))
		}
		k := openJournal(t, s, "a", Options{Sync: SyncNone})
		if k.End() != 14 {
			t.Fatalf("index of %d bytes: end %d", n, k.End())
		}
		if n < 8 && k.Damage() == nil {
			t.Errorf("index of %d bytes: no damage", n)
		}
		appendText(t, k, "four")
		want := "one two three four"
		if got := told(readAll(t, k, 0)); strings.ReplaceAll(got, "!", "") != want {
			t.Errorf("index of %d bytes: %s", n, got)
		}
		must(t, k.Close())
		must(t, os.Truncate(path, 14))
	}
}

func TestJournalMarksTime(t *testing.T) {
	s := openStore(t, t.TempDir())
	j := openJournal(t, s, "a", Options{})
	start := time.Now().Truncate(time.Microsecond)
	appendText(t, j, "one")
	j.writer.mark.last = j.writer.mark.last.Add(-time.Hour) // an hour later
	appendText(t, j, "two")
	appendText(t, j, strings.Repeat("x", 200<<10))
	must(t, j.Flush())
	list := readAll(t, j, 0)
	checkOrder(t, 0, list)
	if len(list) < 5 || string(list[0].Data) != "one" || string(list[1].Data) != "two" {
		t.Errorf("%d entries", len(list))
	}
	for _, e := range list {
		if e.Time.Before(start) || e.Time.After(time.Now()) {
			t.Errorf("time %v", e.Time)
		}
	}
}

// TestJournalTimesNeverGoBack: the clock was set back between two records.
func TestJournalTimesNeverGoBack(t *testing.T) {
	s := openStore(t, t.TempDir())
	j := openJournal(t, s, "a", Options{Segment: 8})
	for i := range 8 {
		appendText(t, j, "12345")
		j.writer.mark.came = time.Now().Add(time.Duration(-i) * time.Hour)
		j.writer.records.add(&record{kind: recordResize, pos: j.End(),
			time: micros(time.Now().Add(time.Duration(3-i) * time.Hour)), cols: 80 + i, rows: 24})
	}
	list := readAll(t, j, 0)
	checkOrder(t, 0, list)
	if n := strings.Count(told(list), "12345"); n != 8 {
		t.Errorf("%s", told(list))
	}
}

// brokenDisk is a source whose moves fail after so many bytes.
type brokenDisk struct {
	*Bytes
	after int
	err   error
}

func (b *brokenDisk) MoveTo(f *os.File, off int64, n int) (int, error) {
	moved, err := b.Bytes.MoveTo(f, off, min(n, b.after))
	return moved, errors.Join(err, b.err)
}

// TestJournalGap: the disk refuses in the middle of a piece. All bytes reach the
// caller, positions count them, and the journal goes on after the pause.
func TestJournalGap(t *testing.T) {
	for _, why := range []error{syscall.EIO, syscall.ENOSPC, syscall.EFBIG} {
		s := openStore(t, t.TempDir())
		j := openJournal(t, s, "a", Options{Cols: 80, Rows: 24})
		appendText(t, j, "good ")
		buf := make([]byte, 64)
		got, err := j.Append(&brokenDisk{BytesSource([]byte("half of it")), 4, why}, 10, buf)
		if string(got) != "half of it" || !errors.Is(err, why) ||
			errors.Is(err, datadir.ErrNoSpace) != (why != syscall.EIO) {
			t.Errorf("%q, %v", got, err)
		}
		got, again := j.Append(BytesSource([]byte("lost")), 4, buf)
		if string(got) != "lost" || again.Error() != err.Error() || j.End() != 19 {
			t.Errorf("%q, %v, end %d", got, again, j.End())
		}
		j.Resized(19, 80, 20)
		if got := told(readAll(t, j, 0)); got != "good half[gap 10]" {
			t.Errorf("in the gap: %s", got)
		}
		if got := told(readAll(t, j, 12)); got != "[gap 7]" {
			t.Errorf("from within the gap: %s", got)
		}
		j.writer.retry = time.Now() // the pause is over
		appendText(t, j, "good again")
		list := readAll(t, j, 0)
		checkOrder(t, 0, list)
		if got := told(list); got != "good half[gap 10][80x20]good again" {
			t.Errorf("after the gap: %s", got)
		}
		must(t, j.Close())
		k := openJournal(t, s, "a", Options{})
		if got := told(readAll(t, k, 0)); got != told(list) || k.End() != 29 || k.Damage() == nil {
			t.Errorf("opened again: %s, %v", got, k.Damage())
		}
	}
}

// TestJournalShortSource: a pipe that has less than it said is not the disk's
// fault.
func TestJournalShortSource(t *testing.T) {
	s := openStore(t, t.TempDir())
	j := openJournal(t, s, "a", Options{})
	got, err := j.Append(BytesSource([]byte("abc")), 5, make([]byte, 5))
	if string(got) != "abc" || !errors.Is(err, errShort) || j.End() != 3 {
		t.Errorf("%q, %v", got, err)
	}
	appendText(t, j, "def")
	if got := told(readAll(t, j, 0)); got != "abcdef" {
		t.Error(got)
	}
}

// TestJournalIndexFails: the index cannot be written, because its descriptor is
// of a file that is open for reading only.
func TestJournalIndexFails(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	j := openJournal(t, s, "a", Options{Cols: 80, Rows: 24})
	appendText(t, j, "one ")
	must(t, j.Flush())
	appendText(t, j, "two ")
	j.Resized(8, 50, 10)
	good := j.writer.open.index
	bad, err := os.Open(filepath.Join(dir, "terminals", "a", "index.0"))
	must(t, err)
	j.writer.open.index = bad
	buf := make([]byte, 16)
	got, err := j.Append(BytesSource([]byte("three ")), 6, buf)
	if string(got) != "three " || !errors.Is(err, syscall.EBADF) {
		t.Errorf("%q, %v", got, err)
	}
	must(t, good.Close())
	j.writer.retry = time.Now()
	appendText(t, j, "four")
	list := readAll(t, j, 0)
	checkOrder(t, 0, list)
	if got := told(list); got != "one !two [gap 6][50x10]four" {
		t.Error(got)
	}
	if err := j.Sync(); !errors.Is(err, syscall.EBADF) {
		t.Errorf("sync says nothing of the index that was left: %v", err)
	}
	must(t, j.Sync())
}

func TestJournalSkipTo(t *testing.T) {
	s := openStore(t, t.TempDir())
	j := openJournal(t, s, "a", Options{Cols: 80, Rows: 24})
	must(t, j.SkipTo(5))
	appendText(t, j, "abc")
	must(t, j.SkipTo(3))
	must(t, j.SkipTo(100))
	appendText(t, j, "def")
	if got := told(readAll(t, j, j.Start())); got != "[gap 5]abc[gap 92]def" || j.Start() != 0 {
		t.Errorf("%s from %d", got, j.Start())
	}
}

// TestJournalNeverBlocksResized: the lock that is held over the disk is taken.
func TestJournalNeverBlocksResized(t *testing.T) {
	s := openStore(t, t.TempDir())
	j := openJournal(t, s, "a", Options{Cols: 80, Rows: 24})
	j.mu.Lock()
	j.Resized(0, 100, 30)
	if j.Start() != 0 || j.End() != 0 || j.Bytes() == 0 || j.LastAnswered() != 0 {
		t.Error("a getter is wrong")
	}
	j.mu.Unlock()
	if got := told(readAll(t, j, 0)); got != "[100x30]" {
		t.Error(got)
	}
}

// TestFollowerSeesAResizeAtOnce: a reader at the end has it without another byte of output, and in its place when it
// is noted late.
func TestFollowerSeesAResizeAtOnce(t *testing.T) {
	j := openJournal(t, openStore(t, t.TempDir()), "a", Options{Cols: 80, Rows: 24, Input: true})
	appendText(t, j, "ab")
	r, err := j.Read(0)
	must(t, err)
	defer r.Close()
	if got := told(entries(t, r)); got != "ab" {
		t.Fatal(got)
	}
	must(t, j.Flush()) // the mark of "ab"
	_ = entries(t, r)
	j.Resized(2, 100, 30)
	if got := told(entries(t, r)); got != "[100x30]" {
		t.Errorf("at the end: %q", got)
	}
	must(t, j.Input([]byte("x")))
	j.Resized(1, 90, 20)
	if got := told(readAll(t, j, 0)); got != "a[90x20]b[100x30][in x]" {
		t.Errorf("noted late: %s", got)
	}
}

// TestIndexThatCannotBeReadOn: a reader believes nothing of an index behind the place where the disk refuses it.
func TestIndexThatCannotBeReadOn(t *testing.T) {
	j := openJournal(t, openStore(t, t.TempDir()), "a", Options{Cols: 80, Rows: 24, Input: true})
	must(t, j.Write([]byte("one ")))
	must(t, j.Flush())
	r, err := j.Read(0)
	must(t, err)
	defer r.Close()
	if got := told(entries(t, r)); got != "one " {
		t.Fatal(got)
	}
	must(t, r.seg.index.Close())
	must(t, j.Write([]byte("two ")))
	j.Resized(8, 100, 30)
	must(t, j.Flush())
	must(t, j.Input([]byte("x"))) // waits in memory
	if got := told(entries(t, r)); got != "!two " {
		t.Errorf("got %s", got)
	}
}

// TestEmptySegmentIsReplaced: a segment that begins where an empty one stands has its place, not one beside it whose
// files are the same: dropping that would lose output.
func TestEmptySegmentIsReplaced(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	must(t, openJournal(t, s, "a", Options{}).Close())
	must(t, os.Truncate(filepath.Join(dir, "terminals", "a", "index.0"), 0))
	j := openJournal(t, s, "a", Options{Segment: 4})
	appendText(t, j, "kept")
	if freed, err := j.Trim(0, 0); freed != 0 || err != nil {
		t.Errorf("freed %d, %v", freed, err)
	}
	if got := told(readAll(t, j, 0)); got != "kept" || len(j.segments.list) != 1 {
		t.Errorf("%q in %d segments", got, len(j.segments.list))
	}
}

// TestJournalFollowed: readers see everything, in order, while it is written,
// rotated, trimmed and compressed.
func TestJournalFollowed(t *testing.T) {
	before := openFiles(t)
	s, err := datadir.Open(t.TempDir())
	must(t, err)
	j, err := Open(s, "a", Options{Segment: 3000, Cols: 80, Rows: 24})
	must(t, err)
	const lines = 4000
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() { followLines(t, j, lines, w%2 == 1) })
	}
	wg.Go(func() {
		for j.End() < lines*10 {
			_, err1 := j.Compress(0)
			freed, err2 := j.Trim(j.End()/2, 20_000)
			if err := errors.Join(err1, err2, j.Sync()); err != nil || freed < 0 {
				t.Error(err)
				return
			}
		}
	})
	buf := make([]byte, 10)
	for i := range lines {
		p := fmt.Sprintf("%09d\n", i)
		if got, err := j.Append(BytesSource([]byte(p)), 10, buf); err != nil || string(got) != p {
			t.Error(err)
		}
		if i%100 == 0 {
			j.Resized(j.End(), 80+i%7, 24)
		}
	}
	wg.Wait()
	must(t, errors.Join(j.Close(), s.Close()))
	if after := openFiles(t); after > before {
		t.Errorf("%d files open, %d before", after, before)
	}
}

// TestJournalReaderOfWhatIsBeingDropped: a reader that opens a segment while Trim
// removes it (the data are there still, the index is not) tells that it was
// dropped, not that it is damaged.
func TestJournalReaderOfWhatIsBeingDropped(t *testing.T) {
	s := openStore(t, t.TempDir())
	j := openJournal(t, s, "a", Options{Segment: 10})
	for range 3 {
		appendText(t, j, "0123456789")
	}
	must(t, j.Flush())
	seen := j.segmentAt(5)
	gone, ok := j.segments.dropOldest(j.End(), 0)
	if !ok || gone.serial != seen.serial {
		t.Fatalf("dropped %+v, %v", gone, ok)
	}
	d, err := j.dir.open()
	must(t, err)
	defer d.Close()
	must(t, d.Remove(gone.indexName()))
	before := openFiles(t)
	if r, err := newSegmentReader(j, seen); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%+v, %v", r, err)
	}
	if after := openFiles(t); after != before {
		t.Errorf("%d files open, %d before", after, before)
	}
	if err := (&Reader{j: j, pos: 5}).enter(seen); !errors.Is(err, ErrNotKept) {
		t.Error(err)
	}
}

// followLines reads to the last line. One that was overtaken by Trim begins anew.
func followLines(t *testing.T, j *Journal, lines int, slow bool) {
	var r *Reader
	var part []byte
	next, given, anew := -1, 0, 0
	defer func() { must(t, r.Close()) }()
	for next < lines {
		if r == nil || slow && given >= 50 && anew < 5 {
			if r != nil {
				must(t, r.Close())
			}
			from := (j.Start() + 9) / 10 * 10
			var err error
			if r, err = j.Read(from); errors.Is(err, ErrNotKept) {
				r = nil
				continue
			} else if err != nil {
				t.Error(err)
				return
			}
			part, next, given, anew = part[:0], int(from/10), 0, anew+1
		}
		e, err := r.Next()
		given++
		switch {
		case errors.Is(err, ErrNotKept):
			must(t, r.Close())
			r = nil
			continue
		case errors.Is(err, io.EOF):
			continue
		case err != nil || e.Damaged || e.Kind == EntryGap:
			t.Errorf("kind %v up to %d, %d bytes, damaged %v, %v", e.Kind, e.Seq, len(e.Data), e.Damaged, err)
			return
		}
		for part = append(part, e.Data...); len(part) >= 10; part = part[10:] {
			if got := string(part[:10]); got != fmt.Sprintf("%09d\n", next) {
				t.Errorf("got %q, want line %d", got, next)
				return
			}
			next++
		}
	}
}
