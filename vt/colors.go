package vt

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Slots of the colours behind the palette of 256.
const (
	slotForeground = 256 + iota // OSC 10
	slotBackground              // OSC 11
	slotCursor                  // OSC 12
	slotPointer                 // OSC 13, and so on up to OSC 19: no viewer shows them

	slotSpecial = slotForeground + 10      // OSC 5;0: bold, underline, blink, reverse, italic
	slots       = slotSpecial + specialMax // how many there are
)

// specialMax is how many special colours OSC 5 sets (xterm ctlseqs).
const specialMax = 5

// colors are the colours of a terminal.
type colors struct {
	// set has the colours that a program changed, by slot: nil until the first change, for
	// nearly no program makes one.
	set   map[int]Color
	theme *Theme // has the others; nil for the zero value
}

// themed is the theme.
func (c *colors) themed() *Theme {
	if c.theme == nil {
		return &Theme{}
	}
	return c.theme
}

// osc applies OSC 4, 5, 10 to 19, 104, 105 and 110 to 119 (xterm ctlseqs).
func (c *colors) osc(s *stream, n int, arg string, fx *Effects) {
	switch {
	case n == 4 || n == 5:
		c.setIndexed(s, n, arg, fx)
	case n >= 10 && n <= 19:
		c.setDynamic(s, n, arg, fx)
	default:
		c.reset(s, n, arg)
	}
}

// indexed is the slot of a colour of OSC 4 or 5. The numbers of OSC 5 go on behind
// the palette in OSC 4.
func indexed(n int, index string) (slot int, ok bool) {
	i, err := strconv.ParseUint(index, 10, 16)
	slot = int(i)
	if n == 5 {
		slot += slotForeground
	}
	if slot >= slotForeground {
		slot += slotSpecial - slotForeground
	}
	return slot, err == nil && slot < slots
}

// setIndexed implements OSC 4 and 5 ; index ; colour ; … A query is answered and
// cut; viewers still get the colours of the palette that were set beside it.
func (c *colors) setIndexed(s *stream, n int, arg string, fx *Effects) {
	var keep []byte
	fields := strings.Split(arg, ";")
	changed := len(fields)%2 != 0
	for ; len(fields) > 1; fields = fields[2:] {
		spec := fields[1]
		slot, ok := indexed(n, fields[0])
		if ok {
			spec = c.change(slot, spec, fmt.Sprintf("%d;%s", n, fields[0]), fx)
		}
		if !ok || slot >= slotForeground {
			spec = ""
		}
		changed = changed || spec != fields[1]
		if spec != "" {
			keep = fmt.Appendf(keep, "\x1b]%d;%s;%s\a", n, fields[0], spec)
		}
	}
	if changed {
		s.Replace(keep...)
	}
}

// setDynamic implements OSC 10 to 19 ; colour ; … Further colours are for the
// numbers that follow.
func (c *colors) setDynamic(s *stream, n int, arg string, fx *Effects) {
	var keep []byte
	changed := false
	for given := range strings.SplitSeq(arg, ";") {
		spec := given
		if n <= 19 {
			spec = c.change(slotForeground+n-10, given, strconv.Itoa(n), fx)
		}
		if slotForeground+n-10 > slotCursor {
			spec = ""
		}
		changed = changed || spec != given
		if spec != "" {
			keep = fmt.Appendf(keep, "\x1b]%d;%s\a", n, spec)
		}
		n++
	}
	if changed {
		s.Replace(keep...)
	}
}

// change sets the colour of a slot and returns its text for viewers, or answers when
// spec asks for it: then viewers get nothing, as of a colour that is none here. asked
// begins the answer.
func (c *colors) change(slot int, spec, asked string, fx *Effects) (viewers string) {
	if spec == "?" {
		r, g, b := c.rgb(slot)
		fx.reply(fmt.Appendf(nil, "\x1b]%s;rgb:%02x%02x/%02x%02x/%02x%02x\x1b\\", asked, r, r, g, g, b, b))
		return ""
	}
	v, ok := parseColor(spec)
	if !ok {
		if v, ok = parseSpace(strings.ToLower(spec)); !ok {
			return ""
		}
		r, g, b, _ := v.RGB()
		spec = fmt.Sprintf("rgb:%02x/%02x/%02x", r, g, b)
	}
	c.put(slot, v)
	return spec
}

// reset implements OSC 104, 105 and 110 to 119.
func (c *colors) reset(s *stream, n int, arg string) {
	from, to := 0, slotForeground
	switch {
	case n >= 110:
		delete(c.set, slotForeground+n-110)
		return
	case n == 105:
		from, to = slotSpecial, slots
	}
	if arg == "" {
		for slot := from; slot < to; slot++ {
			delete(c.set, slot)
		}
		return
	}
	var keep []byte
	for index := range strings.SplitSeq(arg, ";") {
		slot, ok := indexed(n-100, index)
		if ok {
			delete(c.set, slot)
		}
		if ok && slot < slotForeground {
			keep = append(append(keep, ';'), index...)
		}
	}
	if len(keep) != len(arg)+1 {
		if len(keep) > 0 {
			keep = append(append([]byte("\x1b]104"), keep...), '\a')
		}
		s.Replace(keep...)
	}
}

// freeze writes the colours into f.
func (c *colors) freeze(f *Frame) {
	f.Foreground, f.Background, f.CursorColor = c.set[slotForeground], c.set[slotBackground], c.set[slotCursor]
	for slot, v := range c.set {
		switch {
		case slot < slotForeground:
			if f.Palette == nil {
				f.Palette = map[uint8]Color{}
			}
			f.Palette[uint8(slot)] = v
		case slot >= slotPointer:
			if f.OtherColors == nil {
				f.OtherColors = map[uint8]Color{}
			}
			f.OtherColors[uint8(slot-slotPointer)] = v
		}
	}
}

// load takes the colours of f.
func (c *colors) load(f *Frame) {
	c.set = nil
	for i, v := range [...]Color{f.Foreground, f.Background, f.CursorColor} {
		if v != 0 {
			c.put(slotForeground+i, v)
		}
	}
	for i, v := range f.Palette {
		c.put(int(i), v)
	}
}

// load takes titles, directory and colours of f.
func (l *labels) load(f *Frame) {
	l.Title, l.Icon, l.Host, l.Cwd = f.Title, f.Icon, f.CwdHost, f.Cwd
	l.colors.load(f)
}

// Freeze writes titles, directory and colours into f.
func (l *labels) Freeze(f *Frame) {
	f.Title, f.Icon, f.CwdHost, f.Cwd = l.Title, l.Icon, l.Host, l.Cwd
	l.colors.freeze(f)
}

// Resume takes over the colours of f that no viewer shows.
func (l *labels) Resume(f *Frame) {
	for i, c := range f.OtherColors {
		if slot := slotPointer + int(i); slot < slots {
			l.colors.put(slot, c)
		}
	}
}

// put makes v the colour of a slot.
func (c *colors) put(slot int, v Color) {
	if c.set == nil {
		c.set = map[int]Color{}
	}
	c.set[slot] = v
}

// ansi are the first 16 colours as the page draws them (webui/src/terminal/theme.ts).
var ansi = [16]uint32{
	0x1b222b, 0xf07178, 0x7fd88f, 0xe8c56a, 0x6cb2f0, 0xc79bf0, 0x5fd0cf, 0xc8d0da,
	0x6b7684, 0xff8f94, 0x9ce8aa, 0xf5d98b, 0x8fc8fb, 0xdab6fb, 0x84e3e1, 0xf4f7fa,
}

// rgb is the colour of a slot; those behind the first 16 that neither the program nor the theme
// sets are as xterm.js has them by default.
func (c *colors) rgb(slot int) (r, g, b uint8) {
	for _, v := range [...]Color{c.set[slot], c.themed().color(slot)} {
		if r, g, b, ok := v.RGB(); ok {
			return r, g, b
		}
	}
	switch {
	case slot < 16:
		return uint8(ansi[slot] >> 16), uint8(ansi[slot] >> 8), uint8(ansi[slot])
	case slot < slotForeground:
		return PaletteRGB(uint8(slot))
	case behindText(slot):
		return 0, 0, 0
	case slot >= slotSpecial: // as the foreground
		return c.rgb(slotForeground)
	}
	return 0xff, 0xff, 0xff
}

// parseColor reads rgb:r/g/b and #rgb with 1 to 4 digits a channel (XParseColor(3)).
// The digits after # are the upper ones of a channel, those after rgb: a fraction.
func parseColor(spec string) (c Color, ok bool) {
	spec = strings.ToLower(spec)
	var parts []string
	rest, scaled := strings.CutPrefix(spec, "rgb:")
	if scaled {
		parts = strings.Split(rest, "/")
	} else if hex, ok := strings.CutPrefix(spec, "#"); ok && len(hex)%3 == 0 {
		n := len(hex) / 3
		parts = []string{hex[:n], hex[n : 2*n], hex[2*n:]}
	}
	if len(parts) != 3 {
		return 0, false
	}
	var v [3]uint8
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 16, 16)
		if err != nil || len(p) != len(parts[0]) || len(p) > 4 {
			return 0, false
		}
		bits := 4 * len(p)
		if scaled {
			v[i] = uint8(math.Round(float64(n) * 255 / float64(uint(1)<<bits-1)))
		} else {
			v[i] = uint8(n << 8 >> bits)
		}
	}
	return RGBColor(v[0], v[1], v[2]), true
}
