package vt

import (
	"fmt"
	"slices"
)

// Theme is what a viewer draws where the program has set no colour. One that is 0 is the
// default: the page's in the palette, elsewhere xterm.js's. The zero value is dark.
type Theme struct {
	Foreground, Background, Cursor Color
	Palette                        [16]Color
}

// dark reports whether the background is nearer to black than to white, by its luma (ITU-R
// BT.601).
func (t *Theme) dark() bool {
	r, g, b, _ := t.Background.RGB() // black when it is 0
	return 299*int(r)+587*int(g)+114*int(b) < 1000*128
}

// scheme is the report of the colour scheme (contour, Dark and Light Mode detection).
func (t *Theme) scheme() []byte {
	kind := 2
	if t.dark() {
		kind = 1
	}
	return fmt.Appendf(nil, "\x1b[?997;%dn", kind)
}

// color is the colour of a slot, 0 when the theme leaves it open.
func (t *Theme) color(slot int) Color {
	switch {
	case slot < len(t.Palette):
		return t.Palette[slot]
	case slot < slotForeground, slot >= slotSpecial:
		return 0
	case slot == slotCursor && t.Cursor != 0:
		return t.Cursor
	case behindText(slot):
		return t.Background
	}
	return t.Foreground
}

// behindText reports whether a slot is as the background until a program sets it: OSC 11, 14, 16,
// 19.
func behindText(slot int) bool {
	return slices.Contains([]int{11, 14, 16, 19}, slot-slotForeground+10)
}
