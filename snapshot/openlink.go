package snapshot

import (
	"slices"

	"github.com/evertty/evertty/vt"
)

// openID is the ID of an open link that is noted in several places: only by an ID xterm.js knows that it is one link.
const openID = "open"

// normalizeOpenLink is the place of the open link as Encode can keep it, nil when there is no such link.
func normalizeOpenLink(f *vt.Frame, rows int) *vt.OpenLink {
	o := f.Open
	if o == nil || penLink(f) == (vt.Link{}) || penLink(f).Forgotten() {
		return nil
	}
	t := &vt.OpenLink{Rows: onScreenRows(o.Rows, rows), Above: o.Above}
	if f.Alt != nil {
		t.Below = onScreenRows(o.Below, rows)
	}
	return t
}

// onScreenRows are those of a list of rows that a screen has, each once.
func onScreenRows(list []int, rows int) (out []int) {
	for _, y := range list {
		if y >= 0 && y < rows && !slices.Contains(out, y) {
			out = append(out, y)
		}
	}
	return out
}

// penLink is the link that is open, whether it shows or not.
func penLink(f *vt.Frame) vt.Link {
	if f.Extended != nil {
		return f.Extended.Link
	}
	return f.Pen.Link
}

// openLink is the open link as it is opened wherever it is noted.
func openLink(f *vt.Frame) vt.Link {
	l, o := penLink(f), f.Open
	if l.ID == "" && o != nil && (o.Above || len(o.Rows)+len(o.Below) > 1 || len(o.Below) > 0 && !staysOpen(f)) {
		l.ID = openID
	}
	return l
}

// staysOpen reports whether a link that is noted below the alternate screen can stay open while that is painted: it has
// no note there, and nearly always no cell then. OSC 8 would be one note too many.
func staysOpen(f *vt.Frame) bool {
	return len(f.Open.Rows) == 0 && f.Extended == nil && isBlank(f.Alt.Lines)
}

func isBlank(lines []vt.Line) bool {
	return !slices.ContainsFunc(lines, func(l vt.Line) bool { return l.Size() > 0 || l.Wrapped() })
}

// noteHere has the receiver note a link in the cursor's line, for a note that is out of reach when all is painted.
func (p *painter) noteHere(l vt.Link) {
	if l != (vt.Link{}) {
		p.link(l)
		p.link(vt.Link{})
	}
}

// openWhereNoted opens the link in the rows where it is noted, so that it is forgotten when they are gone; in the
// cursor's row it is opened with the pen. One that the pen keeps aside is opened here in any case: DECRC, which may
// come from elsewhere, follows.
func (p *painter) openWhereNoted(f *vt.Frame) {
	l, rows := openLink(f), []int{f.Active().Y}
	if f.Open != nil {
		rows = f.Open.Rows
	}
	switch {
	case penLink(f) == vt.Link{}:
		return
	case f.Extended != nil || f.Open != nil && l.ID != penLink(f).ID:
	case l == p.pen.Link && p.openedIn(rows):
		return
	case f.Open == nil:
		p.closeLink()
		return
	}
	for _, y := range rows {
		p.moveTo(0, y)
		p.link(l)
	}
	if len(rows) == 0 && l != p.pen.Link {
		p.link(l) // a note is elsewhere, and one here is too many: there is no other way
	}
	p.pen.Link = l
	p.open = linkOnScreen{link: penLink(f), named: l, ready: true}
}

// openBelow has the receiver note the open link on the main screen, over which the alternate one is shown next.
func (p *painter) openBelow(f *vt.Frame) {
	if f.Open == nil || len(f.Open.Below) == 0 {
		return
	}
	l := openLink(f)
	for _, y := range f.Open.Below {
		p.moveTo(0, y)
		p.link(l)
	}
	p.moveTo(f.Main.X, f.Main.Y)
	if p.pen.Link = l; !staysOpen(f) {
		p.closeLink()
	}
}

// openedIn reports whether the pen's link is open since the last cells were painted, all of which are in that one row.
func (p *painter) openedIn(rows []int) bool {
	return len(rows) == 1 && p.linkRow == rows[0] && p.textRow == rows[0]
}

// closeLink closes the pen's link, so that it is opened anew where it is needed.
func (p *painter) closeLink() {
	if p.pen.Link != (vt.Link{}) {
		p.link(vt.Link{})
		p.pen.Link = vt.Link{}
	}
}

// linkOnScreen is the link that the pen shows, while the screen is painted that is shown.
type linkOnScreen struct {
	link  vt.Link
	named vt.Link // as it is painted where it is noted; link when it needs no ID
	rows  []int   // where it is noted
	above bool    // and in the history
	ready bool    // all notes are made: whatever opens it again has to name it
}

// onScreenLink is the link that the pen of f shows, the zero value when there is none.
func onScreenLink(f *vt.Frame) (l linkOnScreen) {
	if f.Extended != nil || f.Pen.Link == (vt.Link{}) {
		return l
	}
	l = linkOnScreen{link: f.Pen.Link, named: openLink(f), rows: []int{f.Active().Y}}
	if f.Open != nil {
		l.rows, l.above = f.Open.Rows, f.Open.Above
	}
	return l
}

// noted reports whether the link is noted in a row; rows below 0 are history.
func (o *linkOnScreen) noted(row int) bool { return row < 0 && o.above || slices.Contains(o.rows, row) }

// row is the row of the line that is painted, or was painted last; below 0 in the history.
func (p *painter) row() int { return p.line - 1 - p.history }

// noteRow is the row where xterm.js notes a link that opens here, or the first of n cells when they are all: a
// character that wrapped is noted where it did not fit.
func (p *painter) noteRow(n int) int {
	if p.natural && p.x == 0 && n == 1 {
		return p.row() - 1
	}
	return p.row()
}

// notesAbove reports whether a character with link l that wraps would note the open link in the row above, where it is
// not: xterm.js notes a character in the row where it did not fit.
func (p *painter) notesAbove(l vt.Link) bool {
	return l != vt.Link{} && l == p.open.link && !p.open.noted(p.row())
}

// named is l as it is painted here: as the open link where that is noted, which outlives it when its cells come to
// another row.
func (p *painter) named(l vt.Link) vt.Link {
	o, row := &p.open, p.row()
	if o.named.ID != o.link.ID && l == o.link && (o.ready || o.noted(row) || p.natural && p.x == 0 && o.noted(row-1)) {
		return o.named
	}
	return l
}
