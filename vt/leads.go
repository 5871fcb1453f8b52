package vt

import (
	"sync"
	"unicode/utf8"
)

// leads say what the beginning of a character tells about its cells, which is enough for most
// characters of most scripts. They are of one width table, immutable and safe for concurrent use.
type leads struct {
	// narrow is the size in UTF-8 of the characters that begin with the byte, at most 2, when all
	// have entryNarrow; else 0.
	narrow [256]uint8
	// blocks has for characters of three bytes, by the bits that the first two have of them, the
	// entry that all have; entryMixed when they differ.
	blocks [1 << (16 - widthBlockBits)]widthEntry
}

// entryMixed is no entry of a character.
const entryMixed widthEntry = widthEntryMask

// Made when the first terminal needs them: it takes a millisecond.
var (
	leads11          = sync.OnceValue(func() *leads { return leadsOf(&widths11) })
	leads15Graphemes = sync.OnceValue(func() *leads { return leadsOf(&widths15Graphemes) })
)

// leads returns the table's leads.
func (w *widths) leads() *leads {
	if w == &widths15Graphemes {
		return leads15Graphemes()
	}
	return leads11()
}

func leadsOf(w *widths) *leads {
	l := new(leads)
	for b := range utf8.RuneSelf {
		l.narrow[b] = 1
	}
	for b := 0xc2; b < 0xe0; b++ {
		if w.sameEntry(rune(b&0x1f)<<widthBlockBits) == entryNarrow {
			l.narrow[b] = 2
		}
	}
	for i := range l.blocks {
		l.blocks[i] = w.sameEntry(rune(i) << widthBlockBits)
	}
	return l
}

// sameEntry is the entry of all characters of the block from first on, entryMixed when they differ.
func (w *widths) sameEntry(first rune) widthEntry {
	for r := first; r < first+1<<widthBlockBits; r++ {
		if w.entry(r) != w.entry(first) {
			return entryMixed
		}
	}
	return w.entry(first)
}

// block is the entry of l.blocks for the character of three bytes that begins t; entryMixed when t begins
// with another.
func (l *leads) block(t []byte) widthEntry {
	if len(t) < 3 || t[0]&0xf0 != 0xe0 {
		return entryMixed
	}
	return l.blocks[int(t[0]&0xf)<<widthBlockBits|int(t[1]&widthBlockMask)]
}

// run measures the run of characters at the start of t that are as the one before them, which had the
// entry e and size bytes: count of them, at most limit, in n bytes. It may stop too early.
func (l *leads) run(t []byte, e widthEntry, size, limit int) (n, count int) {
	switch {
	case size == 3:
		for count < limit && l.block(t[n:]) == e {
			n += 3
			count++
		}
	case e == entryNarrow:
		for count < limit && n < len(t) && l.narrow[t[n]] > 0 {
			n += int(l.narrow[t[n]])
			count++
		}
	}
	return n, count
}
