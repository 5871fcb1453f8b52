package vt10x

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/evertty/evertty/vt"
)

// Slots of the colours behind the palette of 256.
const (
	slotForeground = 256 + iota // OSC 10
	slotBackground              // OSC 11
	slotCursor                  // OSC 12
	slots
)

// colors are the colours a program changed; zero is unchanged.
type colors [slots]vt.Color

// setPalette implements OSC 4 ; index ; colour ; … A query is answered and cut;
// viewers still get the colours that were set beside it.
func (e *engine) setPalette(arg string) (cut bool) {
	var keep []byte
	for fields := strings.Split(arg, ";"); len(fields) > 1; fields = fields[2:] {
		if i, err := strconv.ParseUint(fields[0], 10, 8); err == nil && e.setColor(int(i), fields[1]) {
			cut = true
		} else {
			keep = fmt.Appendf(keep, "\x1b]4;%s;%s\a", fields[0], fields[1])
		}
	}
	return e.keepColors(cut, keep)
}

// setSpecial implements OSC 10, 11 and 12 ; colour ; … Further colours are for
// the numbers that follow.
func (e *engine) setSpecial(n int, arg string) (cut bool) {
	var keep []byte
	for spec := range strings.SplitSeq(arg, ";") {
		if slot := slotForeground + n - 10; slot < slots && e.setColor(slot, spec) {
			cut = true
		} else {
			keep = fmt.Appendf(keep, "\x1b]%d;%s\a", n, spec)
		}
		n++
	}
	return e.keepColors(cut, keep)
}

func (e *engine) keepColors(cut bool, keep []byte) bool {
	if cut {
		e.text.replace(e.end, keep...)
	}
	return cut
}

// setColor changes a colour, or answers when spec asks for it.
func (e *engine) setColor(slot int, spec string) (asked bool) {
	if spec != "?" {
		if c, ok := parseColor(spec); ok {
			e.colors[slot] = c
		}
		return false
	}
	osc := fmt.Sprintf("4;%d", slot)
	if slot >= slotForeground {
		osc = strconv.Itoa(10 + slot - slotForeground)
	}
	r, g, b := e.colors.rgb(slot)
	e.answer("\x1b]%s;rgb:%02x%02x/%02x%02x/%02x%02x\x1b\\", osc, r, r, g, g, b, b)
	return true
}

// reset implements OSC 104, 110, 111 and 112.
func (c *colors) reset(n int, arg string) {
	switch {
	case n >= 110:
		c[slotForeground+n-110] = 0
	case arg == "":
		clear(c[:slotForeground])
	default:
		for s := range strings.SplitSeq(arg, ";") {
			if i, err := strconv.ParseUint(s, 10, 8); err == nil {
				c[i] = 0
			}
		}
	}
}

// ansi are the first 16 colours as xterm.js shows them by default.
var ansi = [16]uint32{
	0x2e3436, 0xcc0000, 0x4e9a06, 0xc4a000, 0x3465a4, 0x75507b, 0x06989a, 0xd3d7cf,
	0x555753, 0xef2929, 0x8ae234, 0xfce94f, 0x729fcf, 0xad7fa8, 0x34e2e2, 0xeeeeec,
}

// rgb is the colour of a slot; unchanged ones as xterm.js has them by default.
func (c *colors) rgb(slot int) (r, g, b uint8) {
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
func parseColor(spec string) (c vt.Color, ok bool) {
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
	return vt.RGBColor(v[0], v[1], v[2]), true
}
