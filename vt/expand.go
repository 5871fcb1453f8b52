package vt

import "strconv"

// expand executes the sequence at hand as the text, which is made of simpler
// sequences, and gives viewers that text in its place. So they show what this
// terminal shows, also where xterm.js does not know the sequence itself.
//
// The text is whole: it ends outside of any sequence.
func (x *executor) expand(text []byte) {
	outer := x.stream
	x.stream = stream{meter: meter{done: outer.meter.done + len(text)}}
	seen := x.stream.Write(text, (*terminalHandler)(x))
	outer.meter.done = x.stream.meter.done
	x.stream = outer
	x.stream.Replace(seen...)
}

// moveText appends CUP (ECMA-48 8.3.21) to a cell, in the origin mode in force.
// Other movements count from the margin twice there, as in xterm.js.
func (b *bufferSet) moveText(text []byte, x, y int) []byte {
	if b.modes.Origin {
		y = max(y-b.screen.Top, 0)
	}
	text = append(strconv.AppendInt(append(text, "\x1b["...), int64(y+1), 10), ';')
	return append(strconv.AppendInt(text, int64(x+1), 10), 'H')
}

// moveTo does what the sequence of moveText does.
func (b *bufferSet) moveTo(x, y int) {
	if b.modes.Origin {
		y = max(y-b.screen.Top, 0)
	}
	b.screen.MoveTo(x, y, b.modes.Origin)
}

// backIndex implements DECBI (VT510): a column to the left, or in the first
// column the scroll region moves to the right.
func (x *executor) backIndex() {
	if s := x.screen; s.X > 0 || !s.InRegion() {
		x.expand(x.moveText(nil, max(s.X-1, 0), s.Y))
	} else {
		x.expand([]byte("\x1b[ A")) // SR (ECMA-48 8.3.135)
	}
}

// forwardIndex implements DECFI (VT510), the mirror of DECBI.
func (x *executor) forwardIndex() {
	if s := x.screen; s.X < s.Cols-1 || !s.InRegion() {
		x.expand(x.moveText(nil, min(s.X+1, s.Cols-1), s.Y))
	} else {
		x.expand([]byte("\x1b[ @")) // SL (ECMA-48 8.3.121)
	}
}
