package vt

import (
	"fmt"
	"unicode/utf8"
)

// rectangle is a part of the screen in the operations of VT400 (VT510, DECERA and
// its relatives): columns and rows from 0, the last ones inside.
type rectangle struct{ top, left, bottom, right int }

// rectangle reads four parameters from parameter i on: top, left, bottom, right.
// Rows count from the top margin in origin mode. A parameter that is not given is the edge of
// the screen, and of the scroll region in origin mode. ok is false for an empty one.
func (t *Terminal) rectangle(i int) (r rectangle, ok bool) {
	in, s := &t.stream, t.screen
	first, last := 0, len(s.rows)-1
	if t.modes.Origin {
		first, last = s.Top, s.Bottom
	}
	edge := func(i, origin, limit int) int {
		if v := in.Param(i); v > 0 {
			return min(v-1+origin, limit)
		}
		return limit
	}
	r = rectangle{
		top: first + in.One(i) - 1, left: in.One(i+1) - 1,
		bottom: edge(i+2, first, last), right: edge(i+3, 0, s.Cols-1),
	}
	return r, r.top <= r.bottom && r.left <= r.right
}

// maxExpansion bounds the text that an operation on a rectangle becomes, in bytes:
// enough for the tallest screen with a piece in every row. What would come behind
// it is left as it is.
const maxExpansion = 16 << 10

// rectangular expands an operation on rows from the top down: row appends the text
// for row y. Text overwrites, also in insert mode. Afterwards the cursor
// is where it was; a pending wrap has ended.
func (t *Terminal) rectangular(r rectangle, row func(text []byte, y int) []byte) {
	x, y := min(t.screen.X, t.screen.Cols-1), t.screen.Y
	var text []byte
	if t.modes.Insert {
		text = append(text, "\x1b[4l"...)
	}
	for at := r.top; at <= r.bottom && len(text) < maxExpansion; at++ {
		text = row(text, at)
	}
	if t.modes.Insert {
		text = append(text, "\x1b[4h"...)
	}
	t.expand(t.moveText(text, x, y))
}

// eraseText appends ECH (ECMA-48 8.3.38) of n characters.
func eraseText(text []byte, n int) []byte { return fmt.Appendf(text, "\x1b[%dX", n) }

// eraseRectangle implements DECERA (VT510).
func (t *Terminal) eraseRectangle() {
	if r, ok := t.rectangle(0); ok {
		t.rectangular(r, func(text []byte, y int) []byte {
			return eraseText(t.moveText(text, r.left, y), r.right-r.left+1)
		})
	}
}

// eraseUnprotected implements DECSERA (VT510): protected characters stay.
func (t *Terminal) eraseUnprotected() {
	r, ok := t.rectangle(0)
	if !ok {
		return
	}
	t.rectangular(r, func(text []byte, y int) []byte {
		cells := t.screen.cells(t.screen.rows[y])
		for x := r.left; x <= r.right && len(text) < maxExpansion; x++ {
			from := x
			for x <= r.right && !t.styles.protected(cells[x]) {
				x++
			}
			if x > from {
				text = eraseText(t.moveText(text, from, y), x-from)
			}
		}
		return text
	})
}

// fillRectangle implements DECFRA (VT510): parameter 0 is a printable character
// of ISO 8859-1, shown in the pen's style and the character set in force.
func (t *Terminal) fillRectangle() {
	c := rune(t.stream.Param(0))
	r, ok := t.rectangle(1)
	if !ok || c < ' ' || c >= 0x7f && c < 0xa0 || c > 0xff || c == softHyphen {
		return
	}
	t.rectangular(r, func(text []byte, y int) []byte {
		text = utf8.AppendRune(t.moveText(text, r.left, y), c)
		if more := r.right - r.left; more > 0 {
			text = fmt.Appendf(text, "\x1b[%db", more)
		}
		return text
	})
}

// softHyphen has a width that terminals disagree about.
const softHyphen = 0xad
