package vt10x

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/evertty/evertty/vt"
)

// sink collects what leaves an engine.
type sink struct {
	replies strings.Builder
	log     []string
}

func (s *sink) effects() *vt.Effects {
	add := func(format string, args ...any) { s.log = append(s.log, fmt.Sprintf(format, args...)) }
	return &vt.Effects{
		Reply:     func(p []byte) { s.replies.Write(p) },
		Bell:      func() { add("bell") },
		Title:     func(t string) { add("title %s", t) },
		Cwd:       func(host, p string) { add("cwd %s:%s", host, p) },
		Clipboard: func(sel string, d []byte) { add("clipboard %s %s", sel, d) },
		Notify:    func(n vt.Notification) { add("notify %s/%s", n.Title, n.Body) },
		Prompt:    func(m vt.PromptMark) { add("mark %c %d", m.Kind, m.Exit) },
	}
}

// testScrollback is how many lines of history newEngine keeps.
const testScrollback = 100

func newEngine(cols, rows int, s *sink) *engine {
	if s == nil {
		s = &sink{}
	}
	return New(vt.Config{Cols: cols, Rows: rows, Scrollback: testScrollback, Effects: s.effects()}).(*engine)
}

// feed writes in pieces of n bytes and returns the joined text.
func feed(e vt.Engine, in string, n int) string {
	var text strings.Builder
	for len(in) > 0 {
		k := min(n, len(in))
		text.Write(e.Write([]byte(in[:k])))
		in = in[k:]
	}
	return text.String()
}

// texts are the lines' texts; a wrapped line begins with '~'.
func texts(lines []vt.Line) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		if out[i] = l.Text(); l.Wrapped() {
			out[i] = "~" + out[i]
		}
	}
	return out
}

// check fails the test when the engine shows what no frame may hold.
func check(t testing.TB, e *engine) {
	t.Helper()
	f := e.Freeze()
	screens := []*vt.Screen{&f.Main}
	if f.Alt != nil {
		screens = append(screens, f.Alt)
	}
	for _, s := range screens {
		if s.X < 0 || s.X >= f.Cols || s.Y < 0 || s.Y >= f.Rows || s.Top < 0 || s.Top > s.Bottom || s.Bottom >= f.Rows {
			t.Fatalf("cursor %d,%d region %d..%d of %dx%d", s.X, s.Y, s.Top, s.Bottom, f.Cols, f.Rows)
		}
		if len(s.Lines) != f.Rows {
			t.Fatalf("%d lines in %d rows", len(s.Lines), f.Rows)
		}
		for _, l := range s.Lines {
			if _, err := vt.ParseLine(l.Packed(), l.Wrapped(), f.Cols); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(f.Pending) > vt.MaxPending || !utf8.Valid(f.Pending) || f.History.Len() > testScrollback {
		t.Fatalf("%d bytes pending, %d lines of history", len(f.Pending), f.History.Len())
	}
}

func TestHistory(t *testing.T) {
	const abc = "a\r\nb\r\nc" // fills the three rows
	tests := []struct {
		name, in string
		history  []string
		screen   []string
	}{
		{"no scrolling", abc, nil, []string{"a", "b", "c"}},
		{"LF", abc + "\n", []string{"a"}, []string{"b", "c", ""}},
		{"VT and FF", abc + "\v\f", []string{"a", "b"}, []string{"c", "", ""}},
		{"IND", abc + "\x1bD", []string{"a"}, []string{"b", "c", ""}},
		{"NEL", abc + "\x1bE", []string{"a"}, []string{"b", "c", ""}},
		{"IND and NEL in 8 bits", abc + "\u0084\u0085", []string{"a", "b"}, []string{"c", "", ""}},
		{"autowrap", abc + "defg", []string{"a"}, []string{"b", "cdef", "~g"}},
		{"a full last line does not scroll yet", abc + "def", nil, []string{"a", "b", "cdef"}},
		{"no autowrap", "\x1b[?7l" + abc + "defgh", nil, []string{"a", "b", "cdeh"}},
		{"REP", abc + "\x1b[8b", []string{"a", "b"}, []string{"cccc", "~cccc", "~c"}},
		{"LF above the bottom", abc + "\x1b[1;1H\n\n", nil, []string{"a", "b", "c"}},
		{"bottom margin", abc + "\x1b[1;2r\x1b[2;1H\n", []string{"a"}, []string{"b", "", "c"}},
		{"autowrap at the bottom margin", abc + "\x1b[1;2r\x1b[2;1Hwxyz!", []string{"a"}, []string{"wxyz", "~!", "c"}},
		{"LF below the bottom margin", abc + "\x1b[1;2r\x1b[3;1H\n\n", nil, []string{"a", "b", "c"}},
		{"top margin", abc + "\x1b[2;3r\x1b[3;1H\n", nil, []string{"a", "c", ""}},
		{"SU drops lines, as in xterm.js", abc + "\x1b[S", nil, []string{"b", "c", ""}},
		{"SD", abc + "\x1b[T", nil, []string{"", "a", "b"}},
		{"CSI ^ is nothing", abc + "\x1b[^", nil, []string{"a", "b", "c"}},
		{"DL", abc + "\x1b[1;1H\x1b[M", nil, []string{"b", "c", ""}},
		{"RI", abc + "\x1b[1;1H\x1bM", nil, []string{"", "a", "b"}},
		{"ED 2 keeps, ED 3 clears history", abc + "\n\x1b[2J", []string{"a"}, []string{"", "", ""}},
		{"ED 1 counts from the oldest line", "abcdefghij\r\n\n\n\x1b[1;4H\x1b[1J", []string{"abcd", "efgh", "~ij"},
			[]string{"", "", ""}},
		{"ED 3", abc + "\n\x1b[3J", nil, []string{"b", "c", ""}},
		{"RIS", abc + "\n\x1bc", nil, []string{"", "", ""}},
		{"alternate screen", abc + "\x1b[?1049h\n\n\nx", nil, []string{"", "", " x"}},
		{"back from the alternate screen", abc + "\x1b[?1049h\n\n\nx\x1b[?1049l\n", []string{"a"},
			[]string{"b", "c", ""}},
		{"ED 3 on the alternate screen", abc + "\n\x1b[?47h\x1b[3J\x1b[?47l", []string{"a"}, []string{"b", "c", ""}},
		{"wrapped lines stay wrapped", "abcdef\r\n\n\n", []string{"abcd", "~ef"}, []string{"", "", ""}},
	}
	for _, tt := range tests {
		for _, n := range []int{len(tt.in), 1} {
			t.Run(fmt.Sprintf("%s/%d", tt.name, n), func(t *testing.T) {
				e := newEngine(4, 3, nil)
				feed(e, tt.in, n)
				check(t, e)
				f := e.Freeze()
				got := texts(f.History.Slice())
				if len(got) == 0 {
					got = nil
				}
				if !reflect.DeepEqual(got, tt.history) {
					t.Errorf("history %q, want %q", got, tt.history)
				}
				if got := texts(f.Active().Lines); !reflect.DeepEqual(got, tt.screen) {
					t.Errorf("screen %q, want %q", got, tt.screen)
				}
			})
		}
	}
}

func TestHistoryIsBounded(t *testing.T) {
	for _, limit := range []int{0, 1, 7} {
		e := New(vt.Config{Cols: 10, Rows: 2, Scrollback: limit})
		for i := range 30 {
			fmt.Fprintf(writer{e}, "%d\r\n", i)
		}
		var want []string
		for i := 29 - limit; i < 29; i++ {
			want = append(want, fmt.Sprint(i))
		}
		if got := texts(e.Freeze().History.Slice()); !(len(got) == 0 && limit == 0) && !reflect.DeepEqual(got, want) {
			t.Errorf("scrollback %d: %q, want %q", limit, got, want)
		}
	}
}

func TestWrapFlags(t *testing.T) {
	tests := []struct {
		name, in string
		want     []string
	}{
		{"a long line", "abcdefghij", []string{"abcd", "~efgh", "~ij"}},
		{"the row above is written again", "abcdef\x1b[1;4HX", []string{"abcX", "ef", ""}},
		{"the row above is erased", "abcdef\x1b[1;1H\x1b[2K", []string{"", "ef", ""}},
		{"DL takes the flag along", "abcdefghij\x1b[1;1H\x1b[M", []string{"~efgh", "~ij", ""}},
		{"RI", "abcdefghij\x1b[1;1H\x1bM", []string{"", "abcd", "~efgh"}},
		{"DECALN", "abcdef\x1b#8", []string{"EEEE", "EEEE", "EEEE"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := newEngine(4, 3, nil)
			feed(e, tt.in, 1)
			check(t, e)
			if got := texts(e.Freeze().Main.Lines); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestCharactersAcrossWrites(t *testing.T) {
	const in = "aé€😀b"
	for n := 1; n <= len(in); n++ {
		e := newEngine(10, 1, nil)
		if text := feed(e, in, n); text != in || e.Freeze().Main.Lines[0].Text() != in {
			t.Errorf("in pieces of %d: text %q, screen %q", n, text, e.Freeze().Main.Lines[0].Text())
		}
	}
	e := newEngine(10, 1, nil)
	if text := e.Write([]byte("a\xffb\xe2\x82")); string(text) != "a\ufffdb" || e.Held() != 2 {
		t.Errorf("text %q, %d held", text, e.Held())
	}
	if text := e.Write([]byte("c")); string(text) != "\ufffd\ufffdc" ||
		e.Freeze().Main.Lines[0].Text() != "a\ufffdb\ufffd\ufffdc" {
		t.Errorf("text %q", text)
	}
}

// TestEffects: what leaves the terminal does so on the way through the engine.
func TestEffects(t *testing.T) {
	tests := []struct{ in, want string }{
		{"\a", "bell"},
		{"\x1b[\a1m", "bell"},
		{"\x1b]0;both\a\x1b]7;file://h/x\a", "title both,cwd h:/x"},
		{"\x1b]2;void\x18\x1b]2;too\x1a", ""},
	}
	for _, tt := range tests {
		for _, n := range []int{1, 1000} {
			var s sink
			e := newEngine(10, 2, &s)
			if text := feed(e, tt.in, n); text != tt.in {
				t.Errorf("%q became %q", tt.in, text)
			}
			if got := strings.Join(s.log, ","); got != tt.want {
				t.Errorf("%q: %s, want %s", tt.in, got, tt.want)
			}
		}
	}
}
