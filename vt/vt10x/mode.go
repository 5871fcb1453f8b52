package vt10x

import "github.com/evertty/evertty/vt"

// setModes implements SM, RM, DECSET and DECRST (ECMA-48 8.3.125, 8.3.106; xterm
// ctlseqs) for all parameters.
func (e *engine) setModes(f vt.Function) {
	set, on := e.modes.SetANSI, byte(f) == 'h'
	if f >= vt.Private {
		set = e.setPrivateMode
	}
	for i := range e.in.Count() {
		set(e.in.Param(i), on)
	}
}

// setPrivateMode sets or resets a DEC private mode.
func (e *engine) setPrivateMode(mode int, on bool) {
	if e.modes.SetPrivate(mode, on) {
		return
	}
	switch mode {
	case 2:
		if on { // DECANM designates ASCII
			e.charsets.DesignateAll('B')
		}
	case 6:
		e.modes.Origin = on
		e.cur.MoveTo(0, 0, e.modes.Origin)
	case 47, 1047:
		e.setAlt(on)
	case 1048:
		e.cursorMemory(on)
	case 1049:
		if on {
			e.saveCursor()
		}
		if e.setAlt(on); !on {
			e.restoreCursor()
		}
	}
}

// saveCursor implements DECSC (VT510).
func (e *engine) saveCursor() {
	e.cur.Save(e.base(), &e.pen, &e.charsets, e.modes.Origin)
}

// restoreCursor implements DECRC (VT510).
func (e *engine) restoreCursor() {
	e.cur.Restore(e.base(), &e.pen, &e.charsets, e.modes.Origin)
	e.penChanged()
}

func (e *engine) cursorMemory(save bool) {
	if save {
		e.saveCursor()
	} else {
		e.restoreCursor()
	}
}

// setAlt shows the alternate screen, filled with the pen's background, or the
// main one. The cursor goes along.
func (e *engine) setAlt(on bool) {
	if on == (e.cur != e.main) {
		return
	}
	from := e.cur
	if on {
		if e.alt == nil {
			e.alt = newScreen(e.main.Cols, e.main.Rows)
		}
		e.cur = e.alt
		e.alt.eraseRows(0, e.alt.Rows-1, e.blank())
	} else {
		e.cur = e.main
		e.dropAlt()
	}
	e.cur.X, e.cur.Y = from.X, from.Y
	e.modes.AltScreen = on
	from.flush()
}

// dropAlt empties the alternate screen.
func (e *engine) dropAlt() {
	if e.alt != nil {
		e.alt.eraseRows(0, e.alt.Rows-1, erased)
		e.alt.Reset()
	}
}
