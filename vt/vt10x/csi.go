package vt10x

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// one is parameter i where 0 and absent mean 1.
func (e *engine) one(i int) int { return max(e.parser.arg(i), 1) }

// count is the first parameter as the number of times to do something. More
// than limit would change nothing but the time it takes, in a viewer too:
// xterm.js really does it that often. So viewers get limit instead.
func (e *engine) count(limit int) int {
	n := e.one(0)
	if n <= limit {
		return n
	}
	if final := e.text.in[e.end-1]; final != 'b' || !e.text.head {
		e.text.replace(e.end, append(strconv.AppendInt([]byte("\x1b["), int64(limit), 10), final)...)
	} else { // the CAN would make them forget what to repeat
		e.text.replace(e.end, bytes.Repeat(utf8.AppendRune(nil, e.last), limit)...)
	}
	return limit
}

const (
	private = 1 << 16 // shift of the prefix in an id
	inter   = 1 << 8  // shift of the intermediate
)

// csi executes a control sequence without intermediate bytes.
func (e *engine) csi(id uint32) {
	p, s := &e.parser, e.cur
	switch id {
	case '@':
		e.insertChars(e.one(0))
	case 'A':
		e.up(e.one(0))
	case 'B':
		e.down(e.one(0))
	case 'C', 'a': // CUF, HPR
		e.moveBy(e.one(0), 0)
	case 'D': // CUB
		e.moveBy(-e.one(0), 0)
	case 'E': // CNL
		e.down(e.one(0))
		s.x = 0
	case 'F': // CPL
		e.up(e.one(0))
		s.x = 0
	case 'G', '`':
		e.column(e.one(0) - 1)
	case 'H', 'f': // CUP, HVP
		e.moveTo(e.one(1)-1, e.one(0)-1)
	case 'I':
		e.tabs(e.count(s.cols), s.nextTab)
	case 'J', '?'*private + 'J':
		e.eraseDisplay(p.arg(0), p.prefix != 0)
	case 'K', '?'*private + 'K':
		e.eraseLine(p.arg(0), p.prefix != 0)
	case 'L':
		e.insertLines(e.count(s.rows))
	case 'M':
		e.deleteLines(e.count(s.rows))
	case 'P':
		e.deleteChars(e.one(0))
	case 'S':
		e.scrollUp(e.count(s.rows))
	case 'T', '^':
		e.scrollDown(e.count(s.rows))
	case 'X':
		e.eraseChars(e.one(0))
	case 'Z':
		e.tabs(e.count(s.cols), s.prevTab)
	case 'b':
		e.repeat()
	case 'd': // VPA
		e.moveTo(s.x, e.one(0)-1)
	case 'e': // VPR
		e.moveBy(0, e.one(0))
	case 'g':
		e.clearTabs(p.arg(0))
	case 'h', 'l':
		e.setModes(e.setMode, id == 'h')
	case '?'*private + 'h', '?'*private + 'l':
		e.setModes(e.setPrivateMode, byte(id) == 'h')
	case 'm':
		e.setPen(p.sgr(e.pen.style))
	case 'r':
		e.margins(p.arg(0), p.arg(1))
	case 's':
		e.saveCursor()
	case 'u':
		e.restoreCursor()
	default:
		e.csiIntermediate(id)
	}
}

// csiIntermediate executes a control sequence with an intermediate byte, and
// leaves the rest to query.
func (e *engine) csiIntermediate(id uint32) {
	p, s := &e.parser, e.cur
	switch id {
	case ' '*inter + '@': // SL
		e.shiftColumns(0, -e.one(0))
	case ' '*inter + 'A': // SR
		e.shiftColumns(0, e.one(0))
	case '\''*inter + '}': // DECIC; xterm.js takes column 0 while a wrap is pending
		e.shiftColumns(s.x%s.cols, e.one(0))
	case '\''*inter + '~': // DECDC
		e.shiftColumns(s.x%s.cols, -e.one(0))
	case '!'*inter + 'p':
		e.softReset()
	case '"'*inter + 'q':
		e.protect(p.arg(0))
	case ' '*inter + 'q':
		e.setCursorStyle(p.arg(0))
	default:
		e.query(id)
	}
}
