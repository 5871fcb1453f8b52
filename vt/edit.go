package vt

// scrollBack moves the scroll region down by a line.
func (t *Terminal) scrollBack() {
	t.loseLink() // xterm.js moves the lines, and leaves their notes
	t.screen.scrollDown(t.screen.Top, t.screen.Bottom, 1, t.blankStyle())
}

// eraseCells erases columns x0 to x1-1 of row y; x1 can be one more than there are columns. keep leaves
// protected cells alone.
func (t *Terminal) eraseCells(y, x0, x1 int, keep bool) {
	r := t.screen.rows[y]
	if keep {
		t.screen.eraseUnprotected(r, x0, x1, t.blankStyle(), &t.styles)
	} else {
		t.screen.erase(r, x0, x1, t.blankStyle())
	}
}

// eraseRows erases rows y0 to y1-1.
func (t *Terminal) eraseRows(y0, y1 int, keep bool) {
	s, style := t.screen, t.blankStyle()
	s.meter.Add((y1 - y0) * costRow)
	for _, r := range s.rows[y0:y1] {
		if keep {
			s.eraseUnprotected(r, 0, s.Cols, style, &t.styles)
			r.wrapped, r.noted = false, false
		} else {
			s.blank(r, style)
		}
	}
}

// erased reports whether nothing was printed in a cell.
func (t *Terminal) erased(x, y int) bool {
	c := t.screen.cells(t.screen.rows[y])[x]
	return !c.zeroWidth() && !c.hasContent()
}

// beforeInsert erases the wide characters that blanks put in at column x part.
// xterm.js blanks their first half only, and moves the other. So viewers get an ECH
// (ECMA-48 8.3.38) for each, before the sequence at hand.
func (t *Terminal) beforeInsert(x, y0, y1 int) {
	s := t.screen
	if r := s.row(); y0 == y1 && x == s.X {
		if s.splits(r, x) {
			t.stream.Precede("\x1b[X")
			s.erase(r, x, x+1, t.blankStyle())
		}
		return
	}
	var text []byte
	s.meter.Add((y1 - y0) * costRow)
	for y := y0; y <= y1; y++ {
		if r := s.rows[y]; s.splits(r, x) {
			text = eraseText(t.moveText(text, x, y), 1)
			s.erase(r, x, x+1, t.blankStyle())
		}
	}
	if text != nil {
		t.stream.Precede(string(t.moveText(text, s.X, s.Y)))
	}
}

// splits reports whether blanks put in at column x part a wide character.
func (s *screen) splits(r *row, x int) bool {
	return x > 0 && x < r.used && s.cells(r)[x].tail()
}

// clearScreens makes all screens blank and shows the main one, for RIS.
func (t *Terminal) clearScreens() {
	t.screen = t.main
	t.clearScreen(t.main)
	t.main.cursor, t.main.kitty = newCursor(t.cfg.Cols, t.cfg.Rows), nil
	if t.alt != nil {
		t.clearScreen(t.alt)
		t.alt.cursor, t.alt.kitty = newCursor(t.cfg.Cols, t.cfg.Rows), nil
	}
	t.hidden = len(t.main.rows)
	t.saved = nil
}

// fillWithE implements DECALN (VT510) from the cursor's row on.
func (t *Terminal) fillWithE(style Style) {
	s := t.screen
	number := t.styles.number(&style)
	line := make([]byte, s.Cols)
	for x := range line {
		line[x] = 'E'
	}
	s.meter.Add(len(s.rows) * (costRow + s.Cols/costCopy))
	for _, r := range s.rows[s.Y:] {
		if r.hidden == nil && r.holds(line, s.Cols, number) {
			r.wrapped, r.noted = false, false
			continue
		}
		s.blank(r, 0)
		s.put(r, 0, line, number)
	}
	t.fillOldest(line, number)
}

// fillOldest is fillWithE of as many lines as are above the cursor, behind the last
// row. In xterm.js lines lie in a ring, and when it is full the oldest come there.
func (t *Terminal) fillOldest(line []byte, number uint32) {
	s := t.screen
	base, limit := t.base(), t.hist.limit
	if s == t.alt {
		limit = 0
	}
	if base < limit || s.Y == 0 {
		return
	}
	for _, r := range s.rows[:max(s.Y-base, 0)] {
		s.blank(r, 0)
		s.put(r, 0, line, number)
	}
	if n := min(base, s.Y); n > 0 {
		var full row
		full.append(ASCII, line, len(line), number)
		t.hist.replaceOldest(n, t.packer.row(&full, &t.styles))
		t.forgetDropped()
	}
}
