package snapshot

import "github.com/evertty/evertty/vt"

// PaintRow returns the text that paints a part of a line: at most cols cells from column
// from on, with all attributes and links. It is for an erased row of a terminal that
// does not wrap, whose cursor is in its first column and whose pen is the default,
// and leaves that pen. A wide character that an edge cuts in two is blank. The
// caller owns the result.
func PaintRow(l vt.Line, from, cols int) []byte {
	p := linePainter{rowState: rowState{cols: cols, rows: 1, anywhere: true}}
	end := 0
	for s := range l.Spans() {
		begin := end
		if end += s.Cells; end <= from {
			continue
		}
		if !p.part(s, max(0, from-begin)) {
			break
		}
	}
	p.setPen(vt.Style{})
	return p.out
}

// part paints a span without its first cut cells and reports whether the row goes on.
func (p *linePainter) part(s vt.Span, cut int) bool {
	if cut == 0 {
		return p.span(&s)
	}
	head, rest := cutSpan(s, cut)
	if rest.Cells > 0 && head.Cells == cut {
		return p.span(&rest)
	}
	// The cut goes through a character, of which the rest is blank.
	const wide = 2
	blank := vt.Span{Kind: vt.Blank, Cells: head.Cells + wide - cut, Style: s.Style}
	if !p.span(&blank) || s.Kind != vt.Wide {
		return p.x+p.skip < p.cols
	}
	if _, rest = cutSpan(rest, wide); rest.Cells > 0 {
		return p.span(&rest)
	}
	return true
}
