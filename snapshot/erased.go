package snapshot

import "github.com/evertty/evertty/vt"

// An erased cell has no character, but may have a whole style: xterm.js leaves one
// when half of a wide character is overwritten, and in the last column when a wide
// character has no room there. Erasing gives no more than a background, so these ways
// are the ones that lead to such a cell here too.

// filler is a wide character that joins nothing.
const filler = "\u4e00"

// keepsStyle reports whether an erased cell keeps its whole style, and not only the
// background: more of it shows, or selective erasure spares the cell.
func keepsStyle(s vt.Style) bool {
	const keeps = vt.Inverse | vt.Strikethrough | vt.Overline | vt.Protected
	return s.Attr&keeps != 0 || s.Underline != 0 || s.Link != vt.Link{}
}

// keepsStyle reports whether c is an erased cell with more than a background.
func (c cell) keepsStyle() bool { return c.text == "" && keepsStyle(c.style) }

// savedBehindErased reports whether the alternate screen of f has saved a wrap that is
// pending behind such a cell. The cursor has to be saved before that cell is painted.
func savedBehindErased(f *vt.Frame) bool {
	if f.Alt == nil || !f.Alt.Saved.PendingWrap || f.Cols < 2 {
		return false
	}
	y := min(f.Alt.Saved.Y, f.Rows-1)
	return y >= 0 && cellAt(rowsToPaint(f)[y], f.Cols-1).keepsStyle()
}

// erased paints n erased cells of a style that they keep. One in the last column is
// held back: the wrap that follows leaves it behind.
func (p *linePainter) erased(n int, s vt.Style) {
	if p.anywhere || p.cols < 2 {
		p.spaces(n, s)
		return
	}
	if p.x+p.skip >= p.cols-p.ends {
		p.skip += n
		return
	}
	last := p.x+p.skip+n == p.cols
	if last {
		n--
	}
	p.erasedBefore(n, s)
	switch {
	case last && p.bottom:
		p.spaces(1, s)
	case last:
		p.held, p.holding = s, true
	}
}

// erasedBefore paints n erased cells, none of them in the last column: each is the
// first half of a wide character whose second one is overwritten.
func (p *linePainter) erasedBefore(n int, s vt.Style) {
	if n == 0 {
		return
	}
	p.catchUp()
	p.setPen(s)
	if p.joins(filler) {
		p.csi(p.x+1, 'G')
	}
	for range n {
		p.add(filler)
		p.x++
		p.csi(p.x+1, 'G')
	}
	p.add(" ")
	p.csi(p.x+1, 'G')
	p.setBackground(0)
	p.add("\x1b[X")
}

// wrapHeld leaves the row through the blank that is held in its last column, to the
// first column of the next row, which does not continue it and has no background.
func (p *linePainter) wrapHeld() {
	p.fill()
	p.setPen(vt.Style{})
	p.add("\x1b[K")
	p.nextRow()
}

// fill prints a wide character in the last column, where it does not fit, and goes back
// to the first column, of the next row. What it leaves in the last column is what a row
// that does not end in text has there: an erased cell, with the style or the background
// that is meant to be there. A row that comes in has the background that fill returns.
func (p *linePainter) fill() vt.Color {
	s := vt.Style{BG: p.tail}
	if p.holding {
		s = p.held
	}
	p.setPen(s)
	if p.x < p.cols {
		p.csi(p.cols, 'G')
	}
	p.add(filler + "\r")
	p.holding = false
	return s.BG
}

// endOfBottomRow paints the erased cells that end the bottom row of the screen, before
// the rest of the row: what wraps from there would scroll. Each is the second half of a
// wide character whose first one is overwritten, from right to left. The cursor is in
// the first column, before and after. A row with no other cells is left as it is.
func (p *linePainter) endOfBottomRow(end []vt.Style) {
	before := p.cols - len(end)
	if before == 0 {
		return
	}
	for i := len(end) - 1; i >= 0; i-- {
		p.csi(before+i, 'G')
		p.setPen(end[i])
		p.add(filler)
		p.csi(before+i, 'G')
		p.add(" ")
	}
	p.csi(before, 'G')
	p.setBackground(0)
	p.add("\x1b[X\r")
	p.x, p.ends = 0, len(end)
}

// erasedEnd is the style of each of the erased cells that end a row of cols columns, as
// far as they keep it.
func erasedEnd(l vt.Line, cols int) (end []vt.Style) {
	at := 0
	for s := range l.Spans() {
		n := min(s.Cells, cols-at)
		if at += n; s.Kind != vt.Blank || !keepsStyle(s.Style) {
			end = nil
			continue
		}
		for range n {
			end = append(end, s.Style)
		}
	}
	if at < cols {
		return nil
	}
	return end
}

// erasedRows is the number of rows at the bottom of a screen all of whose cells are
// erased ones that keep their style, as far as paintErasedRows can paint them.
func erasedRows(screen []vt.Line, rows, cols int) (n int) {
	if cols < 2 || len(screen) < rows {
		return 0
	}
	for n < rows && len(erasedEnd(screen[rows-1-n], cols)) == cols {
		n++
	}
	if others := rows - n; others == 0 || others == 1 && screen[0].Wrapped() {
		return 0
	}
	return n
}

// paintErasedRows paints the last n rows of the screen, which have no cell that could
// be printed: they need a row below them to wrap to, so they are painted higher up and
// pushed down. What is on the screen, all of it history, scrolls off before.
func (p *linePainter) paintErasedRows(screen []vt.Line, n int) {
	used := p.y + 1
	if p.holding {
		p.wrapHeld()
		used = p.y
	}
	p.setPen(vt.Style{})
	if p.history > 0 {
		p.moveTo(0, p.rows-1)
		for range used {
			p.add("\n")
		}
		p.moveTo(0, 0)
		if screen[0].Wrapped() {
			p.wrapFirst()
		}
	}
	p.x, p.skip, p.tail = 0, 0, 0
	from, line := min(p.rows-n-1, 1), p.line
	for i, l := range screen[p.rows-n:] {
		switch {
		case i == 0 && from == 0 && l.Wrapped():
			p.wrapFirst()
		case i == 0 && from == 0:
		case l.Wrapped():
			p.wrapByFiller()
		default:
			p.lineFeed()
		}
		p.line = p.history + p.rows - n + i + 1
		p.paintCells(l)
	}
	p.wrapHeld()
	p.line = line
	p.moveTo(0, from)
	p.csi(p.rows-n-from, 'L')
	p.moveTo(0, 0)
	p.entered, p.lastRow = true, p.rows-n-1
	p.x, p.skip, p.tail, p.y = 0, 0, 0, 0
}

// becomesSpace is the column of row y, of the screen s of f, whose erased cell becomes a
// space in a snapshot because no text makes it; -1 when there is none.
func becomesSpace(f *vt.Frame, s *vt.Screen, y int) int {
	end := erasedEnd(s.Lines[y], f.Cols)
	_, whole := erasedWith(s.Lines[y], f.Cols)
	switch {
	case f.Cols < 2 && len(end) > 0:
		return 0
	case f.Cols < 2:
		return -1
	case s == f.Alt && s.PendingWrap && y == s.Y && !whole && scrolled(f) == (scrolling{}):
		return f.Cols - 1
	case y == f.Rows-1 && len(end) == f.Cols && erasedRows(s.Lines, f.Rows, f.Cols) == 0:
		return f.Cols - 1
	}
	return -1
}
