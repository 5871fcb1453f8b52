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
		{"", "\u009d4;1;?\u009c", "\x1b]4;1;rgb:f0f0/7171/7878\x1b\\"},
		{"\x1b]4;200;rgb:f/8/0\a", "\x1b]4;200;?\a", "\x1b]4;200;rgb:ffff/8888/0000\x1b\\"},
		{"\x1b]4;200;#fff\a\x1b]104;200\a", "\x1b]4;200;?;244;?\a",
			"\x1b]4;200;rgb:ffff/0000/d7d7\x1b\\\x1b]4;244;rgb:8080/8080/8080\x1b\\"},
		{"", "\x1b]10;?;?;?\a",
			"\x1b]10;rgb:ffff/ffff/ffff\x1b\\\x1b]11;rgb:0000/0000/0000\x1b\\\x1b]12;rgb:ffff/ffff/ffff\x1b\\"},
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
		"\x1b]4;1;?;2;#fff\a":    "\x1b]4;2;#fff\a",
		"\x1b]10;#111;?;#222\a":  "\x1b]10;#111\a\x1b]12;#222\a",
		"\x1b]12;?;#111;?\a":     "", // what follows the cursor's is nobody's
		"\x1b]4;1;red;2;#fff\a":  "\x1b]4;2;#fff\a",
		"\x1b]4;256;#fff;2;#f\a": "",
		"\x1b]104;1;260;x\a":     "\x1b]104;1\a",
		"\x1b]104;1;2\a":         "\x1b]104;1;2\a",
		"\x1b]11;rgbi:1/0/0\a":   "\x1b]11;rgb:ff/13/0e\a", // viewers know no RGBi
	} {
		r := newRecorder()
		if got := r.feed(in, len(in)); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func TestColors(t *testing.T) {
	r, f := newRecorder(), &Frame{}
	r.feed("\x1b]4;1;#102030;2;nonsense;261;#fff;-1;#fff;3;#fff\a\x1b]10;#fff;#000;#00f\a\x1b]104;3;x\a\x1b]110\a", 7)
	r.labels.Freeze(f)
	if want := map[uint8]Color{1: RGBColor(0x10, 0x20, 0x30)}; !maps.Equal(f.Palette, want) {
		t.Errorf("palette %v, want %v", f.Palette, want)
	}
	if f.Foreground != 0 || f.Background != RGBColor(0, 0, 0) || f.CursorColor != RGBColor(0, 0, 0xf0) {
		t.Errorf("foreground %x, background %x, cursor %x", f.Foreground, f.Background, f.CursorColor)
	}
	r.feed("\x1b]104\a\x1b]111\a\x1b]112\a", 100)
	if r.labels.Freeze(f); f.Background != 0 || f.CursorColor != 0 || len(r.labels.colors.set) != 0 {
		t.Errorf("left: %v", r.labels.colors)
	}
}

// TestOtherColors: the colours of OSC 5 and OSC 13 to 19 are kept for queries.
func TestOtherColors(t *testing.T) {
	r, f := newRecorder(), &Frame{}
	r.feed("\x1b]5;0;#111\a\x1b]4;257;#222\a\x1b]13;#333\a\x1b]19;#444\a", 100)
	r.labels.Freeze(f)
	want := map[uint8]Color{7: RGBColor(0x10, 0x10, 0x10), 8: RGBColor(0x20, 0x20, 0x20), 0: RGBColor(0x30, 0x30, 0x30),
		6: RGBColor(0x40, 0x40, 0x40)}
	if !maps.Equal(f.OtherColors, want) || f.Palette != nil {
		t.Errorf("others %v, want %v; palette %v", f.OtherColors, want, f.Palette)
	}
	var again labels
	again.Resume(f)
	r.feed("\x1b]105;1\a\x1b]113\a", 100)
	left, resumed := &Frame{}, &Frame{}
	r.labels.Freeze(left)
	again.Freeze(resumed)
	if len(left.OtherColors) != 2 || !maps.Equal(resumed.OtherColors, want) {
		t.Errorf("left %v, resumed %v", left.OtherColors, resumed.OtherColors)
	}
}

// TestColorSpaces: what X11 makes of device independent colours.
func TestColorSpaces(t *testing.T) {
	for spec, want := range map[string]Color{
		"rgbi:1/1/1":         RGBColor(0xff, 0xff, 0xff),
		"rgbi:0.5/0.5/0.5":   RGBColor(0xc1, 0xbb, 0xbb),
		"rgbi:0/0/0":         RGBColor(0x09, 0x13, 0x0e),
		"ciexyz:1/1/1":       RGBColor(0xff, 0xff, 0xff),
		"ciexyz:0.5/0.5/0.5": RGBColor(0xdd, 0xb5, 0xa0),
		"cieuvy:0.5/0.5/0.5": RGBColor(0xff, 0xa3, 0xae),
		"ciexyy:0.5/0.5/0.5": RGBColor(0xf7, 0xb3, 0x0e),
		"cielab:1/1/1":       RGBColor(0x6c, 0x67, 0x67),
		"cielab:0.5/0.5/0.5": RGBColor(0x52, 0x4f, 0x4f),
		"cieluv:1/1/1":       RGBColor(0x16, 0x14, 0x0e),
		"tekhvc:1/1/1":       RGBColor(0x1a, 0x13, 0x0f),
		"tekhvc:0.5/0.5/0.5": RGBColor(0x11, 0x13, 0x0e),
		"cielab:100/0/0":     RGBColor(0xff, 0xff, 0xff),
	} {
		if got, ok := parseSpace(spec); !ok || got != want {
			t.Errorf("%s: %06x, %t; want %06x", spec, got, ok, want)
		}
	}
	for _, spec := range []string{
		"", "red", "rgbi:", "rgbi:1/1", "rgbi:1/1/1/1", "rgbi:a/b/c", "rgbi:NaN/1/1", "rgbi:1e300/1/1", "ciexyz:1/2/1",
		"cielab:101/0/0",
		"cieluv:0/1/1", "tekhvc:0/0/0", "tekhvc:1/1/-1", "cmyk:1/1/1",
	} {
		if got, ok := parseSpace(spec); ok {
			t.Errorf("%q is colour %06x", spec, got)
		}
	}
}

// FuzzColor: a colour is read or refused, never a panic.
func FuzzColor(f *testing.F) {
	for _, s := range []string{"rgb:f/8/0", "#fff", "#ffffffffffff", "rgb:ffff/0/0", "#", "rgb://", "tekhvc:1/1/1",
		"cieuvy:0/0/1"} {
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
		if c, ok := parseSpace(spec); ok {
			if _, _, _, rgb := c.RGB(); !rgb {
				t.Fatalf("%q is %x", spec, c)
			}
		}
	})
}
