package vt

// eraseDisplay implements ED and DECSED (ECMA-48 8.3.39, VT510); 3 is xterm's
// saved lines. keep leaves protected cells alone.
func (e *editor) eraseDisplay(what int, keep bool) {
	e.screen.Reach(e.modes.Origin)
	s := e.screen
	switch what {
	case 0:
		e.eraseLine(0, keep)
		e.eraseRows(min(s.Y+1, s.Rows), s.Rows, keep)
	case 1:
		if s.X+1 >= s.Cols && s.Y == s.Rows-1 {
			e.eraseAll(keep)
			return
		}
		e.eraseLine(1, keep)
		e.screen.rows[s.Y].wrapped = false
		if s.X+1 >= s.Cols {
			e.unwrap(s.Y + 1)
		}
		e.eraseRows(0, s.Y, keep)
	case 2:
		e.eraseRows(0, s.Rows, keep)
	case 3:
		if e.cfg.Guest {
			e.stream.Cut()
		}
		if s == e.main {
			e.hist.clear()
		}
	}
}

// eraseAll is ED 1 in the last column of the last row. There xterm.js 6
// reads a row below, throws, and stops for good; viewers get ED 2 instead, which
// does the same.
func (e *editor) eraseAll(keep bool) {
	e.eraseRows(0, e.screen.Rows, keep)
	text := "\x1b[2J"
	if keep {
		text = "\x1b[?2J"
	}
	e.stream.Replace([]byte(text)...)
}

// unwrap ends the wrapping of line i, counted from the oldest of history: the
// line below the cursor only while there is no history (xterm.js).
func (b *bufferSet) unwrap(i int) {
	if base := b.base(); i < base {
		b.hist.unwrap(i)
	} else if i -= base; i < b.screen.Rows {
		b.screen.rows[i].wrapped = false
	}
}

// eraseLine implements EL and DECSEL (ECMA-48 8.3.41, VT510).
func (e *editor) eraseLine(what int, keep bool) {
	e.screen.Reach(e.modes.Origin)
	if what > 2 {
		return
	}
	s := e.screen
	x0, x1 := s.EraseColumns(what)
	e.eraseCells(s.Y, x0, x1, keep)
	if what != 1 && x0 == 0 {
		e.screen.rows[s.Y].wrapped = false
	}
}

// restricted is the screen shown with the cursor inside, see cursor.Restrict.
func (b *bufferSet) restricted() *screen {
	b.screen.Restrict(b.modes.Origin)
	return b.screen
}

// eraseChars implements ECH (ECMA-48 8.3.38).
func (e *editor) eraseChars(n int) {
	s := e.restricted()
	e.eraseCells(s.Y, s.X, min(s.X+n, s.Cols), false)
}

// insertChars implements ICH (ECMA-48 8.3.64).
func (e *editor) insertChars(n int) {
	s := e.restricted()
	e.beforeInsert(s.X, s.Y, s.Y)
	s.insert(s.row(), s.X, n, e.blankStyle())
}

// deleteChars implements DCH (ECMA-48 8.3.26).
func (e *editor) deleteChars(n int) {
	s := e.restricted()
	s.remove(s.row(), s.X, n, e.blankStyle())
}

// moveLines scrolls the rows from the cursor's to the bottom margin, for IL and DL.
func (e *editor) moveLines(scroll func(s *screen, top, bottom, n int, style uint32)) {
	s := e.screen
	n := e.stream.Times(s.Rows)
	if s.Restrict(e.modes.Origin); s.InRegion() {
		scroll(s, s.Y, s.Bottom, n, e.blankStyle())
		s.X = 0
	}
}
