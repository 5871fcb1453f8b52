package vt10x

import (
	"slices"
	"testing"

	"github.com/evertty/evertty/vt"
)

// FuzzEngine: no input crashes or hangs the engine or makes a frame that cannot be stored, and what
// leaves it is the Terminal's.
func FuzzEngine(f *testing.F) {
	for _, s := range append(hostile()[:8],
		everything, "a\x1b[6nb\x1b[3b", "\x1b]10;?;#fff\x1b\\x\x1b]4;1;?\a", "\x1bP$qm\x1b\\\x1b[?2026$p",
		"abc\r\n\x1b[2;3r\n\n\x1b[L\x1b[M\x1b[S\x1b[T", "\x1b(0\x01qx\x0e\x1b)0\x0f\u009b1m\u0085\u009dx\u009c",
		"日本語😀e\u0301\xff\xe2\x82", "\x1b[38:2::1:2:3;4:3;58;5;1mx\x1b[0K\x1b#8", "\x1b[99\u4e49\x1b[9\n9I") {
		f.Add([]byte(s), uint8(10), uint8(4), uint8(1))
		f.Add([]byte(s), uint8(1), uint8(1), uint8(3))
	}
	f.Fuzz(func(t *testing.T, in []byte, cols, rows, step uint8) {
		if len(in) > 4096 {
			return
		}
		c, r, n := int(cols)%40+1, int(rows)%12+1, int(step)%64+1
		var s, s2 sink
		e := newEngine(c, r, &s)
		native := vt.New(vt.Config{Cols: c, Rows: r, Scrollback: testScrollback, Effects: s2.effects()})
		if a, b := feed(e, string(in), n), feed(native, string(in), n); a != b {
			t.Fatalf("text %q, want %q", a, b)
		}
		if !slices.Equal(s.log, s2.log) || s.replies.String() != s2.replies.String() {
			t.Fatalf("effects %q %q, want %q %q", s.log, s.replies.String(), s2.log, s2.replies.String())
		}
		check(t, e)
		e.Resize(r*3, c)
		e.Write(in)
		check(t, e)
		e.Write(in)
		check(t, e)
	})
}
