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
	slots
)

// colors are the colours a program changed, by slot. The map stays nil until
// the first change: nearly no program makes one.
type colors map[int]Color

// osc applies OSC 4, 10, 11, 12, 104, 110, 111 and 112.
func (c *colors) osc(s *Stream, n int, arg string, fx *Effects) {
	switch {
	case n == 4:
		c.setPalette(s, arg, fx)
	case n >= 10 && n <= 12:
		c.setSpecial(s, n, arg, fx)
	default:
		c.reset(n, arg)
	}
}

// setPalette implements OSC 4 ; index ; colour ; … A query is answered and cut;
// viewers still get the colours that were set beside it.
func (c *colors) setPalette(s *Stream, arg string, fx *Effects) {
	var keep []byte
	cut := false
	for fields := strings.Split(arg, ";"); len(fields) > 1; fields = fields[2:] {
		if i, err := strconv.ParseUint(fields[0], 10, 8); err == nil && c.set(int(i), fields[1], fx) {
			cut = true
		} else {
			keep = fmt.Appendf(keep, "\x1b]4;%s;%s\a", fields[0], fields[1])
		}
	}
	if cut {
		s.Replace(keep...)
	}
}

// setSpecial implements OSC 10, 11 and 12 ; colour ; … Further colours are for
// the numbers that follow.
func (c *colors) setSpecial(s *Stream, n int, arg string, fx *Effects) {
	var keep []byte
	cut := false
	for spec := range strings.SplitSeq(arg, ";") {
		if slot := slotForeground + n - 10; slot < slots && c.set(slot, spec, fx) {
			cut = true
		} else {
			keep = fmt.Appendf(keep, "\x1b]%d;%s\a", n, spec)
		}
		n++
	}
	if cut {
		s.Replace(keep...)
	}
}

// set changes a colour, or answers when spec asks for it.
func (c *colors) set(slot int, spec string, fx *Effects) (asked bool) {
	if spec == "?" {
		fx.reply(c.report(slot))
		return true
	}
	if v, ok := parseColor(spec); ok {
		if *c == nil {
			*c = colors{}
		}
		(*c)[slot] = v
	}
	return false
}

// report answers for the colour of a slot.
func (c *colors) report(slot int) []byte {
	osc := fmt.Sprintf("4;%d", slot)
	if slot >= slotForeground {
		osc = strconv.Itoa(10 + slot - slotForeground)
	}
	r, g, b := c.rgb(slot)
	return fmt.Appendf(nil, "\x1b]%s;rgb:%02x%02x/%02x%02x/%02x%02x\x1b\\", osc, r, r, g, g, b, b)
}

// reset implements OSC 104, 110, 111 and 112.
func (c *colors) reset(n int, arg string) {
	switch {
	case n >= 110:
		delete(*c, slotForeground+n-110)
	case arg == "":
		for slot := range *c {
			if slot < slotForeground {
				delete(*c, slot)
			}
		}
	default:
		for s := range strings.SplitSeq(arg, ";") {
			if i, err := strconv.ParseUint(s, 10, 8); err == nil {
				delete(*c, int(i))
			}
		}
	}
}

// freeze writes the colours into f.
func (c colors) freeze(f *Frame) {
	f.Foreground, f.Background, f.CursorColor = c[slotForeground], c[slotBackground], c[slotCursor]
	for slot, v := range c {
		if slot < slotForeground {
			if f.Palette == nil {
				f.Palette = map[uint8]Color{}
			}
			f.Palette[uint8(slot)] = v
		}
	}
}

// thaw takes the colours of f.
func (c *colors) thaw(f *Frame) {
	*c = colors{}
	for slot, v := range map[int]Color{slotForeground: f.Foreground, slotBackground: f.Background, slotCursor: f.CursorColor} {
		if v != 0 {
			(*c)[slot] = v
		}
	}
	for i, v := range f.Palette {
		(*c)[int(i)] = v
	}
}

// thaw takes titles, directory and colours of f.
func (l *Labels) thaw(f *Frame) {
	l.Title, l.Icon, l.Cwd = f.Title, f.Icon, f.Cwd
	l.colors.thaw(f)
}

// Freeze writes titles, directory and colours into f.
func (l *Labels) Freeze(f *Frame) {
	f.Title, f.Icon, f.Cwd = l.Title, l.Icon, l.Cwd
	l.colors.freeze(f)
}

// ansi are the first 16 colours as xterm.js shows them by default.
var ansi = [16]uint32{
	0x2e3436, 0xcc0000, 0x4e9a06, 0xc4a000, 0x3465a4, 0x75507b, 0x06989a, 0xd3d7cf,
	0x555753, 0xef2929, 0x8ae234, 0xfce94f, 0x729fcf, 0xad7fa8, 0x34e2e2, 0xeeeeec,
}

// rgb is the colour of a slot; unchanged ones as xterm.js has them by default.
func (c colors) rgb(slot int) (r, g, b uint8) {
	if r, g, b, ok := c[slot].RGB(); ok {
		return r, g, b
	}
	level := func(v int) uint8 {
		if v == 0 {
			return 0
		}
		return uint8(55 + 40*v)
	}
	switch {
	case slot < 16:
		return uint8(ansi[slot] >> 16), uint8(ansi[slot] >> 8), uint8(ansi[slot])
	case slot < 232:
		return level((slot - 16) / 36), level((slot - 16) / 6 % 6), level((slot - 16) % 6)
	case slot < 256:
		v := uint8(8 + 10*(slot-232))
		return v, v, v
	case slot == slotBackground:
		return 0, 0, 0
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
