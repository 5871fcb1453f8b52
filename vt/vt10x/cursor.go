package vt10x

// moveTo places the cursor; rows count from the top margin in origin mode, also
// for the relative movements, as in xterm.js.
func (e *engine) moveTo(x, y int) {
	s := e.cur
	if e.modes.Origin {
		y += s.top
	}
	s.x, s.y = x, y
	e.restrict()
}

// restrict ends a pending wrap and keeps the cursor inside.
func (e *engine) restrict() { e.cur.clamp(e.cur.cols-1, e.modes.Origin) }

// reach keeps the cursor inside, but a pending wrap pending.
func (e *engine) reach() { e.cur.clamp(e.cur.cols, e.modes.Origin) }

// moveBy moves the cursor relative to where it is.
func (e *engine) moveBy(dx, dy int) {
	e.restrict()
	e.moveTo(e.cur.x+dx, e.cur.y+dy)
}

// up implements CUU (ECMA-48 8.3.22): it stops at the top margin when it starts below.
func (e *engine) up(n int) {
	s := e.cur
	if s.y >= s.top {
		n = min(n, s.y-s.top)
	}
	e.moveBy(0, -n)
}

// down implements CUD (ECMA-48 8.3.19), which stops at the bottom margin.
func (e *engine) down(n int) {
	s := e.cur
	if s.y <= s.bottom {
		n = min(n, s.bottom-s.y)
	}
	e.moveBy(0, n)
}

// tabs moves the cursor n tab stops on by next: CHT and CBT (ECMA-48 8.3.10, 8.3.7).
func (e *engine) tabs(n int, next func(x int) int) {
	s := e.cur
	for ; n > 0 && s.x < s.cols; n-- {
		s.x = next(s.x)
	}
}

func (e *engine) setTab() {
	if s := e.cur; s.x < s.cols {
		s.tabs[s.x] = true
	}
}

// clearTabs implements TBC (ECMA-48 8.3.154).
func (e *engine) clearTabs(what int) {
	s := e.cur
	switch {
	case what == 3:
		clear(s.tabs)
	case what == 0 && s.x < s.cols:
		s.tabs[s.x] = false
	}
}

// backspace implements BS (ECMA-48 8.3.5). With reverse wraparound (?45) it goes
// back over the end of a line that was wrapped, and uncouples it.
func (e *engine) backspace() {
	s := e.cur
	if !e.modes.ReverseWrap {
		e.restrict()
		s.x = max(s.x-1, 0)
		return
	}
	e.reach()
	switch {
	case s.x > 0:
		s.x--
	case s.y > s.top && s.y <= s.bottom && s.row[s.y].wrapped:
		s.row[s.y].wrapped = false
		s.y--
		s.x = s.cols - 1
		s.flush()
		if e.looks.kind(s.look(s.x, s.y)).blank {
			s.x-- // as behind a wide character that wrapped early
		}
	}
	e.restrict()
}

// lineFeed implements LF, VT and FF (ECMA-48 8.3.74).
func (e *engine) lineFeed() {
	s := e.cur
	if e.modes.Linefeed {
		s.x = 0
	}
	switch {
	case s.y == s.bottom:
		e.scroll()
	case s.y < s.rows-1:
		s.y++
		s.row[s.y].wrapped = false
	}
	s.x = min(s.x, s.cols-1)
}

// index implements IND (VT510).
func (e *engine) index() {
	e.restrict()
	s := e.cur
	if s.y == s.bottom {
		e.scroll()
	} else {
		s.y = min(s.y+1, s.rows-1)
	}
	e.restrict()
}

// reverseIndex implements RI (ECMA-48 8.3.104).
func (e *engine) reverseIndex() {
	e.restrict()
	s := e.cur
	if s.y == s.top {
		s.scrollDown(s.top, s.bottom, 1, e.blank())
		return
	}
	s.y--
	e.restrict()
}

// margins implements DECSTBM (VT510); an impossible region changes nothing.
func (e *engine) margins(top, bottom int) {
	s := e.cur
	top = max(top, 1)
	if bottom == 0 || bottom > s.rows {
		bottom = s.rows
	}
	if bottom > top {
		s.top, s.bottom = top-1, bottom-1
		e.moveTo(0, 0)
	}
}

// base is the number of lines above the screen shown; a saved row counts them.
func (e *engine) base() int {
	if e.cur == e.main {
		return e.hist.len()
	}
	return 0
}

// saveCursor implements DECSC (VT510).
func (e *engine) saveCursor() {
	s, c := e.cur, &e.charsets
	s.saved = saved{true, s.x, e.base() + s.y, e.pen, c.InForce(), c.Charsets, e.modes.Origin}
}

// restoreCursor implements DECRC as xterm.js 6 does: position, pen and the
// charset in force, nothing else.
func (e *engine) restoreCursor() {
	s := e.cur
	s.x, s.y = s.saved.x, max(s.saved.row-e.base(), 0)
	e.pen.Restore(&s.saved.pen)
	e.penChanged()
	e.charsets.Restore(s.saved.charset)
	e.restrict()
}
