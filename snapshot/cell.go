package snapshot

import (
	"unicode/utf8"

	"github.com/evertty/evertty/vt"
)

// cutSpan divides s so that head takes as many cells as fit into n.
func cutSpan(s vt.Span, n int) (head, rest vt.Span) {
	head, rest = s, s
	switch s.Kind {
	case vt.Blank:
		head.Cells, rest.Cells = n, s.Cells-n
		return head, rest
	case vt.ClusterOne, vt.ClusterWide:
		head.Cells, head.Text = 0, ""
		return head, rest
	}
	width := max(s.Kind.Width(), 1)
	at := 0
	for range n / width {
		_, size := utf8.DecodeRuneInString(s.Text[at:])
		at += size
	}
	head.Text, rest.Text = s.Text[:at], s.Text[at:]
	head.Cells = n / width * width
	rest.Cells = s.Cells - head.Cells
	return head, rest
}

// cell is one character on the screen.
type cell struct {
	x, width int    // first column and number of columns
	text     string // "" when erased
	style    vt.Style
}

// cellAt is the cell of l that covers column x. A column behind the end of the
// line is a default blank.
func cellAt(l vt.Line, x int) cell {
	at := 0
	for s := range l.Spans() {
		if x < at+s.Cells {
			return cellInSpan(s, at, x)
		}
		at += s.Cells
	}
	return cell{x: x, width: 1}
}

// cellInSpan is the cell of s, which begins in column at, that covers column x.
func cellInSpan(s vt.Span, at, x int) cell {
	switch s.Kind {
	case vt.Blank:
		return cell{x: x, width: 1, style: s.Style}
	case vt.ClusterOne, vt.ClusterWide:
		return cell{x: at, width: s.Cells, text: cellText(s), style: s.Style}
	}
	width := max(s.Kind.Width(), 1)
	n := (x - at) / width
	_, rest := cutSpan(s, n*width)
	one, _ := cutSpan(rest, width)
	return cell{x: at + n*width, width: width, text: cellText(one), style: s.Style}
}
