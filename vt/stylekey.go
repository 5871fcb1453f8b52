package vt

// styleKey is a Style without pointers: its link is a number. The garbage collector
// has nothing to do with a table of them. It has few fields, so that one which is made,
// hashed and compared stays in registers.
type styleKey struct {
	colors uint64 // the text's in the upper half, the background's in the lower
	marks  uint64 // colour of the underline in the upper half, Attr times 256, Underline
	link   uint32
}

// key is s with the number of its link.
func (s *Style) key(link uint32) styleKey {
	return newStyleKey(s.FG, s.BG, s.Attr).underlined(s.Underline, s.UnderlineColor).linked(link)
}

// newStyleKey is a style without underline and link.
func newStyleKey(fg, bg Color, a Attr) styleKey {
	return styleKey{colors: uint64(fg)<<32 | uint64(bg), marks: uint64(a) << 8}
}

// underlined is l, which has no underline, with one.
func (l styleKey) underlined(u Underline, c Color) styleKey {
	l.marks |= uint64(c)<<32 | uint64(u)
	return l
}

// linked is l with another link.
func (l styleKey) linked(link uint32) styleKey {
	l.link = link
	return l
}

func (l styleKey) fg() Color            { return Color(l.colors >> 32) }
func (l styleKey) bg() Color            { return Color(l.colors) }
func (l styleKey) line() Color          { return Color(l.marks >> 32) }
func (l styleKey) attr() Attr           { return Attr(l.marks >> 8) }
func (l styleKey) underline() Underline { return Underline(l.marks) }

func (l styleKey) hash() uint32 {
	const mix = 0x9e3779b97f4a7c15
	h := l.colors * mix
	h ^= h >> 29
	h = (h ^ l.marks ^ uint64(l.link)<<40) * mix
	return uint32(h >> 32)
}
