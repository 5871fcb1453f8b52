package snapshot

import (
	"fmt"
	"testing"

	"github.com/evertty/evertty/vt"
)

// damageCases are what damaged streams brought to light, made small: size, and texts
// with resizes ("3x2") between them.
var damageCases = []struct {
	name       string
	cols, rows int
	steps      []string
}{
	{"more marks than a cell keeps", 19, 2, []string{"a" + marks(80) + "b\x1b[3b" + marks(4) + "\x1b[1m"}},
	{"a link closed over a pen that DECRC unlined", 4, 2, []string{"\x1b[4;7m\x1b8\x1b]8;;\x1b\\ab\x1b[31mc"}},
	{"an underline whose style OSC 8 took, saved", 6, 2,
		[]string{"\x1b[4m\x1b7\x1b[m\x1b8\x1b]8;;\x1b\\\x1b7\x1b[mx\x1b8yz\x1b[2;3H\x1b7\x1b8"}},
	{"a style that OSC 8 shows under no underline, saved", 6, 2,
		[]string{"\x1b7\x1b[4:3m\x1b8\x1b]8;;\x1b\\\x1b7\x1b[mx\x1b8yz"}},
	{"a wrap pending before a link and a recalled set", 3, 2, []string{"\x1b(0\x1b8cde\x1b]8;;[\x1b\\q\x1b(B"}},
	{"a recalled set on the alternate screen", 4, 3,
		[]string{"\x1b(0\x1b7\x1b(H\x1b[u\x1b[?47hqx\x1b[2;2Hx\x1b[?47lq"}},
	{"a recalled pen on the alternate screen", 4, 3, []string{"\x1b[4m\x1b7\x1b[m\x1b8\x1b[?47h\x1b[31m\x1b[?47lab"}},
	{"an alternate screen that was higher", 4, 4, []string{"a", "4x2", "\x1b[?47h\r\n\n\x1b7\r\n\nb\x1b8c\x1b[?47ld"}},
	{"a query inside of a sequence that fails", 3, 2, []string{"s\x1b\x05\xa4\ufe0f\ufe0fx"}},
	{"a mark behind the pending wrap", 4, 3,
		[]string{"abcd\x1b[m\u0301\x1bH\x1b7\u0301x\x1b[3;4Hy\x1b[m\u0301\ne\u0301", "9x3", "\t\x1b8z\tz"}},
	{"a saved cursor behind the pending wrap in the history", 4, 2,
		[]string{"abcd\x1b[m\u0301\x1b7\r\n\n\n\n", "7x2", "\x1b8x"}},
	{"DECALN over the ring of lines", 4, 3, []string{"1\r\n2\r\n3\r\n4\r\n5\r\n6\x1b[2;3r\x1b[?6h\x1b#8x"}},
	{"DECALN on the alternate screen with margins", 4, 3, []string{"\x1b[?47h1\r\n2\r\n3\x1b[2;3r\x1b[?6h\x1b#8x"}},
	{"a wide character without room and autowrap", 4, 2,
		[]string{"\x1b[?7labc\u6f22\u0301\u0301x\u6f22\x1b[2b\x1b[?6h\u6f22"}},
	{"half of a wide character overwritten without autowrap", 4, 2,
		[]string{"\x1b[?7lab\u6f22d\x1b[1;3H\u6f22\u0301e"}},
	{"ICH between the halves of a wide character", 8, 2,
		[]string{"\x1b[41ma\u6f22bc\x1b[1;3H\x1b[@\x1b[42mX\x1b[1;2HY"}},
	{"DECIC between the halves of wide characters", 8, 3,
		[]string{"\u6f22a\r\nb\u6f22\r\n\u6f22\x1b[2;2H\x1b[2'}\x1b[44mX"}},
	{"a wide character cut by the edge", 6, 3, []string{"abc\u6f22", "4x3", "\x1b[1;3Hx", "6x3", "\x1b[1;5Hy"}},
	{"REP after the columns changed", 6, 2, []string{"aaaa\u6f22", "5x2", "\x1b[2b\u0301x"}},
	{"an erased cell before a pending wrap", 4, 3,
		[]string{"\x1b[3;1Hb\x1b[2;1Hcdef\x1b[S\x1b[41m", "6x3", "\x1b[1;1Hx"}},
	{"an address with DEL", 4, 2, []string{"a\x1b]8;;\x7f\ab\x1b]8;;x\x7f;\x1b\\c"}},
	{"a mark after a resize that moved the cursor's row", 15, 8,
		[]string{"\x1b[6;13Habcdefghijklmnop\x1b8\u00a0 \u2764", "6x6", "\ufe0fa"}},
	{"cells that come back on the alternate screen", 20, 3,
		[]string{"\x1b[?47habcdefghijklmnopqrst", "19x5", "]x", "38x5", "y"}},
	{"a recalled pen before a set that was designated later", 8, 2, []string{"\x1b]8;;u\x1b[uabcd{|}~\x1b(0"}},
	{"an erased end of the only row, which wraps", 2, 1, []string{"\x1b[45;8mA\U0001f44d"}},
	{"a link whose line SU removed", 9, 3, []string{"\x1b]8;;u\x1b\\ab\x1b[2;1H\x1b[Scd\x1b[2;5Hef"}},
	{"a link whose line DL removed", 9, 3, []string{"\x1b]8;;u\x1b\\ab\x1b[Mcd\x1b]8;;v\x1b\\e"}},
	{"a link whose line ED erased", 9, 3, []string{"\x1b]8;;u\x1b\\ab\x1b[2;1H\x1b[1Jcd\x1b]8;;\x1b\\e"}},
	{"a link in two lines, one after the other erased", 9, 3,
		[]string{"\x1b]8;;u\x1b\\ab\x1b[3;1Hcd\x1b[2;1H\x1b[1Jef\x1b[1;2H\x1b[Jgh"}},
	{"a link that was opened on the alternate screen", 9, 3, []string{"\x1b[?47h\x1b]8;;u\x1b\\ab\x1b[?47lcd"}},
	{"a link that was opened below the alternate screen", 9, 3,
		[]string{"\x1b]8;;u\x1b\\ab\x1b[?47hcd\x1b[2J\x1b[?47lef"}},
	{"a link over a wrapped line that left the screen", 4, 2,
		[]string{"\x1b]8;;u\x1b\\abcdefghijklmnopqrstuvwx\x1b[2Jy"}},
	{"a link over a paragraph that became wider", 22, 2,
		[]string{"\x1bE\x1b]8;;m\x1b\\aa_#[]aaaaaaaaaaaa_[aa[", "21x4", "\a\x1b[2Jx"}},
	{"a link over a paragraph that became narrower", 9, 4,
		[]string{"\x1b]8;;m\x1b\\abcdefghijk\r\n\nx", "5x4", "y\x1b[1Jz", "12x5", "\x1b[2Jq"}},
	{"an open link that DECRC hides", 9, 3, []string{"\x1b]8;;m\x1b\\\x1b[uabcdefghijk\x1b[1Jx\x1b[4my"}},
	{"a link that begins over what it wrapped from", 5, 3, []string{"\x1b[2Habcdefg\x1b[G\x1b]8;;m\x1b\\x\x1b[1Jy"}},
	{"one character of a link in a row of its own", 3, 6, []string{" j\x1b]8;; \x1bCD)Xwx\x1b[2;3H\x1b[1J\x1b[5Hy"}},
	{"one wide character of a link in a row of its own", 3, 6,
		[]string{" j\x1b]8;; \x1bCD)Xw\u6f22\x1b[2;3H\x1b[1J\x1b[5Hy"}},
	{"a link opened below a blank alternate screen", 2, 3, []string{"\x1b]8;;Z\x1b\\\x1b[9H\x1b[?47h\x1b[2Jx"}},
	{"links with one address, of which the last is open", 9, 4,
		[]string{"\x1b]8;;m\x1b\\ab\x1b]8;;\x1b\\\r\n\x1b]8;;m\x1b\\cd\r\nef\x1b[2;9H\x1b[1Jg\x1b[4H\x1b[1Jh"}},
	{"a link whose line SU removed on the alternate screen", 9, 3,
		[]string{"\x1b[?1049h\x1b]8;;h\x1b\\\x1b[S;\u0301a\x1b[?1049lb"}},
	{"a link whose line left the alternate screen", 9, 4,
		[]string{"\x1b[?1049h\x1b]8;;h\x1b\\\n\n\n\n\n\n\n\n\n\n\n\n ;", "51x18", "a"}},
	{"a link whose line ED erased on the alternate screen", 9, 3,
		[]string{"\x1b[?47h\x1b]8;;h\x1b\\ab\x1b[2J\u0301c\x1b[2Jd\x1b[2J\x1b[?47le"}},
	{"a link below the alternate screen that is forgotten there", 9, 3,
		[]string{"\x1b]8;;h\x1b\\\x1b[2J\x1b[?47ha\x1b[?47lb\x1b[?47hc\x1b[2Jd"}},
	{"a link that DECRC hides and SGR shows in another line", 9, 3,
		[]string{"\x1b7\x1b]8;;h\x1b\\a\x1b[3Hb\x1b8\x1b[2Hc\x1b[4md\x1b[3H\x1b[1Je\x1b[2J\x1b[2Hf"}},
	{"a link in a line that a region left", 9, 4,
		[]string{"\x1b[2;3r\x1b[3H\x1b]8;;h\x1b\\ab\n\n\x1b[2;3Hc\x1b[3H\x1b[Md\x1b[2H\x1bM\x1bMe"}},
	{"a link with an ID whose lines are gone", 9, 3, []string{"\x1b]8;id=1;h\x1b\\ab\x1b[2Jc\x1b[?47hd\x1b[2Je"}},
	{"a first row that continues one that is gone", 3, 3,
		[]string{"abcde\x1b[H\x1b[M\x1b[Lx\x1b[?47habcde\x1b[H\x1b[M\x1b[Ly"}},
}

// marks are n characters without width.
func marks(n int) string {
	out := make([]rune, n)
	for i := range out {
		out[i] = rune(0x300 + i%0x20)
	}
	return string(out)
}

// TestDamageCasesGoOn is TestDamagedStreamsGoOn with small streams, cut at every byte, or at every
// third under the race detector.
func TestDamageCasesGoOn(t *testing.T) {
	if testing.Short() {
		t.Skip("compares thousands of screens with xterm.js")
	}
	t.Parallel()
	j := startJudge(t)
	for _, c := range damageCases {
		tr := trial{stream: stream{cols: c.cols, rows: c.rows, scrollback: 3, unicode: vt.Unicode11}}
		for _, s := range c.steps {
			var tok token
			if n, _ := fmt.Sscanf(s, "%dx%d", &tok.cols, &tok.rows); n < 2 {
				tok = token{text: s}
			}
			tr.tokens = append(tr.tokens, tok)
		}
		jb := resumed(engineUnderTest, tr, few(1, 3))
		for _, m := range j.resume(t, jb) {
			t.Errorf("%s: cut at byte %d, seen at the %s: %q\nsnapshot %q", c.name, jb.heads[m.Cut], m.When, m.What,
				jb.Cuts[m.Cut].ANSI)
		}
	}
}
