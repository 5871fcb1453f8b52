package vt

import (
	"fmt"
	"unicode/utf8"
)

func (fx *Effects) reply(p []byte) {
	if fx.Reply != nil {
		fx.Reply(p)
	}
}

// reply gives an answer to the program, and takes the query out of the viewers'
// text. Without an answer it does nothing.
func (t *Terminal) reply(answer []byte) {
	if len(answer) > 0 {
		t.cfg.Effects.reply(answer)
		t.stream.Cut()
	}
}

// status is what programs can ask for.
func (t *Terminal) status() *Status {
	s := t.screen
	return &Status{
		Cols: s.Cols, Rows: len(s.rows), X: min(s.X, s.Cols-1), Y: s.Y, Top: s.Top, Bottom: s.Bottom,
		Modes: t.modes, Pen: t.pen.Style(), CursorStyle: t.cursorStyle, Unicode: t.cfg.Unicode,
	}
}

// query answers the control sequences that ask.
func (t *Terminal) query(f Function) {
	if f == '*'*Intermediate+'y' {
		t.reply(t.checksum())
	} else {
		t.reply(t.status().CSI(&t.stream, f))
	}
}

// checksum answers DECRQCRA (VT510): the negative sum of the character
// codes in a rectangle, blanks as spaces (xterm's checksum with attributes left
// out, which is what esctest reads the screen with).
func (t *Terminal) checksum() []byte {
	in, s := &t.stream, t.screen
	origin := 0
	if t.modes.Origin {
		origin = s.Top
	}
	edge := func(i, last int) int { // a bottom or right edge that is not given is the last
		if v := in.Param(i); v > 0 {
			return min(v, last)
		}
		return last
	}
	sum := 0
	left, right := in.One(3)-1, edge(5, s.Cols)
	for y := in.One(2) - 1 + origin; y < edge(4, len(s.rows)-origin)+origin; y++ {
		sum += t.sumCells(s.rows[y], left, right)
	}
	return fmt.Appendf(nil, "\x1bP%d!~%04X\x1b\\", in.Param(0), -sum&0xffff)
}

// sumCells adds up the first characters of the cells from left to right-1.
func (t *Terminal) sumCells(r *row, left, right int) (sum int) {
	cells := t.screen.cells(r)
	for x := left; x < right; x++ {
		switch c := cells[x]; {
		case c&cellCluster != 0:
			first, _ := utf8.DecodeRuneInString(r.clusters[c&cellChar])
			sum += int(first)
		case c&cellChar != 0:
			sum += int(c & cellChar)
		default:
			sum += ' '
		}
	}
	return sum
}

// OSC implements Handler.
func (h *handler) OSC(text []byte) {
	t := (*Terminal)(h)
	if link, ok := t.labels.OSC(&t.stream, text, t.cfg.Effects); ok {
		t.pen.SetLink(link)
		t.followLink(link)
		t.setPen()
	}
}

// DCS implements Handler. Strings that are not a query do nothing: sixel images
// are consumed.
func (h *handler) DCS(text []byte) {
	t := (*Terminal)(h)
	t.reply(t.status().DCS(text))
}
