package snapshot

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/evertty/evertty/vt"
)

// frames makes random frames that an xterm.js can be: what an engine produces,
// without the states that have no text that leads to them (coloured wrap in one
// row, a wrap pending behind an erased cell, folded history).
type frames struct{ *rand.Rand }

func newFrames(seed uint64) frames { return frames{rand.New(rand.NewPCG(seed, 1))} }

func (r frames) chance(percent int) bool { return r.IntN(100) < percent }

func (r frames) frame() *vt.Frame {
	f := &vt.Frame{Cols: 2 + r.IntN(14), Rows: 2 + r.IntN(8), Unicode: vt.Unicode11}
	f.Main = r.screen(f.Cols, f.Rows)
	var history []vt.Line
	for range r.IntN(12) * r.IntN(2) {
		history = append(history, r.line(f.Cols))
	}
	f.History = vt.LinesOf(history...)
	if r.chance(30) {
		alt := r.screen(f.Cols, f.Rows)
		f.Alt = &alt
	}
	f.Modes = r.modes()
	f.Modes.AltScreen = f.Alt != nil
	s := f.Active()
	f.Modes.Kitty = topKitty(f)
	if f.Modes.Origin {
		s.Y = s.Top + r.IntN(s.Bottom-s.Top+1)
	}
	f.Pen, f.Charsets, f.CursorStyle = r.style(), r.charsets(), vt.CursorStyle(r.IntN(7))
	if r.chance(10) {
		f.Pen.UnderlineColor = r.color()
	}
	s.PendingWrap = s.X == f.Cols-1 && cellAt(s.Lines[s.Y], s.X).text != "" &&
		!beginsWithMark(cellAt(s.Lines[s.Y], s.X).text)
	if s.PendingWrap && r.chance(50) {
		f.Charsets = vt.Charsets{}
		c := cellAt(s.Lines[s.Y], s.X)
		f.Pen, f.LastChar = c.style, []rune(c.text)[0]
	}
	f.Title, f.Icon = r.word(), r.word()
	if r.chance(10) {
		f.Palette = map[uint8]vt.Color{uint8(r.IntN(256)): vt.RGBColor(1, 2, uint8(r.IntN(256)))}
		f.Foreground, f.CursorColor = r.direct(), r.direct()
	}
	if r.chance(20) {
		f.Pending = []byte([]string{"\x1b", "\x1b[", "\x1b[1;3", "\x1b]2;half", "\x1b(", "\x1b[ "}[r.IntN(6)])
	}
	return f
}

func (r frames) screen(cols, rows int) vt.Screen {
	s := vt.Screen{X: r.IntN(cols), Y: r.IntN(rows), Bottom: rows - 1}
	for range rows {
		s.Lines = append(s.Lines, r.line(cols))
	}
	if r.chance(30) {
		s.Top = r.IntN(rows - 1)
		s.Bottom = s.Top + 1 + r.IntN(rows-s.Top-1)
	}
	if r.chance(20) {
		s.Tabs = []int{}
		for t := range cols {
			if r.chance(30) {
				s.Tabs = append(s.Tabs, t)
			}
		}
	}
	if r.chance(30) {
		s.Saved = vt.SavedCursor{Set: true, X: r.IntN(cols), Y: r.IntN(rows), Pen: r.style(), Charsets: r.charsets(),
			Origin: r.chance(30)}
	}
	for range r.IntN(3) * r.IntN(2) {
		s.Kitty = append(s.Kitty, uint8(r.IntN(32)))
	}
	return s
}

func (r frames) modes() vt.Modes {
	m := vt.DefaultModes()
	for _, on := range modeBits(&m) {
		if r.chance(15) {
			*on = !*on
		}
	}
	m.Mouse, m.MouseEncoding = vt.Mouse(r.IntN(5)), vt.MouseEncoding(r.IntN(5))
	return m
}

// line is a random line; the last column stays free when coloured, so that a
// wrap after it can be said exactly.
func (r frames) line(cols int) vt.Line {
	var p vt.Packer
	room := cols
	if r.chance(15) {
		room = 0
	}
	for room > 0 && !r.chance(10) {
		n := 1 + r.IntN(min(room, 8))
		s := r.style()
		switch r.IntN(6) {
		case 0:
			p.Blank(n, r.blankStyle(s))
		case 1:
			if room < 2 {
				continue
			}
			p.Char('漢', 2, s)
			n = 2
		case 2:
			p.Cluster([]string{"e\u0301", "a\u0300\u0301", "\u0301"}[r.IntN(3)], 1, s)
			n = 1
		case 3:
			p.Char('é', 1, s)
			n = 1
		default:
			p.ASCII([]byte(strings.Repeat("ab c~xyz", 2)[:n]), s)
		}
		room -= n
	}
	return p.Line(r.chance(40))
}

// blankStyle is s, or one that leaves an erased cell erased.
func (r frames) blankStyle(s vt.Style) vt.Style {
	if r.chance(80) {
		return vt.Style{BG: s.BG}
	}
	return s
}

func (r frames) style() (s vt.Style) {
	if r.chance(50) {
		return s
	}
	s.FG, s.BG, s.UnderlineColor = r.color(), r.color(), r.color()
	if r.chance(50) {
		s.Attr = vt.Attr(r.IntN(512) & r.IntN(512))
	}
	if r.chance(30) {
		s.Underline = vt.Underline(r.IntN(6))
	}
	if r.chance(10) {
		s.Link = vt.Link{ID: []string{"", "1"}[r.IntN(2)], URI: "https://example.org/?a;b"}
	}
	return shown(s) // a pen may have a colour for no underline, a cell has not
}

func (r frames) color() vt.Color {
	switch r.IntN(5) {
	case 0:
		return vt.PaletteColor(uint8(r.IntN(256)))
	case 1:
		return r.direct()
	}
	return 0
}

func (r frames) direct() vt.Color {
	return vt.RGBColor(uint8(r.IntN(256)), uint8(r.IntN(256)), uint8(r.IntN(256)))
}

func (r frames) charsets() (c vt.Charsets) {
	if r.chance(80) {
		return c
	}
	for i := range c.G {
		c.G[i] = "\x00\x000A4"[r.IntN(5)]
	}
	c.GL = uint8(r.IntN(4))
	return c
}

func (r frames) word() string { return []string{"", "", "vim – a.txt", "x;y"}[r.IntN(4)] }

// TestXtermShowsRandomFrames: any frame becomes the terminal it describes, in a
// new xterm.js and in one that showed the frame before.
func TestXtermShowsRandomFrames(t *testing.T) {
	if testing.Short() {
		t.Skip("compares thousands of screens with xterm.js")
	}
	t.Parallel()
	j := startJudge(t)
	for seed := range uint64(few(500, 150)) {
		r := newFrames(seed)
		checkPainted(t, j, r.frame(), Options{Scrollback: r.IntN(14) - 2}, seed%3 > 0)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}
