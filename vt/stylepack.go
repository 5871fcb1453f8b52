package vt

import (
	"encoding/binary"
	"slices"
)

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

// packedKey is more than packKey ever writes, in bytes.
const packedKey = 24

// packKey appends the fields that differ between two keys, without links. Colours cost no branch
// that mixed ones mispredict: one that does not differ is overwritten.
func packKey(b []byte, old, l styleKey) []byte {
	at := len(b)
	b = slices.Grow(b, packedKey)[:at+packedKey]
	p := (*[packedKey]byte)(b[at:])
	p[0] = 0
	n := packColor(p, 1, packFG, old.fg(), l.fg())
	n = packColor(p, n, packBG, old.bg(), l.bg())
	if old.marks == l.marks {
		return b[:at+n]
	}
	n = packColor(p, n, packUnderlineColor, old.line(), l.line())
	if old.attr() != l.attr() {
		p[0] |= packAttr
		n += binary.PutUvarint(p[n:], uint64(l.attr()))
	}
	if old.underline() != l.underline() {
		p[0] |= packUnderline
		p[n] = byte(l.underline())
		n++
	}
	return b[:at+n]
}

// packLink appends a link to the packed style that begins at b[at].
func packLink(b []byte, at int, l Link) []byte {
	b[at] |= packLinked
	return packString(packString(b, l.ID), l.URI)
}

func packString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// packColor writes a colour at p[n:] and returns the end of it: 0 for the default, 1 and the index, or
// 2 and the channels. One that does not differ from the old one takes no room and no bit of p[0].
func packColor(p *[packedKey]byte, n int, bit byte, old, c Color) int {
	kind := uint32(c >> 24)
	index := kind & 1 * 16 // up to where the channels are
	binary.BigEndian.PutUint32(p[n:], kind<<24|uint32(c)&0xffffff<<index)
	size := 1 << (kind & 3)
	if old == c {
		size, bit = 0, 0
	}
	p[0] |= bit
	return n + size
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
