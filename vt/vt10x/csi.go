package vt10x

import "github.com/evertty/evertty/vt"

// csi executes a control sequence; what functions does not name is a mode, a
// query or nothing.
func (e *engine) csi(f vt.Function) {
	if run := functions[f]; run != nil {
		run(e)
		return
	}
	if e.cur.CSI(&e.in, f, e.modes.Origin) {
		return
	}
	switch f {
	case 'h', 'l', '?'*vt.Private + 'h', '?'*vt.Private + 'l':
		e.setModes(f)
	default:
		e.reply(e.status().CSI(&e.in, f))
	}
}

// functions are the control sequences that change more than vt.Cursor does.
var functions = map[vt.Function]func(e *engine){
	'@': func(e *engine) { e.insertChars(e.in.One(0)) },
	'J': func(e *engine) { e.eraseDisplay(e.in.Param(0), false) },
	'K': func(e *engine) { e.eraseLine(e.in.Param(0), false) },
	'L': func(e *engine) { e.insertLines(e.in.Times(e.cur.Rows)) },
	'M': func(e *engine) { e.deleteLines(e.in.Times(e.cur.Rows)) },
	'P': func(e *engine) { e.deleteChars(e.in.One(0)) },
	'S': func(e *engine) { e.scrollUp(e.in.Times(e.cur.Rows)) },
	'T': func(e *engine) { e.scrollDown(e.in.Times(e.cur.Rows)) },
	'X': func(e *engine) { e.eraseChars(e.in.One(0)) },
	'b': (*engine).repeat,
	'm': func(e *engine) { e.pen.SGR(&e.in); e.penChanged() },
	's': (*engine).saveCursor,
	'u': (*engine).restoreCursor,

	'?'*vt.Private + 'J': func(e *engine) { e.eraseDisplay(e.in.Param(0), true) },
	'?'*vt.Private + 'K': func(e *engine) { e.eraseLine(e.in.Param(0), true) },

	' '*vt.Intermediate + '@': func(e *engine) { e.shiftColumns(0, -e.in.One(0)) }, // SL
	' '*vt.Intermediate + 'A': func(e *engine) { e.shiftColumns(0, e.in.One(0)) },  // SR
	// DECIC and DECDC; xterm.js takes column 0 while a wrap is pending.
	'\''*vt.Intermediate + '}': func(e *engine) { e.shiftColumns(e.cur.X%e.cur.Cols, e.in.One(0)) },
	'\''*vt.Intermediate + '~': func(e *engine) { e.shiftColumns(e.cur.X%e.cur.Cols, -e.in.One(0)) },

	'!'*vt.Intermediate + 'p': (*engine).softReset,
	'"'*vt.Intermediate + 'q': func(e *engine) { e.pen.Protect(e.in.Param(0)); e.penChanged() },
	' '*vt.Intermediate + 'q': func(e *engine) { e.cursorStyle = e.cursorStyle.Select(e.in.Param(0)) },
}
