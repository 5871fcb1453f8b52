package snapshot

import (
	"strings"
	"testing"

	"github.com/evertty/evertty/vt"
)

func TestOpenTail(t *testing.T) {
	long := "\x1b]2;" + strings.Repeat("é", vt.MaxPending)
	for _, c := range []struct{ in, want, settled string }{
		{"", "", ""},
		{"text", "", ""},
		{"\x1b", "\x1b", "\x1b"},
		{"\x1b[", "\x1b[", "\x1b["},
		{"\x1b[6n", "", ""},
		{"\x1b[6n\x1b[1;", "\x1b[1;", "\x1b[1;"},
		{"\x1b[1\x07\n;2", "\x1b[1;2", "\x1b[1;2"},
		{"\x1b[1;\x18", "", ""},
		{"\x1b[1é", "", ""},
		{"\x1b[1<é", "\x1b[1<é", "\x1b[1<é"}, // 3C after a number: ignored to the end
		{"\x1b[1<m", "", ""},
		{"\x1b[ ", "\x1b[ ", "\x1b[ "},
		{"\x1b[ 1", "\x1b[ 1", "\x1b[ 1"},
		{"\x1b(", "\x1b(", "\x1b("},
		{"\x1b(0", "", ""},
		{"\x1b\x7f", "\x1b\x7f", "\x1b\x7f"},
		{"\x1b]2;half é", "\x1b]2;half é", "\x1b]2;half é"},
		{"\x1b]2;a\x07", "", ""},
		{"\x1b]2;a\u009c", "", ""},
		{"\x1b]4;1;?\x1b", "\x1b]4;1;?\x1b", "\x1b"},
		{"\x1b]4;1;?\x1b[", "\x1b[", "\x1b["},
		{"\u009b1", "\u009b1", "\u009b1"},
		{"\u009d2;x", "\u009d2;x", "\u009d2;x"},
		{"\x1bP1$", "\x1bP1$", "\x1bP1$"},
		{"\x1bP$qm", "\x1bP$qm", "\x1bP$qm"},
		{"\x1bP$qm\x1b\\", "", ""},
		{"\x1b_apc", "\x1b_apc", "\x1b_apc"},
		{"\x1b_apcé", "", ""}, // xterm.js ends it there
		{"\x1b]2;\xff", "", ""},
		{long, long[:vt.MaxPending-2], long[:vt.MaxPending-2]},
	} {
		got := string(openTail([]byte(c.in)))
		if got != c.want {
			t.Errorf("%.40q: got %.40q (%d bytes), want %.40q (%d)", c.in, got, len(got), c.want, len(c.want))
		}
		if s := string(settled([]byte(got))); s != c.settled {
			t.Errorf("%.40q: settled to %.40q, want %.40q", c.in, s, c.settled)
		}
	}
}

// TestOpenTailAgreesWithXterm: what openTail calls unfinished is unfinished for
// xterm.js, and nothing else is.
func TestOpenTailAgreesWithXterm(t *testing.T) {
	if testing.Short() {
		t.Skip("compares thousands of screens with xterm.js")
	}
	j := startJudge(t)
	r := newFrames(1)
	alphabet := []rune("[]P_^X(#?;:01<> $qmh\\\x07\x18\x1a\n\x7féé\x1b\u009b\u009d\u0090\u009c\u0085x")
	for range 2000 {
		text := []string{"", "\x1b[", "\x1bP", "\x1b]", "\x1b"}[r.IntN(5)]
		for range 1 + r.IntN(9) {
			text += string(alphabet[r.IntN(len(alphabet))])
		}
		x := j.ask(t, job{Cols: 10, Rows: 3, Writes: [][]byte{[]byte(text)}})[0]
		if open := len(openTail([]byte(text))) > 0; open != (x.Parser[:2] != "0:") {
			t.Errorf("%s: open %v, xterm.js is in state %s", show(text), open, x.Parser)
		}
	}
}
