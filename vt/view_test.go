package vt_test

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/evertty/evertty/vt"
)

// wrote is a terminal of that size after some output.
func wrote(cols, rows int, output string) *vt.Terminal {
	t := vt.New(vt.Config{Cols: cols, Rows: rows, Scrollback: 10})
	t.Write([]byte(output))
	return t
}

func TestCell(t *testing.T) {
	red := vt.Style{FG: vt.PaletteColor(1)}
	term := wrote(6, 2, "old\r\na\x1b[31m漢e\u0301\x1b[m\r\nx")
	tests := []struct {
		x, y int
		want vt.Cell
	}{
		{0, -1, vt.Cell{Text: "o", Width: 1}},
		{3, -1, vt.Cell{Width: 1}},
		{0, 0, vt.Cell{Text: "a", Width: 1}},
		{1, 0, vt.Cell{Text: "漢", Width: 2, Style: red}},
		{2, 0, vt.Cell{Style: red}},
		{3, 0, vt.Cell{Text: "e\u0301", Width: 1, Style: red}},
		{4, 0, vt.Cell{Width: 1}},
		{0, 1, vt.Cell{Text: "x", Width: 1}},
		{0, 2, vt.Cell{Width: 1}}, {6, 0, vt.Cell{Width: 1}}, {-1, 0, vt.Cell{Width: 1}}, {0, -2, vt.Cell{Width: 1}},
	}
	for range 2 {
		for _, tt := range tests {
			if got := term.Cell(tt.x, tt.y); got != tt.want {
				t.Errorf("cell %d,%d is %+v, want %+v", tt.x, tt.y, got, tt.want)
			}
		}
		term.Write([]byte("\x1b[1;6Hy\x1b[1;6H\x1b[X\x1b[2;2H")) // the row is kept as cells from here on
	}
	if c := term.Cursor(); c != (vt.Cursor{X: 1, Y: 1}) {
		t.Errorf("cursor %+v", c)
	}
	if cols, rows := term.Size(); cols != 6 || rows != 2 || term.Scrollback() != 1 {
		t.Errorf("%d x %d with %d lines of history", cols, rows, term.Scrollback())
	}
}

func TestDamage(t *testing.T) {
	tests := []struct {
		name, before, output string
		want                 []int
	}{
		{"nothing", "a", "", nil},
		{"only the cursor", "a", "\x1b[3;3H\x1b[31m\x1b]2;t\a", nil},
		{"a character", "a", "b", []int{0}},
		{"two rows", "", "a\r\n\nb", []int{0, 2}},
		{"an erased row", "a\r\nb", "\x1b[K\x1b[2K", []int{1}},
		{"erasing nothing", "a", "\x1b[3;1H\x1b[K", nil},
		{"a mark", "e", "\u0301", []int{0}},
		{"inserted cells", "abc\r\n", "\x1b[1;2H\x1b[@", []int{0}},
		{"scrolling", "a\r\nb\r\nc\r\nd", "\n", []int{0, 1, 2, 3}},
		{"a region that scrolls", "a\r\nb\r\nc\r\nd\x1b[2;3r", "\x1b[3;1H\n", []int{1, 2}},
		{"the other screen", "a", "\x1b[?1049h", []int{0, 1, 2, 3}},
		{"there and back", "a", "\x1b[?1049hb\x1b[?1049l", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			term := wrote(5, 4, tt.before)
			var d vt.Damage
			if got := d.Rows(term); !slices.Equal(got, []int{0, 1, 2, 3}) {
				t.Errorf("at first %d", got)
			}
			term.Write([]byte(tt.output))
			if got := d.Rows(term); !slices.Equal(got, tt.want) {
				t.Errorf("rows %d, want %d", got, tt.want)
			}
			if got := d.Rows(term); len(got) > 0 {
				t.Errorf("again %d", got)
			}
			term.Resize(6, 2)
			if got := d.Rows(term); !slices.Equal(got, []int{0, 1}) {
				t.Errorf("after a resize %d", got)
			}
		})
	}
}

// FuzzView: each cell is in the row's line, and no row looks different without
// being damaged.
func FuzzView(f *testing.F) {
	for _, s := range []string{
		"a\r\nb\x1b[2J", "漢字e\u0301\xff\x1b[3b", "\x1b[?1049h\x1b[2;3rx\n\n\n\x1bMy\x1b[?1049l",
		strings.Repeat("wrap ", 40),
		"\x1b[4habc\r\x1b(0q\x1b[P\x1b[@\x1b[L\x1b[M\x1b[S\x1b[T\x1b#8\x1bc",
		"漢漢\r\x1b[C漢\x1b[1@\x1b['}\x1b[ @\x1b[?2K\x1b[1$z",
	} {
		f.Add([]byte(s), uint8(10), uint8(4), uint8(3), uint8(20))
	}
	f.Fuzz(func(t *testing.T, in []byte, cols, rows, step, size uint8) {
		width, height := int(cols)%20+1, int(rows)%6+1
		term := vt.New(vt.Config{Cols: width, Rows: height, Scrollback: 20})
		var d vt.Damage
		var drawn []vt.Line
		for i, p := range slices.Collect(slices.Chunk(in[:min(len(in), 1024)], int(step)%64+1)) {
			if i%4 == 3 {
				term.Resize(int(size)%20+1, height)
				width, size = int(size)%20+1, uint8(width-1)
			}
			term.Write(p)
			damaged := d.Rows(term)
			lines := term.Freeze().Active().Lines
			for y, l := range lines {
				if !slices.Contains(damaged, y) && l.Packed() != drawn[y].Packed() {
					t.Fatalf("row %d became %q from %q, damaged are %d", y, l.Text(), drawn[y].Text(), damaged)
				}
				if l != term.Row(y) {
					t.Fatalf("row %d is %q and %q", y, l.Text(), term.Row(y).Text())
				}
				for x := range width {
					if got, want := term.Cell(x, y), l.Cell(x); got != want {
						t.Fatalf("cell %d,%d is %+v, in its line %+v", x, y, got, want)
					}
				}
			}
			drawn = lines
		}
	})
}

func TestSelectedText(t *testing.T) {
	// The screen and its history, 6 columns:
	//   -2  one
	//   -1  hello_   (blank: it goes on)
	//    0  漢字 a    begins with a wide character
	//    1  b  c_     (a blank that was printed at the end)
	//    2
	//    3  end
	f := wrote(6, 4, "one\r\nhello漢字 a\r\nb\x1b[3Gc \r\n\r\nend").Freeze()
	at := func(x, y int) vt.Position { return vt.Position{X: x, Y: y} }
	tests := []struct {
		name string
		s    vt.Selection
		want string
	}{
		{"one cell", vt.Selection{From: at(1, -2), To: at(1, -2)}, "n"},
		{"a line", vt.Selection{From: at(0, -2), To: at(5, -2)}, "one"},
		{"over a row that the margin broke", vt.Selection{From: at(3, -1), To: at(5, 0)}, "lo漢字 a"},
		{"backwards", vt.Selection{From: at(5, 0), To: at(3, -1)}, "lo漢字 a"},
		{"either half of a wide character", vt.Selection{From: at(1, 0), To: at(2, 0)}, "漢字"},
		{"blanks", vt.Selection{From: at(0, 1), To: at(5, 1)}, "b c "},
		{"blanks before text", vt.Selection{From: at(0, 1), To: at(1, 1)}, "b "},
		{"several lines", vt.Selection{From: at(2, 1), To: at(1, 3)}, "c \n\nen"},
		{"all and more", vt.Selection{From: at(0, -99), To: at(99, 99)}, "one\nhello漢字 a\nb c \n\nend"},
		{"nothing", vt.Selection{From: at(0, 4), To: at(9, 9)}, ""},
		{"nothing above", vt.Selection{From: at(0, -9), To: at(9, -5)}, ""},
		{"a rectangle", vt.Selection{From: at(2, -2), To: at(1, 1), Block: true}, "ne\nel\n漢字\n c"},
		{"a rectangle beyond the text", vt.Selection{From: at(4, 1), To: at(5, 3), Block: true}, "\n\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := f.SelectedText(tt.s); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestFind(t *testing.T) {
	f := wrote(6, 3, "foo\r\nabc 漢foo\r\nfoofoo\r\nx").Freeze()
	m := func(text string, x0, y0, x1, y1 int) vt.Match {
		return vt.Match{Text: text, From: vt.Position{X: x0, Y: y0}, To: vt.Position{X: x1, Y: y1}}
	}
	foos := []vt.Match{m("foo", 0, -2, 2, -2), m("foo", 0, 0, 2, 0), m("foo", 0, 1, 2, 1), m("foo", 3, 1, 5, 1)}
	tests := []struct {
		name, text, re string
		limit          int
		want           []vt.Match
	}{
		{"text", "foo", "foo", 10, foos},
		{"no more than asked for", "foo", "foo", 2, foos[:2]},
		{"over a row that the margin broke", "c 漢f", "c .f", 10, []vt.Match{m("c 漢f", 2, -1, 0, 0)}},
		{"nowhere", "bar", "bar", 10, nil},
		{"not over the end of a line", "foo\nfoo", "foo\nfoo", 10, nil},
		{"empty", "", "x*?", 10, nil},
		{"none", "foo", "foo", 0, nil},
		{"anchors", "", "^foo$", 10, foos[:1]},
		{"beside empty matches", "", "c*", 10, []vt.Match{m("c", 2, -1, 2, -1)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := f.Find(tt.text, tt.limit); tt.text == tt.re && !reflect.DeepEqual(got, tt.want) {
				t.Errorf("text: %+v, want %+v", got, tt.want)
			}
			if got := f.FindRegexp(regexp.MustCompile(tt.re), tt.limit); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("expression: %+v, want %+v", got, tt.want)
			}
		})
	}
	if alt := wrote(6, 3, "foo\r\n\n\n\n\x1b[?1049h").Freeze().Find("foo", 1); alt != nil {
		t.Errorf("found behind the alternate screen: %+v", alt)
	}
}

// FuzzFind: the text found is the text selected from its first to its last character,
// and as often as a search of the whole text finds it.
func FuzzFind(f *testing.F) {
	f.Add([]byte("foo bar 漢字 foo\r\nfoofoo"), "foo", uint8(5))
	f.Add([]byte("e\u0301e漢"), "e", uint8(1))
	f.Fuzz(func(t *testing.T, in []byte, text string, cols uint8) {
		frame := wrote(int(cols)%20+1, 4, string(in[:min(len(in), 1024)])).Freeze()
		all := frame.SelectedText(vt.Selection{From: vt.Position{Y: -100}, To: vt.Position{X: 1000, Y: 1000}})
		matches := frame.Find(text, 10_000)
		want := 0
		if text != "" && !strings.Contains(text, "\n") {
			want = strings.Count(all, text)
		}
		if len(matches) != want {
			t.Fatalf("%q is %d times in %q, found %+v", text, want, all, matches)
		}
		for _, m := range matches {
			got := frame.SelectedText(vt.Selection{From: m.From, To: m.To})
			if m.Text != text || !strings.Contains(got, text) {
				t.Fatalf("found %q at %v to %v, where %q is", text, m.From, m.To, got)
			}
		}
	})
}
