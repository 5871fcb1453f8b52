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
	room := cols
	return remade(l, func(s *vt.Span) {
		if s.Cells > room {
			*s, _ = cutSpan(*s, room)
		}
		if s.Cells == 0 { // nor has what follows room
			room = 0
		}
		room -= s.Cells
		s.Style = normalizeStyle(s.Style)
	})
}

// remade is l with each span as change leaves it, whose text may hold anything.
func remade(l vt.Line, change func(s *vt.Span)) vt.Line {
	var p vt.Packer
	for s := range l.Spans() {
		if change(&s); s.Cells > 0 {
			repack(&p, s)
		}
	}
	return p.Line(l.Wrapped())
}

// repack adds a span whose text may hold anything.
func repack(p *vt.Packer, s vt.Span) {
	switch s.Kind {
	case vt.Blank:
		p.Blank(s.Cells, s.Style)
	case vt.ClusterOne, vt.ClusterWide:
		p.Cluster(cellText(s), s.Cells, s.Style)
	default:
		for _, r := range s.Text {
			if unprintable(r) {
				r = utf8.RuneError
			}
			p.Char(r, s.Kind.Width(), s.Style)
		}
	}
}

// bare is l with its characters only, for a line whose styles and marks take
// more room than a file has.
func bare(l vt.Line) vt.Line {
	return remade(l, func(s *vt.Span) {
		if s.Kind == vt.ClusterOne || s.Kind == vt.ClusterWide {
			r, _ := utf8.DecodeRuneInString(cellText(*s))
			s.Text = string(r)
			s.Kind = vt.Narrow
			if s.Cells == 2 {
				s.Kind = vt.Wide
			}
		}
		s.Style = vt.Style{}
	})
}
