package vt

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// rectangle is a part of the screen in the operations of VT400 (VT510, DECERA and
// its relatives): columns and rows from 0, the last ones inside.
type rectangle struct{ top, left, bottom, right int }

// rectangle reads four parameters from parameter i on: top, left, bottom, right.
// Rows count from the top margin in origin mode. A parameter that is not given is the edge of
// the screen, and of the scroll region in origin mode. ok is false for an empty one.
func (e *editor) rectangle(i int) (r rectangle, ok bool) {
	in, s := &e.stream, e.screen
	first, last := 0, len(s.rows)-1
	if e.modes.Origin {
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

// rectangular does an operation on rows from the top down: row does it in row y and
// appends simpler sequences that do the same, which viewers get. Text overwrites, also in
// insert mode. Afterwards the cursor is where it was; a pending wrap has ended.
func (e *editor) rectangular(r rectangle, row func(text []byte, y int) []byte) {
	x, y, insert := min(e.screen.X, e.screen.Cols-1), e.screen.Y, e.modes.Insert
	text := e.expansion[:0]
	if insert {
		text = append(text, "\x1b[4l"...)
	}
	e.modes.Insert, e.repeating, e.stream.viewers = false, true, 0
	for at := r.top; at <= r.bottom && len(text) < maxExpansion; at++ {
		e.stream.before = 0
		text = row(text, at)
	}
	e.modes.Insert, e.repeating = insert, false
	if insert {
		text = append(text, "\x1b[4h"...)
	}
	e.moveTo(x, y)
	text = e.moveText(text, x, y)
	e.stream.meter.Add(len(text))
	if e.stream.Afford(len(text)) {
		e.stream.Replace(text...)
	}
	e.stream.quiet = false
	e.expansion = text
}

// eraseText appends ECH (ECMA-48 8.3.38) of n characters.
func eraseText(text []byte, n int) []byte { return countText(text, n, 'X') }

// countText appends a control sequence with one parameter.
func countText(text []byte, n int, final byte) []byte {
	return append(strconv.AppendInt(append(text, "\x1b["...), int64(n), 10), final)
}

// eraseFrom erases columns x0 to x1-1 of row y, and appends text that does. Where all is blank
// there is nothing to do, for viewers neither.
func (e *editor) eraseFrom(text []byte, y, x0, x1 int) []byte {
	r, style := e.screen.rows[y], e.blankStyle()
	if r.cells == nil && x0 >= r.used && style == 0 || x0 == 0 && r.holds(nil, x1, style) {
		return text
	}
	e.eraseCells(y, x0, x1, false)
	return eraseText(e.moveText(text, x0, y), x1-x0)
}

// eraseRectangle implements DECERA (VT510).
func (e *editor) eraseRectangle() {
	e.stream.Cut() // viewers may take what does nothing here for something
	if r, ok := e.rectangle(0); ok {
		e.rectangular(r, func(text []byte, y int) []byte { return e.eraseFrom(text, y, r.left, r.right+1) })
	}
}

// eraseUnprotected implements DECSERA (VT510): protected characters stay.
func (e *editor) eraseUnprotected() {
	e.stream.Cut() // viewers may take what does nothing here for something
	r, ok := e.rectangle(0)
	if !ok {
		return
	}
	whole := r.left == 0 && r.right == e.screen.Cols-1
	e.rectangular(r, func(text []byte, y int) []byte {
		row, style := e.screen.rows[y], e.blankStyle()
		if whole && row.used > 0 && row.isSpared(style) {
			return text
		}
		e.stream.meter.Add(len(row.cells) + len(row.runs))
		if !row.hasProtected(&e.styles) {
			return e.eraseFrom(text, y, r.left, r.right+1)
		}
		cells := e.screen.cells(row)
		e.stream.meter.Add(r.right - r.left)
		x := r.left
		for ; x <= r.right && len(text) < maxExpansion; x++ {
			from := x
			for x <= r.right && !e.styles.protected(cells[x]) {
				x++
			}
			if x > from {
				text = e.eraseFrom(text, y, from, x)
				cells = e.screen.cells(row)
			}
		}
		if whole && x > r.right {
			row.more().spared = sparedAt{row.version, row.used, style}
		}
		return text
	})
}

// fillRectangle implements DECFRA (VT510): parameter 0 is a printable character
// of ISO 8859-1, shown in the pen's style and the character set in force.
func (e *editor) fillRectangle() {
	e.stream.Cut() // viewers may take what does nothing here for something
	c := rune(e.stream.Param(0))
	r, ok := e.rectangle(1)
	if !ok || c < ' ' || c >= 0x7f && c < 0xa0 || c > 0xff || c == softHyphen {
		return
	}
	var buf [utf8.UTFMax]byte
	one := utf8.AppendRune(buf[:0], c)
	// Viewers get REP for all but the first: it prints the shown character in the character set
	// again.
	f := filling{first: e.charsets.Character(c)}
	f.rest = e.charsets.Character(f.first)
	f.text = utf8.AppendRune(f.text, f.first)
	f.text = append(f.text, bytes.Repeat(utf8.AppendRune(nil, f.rest), r.right-r.left)...)
	e.rectangular(r, func(text []byte, y int) []byte {
		if r.left == 0 && !e.linkShown() && e.screen.rows[y].holds(f.text, r.right+1, e.penStyle()) {
			e.stream.meter.Add(len(f.text) / costCopy)
			return text
		}
		e.moveTo(r.left, y)
		text = e.moveText(text, r.left, y)
		if e.linkShown() {
			text = append(text, e.linkForViewers()...)
		}
		e.screen.fillRow(e.screen.rows[y], r.left, r.right+1, &f, e.penStyle())
		text = append(text, one...)
		if more := r.right - r.left; more > 0 {
			text = countText(text, more, 'b')
		}
		return text
	})
}

// filling is what a row is filled with: narrow characters, which are text together.
type filling struct {
	first, rest rune
	text        []byte
}

// fillRow fills columns x0 to x1-1 of a row.
func (s *screen) fillRow(r *row, x0, x1 int, f *filling, style uint32) {
	if x0 == 0 {
		s.textForm(r, x1)
	}
	s.meter.Add(costRow + len(f.text)/costCopy)
	if r.cells == nil && x0 >= r.used {
		r.pad(x0)
		r.append(max(kindOf(f.first, 1), kindOf(f.rest, 1)), f.text, x1-x0, style)
		return
	}
	cells := s.cells(r)
	s.meter.Add(x1 - x0)
	r.version++
	s.clearLeftHalf(r, x0, style)
	rest := newCell(f.rest, 1, style)
	for x := x0; x < x1; x++ {
		cells[x] = rest
	}
	cells[x0] = newCell(f.first, 1, style)
	r.used = max(r.used, x1)
	s.clearRightHalf(r, x1, style)
}

// softHyphen has a width that terminals disagree about.
const softHyphen = 0xad
