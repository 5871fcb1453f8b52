package vt10x

import (
	"reflect"
	"testing"
)

// FuzzEngine: no input panics or contradicts itself; how it is split does not
// show in the state; a viewer that gets the text has the same state, and is
// asked nothing.
func FuzzEngine(f *testing.F) {
	for _, s := range []string{
		everything, "a\x1b[6nb\x1b[3b", "\x1b]10;?;#fff\x1b\\x\x1b]4;1;?\a", "\x1bP$qm\x1b\\\x1b[?2026$p",
		"abc\r\n\x1b[2;3r\n\n\x1b[L\x1b[M\x1b[S\x1b[T",
		"\x1b(0qx\x0e\x1b)0\x0f\u009b1m\u0085\u009dx\u009c", "日本語😀e\u0301\xff\xe2\x82",
		"\x1b[38:2::1:2:3;4:3;58;5;1mx\x1b[0K\x1b#8",
		"\x1b[99999b\x1b[9999;9999H\x1b[99999L\x1b[9\n9I", "\x1b7\x1b[?1049h\x1b8\x1b[!p\x1bc\x1b[4habc\r\x1b[?7l",
		"\x1b[1\"qab\x1b[?1J\x1b['}\x1b[2 @",
	} {
		f.Add([]byte(s), uint8(10), uint8(4), uint8(1))
		f.Add([]byte(s), uint8(1), uint8(1), uint8(3))
	}
	f.Fuzz(func(t *testing.T, in []byte, cols, rows, step uint8) {
		if len(in) > 4096 {
			return
		}
		c, r, n := int(cols)%40+1, int(rows)%12+1, int(step)%64+1
		var s sink
		whole := newEngine(c, r, &s)
		text := string(whole.Write(in))
		check(t, whole)
		follow(t, whole, text)

		var s2 sink
		pieces := newEngine(c, r, &s2)
		parts := feed(pieces, string(in), n)
		check(t, pieces)
		follow(t, pieces, parts)
		if a, b := whole.Freeze(), pieces.Freeze(); !reflect.DeepEqual(a, b) {
			t.Fatalf("%q in pieces of %d: %+v, whole: %+v", in, n, b, a)
		}
		if whole.Held() != pieces.Held() || s.replies.String() != s2.replies.String() ||
			!reflect.DeepEqual(s.log, s2.log) {
			t.Fatalf("%q in pieces of %d: %q %q, whole: %q %q", in, n, s2.log, s2.replies.String(), s.log,
				s.replies.String())
		}

		pieces.Resize(r*3, c)
		pieces.Write(in)
		check(t, pieces)
	})
}
