package snapshot

import (
	"strings"
	"testing"

	"github.com/evertty/evertty/vt"
)

// half of a wide character is overwritten in the pen at hand: these leave an erased cell
// of that pen before the cursor, or behind the character that is printed.
const (
	inverse   = "\x1b[7m"
	under     = "\x1b[31;4:3;58:5:9m"
	linked    = "\x1b]8;id=1;https://example.org\x1b\\"
	protected = "\x1b[1\"q"
	coloured  = "\x1b[7;44m"
)

// erasedRow makes a row of n erased cells of the pen at hand out of the rows y and y+1,
// of which the second is erased then and continues nothing.
func erasedRow(n, y int) string {
	var b strings.Builder
	at := func(x, y int) { p := painter{}; p.moveTo(x, y); b.Write(p.out) }
	for x := range n - 1 {
		at(x, y)
		b.WriteString("漢")
	}
	at(n-1, y)
	b.WriteString("漢\x1b7\x1b[m\r\x1b[K\x1b8")
	return b.String()
}

// erasedCases are texts that lead to erased cells with more than a background, and how
// many of them.
var erasedCases = []struct {
	name       string
	cols, rows int
	text       string
	cells      int
}{
	{"at the start", 8, 3, inverse + "漢\x1b[2Gx", 1},
	{"at the start of a row in the middle", 8, 3, "a\r\n" + under + "漢\x1b[2Gx", 1},
	{"in the middle", 8, 3, "ab" + inverse + "漢\x1b[4Gxyz", 1},
	{"behind a character", 8, 3, "ab" + inverse + "漢\x1b[3Gx", 1},
	{"behind a character, and nothing else", 8, 3, under + "漢\x1b[1Gx", 1},
	{"two of one style", 8, 3, "a" + inverse + "漢\x1b[3G漢\x1b[4Gx", 2},
	{"two of two styles", 8, 3, "a" + inverse + "漢\x1b[3G" + under + "漢\x1b[4G\x1b[mx", 1},
	{"before an erased cell", 8, 3, "a" + inverse + "漢\x1b[3Gx\x1b[m\x1b[3G\x1b[X", 1},
	{"before a coloured one", 8, 3, "a" + inverse + "漢\x1b[3Gx\x1b[0;45m\x1b[3G\x1b[X", 1},
	{"behind a wide character", 8, 3, inverse + "漢漢\x1b[3Gx\x1b[m\x1b[2G漢", 1},
	{"with a background", 8, 3, "a" + coloured + "漢\x1b[3Gxy", 1},
	{"with a link", 8, 3, "a" + linked + "漢\x1b[3Gxy", 1},
	{"spared by selective erasure", 8, 3, "a" + protected + "漢\x1b[3Gx\x1b[0\"q\x1b[44m\x1b[?2K", 1},
	{"bold and red under a line", 8, 3, "\x1b[1;31;9m漢\x1b[2Gx", 1},
	{"in the last column", 8, 3, "abcdef" + inverse + "漢\x1b[7Gx", 1},
	{"in the last column, with a background", 8, 3, "abcdef" + coloured + "漢\x1b[7Gx\r\n", 1},
	{"in the last two columns", 8, 3, "abcd" + inverse + "漢漢\x1b[5Gx\x1b[6G漢\x1b[5G漢\x1b[7G漢\x1b[7Gx", 1},
	{"where a wide character had no room", 8, 3, "abcdefg" + under + "漢", 1},
	{"the same, wrapped in another style", 8, 3, "abcdefg" + under + "漢\r\x1b[mxyz", 1},
	{"the same, a row that is not wrapped", 8, 3, "abcdefg" + under + "漢\r\x1b[m\x1b[Kxyz", 1},
	{"the same, with a background", 8, 3, "abcdefg" + coloured + "漢\r\x1b[mxyz", 1},
	{"the same, with a background, not wrapped", 8, 3, "abcdefg" + coloured + "漢\r\x1b[m\x1b[Kxyz", 1},
	{"the same, nothing behind it", 8, 3, "abcdefg" + under + "漢\r\x1b[m\x1b[K", 1},
	{"the same, wrapped, nothing behind it", 8, 3, "abcdefg" + under + "漢\r\x1b[m\x1b[2X", 1},
	{"the whole row", 6, 3, inverse + erasedRow(6, 0), 6},
	{"two whole rows", 6, 3, inverse + erasedRow(6, 0) + erasedRow(6, 1), 12},
	{"a whole row of two styles", 6, 3, inverse + erasedRow(6, 0) + "\x1b[1;3H" + under + "漢\x1b[1;4Hx", 5},
	{"the end of the bottom row", 8, 3, "\x1b[3Habcd" + inverse + "漢\x1b[5Gx", 1},
	{"the end of the bottom row, in the last column", 8, 3, "\x1b[3Habcdef" + inverse + "漢\x1b[7Gx\x1b[H", 1},
	{"two styles at the end of the bottom row", 8, 3,
		"\x1b[3Habcde" + inverse + "漢\x1b[6Gx" + under + "\x1b[7G漢\x1b[7Gx\x1b[6G漢\x1b[6Gx\x1b[H", 2},
	{"behind a wide character in the bottom row", 8, 3, "\x1b[3Habcd" + under + "漢漢\x1b[7Gx\x1b[6G漢\x1b[H", 2},
	{"the end of the bottom row, which continues the one above", 8, 3,
		"\x1b[2Habcdefghabcdef" + coloured + "漢\x1b[7Gx\x1b[H", 1},
	{"the bottom row of two", 8, 2, "\x1b[2Habcdef" + inverse + "漢\x1b[7Gx\x1b[H", 1},
	{"the only row", 8, 1, "abcdef" + inverse + "漢\x1b[7Gx\x1b[H", 1},
	{"lines that scrolled off the only row", 8, 1,
		"abcdefg" + inverse + "漢\r\x1b[m\x1b[Kabcdef" + coloured + "漢\x1b[7Gx\x1b[m\r\nx", 2},
	{"in the history", 6, 2, "abcde" + inverse + "漢x\x1b[m\r\n\n\nb" + under + "漢\x1b[3Gx\x1b[m\r\n\n", 2},
	{"two columns", 2, 3, inverse + "漢\x1b[1Gx\x1b[2H漢\x1b[2Gx\x1b[3H漢\x1b[1Gx", 3},
	{"two columns, one character at a time", 2, 3, "a" + inverse + "漢\x1b[2Gx", 2},
	{"the alternate screen", 8, 3, "\x1b[?47ha" + inverse + "漢\x1b[3Gx\x1b[3;1Habcdef漢\x1b[7Gx\x1b[H", 2},
	{"below the alternate screen", 8, 3, "a" + inverse + "漢\x1b[3Gx\x1b[3;1Habcdef漢\x1b[7Gx\x1b[H\x1b[m\x1b[?47hx", 2},
	{"a whole row of the alternate screen", 6, 3, "\x1b[?47h" + inverse + erasedRow(6, 1), 6},
	{"a wrap pending in the row", 8, 3, "a" + inverse + "漢\x1b[3Gxyzabcd", 1},
	{"a wrap pending behind it", 8, 3, "\x1b[2;1Habcdefg" + under + "漢\r\x1b[m\x1b[K12345678\x1b[1S\x1b[T", 1},
	{"a wrap pending behind it, scrolled up", 8, 3, "\x1b[3;1Habcdef" + inverse + "漢\x1b[7Gx\x1b[2;1H12345678\x1b[S",
		1},
	{"a wrap pending behind it, alternate screen, SU", 6, 4,
		"\x1b[?47habcd" + inverse + "漢\x1b[5Gx\x1b[m\r\nklmnop\x1b[3;1Habcd" + under +
			"漢\x1b[5Gx\x1b[2;6Hp\x1b[46m\x1b[S", 1},
	{"a wrap pending behind it, alternate screen, SU of the first row", 6, 4,
		"\x1b[?47h\x1b[2;1Habcd" + under + "漢\x1b[5Gx\x1b[1;6Hp\x1b[S", 1},
	{"a wrap pending behind it, alternate screen, SU between margins", 6, 5,
		"\x1b[?47hx\x1b[5Hy\x1b[2;4r\x1b[3;1Habcd" + under + "漢\x1b[5Gx\x1b[2;6Hp\x1b[S\x1b[2S", 0},
	{"a wrap pending behind it, alternate screen, SU twice", 6, 5,
		"\x1b[?47hx\x1b[4;1Habcd" + under + "漢\x1b[5Gx\x1b[2;6Hp\x1b[S\x1b[S", 1},
	{"a wrap pending behind it, alternate screen, SD", 6, 4,
		"\x1b[?47habcd" + inverse + "漢\x1b[5Gx\x1b[m\r\nklmnop\x1b[46m\x1b[T", 1},
	{"a wrap pending behind it, alternate screen, SD in origin mode", 6, 4,
		"\x1b[?47h\x1b[2;4r\x1b[?6habcd" + inverse + "漢\x1b[1;5Hx\x1b[m\r\nklmnop\x1b[T", 1},
	{"a wrap pending behind it, alternate screen, SR", 6, 3,
		"\x1b[?47h\x1b[2;1Habc" + under + "漢\x1b[4Gx\x1b[m\x1b[6Gx\x1b[46m\x1b[ A", 1},
	{"a wrap pending behind an erased cell, alternate screen, SL", 6, 3, "\x1b[?47h\x1b[2;1Habcdef\x1b[45m\x1b[2 @", 0},
	{"a wrap pending behind an erased cell, alternate screen, DECDC", 6, 3, "\x1b[?47h\x1b[2;1Hab漢漢\x1b[45m\x1b['~", 0},
	{"a wrap pending behind an erased cell, alternate screen, DECIC", 6, 3,
		"\x1b[?47h漢漢漢\x1b[2;1Habcd\x1b[6Gx\x1b[45m\x1b['}", 0},
	{"REP", 8, 3, "a" + inverse + "漢\x1b[3Gx", 1},
	{"a saved cursor behind it", 8, 3, "\x1b[2Hx\x1b[3Habcdefgh\x1b[1m\x1b7\x1b[m\x1b[7G" + inverse + "漢\x1b[7Gx\x1b[H",
		1},
	{"a saved cursor behind it, lined", 8, 3,
		"\x1b[4m\x1b7\x1b[m\x1b8\x1b]8;;\x1b\\\x1b[3Habcdefgh\x1b7\x1b[m\x1b[7G" + inverse + "漢\x1b[7Gx\x1b[H", 1},
	{"a saved cursor behind it, behind a mark too", 8, 3,
		"\x1b[3Habcdefgh\x1b[m\u0301\x1b7\x1b[7G" + inverse + "漢\x1b[7Gx\x1b[H", 1},
	{"a saved cursor behind it, in origin mode", 8, 3,
		"\x1b[3Habcdefgh\x1b[?6h\x1b[3;8Hx\x1b7\x1b[?6l\x1b[3;7H" + inverse + "漢\x1b[7Gx\x1b[H", 1},
	{"a saved cursor behind it, alternate screen", 8, 3,
		"\x1b[?47h\x1b[2Habcdefgh\x1b[1m\x1b7\x1b[m\x1b[7G" + inverse + "漢\x1b[7Gx\x1b[H", 1},
	{"a saved cursor behind it, below the alternate screen", 8, 3,
		"\x1b[2Habcdefgh\x1b7\x1b[7G" + inverse + "漢\x1b[7Gx\x1b[H\x1b[m\x1b[?47hx", 1},
	{"a tab stop behind it", 9, 3, "abcdefghi\x1bH\x1b[8G" + inverse + "漢\x1b[8Gx\x1b[H", 1},
	{"a tab stop behind it, alternate screen", 9, 3, "\x1b[?47habcdefghi\x1bH\x1b[8G" + inverse + "漢\x1b[8Gx\x1b[H", 1},
	{"a recalled set on the alternate screen", 6, 3,
		"\x1b(0\x1b7\x1b(H\x1b[u\x1b[?47hq" + inverse + "漢\x1b[3Gx\x1b[2;5H漢\x1b[5Gx", 2},
	{"an insertion that splits a character", 8, 3, inverse + "ab漢cd\x1b[4h\x1b[4Gx\x1b[4l", 2},
}

// TestErasedCellsKeepTheirStyle: an erased cell with more than a background stays one in
// a snapshot, with all of its style.
func TestErasedCellsKeepTheirStyle(t *testing.T) {
	if testing.Short() {
		t.Skip("compares thousands of screens with xterm.js")
	}
	t.Parallel()
	j := startJudge(t)
	for _, unicode := range []vt.Unicode{vt.Unicode11, vt.Unicode15Graphemes} {
		for _, c := range erasedCases {
			if unicode == vt.Unicode15Graphemes && strings.Contains(c.text, "\u0301") {
				continue // it has a cell of its own there, which REP repeats
			}
			t.Run(string(unicode)+"/"+c.name, func(t *testing.T) {
				e := vt.NewEngine(vt.Config{Cols: c.cols, Rows: c.rows, Scrollback: 100, Unicode: unicode})
				e.Write([]byte(c.text))
				f := e.Freeze()
				if n := countErased(f); n != c.cells {
					t.Errorf("the frame has %d such cells, want %d: %+v", n, c.cells, f)
				}
				tr := trial{stream: stream{cols: c.cols, rows: c.rows, scrollback: 100, unicode: unicode},
					tokens: []token{{text: c.text}}}
				jb := resumed(engineUnderTest, tr, 1)
				for _, m := range j.resume(t, jb) {
					t.Errorf("cut at byte %d, seen at the %s: %q\nsnapshot %q", jb.heads[m.Cut], m.When, m.What,
						jb.Cuts[m.Cut].ANSI)
				}
			})
		}
	}
}

// countErased is the number of erased cells of f that keep their style.
func countErased(f *vt.Frame) (n int) {
	lines := append(f.History.Slice(), f.Main.Lines...)
	if f.Alt != nil {
		lines = append(lines, f.Alt.Lines...)
	}
	for _, l := range lines {
		for s := range l.Spans() {
			if s.Kind == vt.Blank && keepsStyle(s.Style) {
				n += s.Cells
			}
		}
	}
	return n
}

// erasedLine is a line of n erased cells, each in another style than the one before.
func erasedLine(n int, wrapped bool) vt.Line {
	var p vt.Packer
	for i := range n {
		s := vt.Style{Attr: vt.Inverse, FG: vt.PaletteColor(uint8(i))}
		if i%3 == 1 {
			s.BG = vt.PaletteColor(4)
		}
		p.Blank(1, s)
	}
	return p.Line(wrapped)
}

// TestErasedRowsKeepTheirStyle: so do rows that have no other cells, wherever they are;
// only where but one row of the screen has others the last row has to end in a space.
func TestErasedRowsKeepTheirStyle(t *testing.T) {
	if testing.Short() {
		t.Skip("compares thousands of screens with xterm.js")
	}
	t.Parallel()
	j := startJudge(t)
	const cols = 5
	lines := map[rune]vt.Line{
		'h': erasedLine(cols, false), 'H': erasedLine(cols, true), 'w': erasedLine(2*cols+2, false), // erased
		't': text("text", 0, vt.Style{}), 'T': wrappedText("text"), 'x': text("xyzzy", 0, vt.Style{}),
		'X': wrappedText("xyzzy"),
		'e': endsErased(false), 'E': endsErased(true), '.': {}, ':': wrappedText(""),
	}
	for _, screen := range []string{
		"h", "H", "hh", "tth", "ttH", "xxh", "xxH", "teHh", "tEH", "thh", "TXhH", "xXHh", "eehh", "TTHH", "hhth",
		"hHeH",
		"hhhh", "Hh", "xh", "xH", "Xh", "thhH", "tHHh", ".hh.", "..h", "::H", "tEe", "xXE", "xxxe", "e", "E", "he",
		"HE",
	} {
		for _, history := range []string{"", "t", "h", "hx", "txhHeE", "wtw", "wwX", "tw"} {
			for _, alternate := range []bool{false, true} {
				name := history + "|" + screen
				if alternate {
					name += ", alternate"
				}
				t.Run(name, func(t *testing.T) {
					f := &vt.Frame{Cols: cols, Rows: len(screen), Unicode: vt.Unicode11, Modes: vt.DefaultModes()}
					var past []vt.Line
					for _, c := range history {
						past = append(past, lines[c])
					}
					f.History = vt.LinesOf(past...)
					s := vt.Screen{Bottom: f.Rows - 1}
					for _, c := range screen {
						s.Lines = append(s.Lines, lines[c])
					}
					f.Main = s
					if alternate {
						f.Alt, f.Modes.AltScreen = &s, true
						f.Main.Lines = make([]vt.Line, f.Rows)
					}
					ansi := ANSI(f, Options{Scrollback: -1})
					got := j.ask(t, job{Cols: cols, Rows: f.Rows, Scrollback: 100, Writes: [][]byte{ansi}})[0]
					want := expected(folded(f), -1)
					if x := becomesSpace(f, &s, f.Rows-1); x >= 0 {
						b := &want.Main
						if alternate {
							b = want.Other
						}
						b.Lines[len(b.Lines)-1].Cells[x].Text = " "
						if n := len(strings.TrimRight(screen, "hH")); n > 1 || n == 1 && !s.Lines[0].Wrapped() {
							t.Errorf("column %d of the last row is a space", x)
						}
					}
					want.Main.X, want.Main.Y, want.Repeats, want.Parser, want.Repeat, want.Colors,
						got.Data = got.Main.X, got.Main.Y,
						got.Repeats, got.Parser, got.Repeat, got.Colors, nil
					for _, d := range stateDifferences(got, want) {
						t.Error(d)
					}
					if t.Failed() {
						t.Logf("snapshot %s", show(string(ansi)))
					}
				})
			}
		}
	}
}

func wrappedText(s string) vt.Line {
	var p vt.Packer
	p.ASCII([]byte(s), vt.Style{})
	return p.Line(true)
}

// endsErased is text with three erased cells behind it.
func endsErased(wrapped bool) vt.Line {
	var p vt.Packer
	p.ASCII([]byte("ab"), vt.Style{FG: vt.PaletteColor(3)})
	for s := range erasedLine(3, false).Spans() {
		p.Blank(s.Cells, s.Style)
	}
	return p.Line(wrapped)
}

// folded is f with lines of its history that are wider than the screen in several.
func folded(f *vt.Frame) *vt.Frame {
	var out []vt.Line
	for l := range f.History.All() {
		wrapped := l.Wrapped()
		for at := 0; at == 0 || at < l.Cells(); at += f.Cols {
			var p vt.Packer
			for x := at; x < min(l.Cells(), at+f.Cols); x++ {
				if c := cellAt(l, x); c.text == "" {
					p.Blank(1, c.style)
				} else {
					p.ASCII([]byte(c.text), c.style)
				}
			}
			out, wrapped = append(out, p.Line(wrapped)), true
		}
	}
	g := *f
	g.History = vt.LinesOf(out...)
	return &g
}

// TestPaintRowPaintsErasedCellsAsSpaces: a terminal that is no xterm.js, and does not
// wrap, gets what they look like.
func TestPaintRowPaintsErasedCellsAsSpaces(t *testing.T) {
	var p vt.Packer
	p.ASCII([]byte("a"), vt.Style{})
	p.Blank(3, vt.Style{Attr: vt.Inverse})
	if got, want := string(PaintRow(p.Line(false), 0, 4)), "a\x1b[7m   \x1b[m"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
