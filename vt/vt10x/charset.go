package vt10x

import (
	"strings"
	"unicode/utf8"

	"github.com/evertty/evertty/vt"
)

const ascii = 'B'

// charsets says what each set makes of ASCII characters (VT510, DEC Special
// Graphics and National Replacement Character Sets): the n-th character of from
// becomes the n-th of to. These are the sets of
// xterm.js, which shows the Dutch ĳ as i.
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

// translate returns t in the given set; t itself is not changed.
func translate(t []byte, set byte) []byte {
	table := charsets[set]
	out := make([]byte, 0, len(t)*utf8.UTFMax)
	for _, c := range t {
		if i := strings.IndexByte(table.from, c); i >= 0 {
			out = utf8.AppendRune(out, table.to[i])
		} else {
			out = append(out, c)
		}
	}
	return out
}

func (e *engine) resetCharsets() {
	e.charsets = vt.Charsets{G: [4]byte{ascii, ascii, ascii, ascii}}
	e.charset = ascii
}

// designate makes set the charset Gn (SCS, VT510); an unknown one changes nothing.
func (e *engine) designate(n uint8, set byte) {
	if _, ok := charsets[set]; !ok && set != ascii {
		return
	}
	e.charsets.G[n] = set
	if e.charsets.GL == n {
		e.charset = e.charsets.G[n]
	}
}

// invoke makes Gn the charset of what is printed (LS0 to LS3, ECMA-48 8.3.75).
func (e *engine) invoke(n uint8) {
	e.charsets.GL = n
	e.charset = e.charsets.G[n]
}
