package vt_test

import (
	"slices"
	"testing"

	"github.com/evertty/evertty/vt"
)

// TestScrolledOff: each line that leaves the main screen at its top is told, with a history or without, and no other.
func TestScrolledOff(t *testing.T) {
	for _, scrollback := range []int{0, 1, 100} {
		var got []string
		e := vt.NewEngine(vt.Config{Cols: 5, Rows: 3, Scrollback: scrollback, Effects: &vt.Effects{
			ScrolledOff: func(l vt.Line) {
				text := l.Text()
				if l.Wrapped() {
					text = "+" + text
				}
				got = append(got, text)
			}}})
		e.Write([]byte("one\r\n\x1b[31mtwothr\x1b[m\r\n4\r\n5")) // one, twoth, r leave
		e.Write([]byte("\x1b[2;3r\x1b[3H\n\n\x1b[r\x1b[M\x1b[2S\x1b[2J\x1b[3J"))
		e.Write([]byte("\x1b[H\x1b[?1049ha\r\nb\r\nc\r\nd\x1b[?1049l\x1b[Hlast\x1b[1;2r\x1b[2H\n"))
		e.Resize(5, 1)
		if want := []string{"one", "twoth", "last"}; !slices.Equal(got, want) {
			t.Errorf("history of %d: %q, want %q", scrollback, got, want)
		}
	}
}
