package vt

import (
	"math"
	"strings"
)

// xterm.js 6 notes in which lines a link was opened and printed, and forgets its address when the last of these lines is gone: it
// left the history or the alternate screen, or ED, IL, DL, SU or SD removed it. What is printed with the link from then on
// shows that it is one, and leads nowhere. Cells go with their lines; so only the open link matters, which outlives them.

// openLink is what is known of the notes of the open link. The zero value is none.
type openLink struct {
	number uint32 // in row.noted of the rows with a note; 0 when no link is open, or it was forgotten
	opened uint32 // links so far
	// above is how many lines have to go into the history until the newest note there leaves it, 0 when there is none.
	above int
}

// endless is openLink.above of a link whose notes nobody knows: it is never forgotten.
const endless = math.MaxInt

// OpenLink is where xterm.js has noted the open link, when that is not just the cursor's row.
type OpenLink struct {
	Rows  []int // of the screen shown, ascending
	Above bool  // in the history too; also of a link of which nobody knows all places
	Below bool  // on the main screen too, while the alternate one is shown
}

// forgotten begins the ID of a link whose address xterm.js has forgotten. In OSC 8 it ends a parameter, so no program's ID has it.
const forgotten = ":"

// Forgotten tells whether xterm.js has forgotten where the link leads.
func (l Link) Forgotten() bool { return strings.HasPrefix(l.ID, forgotten) }

// Known is the link as it was before it was forgotten.
func (l Link) Known() Link {
	l.ID = strings.TrimPrefix(l.ID, forgotten)
	return l
}

// followLink notes a link that OSC 8 has just opened, or closed when it is none. One with an ID may have been opened elsewhere before, and is never forgotten here.
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

// noteLink notes that the open link is printed in the cursor's row. A link that was forgotten is not noted any more.
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
	t.setPen()
}

// linkKnown tells whether a note of the open link is left.
func (t *Terminal) linkKnown() bool {
	return t.open.above > 0 || t.noted(t.main) != nil || t.screen != t.main && t.noted(t.screen) != nil
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

// notes is how many rows have a note of the open link.
func (t *Terminal) notes() int {
	switch {
	case t.open.number == 0:
		return 0
	case t.alt == nil:
		return len(t.noted(t.main))
	}
	return len(t.noted(t.main)) + len(t.noted(t.alt))
}

// noteKept accounts for a row that goes into the history.
func (t *Terminal) noteKept(r *row) {
	switch o := &t.open; {
	case o.number == 0 || o.above == endless:
	case r.noted == o.number:
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
	o := &OpenLink{Rows: t.noted(t.screen), Above: t.open.above > 0, Below: t.screen != t.main && t.noted(t.main) != nil}
	if o.Above || o.Below || len(o.Rows) != 1 || o.Rows[0] != t.screen.Y {
		f.Open = o
	}
}

// thawLink takes the open link of f, whose pen was taken.
func (t *Terminal) thawLink(f *Frame) {
	if t.pen.link == (Link{}) || t.pen.link.Forgotten() {
		return
	}
	t.open = openLink{number: 1, opened: 1}
	o := f.Open
	if o == nil {
		o = &OpenLink{Rows: []int{t.screen.Y}}
	}
	for _, y := range o.Rows {
		if y >= 0 && y < len(t.screen.rows) {
			t.screen.rows[y].noted = t.open.number
		}
	}
	if o.Above {
		t.open.above = endless
	}
	if o.Below {
		t.main.row().noted = t.open.number
	}
}

// keepingNotes leaves the notes of the open link where they are while f moves the rows of the scroll region: xterm.js moves these
// without telling anybody.
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
