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
func (a *ansiWriter) kitty(how byte, flags uint8) {
	a.add("\x1b[")
	a.out = append(a.out, how)
	a.num(int(flags))
	a.add("u")
}

// designators are the intermediate bytes that designate G0 to G3 (ECMA-35
// 14.3.2), shifts the controls that invoke them in GL.
var (
	designators = [4]string{"\x1b(", "\x1b)", "\x1b*", "\x1b+"}
	shifts      = [4]string{"\x0f", "\x0e", "\x1bn", "\x1bo"}
)

// charsets designates and invokes what differs from a fresh terminal.
func (a *ansiWriter) charsets(c vt.Charsets) {
	for i, final := range c.G {
		if final != 0 {
			a.add(designators[i])
			a.out = append(a.out, final)
		}
	}
	if c.GL != 0 {
		a.add(shifts[c.GL])
	}
}

// resetCharsets undoes charsets.
func (a *ansiWriter) resetCharsets(c vt.Charsets) {
	for i, final := range c.G {
		if final != 0 {
			a.add(designators[i])
			a.add("B")
		}
	}
	if c.GL != 0 {
		a.add(shifts[0])
	}
}

// mouseModes and mouseEncodings are the private modes behind the names.
var (
	mouseModes     = [...]int{vt.MouseX10: 9, vt.MouseNormal: 1000, vt.MouseButton: 1002, vt.MouseAny: 1003}
	mouseEncodings = [...]int{vt.MouseEncodingUTF8: 1005, vt.MouseEncodingSGR: 1006, vt.MouseEncodingURXVT: 1015,
		vt.MouseEncodingSGRPixels: 1016}
)

// private writes DECSET (VT510) of a mode.
func (a *ansiWriter) private(mode int) {
	a.add("\x1b[?")
	a.num(mode)
	a.add("h")
}

// modes writes the switches that do not disturb the rest of the text.
func (a *ansiWriter) modes(m *vt.Modes, c vt.CursorStyle) {
	for _, s := range [...]struct {
		on   bool
		mode int
	}{
		{m.AppCursor, 1}, {m.ReverseVideo, 5}, {m.ReverseWrap, 45}, {m.FocusEvents, 1004},
		{m.BracketedPaste, 2004},
	} {
		if s.on {
			a.private(s.mode)
		}
	}
	if m.AppKeypad {
		a.add("\x1b=")
	}
	if m.Mouse != vt.MouseNone {
		a.private(mouseModes[m.Mouse])
	}
	if m.MouseEncoding != vt.MouseEncodingDefault {
		a.private(mouseEncodings[m.MouseEncoding])
	}
	if m.Linefeed {
		a.add("\x1b[20h")
	} else {
		a.add("\x1b[20l")
	}
	if c != 0 {
		a.add("\x1b[")
		a.num(int(c))
		a.add(" q")
	}
	if m.CursorHidden {
		a.add("\x1b[?25l")
	} else {
		a.add("\x1b[?25h")
	}
}

// colours sets what OSC 4, 10, 11 and 12 changed (xterm ctlseqs).
func (a *ansiWriter) colours(f *vt.Frame) {
	special := [...]vt.Color{f.Foreground, f.Background, f.CursorColor}
	if f.Palette == nil && special == [len(special)]vt.Color{} {
		return
	}
	a.add("\x1b]104\x1b\\")
	for _, i := range slices.Sorted(maps.Keys(f.Palette)) {
		a.add("\x1b]4;")
		a.num(int(i))
		a.colour(f.Palette[i])
	}
	for i, c := range special {
		a.add("\x1b]1")
		if c == 0 {
			a.add("1")
		}
		a.num(i)
		a.colour(c)
	}
}

// colour ends an OSC with a colour, or without one when c is the default.
func (a *ansiWriter) colour(c vt.Color) {
	if r, g, b, ok := c.RGB(); ok {
		a.add(";")
		a.out = appendHex(a.out, r, g, b)
	}
	a.add("\x1b\\")
}

const hexDigits = "0123456789abcdef"

// appendHex appends #rrggbb.
func appendHex(b []byte, r, g, bl uint8) []byte {
	return append(b, '#', hexDigits[r>>4], hexDigits[r&15], hexDigits[g>>4], hexDigits[g&15], hexDigits[bl>>4],
		hexDigits[bl&15])
}

// titles writes OSC 1, OSC 2 and OSC 7.
func (a *ansiWriter) titles(f *vt.Frame) {
	for _, t := range [...]struct{ osc, text string }{{"\x1b]1;", f.Icon}, {"\x1b]2;", f.Title}} {
		if t.text != "" {
			a.add(t.osc)
			a.add(t.text)
			a.add("\x1b\\")
		}
	}
	if f.Cwd != "" {
		a.add("\x1b]7;file://")
		a.add(f.CwdHost)
		a.path(f.Cwd)
		a.add("\x1b\\")
	}
}

// path writes a path as it stands in a URI (RFC 3986 3.3).
func (a *ansiWriter) path(s string) {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9',
			c == '/', c == '-', c == '.', c == '_', c == '~':
			a.out = append(a.out, c)
		default:
			a.out = append(a.out, '%', hexDigits[c>>4], hexDigits[c&15])
		}
	}
}
