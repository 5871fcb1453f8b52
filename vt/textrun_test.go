package vt

import (
	"strings"
	"testing"
)

// TestTextRun: a run ends at the first control, C1 control or U+FEFF, wherever it is.
func TestTextRun(t *testing.T) {
	chars := []rune("\x00\x1b\x1f ~\x7f\u0080\u009f\u00a0\u00bfé漢\ufeff\ufefe\ufb00😀")
	for _, c := range chars {
		for _, filler := range []string{"a", "é", "漢", "\u00a0", "\uff01"} {
			for n := range 20 {
				before := strings.Repeat(filler, n)
				text := before + string(c) + strings.Repeat(filler, 20)
				want := len(text)
				if c < ' ' || c >= 0x7f && c < 0xa0 || c == bom {
					want = len(before)
				}
				if got := textRun([]byte(text)); got != want {
					t.Fatalf("%q: %d bytes, not %d", text, got, want)
				}
			}
		}
	}
}
