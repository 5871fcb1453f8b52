package vt

import "testing"

func TestPen(t *testing.T) {
	p := PaletteColor
	tests := []struct {
		in   string
		want Style
	}{
		{"", Style{}},
		{"\x1b[1;2;3;5;7;8;9;53m",
			Style{Attr: Bold | Dim | Italic | Blink | Inverse | Invisible | Strikethrough | Overline}},
		{"\x1b[1;2;3;5;7;8;9;53m\x1b[22;23;25;27;28;29;55m", Style{}},
		{"\x1b[1;31;42m", Style{Attr: Bold, FG: p(1), BG: p(2)}},
		{"\x1b[31;42m\x1b[39;49m", Style{}},
		{"\x1b[97;107m", Style{FG: p(15), BG: p(15)}},
		{"\x1b[38;5;4;48;5;200m", Style{FG: p(4), BG: p(200)}},
		{"\x1b[38;2;0;0;4;1m", Style{FG: RGBColor(0, 0, 4), Attr: Bold}},
		{"\x1b[38:2::1:2:3;48:2:1:2:3m", Style{FG: RGBColor(1, 2, 3), BG: RGBColor(2, 3, 0)}},
		{"\x1b[38;5:7;1m", Style{FG: p(7), Attr: Bold}},
		{"\x1b[48:5:300m", Style{BG: p(300 & 0xff)}},
		{"\x1b[38;5m", Style{FG: p(0)}},
		{"\x1b[1;;31m", Style{FG: p(1)}},
		{"\x1b[4m", Style{Underline: UnderlineSingle}},
		{"\x1b[4:3;58;5;9m", Style{Underline: UnderlineCurly, UnderlineColor: p(9)}},
		{"\x1b[58;5;9m", Style{}},
		{"\x1b[58;5;9m\x1b[4m", Style{Underline: UnderlineSingle, UnderlineColor: p(9)}},
		{"\x1b[4;58;5;9m\x1b[59m", Style{Underline: UnderlineSingle, UnderlineColor: RGBColor(255, 255, 255)}},
		{"\x1b[4:3m\x1b[4:0m", Style{}},
		{"\x1b[4:9m", Style{Underline: UnderlineSingle}},
		{"\x1b[21m", Style{Underline: UnderlineDouble}},
		{"\x1b[21m\x1b[24m", Style{}},
		{"\x1b[31m\x1b[>4;2m\x1b[?1m", Style{FG: p(1)}},
		{"\x1b[1\"q", Style{Attr: Protected}},
		{"\x1b[1\"q\x1b[2\"q", Style{}},
		{"\x1b[1\"q\x1b[m", Style{}},
		{"\x1b]8;id=a:x=y;http://h\a\x1b[31m\x1b[m", Style{Link: Link{ID: "a", URI: "http://h"}}},
		{"\x1b]8;;http://h;x\a", Style{Link: Link{URI: "http://h;x"}}},
		{"\x1b]8;;http://h;x\a\x1b]8;;\a", Style{}},
	}
	for _, tt := range tests {
		r := newRecorder()
		r.feed(tt.in, 1)
		if got := r.pen.Style(); got != tt.want {
			t.Errorf("%q: %+v, want %+v", tt.in, got, tt.want)
		}
	}
}

// TestPenRestore: DECRC restores colours and attributes, but neither how an
// underline looks nor the link (xterm.js).
func TestPenRestore(t *testing.T) {
	r := newRecorder()
	r.feed("\x1b[1;31;4:3;58;5;9m", 100)
	saved := r.pen
	r.feed("\x1b[m\x1b[42;4:2;58;5;7m\x1b]8;;http://h\a", 100)
	r.pen.Restore(&saved)
	want := Style{
		Attr: Bold, FG: PaletteColor(1), Underline: UnderlineDouble, UnderlineColor: PaletteColor(7),
		Link: Link{URI: "http://h"},
	}
	if got := r.pen.Style(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestPenFreeze: an underline colour is kept while there is no underline.
func TestPenFreeze(t *testing.T) {
	r, f := newRecorder(), &Frame{}
	r.feed("\x1b[1;58;5;9m", 100)
	if r.pen.Freeze(f); f.Pen != (Style{Attr: Bold, UnderlineColor: PaletteColor(9)}) {
		t.Errorf("%+v", f.Pen)
	}
}

// TestStyleSGR: the parameters make the style again.
func TestStyleSGR(t *testing.T) {
	for _, in := range []string{"0", "0;1;2;3;5;7;8;9;53", "0;4", "0;4:2;38:5:1;48:2::1:2:3;58:5:9",
		"0;4:5;38:2::255:0:7"} {
		r := newRecorder()
		r.feed("\x1b[31;42;3;4m\x1b["+in+"m", 100)
		if s := r.pen.Style(); s.SGR() != in {
			t.Errorf("%s became %s", in, s.SGR())
		}
	}
}
