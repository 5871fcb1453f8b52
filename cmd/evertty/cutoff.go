package main

import (
	"bytes"
	"fmt"

	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
)

// cutOff has an arrow for each side on which the window cuts off something that the terminal shows: of "<^v>".
func (d *display) cutOff(f *vt.Frame) (arrows string) {
	if d.direct {
		return ""
	}
	var left, above, below, right bool
	for y, l := range f.Active().Lines {
		switch {
		case y < d.y:
			above = above || hasText(l, 0, f.Cols)
		case y >= d.y+d.room():
			below = below || hasText(l, 0, f.Cols)
		default:
			left = left || hasText(l, 0, d.x)
			right = right || hasText(l, d.x+d.window.Cols, f.Cols)
		}
	}
	for i, cut := range []bool{left, above, below, right} {
		if cut {
			arrows += "<^v>"[i : i+1]
		}
	}
	return arrows
}

// hasText reports whether something is to be seen in the columns of a line from from to to.
func hasText(l vt.Line, from, to int) bool {
	return to > from && len(bytes.TrimSpace(snapshot.PaintRow(l, from, to-from))) > 0
}

// arrows are painted over the end of a row of the window, from 0: the first, where tmux shows a position too, or the
// last when text that is typed is in the first. There are none where it is in both, and above a status line, which has
// them.
func (d *display) arrows(f *vt.Frame) (row int, painted string) {
	arrows := d.cutOff(f)
	if arrows == "" || d.hasStatus() || len(arrows) > d.window.Cols {
		return 0, ""
	}
	s := f.Active()
	first, last := s.Y, s.Y // rows of the line with the cursor
	for first > 0 && s.Lines[first].Wrapped() {
		first--
	}
	for last+1 < len(s.Lines) && s.Lines[last+1].Wrapped() {
		last++
	}
	for _, row := range []int{0, d.room() - 1} {
		if at := d.y + row; at < first || at > last {
			return row, fmt.Sprintf("\x1b[%dG\x1b[7m%s\x1b[m", d.window.Cols-len(arrows)+1, arrows)
		}
	}
	return 0, ""
}
