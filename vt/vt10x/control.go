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
		s.Tab()
	case '\n', '\v', '\f':
		e.lineFeed()
	case '\r':
		s.X = 0
	case 0x0e: // SO
		e.charsets.Invoke(1)
	case 0x0f: // SI
		e.charsets.Invoke(0)
	case 0x84: // IND
		e.index()
	case 0x85: // NEL
		s.X = 0
		e.index()
	case 0x88: // HTS
		s.SetTab()
	}
}

// lineFeed implements LF, VT and FF (ECMA-48 8.3.74).
func (e *engine) lineFeed() {
	s, y := e.cur, e.cur.Y
	if e.modes.Linefeed {
		s.X = 0
	}
	if s.Index() {
		e.scroll()
	} else if s.Y > y {
		s.row[s.Y].wrapped = false
	}
	s.X = min(s.X, s.Cols-1)
}

// backspace implements BS (ECMA-48 8.3.5).
func (e *engine) backspace() {
	e.reach()
	s := e.cur
	if !s.Backspace(e.modes.ReverseWrap, s.row[s.Y].wrapped) {
		return
	}
	s.row[s.Y+1].wrapped = false
	s.flush()
	if s.X > 0 && e.looks.kind(s.look(s.X, s.Y)).blank {
		s.X-- // as behind a wide character that wrapped early
	}
}

// index implements IND (VT510).
func (e *engine) index() {
	e.restrict()
	if e.cur.Index() {
		e.scroll()
	}
}

// reverseIndex implements RI (ECMA-48 8.3.104).
func (e *engine) reverseIndex() {
	if s := e.cur; s.ReverseIndex(e.modes.Origin) {
		s.scrollDown(s.Top, s.Bottom, 1, e.blank())
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

// reset implements RIS (ECMA-48 8.3.105) as xterm.js does, which keeps title and
// colours.
func (e *engine) reset() {
	e.cur = e.main
	e.hist.clear()
	e.main.eraseRows(0, e.main.Rows-1, erased)
	e.main.Cursor = vt.NewCursor(e.cfg.Cols, e.cfg.Rows)
	e.dropAlt()
	if e.alt != nil {
		e.alt.Cursor = vt.NewCursor(e.cfg.Cols, e.cfg.Rows)
	}
	e.modes.Reset()
	e.resetPen()
}

// softReset implements DECSTR (VT510). The cursor stays where it is.
func (e *engine) softReset() {
	e.modes.SoftReset()
	e.cur.SoftReset(e.base())
	e.resetPen()
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
	e.cur.MoveTo(0, 0, e.modes.Origin)
	s, style := e.cur, e.pen.Bare()
	line, l := bytes.Repeat([]byte("E"), s.Cols), e.looks.id(kind{style: style})
	for y := s.Y; y < s.Rows; y++ {
		s.put(0, y, line, s.Cols, l)
		s.row[y].wrapped = false
	}
	e.cur.MoveTo(0, 0, e.modes.Origin)
}
