package snapshot

import (
	"slices"

	"github.com/evertty/evertty/vt"
)

// normalizeOpenLink is the place of the open link as Encode can keep it, nil when there is no such
// link.
func normalizeOpenLink(f *vt.Frame, rows int) *vt.OpenLink {
	if f.Open == nil || penLink(f) == (vt.Link{}) {
		return nil
	}
	if y := f.Open.Row; y >= 0 && y < rows {
		return &vt.OpenLink{Row: y}
	}
	return &vt.OpenLink{Row: -1}
}

// penLink is the link that is open, whether it shows or not.
func penLink(f *vt.Frame) vt.Link {
	if f.Extended != nil {
		return f.Extended.Link
	}
	return f.Pen.Link
}

func isBlank(lines []vt.Line) bool {
	return !slices.ContainsFunc(lines, func(l vt.Line) bool { return l.Size() > 0 || l.Wrapped() })
}

// openWhereNoted opens the link in the row where it is noted, so that it is forgotten when that is
// gone; in the cursor's row it is opened with the pen. DECRC opens one that the pen keeps aside.
func (p *painter) openWhereNoted(f *vt.Frame) {
	l, y := penLink(f), f.Active().Y
	if f.Open != nil {
		y = f.Open.Row
	}
	switch {
	case l == vt.Link{} || f.Extended != nil || y < 0:
	case l == p.pen.Link && p.linkRow == y && p.textRow == y:
	case f.Open != nil:
		p.moveTo(0, y)
		p.link(l)
		p.pen.Link = l
	case p.pen.Link != vt.Link{}:
		p.link(vt.Link{})
		p.pen.Link = vt.Link{}
	}
}

// row is the row of the line that is painted, or was painted last; below 0 in the history.
func (p *linePainter) row() int { return p.line - 1 - p.history }

// noteRow is the row where xterm.js notes a link that opens here, or the first of n cells when they
// are all: a character that wrapped is noted where it did not fit.
func (p *linePainter) noteRow(n int) int {
	if p.natural && p.x == 0 && n == 1 {
		return p.row() - 1
	}
	return p.row()
}
