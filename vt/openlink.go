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
	Row int // of the screen shown; -1 when nobody knows, and the link is opened again before it is printed
}

// linkChanged takes a new link of the pen. xterm.js notes a link where OSC 8 opens it.
func (t *Terminal) linkChanged(l Link) {
	t.loseLink()
	t.open.sent = 0
	if l != (Link{}) {
		t.keepLink()
	}
}

// linkShown reports whether the pen has a link and printed characters get it.
func (t *Terminal) linkShown() bool {
	return t.pen.extended && len(t.pen.link.URI)+len(t.pen.link.ID) > 0
}

// linkKnown reports whether the line is there in which the open link is noted.
func (t *Terminal) linkKnown() bool { return t.open.row != nil && t.open.row.noted }

// keepLink notes the open link in the cursor's row, and counts on no other note.
func (t *Terminal) keepLink() {
	t.loseLink()
	t.open.row = t.screen.row()
	t.open.row.noted = true
}

// loseLink counts on no note of the open link.
func (t *Terminal) loseLink() {
	if t.open.row != nil {
		t.open.row.noted, t.open.row = false, nil
	}
}

// noteLink notes the link that is printed next. Text that goes on keeps the line where it began.
func (t *Terminal) noteLink() {
	if t.stream.before != 0 {
		return
	}
	if text := t.linkForViewers(); text != nil {
		t.stream.InsertPrinted(0, text)
		t.stream.viewers = 0
	}
}

// noteLinkHere notes the link that was printed. The first character of a row that was wrapped
// to is noted in the row before.
func (t *Terminal) noteLinkHere() {
	if s := t.screen; t.linkShown() && s.X > 1 && (s.X > 2 || !s.row().beginsWide()) {
		t.keepLink()
	}
}

// linkForViewers notes the link of the pen in the cursor's row, where it is printed next, and
// returns what viewers need before: nothing, or a sequence that opens it again or ends it.
func (t *Terminal) linkForViewers() (text []byte) {
	if !t.linkKnown() {
		text = t.linkAgain()
	}
	if t.linkShown() {
		t.keepLink()
	}
	return text
}

// linkAgain opens the link of the pen again for viewers, or ends it.
func (t *Terminal) linkAgain() []byte {
	l := t.pen.link
	text := "\x1b]8;"
	if l.ID != "" {
		text += "id=" + l.ID
	}
	text += ";" + l.URI + "\x1b\\"
	if t.open.sent += len(text); t.open.sent > maxReopening {
		text = "\x1b]8;;\x1b\\"
		t.pen.SetLink(Link{})
		t.penChanged()
		t.linkChanged(Link{})
	}
	t.stream.meter.Add(len(text))
	return []byte(text)
}

// openLink is where the open link is noted, in a Frame's form.
func (t *Terminal) openLink() *OpenLink {
	if t.pen.link == (Link{}) || t.linkKnown() && t.open.row == t.screen.row() {
		return nil
	}
	for y, r := range t.screen.rows {
		if t.linkKnown() && r == t.open.row {
			return &OpenLink{Row: y}
		}
	}
	return &OpenLink{Row: -1}
}

// loadLink takes the open link of f, whose pen and screens were taken.
func (t *Terminal) loadLink(f *Frame) {
	y := t.screen.Y
	if f.Open != nil {
		y = f.Open.Row
	}
	if t.pen.link != (Link{}) && y >= 0 && y < len(t.screen.rows) {
		t.open.row = t.screen.rows[y]
		t.open.row.noted = true
	}
}
