package vt_test

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
)

// reported is every line that a tracker of 20 x 4 reports, in order.
func reported(t *testing.T, before string, writes ...string) (lines []string, raw string) {
	t.Helper()
	w := vt.NewTracker(vt.Config{Cols: 20, Rows: 4, Scrollback: 100})
	w.Write([]byte(before))
	raw = before
	w.Begin(uint64(len(before)), vt.TrackerHooks{Line: func(l vt.TextLine) {
		lines = append(lines, string(l.Text))
		if len(l.Text) != len(l.Offsets) {
			t.Errorf("%q has %d positions", l.Text, len(l.Offsets))
		}
	}})
	for _, p := range writes {
		raw += p
		w.Write([]byte(p))
		w.Report()
	}
	return lines, raw
}

func TestTrackerTells(t *testing.T) {
	full := strings.Repeat("x", 20)
	five := strings.Repeat(full, 5)                            // one row of it is in the history
	below := strings.Repeat(" ", 17) + strings.Repeat(full, 3) // goes on with the first row, whatever that is
	tests := []struct {
		name, before string
		writes       []string
		want         []string
	}{
		{"a line", "", []string{"hello\r\n"}, []string{"hello"}},
		{"what is added", "hel", []string{"lo", " you"}, []string{"hello", "hello you"}},
		{"what scrolls by at once", "", []string{"1\r\n2\r\n3\r\n4\r\n5\r\n6"}, []string{"1", "2", "3", "4", "5", "6"}},
		{"what is cleared at once", "", []string{"gone\x1b[2J\x1b[Hnew"}, []string{"gone", "new"}},
		{"what is erased", "", []string{"gone\r\x1b[Knew"}, []string{"gone", "new"}},
		{"what is overwritten", "", []string{"50%\r51%\r52%"}, []string{"50%", "51%", "52%"}},
		{"one cell", "step 4 of 5", []string{"\x1b[1;6H5"}, []string{"step 5 of 5"}},
		{"what erasing leaves", "done and more", []string{"\x1b[1;5H\x1b[K"}, []string{"done"}},
		{"what deleting joins", "abXXcd", []string{"\x1b[1;3H\x1b[2P"}, []string{"abcd"}},
		{"rows that the margin broke", "", []string{full + "tail\r\n"}, []string{full + "tail"}},
		{"rows that scrolled off in between", "", []string{full + full + full + full + full + "tail\r\nnext"},
			[]string{full + full + full + full + full + "tail", "next"}},
		{"behind the alternate screen", "", []string{"main\x1b[?1049halt\x1b[?1049lback"},
			[]string{"main", "    alt", "mainback"}},
		{"blanks that were printed", "", []string{"$ ", "\r\n\x1b[5Cx  \r\n"}, []string{"$ ", "     x  "}},
		{"nothing that nobody sees", "", []string{"\x1b]0;title\a\x1b[31", "mred\x1bPq#0\x1b\\"}, []string{"red"}},
		{"what is repeated", "", []string{"a\x1b[3b"}, []string{"aaaa"}},
		{"other character sets", "", []string{"\x1b(0qx\x1b(B"}, []string{"─│"}},
		{"wide characters at the margin", "", []string{strings.Repeat("x", 19) + "漢字"},
			[]string{strings.Repeat("x", 19) + "漢字"}},
		{"a region that scrolls", "", []string{"\x1b[1;2ra\r\nb\r\nc\r\nd"}, []string{"a", "b", "c", "d"}},
		{"reverse index", "", []string{"\x1b[4Hlast\x1b[H\x1bMnew"}, []string{"last", "new"}},
		{"a reset", "", []string{"gone\x1bcnew"}, []string{"gone", "new"}},
		{"a line above what was cleared", five, []string{"\x1b[H\x1b[2Jnew"}, []string{"new"}},
		{"a line that is cleared before it was told", "", []string{five + "\x1b[H\x1b[2Jnew"}, []string{five, "new"}},
		{"a line above an erased row", five, []string{"\x1b[H\x1b[2Knew"}, []string{"new" + below}},
		{"a line above a row that came", five, []string{"\x1b[H\x1b[Lnew"}, []string{"new" + below}},
		{"a line above what scrolls down", five, []string{"\x1b[H\x1bMnew"}, []string{"new" + below}},
		{"a line that scrolls off below another", five, []string{"\x1b[H\x1b[2Jnew\x1b[4H\n\n"}, []string{"new"}},
		{"a screen that wide characters fill", "", []string{strings.Repeat("漢", 41)},
			[]string{strings.Repeat("漢", 41)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := reported(t, tt.before, tt.writes...)
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

// TestTrackerKnowsPositions: the byte before a character's position is its last one.
func TestTrackerKnowsPositions(t *testing.T) {
	for _, in := range []string{"plain text\r\nmore",
		"\x1b[1mbold\x1b[0m é漢字 e\u0301 wide at the margin 漢字漢", "\xff\xfeinvalid\xe2\x82 cut\xe2", "日\xe6\x97"} {
		for step := 1; step < 9; step++ {
			w := vt.NewTracker(vt.Config{Cols: 20, Rows: 4, Scrollback: 10})
			const from = 1000
			w.Begin(from, vt.TrackerHooks{Line: func(l vt.TextLine) {
				for i, at := range l.Offsets {
					if at <= from || at > from+uint64(len(in)) {
						t.Fatalf("%q: position %d of %q", in, at, l.Text[i])
					}
					// A mark moves its character on.
					if c := l.Text[i]; c < 0x80 && in[at-from-1] < 0x80 && in[at-from-1] != c {
						t.Fatalf("%q: %q at %d is %q", in, l.Text, i, in[at-from-1])
					}
				}
			}})
			for p := range slices.Chunk([]byte(in), step) {
				w.Write(p)
				w.Report()
			}
		}
	}
}

func TestTrackerLinesOfHistory(t *testing.T) {
	w := vt.NewTracker(vt.Config{Cols: 10, Rows: 2, Scrollback: 100})
	w.Write([]byte("old\r\n"))
	looks := 0
	w.Begin(5, vt.TrackerHooks{Changed: func() { looks++ }})
	w.Write([]byte("one\r\ntwo long enough\r\nthree\r\n"))
	w.Report()
	var got []string
	for _, l := range w.Lines(100) {
		got = append(got, string(l.Text))
		old := string(l.Text) == "old"
		for _, at := range l.Offsets {
			if old != (at == 0) {
				t.Errorf("%q has position %d", l.Text, at)
			}
		}
	}
	if want := []string{"old", "one", "two long enough", "three", ""}; !slices.Equal(got, want) || looks != 1 {
		t.Errorf("%q after %d looks, want %q after 1", got, looks, want)
	}
}

// FuzzTracker: tracking changes nothing, and the text on the screen at the end was reported.
func FuzzTracker(f *testing.F) {
	for _, s := range []string{"a\r\nb\x1b[2J", "漢字e\u0301\xff\x1b[3b",
		"\x1b[?1049h\x1b[2;3rx\n\n\n\x1bMy\x1b[?1049l",
		"\x1b[4habc\r\x1b(0q\x1b[P\x1b[@\x1b[L\x1b[M\x1b[S\x1b[T\x1b#8\x1bc", strings.Repeat("wrap ", 40)} {
		f.Add([]byte(s), uint8(10), uint8(4), uint8(3), true)
	}
	f.Fuzz(func(t *testing.T, in []byte, cols, rows, step uint8, graphemes bool) {
		c := vt.Config{Cols: int(cols)%40 + 1, Rows: int(rows)%10 + 1, Scrollback: 20}
		if graphemes {
			c.Unicode = vt.Unicode15Graphemes
		}
		in = in[:min(len(in), 2048)]
		plain, w := vt.NewEngine(c), vt.NewTracker(c)
		reported := map[string]bool{"": true}
		w.Begin(0, vt.TrackerHooks{Line: func(l vt.TextLine) { reported[string(l.Text)] = true }})
		for p := range slices.Chunk(in, int(step)%64+1) {
			plain.Write(p)
			w.Write(p)
			w.Report()
			if got, want := w.Freeze(), plain.Freeze(); !equal(got, want) {
				t.Fatalf("after %q of %q: %s", p, in, strings.Join(snapshot.Differences(want, got), "\n"))
			}
			if w.Offset() > uint64(len(in)) {
				t.Fatalf("position %d of %d", w.Offset(), len(in))
			}
		}
		if bytes.Contains(in, []byte("\x1b")) || bytes.ContainsAny(in, "\b\u0090\u0098\u009b\u009d\u009e\u009f") {
			return // text can come back without being printed
		}
		for _, l := range w.Lines(0)[1:] { // the first may begin in the history
			if !reported[string(l.Text)] {
				t.Fatalf("%q was not reported: %q", l.Text, in)
			}
		}
	})
}

// TestTrackerPositionsOutliveAResize: after each of several resizes, text has the positions
// where it was printed, on the screen, in the history, and on the alternate screen; and a line
// whose beginning is in the history is still reported in whole.
func TestTrackerPositionsOutliveAResize(t *testing.T) {
	long := strings.Repeat("0123456789", 9)
	inputs := map[string]string{
		"lines":                "one\r\ntwo two\r\n\r\nthree",
		"a wrapped line":       "begin " + long + " end\r\n$ ",
		"in the history":       "old " + long + "\r\n1\r\n2\r\n3\r\n4\r\n5\r\n$ ",
		"marks and wide ones":  "漢字 e\u0301 " + strings.Repeat("漢", 30) + "\r\nné\r\n$ ",
		"overwritten":          "abcdef\rXY\r\n$ ",
		"the alternate screen": "main\r\n\x1b[?1049h\x1b[Halt text",
		"the cursor's line":    "$ " + long + long,
		"equal lines":          "y\r\ny\r\ny\r\ny\r\ny\r\ny\r\n$ ",
	}
	sizes := [][2]int{{20, 4}, {13, 4}, {30, 9}, {30, 3}, {40, 24}, {20, 4}}
	for name, in := range inputs {
		for _, keep := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%v", name, keep), func(t *testing.T) {
				w := vt.NewTracker(vt.Config{Cols: 20, Rows: 4, Scrollback: 100})
				w.Begin(0, vt.TrackerHooks{KeepOffsets: keep})
				w.Write([]byte(in))
				want := positionsOf(w)
				for _, size := range sizes {
					w.Resize(size[0], size[1])
					got := positionsOf(w)
					for text, at := range want {
						if now, shown := got[text]; shown && !reflect.DeepEqual(now, at) && (keep ||
							now[len(now)-1] < at[0]) {
							t.Errorf("at %v %q has the positions %v, not %v", size, text, now, at)
						}
					}
				}
			})
		}
	}
	var lines []string
	w := vt.NewTracker(vt.Config{Cols: 20, Rows: 4, Scrollback: 100})
	w.Begin(0, vt.TrackerHooks{Line: func(l vt.TextLine) { lines = append(lines, string(l.Text)) }})
	w.Write([]byte(long + long + "0"))
	w.Resize(20, 3)
	w.Write([]byte("!"))
	w.Report()
	if want := long + long + "0!"; lines[len(lines)-1] != want {
		t.Errorf("after a resize the line is %q, not %q", lines[len(lines)-1], want)
	}
}

// positionsOf are the positions of the text of each line, without blanks at its end.
func positionsOf(w *vt.Tracker) map[string][]uint64 {
	all := map[string][]uint64{}
	for _, l := range w.Lines(vt.MaxSize) {
		if text := strings.TrimRight(string(l.Text), " "); text != "" {
			all[text] = slices.Clone(l.Offsets[:len(text)])
		}
	}
	return all
}

// TestTrackerStopsInDearOutput: WriteSome stops behind a sequence that took the work, and reports
// the same lines in the end as Write, at the same positions.
func TestTrackerStopsInDearOutput(t *testing.T) {
	var dear strings.Builder
	for i := range 20 {
		fmt.Fprintf(&dear,
			"\x1b[%d;1Hline %d\xff\u20ac\x1b[?2Jagain\x1b[65;1;1;200;200$x\x1b[2Jte\u0301xt\r\n\x1b[5b", i+1, i)
	}
	type shown struct {
		text string
		at   string
	}
	follow := func(write func(w *vt.Tracker, p []byte) (n int)) (list []shown, calls int) {
		w := vt.NewTracker(vt.Config{Cols: 200, Rows: 200, Scrollback: 100})
		w.Begin(0, vt.TrackerHooks{Line: func(l vt.TextLine) {
			list = append(list, shown{string(l.Text), fmt.Sprint(l.Offsets, l.ErasedAt)})
		}})
		for p := []byte(dear.String()); len(p) > 0; calls++ {
			n := write(w, p)
			if n <= 0 {
				t.Fatalf("%d bytes of %d", n, len(p))
			}
			p = p[n:]
		}
		w.Report()
		return list, calls
	}
	whole, _ := follow(func(w *vt.Tracker, p []byte) int { w.Write(p); return len(p) })
	parts, calls := follow(func(w *vt.Tracker, p []byte) int { return w.WriteSome(p, 1000) })
	if calls < 3*20 {
		t.Errorf("%d calls for %d sequences that fill the screen", calls, 3*20)
	}
	if !slices.Equal(whole, parts) {
		t.Errorf("in parts %d lines, at once %d:\n%v\n%v", len(parts), len(whole), parts, whole)
	}
}
