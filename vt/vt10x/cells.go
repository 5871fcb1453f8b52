package vt10x

import (
	"strconv"
	"strings"

	lib "github.com/hinshun/vt10x"

	"github.com/evertty/evertty/vt"
)

// Bits of lib.Glyph.Mode and lib.Cursor.State, which the library does not export.
const (
	glyphReverse = 1 << iota
	glyphUnderline
	glyphBold
	_
	glyphItalic
	glyphBlink
	glyphWrap // the line goes on in the next row

	cursorWrapNext = 1 << 1
)

// attributes are the attributes that the library keeps, and their SGR parameters.
var attributes = [...]struct {
	glyph int16
	attr  vt.Attr
	sgr   byte
}{
	{glyphBold, vt.Bold, '1'}, {glyphItalic, vt.Italic, '3'},
	{glyphBlink, vt.Blink, '5'}, {glyphReverse, vt.Inverse, '7'},
}

// line packs row y of the library. Spaces count as erased cells at its end only, and not when
// the line goes on in the next row.
func (e *engine) line(y int, wrapped bool) vt.Line {
	end := e.cols
	for goesOn := e.lib.Cell(end-1, y).Mode&glyphWrap != 0; !goesOn && end > 0 && blank(e.lib.Cell(end-1, y)); {
		end--
	}
	for x := range e.cols {
		g := e.lib.Cell(x, y)
		switch {
		case x >= end:
			e.packer.Blank(1, vt.Style{BG: color(g.BG)})
		case g.Char < ' ' || g.Char >= 0x7f && g.Char < 0xa0: // the library prints some controls
			e.packer.Char(' ', 1, styleOf(g))
		default:
			e.packer.Char(g.Char, 1, styleOf(g))
		}
	}
	return e.packer.Line(wrapped)
}

// blank reports whether a cell shows nothing but a background.
func blank(g lib.Glyph) bool {
	const shown = glyphUnderline | glyphReverse
	return g.Char == 0 || g.Char == ' ' && (g.Mode&shown == 0 || g.Mode&shown == glyphReverse && g.FG == lib.DefaultFG)
}

// styleOf is the style of a character. The library exchanges the colours of inverse ones and makes
// bold ones bright.
func styleOf(g lib.Glyph) (s vt.Style) {
	fg, bg := g.FG, g.BG
	if g.Mode&glyphReverse != 0 {
		fg, bg = bg, fg
	} else if g.Mode&glyphBold != 0 && fg >= 8 && fg < 16 {
		fg -= 8
	}
	for _, a := range attributes {
		if g.Mode&a.glyph != 0 {
			s.Attr |= a.attr
		}
	}
	if g.Mode&glyphUnderline != 0 {
		s.Underline = vt.UnderlineSingle
	}
	s.FG, s.BG = color(fg), color(bg)
	return s
}

func color(c lib.Color) vt.Color {
	switch {
	case c >= lib.DefaultFG:
		return 0
	case c < 256:
		return vt.PaletteColor(uint8(c))
	}
	return vt.RGBColor(uint8(c>>16), uint8(c>>8), uint8(c))
}

// paint is output that makes a new library show the screens, cursors and margins of f.
func paint(f *vt.Frame) []byte {
	out := paintScreen(nil, &f.Main, f.Cols)
	if f.Alt != nil {
		out = paintScreen(append(out, "\x1b[?1047h"...), f.Alt, f.Cols)
	}
	if f.Charsets.GL == 0 && f.Charsets.G[0] == '0' {
		out = append(out, "\x1b(0"...)
	}
	if f.Modes.Linefeed {
		out = append(out, "\x1b[20h"...)
	}
	if !f.Modes.Autowrap {
		out = append(out, "\x1b[?7l"...)
	}
	if f.Modes.Origin { // homes the cursor
		s := f.Active()
		out = csi(append(out, "\x1b[?6h"...), 'H', s.Y-s.Top+1, s.X+1)
	}
	if out = sgr(out, f.Pen); vt.Withheld(f.Pending) {
		return out
	}
	return append(out, f.Pending...)
}

// paintScreen prints the lines, sets tab stops and margins, saves the cursor when it is saved, and
// places it. A line that goes on is printed to its end, so that the library wraps.
func paintScreen(out []byte, s *vt.Screen, cols int) []byte {
	full := false
	for y, l := range s.Lines {
		if !l.Wrapped() || !full {
			out = csi(out, 'H', y+1, 1)
		}
		out = paintLine(out, l)
		full = l.Cells() == cols
	}
	if s.Tabs != nil {
		out = append(out, "\x1b[3g"...)
		for _, x := range s.Tabs {
			out = append(csi(out, 'H', 1, x+1), "\x1bH"...)
		}
	}
	if s.Saved.Set {
		out = csi(sgr(out, s.Saved.Pen), 'H', max(s.Saved.Y, 0)+1, s.Saved.X+1)
		out = append(out, "\x1b7"...)
	}
	out = csi(append(out, "\x1b[m"...), 'r', s.Top+1, s.Bottom+1)
	if s.PendingWrap {
		l := s.Lines[s.Y]
		out = append(paintLine(csi(out, 'H', s.Y+1, 1), l), "\x1b[m"...)
		return append(out, strings.Repeat(" ", max(cols-l.Cells(), 0))...)
	}
	return csi(out, 'H', s.Y+1, s.X+1)
}

func paintLine(out []byte, l vt.Line) []byte {
	for span := range l.Spans() {
		out = sgr(out, span.Style)
		if span.Kind == vt.Blank {
			out = append(out, strings.Repeat(" ", span.Cells)...)
		}
		out = append(out, span.Text...)
	}
	return out
}

// sgr appends what sets the library's pen.
func sgr(out []byte, s vt.Style) []byte {
	out = append(out, "\x1b[0"...)
	for _, a := range attributes {
		if s.Attr&a.attr != 0 {
			out = append(out, ';', a.sgr)
		}
	}
	if s.Underline != vt.UnderlineNone {
		out = append(out, ";4"...)
	}
	out = appendColor(out, "38", s.FG)
	return append(appendColor(out, "48", s.BG), 'm')
}

// appendColor appends the parameters of a colour; selector is 38 or 48.
func appendColor(out []byte, selector string, c vt.Color) []byte {
	if i, ok := c.Palette(); ok {
		return strconv.AppendUint(append(append(append(out, ';'), selector...), ";5;"...), uint64(i), 10)
	}
	if r, g, b, ok := c.RGB(); ok {
		out = append(append(append(out, ';'), selector...), ";2"...)
		for _, v := range [...]uint8{r, g, b} {
			out = strconv.AppendUint(append(out, ';'), uint64(v), 10)
		}
	}
	return out
}

// csi appends a control sequence with two parameters.
func csi(out []byte, final byte, a, b int) []byte {
	out = strconv.AppendInt(append(out, "\x1b["...), int64(a), 10)
	out = strconv.AppendInt(append(out, ';'), int64(b), 10)
	return append(out, final)
}
