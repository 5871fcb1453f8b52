package vt10x

import "github.com/evertty/evertty/vt"

// control executes a C0 or C1 control at index i of the text.
func (e *engine) control(c rune, i int) {
	s := e.cur
	switch c {
	case 0x05: // ENQ is never answered
		if e.text.drop(i, e.end); e.parser.state != ground && !e.void {
			e.text.deliver(e.end)
		}
	case 0x07:
		if f := e.cfg.Effects.Bell; f != nil {
			f()
		}
	case '\b':
		e.backspace()
	case '\t':
		if s.x < s.cols {
			s.x = s.nextTab(s.x)
		}
	case '\n', '\v', '\f':
		e.lineFeed()
	case '\r':
		s.x = 0
	case 0x0e: // SO
		e.invoke(1)
	case 0x0f: // SI
		e.invoke(0)
	case 0x84: // IND
		e.index()
	case 0x85: // NEL
		s.x = 0
		e.index()
	case 0x88: // HTS
		e.setTab()
	}
}

// escape executes an escape sequence.
func (e *engine) escape(id uint32) {
	const inter = 1 << 8
	switch id {
	case '\\': // ST
		if e.inCut {
			e.cut()
		}
	case '7':
		e.saveCursor()
	case '8':
		e.restoreCursor()
	case 'D':
		e.index()
	case 'E':
		e.cur.x = 0
		e.index()
	case 'H':
		e.setTab()
	case 'M':
		e.reverseIndex()
	case 'Z': // DECID
		e.reply(deviceAttributes)
	case 'c':
		e.reset()
	case '=', '>':
		e.modes.AppKeypad = id == '='
	case 'n', 'o':
		e.invoke(uint8(id-'n') + 2)
	case '|', '}', '~':
		e.invoke(uint8(3 - (id - '|')))
	case '%'*inter + '@', '%'*inter + 'G':
		e.invoke(0)
		e.designate(0, ascii)
	case '#'*inter + '8':
		e.alignment()
	default:
		e.designation(byte(id>>8), byte(id))
	}
}

// designation implements SCS: the intermediate names the set that changes.
func (e *engine) designation(inter, set byte) {
	switch inter {
	case '(':
		e.designate(0, set)
	case ')', '-':
		e.designate(1, set)
	case '*', '.':
		e.designate(2, set)
	case '+':
		e.designate(3, set)
	}
}

// reset implements RIS (ECMA-48 8.3.105) as xterm.js does, which forgets
// neither LNM nor that the cursor is hidden, and keeps title and colours.
func (e *engine) reset() {
	e.cur = e.main
	e.hist.clear()
	e.main.eraseRows(0, e.main.rows-1, erased)
	e.main.x, e.main.y, e.main.saved = 0, 0, saved{}
	e.main.reset()
	e.dropAlt()
	if e.alt != nil {
		e.alt.saved = saved{}
	}
	e.modes = vt.Modes{Autowrap: true, Linefeed: e.modes.Linefeed, CursorHidden: e.modes.CursorHidden}
	e.pen = pen{}
	e.resetCharsets()
	e.cursorStyle = 0
}

// softReset implements DECSTR (VT510). The cursor stays where it is.
func (e *engine) softReset() {
	m := &e.modes
	m.CursorHidden, m.AppCursor, m.AppKeypad, m.BracketedPaste, m.Origin = false, false, false, false, false
	m.ReverseWrap, m.FocusEvents, m.SyncOutput, m.Insert, m.Autowrap = false, false, false, false, true
	s := e.cur
	s.top, s.bottom = 0, s.rows-1
	s.saved = saved{set: true, row: e.base(), charset: ascii}
	e.pen = pen{}
	e.resetCharsets()
	e.cursorStyle = 0
}

// alignment implements DECALN (VT510): the screen full of E.
func (e *engine) alignment() {
	e.cur.fill(e.look())
	e.moveTo(0, 0)
}
