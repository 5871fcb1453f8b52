package vt

import (
	"strings"
	"testing"
)

func TestPaste(t *testing.T) {
	on := Modes{BracketedPaste: true}
	tests := []struct {
		name, text string
		m          Modes
		want       string
	}{
		{"plain", "ls -l", Modes{}, "ls -l"},
		{"LF is Enter", "a\nb\n", Modes{}, "a\rb\r"},
		{"CR LF is one Enter", "a\r\nb", Modes{}, "a\rb"},
		{"CR stays", "a\rb\r\r\n", Modes{}, "a\rb\r\r"},
		{"a control between CR and LF", "a\r\x03\nb", Modes{}, "a\rb"},
		{"empty lines", "\n\n", Modes{}, "\r\r"},
		{"CR LF is one newline in brackets", "a\r\nb\r\n", on, "\x1b[200~a\nb\n\x1b[201~"},
		{"controls are no text", "a\x00\x03\x04\b\x15\x1a\x1c\x7f\x1bb\tc", on, "\x1b[200~ab\tc\x1b[201~"},
		{"without brackets too", "a\x00\x03\x04\b\x15\x1a\x1c\x7f\x1bb\tc\u0085\u009b", Modes{}, "ab\tc"},
		{"what the terminal makes a signal of", "quit? yes%", on, "\x1b[200~uit? yes\x1b[201~"},
		{"brackets", "a\nb", on, "\x1b[200~a\nb\x1b[201~"},
		{"nothing in brackets", "", on, "\x1b[200~\x1b[201~"},
		{"an end inside is removed", "a\x1b[201~b", on, "\x1b[200~ab\x1b[201~"},
		{"one that forms by removal too", "a\x1b[20\x1b[201~1~b", on, "\x1b[200~ab\x1b[201~"},
		{"nested deeper", "\x1b\x1b[2\x1b[201~01~[201~rm -rf\n", on, "\x1b[200~rm -rf\n\x1b[201~"},
		{"the 8-bit form", "a\u009b201~b", on, "\x1b[200~ab\x1b[201~"},
		{"an end that the brackets would complete", "201~", on, "\x1b[200~201~\x1b[201~"},
		{"other sequences lose their ESC", "\x1b[31mred", on, "\x1b[200~[31mred\x1b[201~"},
		{"an end without brackets", "\x1b[201~", Modes{}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			signals := ""
			if strings.HasPrefix(tt.name, "what the terminal") {
				signals = "q%"
			}
			if got := string(Paste(tt.text, tt.m, signals)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// FuzzPaste: pasted text never ends its brackets early and holds nothing that a
// terminal or an editor acts on.
func FuzzPaste(f *testing.F) {
	f.Add("a\x1b[20\x1b[201~1~b", "")
	f.Add("harmless \x03 echo\r\n", "\x03\x1c\x1a")
	f.Fuzz(func(t *testing.T, text, signals string) {
		got := string(Paste(text, Modes{BracketedPaste: true}, signals))
		inner, ok := strings.CutPrefix(got, "\x1b[200~")
		inner, closed := strings.CutSuffix(inner, "\x1b[201~")
		if !ok || !closed {
			t.Fatalf("%q pasted as %q", text, got)
		}
		for _, s := range []string{inner, string(Paste(text, Modes{}, signals))} {
			for _, r := range s {
				if r < ' ' && r != '\t' && r != '\r' && r != '\n' || r >= 0x7f && r < 0xa0 {
					t.Fatalf("%q pasted as %q", text, s)
				}
			}
			clean := withoutControls(withoutEnds(text), signals) // a CR before a CR LF stays
			if strings.Contains(s, "\r\n") && !strings.Contains(clean, "\r\r\n") {
				t.Fatalf("%q pasted as %q", text, s)
			}
		}
	})
}
