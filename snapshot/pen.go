package snapshot

import (
	"math/bits"
	"strconv"

	"github.com/evertty/evertty/vt"
)

// attrOn and attrOff are the SGR parameters that set and reset an attribute
// (ECMA-48 8.3.117, xterm ctlseqs), in the order of vt's bits from Bold on.
var (
	attrOn  = [...]string{"1;", "2;", "3;", "5;", "7;", "8;", "9;", "53;"}
	attrOff = [...]string{"22;", "22;", "23;", "25;", "27;", "28;", "29;", "55;"}
)

// sgrAttrs are the attributes that SGR knows.
const sgrAttrs = vt.Bold | vt.Dim | vt.Italic | vt.Blink | vt.Inverse | vt.Invisible | vt.Strikethrough | vt.Overline

// setPen makes s the style of the text printed next.
func (p *linePainter) setPen(s vt.Style) {
	if p.locked {
		p.recolour(p.pen, s)
		return
	}
	if s.Link != p.pen.Link {
		p.sgr(&s)
		p.link(s.Link)
		p.linkRow = p.noteRow(1)
		p.pen = s
		return
	}
	if !looksOther(&p.pen, &s) && s.Attr == p.pen.Attr {
		return
	}
	p.sgr(&s)
	// Writing the link too would cost more than all this while garbage is collected.
	p.pen.FG, p.pen.BG, p.pen.UnderlineColor, p.pen.Attr, p.pen.Underline = s.FG, s.BG, s.UnderlineColor, s.Attr,
		s.Underline
}

// setBackground changes nothing of the pen but its background.
func (p *linePainter) setBackground(c vt.Color) {
	s := p.pen
	s.BG = c
	p.setPen(s)
}

// link opens l with OSC 8, or closes the open link when l is none or would not
// survive the way.
func (a *ansiWriter) link(l vt.Link) {
	params := ";"
	if l.ID != "" {
		params = "id=" + l.ID + ";"
	}
	if l.URI == "" || !sendable(l) {
		params, l.URI = ";", ""
	}
	a.add("\x1b]8;" + params + l.URI + "\x1b\\")
}

// sgr writes the shorter of two ways to s: the difference, or a reset and all.
// SGR 0 also ends protection in xterm.js, but not in a VT510, so DECSCA follows
// it whenever one side is protected.
func (a *ansiWriter) sgr(s *vt.Style) {
	reset := false
	switch {
	case !looksOther(&a.pen, s):
	case !looksOther(&plain, s): // nothing is shorter than a reset
		a.add("\x1b[m")
		reset = true
	default:
		a.add("\x1b[")
		at := len(a.out)
		var gains bool
		if a.out, gains = appendDifference(a.out, &a.pen, s); !gains {
			reset = a.fromScratch(at, s)
		}
		a.endParameters(at)
	}
	a.protect(a.pen.Attr, s.Attr, reset)
}

// protect writes DECSCA (VT510) for attributes that follow others; reset: SGR 0 came between.
func (a *ansiWriter) protect(old, attr vt.Attr, reset bool) {
	switch was, is := old&vt.Protected, attr&vt.Protected; {
	case is != 0 && (was == 0 || reset):
		a.add("\x1b[1\"q")
	case is == 0 && was != 0:
		a.add("\x1b[0\"q")
	}
}

// plain is the style that SGR 0 leads to.
var plain vt.Style

// looksOther reports whether SGR has to change anything.
func looksOther(old, s *vt.Style) bool {
	return old.FG != s.FG || old.BG != s.BG || (old.Attr^s.Attr)&sgrAttrs != 0 ||
		old.Underline != s.Underline || old.UnderlineColor != s.UnderlineColor
}

// fromScratch replaces the parameters from at on by a reset and all of s when
// that is shorter, or the only way: SGR 59 does not lead back to the default
// underline colour, xterm.js 6 makes white of it.
func (a *ansiWriter) fromScratch(at int, s *vt.Style) bool {
	mid := len(a.out)
	a.add("0;")
	a.out, _ = appendDifference(a.out, &plain, s)
	all := a.out[mid:]
	better := len(all) < mid-at || known(s.UnderlineColor) == 0 && known(a.pen.UnderlineColor) != 0
	if better {
		mid = at + copy(a.out[at:], all)
	}
	a.out = a.out[:mid]
	return better
}

// endParameters ends an SGR sequence whose parameters begin at at, each with
// its semicolon. A lone 0 is the default; without any the sequence is taken back.
func (a *ansiWriter) endParameters(at int) {
	switch n := len(a.out); {
	case n == at:
		a.out = a.out[:at-len("\x1b[")]
	case string(a.out[at:]) == "0;":
		a.out = append(a.out[:at], 'm')
	default:
		a.out[n-1] = 'm'
	}
}

// appendDifference appends the parameters that lead from the style old to s,
// save for an underline colour that becomes the default. gains tells that
// nothing of old has to be undone, so that no other way is shorter.
func appendDifference(b []byte, old, s *vt.Style) (params []byte, gains bool) {
	if (old.Attr^s.Attr)&sgrAttrs != 0 {
		b = appendAttrs(b, old.Attr, s.Attr)
	}
	if s.Underline != old.Underline {
		b = appendUnderline(b, s.Underline)
	}
	if s.FG != old.FG {
		b = appendColor(b, s.FG, 30)
	}
	if s.BG != old.BG {
		b = appendColor(b, s.BG, 40)
	}
	if s.UnderlineColor != old.UnderlineColor {
		b = appendUnderlineColor(b, s.UnderlineColor)
	}
	gains = old.Attr&^s.Attr&sgrAttrs == 0 && (s.Underline != 0 || old.Underline == 0) &&
		(s.UnderlineColor != 0 || old.UnderlineColor == 0) && (s.FG != 0 || old.FG == 0) && (s.BG != 0 || old.BG == 0)
	return b, gains
}

// appendAttrs appends the parameters that reset and set attributes.
func appendAttrs(b []byte, old, s vt.Attr) []byte {
	lost, won := old&^s, s&^old
	if lost&(vt.Bold|vt.Dim) != 0 {
		won |= s & (vt.Bold | vt.Dim) // one parameter resets both
	}
	if lost&vt.Bold != 0 {
		lost &^= vt.Dim
	}
	for a := uint(lost & sgrAttrs); a != 0; a &= a - 1 {
		b = append(b, attrOff[bits.TrailingZeros(a)]...)
	}
	for a := uint(won & sgrAttrs); a != 0; a &= a - 1 {
		b = append(b, attrOn[bits.TrailingZeros(a)]...)
	}
	return b
}

func appendUnderline(b []byte, u vt.Underline) []byte {
	if u == vt.UnderlineNone {
		return append(b, "24;"...)
	}
	if u == vt.UnderlineSingle || u > vt.UnderlineDashed {
		return append(b, "4;"...)
	}
	return append(b, '4', ':', '0'+byte(u), ';')
}

// appendColor appends the parameters of a foreground (base 30) or background
// (base 40) colour.
func appendColor(b []byte, c vt.Color, base int) []byte {
	if i, ok := c.Palette(); ok {
		switch {
		case i < 8:
			return append(strconv.AppendInt(b, int64(base)+int64(i), 10), ';')
		case i < 16:
			return append(strconv.AppendInt(b, int64(base)+60+int64(i)-8, 10), ';')
		}
		return appendNumbers(b, ';', base+8, 5, int(i))
	}
	if r, g, bl, ok := c.RGB(); ok {
		return appendNumbers(b, ';', base+8, 2, int(r), int(g), int(bl))
	}
	return append(strconv.AppendInt(b, int64(base)+9, 10), ';')
}

// appendUnderlineColor appends SGR 58 with subparameters (ITU-T T.416), which
// terminals that do not know it skip as a whole.
func appendUnderlineColor(b []byte, c vt.Color) []byte {
	if i, ok := c.Palette(); ok {
		return appendNumbers(b, ':', 58, 5, int(i))
	}
	if r, g, bl, ok := c.RGB(); ok {
		return appendNumbers(append(b, "58:2::"...), ':', int(r), int(g), int(bl))
	}
	return b
}

// appendNumbers appends parameters with what separates them, and the semicolon behind them.
func appendNumbers(b []byte, separator byte, numbers ...int) []byte {
	for _, n := range numbers {
		b = append(strconv.AppendInt(b, int64(n), 10), separator)
	}
	b[len(b)-1] = ';'
	return b
}
