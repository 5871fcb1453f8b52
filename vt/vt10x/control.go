package vt10x

import (
	"bytes"

	"github.com/evertty/evertty/vt"
)

// control executes a C0 or C1 control.
func (e *engine) control(c rune) {
	s := e.cur
	switch c {
	case 0x05: // ENQ is never answered
		e.in.CutControl(c)
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
		e.charsets.Invoke(1)
	case 0x0f: // SI
		e.charsets.Invoke(0)
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
func (e *engine) escape(f vt.Function) {
	switch f {
	case '\\': // ST
		if e.in.EndsCut() {
			e.in.Cut()
		}
	case '7':
		e.saveCursor()
	case '8':
		e.restoreCursor()
	case 'D', 'E', 'H': // IND, NEL and HTS in seven bits (ECMA-48 5.3)
		e.control(rune(f) + 0x40)
	case 'M':
		e.reverseIndex()
	case 'c':
		e.reset()
	case '=', '>':
		e.modes.AppKeypad = f == '='
	case '#'*vt.Intermediate + '8':
		e.alignment()
	default:
		if !e.charsets.Escape(f) {
			e.reply(e.status().Escape(f))
		}
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
	m := e.modes
	e.modes = vt.Modes{Autowrap: true, Linefeed: m.Linefeed, CursorHidden: m.CursorHidden}
	e.resetPen()
}

// softReset implements DECSTR (VT510). The cursor stays where it is.
func (e *engine) softReset() {
	m := e.modes
	e.modes = vt.Modes{ // these stay, the others are off
		Autowrap: true, Linefeed: m.Linefeed, ReverseVideo: m.ReverseVideo, ColorReports: m.ColorReports,
		AltScreen: m.AltScreen, Mouse: m.Mouse, MouseEncoding: m.MouseEncoding,
	}
	s := e.cur
	s.top, s.bottom = 0, s.rows-1
	e.resetPen()
	s.saved = saved{set: true, row: e.base(), charset: e.charsets.InForce()}
}

// resetPen makes what is printed next look as in the beginning, and the cursor.
func (e *engine) resetPen() {
	e.pen = vt.Pen{}
	e.penChanged()
	e.charsets.Reset()
	e.cursorStyle = 0
}

// alignment implements DECALN (VT510): the screen full of E, without link and
// underline, and in origin mode from the top margin on, as in xterm.js.
func (e *engine) alignment() {
	e.moveTo(0, 0)
	s, style := e.cur, e.pen.Bare()
	line, l := bytes.Repeat([]byte("E"), s.cols), e.looks.id(kind{style: style})
	for y := s.y; y < s.rows; y++ {
		s.put(0, y, line, s.cols, l)
		s.row[y].wrapped = false
	}
	e.moveTo(0, 0)
}
