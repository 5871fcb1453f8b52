package snapshot

import (
	"slices"

	"github.com/evertty/evertty/vt"
)

// openID is the ID of an open link that is noted in several places: only by an ID xterm.js knows that it is one link.
const openID = "open"

// tidyOpen is the place of the open link as Encode can keep it, nil when there is no such link.
func tidyOpen(f *vt.Frame, rows int) *vt.OpenLink {
	o := f.Open
	if o == nil || penLink(f) == (vt.Link{}) || penLink(f).Forgotten() {
		return nil
	}
	t := &vt.OpenLink{Above: o.Above, Below: o.Below && f.Alt != nil}
	for _, y := range o.Rows {
		if y >= 0 && y < rows && !slices.Contains(t.Rows, y) {
			t.Rows = append(t.Rows, y)
		}
	}
	return t
}

// penLink is the link that is open, whether it shows or not.
func penLink(f *vt.Frame) vt.Link {
	if f.Aside != nil {
		return f.Aside.Link
	}
	return f.Pen.Link
}

// openLink is the open link as it is opened wherever it is noted.
func openLink(f *vt.Frame) vt.Link {
	l, o := penLink(f), f.Open
	if l.ID == "" && (o.Above || o.Below || len(o.Rows) > 1) {
		l.ID = openID
	}
	return l
}

// noteHere has the receiver note a link in the cursor's line, for a note that is out of reach when all is painted.
func (p *painter) noteHere(l vt.Link) {
	if l != (vt.Link{}) {
		p.link(l)
		p.link(vt.Link{})
	}
}

// openWhereNoted opens the link in the rows where it is noted, so that it is forgotten when they are gone.
func (p *painter) openWhereNoted(f *vt.Frame) {
	if f.Open == nil || f.Aside != nil {
		return
	}
	l := openLink(f)
	if l == p.pen.Link {
		return // open since the last cells were painted with it, and noted there
	}
	for _, y := range f.Open.Rows {
		p.moveTo(0, y)
		p.link(l)
	}
	if len(f.Open.Rows) == 0 {
		p.link(l) // a note is elsewhere, and one here is too many: there is no other way
	}
	p.pen.Link = f.Pen.Link
}
