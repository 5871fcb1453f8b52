package vt

// eraseDisplay implements ED and DECSED (ECMA-48 8.3.39, VT510); 3 is xterm's
// saved lines. keep leaves protected cells alone.
func (t *Terminal) eraseDisplay(what int, keep bool) {
	t.screen.Reach(t.modes.Origin)
	s := t.screen
	switch what {
	case 0:
		t.eraseLine(0, keep)
		t.eraseRows(min(s.Y+1, s.Rows), s.Rows, keep)
	case 1:
		if s.X+1 >= s.Cols && s.Y == s.Rows-1 {
			t.eraseAll(keep)
			return
		}
		t.eraseLine(1, keep)
		t.screen.rows[s.Y].wrapped = false
		if s.X+1 >= s.Cols {
			t.unwrap(s.Y + 1)
		}
		t.eraseRows(0, s.Y, keep)
	case 2:
		t.eraseRows(0, s.Rows, keep)
	case 3:
		if t.cfg.Guest {
			t.stream.Cut()
		}
		if s == t.main {
			t.hist.clear()
		}
	}
}

// eraseAll is ED 1 in the last column of the last row. There xterm.js 6
// reads a row below, throws, and stops for good; viewers get ED 2 instead, which
// does the same.
func (t *Terminal) eraseAll(keep bool) {
	t.eraseRows(0, t.screen.Rows, keep)
	if keep {
		t.stream.Replace([]byte("\x1b[?2J")...)
	} else {
		t.stream.Replace([]byte("\x1b[2J")...)
	}
}

// unwrap ends the wrapping of line i, counted from the oldest of history: the
// line below the cursor only while there is no history (xterm.js).
func (t *Terminal) unwrap(i int) {
	if base := t.base(); i < base {
		t.hist.unwrap(i)
	} else if i -= base; i < t.screen.Rows {
		t.screen.rows[i].wrapped = false
	}
}

// eraseLine implements EL and DECSEL (ECMA-48 8.3.41, VT510).
func (t *Terminal) eraseLine(what int, keep bool) {
	t.screen.Reach(t.modes.Origin)
	if what > 2 {
		return
	}
	s := t.screen
	x0, x1 := s.EraseColumns(what)
	t.eraseCells(s.Y, x0, x1, keep)
	if what != 1 && x0 == 0 {
		t.screen.rows[s.Y].wrapped = false
	}
}

// eraseChars implements ECH (ECMA-48 8.3.38).
func (t *Terminal) eraseChars(n int) {
	t.screen.Restrict(t.modes.Origin)
	s := t.screen
	t.eraseCells(s.Y, s.X, min(s.X+n, s.Cols), false)
}

// insertChars implements ICH (ECMA-48 8.3.64).
func (t *Terminal) insertChars(n int) {
	t.screen.Restrict(t.modes.Origin)
	s := t.screen
	t.beforeInsert(s.X, s.Y, s.Y)
	s.insert(s.row(), s.X, n, t.blankStyle())
}

// deleteChars implements DCH (ECMA-48 8.3.26).
func (t *Terminal) deleteChars(n int) {
	t.screen.Restrict(t.modes.Origin)
	s := t.screen
	s.remove(s.row(), s.X, n, t.blankStyle())
}

// insertLines implements IL (ECMA-48 8.3.67).
func (t *Terminal) insertLines(n int) {
	t.screen.Restrict(t.modes.Origin)
	if s := t.screen; s.InRegion() {
		s.scrollDown(s.Y, s.Bottom, n, t.blankStyle())
		s.X = 0
	}
}

// deleteLines implements DL (ECMA-48 8.3.32).
func (t *Terminal) deleteLines(n int) {
	t.screen.Restrict(t.modes.Origin)
	if s := t.screen; s.InRegion() {
		s.scrollUp(s.Y, s.Bottom, n, t.blankStyle())
		s.X = 0
	}
}
