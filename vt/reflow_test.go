package vt

import (
	"strings"
	"testing"
)

// TestReflowOfAnEndlessLine: a line without an end reflows in parts, loses
// nothing, and viewers are told to fetch the screen.
func TestReflowOfAnEndlessLine(t *testing.T) {
	const cols = MaxSize
	e := NewEngine(Config{Cols: cols, Rows: 5, Scrollback: MaxScrollback}).(*Terminal)
	rows := maxParagraph/cols + 100
	e.Write([]byte(strings.Repeat("0123456789", rows*cols/10) + "\r\nend"))
	for _, width := range []int{cols - 7, cols} {
		if e.Resize(width, 5) {
			t.Errorf("the resize to %d columns is said to be exact", width)
		}
		if err := e.check(); err != nil {
			t.Fatal(err)
		}
		chars := 0
		f := e.Freeze()
		for _, l := range append(f.History.Slice(), f.Main.Lines...) {
			chars += len(l.Text()) - strings.Count(l.Text(), " ") // where parts met
		}
		if want := rows*cols + len("end"); chars != want {
			t.Errorf("%d columns: %d characters, want %d", width, chars, want)
		}
	}
}
