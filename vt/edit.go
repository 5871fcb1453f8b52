package vt

// scrollBack moves the scroll region down by a line.
func (e *editor) scrollBack() {
	e.loseLink() // xterm.js moves the lines, and leaves their notes
	e.screen.scrollDown(e.screen.Top, e.screen.Bottom, 1, e.blankStyle())
}

// eraseCells erases columns x0 to x1-1 of row y; x1 can be one more than there are columns. keep
// leaves protected cells alone.
func (b *bufferSet) eraseCells(y, x0, x1 int, keep bool) {
	r := b.screen.rows[y]
	if keep {
		b.screen.eraseUnprotected(r, x0, x1, b.blankStyle(), &b.styles)
	} else {
		b.screen.erase(r, x0, x1, b.blankStyle())
	}
}

// eraseRows erases rows y0 to y1-1.
func (b *bufferSet) eraseRows(y0, y1 int, keep bool) {
	s, style := b.screen, b.blankStyle()
	s.meter.Add((y1 - y0) * costRow)
	for _, r := range s.rows[y0:y1] {
		if keep {
			s.eraseUnprotected(r, 0, s.Cols, style, &b.styles)
			r.wrapped, r.noted = false, false
		} else {
			s.blank(r, style)
		}
	}
}

// erased reports whether nothing was printed in a cell.
func (b *bufferSet) erased(x, y int) bool {
	c := b.screen.cells(b.screen.rows[y])[x]
	return !c.zeroWidth() && !c.hasContent()
}

// beforeInsert erases the wide characters that blanks put in at column x part.
// xterm.js blanks their first half only, and moves the other. So viewers get an ECH
// (ECMA-48 8.3.38) for each, before the sequence at hand.
func (e *editor) beforeInsert(x, y0, y1 int) {
	s := e.screen
	if r := s.row(); y0 == y1 && x == s.X {
		if s.splits(r, x) {
			e.stream.Precede("\x1b[X")
			s.erase(r, x, x+1, e.blankStyle())
		}
		return
	}
	var text []byte
	s.meter.Add((y1 - y0) * costRow)
	for y := y0; y <= y1; y++ {
		if r := s.rows[y]; s.splits(r, x) {
			text = eraseText(e.moveText(text, x, y), 1)
			s.erase(r, x, x+1, e.blankStyle())
		}
	}
	if text != nil {
		e.stream.Precede(string(e.moveText(text, s.X, s.Y)))
	}
}

// splits reports whether blanks put in at column x part a wide character.
func (s *screen) splits(r *row, x int) bool {
	return x > 0 && x < r.used && s.cells(r)[x].tail()
}

// clearScreens makes all screens blank and shows the main one, for RIS.
func (x *executor) clearScreens() {
	x.screen = x.main
	x.clearScreen(x.main)
	x.main.cursor, x.main.kitty = newCursor(x.cfg.Cols, x.cfg.Rows), nil
	if x.alt != nil {
		x.clearScreen(x.alt)
		x.alt.cursor, x.alt.kitty = newCursor(x.cfg.Cols, x.cfg.Rows), nil
	}
	x.hidden = len(x.main.rows)
	x.saved = nil
}

// fillWithE implements DECALN (VT510) from the cursor's row on.
func (b *bufferSet) fillWithE(style Style) {
	s := b.screen
	number := b.styles.number(&style)
	line := make([]byte, s.Cols)
	for x := range line {
		line[x] = 'E'
	}
	s.meter.Add(len(s.rows) * (costRow + s.Cols/costCopy))
	for _, r := range s.rows[s.Y:] {
		if r.hidden() == nil && r.holds(line, s.Cols, number) {
			r.wrapped, r.noted = false, false
			continue
		}
		s.blank(r, 0)
		s.put(r, 0, line, number)
	}
	b.fillOldest(line, number)
}

// fillOldest is fillWithE of as many lines as are above the cursor, behind the last
// row. In xterm.js lines lie in a ring, and when it is full the oldest come there.
func (b *bufferSet) fillOldest(line []byte, number uint32) {
	s := b.screen
	base, limit := b.base(), b.hist.limit
	if s == b.alt {
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
		b.hist.replaceOldest(n, b.packer.row(&full, &b.styles))
		b.forgetDropped()
	}
}
