package vt

// columnShift moves the cells from column x on by n in every row of the scroll region,
// right when n is positive: SL, SR, DECIC and DECDC (ECMA-48 8.3.121, 8.3.135, VT510).
type columnShift struct{ x, n int }

// columnShift is what f says, n 0 when it says something else.
func (t *Terminal) columnShift(f function) (m columnShift) {
	n := t.stream.One(0)
	switch f {
	case ' '*intermediate + '@': // SL
		return columnShift{0, -n}
	case ' '*intermediate + 'A': // SR
		return columnShift{0, n}
	case '\''*intermediate + '}': // DECIC; xterm.js takes column 0 while a wrap is pending
		return columnShift{t.screen.X % t.screen.Cols, n}
	case '\''*intermediate + '~': // DECDC
		return columnShift{t.screen.X % t.screen.Cols, -n}
	}
	return m
}

func (t *Terminal) shiftColumns(m columnShift) {
	s := t.screen
	if !s.InRegion() {
		return
	}
	if m.n > 0 {
		t.beforeInsert(m.x, s.Top, s.Bottom)
	}
	t.moveColumns(m)
}

func (t *Terminal) moveColumns(m columnShift) {
	s := t.screen
	t.stream.meter.Add((s.Bottom - s.Top) * costRow)
	for y := s.Top; y <= s.Bottom; y++ {
		if m.n > 0 {
			s.insert(s.rows[y], m.x, m.n, t.blankStyle())
		} else {
			s.remove(s.rows[y], m.x, -m.n, t.blankStyle())
		}
		t.screen.rows[y].wrapped = false
	}
}

// shiftLater is shiftColumns when something else comes: several equal shifts in a row are one,
// since a shift of a large screen moves a million cells.
func (t *Terminal) shiftLater(m columnShift) {
	p := &t.late
	switch {
	case !t.screen.InRegion():
	case p.n != 0 && p.x == m.x && (p.n > 0) == (m.n > 0):
		p.n = max(-t.screen.Cols, min(p.n+m.n, t.screen.Cols))
	default:
		t.settle()
		if m.n > 0 {
			t.beforeInsert(m.x, t.screen.Top, t.screen.Bottom)
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
