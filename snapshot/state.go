package snapshot

import (
	"maps"
	"slices"

	"github.com/evertty/evertty/vt"
)

// screenState writes what belongs to one screen besides its cells: keyboard
// stack, tab stops, saved cursor and margins. DECSTBM comes last because it
// homes the cursor and because origin mode would count rows from the margin.
// rows are what was painted of the screen.
func (p *painter) screenState(s *vt.Screen, rows []vt.Line) {
	for _, flags := range s.Kitty {
		p.kitty('>', flags)
	}
	p.tabs(s.Tabs, rows)
	if s.Saved.Y >= 0 {
		p.saveCursor(s.Saved, rows)
	}
	if s.Top != 0 || s.Bottom != p.rows-1 {
		p.add("\x1b[")
		p.num(s.Top + 1)
		p.add(";")
		p.num(s.Bottom + 1)
		p.add("r")
	}
}

// hidden writes what the alternate screen keeps while it is not shown, by
// showing it for a moment. Leaving it takes the cursor along.
func (p *painter) hidden(s *vt.Screen) {
	p.add("\x1b[?1047h")
	for _, flags := range s.Kitty {
		p.kitty('>', flags)
	}
	p.saveCursor(s.Saved, nil)
	p.setPen(vt.Style{})
	p.add("\x1b[?1047l\x1b[H")
}

// kitty pushes ('>') or sets ('=') flags of the kitty keyboard protocol on the
// screen that is shown.
func (p *painter) kitty(how byte, flags uint8) {
	p.add("\x1b[")
	p.out = append(p.out, how)
	p.num(int(flags))
	p.add("u")
}

// designators are the intermediate bytes that designate G0 to G3 (ECMA-35
// 14.3.2), shifts the controls that invoke them in GL.
var (
	designators = [4]string{"\x1b(", "\x1b)", "\x1b*", "\x1b+"}
	shifts      = [4]string{"\x0f", "\x0e", "\x1bn", "\x1bo"}
)

// charsets designates and invokes what differs from a fresh terminal.
func (p *painter) charsets(c vt.Charsets) {
	for i, final := range c.G {
		if final != 0 {
			p.add(designators[i])
			p.out = append(p.out, final)
		}
	}
	if c.GL != 0 {
		p.add(shifts[c.GL])
	}
}

// resetCharsets undoes charsets.
func (p *painter) resetCharsets(c vt.Charsets) {
	for i, final := range c.G {
		if final != 0 {
			p.add(designators[i])
			p.add("B")
		}
	}
	if c.GL != 0 {
		p.add(shifts[0])
	}
}

// mouseModes and mouseEncodings are the private modes behind the names.
var (
	mouseModes     = [...]int{vt.MouseX10: 9, vt.MouseNormal: 1000, vt.MouseButton: 1002, vt.MouseAny: 1003}
	mouseEncodings = [...]int{vt.MouseEncodingUTF8: 1005, vt.MouseEncodingSGR: 1006, vt.MouseEncodingURXVT: 1015,
		vt.MouseEncodingSGRPixels: 1016}
)

// private writes DECSET (VT510) of a mode.
func (p *painter) private(mode int) {
	p.add("\x1b[?")
	p.num(mode)
	p.add("h")
}

// modes writes the switches that do not disturb what is still to be written.
func (p *painter) modes(m *vt.Modes, c vt.CursorStyle) {
	for _, s := range [...]struct {
		on   bool
		mode int
	}{
		{m.AppCursor, 1}, {m.ReverseVideo, 5}, {m.ReverseWrap, 45}, {m.FocusEvents, 1004},
		{m.BracketedPaste, 2004},
	} {
		if s.on {
			p.private(s.mode)
		}
	}
	if m.AppKeypad {
		p.add("\x1b=")
	}
	if m.Mouse != vt.MouseNone {
		p.private(mouseModes[m.Mouse])
	}
	if m.MouseEncoding != vt.MouseEncodingDefault {
		p.private(mouseEncodings[m.MouseEncoding])
	}
	if m.Linefeed {
		p.add("\x1b[20h")
	} else {
		p.add("\x1b[20l")
	}
	if c != 0 {
		p.add("\x1b[")
		p.num(int(c))
		p.add(" q")
	}
	if m.CursorHidden {
		p.add("\x1b[?25l")
	} else {
		p.add("\x1b[?25h")
	}
}

// colours sets what OSC 4, 10, 11 and 12 changed (xterm ctlseqs).
func (p *painter) colours(f *vt.Frame) {
	special := [...]vt.Color{f.Foreground, f.Background, f.CursorColor}
	if f.Palette == nil && special == [len(special)]vt.Color{} {
		return
	}
	p.add("\x1b]104\x1b\\")
	for _, i := range slices.Sorted(maps.Keys(f.Palette)) {
		p.add("\x1b]4;")
		p.num(int(i))
		p.colour(f.Palette[i])
	}
	for i, c := range special {
		p.add("\x1b]1")
		if c == 0 {
			p.add("1")
		}
		p.num(i)
		p.colour(c)
	}
}

// colour ends an OSC with a colour, or without one when c is the default.
func (p *painter) colour(c vt.Color) {
	if r, g, b, ok := c.RGB(); ok {
		p.add(";")
		p.out = appendHex(p.out, r, g, b)
	}
	p.add("\x1b\\")
}

const hexDigits = "0123456789abcdef"

// appendHex appends #rrggbb.
func appendHex(b []byte, r, g, bl uint8) []byte {
	return append(b, '#', hexDigits[r>>4], hexDigits[r&15], hexDigits[g>>4], hexDigits[g&15], hexDigits[bl>>4],
		hexDigits[bl&15])
}

// titles writes OSC 1, OSC 2 and OSC 7.
func (p *painter) titles(f *vt.Frame) {
	for _, t := range [...]struct{ osc, text string }{{"\x1b]1;", f.Icon}, {"\x1b]2;", f.Title}} {
		if t.text != "" {
			p.add(t.osc)
			p.add(t.text)
			p.add("\x1b\\")
		}
	}
	if f.Cwd != "" {
		p.add("\x1b]7;file://")
		p.add(f.CwdHost)
		p.path(f.Cwd)
		p.add("\x1b\\")
	}
}

// path writes a path as it stands in a URI (RFC 3986 3.3).
func (p *painter) path(s string) {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9',
			c == '/', c == '-', c == '.', c == '_', c == '~':
			p.out = append(p.out, c)
		default:
			p.out = append(p.out, '%', hexDigits[c>>4], hexDigits[c&15])
		}
	}
}
