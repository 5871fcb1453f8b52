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
		{"empty lines", "\n\n", Modes{}, "\r\r"},
		{"brackets", "a\nb", on, "\x1b[200~a\nb\x1b[201~"},
		{"nothing in brackets", "", on, "\x1b[200~\x1b[201~"},
		{"an end inside is removed", "a\x1b[201~b", on, "\x1b[200~ab\x1b[201~"},
		{"one that forms by removal too", "a\x1b[20\x1b[201~1~b", on, "\x1b[200~ab\x1b[201~"},
		{"nested deeper", "\x1b\x1b[2\x1b[201~01~[201~rm -rf\n", on, "\x1b[200~rm -rf\n\x1b[201~"},
		{"the 8-bit form", "a\u009b201~b", on, "\x1b[200~ab\x1b[201~"},
		{"an end that the brackets would complete", "201~", on, "\x1b[200~201~\x1b[201~"},
		{"other sequences stay", "\x1b[31mred", on, "\x1b[200~\x1b[31mred\x1b[201~"},
		{"without brackets nothing is removed", "\x1b[201~", Modes{}, "\x1b[201~"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(Paste(tt.text, tt.m)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// FuzzPaste: bracketed text never ends its brackets early.
func FuzzPaste(f *testing.F) {
	f.Add("a\x1b[20\x1b[201~1~b")
	f.Fuzz(func(t *testing.T, text string) {
		got := string(Paste(text, Modes{BracketedPaste: true}))
		inner := strings.TrimSuffix(strings.TrimPrefix(got, "\x1b[200~"), "\x1b[201~")
		if strings.Contains(inner, "\x1b[201~") || len(got) != len(inner)+12 {
			t.Fatalf("%q pasted as %q", text, got)
		}
	})
}
