package snapshot

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/evertty/evertty/vt"
)

// erasedTrial is case number seed of TestErasedStreamsGoOn: what programs do, and in
// between halves of wide characters that are overwritten. There are no links, which
// xterm.js may forget, no ED 3 and no resizes.
func erasedTrial(seed uint64) trial {
	w := writer{Rand: rand.New(rand.NewPCG(seed, 13)), least: 1}
	w.cols, w.rows = 2+w.IntN(9), 1+w.IntN(6)
	tr := trial{stream: stream{cols: w.cols, rows: w.rows, scrollback: 1 + w.IntN(60), unicode: vt.Unicode11}}
	for range 3 + w.IntN(25) {
		w.cols, w.rows = tr.cols, tr.rows
		tok := token{text: w.halves()}
		if w.chance(50) {
			tok = w.token()
		}
		if tr.rows == 1 && (strings.Contains(tok.text, "47") || strings.Contains(tok.text, "1049")) {
			continue // xterm.js recycles the only row, which it still reads
		}
		if tok.cols == 0 && !strings.Contains(tok.text, "]8;") && !strings.Contains(tok.text, "[3J") &&
			!hugeNumber.MatchString(tok.text) {
			tr.tokens = append(tr.tokens, tok)
		}
	}
	return tr
}

// halves overwrites halves of wide characters in a pen that shows on erased cells, in a
// row or at its end, and has characters wrap for want of room.
func (w *writer) halves() string {
	var b strings.Builder
	b.WriteString(w.pick("\x1b[7m", "\x1b[4m", "\x1b[9;1;31m", "\x1b[53m", "\x1b[7;44m", "\x1b[4:3;58:5:9m",
		"\x1b[1\"q",
		""))
	b.WriteString(w.pick("", "", "\x1b[999G", "\x1b[999G\x1b[D", "\x1b[999G\x1b[2D", "\x1b[999;999H",
		"\x1b[999;999H\x1b[D", "\r", "\x1b[H"))
	if w.chance(15) { // a whole row, and the next one is free again
		b.WriteString("\r" + strings.Repeat("\u6f22\x1b[D", w.cols-2) + "\u6f22\x1b[999G\u6f22")
		b.WriteString(w.pick("\r\x1b[m\x1b[K", "\r\x1b[m\x1b[2X", "\x1b[A", "\x1b[T", "\r\x1b[A\x1b[m\x1b[9L", ""))
		return b.String()
	}
	for range 1 + w.IntN(3) {
		b.WriteString(w.pick("\u6f22\x1b[Dx", "\u6f22\x1b[D\u6f22", "\u6f22\x1b[2Dx", "\u6f22\x1b[D",
			"\u6f22\u6f22\x1b[3D\u6f22", "\u6f22\x1b[D\x1b[X", "\u6f22", "a\u6f22"))
	}
	b.WriteString(w.pick("", "\x1b[m", "\x1b[m", "\x1b[0;1m\x1b[0\"q", "\r\x1b[K", "\r\x1b[2X", "\x1b[S", "\x1b[T",
		"\x1b[L"))
	return b.String()
}

// TestErasedStreamsGoOn: a viewer may come anywhere in streams that leave many erased
// cells with more than a background. More cases:
//
//	go test ./snapshot -run TestErasedStreamsGoOn -cases 20000 -timeout 2h -v
func TestErasedStreamsGoOn(t *testing.T) {
	if testing.Short() {
		t.Skip("compares thousands of screens with xterm.js")
	}
	t.Parallel()
	j := startJudge(t)
	randomTrialsOf(t, j, few(300, 60), erasedTrial, checkDamage)
	t.Logf("%d cuts, %d missed; left out: %d streams in which xterm.js itself crashed", j.cuts, j.missed, j.crashes)
}
