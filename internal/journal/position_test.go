package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/datadir"
)

// killed is a journal whose process was killed now: nothing of it is closed.
func killed(t *testing.T, s *datadir.Store, o Options) *Journal {
	t.Helper()
	return openJournal(t, s, "a", o)
}

// remove removes files of the terminal.
func remove(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		must(t, os.Remove(filepath.Join(dir, "terminals", "a", name)))
	}
}

// TestPositionsAreNotGivenOutTwice: whatever of the files is lost, the next journal begins at or behind the end, and
// tells of it.
func TestPositionsAreNotGivenOutTwice(t *testing.T) {
	for _, c := range []struct {
		name  string
		lose  []string // files that are removed after the kill
		flush bool     // the index knows of everything
		jump  uint64   // how far behind the end the next may begin
	}{
		{"nothing", nil, false, 0},
		{"data", []string{"data.40"}, true, boundAhead},
		{"data, the index knows of nothing", []string{"data.40"}, false, boundAhead},
		{"data and index", []string{"data.40", "index.40"}, true, boundAhead},
		{"all segments", []string{"data.0", "index.0", "data.20", "index.20", "data.40", "index.40"}, true, boundAhead},
		{"the first data", []string{"data.0"}, true, 0},
		{"data and positions", []string{"data.40", positionsFile}, true, 0},
		{"positions", []string{positionsFile}, true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			s := openStore(t, dir)
			j := killed(t, s, Options{Segment: 20})
			for range 5 {
				appendText(t, j, "0123456789")
			}
			if c.flush {
				must(t, j.Flush())
			}
			remove(t, dir, c.lose...)
			r, err := Read(s, "a")
			if err == nil && (r.End() < 50 || r.End() > 50+c.jump) {
				t.Errorf("read, the end is %d", r.End())
			}
			k := killed(t, s, Options{Segment: 20})
			if k.End() < 50 || k.End() > 50+c.jump {
				t.Errorf("the end is %d", k.End())
			}
			lost := c.lose != nil && c.lose[0] != positionsFile
			if told := k.Damage() != nil || k.Losses() != nil; told != lost {
				t.Errorf("damage %v, lost %v", k.Damage(), k.Losses())
			}
			end := k.End()
			appendText(t, k, "next")
			must(t, k.Close())
			l := openJournal(t, s, "a", Options{})
			if l.End() != end+4 {
				t.Errorf("closed at %d, opened at %d", end+4, l.End())
			}
			if got := told(readAll(t, l, l.Start())); !strings.HasSuffix(got, "next") || lost && l.Start() < 50 &&
				!strings.Contains(got, "[gap ") {
				t.Errorf("the recording: %s", got)
			}
		})
	}
}

// TestPositionsWhileTheDiskRefuses: what is shown but not kept counts, exactly, for who comes after a kill, again and
// again.
func TestPositionsWhileTheDiskRefuses(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	j := killed(t, s, Options{})
	appendText(t, j, "kept")
	end := uint64(4)
	for round := range 3 {
		// What the disk does when it is full: the files can be neither written nor made.
		j.mu.Lock()
		_ = j.writer.fail(fmt.Errorf("round %d: %w", round, datadir.ErrNoSpace))
		j.writer.retry = j.writer.retry.Add(1 << 40)
		j.mu.Unlock()
		for range 3 {
			p := []byte("lost output")
			if got, err := j.Append(BytesSource(p), len(p), make([]byte, 64)); err == nil || string(got) != string(p) {
				t.Fatalf("%q, %v", got, err)
			}
			end += uint64(len(p))
		}
		if j.Losses() == nil {
			t.Error("the journal says nothing of what it has lost")
		}
		j = killed(t, s, Options{})
		if j.End() != end || j.Losses() == nil && j.Damage() == nil {
			t.Errorf("round %d: the end is %d instead of %d; %v; %v", round, j.End(), end, j.Damage(), j.Losses())
		}
	}
	appendText(t, j, "kept again")
	list := readAll(t, j, 0)
	lost := uint64(0)
	for _, e := range list {
		lost += e.Bytes
	}
	if text := told(list); lost != end-4 || !strings.HasPrefix(text, "kept") || !strings.HasSuffix(text, "kept again") {
		t.Errorf("%d bytes are lost in %s", lost, text)
	}
}

// TestDroppingIsNotDamage: a kill in the middle of dropping a segment leaves nothing that looks like a loss.
func TestDroppingIsNotDamage(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	j := openJournal(t, s, "a", Options{Segment: 10})
	for range 3 {
		appendText(t, j, "0123456789")
	}
	must(t, j.Close())
	at := filepath.Join(dir, "terminals", "a")
	must(t, os.Rename(filepath.Join(at, "data.0"), filepath.Join(at, datadir.GoneDir+"data.0")))
	next := openStore(t, dir)
	k := openJournal(t, next, "a", Options{})
	if k.Damage() != nil || k.Start() != 10 || k.End() != 30 {
		t.Errorf("[%d, %d], %v", k.Start(), k.End(), k.Damage())
	}
	if names, _ := filepath.Glob(filepath.Join(at, "*.0")); len(names) > 0 {
		t.Errorf("left: %v", names)
	}
}

// TestDamageThatReadersFind is told by the journal, once.
func TestDamageThatReadersFind(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	j := openJournal(t, s, "a", Options{})
	appendText(t, j, "good output")
	must(t, j.Close())
	path := filepath.Join(dir, "terminals", "a", "data.0")
	must(t, os.WriteFile(path, []byte("baad output"), 0o600))
	k, err := Read(s, "a")
	must(t, err)
	if k.Damage() != nil || k.Losses() != nil {
		t.Fatalf("%v, %v", k.Damage(), k.Losses())
	}
	for range 2 {
		readAll(t, k, 0)
		if err := k.Losses(); err == nil || strings.Count(err.Error(), "damaged") != 1 {
			t.Errorf("%v", err)
		}
	}
}

// TestSlotsAreWrittenInTurn: a torn write damages the newest slot, and the one before still counts.
func TestSlotsAreWrittenInTurn(t *testing.T) {
	d, err := os.OpenRoot(t.TempDir())
	must(t, err)
	defer d.Close()
	var p positions
	for pos := uint64(10); pos <= 30; pos += 10 {
		must(t, p.note(d, pos, true))
		if got := readPositions(d); got.pos != pos {
			t.Fatalf("%d was noted, the file says %d", pos, got.pos)
		}
	}
	b, at := p.last.slot()
	f, err := d.OpenFile(positionsFile, os.O_RDWR, 0)
	must(t, err)
	defer f.Close()
	if _, err := f.WriteAt(b[:1], at+1); err != nil { // of the serial
		t.Fatal(err)
	}
	if got := readPositions(d); got.pos != 20 {
		t.Errorf("with the newest slot damaged the file says %d, want 20", got.pos)
	}
}

// TestASegmentEndsAtRest: it may become longer only while the output has moved on from where it was at rest.
func TestASegmentEndsAtRest(t *testing.T) {
	var never resting
	rested := resting{known: true, at: 5}
	if a, b, c := never.room(10, 5), rested.room(10, 5), rested.room(10, 6); a != 10 || b != 10 || c != 10+restWait {
		t.Errorf("never at rest %d, at rest %d, behind it %d", a, b, c)
	}
}

// TestFlushBesideOutput: the maintenance of a journal runs beside its output, as the race detector sees it.
func TestFlushBesideOutput(t *testing.T) {
	j := openJournal(t, openStore(t, t.TempDir()), "a", Options{Segment: 4 << 10, Input: true})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 500 {
			if err := j.Flush(); err != nil {
				t.Error(err)
			}
			if err := j.Sync(); err != nil {
				t.Error(err)
			}
			if _, err := j.Trim(j.End(), 8<<10); err != nil {
				t.Error(err)
			}
		}
	}()
	answers := make(chan struct{})
	go func() {
		defer close(answers)
		for range 500 {
			if err := errors.Join(j.Answered(j.End()), j.Input([]byte("x"))); err != nil {
				t.Error(err)
			}
			j.Resized(j.End(), 80, 24)
		}
	}()
	before := make(chan struct{})
	go func() {
		defer close(before)
		for range 500 {
			if v := j.segmentBefore(math.MaxUint64); !v.found {
				t.Error("the last segment is not before the end of all")
			}
		}
	}()
	for range 500 {
		appendText(t, j, "0123456789")
		j.Rested(j.End())
		if _, err := j.Compress(0); err != nil {
			t.Error(err)
		}
	}
	<-done
	<-answers
	<-before
	retired := make(chan struct{})
	go func() { j.Retire(false); close(retired) }()
	for range 20 {
		if _, err := j.Trim(j.End(), 0); err != nil {
			t.Error(err)
		}
	}
	<-retired
}

// TestCallsBesideOutput: each call alone runs beside output, as the race detector sees it; a call that locks would hide
// a next one that does not.
func TestCallsBesideOutput(t *testing.T) {
	for name, call := range map[string]func(j *Journal) error{
		"Resized": func(j *Journal) error { j.Resized(j.End(), 80, 24); return nil },
		"Input":   func(j *Journal) error { return j.Input([]byte("x")) },
		"Roll":    (*Journal).Roll,
		"SkipTo":  func(j *Journal) error { return j.SkipTo(j.End() + 1) },
		"Exit":    func(j *Journal) error { return j.Exit(End{Signal: "KILL"}) },
		"Restart": func(j *Journal) error { return j.Restart(2, 80, 24) },
		"Rested":  func(j *Journal) error { j.Rested(j.End()); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			s := openStore(t, memoryDir(t))
			j := openJournal(t, s, "a", Options{Sync: SyncNone, Segment: 64, Input: true})
			begun, over, ended := make(chan struct{}), make(chan struct{}), make(chan error)
			go func() {
				err := call(j)
				for close(begun); err == nil; err = call(j) {
					select {
					case <-over:
						ended <- nil
						return
					default:
					}
				}
				ended <- err
			}()
			<-begun
			for i := range 100 {
				appendText(t, j, "0123456789")
				if i%10 == 0 { // as after a failed write of the index
					j.mu.Lock()
					j.writer.open.unsure = true
					j.mu.Unlock()
					must(t, j.Roll())
				}
				must(t, j.Flush())
			}
			close(over)
			must(t, <-ended)
		})
	}
}

// TestRecordsBesideResized: whatever the writer does with the waiting records, Resized adds one at any time, as the
// race detector sees it.
func TestRecordsBesideResized(t *testing.T) {
	for name, call := range map[string]func(b *recordBuffer){
		"waiting":  func(b *recordBuffer) { b.waiting() },
		"take":     func(b *recordBuffer) { b.take() },
		"begin":    func(b *recordBuffer) { b.begin(1, time.Now()) },
		"resume":   func(b *recordBuffer) { b.resume(indexBase{}) },
		"end":      func(b *recordBuffer) { b.end(&record{kind: recordSeal}) },
		"copyFrom": func(b *recordBuffer) { b.copyFrom(0) },
		"state":    func(b *recordBuffer) { b.state() },
		"drop":     func(b *recordBuffer) { b.drop() },
	} {
		var b recordBuffer
		b.begin(0, time.Now())
		var wg sync.WaitGroup
		wg.Go(func() { b.add(&record{kind: recordResize, cols: 100, rows: 30}) })
		call(&b)
		wg.Wait()
		if s := b.state(); s.cols != 100 || s.rows != 30 {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// TestCloseBesideOutput: output that comes while the journal closes is refused or kept, as the race detector sees it.
func TestCloseBesideOutput(t *testing.T) {
	s := openStore(t, t.TempDir())
	j := openJournal(t, s, "a", Options{})
	appendText(t, j, "0123456789")
	closed := make(chan error)
	go func() { closed <- j.Close() }()
	var err error
	for kept := 10; err == nil; kept += 10 {
		if j.End() != uint64(kept) {
			t.Fatalf("ends at %d, kept %d", j.End(), kept)
		}
		_, err = j.Append(BytesSource([]byte("0123456789")), 10, make([]byte, 10))
	}
	if must(t, <-closed); !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
	k := openJournal(t, s, "a", Options{})
	if k.End() != j.End() || k.Damage() != nil || len(k.segments.list) != 1 {
		t.Errorf("closed at %d, opened at %d in %d segments, %v", j.End(), k.End(), len(k.segments.list), k.Damage())
	}
}

// TestLossesOfManyGoroutines: writer, readers and those who ask share them; behind the bound is only that there are
// more.
func TestLossesOfManyGoroutines(t *testing.T) {
	var l losses
	var wg sync.WaitGroup
	for i := range uint64(2 * maxLosses) {
		wg.Go(func() { l.gap(100*i, 100*i+1) })
		wg.Go(func() { l.damaged(i) })
		wg.Go(func() { _ = l.err() })
	}
	wg.Wait()
	text := l.err().Error()
	if strings.Count(text, "missing") != maxLosses || strings.Count(text, "damaged") != maxLosses ||
		!strings.HasSuffix(text, "and more") {
		t.Error(text)
	}
}

// TestEndIsExact: where nothing may come after the end for a while, losing files behind that does not move it.
func TestEndIsExact(t *testing.T) {
	for name, c := range map[string]struct {
		stop func(j *Journal) error
		lose []string
		end  uint64
	}{
		"killed before the next segment": {func(j *Journal) error {
			j.mu.Lock()
			defer j.mu.Unlock()
			return j.writer.sealOpen()
		}, nil, 10},
		"closed, and the files lost": {(*Journal).Close, []string{"data.0", "index.0"}, 10},
		"skipped, and the new files lost": {func(j *Journal) error { return j.SkipTo(50) },
			[]string{"data.50", "index.50"}, 50},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := openStore(t, dir)
			j := killed(t, s, Options{})
			appendText(t, j, "0123456789")
			must(t, c.stop(j))
			remove(t, dir, c.lose...)
			k := openJournal(t, s, "a", Options{})
			if k.End() != c.end || c.lose == nil && (k.Damage() != nil || k.Losses() != nil) {
				t.Errorf("the end is %d instead of %d; %v; %v", k.End(), c.end, k.Damage(), k.Losses())
			}
		})
	}
}

// TestRestBefore: the last position of rest, over segments and when the one before is dropped.
func TestRestBefore(t *testing.T) {
	j := openJournal(t, openStore(t, t.TempDir()), "a", Options{})
	appendText(t, j, "0123456789")
	j.Rested(10)
	must(t, j.Roll())
	appendText(t, j, "\x1b[1;")
	check := func(when string, want map[uint64]bool) {
		t.Helper()
		for pos, known := range want {
			if at, ok := j.RestBefore(pos); ok != known || known && at != 10 {
				t.Errorf("%s, before %d: %d, %v", when, pos, at, ok)
			}
		}
	}
	check("whole", map[uint64]bool{9: false, 10: true, 11: true, 14: true})
	_, err := j.Trim(10, 0)
	must(t, err)
	check("trimmed", map[uint64]bool{10: true, 14: true})
}

// TestRollOfNothing: without a writer, or with an empty segment, there is nothing to begin.
func TestRollOfNothing(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	j := openJournal(t, s, "a", Options{})
	appendText(t, j, "0123456789")
	must(t, errors.Join(j.Roll(), j.Roll()))
	serial := j.segments.last().serial
	must(t, j.Roll())
	if n := len(j.segments.list); n != 2 || j.segments.last().serial != serial {
		t.Errorf("%d segments, the last is %d, it was %d", n, j.segments.last().serial, serial)
	}
	must(t, j.Close())
	r, err := Read(s, "a")
	must(t, err)
	must(t, r.Roll())
}

// TestReadOfARemovedFile: a data file that another program removed is an error to who wants to read it.
func TestReadOfARemovedFile(t *testing.T) {
	dir := t.TempDir()
	j := openJournal(t, openStore(t, dir), "a", Options{})
	appendText(t, j, "0123456789")
	remove(t, dir, "data.0")
	if _, err := j.Read(0); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestUnsureSeal: a segment whose index may lack records says so of the output behind its last mark, and of no other.
func TestUnsureSeal(t *testing.T) {
	for _, c := range []struct{ more, want string }{{"", "one next"}, {"two ", "one !two next"}} {
		s := openStore(t, t.TempDir())
		j := openJournal(t, s, "a", Options{})
		appendText(t, j, "one ")
		must(t, j.Flush())
		if c.more != "" {
			appendText(t, j, c.more)
		}
		j.writer.open.unsure = true
		must(t, j.Roll())
		appendText(t, j, "next")
		must(t, j.Close())
		k := openJournal(t, s, "a", Options{})
		if got := told(readAll(t, k, 0)); got != c.want || k.Damage() != nil {
			t.Errorf("%q: %s, %v", c.more, got, k.Damage())
		}
	}
}

func FuzzParsePositions(f *testing.F) {
	file := make([]byte, positionsSize)
	copy(file, positionsMagic)
	for _, g := range []issued{{1, 5, false}, {2, 9, true}} {
		b, at := g.slot()
		copy(file[at:], b)
	}
	f.Add(file)
	f.Add(file[:600])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		g := parsePositions(b)
		if g.pos >= maxPosition || g.serial == 0 && g != (issued{}) {
			t.Errorf("%+v", g)
		}
		if g.serial == 0 {
			return
		}
		slot, at := g.slot()
		copy(file[at:], slot)
		if again := parsePositions(file); again.serial < g.serial {
			t.Errorf("%+v is %+v", g, again)
		}
	})
}
