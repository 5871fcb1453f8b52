//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

// window is a user's terminal and the display that draws on it.
type window struct {
	screen vt.Engine
	d      display
}

// keptLines is how many lines of history the terminals of these tests keep.
const keptLines = 200

func newWindow(cols, rows int) *window {
	w := &window{screen: vt.NewEngine(vt.Config{Cols: cols, Rows: rows, Scrollback: 1000})}
	w.d.window, w.d.kept = wire.Size{Cols: cols, Rows: rows}, keptLines
	return w
}

func (w *window) write(p []byte) { w.screen.Write(p) }

// takes is a piece of output, painted at once.
func (w *window) takes(p string) {
	through, painted := w.d.output([]byte(p))
	w.write(through)
	if painted {
		w.write(w.d.paint())
	}
}

// prints has the terminal print p. Nothing of the user's history may go.
func (w *window) prints(t *testing.T, terminal vt.Engine, p string) {
	t.Helper()
	kept := w.screen.Freeze().History.Len()
	terminal.Write([]byte(p))
	w.takes(p)
	if now := w.screen.Freeze().History.Len(); now < kept {
		t.Fatalf("%q leaves %d of %d lines of the user's history", p, now, kept)
	}
}

func (w *window) resize(cols, rows int) {
	w.screen.Resize(cols, rows)
	w.d.window = wire.Size{Cols: cols, Rows: rows}
	w.write(w.d.redraw())
}

// cells is a screen as text with its attributes, one line a row.
func cells(f *vt.Frame, x, y, cols, rows int) string {
	var b strings.Builder
	lines := f.Active().Lines
	for i := y; i < min(y+rows, len(lines)); i++ {
		fmt.Fprintf(&b, "%q\n", strings.TrimRight(string(snapshot.PaintRow(lines[i], x, cols)), " "))
	}
	return b.String()
}

// snapshotOf is the event of a terminal.
func snapshotOf(e vt.Engine, scrollback int) client.Event {
	f := e.Freeze()
	return client.Event{Kind: client.KindSnapshot, Cols: f.Cols, Rows: f.Rows,
		Data: snapshot.ANSI(f, snapshot.Options{Scrollback: scrollback})}
}

// compare fails unless the window shows its part of the terminal, with the cursor.
func (w *window) compare(t *testing.T, terminal vt.Engine, log ...string) {
	t.Helper()
	defer func() {
		if t.Failed() {
			t.Log(strings.Join(log, "\n"))
		}
	}()
	f, u := terminal.Freeze(), w.screen.Freeze()
	cols, rows := min(w.d.window.Cols, f.Cols), min(w.d.room(), f.Rows)
	x, y := w.d.x, w.d.y
	if w.d.direct {
		x, y = 0, 0
	}
	want, got := cells(f, x, y, cols, rows), cells(u, 0, 0, cols, rows)
	if !w.d.direct && !w.d.hasStatus() {
		want, got = w.takeArrows(t, f, want, got)
	}
	if got != want {
		t.Fatalf("window of %v on %dx%d at %d,%d shows\n%s\nwant\n%s", w.d.window, f.Cols, f.Rows, x, y, got, want)
	}
	if f.Modes.CursorHidden != u.Modes.CursorHidden {
		t.Fatalf("the cursor is hidden: %v, want %v", u.Modes.CursorHidden, f.Modes.CursorHidden)
	}
	s, v := f.Active(), u.Active()
	if !f.Modes.CursorHidden && (v.X != s.X-x || v.Y != s.Y-y) {
		t.Fatalf("the cursor is at %d,%d, want %d,%d less %d,%d", v.X, v.Y, s.X, s.Y, x, y)
	}
	if (f.Alt != nil) != (u.Alt != nil) || f.Modes.BracketedPaste != u.Modes.BracketedPaste ||
		f.Modes.AppCursor != u.Modes.AppCursor ||
		f.Modes.Mouse != u.Modes.Mouse || f.Modes.Kitty != u.Modes.Kitty || f.Title != u.Title {
		t.Fatalf("modes are\n%+v %q\nwant\n%+v %q", u.Modes, u.Title, f.Modes, f.Title)
	}
}

// takeArrows fails unless the window says with arrows what it cuts off of f, and returns both without what is below
// them.
func (w *window) takeArrows(t *testing.T, f *vt.Frame, want, got string) (string, string) {
	t.Helper()
	all, x, y, s := w.d.window, w.d.x, w.d.y, f.Active()
	arrows := ""
	for _, side := range []struct {
		arrow            string
		x, y, cols, rows int
	}{{"<", 0, y, x, all.Rows}, {"^", 0, 0, f.Cols, y}, {"v", 0, y + all.Rows, f.Cols, f.Rows},
		{">", x + all.Cols, y, f.Cols - x - all.Cols, all.Rows}} {
		if side.cols > 0 && strings.Trim(cells(f, side.x, side.y, side.cols, side.rows), "\"\n") != "" {
			arrows += side.arrow
		}
	}
	u := w.screen.Freeze().Active()
	for _, row := range []int{0, all.Rows - 1} {
		shown := ""
		for i := range len(arrows) {
			if c := u.Lines[row].Cell(all.Cols - len(arrows) + i); c.Style.Attr&vt.Inverse != 0 {
				shown += c.Text
			}
		}
		typed := func(row int) bool { // in the line of the cursor
			first, last := min(y+row, s.Y), max(y+row, s.Y)
			for last > first && last < len(s.Lines) && s.Lines[last].Wrapped() {
				last--
			}
			return last == first
		}
		switch {
		case typed(row):
		case shown != arrows:
			t.Fatalf("row %d shows the arrows %q, want %q", row, shown, arrows)
		default:
			wants, gots := strings.Split(want, "\n"), strings.Split(got, "\n")
			if arrows != "" && row < len(wants)-1 {
				wants[row] = cells(f, x, y+row, all.Cols-len(arrows), 1)
				gots[row] = cells(w.screen.Freeze(), 0, row, all.Cols-len(arrows), 1)
			}
			return strings.Join(wants, "\n"), strings.Join(gots, "\n")
		}
	}
	return want, got
}

// pieces of output that move and change everything that a window can get wrong.
// Saved cursors are left out: not every one outlives a resize and a snapshot.
var displayPieces = []string{
	"plain text ", "\r\n", "\n\n\n", "\x1b[H", "\x1b[2J", "\x1b[31;44mcolours\x1b[m", "日本語の長い行", "e\u0301",
	"\x1b[999;999H", "\x1b[5;9r", "\x1b[r", "\x1b[3L", "\x1b[2M",
	"\x1b[4P", "\x1b[7@", "\x1b[K", "\x1b[1;7minverse \x1b[K\x1b[m", strings.Repeat("long ", 40), "\x1b[?1047h",
	"\x1b[?1047l", "\x1b[?25l", "\x1b[?25h", "\x1b[?2004h", "\x1b[?2004l",
	"\x1b[?1h", "\x1b[?1l", "\x1b[?1002;1006h", "\x1b[?1002;1006l", "\x1b[>5u", "\x1b[<u", "\x1b]2;a title\x1b\\",
	"\x1b[?6h", "\x1b[?6l", "\x1b[S", "\x1b[T", "\b\b\b",
	"\x1b[48;5;17m\x1b[J\x1b[m", "\x1b]8;;http://x/\x1b\\link\x1b]8;;\x1b\\", "\x1b[4:3mcurly\x1b[m",
	"\x1b[3g\x1b[20G\x1bH\r\tx", "\x1b(0lqk\x1b(B", "\x1b[12;70H",
	"\x1bc", "\x1b[3J",
}

// TestWindowsOfAnySize draws random output in windows of random sizes, which change,
// as the terminal's size does.
func TestWindowsOfAnySize(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		size := func() (int, int) { return 20 + r.IntN(100), 5 + r.IntN(40) }
		cols, rows := size()
		terminal := vt.NewEngine(vt.Config{Cols: cols, Rows: rows, Scrollback: 200})
		for range 20 {
			terminal.Write([]byte(displayPieces[r.IntN(len(displayPieces))]))
		}
		w := newWindow(size())
		if seed%5 == 0 {
			w = newWindow(cols, rows)
		}
		w.write(w.d.first(snapshotOf(terminal, -1)))
		w.compare(t, terminal)
		log := []string{fmt.Sprintf("seed %d, window %v on %dx%d", seed, w.d.window, cols, rows)}
		for range 80 {
			switch r.IntN(12) {
			case 0:
				w.resize(size())
			case 1:
				terminal.Resize(size())
				w.write(w.d.again(snapshotOf(terminal, 0)))
			case 2:
				f := terminal.Freeze()
				w.resize(f.Cols, f.Rows)
			default:
				p := displayPieces[r.IntN(len(displayPieces))]
				w.prints(t, terminal, p)
				log = append(log, fmt.Sprintf("%q", p))
			}
			log = append(log, fmt.Sprintf("%v %v %v", w.d.direct, w.d.size, w.d.window))
			w.compare(t, terminal, log...)
		}
	}
}

// TestHistoryOfAnotherWidth: all lines are in the scrollback, whole, and nothing else.
func TestHistoryOfAnotherWidth(t *testing.T) {
	for _, lines := range []int{1, 3, 9, 200} {
		for _, cols := range []int{20, 33, 200} {
			terminal := vt.NewEngine(vt.Config{Cols: 50, Rows: 6, Scrollback: 1000})
			var want []string
			for i := range lines {
				line := fmt.Sprintf("%d:%s", i, strings.Repeat("abcdefghi ", i%9))
				want = append(want, strings.TrimRight(line, " "))
				terminal.Write([]byte(line + "\r\n"))
			}
			terminal.Write([]byte("$ "))
			w := newWindow(cols, 8)
			w.write(w.d.first(snapshotOf(terminal, -1)))
			w.compare(t, terminal)
			var got []string
			for l := range w.screen.Freeze().History.All() {
				if l.Wrapped() {
					got[len(got)-1] += l.Text()
				} else {
					got = append(got, l.Text())
				}
			}
			inHistory := len(want) - 5
			for i := range max(0, inHistory) {
				if i >= len(got) || strings.ReplaceAll(got[i], " ", "") != strings.ReplaceAll(want[i], " ", "") {
					t.Fatalf("%d lines at %d columns: line %d of the scrollback\n%q\nwant\n%q", lines, cols, i, got,
						want)
				}
			}
		}
	}
}

// TestDisplayRings: a painted window rings once for each painting that rang.
func TestDisplayRings(t *testing.T) {
	rang := 0
	w := newWindow(30, 5)
	w.screen = vt.NewEngine(vt.Config{Cols: 30, Rows: 5, Effects: &vt.Effects{Bell: func() { rang++ }}})
	terminal := vt.NewEngine(vt.Config{Cols: 60, Rows: 10})
	w.write(w.d.first(snapshotOf(terminal, -1)))
	w.takes("a\ab\a")
	w.takes("quiet")
	w.takes("\a")
	if rang != 2 {
		t.Errorf("rang %d times", rang)
	}
}

func TestMouseIsTranslated(t *testing.T) {
	for _, tc := range []struct {
		name   string
		view   *mouseView
		pieces []string
		want   string
	}{
		{"none", nil, []string{"a\x1b[<0;3;4Mb"}, "a\x1b[<0;3;4Mb"},
		{"sgr", &mouseView{10, 5, 100, 40, vt.MouseEncodingSGR}, []string{"a\x1b[<0;3;4Mb\x1b[<0;3;4m"},
			"a\x1b[<0;13;9Mb\x1b[<0;13;9m"},
		{"pieces", &mouseView{10, 5, 100, 40, vt.MouseEncodingSGR}, []string{"a\x1b[<0;", "3;", "4Mb"},
			"a\x1b[<0;13;9Mb"},
		{"beside", &mouseView{0, 0, 20, 10, vt.MouseEncodingSGR},
			[]string{"\x1b[<0;21;4Mx\x1b[<0;4;11Mx\x1b[<0;20;10M"}, "xx\x1b[<0;20;10M"},
		{"default", &mouseView{1, 1, 300, 300, vt.MouseEncodingDefault},
			[]string{"\x1b[<0;1;2M\x1b[<0;1;2m\x1b[<0;230;2M"}, "\x1b[M \x22#\x1b[M#\x22#"},
		{"utf8", &mouseView{0, 0, 300, 300, vt.MouseEncodingUTF8}, []string{"\x1b[<0;200;2M"}, "\x1b[M è\""},
		{"urxvt", &mouseView{0, 0, 300, 300, vt.MouseEncodingURXVT}, []string{"\x1b[<64;200;2M"}, "\x1b[96;200;2M"},
		{"pixels", &mouseView{10, 5, 100, 40, vt.MouseEncodingSGRPixels}, []string{"\x1b[<0;3;4M\x1b[<2;1;1m"},
			"\x1b[<0;125;170M\x1b[<2;105;110m"},
		{"no report", &mouseView{0, 0, 9, 9, vt.MouseEncodingSGR}, []string{"\x1b[<0;x\x1b[A"}, "\x1b[<0;x\x1b[A"},
		{"too few", &mouseView{0, 0, 9, 9, vt.MouseEncodingSGR}, []string{"\x1b[<0;1Mx"}, "x"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var m mouseTranslator
			got := ""
			for _, p := range tc.pieces {
				got += string(m.pass([]byte(p), tc.view))
			}
			if got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// TestMouseInPixels: in a window of any size a program that asked for pixels gets the middle
// of the cell in cells of the size that it is told, as by POST …/keys.
func TestMouseInPixels(t *testing.T) {
	for _, size := range []uint16{40, 50} {
		s, u := newFakeServer(t), knownOuter(t)
		code, _ := u.evertty("attach", "t1")
		v := s.viewer()
		v.snapshot(size, 8, "x\x1b[?1000h\x1b[?1016h")
		for _, change := range []string{"", "\x1b[?1006h\x1b[?1016h"} {
			v.data(change + "y")
			u.sees("y")
			f := u.frame()
			if f.Modes.Mouse != vt.MouseNormal || f.Modes.MouseEncoding != vt.MouseEncodingSGR {
				t.Errorf("the terminal's mouse is %v %v", f.Modes.Mouse, f.Modes.MouseEncoding)
			}
			u.press("\x1b[<0;31;5M")
			want, err := vt.EncodeMouse(vt.MouseEvent{X: 30, Y: 4, Action: "press"},
				vt.Modes{Mouse: vt.MouseNormal, MouseEncoding: vt.MouseEncodingSGRPixels})
			if got := v.message(t, "i"); err != nil || got != "i"+string(want) {
				t.Errorf("%d columns: reported %q, want %q", size, got, want)
			}
		}
		v.exit(0)
		within(t, code, "the end")
		u.left()
	}
}

func FuzzMouseTranslator(f *testing.F) {
	f.Add("a\x1b[<0;3;4Mb\x1b[<35;200;2m", 5)
	f.Fuzz(func(t *testing.T, s string, cut int) {
		v := &mouseView{1, 1, 100, 100, vt.MouseEncodingSGR}
		cut = min(max(cut, 0), len(s))
		var whole, parts mouseTranslator
		want := string(whole.pass([]byte(s), v))
		got := string(parts.pass([]byte(s[:cut]), v)) + string(parts.pass([]byte(s[cut:]), v))
		if strings.Count(s, "\x1b") == strings.Count(s, "\x1b[<") && !strings.Contains(s[:cut], "\x1b") && got != want {
			t.Errorf("%q in two is %q, whole %q", s, got, want)
		}
	})
}

// TestPaintingFollowsAFullHistory: in xterm.js a saved cursor moves up with the lines only while the history grows. In
// a window of another size, above a status line, and after a window had the terminal's size.
func TestPaintingFollowsAFullHistory(t *testing.T) {
	for _, lines := range []int{0, 100, 2 * keptLines} {
		for name, w := range map[string]*window{"smaller": newWindow(30, 6), "larger": newWindow(50, 9),
			"status": newWindow(40, 8).withStatus(), "same": newWindow(40, 7)} {
			terminal := vt.NewEngine(vt.Config{Cols: 40, Rows: 7, Scrollback: keptLines})
			terminal.Write([]byte(strings.Repeat("line\r\n", lines)))
			w.write(w.d.first(snapshotOf(terminal, -1)))
			if name == "same" {
				w.resize(39, 7)
			}
			for range 2 {
				p := "\x1b[5H\x1b7\x1b[7H\n\n\x1b8here"
				terminal.Write([]byte(p))
				w.takes(p)
				w.compare(t, terminal, name, fmt.Sprint(lines))
				w.write(w.d.again(snapshotOf(terminal, 0)))
				w.compare(t, terminal, name, fmt.Sprint(lines))
			}
		}
	}
}
