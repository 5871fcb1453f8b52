package vt

//go:generate npm ci --ignore-scripts --prefix testdata/width --silent --no-audit --no-fund
//go:generate go run widthgen.go

import "unicode/utf8"

// join is what a character leaves for the one that follows: whether it joined
// the one before, how many cells the two take, and its grapheme break state
// (UAX #29). 0 means that nothing came before, or nothing that takes a cell.
// It says the same as the UnicodeCharProperties of xterm.js, in other bits.
type join uint32

const (
	joinJoins join = 1
	joinWidth join = 1 // shift
	joinBreak join = 3 // shift
	joinLost  join = 1 << 31
)

// What the characters of classNarrow and classWide leave, in both tables, when
// the character before does not prepend.
const (
	narrow join = 1 << joinWidth
	wide   join = 2 << joinWidth
)

// lostWide is left by a character of two cells that was dropped for want of room. What
// joins it is dropped too.
const lostWide = wide | joinLost

// lost reports whether the character was dropped.
func (j join) lost() bool { return j&joinLost != 0 }

// width is the number of cells, 0..2, of the character together with those it joined.
func (j join) width() int { return int(j >> joinWidth & 3) }

// joins reports whether the character belongs to the cell of the one before.
func (j join) joins() bool { return j&joinJoins != 0 }

// prepends reports whether any character that follows joins this one (UAX #29
// GB9b), even one of classNarrow or classWide. Such a character is rare and
// exists only in the 15-graphemes table.
func (j join) prepends() bool { return j>>joinBreak == join(breakPrepend) }

// graphemeBreak is the Grapheme_Cluster_Break property of UAX #29 as far as the
// addons look at it: control characters are breakOther.
type graphemeBreak uint8

const (
	breakOther graphemeBreak = iota
	breakPrepend
	breakExtend
	breakRegionalIndicator
	breakSpacingMark
	breakHangulL
	breakHangulV
	breakHangulT
	breakHangulLV
	breakHangulLVT
	breakZWJ
	breakExtPict
	breakMark // Unicode11 only: no cell of its own, joins whatever is before and leaves that one's state
	graphemeBreaks
)

const (
	joinAlways = 1<<breakExtend | 1<<breakZWJ | 1<<breakSpacingMark // GB9, GB9a
	joinAll    = 1<<graphemeBreaks - 1
	joinVT     = joinAlways | 1<<breakHangulV | 1<<breakHangulT // GB7
	joinT      = joinAlways | 1<<breakHangulT                   // GB8
	// GB6
	joinL = joinAlways | 1<<breakHangulL | 1<<breakHangulV | 1<<breakHangulLV | 1<<breakHangulLVT
)

// joinsAfter has for each state the set of those that join it (UAX #29). As in
// addon-unicode-graphemes, GB11 asks for no pictograph before the ZWJ.
var joinsAfter = [16]uint16{
	breakOther:             joinAlways,
	breakPrepend:           joinAll, // GB9b
	breakExtend:            joinAlways,
	breakRegionalIndicator: joinAlways | 1<<breakRegionalIndicator, // GB12, GB13
	breakSpacingMark:       joinAlways,
	breakHangulL:           joinL,
	breakHangulV:           joinVT,
	breakHangulT:           joinT,
	breakHangulLV:          joinVT,
	breakHangulLVT:         joinT,
	breakZWJ:               joinAlways | 1<<breakExtPict, // GB11
	breakExtPict:           joinAlways,
}

// widthEntry is what the table says of one character: its break property times
// two, plus one if it takes two cells.
type widthEntry uint8

const (
	entryNarrow widthEntry = iota
	entryWide
)

// width is the number of cells of a character with entryNarrow or entryWide.
func (e widthEntry) width() int { return 1 + int(e&1) }

// widthClass is how a character can be printed.
type widthClass uint8

const (
	// classNarrow and classWide are one and two cells, always. After a character
	// that does not prepend they never join and leave narrow and wide.
	classNarrow widthClass = iota
	classWide
	classOther // has to go through next
)

// widths is one width table: in two stages up to U+1FFFF, because nearly all
// text is there, and in ranges beyond. It is immutable and safe for concurrent use.
type widths struct {
	index  *[widthTableEnd >> widthBlockBits]uint8 // block of r >> widthBlockBits
	blocks string                                  // of 1 << widthBlockBits entries each, plus widthLetter
	high   []widthRange                            // from widthTableEnd on; all others are narrow
}

// widthRange gives all characters from first to last the same entry.
type widthRange struct {
	first, last rune
	entry       widthEntry
}

const (
	widthBlockBits = 6
	widthBlockMask = 1<<widthBlockBits - 1
	widthTableEnd  = 0x20000
	widthEntryMask = 31
	widthLetter    = '`' // makes an entry printable; no bit of widthEntryMask
)

// widthsOf returns the table of that name; any but Unicode15Graphemes is Unicode11.
//
// The facts are the answers of xterm.js 6.0.0 with addon-unicode11 0.9.0
// (UAX #11 as of Unicode 11) and with addon-unicode-graphemes 0.4.0 (UAX #11
// and UAX #29 as of Unicode 15). Ambiguous characters are narrow, U+FE0F makes
// a pictograph wide, two regional indicators are wide.
func widthsOf(u Unicode) *widths {
	if u == Unicode15Graphemes {
		return &widths15Graphemes
	}
	return &widths11
}

// class says how r can be printed. r is a code point, 0..U+10FFFF; controls
// have the class xterm.js would give them, were they printed.
func (w *widths) class(r rune) widthClass {
	return widthClass(min(w.entry(r), widthEntry(classOther)))
}

// next returns what r leaves when it follows a character that left before. It
// is xterm.js's UnicodeService.charProperties. before must be of the same table.
func (w *widths) next(r rune, before join) join {
	e := w.entry(r)
	if e <= entryWide && !before.prepends() {
		return narrow + join(e)<<joinWidth
	}
	return e.after(before)
}

func (w *widths) entry(r rune) widthEntry {
	i := uint32(r) >> widthBlockBits
	if i >= uint32(len(w.index)) {
		return w.highEntry(r)
	}
	return widthEntry(w.blocks[int(w.index[i])<<widthBlockBits|int(r&widthBlockMask)] & widthEntryMask)
}

// first is the entry of the first character of t, which is sound UTF-8, and its size.
func (w *widths) first(t []byte) (e widthEntry, size int) {
	var block, in byte // of the character; its last byte has where in the block it is
	switch c := t[0]; {
	case c < utf8.RuneSelf:
		return entryNarrow, 1
	case c < 0xe0:
		block, in, size = w.index[c&0x1f], t[1], 2
	case c < 0xf0:
		block, in, size = w.index[int(c&0xf)<<widthBlockBits|int(t[1]&widthBlockMask)], t[2], 3
	default:
		r, size := decodeSound(t)
		return w.entry(r), size
	}
	return widthEntry(w.blocks[int(block)<<widthBlockBits|int(in&widthBlockMask)] & widthEntryMask), size
}

func (w *widths) highEntry(r rune) widthEntry {
	for i := range w.high {
		if h := &w.high[i]; h.first <= r && r <= h.last {
			return h.entry
		}
	}
	return entryNarrow
}

// after is next for all entries.
func (e widthEntry) after(before join) join {
	kind, cells := graphemeBreak(e>>1), join(e&1)+1
	if kind == breakMark {
		if before == 0 {
			return 0
		}
		return before | joinJoins
	}
	if before == 0 || joinsAfter[before>>joinBreak&15]>>kind&1 == 0 {
		return join(kind)<<joinBreak | cells<<joinWidth
	}
	if kind == breakRegionalIndicator {
		// The pair is complete: a third one begins the next.
		return wide | joinJoins
	}
	return join(kind)<<joinBreak | max(cells, join(before.width()))<<joinWidth | joinJoins
}
