package snapshot

import "github.com/evertty/evertty/vt"

// recalling is a way to bring about what only DECRC (VT510) does: a pen that knows an
// underline or a link without showing it, and a character set in force that is
// designated nowhere. It takes both from a saved cursor, which has to have the same.
type recalling struct {
	hidden bool // from the one of the alternate screen, which is not shown
	saved  vt.SavedCursor

	// ends: the last act but the pen is to print last, behind which a wrap is pending.
	ends bool
	last cell
	// aside is what the pen keeps when it is recalled. linked: OSC 8 sets lastLink then,
	// and so whether style and link show, before last is printed.
	aside    vt.Style
	linked   bool
	lastLink vt.Link
}

// recalled finds a way to recall the pen and the sets of f, and to print last then
// when that is not nil. ok is false when there is none, or nothing to recall.
func recalled(f *vt.Frame, last *cell) (r recalling, ok bool) {
	if f.Extended == nil && f.Invoked == 0 {
		return r, false
	}
	from := []recalling{{saved: f.Active().Saved}}
	if f.Alt == nil && f.Hidden != nil {
		from = append(from, recalling{hidden: true, saved: f.Hidden.Saved})
	}
	for _, r := range from {
		if d := &r.saved; f.Invoked != 0 && plainSet(f.Invoked) != plainSet(d.Charsets.G[d.Charsets.GL]) {
			continue
		}
		if r.leads(f.Extended) && r.prints(f, last) {
			return r, true
		}
	}
	return r, false
}

// recalledBelow finds a way to recall the pen and the sets of f before the alternate
// screen is shown: its cells have to be paintable without a change of the set in
// force, and of the underline and the link when the pen keeps some aside.
func recalledBelow(f *vt.Frame) (r *recalling, ok bool) {
	if f.Alt == nil || f.Extended == nil && f.Invoked == 0 {
		return nil, false
	}
	s := f.Alt
	var last *cell
	if _, repeats := repeatable(f); s.PendingWrap && !repeats {
		c := cellAt(s.Lines[s.Y], s.X)
		last = &c
	}
	if _, late := recalled(f, last); late {
		return nil, false
	}
	r = &recalling{saved: f.Main.Saved}
	if f.Invoked != 0 && plainSet(f.Invoked) != plainSet(r.saved.Charsets.G[r.saved.Charsets.GL]) ||
		!r.leads(f.Extended) {
		return nil, false
	}
	for _, l := range s.Lines {
		if !paintable(l, f) {
			return nil, false
		}
	}
	return r, everyEight(s.Tabs, f.Cols) || f.Extended == nil
}

// paintable reports whether a row of the alternate screen can be painted with the pen and
// the set that were recalled before.
func paintable(l vt.Line, f *vt.Frame) bool {
	for s := range l.Spans() {
		if _, ok := vt.Untranslate(f.Invoked, s.Text); !ok {
			return false
		}
		lined := s.Style.Underline != 0 || s.Style.Link != vt.Link{} || f.Pen.Underline != 0 || f.Pen.Link != vt.Link{}
		if f.Extended != nil && lined {
			return false
		}
	}
	return f.Extended == nil || !l.Wrapped() || f.Pen.Underline == 0 && f.Pen.Link == vt.Link{}
}

// leads reports whether the saved pen leads to one that keeps a aside: OSC 8 can still
// make style and link show as they should, and only SGR changes the other flag.
func (r *recalling) leads(a *vt.ExtendedAttrs) bool {
	if a == nil {
		return true
	}
	lined, shown := r.saved.Flags()
	r.aside = vt.Style{Underline: a.Underline, UnderlineColor: a.UnderlineColor, Link: a.Link}
	return lined == a.Underlined && (shown == a.Extended || shows(r.aside) == a.Extended)
}

// shows reports whether style and link of a pen show after OSC 8.
func shows(aside vt.Style) bool {
	return aside.Underline != vt.UnderlineNone || aside.Link != vt.Link{}
}

// prints finds out how to print last with the recalled pen.
func (r *recalling) prints(f *vt.Frame, last *cell) bool {
	if last == nil {
		return true
	}
	sets := printingSets(f)
	text, ok := last.text, true
	if f.Invoked != 0 {
		text, ok = vt.Untranslate(sets.G[sets.GL], last.text)
	}
	if r.ends, r.last = true, *last; last.text == "" {
		text, ok = " ", true
	}
	r.last.text = text
	if !ok || f.Extended == nil {
		return ok
	}
	lined, shown := r.saved.Flags()
	look := vt.Style{Underline: last.style.Underline, UnderlineColor: last.style.UnderlineColor, Link: last.style.Link}
	for _, link := range []vt.Link{f.Extended.Link, last.style.Link} {
		for _, color := range []vt.Color{f.Extended.UnderlineColor, last.style.UnderlineColor} {
			kept := vt.Style{Underline: f.Extended.Underline, UnderlineColor: color, Link: link}
			for _, linked := range []bool{false, true} {
				show := shown && !linked || linked && shows(kept)
				final := vt.Style{Underline: kept.Underline, Link: f.Extended.Link}
				reaches := show == f.Extended.Extended && link == f.Extended.Link || shows(final) == f.Extended.Extended
				if penShows(kept, lined, show) == look && reaches &&
					(color == f.Extended.UnderlineColor || f.Extended.UnderlineColor != 0) {
					r.aside, r.linked, r.lastLink = kept, linked, link
					return true
				}
			}
		}
	}
	return false
}

// penShows is what a pen with these flags prints of what it keeps.
func penShows(kept vt.Style, lined, show bool) (s vt.Style) {
	if show {
		s = kept
	}
	if lined && s.Underline == vt.UnderlineNone {
		s.Underline = vt.UnderlineSingle
	}
	return s
}

// recall does what r found. The cursor is anywhere then, or behind the last cell of row
// y in which a wrap is pending; the pen is f's.
func (p *painter) recall(f *vt.Frame, r *recalling, y int) {
	p.setPen(r.aside)
	if f.Invoked != 0 {
		p.charsets(f.Charsets, 0)
	}
	if r.hidden {
		p.add("\x1b[?1047h")
	}
	p.add("\x1b8")
	if r.hidden {
		p.add("\x1b[?1047l")
	}
	if f.Invoked == 0 {
		p.add(shifts[0]) // US ASCII; the sets are designated later
	}
	if f.Extended == nil {
		p.add("\x1b[m\x1b[0\"q")
		p.pen = vt.Style{}
		if r.ends {
			p.moveTo(r.last.x, y)
			p.setPen(r.last.style)
			p.add(r.last.text)
		}
		p.setPen(f.Pen)
		return
	}
	p.recallAside(f, r, y)
}

// recallAside is recall of a pen that keeps something aside, from DECRC on.
func (p *painter) recallAside(f *vt.Frame, r *recalling, y int) {
	a := f.Extended
	_, shows := r.saved.Flags()
	link, now := r.aside.Link, r.saved.Pen
	if r.ends {
		if r.linked {
			p.link(r.lastLink)
			shows = r.aside.Underline != vt.UnderlineNone || r.lastLink != vt.Link{}
		}
		p.moveTo(r.last.x, y)
		p.recolour(now, r.last.style)
		p.add(r.last.text)
		now = r.last.style
	}
	p.recolour(now, f.Pen)
	if r.aside.UnderlineColor != a.UnderlineColor {
		p.add("\x1b[")
		at := len(p.out)
		p.out = appendUnderlineColor(p.out, a.UnderlineColor)
		p.endParameters(at)
	}
	if shows != a.Extended || link != a.Link {
		p.link(penLink(f))
	}
}
