package vt

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// recorder is a terminal without a screen: the layers that every engine is made
// of, and a log of what the stream said.
type recorder struct {
	stream
	pen      pen
	charsets charsetState
	labels   labels
	fx       Effects
	log      []string
	open     bool // the last entry of log is text that may go on
}

func newRecorder() *recorder {
	r := &recorder{}
	r.charsets.Reset()
	return r
}

func (r *recorder) add(format string, args ...any) {
	r.log, r.open = append(r.log, fmt.Sprintf(format, args...)), false
}

func (r *recorder) Print(text []byte, ascii bool) {
	if ascii && slices.ContainsFunc(text, func(c byte) bool { return c < ' ' || c > '~' }) {
		r.add("not ASCII:")
	}
	if !r.open {
		r.add("")
		r.open = true
	}
	r.log[len(r.log)-1] += string(text)
	r.Last, _ = utf8.DecodeLastRune(text)
}

func (r *recorder) Control(c rune) {
	if r.add("%02x", c); c == 0x05 {
		r.CutControl(c)
	}
}

func (r *recorder) Escape(f function) {
	r.add("ESC %s", f.name())
	r.charsets.Escape(f)
	if f == '\\' && r.EndsCut() {
		r.Cut()
	}
}

func (r *recorder) CSI(f function) {
	entry := "CSI " + f.name()
	for i := range r.Count() {
		if entry += fmt.Sprint(" ", r.Param(i)); len(r.Sub(i)) > 0 {
			entry += fmt.Sprint(r.Sub(i))
		}
	}
	r.add("%s", entry)
	switch f {
	case 'm':
		r.pen.SGR(&r.stream)
	case '"'*intermediate + 'q':
		r.pen.Protect(r.Param(0))
	case 'n':
		r.Cut()
	}
}

func (r *recorder) OSC(text []byte) {
	r.add("OSC %.20q", text)
	if link, ok := r.labels.OSC(&r.stream, text, &r.fx); ok {
		r.pen.SetLink(link)
	}
}

func (r *recorder) DCS(text []byte) { r.add("DCS %.20q", text) }

// name is f without what it lacks.
func (f function) name() string {
	return strings.ReplaceAll(string([]byte{byte(f >> 16), byte(f >> 8), byte(f)}), "\x00", "")
}

// feed writes in pieces of n bytes and returns the joined text.
func (r *recorder) feed(in string, n int) string {
	var text strings.Builder
	for part := range slices.Chunk([]byte(in), n) {
		text.Write(r.Write(part, r))
	}
	return text.String()
}

func TestStream(t *testing.T) {
	tests := []struct{ in, log string }{
		{"ab\ncé", "ab|0a|cé"},
		{"\x1b[1;22;;4m\x1b[m", "CSI m 1 22 0 4|CSI m 0"},
		{"\x1b[?25;7h\x1b[>c", "CSI ?h 25 7|CSI >c 0"},
		{"\x1b[38:2::1:2;4:3m", "CSI m 38[2 -1 1 2] 4[3]"},
		{"\x1b[1 q\x1b[!p\x1b[1$ q", "CSI  q 1|CSI !p 0|CSI  1"},
		{"\x1b[99999999999999999999A", "CSI A 2147483647"},
		{"\x1b[" + strings.Repeat("1;", maxParams) + "7m", "CSI m" + strings.Repeat(" 1", maxParams)},
		{"\x1b[1<m\x1b[1 2m\x1b[??mx", "x"},
		{"\x1b7\x1b(0\x1b#8\x1b( 0", "ESC 7|ESC (0|ESC #8|ESC "},
		{"\x1b[1\r2\nAx", "0d|0a|CSI A 12|x"},
		{"\x1b[1\x18A\x1b[1\x1aA", "18|A|1a|A"},
		{"\x1b[1\x1b[2A\x1b[3\u009b4B", "CSI A 2|CSI B 4"},
		{"\u009b1m\u0085\u009dx\u009c\u0090y\u009c", "CSI m 1|85|OSC \"x\"|DCS \"y\""},
		{"\x1b]2;a\x07\x1b]2;b\x1b\\\x1b]2;c\x1b[m", "OSC \"2;a\"|OSC \"2;b\"|ESC \\|OSC \"2;c\"|CSI m 0"},
		{"\x1b]2;é\nf\x07\x1bP1q\n\x07é\x1b\\", "OSC \"2;éf\"|DCS \"1q\\n\\aé\"|ESC \\"},
		{"\x1b]2;void\x18x\x1bPq\x1ay", "18|x|1a|y"},
		{"\x1b_apc\x1b\\\x1b^pm\u009c\x1bXsos\x1b\\x", "ESC \\|ESC \\|x"},
		{"\x1b[é1\x1b[\x7f2A\x7fx", "1|CSI A 2|x"},
		{"a\ufeffb\x1b[\ufeff1m", "ab|CSI m 1"},
		{"a\xff\xe2\x82b", "a\ufffd\ufffd\ufffdb"},
	}
	for _, tt := range tests {
		for n := 1; n <= len(tt.in); n++ {
			r := newRecorder()
			text, want := r.feed(tt.in, n), string([]rune(tt.in))
			data := strings.Contains(want, "\u0090") || strings.Contains(want, "\x1bP") ||
				strings.Contains(want, "\x1b_")
			if !data && text != want { // viewers get no string of data
				t.Errorf("%q in pieces of %d: text %q", tt.in, n, text)
			}
			if got := strings.Join(r.log, "|"); got != tt.log {
				t.Errorf("%q in pieces of %d:\ngot  %s\nwant %s", tt.in, n, got, tt.log)
			}
		}
	}
}

// What the recorder cuts are CSI n, ENQ and the query of a font, OSC 50 ; ?.
func TestStreamCuts(t *testing.T) {
	long := strings.Repeat("x", MaxString)
	tests := []struct {
		name   string
		chunks []string
		want   string
	}{
		{"whole", []string{"a\x1b[6nb"}, "ab"},
		{"the head is out", []string{"a\x1b[", "6nb"}, "a\x1b[\x18b"},
		{"all but the last byte is out", []string{"\x1b[6", "n"}, "\x1b[6\x18"},
		{"one of two", []string{"\x1b[6", "n\x1b[5nb"}, "\x1b[6\x18b"},
		{"executed controls stay", []string{"\x1b[\r6\nnb"}, "\r\nb"},
		{"and are not repeated", []string{"\x1b[\r", "6\nnb"}, "\x1b[\r\n\x18b"},
		{"a string and its ST", []string{"\x1b]50;?\x1b\\b"}, "b"},
		{"a string whose ST is late", []string{"\x1b]50;?", "\x1b\\b"}, "b"},
		{"one whose number is late", []string{"\x1b]5", "0;?\x1b\\b"}, "\x1b]5\x18b"},
		{"a string whose ST is cut in two", []string{"\x1b]50;?\x1b", "\\b"}, "\x1b\x18b"},
		{"the ESC of a cut string begins something else", []string{"\x1b]50;?\x1b[1mb"}, "\x1b[1mb"},
		{"a query that also ends a kept string", []string{"\x1b]2;t\x1b[6nb"}, "\x1b]2;t\x1b\x18b"},
		{"a query that also ends an unfinished sequence", []string{"\x1b[1\x1b[6nb"}, "\x1b[1\x1b\x18b"},
		{"ENQ", []string{"a\x05b"}, "ab"},
		{"ENQ in a sequence", []string{"\x1b[\r3\x051m\x1b[\x056n"}, "\x1b[\r31m\x1b[\x18"},
		{"a string too long", []string{"a\x1b]2;" + long + "\ab"}, "ab"},
		{"a string too long whose head is out", []string{"a\x1b]2;", long, long, "\x1b\\b"}, "a\x1b]2;\x18b"},
		{"a control sequence too long", []string{"a\x1b[" + strings.Repeat("0", MaxString) + "1\n1\fmb"}, "a\n\fb"},
		{"one that ends in a control", []string{"a\x1bP" + long + "\u0085b"}, "a\u0085b"},
	}
	for _, tt := range tests {
		r, text := newRecorder(), ""
		for _, c := range tt.chunks {
			text += r.feed(c, len(c))
		}
		if text != tt.want {
			t.Errorf("%s: %.200q, want %.200q", tt.name, text, tt.want)
		}
	}
}

func TestStreamPending(t *testing.T) {
	tests := []struct{ in, want string }{
		{"a", ""},
		{"a\x1b", "\x1b"},
		{"\x1b[3", "\x1b[3"},
		{"\x1b[3\r;\n4", "\x1b[3;4"},
		{"\x1b[3\x1b(", "\x1b("},
		{"\x1b[?1\x7f$", "\x1b[?1$"},
		{"\x1b]2;tit\x07", ""},
		{"\x1b]2;ti\nt", "\x1b]2;tit"},
		{"\x1b]2;tit\x1b", "\x1b"},
		{"\u009b1", "\u009b1"},
		{"\x1bPa\nb", "\x1bPa\nb"},
		{"\x1b]2;é\xc3", "\x1b]2;é"},
		{"\x1b]2;" + strings.Repeat("x", MaxString), "\x1b]" + strings.Repeat("0", MaxString-1)},
		{"\x1bPq" + strings.Repeat("x", MaxString), "\x1bPz" + strings.Repeat("0", MaxString-2)},
		{"\x1b]52;c;aGk", "\x1b]52;c;aGk"},
		{"\x1b[1\x18", ""},
	}
	for _, tt := range tests {
		r := newRecorder()
		r.feed(tt.in, 3)
		if got := string(r.Pending()); got != tt.want {
			t.Errorf("%.40q: pending %.40q, want %q", tt.in, got, tt.want)
		}
	}
}

// TestStreamLast: only the character printed right before is there to repeat.
func TestStreamLast(t *testing.T) {
	for in, want := range map[string]rune{"": 0, "aé": 'é', "a\x1b[": 'a', "a\x1b[m": 0, "a\n": 0, "a\x1b7": 0,
		"a\x1b]2;t\a": 0} {
		if r := newRecorder(); r.feed(in, len(in)+1) != in || r.Last != want {
			t.Errorf("%q: %q, want %q", in, r.Last, want)
		}
	}
}

func TestStreamReturnsItsInput(t *testing.T) {
	p := []byte("plain text, \x1b[31mred\x1b[m and é\r\n")
	if r := newRecorder(); &r.Write(p, r)[0] != &p[0] {
		t.Error("text without a cut was copied")
	}
}

// FuzzStream: how output is split shows neither in what the handler is told nor
// in the pending text, and the text is UTF-8 that holds no query any more.
func FuzzStream(f *testing.F) {
	for _, s := range []string{
		"a\x1b[6nb\x1b[3b", "\x1b]10;?;#fff\x1b\\x\x1b]4;1;?\a", "\x1bP$qm\x1b\\\x1b[?2026$p", "\x1b[38:2::1:2:3;4:3m",
		"\u009b1m\u0085\u009dx\u009c", "日本語😀e\u0301\xff\xe2\x82", "\x1b[1\r2\x05\x18\x1b[\x1b]50;?\x1b[n",
		"\x1b(0\x0e\ufeff\x7f",
	} {
		f.Add([]byte(s), uint8(0))
	}
	f.Fuzz(func(t *testing.T, in []byte, step uint8) {
		whole, pieces := newRecorder(), newRecorder()
		text, parts := whole.feed(string(in), len(in)+1), pieces.feed(string(in), int(step)%8+1)
		if !slices.Equal(whole.log, pieces.log) || string(whole.Pending()) != string(pieces.Pending()) ||
			whole.Held() != pieces.Held() || whole.Last != pieces.Last || whole.pen != pieces.pen {
			t.Fatalf("%q: %q, whole %q", in, pieces.log, whole.log)
		}
		for _, s := range []string{text, parts} {
			viewer := newRecorder()
			again := viewer.feed(s, len(s)+1)
			if withoutCAN(again) != withoutCAN(s) || !utf8.ValidString(s) {
				t.Fatalf("%q became %q, and that %q", in, s, again)
			}
			if Withheld(whole.Pending()) {
				continue // viewers have nothing of it, or its beginning
			}
			if string(viewer.Pending()) != string(whole.Pending()) || viewer.pen != whole.pen {
				t.Fatalf("a viewer of %q has %q pending, not %q", s, viewer.Pending(), whole.Pending())
			}
		}
	})
}

// withoutCAN is s without CAN, which ends for viewers what they get no more of, and does nothing outside of a sequence.
func withoutCAN(s string) string { return strings.ReplaceAll(s, "\x18", "") }
