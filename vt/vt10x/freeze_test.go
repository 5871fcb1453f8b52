package vt10x

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/evertty/evertty/vt"
)

func styles(l vt.Line) []vt.Span { return slices.Collect(l.Spans()) }

// TestStyles: the pen reaches the cells, and they keep it.
func TestStyles(t *testing.T) {
	p := vt.PaletteColor
	const attrs = vt.Bold | vt.Italic | vt.Blink | vt.Inverse
	tests := []struct {
		in   string
		want vt.Style
	}{
		{"", vt.Style{}},
		{"\x1b[1;2;3;5;7;8;9;53m", vt.Style{Attr: attrs}},
		{"\x1b[7;31;42m", vt.Style{Attr: vt.Inverse, FG: p(1), BG: p(2)}},
		{"\x1b[1;31m", vt.Style{Attr: vt.Bold, FG: p(1)}},
		{"\x1b[1;7;31m", vt.Style{Attr: vt.Bold | vt.Inverse, FG: p(1)}},
		{"\x1b[94;48;5;200m", vt.Style{FG: p(12), BG: p(200)}},
		{"\x1b[38;2;0;1;4m", vt.Style{FG: vt.RGBColor(0, 1, 4)}},
		{"\x1b[4m", vt.Style{Underline: vt.UnderlineSingle}},
		{"\x1b[1m\x1b7\x1b[m\x1b]8;;http://h\a\x1b8", vt.Style{Attr: vt.Bold}}, // the restored pen hides the link
	}
	for _, tt := range tests {
		e := newEngine(10, 1, nil)
		feed(e, tt.in+"x\x1b[m\x1b[0\"q\x1b]8;;\ay", 1)
		line := styles(e.Freeze().Main.Lines[0])
		if line[0].Style != tt.want || line[0].Text[0] != 'x' {
			t.Errorf("%q: %+v, want %+v", tt.in, line[0].Style, tt.want)
		}
		if last := line[len(line)-1]; last.Style != (vt.Style{}) {
			t.Errorf("%q stays: %+v", tt.in, last)
		}
	}
}

func TestBlanks(t *testing.T) {
	green := vt.Style{BG: vt.PaletteColor(2)}
	tests := []struct {
		name, in string
		want     []vt.Span
	}{
		{"spaces at the end are blank", "a  ", []vt.Span{{Kind: vt.ASCII, Cells: 1, Text: "a"}}},
		{"but not underlined ones", "\x1b[4m ",
			[]vt.Span{{Kind: vt.ASCII, Cells: 1, Text: " ", Style: vt.Style{Underline: vt.UnderlineSingle}}}},
		{"nor inverse ones", "\x1b[7m ",
			[]vt.Span{{Kind: vt.ASCII, Cells: 1, Text: " ", Style: vt.Style{Attr: vt.Inverse}}}},
		{"erased with an inverse pen", "ab\r\x1b[7m\x1b[2K", []vt.Span{}},
		{"skipped cells are spaces", "\x1b[3Ca", []vt.Span{{Kind: vt.ASCII, Cells: 4, Text: "   a"}}},
		{"erased cells are spaces", "abc\x1b[1;2H\x1b[X", []vt.Span{{Kind: vt.ASCII, Cells: 3, Text: "a c"}}},
		{"erased in the pen's background only", "\x1b[1;31;42m\x1b[2K",
			[]vt.Span{{Kind: vt.Blank, Cells: 5, Style: green}}},
		{"scrolled in the pen's background", "\x1b[42m\x1b[2;1H\n\x1b[1A", []vt.Span{}},
		{"inserted in it", "ab\x1b[1;2H\x1b[42m\x1b[@",
			[]vt.Span{{Kind: vt.ASCII, Cells: 1, Text: "a"}, {Kind: vt.ASCII, Cells: 1, Text: " ", Style: green},
				{Kind: vt.ASCII, Cells: 1, Text: "b"}}},
		{"deleted, filled with it", "abcde\r\x1b[42m\x1b[2P",
			[]vt.Span{{Kind: vt.ASCII, Cells: 3, Text: "cde"}, {Kind: vt.Blank, Cells: 2, Style: green}}},
		{"line drawing", "\x1b(0qx\x1b(B\x1b[Cq",
			[]vt.Span{{Kind: vt.Narrow, Cells: 4, Text: "─│ q"}}},
		{"other sets are ASCII", "\x1b)0\x1b%G\x1b(Bq", []vt.Span{{Kind: vt.ASCII, Cells: 1, Text: "q"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := newEngine(5, 2, nil)
			feed(e, tt.in, 1)
			check(t, e)
			if got := styles(e.Freeze().Main.Lines[0]); !slices.Equal(got, tt.want) {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

// everything is a stream that changes every part of a Frame.
const everything = "one\r\ntwo\r\nthree\r\nfour\r\n\x1b[1;31mred \x1b]8;;http://x\alink\x1b]8;;\a\x1b[m" +
	"\x1b[2;3r\x1b[3g\x1b[1;5H\x1bH\x1b[2;4H\x1b7\x1b)0" +
	"\x1b]2;title\a\x1b]1;icon\a\x1b]7;file://h/dir\a\x1b]4;3;#abcdef\a\x1b]11;#010203\a" +
	"\x1b[?1049h\x1b[42mALT\x1b[2;3r\x1b7\x1b[?1;6;25;2004;1003;1006h\x1b[4h\x1b[5 q\x1b[3mX\x1b]0;unfini"

func TestFreezeIsImmutable(t *testing.T) {
	e := newEngine(20, 4, nil)
	feed(e, everything, 7)
	f, same := e.Freeze(), e.Freeze()
	if !reflect.DeepEqual(f, same) {
		t.Fatal("two frames of one state differ")
	}
	feed(e, "shed\a\x1b[4;4Hzzz\x1bc\x1b[31;44mother\r\n\n\n\n\n\n\x1b]4;3;#fff\a\x1b[3J", 5)
	e.Resize(7, 9)
	feed(e, strings.Repeat("more\r\n", 300), 64)
	if !reflect.DeepEqual(f, same) {
		t.Error("a frame changed")
	}
}

func TestFreeze(t *testing.T) {
	e := newEngine(20, 4, nil)
	feed(e, everything, 1000)
	f := e.Freeze()
	p := vt.PaletteColor
	want := &vt.Frame{
		Cols: 20, Rows: 4, Unicode: vt.Unicode11, History: f.History, Main: f.Main, Alt: f.Alt,
		Modes: vt.Modes{
			AppCursor: true, Origin: true, Autowrap: true, BracketedPaste: true, Insert: true, AltScreen: true,
			Mouse: vt.MouseAny, MouseEncoding: vt.MouseEncodingSGR,
		},
		Pen:      vt.Style{BG: p(2), Attr: vt.Italic},
		Charsets: vt.Charsets{G: [4]byte{'B', '0', 'B', 'B'}}, LastChar: 'X', CursorStyle: 5,
		Title: "title", Icon: "icon", Cwd: "/dir", CwdHost: "h",
		Palette: map[uint8]vt.Color{3: vt.RGBColor(0xab, 0xcd, 0xef)}, Background: vt.RGBColor(1, 2, 3),
		Pending: []byte("\x1b]0;unfini"),
	}
	if !reflect.DeepEqual(f, want) {
		t.Errorf("got\n%+v, want\n%+v", f, want)
	}
	if got, want := texts(f.History.Slice()), []string{"one"}; !slices.Equal(got, want) {
		t.Errorf("history %q", got)
	}
	if got, want := texts(f.Main.Lines), []string{"two", "three", "four", "red link"}; !slices.Equal(got, want) {
		t.Errorf("main %q", got)
	}
	m := f.Main
	if m.Top != 1 || m.Bottom != 2 || !slices.Equal(m.Tabs, []int{4}) || !m.Saved.Set || m.Saved.X != 3 ||
		m.Saved.Y != 1 {
		t.Errorf("main %+v", m)
	}
	a := f.Alt
	if a.X != 1 || a.Y != 1 || a.PendingWrap || a.Top != 1 || a.Bottom != 2 || a.Tabs != nil ||
		a.Saved.Pen != (vt.Style{BG: p(2)}) {
		t.Errorf("alternate %+v", a)
	}
}

func TestPendingWrap(t *testing.T) {
	e := newEngine(5, 2, nil)
	feed(e, "12345", 2)
	if m := e.Freeze().Main; m.X != 4 || !m.PendingWrap {
		t.Errorf("%d,%d pending %v", m.X, m.Y, m.PendingWrap)
	}
	feed(e, "\b", 1)
	if m := e.Freeze().Main; m.X != 3 || m.PendingWrap {
		t.Errorf("%d,%d pending %v", m.X, m.Y, m.PendingWrap)
	}
}

func TestResize(t *testing.T) {
	tests := []struct {
		name, in   string
		cols, rows int
		after      string
		history    []string
		screen     []string
		x, y       int
	}{
		{"rows below the cursor go first", "a\r\nb", 6, 2, "", nil, []string{"a", "b"}, 1, 1},
		{"then the uppermost become history", "a\r\nb\r\nc\r\nd", 6, 2, "", []string{"a", "b"}, []string{"c", "d"}, 1,
			1},
		{"taller", "a\r\nb\r\nc\r\nd", 6, 5, "\r\ne", nil, []string{"a", "b", "c", "d", "e"}, 1, 4},
		{"narrower", "abcdef\r\nx", 3, 4, "", nil, []string{"abc", "~def", "x", ""}, 1, 2},
		{"wider", "abcdef", 9, 4, "gh", nil, []string{"abcdefgh", "", "", ""}, 8, 0},
		{"long lines of history are broken", "abcdef\r\n12\r\nx\r\ny\r\nz", 4, 4, "", []string{"abcd", "~ef"},
			[]string{"12", "x", "y", "z"}, 1, 3},
		{"margins go", "\x1b[2;3r\x1b[3;1Hx", 6, 4, "", nil, []string{"", "", "x", ""}, 1, 2},
		{"margins are gone", "\x1b[2;3r\x1b[4;1Hx", 6, 5, "\n\n\n", []string{"", ""}[:2], []string{"", "x", "", "", ""},
			1, 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := newEngine(6, 4, nil)
			feed(e, tt.in, 1)
			e.Resize(tt.cols, tt.rows)
			feed(e, tt.after, 1)
			check(t, e)
			f := e.Freeze()
			if got := texts(f.History.Slice()); !slices.Equal(got, tt.history) {
				t.Errorf("history %q, want %q", got, tt.history)
			}
			if got := texts(f.Main.Lines); !slices.Equal(got, tt.screen) {
				t.Errorf("screen %q, want %q", got, tt.screen)
			}
			if f.Cols != tt.cols || f.Rows != tt.rows || f.Main.X != tt.x || f.Main.Y != tt.y {
				t.Errorf("%dx%d cursor %d,%d", f.Cols, f.Rows, f.Main.X, f.Main.Y)
			}
			for _, l := range slices.Concat(f.History.Slice(), f.Main.Lines) {
				if l.Cells() > f.Cols {
					t.Errorf("%q has %d cells", l.Text(), l.Cells())
				}
			}
		})
	}
}

func TestResizeExact(t *testing.T) {
	e := newEngine(80, 24, nil)
	if !e.Resize(80, 24) || e.Resize(80, 25) {
		t.Error("only the same size is exact")
	}
}

func TestResizeTabs(t *testing.T) {
	e := newEngine(10, 3, nil)
	feed(e, "\x1b[1;4H\x1bH", 1)
	e.Resize(30, 3)
	feed(e, "\x1b[1;21H\x1bH", 1)
	e.Resize(10, 3)
	e.Resize(30, 3) // what was cut off comes back
	if got, want := e.Freeze().Main.Tabs, []int{0, 3, 8, 16, 20, 24}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestRestore: an engine in the state of a frame shows the same and goes on the same.
func TestRestore(t *testing.T) {
	for _, in := range []string{"one\r\ntwo\r\n\x1b[1;31mred\x1b[m\r\n", "\x1b[?7labcdefghijk\x1b[2;3r\x1b[2;4Hx",
		"abcdefghij", "abcdefghijkl\x1b[3g\x1b[1;4H\x1bH\x1b[2;2H\x1b7\x1b[42m", "\x1b(0qq\x1b[2;3r\x1b[?6h\x1b[2;2H",
		"main\x1b[?1049halt\x1b[3", "a\x1b]0;unfini", "a\x1b]52;c;eHg"} {
		e, same := newEngine(10, 4, nil), newEngine(10, 4, nil)
		feed(e, in, 3)
		if !same.Restore(e.Freeze()) {
			t.Fatalf("%q: not restored", in)
		}
		for _, more := range []string{"", "1mab", "\a\tc\x1b8d", "\r\nx\n\ny", "\x1b[?1049lz"} {
			feed(e, more, 1)
			feed(same, more, 2)
			if a, b := e.Freeze(), same.Freeze(); !reflect.DeepEqual(a.Active(), b.Active()) {
				t.Fatalf("%q and %q: got\n%+v, want\n%+v", in, more, b.Active(), a.Active())
			}
		}
	}
}
