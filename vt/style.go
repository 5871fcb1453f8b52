package vt

// Color is a colour of a cell: the default, one of the palette of 256, or red,
// green and blue. The zero value is the default colour.
type Color uint32

const (
	colorPalette Color = 1 << 24
	colorRGB     Color = 2 << 24
)

// PaletteColor is colour i of the 256 (0..15 ANSI, 16..231 cube, 232..255 grey).
func PaletteColor(i uint8) Color { return colorPalette | Color(i) }

// PaletteRGB is what xterm shows for colour i of the 256, from 16 on (256colres.h): a cube of 6 by 6 by
// 6 colours, and 24 greys. Themes differ in the first 16.
func PaletteRGB(i uint8) (r, g, b uint8) {
	if i >= 232 {
		grey := 8 + 10*(i-232)
		return grey, grey, grey
	}
	levels := [6]uint8{0, 95, 135, 175, 215, 255}
	i -= min(i, 16)
	return levels[i/36], levels[i/6%6], levels[i%6]
}

// RGBColor is a direct colour.
func RGBColor(r, g, b uint8) Color {
	return colorRGB | Color(r)<<16 | Color(g)<<8 | Color(b)
}

// Palette returns the palette index, and false when c is not of the palette.
func (c Color) Palette() (uint8, bool) { return uint8(c), c&^0xffffff == colorPalette }

// RGB returns the channels, and false when c is not a direct colour.
func (c Color) RGB() (r, g, b uint8, ok bool) {
	return uint8(c >> 16), uint8(c >> 8), uint8(c), c&^0xffffff == colorRGB
}

// Attr is a set of the on/off attributes of a cell.
type Attr uint16

// The attributes of SGR (ECMA-48 8.3.117) and DECSCA (VT510).
const (
	Bold Attr = 1 << iota
	Dim
	Italic
	Blink
	Inverse
	Invisible
	Strikethrough
	Overline
	Protected // DECSCA 1: selective erase leaves the cell alone
)

// Underline is the style of SGR 4:n. The zero value is no underline.
type Underline uint8

// The underline styles of SGR 4:1 to 4:5 (xterm ctlseqs, kitty).
const (
	UnderlineNone Underline = iota
	UnderlineSingle
	UnderlineDouble
	UnderlineCurly
	UnderlineDotted
	UnderlineDashed
)

// Link is an OSC 8 hyperlink. The zero value is no link. Cells with the same
// ID and URI belong to one link.
type Link struct{ ID, URI string }

// Style is everything about a cell but its text. Styles are comparable, and the
// zero value is the style after SGR 0 without link or protection.
type Style struct {
	FG, BG         Color
	UnderlineColor Color
	Attr           Attr
	Underline      Underline
	Link           Link
}
