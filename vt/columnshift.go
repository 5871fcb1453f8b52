package vt

// columnShift moves the cells from column x on by n in every row of the scroll region,
// right when n is positive: SL, SR, DECIC and DECDC (ECMA-48 8.3.121, 8.3.135, VT510).
type columnShift struct{ x, n int }

// columnShift is what f says, n 0 when it says something else.
func (c *core) columnShift(f function) (m columnShift) {
	n := c.stream.One(0)
	switch f {
	case ' '*intermediate + '@': // SL
		return columnShift{0, -n}
	case ' '*intermediate + 'A': // SR
		return columnShift{0, n}
	case '\''*intermediate + '}': // DECIC; xterm.js takes column 0 while a wrap is pending
		return columnShift{c.cur.X % c.cur.Cols, n}
	case '\''*intermediate + '~': // DECDC
		return columnShift{c.cur.X % c.cur.Cols, -n}
	}
	return m
}

func (c *core) shiftColumns(m columnShift) {
	s := c.cur
	if !s.InRegion() {
		return
	}
	if m.n > 0 {
		c.grid.beforeInsert(m.x, s.Top, s.Bottom)
	}
	c.moveColumns(m)
}

func (c *core) moveColumns(m columnShift) {
	s := c.cur
	c.stream.meter.Add((s.Bottom - s.Top) * costRow)
	for y := s.Top; y <= s.Bottom; y++ {
		if m.n > 0 {
			c.grid.insertCells(y, m.x, m.n)
		} else {
			c.grid.deleteCells(y, m.x, -m.n)
		}
		c.grid.setWrapped(y, false)
	}
}

// shiftLater is shiftColumns when something else comes: several equal shifts in a row are one,
// since a shift of a large screen moves a million cells.
func (t *Terminal) shiftLater(m columnShift) {
	p := &t.late
	switch {
	case !t.cur.InRegion():
	case p.n != 0 && p.x == m.x && (p.n > 0) == (m.n > 0):
		p.n = max(-t.cur.Cols, min(p.n+m.n, t.cur.Cols))
	default:
		t.settle()
		if m.n > 0 {
			t.beforeInsert(m.x, t.cur.Top, t.cur.Bottom)
		}
		t.late = m
	}
}

// settle does the shift that was put off. Nothing else may look at cells before it.
func (t *Terminal) settle() {
	if t.late.n != 0 {
		t.shiftNow()
	}
}

func (t *Terminal) shiftNow() {
	m := t.late
	t.late = columnShift{}
	t.moveColumns(m)
}
