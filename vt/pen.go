package vt

// pen is the state that SGR, DECSCA and OSC 8 set: the style of the next character,
// with the quirks of xterm.js 6. It keeps underline style and colour and the link
// apart from the rest; DECRC restores all but those. The zero value is the pen
// after RIS.
type pen struct {
	fg, bg     Color
	attr       Attr
	underlined bool
	// extended reports whether the fields after it count, which xterm.js decides
	// whenever SGR or OSC 8 changes one of them.
	extended  bool
	underline Underline
	color     Color // of the underline
	link      Link
}

// Style is the style of a character printed with p.
func (p *pen) Style() Style {
	s := Style{FG: p.fg, BG: p.bg, Attr: p.attr}
	if p.extended {
		s.Underline, s.Link, s.UnderlineColor = p.underline, p.link, p.color
	}
	if p.underlined && s.Underline == UnderlineNone {
		s.Underline = UnderlineSingle
	}
	return s
}

// key is Style for a table of styles.
func (p *pen) key(t *styles) styleKey {
	l := newStyleKey(p.fg, p.bg, p.attr)
	if p.extended || p.underlined {
		l = p.decorate(l, t)
	}
	return l
}

// decorate adds underline and link to the key of p.
func (p *pen) decorate(l styleKey, t *styles) styleKey {
	if p.extended {
		l = l.underlined(p.underline, p.color).linked(t.linkNumber(p.link))
	}
	if p.underlined && l.underline() == UnderlineNone {
		l = l.underlined(UnderlineSingle, 0)
	}
	return l
}

// state is Style for a Frame: an underline colour that waits for an underline is
// a part of it.
func (p *pen) state() Style {
	s := p.Style()
	s.UnderlineColor = p.color
	return s
}

// Restore makes p the saved pen, as far as DECRC does in xterm.js 6.
func (p *pen) Restore(saved *pen) {
	p.fg, p.bg, p.attr = saved.fg, saved.bg, saved.attr
	p.underlined, p.extended = saved.underlined, saved.extended
}

// SetLink begins a hyperlink, or ends the open one when l is the zero value.
func (p *pen) SetLink(l Link) {
	p.link = l
	p.extend()
}

// Protect implements DECSCA (VT510).
func (p *pen) Protect(how int) {
	switch how {
	case 0, 2:
		p.attr &^= Protected
	case 1:
		p.attr |= Protected
	}
}

func (p *pen) extend() { p.extended = p.underline != UnderlineNone || p.link != Link{} }

func (p *pen) setUnderline(u Underline) {
	p.underline, p.underlined = u, u != UnderlineNone
	p.extend()
}

// maxSGR is the bound of the parameters in attrs and noAttrs.
const maxSGR = 56

// attrs are the attributes that SGR n sets (ECMA-48 8.3.117).
var attrs = [maxSGR]Attr{
	1: Bold, 2: Dim, 3: Italic, 5: Blink, 7: Inverse, 8: Invisible, 9: Strikethrough, 53: Overline,
}

// noAttrs are those that SGR n resets.
var noAttrs = [maxSGR]Attr{
	22: Bold | Dim, 23: Italic, 25: Blink, 27: Inverse, 28: Invisible, 29: Strikethrough, 55: Overline,
}

// SGR applies the parameters of s (ECMA-48 8.3.117) with xterm's and kitty's
// extensions. SGR 59 makes the underline white, as xterm.js 6 does.
func (p *pen) SGR(s *stream) {
	params := s.parser.params[:s.parser.count]
	for i := 0; i < len(params); i++ {
		switch n := params[i]; {
		case n == 0:
			p.reset()
		case n >= 30 && n < 38:
			p.fg = PaletteColor(uint8(n - 30))
		case n >= 40 && n < 48:
			p.bg = PaletteColor(uint8(n - 40))
		case n == 38 || n == 48 || n == 58:
			i += p.setColor(s, i)
		case n >= 90 && n < 98:
			p.fg = PaletteColor(uint8(n - 90 + 8))
		case n >= 100 && n < 108:
			p.bg = PaletteColor(uint8(n - 100 + 8))
		default:
			p.attribute(n, s.Sub(i))
		}
	}
}

// reset implements SGR 0, which keeps link and protection: xterm.js ends only
// the latter. The underline colour goes with it.
func (p *pen) reset() {
	p.fg, p.bg, p.attr, p.underlined = 0, 0, 0, false
	p.underline, p.color = UnderlineNone, 0
	p.extend()
}

// attribute sets or resets what has a parameter of its own.
func (p *pen) attribute(n int32, sub []int32) {
	switch {
	case n == 4:
		p.setUnderline(underlineOf(sub))
	case n == 21:
		p.setUnderline(UnderlineDouble)
	case n == 24:
		p.setUnderline(UnderlineNone)
	case n == 39:
		p.fg = 0
	case n == 49:
		p.bg = 0
	case n == 59:
		p.color = RGBColor(0xff, 0xff, 0xff)
		p.extend()
	case n < maxSGR:
		p.attr = p.attr&^noAttrs[n] | attrs[n]
	}
}

// underlineOf is the style of SGR 4 with these subparameters.
func underlineOf(sub []int32) Underline {
	if len(sub) == 0 || sub[0] < 0 || sub[0] > int32(UnderlineDashed) {
		return UnderlineSingle
	}
	return Underline(sub[0])
}

// setColor applies the colour that begins at parameter i (38, 48 or 58) and
// returns how many parameters it took besides the first.
func (p *pen) setColor(s *stream, i int) (taken int) {
	c, ok, taken := s.color(i)
	if !ok {
		return taken
	}
	switch s.parser.params[i] {
	case 38:
		p.fg = c
	case 48:
		p.bg = c
	default:
		p.color = c
	}
	return taken
}

// color reads a colour that begins at parameter i: 5 and an index, or 2 and
// three channels, separated by ';', or by ':' with a colour space before the
// channels (ISO 8613-6 13.1.8; xterm ctlseqs).
func (s *stream) color(i int) (c Color, ok bool, taken int) {
	if q := &s.parser; q.nsub == 0 { // semicolons only, whole
		switch rest := q.params[i+1 : max(q.count, i+1)]; {
		case len(rest) >= 4 && rest[0] == 2:
			return RGBColor(uint8(rest[1]), uint8(rest[2]), uint8(rest[3])), true, 4
		case len(rest) >= 2 && rest[0] == 5:
			return PaletteColor(uint8(rest[1])), true, 2
		}
	}
	// v is target, model, colour space, and three values; an index is the first value.
	v := [6]int32{2: omitted}
	space := 0
	for {
		v[taken+space] = s.parser.params[i+taken]
		if sub := s.Sub(i + taken); len(sub) > 0 {
			subColor(&v, sub, taken, space)
			break
		}
		if v[1] == 5 && taken+space >= 2 || v[1] == 2 && taken+space >= 5 {
			break
		}
		if v[1] != 0 {
			space = 1
		}
		if taken++; i+taken >= s.parser.count || taken+space >= len(v) {
			break
		}
	}
	a, b, d := uint8(max(v[3], 0)), uint8(max(v[4], 0)), uint8(max(v[5], 0))
	switch v[1] {
	case 2:
		return RGBColor(a, b, d), true, taken
	case 5:
		return PaletteColor(a), true, taken
	}
	return 0, false, taken
}

// subColor fills v from the subparameters behind parameter taken.
func subColor(v *[6]int32, sub []int32, taken, space int) {
	for j := 0; j < len(sub) && j+taken+1+space < len(v); j++ {
		if v[1] == 5 {
			space = 1
		}
		if at := j + taken + 1 + space; at < len(v) {
			v[at] = sub[j]
		}
	}
}

// Bare is Style without link, underline style and underline colour, which
// DECALN leaves out.
func (p pen) Bare() Style {
	p.link, p.underline, p.color = Link{}, UnderlineNone, 0
	return p.Style()
}

// Freeze writes the pen into f. An underline colour that waits for an underline
// is a part of it.
func (p *pen) Freeze(f *Frame) {
	f.Pen = p.state()
	if q := penOf(f.Pen); q != *p {
		f.Extended = &ExtendedAttrs{
			Underline: p.underline, UnderlineColor: p.color, Link: p.link,
			Underlined: p.underlined, Extended: p.extended,
		}
	}
}

// penOf is the pen that SGR, DECSCA and OSC 8 make of a style.
func penOf(s Style) pen {
	p := pen{fg: s.FG, bg: s.BG, attr: s.Attr, color: s.UnderlineColor, link: s.Link}
	p.setUnderline(s.Underline)
	return p
}

// load takes the pen of f.
func (p *pen) load(f *Frame) {
	*p = penOf(f.Pen)
	if a := f.Extended; a != nil {
		p.underline, p.color, p.link = a.Underline, a.UnderlineColor, a.Link
		p.underlined, p.extended = a.Underlined, a.Extended
	}
}
