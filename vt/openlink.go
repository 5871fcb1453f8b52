package vt

// xterm.js 6 notes in which lines a link was opened and printed, and drops its address when
// the last of these lines is gone. What is printed with the link from then on leads nowhere,
// and no snapshot restores a link like that. So viewers get an open link again before it is
// printed when its line may be gone, and it always leads somewhere.

// openLink says where the open link is known to be noted. The zero value is nowhere.
type openLink struct {
	row  *row // where it was opened or printed last, as long as row.noted
	sent int  // bytes of viewers' text that opened it again
}

// maxReopening bounds what viewers get to open a link again, in bytes for each time that the
// program opens one: few bytes of output must not become very many. Then they get its end.
const maxReopening = 64 << 10

// OpenLink is where xterm.js has noted the open link, when that is not the cursor's row.
type OpenLink struct {
	Row int // of the screen shown; -1 when unknown, and the link is opened again before it is printed
}

// linkChanged takes a new link of the pen. xterm.js notes a link where OSC 8 opens it.
func (p *printer) linkChanged(l Link) {
	p.loseLink()
	p.open.sent = 0
	if l != (Link{}) {
		p.keepLink()
	}
}

// linkShown reports whether the pen has a link and printed characters get it.
func (p *printer) linkShown() bool {
	return p.pen.extended && len(p.pen.link.URI)+len(p.pen.link.ID) > 0
}

// linkKnown reports whether the line is there in which the open link is noted.
func (p *printer) linkKnown() bool { return p.open.row != nil && p.open.row.noted }

// keepLink notes the open link in the cursor's row, and counts on no other note.
func (p *printer) keepLink() {
	p.loseLink()
	p.open.row = p.screen.row()
	p.open.row.noted = true
}

// loseLink counts on no note of the open link.
func (p *printer) loseLink() {
	if p.open.row != nil {
		p.open.row.noted, p.open.row = false, nil
	}
}

// noteLink notes the link that is printed next. Text that goes on keeps the line where it began.
func (p *printer) noteLink() {
	if p.stream.before != 0 {
		return
	}
	if text := p.linkForViewers(); text != nil {
		p.stream.InsertPrinted(0, text)
		p.stream.viewers = 0
	}
}

// noteLinkHere notes the link that was printed. The first character of a row that was wrapped
// to is noted in the row before.
func (p *printer) noteLinkHere() {
	if s := p.screen; p.linkShown() && s.X > 1 && (s.X > 2 || !s.row().beginsWide()) {
		p.keepLink()
	}
}

// linkForViewers notes the link of the pen in the cursor's row, where it is printed next, and
// returns what viewers need before: nothing, or a sequence that opens it again or ends it.
func (p *printer) linkForViewers() (text []byte) {
	if !p.linkKnown() {
		text = p.linkAgain()
	}
	if p.linkShown() {
		p.keepLink()
	}
	return text
}

// linkAgain opens the link of the pen again for viewers, or ends it.
func (p *printer) linkAgain() []byte {
	l := p.pen.link
	text := "\x1b]8;"
	if l.ID != "" {
		text += "id=" + l.ID
	}
	text += ";" + l.URI + "\x1b\\"
	if p.open.sent += len(text); p.open.sent > maxReopening {
		text = "\x1b]8;;\x1b\\"
		p.pen.SetLink(Link{})
		p.penChanged()
		p.linkChanged(Link{})
	}
	p.stream.meter.Add(len(text))
	return []byte(text)
}

// openLink is where the open link is noted, in a Frame's form.
func (p *printer) openLink() *OpenLink {
	if p.pen.link == (Link{}) || p.linkKnown() && p.open.row == p.screen.row() {
		return nil
	}
	for y, r := range p.screen.rows {
		if p.linkKnown() && r == p.open.row {
			return &OpenLink{Row: y}
		}
	}
	return &OpenLink{Row: -1}
}

// loadLink takes the open link of f, whose pen and screens were taken.
func (p *printer) loadLink(f *Frame) {
	y := p.screen.Y
	if f.Open != nil {
		y = f.Open.Row
	}
	if p.pen.link != (Link{}) && y >= 0 && y < len(p.screen.rows) {
		p.open.row = p.screen.rows[y]
		p.open.row.noted = true
	}
}
