package vt

import (
	"math"
	"strings"
)

// xterm.js 6 notes in which lines a link was opened and printed, and forgets its address
// when the last of these lines is gone: it left the history or the alternate screen, or
// ED, IL, DL, SU or SD removed it. What is printed with the link from then on shows that
// it is one, and leads nowhere. Cells go with their lines; so only the open link matters,
// which outlives them.

// openLink is the state of the open link. The zero value is none.
type openLink struct {
	number uint32 // in row.noted of the rows with a note; 0 when no link is open, or it was forgotten
	opened uint32 // links so far
	// above is how many lines have to go into the history until the newest note there
	// leaves it, 0 when there is none.
	above int
}

// endless is openLink.above of a link whose notes nobody knows: it is never forgotten.
const endless = math.MaxInt

// OpenLink is where xterm.js has noted the open link, when that is not just the cursor's row.
type OpenLink struct {
	Rows  []int // of the screen shown, ascending
	Below []int // of the main screen while the alternate one is shown, ascending
	Above bool  // in the history too; also of a link of which nobody knows all places
}

// forgotten begins the ID of a link whose address xterm.js has forgotten. In OSC 8 it
// ends a parameter, so no program's ID has it.
const forgotten = ":"

// Forgotten reports whether xterm.js has forgotten where the link leads.
func (l Link) Forgotten() bool { return strings.HasPrefix(l.ID, forgotten) }

// Known is the link as it was before it was forgotten.
func (l Link) Known() Link {
	l.ID = strings.TrimPrefix(l.ID, forgotten)
	return l
}

// followLink notes a link that OSC 8 has just opened, or closed when it is none. One with
// an ID may have been opened elsewhere before, and is never forgotten here.
func (t *Terminal) followLink(l Link) {
	o := &t.open
	if l == (Link{}) {
		o.number, o.above = 0, 0
		return
	}
	o.opened++
	o.number, o.above = o.opened, 0
	if l.ID != "" {
		o.above = endless
	}
	t.screen.row().noted = o.number
}

// noteLink notes that the open link is printed in the cursor's row. A link that was
// forgotten is not noted any more.
func (t *Terminal) noteLink() {
	n := t.open.number
	if n == 0 || t.screen.row().noted == n {
		return
	}
	if t.linkKnown() {
		t.screen.row().noted = n
		return
	}
	t.open.number = 0
	t.pen.link.ID = forgotten + t.pen.link.ID
	t.penChanged()
}

// linkKnown reports whether a note of the open link is left.
func (t *Terminal) linkKnown() bool {
	return t.open.above > 0 || t.hasNote(t.main) || t.screen != t.main && t.hasNote(t.screen)
}

// hasNote reports whether a row of a screen has a note of the open link. It looks first at
// the cursor's row and those above, where notes are made.
func (t *Terminal) hasNote(s *screen) bool {
	n := len(s.rows)
	for i := range n {
		if s.rows[(s.Y+n-i)%n].noted == t.open.number {
			t.stream.meter.Add(i)
			return true
		}
	}
	t.stream.meter.Add(n)
	return false
}

// noted are the rows of a screen with a note of the open link.
func (t *Terminal) noted(s *screen) (rows []int) {
	for y, r := range s.rows {
		if r.noted == t.open.number {
			rows = append(rows, y)
		}
	}
	return rows
}

// newestAbove is the line of the history, counted from the oldest, with the newest note
// of the open link there; -1 when there is none.
func (t *Terminal) newestAbove() int {
	if o := &t.open; o.number != 0 && o.above > 0 && o.above != endless {
		return t.hist.count - 1 - (t.hist.limit - o.above)
	}
	return -1
}

// forgetAbove makes ready for the lines of b to go into the history anew. Only the newest
// note of the open link in the history is known: when its line is no more, or nobody
// knows where xterm.js has a note, the link is never forgotten.
func (t *Terminal) forgetAbove(b *buffer) {
	o := &t.open
	if o.number == 0 || o.above == endless {
		return
	}
	lost := o.above > 0 && b.notes() <= len(t.noted(t.main))
	o.above = 0
	if b.dropped || lost {
		o.above = endless
	}
}

// notes is how many lines have a note of the open link.
func (b *buffer) notes() (n int) {
	for i := range b.lines {
		if b.lines[i].noted == b.link {
			n++
		}
	}
	return n
}

// noteKept accounts for a row with this note that goes into the history.
func (t *Terminal) noteKept(noted uint32) {
	switch o := &t.open; {
	case o.number == 0 || o.above == endless:
	case noted == o.number:
		o.above = t.hist.limit
	case o.above > 0:
		o.above--
	}
}

// freezeLink writes pen and open link into f.
func (t *Terminal) freezeLink(f *Frame) {
	pen := t.pen
	defer func() { pen.Freeze(f) }()
	if t.open.number == 0 {
		return
	}
	if !t.linkKnown() {
		pen.link.ID = forgotten + pen.link.ID
		return
	}
	o := &OpenLink{Rows: t.noted(t.screen), Above: t.open.above > 0}
	if t.screen != t.main {
		o.Below = t.noted(t.main)
	}
	if o.Above || o.Below != nil || len(o.Rows) != 1 || o.Rows[0] != t.screen.Y {
		f.Open = o
	}
}

// loadLink takes the open link of f, whose pen was taken.
func (t *Terminal) loadLink(f *Frame) {
	if t.pen.link == (Link{}) || t.pen.link.Forgotten() {
		return
	}
	t.open = openLink{number: 1, opened: 1}
	o := f.Open
	if o == nil {
		o = &OpenLink{Rows: []int{t.screen.Y}}
	}
	t.note(t.screen, o.Rows)
	t.note(t.main, o.Below)
	if o.Above {
		t.open.above = endless
	}
}

// note notes the open link in these rows of a screen; those that it does not have are left out.
func (t *Terminal) note(s *screen, rows []int) {
	for _, y := range rows {
		if y >= 0 && y < len(s.rows) {
			s.rows[y].noted = t.open.number
		}
	}
}

// keepingNotes leaves the notes of the open link where they are while f moves the rows of
// the scroll region: xterm.js moves these without telling anybody.
func (t *Terminal) keepingNotes(f func()) {
	s := t.screen
	if t.open.number == 0 {
		f()
		return
	}
	region := s.rows[s.Top : s.Bottom+1]
	notes := make([]uint32, len(region))
	for i, r := range region {
		notes[i] = r.noted
	}
	f()
	for i, r := range region {
		r.noted = notes[i]
	}
}
