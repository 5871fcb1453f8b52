package snapshot

import (
	"cmp"
	"fmt"
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
		p.out = fmt.Appendf(p.out, "\x1b[%d;%dr", s.Top+1, s.Bottom+1)
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
	a.out = fmt.Appendf(a.out, "\x1b[%c%du", how, flags)
}

// designators are the intermediate bytes that designate G0 to G3 (ECMA-35
// 14.3.2), shifts the controls that invoke them in GL.
var (
	designators = [4]string{"\x1b(", "\x1b)", "\x1b*", "\x1b+"}
	shifts      = [4]string{"\x0f", "\x0e", "\x1bn", "\x1bo"}
)

// charsets designates and invokes what differs from a fresh terminal. set is 0, or the set that all
// of these become.
func (a *ansiWriter) charsets(c vt.Charsets, set byte) {
	for i, final := range c.G {
		if final != 0 {
			a.add(designators[i])
			a.out = append(a.out, cmp.Or(set, final))
		}
	}
	switch {
	case c.GL == 0:
	case set == 0:
		a.add(shifts[c.GL])
	default:
		a.add(shifts[0])
	}
}

// mouseModes and mouseEncodings set the modes behind the names.
var (
	mouseModes = [...]string{vt.MouseX10: "\x1b[?9h", vt.MouseNormal: "\x1b[?1000h", vt.MouseButton: "\x1b[?1002h",
		vt.MouseAny: "\x1b[?1003h"}
	mouseEncodings = [...]string{vt.MouseEncodingUTF8: "\x1b[?1005h", vt.MouseEncodingSGR: "\x1b[?1006h",
		vt.MouseEncodingURXVT: "\x1b[?1015h", vt.MouseEncodingSGRPixels: "\x1b[?1016h"}
)

// sequence is what is written when on.
type sequence struct {
	on   bool
	text string
}

func (a *ansiWriter) sequences(all ...sequence) {
	for _, s := range all {
		if s.on {
			a.add(s.text)
		}
	}
}

// modes writes the switches that do not disturb the rest of the text.
func (a *ansiWriter) modes(m *vt.Modes, c vt.CursorStyle) {
	a.sequences(
		sequence{m.AppCursor, "\x1b[?1h"}, sequence{m.ReverseVideo, "\x1b[?5h"}, sequence{m.ReverseWrap, "\x1b[?45h"},
		sequence{m.FocusEvents, "\x1b[?1004h"}, sequence{m.BracketedPaste, "\x1b[?2004h"},
		sequence{m.AppKeypad, "\x1b="}, sequence{true, mouseModes[m.Mouse]},
		sequence{true, mouseEncodings[m.MouseEncoding]},
		sequence{m.Linefeed, "\x1b[20h"}, sequence{!m.Linefeed, "\x1b[20l"},
		sequence{c != 0, "\x1b[" + string('0'+rune(c)) + " q"},
		sequence{m.CursorHidden, "\x1b[?25l"}, sequence{!m.CursorHidden, "\x1b[?25h"},
	)
}

// colours sets what OSC 4, 10, 11 and 12 changed (xterm ctlseqs).
func (a *ansiWriter) colours(f *vt.Frame) {
	special := [...]vt.Color{f.Foreground, f.Background, f.CursorColor}
	if f.Palette == nil && special == [len(special)]vt.Color{} {
		return
	}
	a.add("\x1b]104\x1b\\")
	for _, i := range slices.Sorted(maps.Keys(f.Palette)) {
		a.out = fmt.Appendf(a.out, "\x1b]4;%d", i)
		a.colour(f.Palette[i])
	}
	for i, c := range special {
		number := 10 + i
		if c == 0 {
			number += 100
		}
		a.out = fmt.Appendf(a.out, "\x1b]%d", number)
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
			a.add(t.osc + t.text + "\x1b\\")
		}
	}
	if f.Cwd != "" {
		a.add("\x1b]7;file://" + f.CwdHost)
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
