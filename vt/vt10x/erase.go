package vt10x

import "github.com/evertty/evertty/vt"

// eraseDisplay implements ED and DECSED (ECMA-48 8.3.39, VT510); 3 is xterm's
// saved lines. keep leaves protected cells alone.
func (e *engine) eraseDisplay(what int, keep bool) {
	e.reach()
	s := e.cur
	switch what {
	case 0:
		e.eraseLine(0, keep)
		e.eraseRows(s.Y+1, s.Rows-1, keep)
	case 1:
		if s.X+1 >= s.Cols && s.Y == s.Rows-1 {
			e.eraseAll(keep)
			return
		}
		e.eraseLine(1, keep)
		s.row[s.Y].wrapped = false
		if s.X+1 >= s.Cols {
			e.unwrap(s.Y + 1)
		}
		e.eraseRows(0, s.Y-1, keep)
	case 2:
		e.eraseRows(0, s.Rows-1, keep)
	case 3:
		if s == e.main {
			e.hist.clear()
		}
	}
}

// eraseAll is ED 1 in the last cell of the screen. xterm.js 6 does not survive
// that, as there is no row below; viewers get ED 2, which does the same.
func (e *engine) eraseAll(keep bool) {
	e.eraseRows(0, e.cur.Rows-1, keep)
	instead := "\x1b[2J"
	if keep {
		instead = "\x1b[?2J"
	}
	e.in.Replace([]byte(instead)...)
}

// unwrap ends the wrapping of line i, counted from the oldest of history, as
// xterm.js does where the row below the cursor is meant.
func (e *engine) unwrap(i int) {
	if base := e.base(); i < base {
		e.hist.unwrap(i)
	} else if i-base < e.cur.Rows {
		e.cur.row[i-base].wrapped = false
	}
}

// eraseLine implements EL and DECSEL (ECMA-48 8.3.41, VT510).
func (e *engine) eraseLine(what int, keep bool) {
	e.reach()
	if what > 2 {
		return
	}
	s := e.cur
	x0, x1 := s.EraseColumns(what)
	e.eraseCells(s.Y, x0, x1, keep)
	if what != 1 && x0 == 0 {
		s.row[s.Y].wrapped = false
	}
}

// eraseCells erases columns x0 to x1-1 of row y.
func (e *engine) eraseCells(y, x0, x1 int, keep bool) {
	s := e.cur
	x1 = min(x1, s.Cols)
	if !keep {
		s.erase(y, x0, x1, e.blank())
		return
	}
	s.flush()
	from := x0
	for x := x0; x < x1; x++ {
		if e.looks.kind(s.look(x, y)).style.Attr&vt.Protected != 0 {
			s.erase(y, from, x, e.blank())
			s.flush()
			from = x + 1
		}
	}
	s.erase(y, from, x1, e.blank())
}

// eraseRows erases rows y0 to y1.
func (e *engine) eraseRows(y0, y1 int, keep bool) {
	s := e.cur
	if !keep {
		if y0 <= y1 {
			s.eraseRows(y0, y1, e.blank())
		}
		return
	}
	for y := y0; y <= y1; y++ {
		e.eraseCells(y, 0, s.Cols, true)
		s.row[y].wrapped = false
	}
}

// eraseChars implements ECH (ECMA-48 8.3.38).
func (e *engine) eraseChars(n int) {
	e.restrict()
	s := e.cur
	s.erase(s.Y, s.X, min(s.X+n, s.Cols), e.blank())
}

// insertChars implements ICH (ECMA-48 8.3.64).
func (e *engine) insertChars(n int) {
	e.restrict()
	e.cur.insert(e.cur.X, e.cur.Y, n, e.blank())
}

// deleteChars implements DCH (ECMA-48 8.3.26).
func (e *engine) deleteChars(n int) {
	e.restrict()
	e.cur.remove(e.cur.X, e.cur.Y, n, e.blank())
}

// insertLines implements IL (ECMA-48 8.3.67).
func (e *engine) insertLines(n int) {
	e.restrict()
	if s := e.cur; s.InRegion() {
		s.scrollDown(s.Y, s.Bottom, n, e.blank())
		s.X = 0
	}
}

// deleteLines implements DL (ECMA-48 8.3.32).
func (e *engine) deleteLines(n int) {
	e.restrict()
	if s := e.cur; s.InRegion() {
		s.scrollUp(s.Y, s.Bottom, n, e.blank())
		s.X = 0
	}
}

// scrollUp implements SU (ECMA-48 8.3.147).
func (e *engine) scrollUp(n int) { e.cur.scrollUp(e.cur.Top, e.cur.Bottom, n, e.blank()) }

// scrollDown implements SD (ECMA-48 8.3.113); new lines have the default colour.
func (e *engine) scrollDown(n int) { e.cur.scrollDown(e.cur.Top, e.cur.Bottom, n, erased) }

// shiftColumns moves the cells from column x on by n in every row of the region,
// right when n is positive: SL, SR, DECIC and DECDC (ECMA-48 8.3.121, 8.3.135, VT510).
func (e *engine) shiftColumns(x, n int) {
	s := e.cur
	if !s.InRegion() {
		return
	}
	for y := s.Top; y <= s.Bottom; y++ {
		if n > 0 {
			s.insert(x, y, n, e.blank())
		} else {
			s.remove(x, y, -n, e.blank())
		}
		s.row[y].wrapped = false
	}
}
