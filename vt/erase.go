package vt

// eraseDisplay implements ED and DECSED (ECMA-48 8.3.39, VT510); 3 is xterm's
// saved lines. keep leaves protected cells alone.
func (t *Terminal) eraseDisplay(what int, keep bool) {
	t.reach()
	s := t.screen
	switch what {
	case 0:
		t.eraseLine(0, keep)
		t.eraseRows(s.Y+1, len(s.rows), keep)
	case 1:
		if s.X+1 >= s.Cols && s.Y == len(s.rows)-1 {
			t.eraseAll(keep)
			return
		}
		t.eraseLine(1, keep)
		s.row().wrapped = false
		if s.X+1 >= s.Cols {
			t.unwrap(s.Y + 1)
		}
		t.eraseRows(0, s.Y, keep)
	case 2:
		t.eraseRows(0, len(s.rows), keep)
	case 3:
		if s == t.main {
			t.hist.clear()
			if t.open.above != endless {
				t.open.above = 0
			}
		}
	}
}

// eraseAll is ED 1 in the last column of the last row. There xterm.js 6 looks
// for a row below, fails, and is dead from then on; viewers get ED 2 instead,
// which does the same.
func (t *Terminal) eraseAll(keep bool) {
	t.eraseRows(0, len(t.screen.rows), keep)
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
	} else if i -= base; i < len(t.screen.rows) {
		t.screen.rows[i].wrapped = false
	}
}

// eraseLine implements EL and DECSEL (ECMA-48 8.3.41, VT510).
func (t *Terminal) eraseLine(what int, keep bool) {
	t.reach()
	if what > 2 {
		return
	}
	s := t.screen
	x0, x1 := s.EraseColumns(what)
	t.eraseCells(s.row(), x0, x1, keep)
	if what != 1 && x0 == 0 {
		s.row().wrapped = false
	}
}

// eraseCells erases columns x0 to x1-1 of a row.
func (t *Terminal) eraseCells(r *row, x0, x1 int, keep bool) {
	if keep {
		t.screen.eraseUnprotected(r, x0, x1, t.blankLook(), &t.styles)
	} else {
		t.screen.erase(r, x0, x1, t.blankLook())
	}
}

// eraseRows erases rows y0 to y1-1.
func (t *Terminal) eraseRows(y0, y1 int, keep bool) {
	s, look := t.screen, t.blankLook()
	for _, r := range s.rows[min(y0, y1):y1] {
		if keep {
			s.eraseUnprotected(r, 0, s.Cols, look, &t.styles)
			r.wrapped, r.noted = false, 0
		} else {
			s.blank(r, look)
		}
	}
}

// eraseChars implements ECH (ECMA-48 8.3.38).
func (t *Terminal) eraseChars(n int) {
	t.restrict()
	s := t.screen
	s.erase(s.row(), s.X, min(s.X+n, s.Cols), t.blankLook())
}

// insertChars implements ICH (ECMA-48 8.3.64).
func (t *Terminal) insertChars(n int) {
	t.restrict()
	s := t.screen
	if r := s.row(); s.splits(r, s.X) {
		t.stream.Precede("\x1b[X")
		s.erase(r, s.X, s.X+1, t.blankLook())
	}
	s.insert(s.row(), s.X, n, t.blankLook())
}

// splits tells whether blanks put in at column x part a wide character. xterm.js blanks
// its first half only, and moves the other. So it is erased before, for viewers too.
func (s *screen) splits(r *row, x int) bool {
	return x > 0 && x < r.used && s.cells(r)[x].orphan()
}

// deleteChars implements DCH (ECMA-48 8.3.26).
func (t *Terminal) deleteChars(n int) {
	t.restrict()
	s := t.screen
	s.remove(s.row(), s.X, n, t.blankLook())
}

// insertLines implements IL (ECMA-48 8.3.67).
func (t *Terminal) insertLines(n int) {
	t.restrict()
	if s := t.screen; s.InRegion() {
		s.scrollDown(s.Y, s.Bottom, n, t.blankLook())
		s.X = 0
	}
}

// deleteLines implements DL (ECMA-48 8.3.32).
func (t *Terminal) deleteLines(n int) {
	t.restrict()
	if s := t.screen; s.InRegion() {
		s.scrollUp(s.Y, s.Bottom, n, t.blankLook())
		s.X = 0
	}
}

// scrollUp implements SU (ECMA-48 8.3.147).
func (t *Terminal) scrollUp(n int) {
	s := t.screen
	s.scrollUp(s.Top, s.Bottom, n, t.blankLook())
}

// scrollDown implements SD (ECMA-48 8.3.113); new lines have the default colour.
func (t *Terminal) scrollDown(n int) {
	s := t.screen
	s.scrollDown(s.Top, s.Bottom, n, 0)
}

// shiftColumns moves the cells from column x on by n in every row of the region,
// right when n is positive: SL, SR, DECIC and DECDC (ECMA-48 8.3.121, 8.3.135, VT510).
func (t *Terminal) shiftColumns(x, n int) {
	s := t.screen
	if !s.InRegion() {
		return
	}
	if n > 0 {
		t.unsplit(x)
	}
	for _, r := range s.rows[s.Top : s.Bottom+1] {
		if n > 0 {
			s.insert(r, x, n, t.blankLook())
		} else {
			s.remove(r, x, -n, t.blankLook())
		}
		r.wrapped = false
	}
}

// unsplit erases the wide characters of the region that blanks put in at column x part.
func (t *Terminal) unsplit(x int) {
	s := t.screen
	var text []byte
	for y := s.Top; y <= s.Bottom; y++ {
		if r := s.rows[y]; s.splits(r, x) {
			text = eraseText(t.moveText(text, x, y), 1)
			s.erase(r, x, x+1, t.blankLook())
		}
	}
	if text != nil {
		t.stream.Precede(string(t.moveText(text, s.X, s.Y)))
	}
}
