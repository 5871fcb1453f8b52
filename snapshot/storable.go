package snapshot

import (
	"unicode/utf8"

	"github.com/evertty/evertty/vt"
)

// storable returns l when vt.ParseLine will read it back in cols columns, else
// the nearest line that it will: cut to the width, without control characters
// and links that hold any.
func storable(l vt.Line, cols int) vt.Line {
	if _, err := vt.ParseLine(l.Packed(), l.Wrapped(), cols); err == nil {
		return l
	}
	var p vt.Packer
	room := cols
	for s := range l.Spans() {
		if s.Cells > room {
			s, _ = cutSpan(s, room)
		}
		if s.Cells == 0 {
			break
		}
		room -= s.Cells
		repack(&p, s, normalizeStyle(s.Style))
	}
	return p.Line(l.Wrapped())
}

// repack adds a span whose text may hold anything.
func repack(p *vt.Packer, s vt.Span, style vt.Style) {
	text := cellText(s)
	switch s.Kind {
	case vt.Blank:
		p.Blank(s.Cells, style)
	case vt.ClusterOne, vt.ClusterWide:
		p.Cluster(text, s.Cells, style)
	case vt.Wide:
		for i := 0; i < len(s.Text); {
			r, size := utf8.DecodeRuneInString(s.Text[i:])
			i += size
			if unprintable(r) {
				r = utf8.RuneError
			}
			p.Char(r, 2, style)
		}
	case vt.ZeroWidth:
		for _, r := range text {
			p.Char(r, 0, style)
		}
	default:
		for _, r := range text {
			p.Char(r, 1, style)
		}
	}
}

// bare is l with its characters only, for a line whose styles and marks take
// more room than a file has.
func bare(l vt.Line) vt.Line {
	var p vt.Packer
	for s := range l.Spans() {
		switch s.Kind {
		case vt.ClusterOne, vt.ClusterWide:
			r, _ := utf8.DecodeRuneInString(cellText(s))
			p.Char(r, s.Cells, vt.Style{})
		default:
			repack(&p, s, vt.Style{})
		}
	}
	return p.Line(l.Wrapped())
}
