package snapshot

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evertty/evertty/vt"
)

// TestSnapshotsGoOnAfterResizes: a viewer that came in the middle of a stream,
// got the engine's snapshot and then the rest with its resizes, is equal to one
// that was there from the beginning.
func TestSnapshotsGoOnAfterResizes(t *testing.T) {
	if testing.Short() {
		t.Skip("compares thousands of screens with xterm.js")
	}
	t.Parallel()
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
	run := viewerOf(s, moments)
	whole := j.ask(t, run)
	for cut := 0; cut < len(moments)-1; cut += 16 / few(16, 3) {
		if out := goOnFrom(t, j, moments, run, whole, cut); out != nil {
			t.Errorf("%s", strings.Join(out, "\n"))
			return
		}
	}
}

// viewerOf is what a viewer of an engine gets: its text, the resizes, and a new
// snapshot after a resize that it cannot follow by itself.
func viewerOf(s stream, moments []moment) job {
	run := job{Cols: s.cols, Rows: s.rows, Scrollback: s.scrollback, Unicode: string(s.unicode)}
	for i, m := range moments {
		x := xstep{Write: m.text, Cols: s.steps[i].cols, Rows: s.steps[i].rows, Reset: m.replay}
		if m.replay {
			x.Write = ANSI(m.frame, Options{Scrollback: -1})
		}
		run.Steps = append(run.Steps, x)
	}
	return run
}

// goOnFrom gives a new xterm.js the snapshot after step cut and the rest of run.
// It says what differs from whole, the states of the viewer that saw all of it.
func goOnFrom(t testing.TB, j *judge, moments []moment, run job, whole []xstate, cut int) []string {
	t.Helper()
	f := moments[cut].frame
	from := run
	from.Cols, from.Rows = f.Cols, f.Rows
	ansi := ANSI(f, Options{Scrollback: -1})
	from.Steps = append([]xstep{{Write: ansi}}, run.Steps[cut+1:]...)
	for i, x := range j.ask(t, from) {
		if x.broken() || cut+i >= len(whole) || whole[cut+i].broken() {
			return nil
		}
		if out := stateDifferences(carried(x), carried(whole[cut+i])); out != nil {
			return append(out, fmt.Sprintf("cut after step %d, which is %+q, seen %d steps later; got is after the "+
				"snapshot, want is uncut\nsnapshot %.1500q",
				cut+1, moments[cut].text[max(0, len(moments[cut].text)-60):], i, ansi))
		}
	}
	return nil
}

// checkSnapshots checks that a viewer may come at any time in a trial.
func checkSnapshots(t testing.TB, j *judge, newEngine vt.EngineFunc, tr trial, everywhere bool) *complaint {
	s := tr.stream
	s.steps = tr.pieces.steps(tr.tokens)
	moments := follow(newEngine, s, func(int) bool { return true })
	run := viewerOf(s, moments)
	whole := j.ask(t, run)
	for cut := range len(run.Steps) {
		if !everywhere && (cut*7+len(run.Steps))%5 > 0 {
			continue
		}
		if cut >= len(whole) || unsayable(whole[cut]) {
			continue
		}
		if out := goOnFrom(t, j, moments, run, whole, cut); out != nil {
			return &complaint{"snapshot", fmt.Sprintf("of %d steps", len(s.steps)), out}
		}
	}
	return nil
}

// TestRandomSnapshotsGoOn: a viewer that came in the middle of a random stream is
// equal to one that was there from the beginning. Some states cannot be said to
// an xterm.js (a saved cursor whose row scrolled off, for instance), so this is
// for people who look at each of them: -cases says how many.
func TestRandomSnapshotsGoOn(t *testing.T) {
	if *cases == 0 {
		t.Skip("runs with -cases N only: it also meets states that no snapshot can carry (docs/develop/adr/0014), " +
			"so a difference is a thing to look at and not always a fault")
	}
	randomTrials(t, *cases, checkSnapshots)
}

// carried is what a snapshot can carry of x, see alike and sayable. REP right
// after the cut is carried only where the character can be printed again as it
// is, and halves of wide characters are blank.
func carried(x xstate) xstate {
	x.Main = wholeCells(x.Main)
	if x.Other != nil {
		other := wholeCells(*x.Other)
		other.X = min(other.X, x.Cols)
		x.Other = &other
	}
	x = alike(x)
	x.PendingParser, x.Parser, x.Odd, x.Repeats = "", "", "", false
	x.Main.X = min(x.Main.X, x.Cols)
	x.Title, x.Icon = plainString(x.Title), plainString(x.Icon)
	x.Modes.CursorBlink = x.Modes.CursorBlink && x.Modes.CursorStyle != ""
	return x
}

// unsayable reports whether a snapshot of x cannot say how it goes on: its first
// line has a wrap flag that shows when the line is moved, or the alternate
// screen has cells right of the edge, which come back when the window grows.
func unsayable(x xstate) bool {
	return x.broken() || x.Main.Lines[0].Wrapped || x.Other != nil && (x.Other.Wider || x.Other.Lines[0].Wrapped)
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

// halfAt reports whether cell i is one half of a wide character without the other, which
// a resize left.
func halfAt(cells []xcell, i int) bool {
	c := cells[i]
	lead := c.Width == 2 && (i+1 == len(cells) || cells[i+1].Width != 0 || cells[i+1].Text != "")
	return lead || c.Width == 0 && c.Text == "" && (i == 0 || cells[i-1].Width != 2)
}
