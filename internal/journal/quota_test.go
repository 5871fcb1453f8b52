package journal

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/datadir"
)

func TestTrimDropsTheOldest(t *testing.T) {
	s := openStore(t, t.TempDir())
	j := openJournal(t, s, "a", Options{Segment: 100})
	for i := range 20 {
		appendText(t, j, strings.Repeat(string(rune('a'+i)), 100))
	}
	must(t, j.Flush())
	r, err := j.Read(0)
	must(t, err)
	defer r.Close()
	if e, err := r.Next(); err != nil || string(e.Data) != strings.Repeat("a", 100) {
		t.Fatal(e, err)
	}
	if freed, err := j.Trim(j.End(), j.Bytes()); freed != 0 || err != nil {
		t.Errorf("trimmed %d below the limit, %v", freed, err)
	}
	before := j.Bytes()
	freed, err := j.Trim(550, 0)
	if err != nil || j.Start() != 500 || freed == 0 || before-freed != j.Bytes() {
		t.Errorf("starts at %d, freed %d of %d, left %d, %v", j.Start(), freed, before, j.Bytes(), err)
	}
	if _, err := j.Read(499); !errors.Is(err, ErrNotKept) {
		t.Errorf("read of what was dropped: %v", err)
	}
	if _, err := r.Next(); !errors.Is(err, ErrNotKept) {
		t.Errorf("a reader that was overtaken: %v", err)
	}
	if _, err := j.Trim(1<<40, 0); err != nil || j.Start() != 1900 {
		t.Errorf("starts at %d, %v", j.Start(), err)
	}
	appendText(t, j, "more")
	if got := told(readAll(t, j, 1900)); got != strings.Repeat("t", 100)+"more" {
		t.Error(got)
	}
	u, err := s.Usage()
	if must(t, j.Flush()); err != nil || len(u) != 1 {
		t.Error(u, err)
	}
}

func TestCompressKeepsEveryByte(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	j := openJournal(t, s, "a", Options{Segment: 100_000, Cols: 80, Rows: 24})
	var want bytes.Buffer
	for i := range 30_000 {
		fmt.Fprintf(&want, "line %d\r\n", i)
	}
	for p := range slices.Chunk(want.Bytes(), 10_000) {
		appendText(t, j, string(p))
		j.Resized(j.End()-1, 80, 24) // cuts ranges
	}
	if saved, err := j.Compress(time.Hour); saved != 0 || err != nil {
		t.Errorf("what is warm: %d, %v", saved, err)
	}
	must(t, j.Flush())
	before := j.Bytes()
	old, err := j.Read(0)
	must(t, err)
	defer old.Close()
	saved, err := j.Compress(0)
	if err != nil || saved < before/2 || before-saved != j.Bytes() {
		t.Errorf("saved %d of %d, left %d, %v", saved, before, j.Bytes(), err)
	}
	if saved, err := j.Compress(0); saved != 0 || err != nil {
		t.Errorf("a second time: %d, %v", saved, err)
	}
	text := func(list []Entry) string {
		var b strings.Builder
		for _, e := range list {
			b.Write(e.Data)
			if e.Damaged || e.Kind == EntryGap {
				t.Fatalf("%v at %d", e.Kind, e.Seq)
			}
		}
		return b.String()
	}
	if text(entries(t, old)) != want.String() || text(readAll(t, j, 0)) != want.String() ||
		text(readAll(t, j, 123_456)) != want.String()[123_456:] {
		t.Error("not what was written")
	}
	must(t, j.Close())
	r, err := Read(s, "a")
	must(t, err)
	if saved, err := r.Compress(0); err != nil || saved == 0 {
		t.Errorf("the last segment of an ended terminal: %d, %v", saved, err)
	}
	for _, name := range files(t, dir, "a") {
		if strings.HasPrefix(name, datadir.DataFile) && !strings.HasSuffix(name, datadir.PackedEnd) {
			t.Errorf("left %s", name)
		}
	}
	k := openJournal(t, s, "a", Options{})
	must(t, k.Damage())
	appendText(t, k, "more")
	if text(readAll(t, k, 0)) != want.String()+"more" {
		t.Error("not what was written, opened again")
	}
	checkModesOf(t, filepath.Join(dir, "terminals", "a"))
}
