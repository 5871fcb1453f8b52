package vt

// control executes a C0 or C1 control.
func (x *executor) control(r rune) {
	if do := controls[r]; do != nil {
		do(x)
	} else if r >= 0x80 {
		x.stream.voidControl(r)
	}
}

var controls = [0xa0]func(x *executor){
	'\n': (*executor).lineFeed, '\v': (*executor).lineFeed, '\f': (*executor).lineFeed,
	'\r': func(x *executor) { x.screen.X = 0 },
	'\b': (*executor).backspace,
	'\t': func(x *executor) { x.screen.Tab() },
	0x05: func(x *executor) { x.stream.CutControl(0x05) }, // ENQ is never answered
	0x07: func(x *executor) {
		if f := x.cfg.Effects.Bell; f != nil {
			f()
		}
	},
	0x0e: func(x *executor) { x.charsets.Invoke(1) }, // SO
	0x0f: func(x *executor) { x.charsets.Invoke(0) }, // SI
	0x84: (*executor).index,                          // IND
	0x85: (*executor).nextLine,
	0x88: func(x *executor) { x.screen.SetTab() }, // HTS
}

// nextLine implements NEL (ECMA-48 8.3.86).
func (x *executor) nextLine() {
	x.screen.X = 0
	x.index()
}

// lineFeed implements LF, VT and FF (ECMA-48 8.3.74).
func (e *editor) lineFeed() {
	s, y := e.screen, e.screen.Y
	if e.modes.Linefeed {
		s.X = 0
	}
	if s.Index() {
		e.scrollUp(e.blankStyle())
	} else if s.Y > y {
		e.screen.rows[s.Y].wrapped = false
	}
	if s.X >= s.Cols {
		s.X--
	}
}

// backspace implements BS (ECMA-48 8.3.5).
func (e *editor) backspace() {
	e.screen.Reach(e.modes.Origin)
	s, y := e.screen, e.screen.Y
	if !s.Backspace(e.modes.ReverseWrap, e.screen.rows[y].wrapped) {
		return
	}
	e.screen.rows[y].wrapped = false
	if s.X > 0 && e.erased(s.X, s.Y) {
		s.X-- // a wide character wrapped one column early
	}
}

// index implements IND (VT510).
func (e *editor) index() {
	if e.restricted().Index() {
		e.scrollUp(e.blankStyle())
	}
}

// reverseIndex implements RI (ECMA-48 8.3.104).
func (e *editor) reverseIndex() {
	if e.screen.ReverseIndex(e.modes.Origin) {
		e.scrollBack()
	}
}

// leftShifts are the shifts that do on every terminal what LS1R, LS2R and LS3R do in
// xterm.js: SO, LS2 and LS3 (ECMA-48 8.3.76, 8.3.78, 8.3.80).
var leftShifts = map[function]string{'~': "\x0e", '}': "\x1bn", '|': "\x1bo"}

// escape executes an escape sequence.
func (x *executor) escape(f function) {
	if do := escapeSequences.of(f); do != nil {
		do(x)
		return
	}
	if !x.charsets.Escape(f) {
		x.stream.Cut()
	} else if left, ok := leftShifts[f]; ok {
		x.stream.Replace([]byte(left)...)
	}
}

var escapeSequences = functions{
	plain: [0x80]func(x *executor){
		'6': (*executor).backIndex,
		'7': (*executor).saveCursor,
		'8': (*executor).restoreCursor,
		'9': (*executor).forwardIndex,
		'=': func(x *executor) { x.modes.AppKeypad = true },
		'>': func(x *executor) { x.modes.AppKeypad = false },
		'D': (*executor).index,
		'E': (*executor).nextLine,
		'H': func(x *executor) { x.screen.SetTab() },
		'M': (*executor).reverseIndex,
		'Z': func(x *executor) { x.reply([]byte(deviceAttributes)) }, // DECID (VT510)
		'\\': func(x *executor) { // ST
			if x.stream.EndsCut() {
				x.stream.Cut()
			}
		},
		'c': (*executor).reset,
	},
	other: map[function]func(x *executor){
		'#'*intermediate + '8': (*executor).alignment,
		'%'*intermediate + '@': (*executor).codingSystem,
		'%'*intermediate + 'G': (*executor).codingSystem,
	},
}

// codingSystem implements DOCS (ECMA-35 15.4), which leaves US ASCII in force.
func (x *executor) codingSystem() {
	x.charsets.Invoke(0)
	x.charsets.Designate(0, usASCII)
	x.stream.Replace([]byte("\x0f\x1b(B")...)
}

// reset implements RIS (ECMA-48 8.3.105) as xterm.js does, which keeps title and
// colours.
func (x *executor) reset() {
	x.showReset()
	x.clearScreens()
	x.hist.clear()
	x.modes.reset()
	x.resetPen()
}

// softReset implements DECSTR (VT510). The cursor stays where it is.
func (x *executor) softReset() {
	x.modes.softReset()
	x.screen.SoftReset(x.base())
	x.resetPen()
}

// resetPen makes pen, character sets and cursor style as in the beginning.
func (x *executor) resetPen() {
	x.pen = pen{}
	x.linkChanged(Link{})
	x.penChanged()
	x.charsets.Reset()
	x.cursorStyle = 0
}

// alignment implements DECALN (VT510): the screen full of E. In origin mode
// xterm.js begins at the top margin.
func (e *editor) alignment() {
	e.screen.MoveTo(0, 0, e.modes.Origin)
	e.fillWithE(e.pen.Bare())
	e.screen.MoveTo(0, 0, e.modes.Origin)
}
