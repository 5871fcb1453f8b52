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
	if keep {
		e.stream.Replace([]byte("\x1b[?2J")...)
	} else {
		e.stream.Replace([]byte("\x1b[2J")...)
	}
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

// eraseChars implements ECH (ECMA-48 8.3.38).
func (e *editor) eraseChars(n int) {
	e.screen.Restrict(e.modes.Origin)
	s := e.screen
	e.eraseCells(s.Y, s.X, min(s.X+n, s.Cols), false)
}

// insertChars implements ICH (ECMA-48 8.3.64).
func (e *editor) insertChars(n int) {
	e.screen.Restrict(e.modes.Origin)
	s := e.screen
	e.beforeInsert(s.X, s.Y, s.Y)
	s.insert(s.row(), s.X, n, e.blankStyle())
}

// deleteChars implements DCH (ECMA-48 8.3.26).
func (e *editor) deleteChars(n int) {
	e.screen.Restrict(e.modes.Origin)
	s := e.screen
	s.remove(s.row(), s.X, n, e.blankStyle())
}

// insertLines implements IL (ECMA-48 8.3.67).
func (e *editor) insertLines(n int) {
	e.screen.Restrict(e.modes.Origin)
	if s := e.screen; s.InRegion() {
		s.scrollDown(s.Y, s.Bottom, n, e.blankStyle())
		s.X = 0
	}
}

// deleteLines implements DL (ECMA-48 8.3.32).
func (e *editor) deleteLines(n int) {
	e.screen.Restrict(e.modes.Origin)
	if s := e.screen; s.InRegion() {
		s.scrollUp(s.Y, s.Bottom, n, e.blankStyle())
		s.X = 0
	}
}
