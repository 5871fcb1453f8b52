package vt10x

import "github.com/evertty/evertty/vt"

// pen is what the next character gets, and the looks made of it.
type pen struct {
	style       vt.Style
	text, blank look // of style, and of what is erased; once known
	known       bool
}

func (e *engine) setPen(s vt.Style) {
	if s != e.pen.style {
		e.pen = pen{style: s}
	}
}

// look is the look of the next character.
func (e *engine) look() look {
	e.know()
	return e.pen.text
}

// blank is the look of what is erased now: only the background of the pen.
func (e *engine) blank() look {
	e.know()
	return e.pen.blank
}

func (e *engine) know() {
	if e.pen.known {
		return
	}
	if e.looks.crowded() {
		grids := []*grid{e.main.grid}
		if e.alt != nil {
			grids = append(grids, e.alt.grid)
		}
		e.looks.sweep(grids...)
	}
	s := e.pen.style
	e.pen = pen{s, plain, erased, true}
	if s != (vt.Style{}) {
		e.pen.text = e.looks.id(kind{style: s})
	}
	if s.BG != 0 {
		e.pen.blank = e.looks.id(kind{vt.Style{BG: s.BG}, true})
	}
}

// protect implements DECSCA (VT510).
func (e *engine) protect(how int) {
	s := e.pen.style
	switch how {
	case 0, 2:
		s.Attr &^= vt.Protected
	case 1:
		s.Attr |= vt.Protected
	}
	e.setPen(s)
}

// maxSGR is the bound of the parameters in attrs and noAttrs.
const maxSGR = 56

// attrs are the attributes that SGR n sets (ECMA-48 8.3.117).
var attrs = [maxSGR]vt.Attr{
	1: vt.Bold, 2: vt.Dim, 3: vt.Italic, 5: vt.Blink, 7: vt.Inverse, 8: vt.Invisible, 9: vt.Strikethrough, 53: vt.Overline,
}

// noAttrs are those that SGR n resets.
var noAttrs = [maxSGR]vt.Attr{
	22: vt.Bold | vt.Dim, 23: vt.Italic, 25: vt.Blink, 27: vt.Inverse, 28: vt.Invisible, 29: vt.Strikethrough, 55: vt.Overline,
}

// sgr applies SGR (ECMA-48 8.3.117) with xterm's and kitty's extensions to s.
func (p *parser) sgr(s vt.Style) vt.Style {
	for i := 0; i < p.count; i++ {
		switch n := p.params[i]; {
		case n == 0:
			s = vt.Style{Link: s.Link}
		case n == 4:
			s.Underline = underline(p.sub(i))
		case n == 21:
			s.Underline = vt.UnderlineDouble
		case n == 24:
			s.Underline = vt.UnderlineNone
		case n == 38:
			i += p.color(i, &s.FG)
		case n == 48:
			i += p.color(i, &s.BG)
		case n == 58:
			i += p.color(i, &s.UnderlineColor)
		case n == 39:
			s.FG = 0
		case n == 49:
			s.BG = 0
		case n == 59:
			s.UnderlineColor = 0
		case n >= 30 && n < 38:
			s.FG = vt.PaletteColor(uint8(n - 30))
		case n >= 40 && n < 48:
			s.BG = vt.PaletteColor(uint8(n - 40))
		case n >= 90 && n < 98:
			s.FG = vt.PaletteColor(uint8(n - 90 + 8))
		case n >= 100 && n < 108:
			s.BG = vt.PaletteColor(uint8(n - 100 + 8))
		case n < maxSGR:
			s.Attr = s.Attr&^noAttrs[n] | attrs[n]
		}
	}
	return s
}

// underline is the style of SGR 4 with these subparameters.
func underline(sub []int) vt.Underline {
	if len(sub) == 0 || sub[0] < 0 || sub[0] > int(vt.UnderlineDashed) {
		return vt.UnderlineSingle
	}
	return vt.Underline(sub[0])
}

// color reads a colour that begins at parameter i (38, 48 or 58): 5 and an
// index, or 2 and three channels, separated by ';', or by ':' with a colour
// space before the channels (ISO 8613-6 13.1.8; xterm ctlseqs). It returns how
// many parameters it took besides the first.
func (p *parser) color(i int, c *vt.Color) (taken int) {
	// v is target, model, colour space, and three values; an index is the first value.
	v := [6]int{2: omitted}
	space := 0
	for {
		v[taken+space] = p.params[i+taken]
		if sub := p.sub(i + taken); len(sub) > 0 {
			for j := 0; j < len(sub) && j+taken+1+space < len(v); j++ {
				if v[1] == 5 {
					space = 1
				}
				if at := j + taken + 1 + space; at < len(v) {
					v[at] = sub[j]
				}
			}
			break
		}
		if v[1] == 5 && taken+space >= 2 || v[1] == 2 && taken+space >= 5 {
			break
		}
		if v[1] != 0 {
			space = 1
		}
		if taken++; i+taken >= p.count || taken+space >= len(v) {
			break
		}
	}
	a, b, d := uint8(max(v[3], 0)), uint8(max(v[4], 0)), uint8(max(v[5], 0))
	switch v[1] {
	case 2:
		*c = vt.RGBColor(a, b, d)
	case 5:
		*c = vt.PaletteColor(a)
	}
	return taken
}
