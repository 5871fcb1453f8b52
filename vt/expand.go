package vt

import "strconv"

// expand executes the sequence at hand as the text, which is made of simpler
// sequences, and gives viewers that text in its place. So they show what this
// terminal shows, also where xterm.js does not know the sequence itself.
//
// The text is whole: it ends outside of any sequence.
func (t *Terminal) expand(text []byte) {
	outer := t.stream
	t.stream = stream{meter: meter{done: outer.meter.done + len(text)}}
	seen := t.stream.Write(text, (*terminalHandler)(t))
	outer.meter.done = t.stream.meter.done
	t.stream = outer
	t.stream.Replace(seen...)
}

// moveText appends CUP (ECMA-48 8.3.21) to a cell, in the origin mode in force.
// Other movements count from the margin twice there, as in xterm.js.
func (t *Terminal) moveText(text []byte, x, y int) []byte {
	if t.modes.Origin {
		y = max(y-t.screen.Top, 0)
	}
	text = append(strconv.AppendInt(append(text, "\x1b["...), int64(y+1), 10), ';')
	return append(strconv.AppendInt(text, int64(x+1), 10), 'H')
}

// moveTo does what the sequence of moveText does.
func (t *Terminal) moveTo(x, y int) {
	if t.modes.Origin {
		y = max(y-t.screen.Top, 0)
	}
	t.screen.MoveTo(x, y, t.modes.Origin)
}

// backIndex implements DECBI (VT510): a column to the left, or in the first
// column the scroll region moves to the right.
func (t *Terminal) backIndex() {
	if s := t.screen; s.X > 0 || !s.InRegion() {
		t.expand(t.moveText(nil, max(s.X-1, 0), s.Y))
	} else {
		t.expand([]byte("\x1b[ A")) // SR (ECMA-48 8.3.135)
	}
}

// forwardIndex implements DECFI (VT510), the mirror of DECBI.
func (t *Terminal) forwardIndex() {
	if s := t.screen; s.X < s.Cols-1 || !s.InRegion() {
		t.expand(t.moveText(nil, min(s.X+1, s.Cols-1), s.Y))
	} else {
		t.expand([]byte("\x1b[ @")) // SL (ECMA-48 8.3.121)
	}
}
