package vt

import (
	"fmt"
	"slices"
	"testing"
)

// TestManyStyles: a program that never repeats a style has the right one in every
// cell, at whatever moment the table of styles is swept, and the table does not
// grow for ever.
func TestManyStyles(t *testing.T) {
	const cols, rows, text, count = 20, 5, "abcdefghijklm", 60_000
	var owner []int // of each cell printed: which write
	e := NewEngine(Config{Cols: cols, Rows: rows, Scrollback: MaxScrollback}).(*Terminal)
	for i := range count {
		n := 1 + i*i%len(text)
		owner = append(owner, slices.Repeat([]int{i}, n)...)
		e.Write(fmt.Appendf(nil, "\x1b[38;2;%d;%d;1;48;2;2;%d;%dm%s", i>>8, i&0xff, i>>8, i&0xff, text[:n]))
		if n := len(e.styles.list); n > sweepAt+2 {
			t.Fatalf("%d styles", n)
		}
	}
	if err := e.check(); err != nil {
		t.Fatal(err)
	}
	f := e.Freeze()
	cell := 0
	for y, l := range append(f.History.Slice(), f.Main.Lines...) {
		for s := range l.Spans() {
			for range s.Cells {
				if cell == len(owner) {
					return // the rest of the last row is erased
				}
				i := owner[cell]
				want := Style{FG: RGBColor(uint8(i>>8), uint8(i), 1), BG: RGBColor(2, uint8(i>>8), uint8(i))}
				if s.Style != want {
					t.Fatalf("line %d, cell %d: %x on %x, want %x on %x", y, cell, s.Style.FG, s.Style.BG, want.FG,
						want.BG)
				}
				cell++
			}
		}
	}
	if cell != len(owner) {
		t.Fatalf("%d cells of %d", cell, len(owner))
	}
}
