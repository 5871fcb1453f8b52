package vt10x

import (
	"fmt"

	"github.com/evertty/evertty/vt"
)

// csi executes a control sequence; what functions does not name is a mode, a
// query or nothing.
func (e *engine) csi(f vt.Function) {
	if run := functions[f]; run != nil {
		run(e)
		return
	}
	switch f {
	case 'h', 'l', '?'*vt.Private + 'h', '?'*vt.Private + 'l':
		e.setModes(f)
	default:
		e.reply(e.status().CSI(&e.in, f))
	}
}

// functions are the control sequences that change the screen, the cursor or the
// pen.
var functions = map[vt.Function]func(e *engine){
	'@': func(e *engine) { e.insertChars(e.in.One(0)) },
	'A': func(e *engine) { e.up(e.in.One(0)) },
	'B': func(e *engine) { e.down(e.in.One(0)) },
	'C': func(e *engine) { e.moveBy(e.in.One(0), 0) },               // CUF
	'D': func(e *engine) { e.moveBy(-e.in.One(0), 0) },              // CUB
	'E': func(e *engine) { e.down(e.in.One(0)); e.cur.x = 0 },       // CNL
	'F': func(e *engine) { e.up(e.in.One(0)); e.cur.x = 0 },         // CPL
	'G': func(e *engine) { e.moveTo(e.in.One(0)-1, e.cur.y) },       // CHA
	'H': func(e *engine) { e.moveTo(e.in.One(1)-1, e.in.One(0)-1) }, // CUP
	'I': func(e *engine) { e.tabs(e.count('I', e.cur.cols), e.cur.nextTab) },
	'J': func(e *engine) { e.eraseDisplay(e.in.Param(0), false) },
	'K': func(e *engine) { e.eraseLine(e.in.Param(0), false) },
	'L': func(e *engine) { e.insertLines(e.count('L', e.cur.rows)) },
	'M': func(e *engine) { e.deleteLines(e.count('M', e.cur.rows)) },
	'P': func(e *engine) { e.deleteChars(e.in.One(0)) },
	'S': func(e *engine) { e.scrollUp(e.count('S', e.cur.rows)) },
	'T': func(e *engine) { e.scrollDown(e.count('T', e.cur.rows)) },
	'X': func(e *engine) { e.eraseChars(e.in.One(0)) },
	'Z': func(e *engine) { e.tabs(e.count('Z', e.cur.cols), e.cur.prevTab) },
	'`': func(e *engine) { e.moveTo(e.in.One(0)-1, e.cur.y) }, // HPA
	'a': func(e *engine) { e.moveBy(e.in.One(0), 0) },         // HPR
	'b': (*engine).repeat,
	'd': func(e *engine) { e.moveTo(e.cur.x, e.in.One(0)-1) },       // VPA
	'e': func(e *engine) { e.moveBy(0, e.in.One(0)) },               // VPR
	'f': func(e *engine) { e.moveTo(e.in.One(1)-1, e.in.One(0)-1) }, // HVP
	'g': func(e *engine) { e.clearTabs(e.in.Param(0)) },
	'm': func(e *engine) { e.pen.SGR(&e.in); e.penChanged() },
	'r': func(e *engine) { e.margins(e.in.Param(0), e.in.Param(1)) },
	's': (*engine).saveCursor,
	'u': (*engine).restoreCursor,

	'?'*vt.Private + 'J': func(e *engine) { e.eraseDisplay(e.in.Param(0), true) },
	'?'*vt.Private + 'K': func(e *engine) { e.eraseLine(e.in.Param(0), true) },

	' '*vt.Intermediate + '@': func(e *engine) { e.shiftColumns(0, -e.in.One(0)) }, // SL
	' '*vt.Intermediate + 'A': func(e *engine) { e.shiftColumns(0, e.in.One(0)) },  // SR
	// DECIC and DECDC; xterm.js takes column 0 while a wrap is pending.
	'\''*vt.Intermediate + '}': func(e *engine) { e.shiftColumns(e.cur.x%e.cur.cols, e.in.One(0)) },
	'\''*vt.Intermediate + '~': func(e *engine) { e.shiftColumns(e.cur.x%e.cur.cols, -e.in.One(0)) },

	'!'*vt.Intermediate + 'p': (*engine).softReset,
	'"'*vt.Intermediate + 'q': func(e *engine) { e.pen.Protect(e.in.Param(0)); e.penChanged() },
	' '*vt.Intermediate + 'q': func(e *engine) { e.setCursorStyle(e.in.Param(0)) },
}

// count is the first parameter as the number of times to execute the control
// sequence with this final byte. More than limit would change nothing but the
// time it takes, in a viewer too: xterm.js really does it that often. So viewers
// get limit instead.
func (e *engine) count(final byte, limit int) int {
	n := e.in.One(0)
	if n > limit {
		n = limit
		e.in.Replace(fmt.Appendf(nil, "\x1b[%d%c", n, final)...)
	}
	return n
}
