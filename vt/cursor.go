package vt

// moveTo places the cursor; rows count from the top margin in origin mode, also
// for the relative movements, as in xterm.js.
func (t *Terminal) moveTo(x, y int) {
	s := t.screen
	if t.modes.Origin {
		y += s.top
	}
	s.x, s.y = x, y
	t.restrict()
}

// restrict ends a pending wrap and keeps the cursor inside.
func (t *Terminal) restrict() { t.screen.clamp(t.screen.cols-1, t.modes.Origin) }

// reach keeps the cursor inside, but a pending wrap pending.
func (t *Terminal) reach() { t.screen.clamp(t.screen.cols, t.modes.Origin) }

// moveBy moves the cursor relative to where it is.
func (t *Terminal) moveBy(dx, dy int) {
	t.restrict()
	t.moveTo(t.screen.x+dx, t.screen.y+dy)
}

// up implements CUU (ECMA-48 8.3.22): it stops at the top margin when it starts below.
func (t *Terminal) up(n int) {
	s := t.screen
	if s.y >= s.top {
		n = min(n, s.y-s.top)
	}
	t.moveBy(0, -n)
}

// down implements CUD (ECMA-48 8.3.19), which stops at the bottom margin.
func (t *Terminal) down(n int) {
	s := t.screen
	if s.y <= s.bottom {
		n = min(n, s.bottom-s.y)
	}
	t.moveBy(0, n)
}

// tabs moves the cursor n tab stops on by next: CHT and CBT (ECMA-48 8.3.10, 8.3.7).
func (t *Terminal) tabs(n int, next func(x int) int) {
	s := t.screen
	for ; n > 0 && s.x < s.cols; n-- {
		s.x = next(s.x)
	}
}

// setTab implements HTS (ECMA-48 8.3.62).
func (t *Terminal) setTab() {
	t.screen.tabs[t.screen.x] = true
}

// clearTabs implements TBC (ECMA-48 8.3.154).
func (t *Terminal) clearTabs(what int) {
	s := t.screen
	switch {
	case what == 3:
		clear(s.tabs)
	case what == 0:
		s.tabs[s.x] = false
	}
}

// backspace implements BS (ECMA-48 8.3.5). With reverse wraparound (?45) it goes
// back over the end of a line that was wrapped, and uncouples it.
func (t *Terminal) backspace() {
	s := t.screen
	if !t.modes.ReverseWrap {
		t.restrict()
		s.x = max(s.x-1, 0)
		return
	}
	t.reach()
	switch {
	case s.x > 0:
		s.x--
	case s.y > s.top && s.y <= s.bottom && s.rows[s.y].wrapped:
		s.rows[s.y].wrapped = false
		s.y--
		s.x = s.cols - 1
		if c := s.cells(s.row())[s.x]; s.x > 0 && !c.zeroWidth() && !c.hasContent() {
			s.x-- // a wide character wrapped one column early
		}
	}
	t.restrict()
}

// lineFeed implements LF, VT and FF (ECMA-48 8.3.74).
func (t *Terminal) lineFeed() {
	s := t.screen
	if t.modes.Linefeed {
		s.x = 0
	}
	switch {
	case s.y == s.bottom:
		t.scroll()
	case s.y < len(s.rows)-1:
		s.y++
		s.rows[s.y].wrapped = false
	}
	s.x = min(s.x, s.cols-1)
}

// index implements IND (VT510).
func (t *Terminal) index() {
	t.restrict()
	s := t.screen
	if s.y == s.bottom {
		t.scroll()
	} else {
		s.y = min(s.y+1, len(s.rows)-1)
	}
	t.restrict()
}

// reverseIndex implements RI (ECMA-48 8.3.104).
func (t *Terminal) reverseIndex() {
	t.restrict()
	s := t.screen
	if s.y == s.top {
		s.scrollDown(s.top, s.bottom, 1, t.blankLook())
		return
	}
	s.y--
	t.restrict()
}

// margins implements DECSTBM (VT510); an impossible region changes nothing.
func (t *Terminal) margins(top, bottom int) {
	s := t.screen
	top = max(top, 1)
	if bottom == 0 || bottom > len(s.rows) {
		bottom = len(s.rows)
	}
	if bottom > top {
		s.top, s.bottom = top-1, bottom-1
		t.moveTo(0, 0)
	}
}

// saveCursor implements DECSC (VT510).
func (t *Terminal) saveCursor() {
	s := t.screen
	s.saved = savedCursor{
		set: true, x: s.x, row: t.base() + s.y, pen: t.pen,
		charset: t.charsets.InForce(), charsets: t.charsets.Charsets, origin: t.modes.Origin,
	}
}

// restoreCursor implements DECRC as xterm.js 6 does: position, pen and the
// charset in force, nothing else.
func (t *Terminal) restoreCursor() {
	s := t.screen
	s.x, s.y = s.saved.x, max(s.saved.row-t.base(), 0)
	t.pen.Restore(&s.saved.pen)
	t.setPen()
	t.charsets.Restore(s.saved.charset)
	t.restrict()
}
