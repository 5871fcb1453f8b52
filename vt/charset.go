package vt

import (
	"slices"
	"unicode/utf8"
)

// usASCII is the final byte of the set that changes nothing.
const usASCII = 'B'

// charsets says what each set makes of ASCII characters (VT510, DEC Special
// Graphics and National Replacement Character Sets): the n-th character of from
// becomes the n-th of to. These are the sets of xterm.js, which shows the Dutch
// ĳ as i.
var charsets = map[byte]struct {
	from string
	to   []rune
}{
	'0': {"`abcdefghijklmnopqrstuvwxyz{|}~", []rune("◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·")},
	'A': {"#", []rune("£")},
	'4': {"#@[\\]{|}~", []rune("£¾i½|¨f¼´")},
	'C': {"[\\]^`{|}~", []rune("ÄÖÅÜéäöåü")},
	'5': {"[\\]^`{|}~", []rune("ÄÖÅÜéäöåü")},
	'R': {"#@[\\]{|}~", []rune("£à°ç§éùè¨")},
	'Q': {"@[\\]^`{|}~", []rune("àâçêîôéùèû")},
	'K': {"@[\\]{|}~", []rune("§ÄÖÜäöüß")},
	'Y': {"#@[\\]`{|}~", []rune("£§°çéùàòèì")},
	'E': {"@[\\]^`{|}~", []rune("ÄÆØÅÜäæøåü")},
	'6': {"@[\\]^`{|}~", []rune("ÄÆØÅÜäæøåü")},
	'Z': {"#@[\\]{|}", []rune("£§¡Ñ¿°ñç")},
	'H': {"@[\\]^`{|}~", []rune("ÉÄÖÅÜéäöåü")},
	'7': {"@[\\]^`{|}~", []rune("ÉÄÖÅÜéäöåü")},
	'=': {"#@[\\]^_`{|}~", []rune("ùàéçêîèôäöüû")},
}

// charsetTables has the character of every set for every ASCII code.
var charsetTables = func() map[byte]*[utf8.RuneSelf]rune {
	tables := map[byte]*[utf8.RuneSelf]rune{}
	for final, set := range charsets {
		t := new([utf8.RuneSelf]rune)
		for c := range t {
			t[c] = rune(c)
		}
		for i := range len(set.from) {
			t[set.from[i]] = set.to[i]
		}
		tables[final] = t
	}
	return tables
}()

// charsetState is the designated character sets and the one in force. Reset
// makes it ready.
type charsetState struct {
	Charsets
	inForce byte // after DECRC not always one of G
	buf     []byte
}

// Reset designates US ASCII everywhere.
func (c *charsetState) Reset() {
	c.Charsets = Charsets{G: [4]byte{usASCII, usASCII, usASCII, usASCII}}
	c.inForce = usASCII
}

// ASCII reports whether characters are printed as they come.
func (c *charsetState) ASCII() bool { return c.inForce == usASCII }

// InForce is the final byte of the set that characters are printed in.
func (c *charsetState) InForce() byte { return c.inForce }

// Freeze writes the sets into f.
func (c *charsetState) Freeze(f *Frame) {
	if f.Charsets = c.Charsets; c.inForce != c.G[c.GL] {
		f.Invoked = c.inForce
	}
}

// load takes the sets of f, where 0 is US ASCII.
func (c *charsetState) load(f *Frame) {
	c.Reset()
	for i, set := range f.Charsets.G {
		c.Designate(uint8(i), set)
	}
	c.Invoke(f.Charsets.GL)
	if f.Invoked != 0 {
		c.Restore(f.Invoked)
	}
}

// printing is c with set in the place of the invoked one.
func (c Charsets) printing(set byte) Charsets {
	c.G[c.GL] = set
	return c
}

// Restore puts a set in force that was saved by DECSC; 0 is US ASCII.
func (c *charsetState) Restore(set byte) {
	if c.inForce = set; set == 0 {
		c.inForce = usASCII
	}
}

// Designate makes set the charset Gn (SCS, VT510), and reports whether there is one. An
// unknown one changes nothing.
func (c *charsetState) Designate(n uint8, set byte) bool {
	if _, ok := charsets[set]; !ok && set != usASCII {
		return false
	}
	c.G[n] = set
	if c.GL == n {
		c.inForce = set
	}
	return true
}

// Invoke makes Gn the charset of printed characters (LS0 to LS3, ECMA-48 8.3.75).
func (c *charsetState) Invoke(n uint8) {
	c.GL = n
	c.inForce = c.G[n]
}

// DesignateAll makes set every charset.
func (c *charsetState) DesignateAll(set byte) {
	for n := range c.G {
		c.Designate(uint8(n), set)
	}
}

// lockingShifts are LS2, LS3, LS3R, LS2R and LS1R, and the sets that they invoke.
var lockingShifts = map[function]uint8{'n': 2, 'o': 3, '|': 3, '}': 2, '~': 1}

// designators are the intermediate characters that designate a set, and which one.
var designators = map[function]uint8{'(': 0, ')': 1, '-': 1, '*': 2, '.': 2, '+': 3}

// Escape executes f when it designates or invokes a set, and reports whether it
// did (ECMA-35 14; VT510 SCS; ECMA-48 8.3.78 to 8.3.82).
func (c *charsetState) Escape(f function) bool {
	if n, ok := lockingShifts[f]; ok {
		c.Invoke(n)
		return true
	}
	n, ok := designators[f/intermediate]
	return ok && c.Designate(n, byte(f))
}

// Character is r in the set in force.
func (c *charsetState) Character(r rune) rune {
	if table := charsetTables[c.inForce]; table != nil && r < utf8.RuneSelf {
		return table[r]
	}
	return r
}

// Translate returns text in the set in force. The result is valid until the next
// call; text is not changed.
func (c *charsetState) Translate(text []byte) []byte {
	table := charsetTables[c.inForce]
	if table == nil {
		return text
	}
	c.buf = c.buf[:0]
	for _, b := range text {
		if b < utf8.RuneSelf {
			c.buf = utf8.AppendRune(c.buf, table[b])
		} else {
			c.buf = append(c.buf, b)
		}
	}
	return c.buf
}

// Untranslate returns the text that shows as text while set is in force, and false
// when none does. 0 is US ASCII.
func Untranslate(set byte, text string) (string, bool) {
	table := charsetTables[set]
	if table == nil {
		return text, true
	}
	out := make([]rune, 0, len(text))
	for _, want := range text {
		c := want
		if c < utf8.RuneSelf && table[c] != c {
			if c = rune(slices.Index(table[:], want)); c < 0 {
				return "", false
			}
		}
		out = append(out, c)
	}
	return string(out), true
}
