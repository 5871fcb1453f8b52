package vt

import "encoding/binary"

// Bits of the first byte of a packed style: which fields differ from the style
// before. Fields follow in this order.
const (
	packFG = 1 << iota
	packBG
	packUnderlineColor
	packAttr      // uvarint
	packUnderline // 1 byte
	packLinked    // uvarint length and bytes of the ID, then of the URI
	packKnown     = 1<<iota - 1
)

// packKey appends the fields that differ between two keys, without links.
func packKey(b []byte, old, l styleKey) []byte {
	at := len(b)
	b = append(b, 0)
	var mask byte
	if old.fg() != l.fg() {
		mask = packFG
		b = packColor(b, l.fg())
	}
	if old.bg() != l.bg() {
		mask |= packBG
		b = packColor(b, l.bg())
	}
	if old.line() != l.line() {
		mask |= packUnderlineColor
		b = packColor(b, l.line())
	}
	if old.attr() != l.attr() {
		mask |= packAttr
		b = binary.AppendUvarint(b, uint64(l.attr()))
	}
	if old.underline() != l.underline() {
		mask |= packUnderline
		b = append(b, byte(l.underline()))
	}
	b[at] = mask
	return b
}

// packLink appends a link to the packed style that begins at b[at].
func packLink(b []byte, at int, l Link) []byte {
	b[at] |= packLinked
	return packString(packString(b, l.ID), l.URI)
}

func packString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// packColor writes 0 for the default, 1 and the index, or 2 and the channels.
func packColor(b []byte, c Color) []byte {
	switch c &^ 0xffffff {
	case colorPalette:
		return append(b, 1, byte(c))
	case colorRGB:
		return append(b, 2, byte(c>>16), byte(c>>8), byte(c))
	}
	return append(b, 0)
}

// unpackStyle changes s by the packed style at the head of p.
func unpackStyle(p string, s *Style) (rest string, ok bool) {
	if p == "" || p[0]&^packKnown != 0 {
		return "", false
	}
	mask := p[0]
	p, ok = p[1:], true
	for _, c := range [...]struct {
		bit byte
		dst *Color
	}{{packFG, &s.FG}, {packBG, &s.BG}, {packUnderlineColor, &s.UnderlineColor}} {
		if mask&c.bit != 0 {
			if p, ok = unpackColor(p, c.dst); !ok {
				return "", false
			}
		}
	}
	if mask&packAttr != 0 {
		v, n := uvarint(p)
		if n <= 0 || v > 0xffff {
			return "", false
		}
		s.Attr, p = Attr(v), p[n:]
	}
	if mask&packUnderline != 0 {
		if p == "" || p[0] > byte(UnderlineDashed) {
			return "", false
		}
		s.Underline, p = Underline(p[0]), p[1:]
	}
	if mask&packLinked != 0 {
		if p, ok = unpackString(p, &s.Link.ID); ok {
			p, ok = unpackString(p, &s.Link.URI)
		}
	}
	return p, ok
}

func unpackString(p string, dst *string) (rest string, ok bool) {
	v, n := uvarint(p)
	if n <= 0 || v > uint64(len(p)-n) {
		return "", false
	}
	*dst = p[n : n+int(v)]
	return p[n+int(v):], true
}

func unpackColor(p string, c *Color) (rest string, ok bool) {
	if p == "" {
		return "", false
	}
	switch {
	case p[0] == 0:
		*c = 0
		return p[1:], true
	case p[0] == 1 && len(p) >= 2:
		*c = PaletteColor(p[1])
		return p[2:], true
	case p[0] == 2 && len(p) >= 4:
		*c = RGBColor(p[1], p[2], p[3])
		return p[4:], true
	}
	return "", false
}

// uvarint is binary.Uvarint for a string: n <= 0 when p is cut short or too long.
func uvarint(p string) (v uint64, n int) {
	for i := 0; i < len(p) && i < binary.MaxVarintLen32+1; i++ {
		v |= uint64(p[i]&0x7f) << (7 * i)
		if p[i] < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}
