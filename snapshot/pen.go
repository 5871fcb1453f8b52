package snapshot

import (
	"strconv"

	"github.com/evertty/evertty/vt"
)

// attrCodes are the SGR parameters that set and reset an attribute (ECMA-48
// 8.3.117, xterm ctlseqs).
var attrCodes = [...]struct {
	attr    vt.Attr
	on, off string
}{
	{vt.Bold, "1;", "22;"},
	{vt.Dim, "2;", "22;"},
	{vt.Italic, "3;", "23;"},
	{vt.Blink, "5;", "25;"},
	{vt.Inverse, "7;", "27;"},
	{vt.Invisible, "8;", "28;"},
	{vt.Strikethrough, "9;", "29;"},
	{vt.Overline, "53;", "55;"},
}

// sgrAttrs are the attributes that SGR knows.
const sgrAttrs = vt.Bold | vt.Dim | vt.Italic | vt.Blink | vt.Inverse | vt.Invisible | vt.Strikethrough | vt.Overline

// setPen makes s the style of what is printed next.
func (p *painter) setPen(s vt.Style) {
	if s == p.pen {
		return
	}
	p.sgr(s)
	if s.Link != p.pen.Link {
		p.link(s.Link)
	}
	p.pen = s
}

// setBackground changes nothing of the pen but its background.
func (p *painter) setBackground(c vt.Color) {
	s := p.pen
	s.BG = c
	p.setPen(s)
}

// link opens l with OSC 8, or closes the open link when l is none or would not
// survive the way.
func (p *painter) link(l vt.Link) {
	p.add("\x1b]8;")
	if l.URI != "" && sendable(l) {
		if l.ID != "" {
			p.add("id=")
			p.add(l.ID)
		}
		p.add(";")
		p.add(l.URI)
	} else {
		p.add(";")
	}
	p.add("\x1b\\")
}

// sgr writes the shorter of two ways to s: the difference, or a reset and all.
// SGR 0 also ends protection in xterm.js, but not in a VT510, so DECSCA follows
// it whenever one side is protected. SGR 59 is no way back to the default
// underline colour: xterm.js 6 makes white of it.
func (p *painter) sgr(s vt.Style) {
	old, reset := p.pen, false
	if sgrPart(s) != sgrPart(old) {
		var diff, all [160]byte
		d, gains := appendDifference(diff[:0], old, s)
		if !gains {
			a := append(all[:0], "0;"...)
			a, _ = appendDifference(a, vt.Style{}, s)
			if reset = known(s.UnderlineColor) == 0 && known(old.UnderlineColor) != 0 || len(a) < len(d); reset {
				d = a
			}
		}
		p.sequence(d)
	}
	was, is := old.Attr&vt.Protected, s.Attr&vt.Protected
	switch {
	case is != 0 && (was == 0 || reset):
		p.add("\x1b[1\"q")
	case is == 0 && was != 0:
		p.add("\x1b[0\"q")
	}
}

// sequence writes SGR with the given parameters, each with its semicolon.
func (p *painter) sequence(params []byte) {
	if len(params) == 0 {
		return
	}
	p.add("\x1b[")
	if params = params[:len(params)-1]; string(params) != "0" {
		p.out = append(p.out, params...)
	}
	p.add("m")
}

// sgrPart is the part of a style that SGR sets.
func sgrPart(s vt.Style) vt.Style {
	s.Attr &= sgrAttrs
	s.Link = vt.Link{}
	return s
}

// appendDifference appends the parameters that lead from the style old to s,
// save for an underline colour that becomes the default. gains tells that
// nothing of old has to be undone, so that no other way is shorter.
func appendDifference(b []byte, old, s vt.Style) (params []byte, gains bool) {
	n := len(b)
	lost := old.Attr &^ s.Attr
	kept := old.Attr & s.Attr
	for _, c := range attrCodes {
		if lost&c.attr != 0 && !(c.attr == vt.Dim && lost&vt.Bold != 0) {
			b = append(b, c.off...)
		}
	}
	if lost&(vt.Bold|vt.Dim) != 0 {
		kept &^= vt.Bold | vt.Dim // one parameter resets both
	}
	if old.Underline != 0 && s.Underline == 0 {
		b = append(b, "24;"...)
	}
	gains = len(b) == n && (s.UnderlineColor != 0 || old.UnderlineColor == 0)
	for _, c := range attrCodes {
		if s.Attr&^kept&c.attr != 0 {
			b = append(b, c.on...)
		}
	}
	if s.Underline != 0 && s.Underline != old.Underline {
		b = appendUnderline(b, s.Underline)
	}
	if s.FG != old.FG {
		gains = gains && s.FG != 0
		b = appendColor(b, s.FG, 30)
	}
	if s.BG != old.BG {
		gains = gains && s.BG != 0
		b = appendColor(b, s.BG, 40)
	}
	if s.UnderlineColor != old.UnderlineColor {
		b = appendUnderlineColor(b, s.UnderlineColor)
	}
	return b, gains
}

func appendUnderline(b []byte, u vt.Underline) []byte {
	if u == vt.UnderlineSingle || u > vt.UnderlineDashed {
		return append(b, "4;"...)
	}
	return append(b, '4', ':', '0'+byte(u), ';')
}

// appendColor appends the parameters of a foreground (base 30) or background
// (base 40) colour.
func appendColor(b []byte, c vt.Color, base int64) []byte {
	if i, ok := c.Palette(); ok {
		switch {
		case i < 8:
			b = strconv.AppendInt(b, base+int64(i), 10)
		case i < 16:
			b = strconv.AppendInt(b, base+60+int64(i)-8, 10)
		default:
			b = strconv.AppendInt(b, base+8, 10)
			b = append(b, ";5;"...)
			b = strconv.AppendInt(b, int64(i), 10)
		}
	} else if r, g, bl, ok := c.RGB(); ok {
		b = strconv.AppendInt(b, base+8, 10)
		b = append(b, ";2;"...)
		b = appendChannels(b, r, g, bl, ';')
	} else {
		b = strconv.AppendInt(b, base+9, 10)
	}
	return append(b, ';')
}

// appendUnderlineColor appends SGR 58 with subparameters (ITU-T T.416), which
// terminals that do not know it skip as a whole.
func appendUnderlineColor(b []byte, c vt.Color) []byte {
	if i, ok := c.Palette(); ok {
		b = append(b, "58:5:"...)
		b = strconv.AppendInt(b, int64(i), 10)
	} else if r, g, bl, ok := c.RGB(); ok {
		b = append(b, "58:2::"...)
		b = appendChannels(b, r, g, bl, ':')
	} else {
		return b
	}
	return append(b, ';')
}

func appendChannels(b []byte, r, g, bl uint8, sep byte) []byte {
	b = strconv.AppendInt(b, int64(r), 10)
	b = append(b, sep)
	b = strconv.AppendInt(b, int64(g), 10)
	b = append(b, sep)
	return strconv.AppendInt(b, int64(bl), 10)
}
