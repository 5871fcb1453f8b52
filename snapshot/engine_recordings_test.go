package snapshot

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evertty/evertty/vt"
)

// corporaDir is the folder of recordings that the repository does not carry:
// EVERTTY_CORPORA, else shared/corpora beside the checkout.
func corporaDir(t *testing.T) string {
	dir := os.Getenv("EVERTTY_CORPORA")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "corpora")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no recordings: %v (EVERTTY_CORPORA names the folder with NAME.rec and NAME.json)", err)
	}
	return dir
}

// recordings are the streams below dir, by name.
func recordings(t *testing.T, dir string) map[string]stream {
	out := map[string]stream{}
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".rec") {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var size struct{ Cols, Rows, Scrollback int }
		b, err := os.ReadFile(strings.TrimSuffix(path, ".rec") + ".json")
		if err == nil {
			err = json.Unmarshal(b, &size)
		}
		s := stream{cols: size.Cols, rows: size.Rows, scrollback: size.Scrollback, unicode: vt.Unicode11}
		for piece := range pieces(len(raw)+int(randomPieces)).ofSize(raw, 2000) {
			s.steps = append(s.steps, step{write: piece})
		}
		name, _ := filepath.Rel(dir, strings.TrimSuffix(path, ".rec"))
		out[name] = s
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// streamPaths are the repository's own inputs: what programs typically send.
func streamPaths(t *testing.T) []string {
	paths, err := filepath.Glob("testdata/streams/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no streams: %v", err)
	}
	return paths
}

// TestEngineEqualsXterm: what programs send makes the engine what it makes
// xterm.js.
func TestEngineEqualsXterm(t *testing.T) {
	checkScripts(t, streamPaths(t))
}

// TestEngineEqualsXtermRecordings is TestEngineEqualsXterm with recordings of
// real programs and other terminals' tests.
func TestEngineEqualsXtermRecordings(t *testing.T) {
	all := recordings(t, corporaDir(t))
	j := startJudge(t)
	for name, s := range all {
		t.Run(name, func(t *testing.T) {
			checkStream(t, j, s, 8)
			s.unicode = vt.Unicode15Graphemes
			checkStream(t, j, s, 4)
		})
	}
}

// TestSnapshotsGoOnAfterResizes: a viewer that came in the middle of a stream,
// got the engine's snapshot and then the rest with its resizes, is equal to one
// that was there from the beginning.
func TestSnapshotsGoOnAfterResizes(t *testing.T) {
	j := startJudge(t)
	for _, path := range streamPaths(t) {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			s, err := loadStream(path)
			if err != nil {
				t.Fatal(err)
			}
			checkRoundTrips(t, j, withResizes(s))
		})
	}
}

// withResizes is s in twelve pieces, with resizes after some of them. The window
// never grows after it became narrower: xterm.js does not cut the rows of the
// alternate screen then, and shows again what no snapshot held.
func withResizes(s stream) stream {
	var raw []byte
	for _, st := range s.steps {
		raw = append(raw, st.write...)
	}
	out := s
	out.steps = nil
	for i := range 12 {
		out.steps = append(out.steps, step{write: raw[len(raw)*i/12 : len(raw)*(i+1)/12]})
		switch i {
		case 4:
			out.steps = append(out.steps, step{cols: s.cols + 9, rows: max(1, s.rows-4)})
		case 7:
			out.steps = append(out.steps, step{cols: s.cols + 2, rows: s.rows + 3})
		case 10:
			out.steps = append(out.steps, step{cols: max(2, s.cols-7), rows: s.rows})
		}
	}
	return out
}

func checkRoundTrips(t *testing.T, j *judge, s stream) {
	t.Helper()
	moments := follow(engineUnderTest, s, func(int) bool { return true })
	jb := job{Cols: s.cols, Rows: s.rows, Scrollback: s.scrollback, Unicode: string(s.unicode)}
	for i, m := range moments {
		if m.replay {
			t.Fatalf("the engine asks for a new snapshot after the resize to %dx%d", s.steps[i].cols, s.steps[i].rows)
		}
		jb.Steps = append(jb.Steps, xstep{Write: m.text, Cols: s.steps[i].cols, Rows: s.steps[i].rows})
	}
	whole := j.ask(t, jb)
	for cut := range len(moments) - 1 {
		f := moments[cut].frame
		from := jb
		from.Cols, from.Rows = f.Cols, f.Rows
		ansi := ANSI(f, Options{Scrollback: -1})
		from.Steps = append([]xstep{{Write: ansi}}, jb.Steps[cut+1:]...)
		for i, x := range j.ask(t, from) {
			got, want := carried(x), carried(whole[cut+i])
			if f.Alt == nil && got.Other != nil && want.Other != nil {
				got.Other.Saved = want.Other.Saved // of a screen that was not shown at the cut
			}
			if out := stateDifferences(got, want); out != nil {
				t.Errorf("cut after step %d, %d steps later (got is after the snapshot, want is uncut)\n%.2000s\nbefore the cut came %+q\nsnapshot %.1500q",
					cut+1, i, strings.Join(out, "\n"), moments[cut].text[max(0, len(moments[cut].text)-60):], ansi)
				return
			}
		}
	}
}

// carried is what a snapshot can carry of x, see alike. REP right after the cut
// is carried only where the character can be printed again as it is, and halves
// of wide characters are blank.
func carried(x xstate) xstate {
	x.Main = wholeCells(x.Main)
	if x.Other != nil {
		other := wholeCells(*x.Other)
		x.Other = &other
	}
	x = alike(x)
	x.PendingParser, x.Parser, x.Odd, x.Repeats = "", "", "", false
	return x
}

func wholeCells(b xbuffer) xbuffer {
	b.Lines = slices.Clone(b.Lines)
	for i := range b.Lines {
		cells := slices.Clone(b.Lines[i].Cells)
		for k, c := range cells {
			if halfAt(cells, k) {
				cells[k] = xcell{Width: 1, Style: c.Style}
			}
		}
		b.Lines[i].Cells = cells
	}
	return b
}
