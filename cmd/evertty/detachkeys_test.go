package main

import (
	"strings"
	"testing"
)

func TestParseDetachKeys(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want []key // nil: an error
	}{
		{`C-\ C-\`, []key{{'\\', modCtrl}, {'\\', modCtrl}}},
		{"C-b d", []key{{'b', modCtrl}, {'d', 0}}},
		{"C-B D", []key{{'b', modCtrl}, {'D', 0}}},
		{"M-x S-a", []key{{'x', modMeta}, {'A', 0}}},
		{"C-M-Up", []key{{keyUp, modCtrl | modMeta}}},
		{"C-i C-m C-[ C-?", []key{{keyTab, 0}, {keyEnter, 0}, {keyEscape, 0}, {keyBSpace, 0}}},
		{"C-Space C-@", []key{{' ', modCtrl}, {' ', modCtrl}}},
		{"F1 F12 F24", []key{{keyF1, 0}, {keyF1 + 11, 0}, {keyF1 + 23, 0}}},
		{"PPage DC BTab", []key{{keyPageUp, 0}, {keyDelete, 0}, {keyTab, modShift}}},
		{"- C-- é", []key{{'-', 0}, {'-', modCtrl}, {'é', 0}}},
		{"", nil}, {"ctrl-p", nil}, {"C-", nil}, {"X-a", nil}, {"F0", nil}, {"F25", nil}, {"F+1", nil}, {"up", nil},
		{"C-b,d", nil},
		{"a b c d e f g h i", nil}, {"\xff", nil},
	} {
		got, err := parseDetachKeys(tc.in)
		if (err != nil) != (tc.want == nil) || len(got) != len(tc.want) {
			t.Errorf("%q: %v, %v", tc.in, got, err)
			continue
		}
		for i := range got {
			if got[i] != tc.want[i] {
				t.Errorf("%q: key %d is %v, want %v", tc.in, i, got[i], tc.want[i])
			}
		}
		if err != nil && !strings.Contains(err.Error(), "--detach-keys") {
			t.Errorf("%q: %v", tc.in, err)
		}
	}
	if keys, err := parseDetachKeys("none"); keys != nil || err != nil {
		t.Errorf("none: %v, %v", keys, err)
	}
}

// TestReadKey holds what terminals send against the notation of keys.
func TestReadKey(t *testing.T) {
	for name, forms := range map[string][]string{
		`C-\`:     {"\x1c", "\x1b[92;5u", "\x1b[92;5:1u", "\x1b[27;5;92~", "\x1b[92;69u"}, // 64: caps lock
		"C-b":     {"\x02", "\x1b[98;5u", "\x1b[98:66;5u"},
		"d":       {"d", "\x1b[100u", "\x1b[100;1u", "\x1b[100;129u"},
		"D":       {"D", "\x1b[100;2u", "\x1b[100:68;2;68u"},
		"M-x":     {"\x1bx", "\x1b[120;3u"},
		"é":       {"é", "\x1b[233u"},
		"Up":      {"\x1b[A", "\x1bOA", "\x1b[1;1A"},
		"C-Right": {"\x1b[1;5C"},
		"F1":      {"\x1bOP", "\x1b[11~", "\x1b[P"},
		"F5":      {"\x1b[15~", "\x1b[15;1:1~"},
		"F12":     {"\x1b[24~"},
		"Delete":  {"\x1b[3~"},
		"Tab":     {"\t", "\x1b[9u"},
		"BTab":    {"\x1b[Z", "\x1b[9;2u"},
		"Enter":   {"\r", "\x1b[13u"},
		"Escape":  {"\x1b", "\x1b[27u"},
		"BSpace":  {"\x7f", "\x1b[127u"},
		"C-Space": {"\x00", "\x1b[32;5u"},
	} {
		want, ok := parseKey(name)
		if !ok {
			t.Fatalf("%s is no key", name)
		}
		for _, f := range forms {
			if got, press, n := readKey([]byte(f)); got != want || !press || n != len(f) {
				t.Errorf("%q: %v press %v, %d bytes; want %s %v", f, got, press, n, name, want)
			}
		}
	}
	for _, f := range []string{
		"\x1b[92;5:3u", "\x1b[57442;5u", "\x1b[57358u", "\x1b[<0;3;4M", "\x1b[I", "\x1b[?1;2c", "\x1b[200~", "\x1b[",
		"\x1b[1;", "\xff", "\x1b[99999999999999999999u",
	} {
		if k, press, n := readKey([]byte(f)); press || n != len(f) {
			t.Errorf("%q: %v press %v, %d of %d bytes", f, k, press, n, len(f))
		}
	}
}

func TestDetacher(t *testing.T) {
	for _, tc := range []struct {
		name, keys string
		in         []string // as read from the keyboard, piece by piece
		out        string
		detached   bool
	}{
		{"at once", `C-\ C-\`, []string{"\x1c\x1c"}, "", true},
		{"one by one", `C-\ C-\`, []string{"\x1c", "\x1c"}, "", true},
		{"behind text", `C-\ C-\`, []string{"ls\x1c", "\x1clost"}, "ls", true},
		{"kitty with releases", `C-\ C-\`, []string{"\x1b[92;5u", "\x1b[92;5:3u", "\x1b[57442;1:3u", "\x1b[92;5u"}, "",
			true},
		{"not the second", `C-\ C-\`, []string{"\x1c", "x\x1c\x1b[A"}, "\x1cx\x1c\x1b[A", false},
		{"held", `C-\ C-\`, []string{"a\x1c"}, "a", false},
		{"prefix", "C-b d", []string{"\x02c\x02d"}, "\x02c", true},
		{"overlap", "a a b", []string{"aaab"}, "a", true},
		{"overlap split", "a a b", []string{"a", "a", "a", "c"}, "aaac", false},
		{"paste", "C-b d", []string{"\x1b[200~text\x1b[201~"}, "\x1b[200~text\x1b[201~", false},
		{"none", "none", []string{"\x1c\x1c"}, "\x1c\x1c", false},
		{"bytes that are not text", "C-b d", []string{"\xff\xfe\x00"}, "\xff\xfe\x00", false},
	} {
		keys, err := parseDetachKeys(tc.keys)
		if err != nil {
			t.Fatal(err)
		}
		d := detacher{keys: keys}
		out, detached := "", false
		for _, p := range tc.in {
			var b []byte
			b, detached = d.pass([]byte(p))
			out += string(b)
			if detached {
				break
			}
		}
		if out != tc.out || detached != tc.detached {
			t.Errorf("%s: %q, %v; want %q, %v", tc.name, out, detached, tc.out, tc.detached)
		}
	}
	d := detacher{keys: []key{{'b', modCtrl}, {'d', 0}}}
	if out, _ := d.pass([]byte("\x02\x1b[57442;5u")); len(out) != 0 || !d.waiting() ||
		string(d.release()) != "\x02\x1b[57442;5u" || d.waiting() {
		t.Errorf("%q, and %v kept back", out, d.held)
	}
}

// FuzzDetacher: whatever is typed, every byte goes on or is kept back, in order,
// unless the sequence was complete.
func FuzzDetacher(f *testing.F) {
	f.Add([]byte("ls\r\x1b[A\x1c"), 3)
	f.Add([]byte("\x1b[92;5:3u\x1b[92;5u\x1bO\x1b\x1b["), 1)
	f.Fuzz(func(t *testing.T, p []byte, cut int) {
		d := detacher{keys: []key{{'\\', modCtrl}, {'\\', modCtrl}, {keyUp, 0}}}
		cut = min(max(cut, 0), len(p))
		var out []byte
		for _, piece := range [][]byte{p[:cut], p[cut:]} {
			b, detached := d.pass(piece)
			out = append(out, b...)
			if detached {
				return
			}
		}
		if out = append(out, d.release()...); string(out) != string(p) {
			t.Fatalf("%q became %q", p, out)
		}
	})
}
