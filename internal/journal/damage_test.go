package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evertty/evertty/internal/datadir"
)

// smallJournal makes a journal of three segments with everything in it and
// returns its output.
func smallJournal(t testing.TB, s *datadir.Store, id string, pack bool) (text string) {
	t.Helper()
	j := openJournal(t, s, id, Options{Segment: 24, Cols: 80, Rows: 24, Input: true})
	for i := range 9 {
		p := fmt.Sprintf("piece %d;", i)
		appendText(t, j, p)
		must(t, j.Flush())
		text += p
		switch i {
		case 1:
			j.Resized(j.End(), 100, 30)
		case 4:
			must(t, j.Input([]byte("x")))
		case 7:
			must(t, errors.Join(j.Answered(60), j.Exit(End{Signal: "KILL"}), j.Restart(2, 100, 30)))
		}
	}
	if n := len(j.segments.list); n != 3 {
		t.Fatalf("%d segments", n)
	}
	if pack {
		saved, err := j.Compress(0)
		if err != nil || saved == 0 {
			t.Fatal(saved, err)
		}
	}
	must(t, j.Close())
	return text
}

// memoryDir is a directory on a file system in memory where there is one:
// thousands of files that nobody syncs still wait for those who do.
func memoryDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "evertty-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { must(t, os.RemoveAll(dir)) })
	return dir
}

// whatIsLeft reads a damaged journal and holds it to what it says: a byte at
// every position is the one that was written, or damaged, or in a gap. It
// returns the positions of which that is not the first.
func whatIsLeft(t *testing.T, what string, j *Journal, text string) (bad []int) {
	t.Helper()
	pos, open := 0, 0
	r, err := j.Read(j.Start())
	must(t, err)
	defer r.Close()
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if open++; open > 10_000 {
			t.Fatalf("%s: no end of entries", what)
		}
		from := pos
		switch e.Kind {
		case EntryOutput:
			pos += len(e.Data)
		case EntryGap:
			pos += int(e.Bytes)
		}
		if int(e.Seq) != pos || pos > len(text) {
			t.Fatalf("%s: %v of %d bytes ends at %d, it began at %d", what, e.Kind, len(e.Data), e.Seq, from)
		}
		if e.Kind == EntryOutput && !e.Damaged && string(e.Data) != text[from:pos] {
			t.Fatalf("%s: %q at %d, %q was written", what, e.Data, from, text[from:pos])
		}
		if e.Damaged || e.Kind == EntryGap {
			for ; from < pos; from++ {
				bad = append(bad, from)
			}
		}
	}
	if pos != len(text) {
		t.Fatalf("%s: ends at %d, not %d", what, pos, len(text))
	}
	return bad
}

// TestJournalDamage: every file of a small journal cut at every offset, and with a bit flipped in
// every byte. It opens, positions hold, other segments are as they were, what is
// not says so, and it goes on.
func TestJournalDamage(t *testing.T) {
	if testing.Short() {
		t.Skip("damages a journal at every place")
	}
	tried := 0
	for _, pack := range []bool{false, true} {
		dir := memoryDir(t)
		s := openStore(t, dir)
		text := smallJournal(t, s, "a", pack)
		at := filepath.Join(dir, "terminals", "a")
		if whole, err := Read(s, "a"); err != nil || whole.Damage() != nil ||
			len(whatIsLeft(t, "undamaged", whole, text)) > 0 {
			t.Fatal(whole.Damage(), err)
		}
		good := map[string][]byte{}
		for _, name := range files(t, dir, "a") {
			b, err := os.ReadFile(filepath.Join(at, name))
			must(t, err)
			good[name] = b
		}
		restore := func() {
			must(t, os.RemoveAll(at))
			must(t, os.Mkdir(at, 0o700))
			for name, b := range good {
				must(t, os.WriteFile(filepath.Join(at, name), b, 0o600))
			}
		}
		for name, b := range good {
			if pack && !strings.HasSuffix(name, datadir.PackedEnd) {
				continue // the same as before
			}
			for i := 0; i < len(b); i += damageStep {
				flipped := bytes.Clone(b)
				flipped[i] ^= 1 << (i % 8)
				for what, damaged := range map[string][]byte{"cut at": b[:i], "flipped in": flipped} {
					restore()
					// The end of an index that is still open may be anywhere, and zstd
					// has a bit that means nothing (RFC 8878 3.1.1.1.1.4).
					// Of the file of positions the data tell the same.
					unseen := name == positionsFile || what == "cut at" && name == "index.48" || what != "cut at" &&
						strings.HasSuffix(name, datadir.PackedEnd) && i == 4
					must(t, os.WriteFile(filepath.Join(at, name), damaged, 0o600))
					checkDamaged(t, s, fmt.Sprintf("%s %s %d", name, what, i), name, text, unseen)
					tried++
				}
			}
		}
	}
	if tried < 500/damageStep {
		t.Errorf("only %d kinds of damage", tried)
	}
}

// checkDamaged opens what was damaged in one file. unseen says that nobody can
// see that something is missing.
func checkDamaged(t *testing.T, s *datadir.Store, what, name, text string, unseen bool) {
	t.Helper()
	r, err := Read(s, "a")
	must(t, err)
	bad := whatIsLeft(t, what+", read", r, text)
	if len(bad) == 0 && r.Damage() == nil && !unseen {
		t.Errorf("%s: nothing said", what)
	}
	var offset int
	if name == positionsFile {
		name += ".0"
	}
	_, err = fmt.Sscanf(name[strings.IndexByte(name, '.')+1:], "%d", &offset)
	must(t, err)
	for _, pos := range bad {
		if pos < offset || offset < 54 && pos >= offset+27 {
			t.Fatalf("%s: position %d is of another segment", what, pos)
		}
	}
	j := openJournal(t, s, "a", Options{Segment: 24, Sync: SyncNone})
	again := whatIsLeft(t, what+", opened", j, text)
	if (j.Damage() == nil) != (r.Damage() == nil) || len(again) > len(bad) {
		t.Errorf("%s: %v and %v, %d and %d bytes", what, r.Damage(), j.Damage(), len(bad), len(again))
	}
	appendText(t, j, "more")
	must(t, j.Close())
	k := openJournal(t, s, "a", Options{Segment: 24, Sync: SyncNone})
	if got := whatIsLeft(t, what+", again", k, text+"more"); len(got) > len(bad) || len(got) > 0 &&
		got[len(got)-1] >= len(text) {
		t.Errorf("%s: opened again %v are not good, %v before", what, got, bad)
	}
	must(t, k.Close())
}

// TestLongDamageIsShownToItsEnd: behind a damaged index every byte is shown, also when the data fill several entries.
func TestLongDamageIsShownToItsEnd(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	j := openJournal(t, s, "a", Options{})
	want := strings.Repeat("0123456789", 2*maxRange/10) + "end"
	must(t, errors.Join(j.Write([]byte(want)), j.Close()))
	index := filepath.Join(dir, "terminals", "a", "index.0")
	b, err := os.ReadFile(index)
	must(t, err)
	start := len(indexMagic) + frameOver + int(b[len(indexMagic)])
	b[start+frameTop] ^= 1 // in the first mark
	must(t, os.WriteFile(index, b, 0o600))
	for _, open := range []func() (*Journal, error){
		func() (*Journal, error) { return Read(s, "a") },
		func() (*Journal, error) { return Open(s, "a", Options{}) },
	} {
		k, err := open()
		must(t, err)
		list := readAll(t, k, 0)
		checkOrder(t, 0, list)
		if got := strings.ReplaceAll(told(list), "!", ""); got != want || k.Damage() == nil {
			t.Errorf("%d of %d bytes, ends in %.40q, %v", len(got), len(want), got[max(0, len(got)-40):], k.Damage())
		}
		must(t, k.Close())
	}
}

// FuzzJournalOpen: any bytes in a data file and an index, of the first segment or
// the last.
func FuzzJournalOpen(f *testing.F) {
	b, cuts := encodeIndex([]record{
		{kind: recordStart, pos: 0, time: 1, cols: 80, rows: 24}, {kind: recordMark, pos: 5, time: 2, crc: 1},
		{kind: recordResize, pos: 3, time: 1, cols: 9, rows: 9},
	})
	f.Add([]byte("hello"), b, false)
	f.Add([]byte("hell"), b[:cuts[1]], true)
	f.Add([]byte{}, []byte(indexMagic), true)
	f.Fuzz(func(t *testing.T, data, index []byte, sealed bool) {
		if sealed {
			index = resealed(index)
		}
		dir := t.TempDir()
		s := openStore(t, dir)
		at := filepath.Join(dir, "terminals", "a")
		must(t, os.Mkdir(at, 0o700))
		must(t, os.WriteFile(filepath.Join(at, "data.0"), data, 0o600))
		must(t, os.WriteFile(filepath.Join(at, "index.0"), index, 0o600))
		r, err := Read(s, "a")
		must(t, err)
		first := readAll(t, r, 0)
		checkOrder(t, 0, first)
		j := openJournal(t, s, "a", Options{})
		if j.End() < uint64(len(data)) && j.Damage() == nil {
			t.Fatalf("ends at %d, there are %d bytes", j.End(), len(data))
		}
		list := readAll(t, j, 0)
		checkOrder(t, 0, list)
		if j.writer.open == nil {
			return // a position beyond all bounds
		}
		appendText(t, j, "more")
		list = readAll(t, j, j.End()-4)
		if got := list[len(list)-1]; string(got.Data) != "more" || got.Damaged {
			t.Fatalf("%+v", got)
		}
	})
}
