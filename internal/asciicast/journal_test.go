//go:build linux

package asciicast

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/internal/journal"
	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
)

// written is one terminal's life: what a journal was told.
type written struct {
	raw     []byte
	resizes []struct{ at, cols, rows int }
}

// liveThrough writes random output in random pieces, with resizes, typing and an
// end, to a journal of small segments.
func liveThrough(t *testing.T, j *journal.Journal, r *rand.Rand) (w written) {
	t.Helper()
	buf := make([]byte, 64<<10)
	for range 1 + r.IntN(60) {
		p := castNoise(r)
		p = p[:min(len(p), 1+r.IntN(300))]
		if got, err := j.Append(journal.BytesSource(p), len(p), buf); err != nil || !bytes.Equal(got, p) {
			t.Fatalf("append: %v", err)
		}
		w.raw = append(w.raw, p...)
		switch r.IntN(4) {
		case 0:
			cols, rows := 20+r.IntN(60), 5+r.IntN(20)
			j.Resized(uint64(len(w.raw)), cols, rows)
			w.resizes = append(w.resizes, struct{ at, cols, rows int }{len(w.raw), cols, rows})
		case 1:
			if err := j.Input([]byte("typed é\r")); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := j.Exit(journal.End{Code: exitStatus(7), Reason: "exit"}); err != nil {
		t.Fatal(err)
	}
	return w
}

// castFrom is the recording of a journal from a position.
func castFrom(t *testing.T, j *journal.Journal, version int, from uint64) string {
	t.Helper()
	r, err := j.Read(from)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	h := Header{Version: version}
	h.Cols, h.Rows = r.Size()
	var b bytes.Buffer
	c := NewWriter(&b, h)
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = c.Add(e)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestCastOfAJournal: a recording of a journal, read back, has its output and its
// resizes in their places, from any position.
func TestCastOfAJournal(t *testing.T) {
	s, err := datadir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r := rand.New(rand.NewPCG(1, 4))
	for i := range 30 {
		id := "t" + strings.Repeat("x", i)
		j, err := journal.Open(s, id, journal.Options{Segment: 2000, Cols: 80, Rows: 24, Input: i%2 == 0})
		if err != nil {
			t.Fatal(err)
		}
		w := liveThrough(t, j, r)
		compareCast(t, j, w, 0, i%2 == 0)
		compareCast(t, j, w, r.IntN(len(w.raw)+1), i%2 == 0)
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		if j, err = journal.Read(s, id); err != nil {
			t.Fatal(err)
		}
		compareCast(t, j, w, 0, i%2 == 0)
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// compareCast holds both versions from a position against what was written: the
// text, the sizes, and the screen that both make.
func compareCast(t *testing.T, j *journal.Journal, w written, from int, input bool) {
	t.Helper()
	for _, version := range []int{V2, V3} {
		text := castFrom(t, j, version, uint64(from))
		h, events := readCast(t, text)
		got := vt.NewEngine(vt.Config{Cols: h.Cols, Rows: h.Rows, Scrollback: 1000})
		var out strings.Builder
		typed := false
		for _, e := range events {
			switch e.Code {
			case Output:
				out.WriteString(e.Data)
				got.Write([]byte(e.Data))
			case Resize:
				got.Resize(e.Cols, e.Rows)
			case Input:
				typed = true
			}
		}
		if want := string([]rune(string(w.raw[from:]))); out.String() != want {
			t.Fatalf("from %d, version %d: the text is\n%q\nwant\n%q", from, version, out.String(), want)
		}
		if typed && !input {
			t.Errorf("what was typed is in a recording without it")
		}
		last := events[len(events)-1]
		if version == V3 && (last.Code != Exit || last.Data != "7") || version == V2 && last.Data != "exit 7" {
			t.Errorf("the last event is %+v", last)
		}
		want := w.screen(from)
		for _, e := range []vt.Engine{want, got} {
			e.Write([]byte(".")) // ends an unfinished character
		}
		if d := snapshot.Differences(want.Freeze(), got.Freeze()); d != nil {
			t.Fatalf("from %d, version %d: the screens differ: %q", from, version, d)
		}
	}
}

// screen is what the bytes from a position on make of an empty screen of the size
// there, with the resizes between them.
func (w written) screen(from int) vt.Engine {
	cols, rows := 80, 24
	for _, s := range w.resizes {
		if s.at <= from {
			cols, rows = s.cols, s.rows
		}
	}
	e := vt.NewEngine(vt.Config{Cols: cols, Rows: rows, Scrollback: 1000})
	at := from
	for _, s := range slices.Concat(w.resizes, []struct{ at, cols, rows int }{{len(w.raw), 0, 0}}) {
		if s.at < from || s.at == from && s.cols != 0 {
			continue
		}
		e.Write(w.raw[at:s.at])
		at = s.at
		if s.cols != 0 {
			e.Resize(s.cols, s.rows)
		}
	}
	return e
}
