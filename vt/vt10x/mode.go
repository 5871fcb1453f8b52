package vt10x

import "github.com/evertty/evertty/vt"

// setModes applies SM or RM (ECMA-48 8.3.125, 8.3.106) to all parameters.
func (e *engine) setModes(set func(mode int, on bool), on bool) {
	for i := range e.parser.count {
		set(e.parser.params[i], on)
	}
}

// setMode sets or resets a mode of ECMA-48.
func (e *engine) setMode(mode int, on bool) {
	switch mode {
	case 4:
		e.modes.Insert = on
	case 20:
		e.modes.Linefeed = on
	}
}

// flag is the switch of a DEC private mode that does nothing but be on or off.
func (e *engine) flag(mode int) *bool {
	m := &e.modes
	switch mode {
	case 1:
		return &m.AppCursor
	case 5:
		return &m.ReverseVideo
	case 7:
		return &m.Autowrap
	case 45:
		return &m.ReverseWrap
	case 66:
		return &m.AppKeypad
	case 1004:
		return &m.FocusEvents
	case 2004:
		return &m.BracketedPaste
	case 2026:
		return &m.SyncOutput
	case 2031:
		return &m.ColorReports
	}
	return nil
}

var mouseModes = map[int]vt.Mouse{9: vt.MouseX10, 1000: vt.MouseNormal, 1002: vt.MouseButton, 1003: vt.MouseAny}

// mouseEncodings are those xterm.js has; it ignores 1005 and 1015.
var mouseEncodings = map[int]vt.MouseEncoding{1006: vt.MouseEncodingSGR, 1016: vt.MouseEncodingSGRPixels}

// setPrivateMode implements DECSET and DECRST (xterm ctlseqs).
func (e *engine) setPrivateMode(mode int, on bool) {
	if f := e.flag(mode); f != nil {
		*f = on
		return
	}
	if m, ok := mouseModes[mode]; ok {
		if !on {
			m = vt.MouseNone
		}
		e.modes.Mouse = m
		return
	}
	if enc, ok := mouseEncodings[mode]; ok {
		if !on {
			enc = vt.MouseEncodingDefault
		}
		e.modes.MouseEncoding = enc
		return
	}
	switch mode {
	case 2:
		if on { // DECANM designates ASCII
			for g := range e.charsets.G {
				e.designate(uint8(g), ascii)
			}
		}
	case 6:
		e.modes.Origin = on
		e.moveTo(0, 0)
	case 25:
		e.modes.CursorHidden = !on
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
			e.alt = newScreen(e.main.cols, e.main.rows)
		}
		e.cur = e.alt
		e.alt.eraseRows(0, e.alt.rows-1, e.blank())
	} else {
		e.cur = e.main
		e.dropAlt()
	}
	e.cur.x, e.cur.y = from.x, from.y
	e.modes.AltScreen = on
	from.flush()
}

// dropAlt empties the alternate screen.
func (e *engine) dropAlt() {
	if e.alt != nil {
		e.alt.eraseRows(0, e.alt.rows-1, erased)
		e.alt.reset()
	}
}

// setCursorStyle implements DECSCUSR (VT510).
func (e *engine) setCursorStyle(n int) {
	if n >= 0 && n <= 6 {
		e.cursorStyle = vt.CursorStyle(n)
	}
}
