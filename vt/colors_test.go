package vt

import (
	"maps"
	"strings"
	"testing"
)

func TestColorQueries(t *testing.T) {
	tests := []struct{ setup, query, reply string }{
		{"", "\x1b]10;?\x1b\\", "\x1b]10;rgb:ffff/ffff/ffff\x1b\\"},
		{"", "\x1b]11;?\a", "\x1b]11;rgb:0000/0000/0000\x1b\\"},
		{"\x1b]12;#123456\a", "\x1b]12;?\a", "\x1b]12;rgb:1212/3434/5656\x1b\\"},
		{"", "\u009d4;1;?\u009c", "\x1b]4;1;rgb:cccc/0000/0000\x1b\\"},
		{"\x1b]4;200;rgb:f/8/0\a", "\x1b]4;200;?\a", "\x1b]4;200;rgb:ffff/8888/0000\x1b\\"},
		{"\x1b]4;200;#fff\a\x1b]104;200\a", "\x1b]4;200;?;244;?\a", "\x1b]4;200;rgb:ffff/0000/d7d7\x1b\\\x1b]4;244;rgb:8080/8080/8080\x1b\\"},
		{"", "\x1b]10;?;?;?\a", "\x1b]10;rgb:ffff/ffff/ffff\x1b\\\x1b]11;rgb:0000/0000/0000\x1b\\\x1b]12;rgb:ffff/ffff/ffff\x1b\\"},
	}
	for _, tt := range tests {
		in := tt.setup + tt.query + "b"
		for n := 1; n <= len(in); n++ {
			reply := ""
			r := newRecorder()
			r.fx.Reply = func(p []byte) { reply += string(p) }
			text := r.feed(in, n)
			if reply != tt.reply {
				t.Errorf("%q in pieces of %d: %q, want %q", in, n, reply, tt.reply)
			}
			if n == len(in) && text != tt.setup+"b" {
				t.Errorf("%q: viewers get %q", in, text)
			}
		}
	}
}

// TestColorQueriesKeepTheRest: only the questions are cut.
func TestColorQueriesKeepTheRest(t *testing.T) {
	for in, want := range map[string]string{
		"\x1b]4;1;?;2;#fff\a":   "\x1b]4;2;#fff\a",
		"\x1b]10;#111;?;#222\a": "\x1b]10;#111\a\x1b]12;#222\a",
		"\x1b]10;?;?;?;?\a":     "\x1b]13;?\a", // the fourth is nobody's
	} {
		r := newRecorder()
		if got := r.feed(in, len(in)); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func TestColors(t *testing.T) {
	r, f := newRecorder(), &Frame{}
	r.feed("\x1b]4;1;#102030;2;nonsense;256;#fff;-1;#fff;3;#fff\a\x1b]10;#fff;#000;#00f;#0f0\a\x1b]104;3;x\a\x1b]110\a", 7)
	r.labels.Freeze(f)
	if want := map[uint8]Color{1: RGBColor(0x10, 0x20, 0x30)}; !maps.Equal(f.Palette, want) {
		t.Errorf("palette %v, want %v", f.Palette, want)
	}
	if f.Foreground != 0 || f.Background != RGBColor(0, 0, 0) || f.CursorColor != RGBColor(0, 0, 0xf0) {
		t.Errorf("foreground %x, background %x, cursor %x", f.Foreground, f.Background, f.CursorColor)
	}
	r.feed("\x1b]104\a\x1b]111\a\x1b]112\a", 100)
	if r.labels.Freeze(f); f.Background != 0 || f.CursorColor != 0 || len(r.labels.colors) != 0 {
		t.Errorf("left: %v", r.labels.colors)
	}
}

// FuzzColor: a colour is read or refused, never a panic.
func FuzzColor(f *testing.F) {
	for _, s := range []string{"rgb:f/8/0", "#fff", "#ffffffffffff", "rgb:ffff/0/0", "#", "rgb://"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		if c, ok := parseColor(spec); ok {
			if _, _, _, rgb := c.RGB(); !rgb || !strings.ContainsAny(spec[:1], "rR#") {
				t.Fatalf("%q is %x", spec, c)
			}
		} else if c != Color(0) {
			t.Fatalf("%q is refused as %x", spec, c)
		}
	})
}
