package vt

// columnShift moves the cells from column x on by n in every row of the scroll region,
// right when n is positive: SL, SR, DECIC and DECDC (ECMA-48 8.3.121, 8.3.135, VT510).
type columnShift struct{ x, n int }

// columnShift is what f says, n 0 when it says something else.
func (e *editor) columnShift(f function) (m columnShift) {
	n := e.stream.One(0)
	switch f {
	case ' '*intermediate + '@': // SL
		return columnShift{0, -n}
	case ' '*intermediate + 'A': // SR
		return columnShift{0, n}
	case '\''*intermediate + '}': // DECIC; xterm.js takes column 0 while a wrap is pending
		return columnShift{e.screen.X % e.screen.Cols, n}
	case '\''*intermediate + '~': // DECDC
		return columnShift{e.screen.X % e.screen.Cols, -n}
	}
	return m
}

// shiftColumns is shiftLater at once.
func (e *editor) shiftColumns(m columnShift) {
	e.shiftLater(m)
	e.settle()
}

func (e *editor) moveColumns(m columnShift) {
	s := e.screen
	e.stream.meter.Add((s.Bottom - s.Top) * costRow)
	for y := s.Top; y <= s.Bottom; y++ {
		if m.n > 0 {
			s.insert(s.rows[y], m.x, m.n, e.blankStyle())
		} else {
			s.remove(s.rows[y], m.x, -m.n, e.blankStyle())
		}
		e.screen.rows[y].wrapped = false
	}
}

// shiftLater is shiftColumns when something else comes: several equal shifts in a row are one,
// since a shift of a large screen moves a million cells.
func (e *editor) shiftLater(m columnShift) {
	p := &e.late
	switch {
	case !e.screen.InRegion():
	case p.n != 0 && p.x == m.x && (p.n > 0) == (m.n > 0):
		p.n = max(-e.screen.Cols, min(p.n+m.n, e.screen.Cols))
	default:
		e.settle()
		if m.n > 0 {
			e.beforeInsert(m.x, e.screen.Top, e.screen.Bottom)
		}
		e.late = m
	}
}

// settle does the shift that was put off. Nothing else may look at cells before it.
func (e *editor) settle() {
	if e.late.n != 0 {
		e.shiftNow()
	}
}

func (e *editor) shiftNow() {
	m := e.late
	e.late = columnShift{}
	e.moveColumns(m)
}
