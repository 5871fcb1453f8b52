package vt

import "strconv"

// CSI implements Handler.
func (h *handler) CSI(f Function) { (*Terminal)(h).csi(f) }

// count is the first parameter as the number of times to do something. More
// than limit would change nothing but the time it takes, in a viewer too:
// xterm.js really does it that often. So viewers get limit instead.
func (t *Terminal) count(limit int) int {
	n := t.stream.One(0)
	if n <= limit {
		return n
	}
	final := t.stream.text.in[t.stream.end-1]
	text := append(strconv.AppendInt([]byte("\x1b["), int64(limit), 10), final)
	if final == 'b' {
		t.stream.ReplaceQuietly(text) // CAN would make them forget what to repeat
	} else {
		t.stream.Replace(text...)
	}
	return limit
}

// csi executes a control sequence without intermediate bytes, the frequent ones
// first.
func (t *Terminal) csi(f Function) {
	in, s := &t.stream, t.screen
	switch f {
	case 'm':
		t.pen.SGR(in)
		t.setPen()
	case 'H', 'f': // CUP, HVP
		t.moveTo(in.One(1)-1, in.One(0)-1)
	case 'K', '?'*Private + 'K':
		t.eraseLine(in.Param(0), f != 'K')
	case 'J', '?'*Private + 'J':
		t.eraseDisplay(in.Param(0), f != 'J')
	case 'A':
		t.up(in.One(0))
	case 'B':
		t.down(in.One(0))
	case 'C', 'a': // CUF, HPR
		t.moveBy(in.One(0), 0)
	case 'D': // CUB
		t.moveBy(-in.One(0), 0)
	case 'E': // CNL
		t.down(in.One(0))
		s.x = 0
	case 'F': // CPL
		t.up(in.One(0))
		s.x = 0
	case 'G', '`': // CHA, HPA
		t.moveTo(in.One(0)-1, s.y)
	case 'd': // VPA
		t.moveTo(s.x, in.One(0)-1)
	case 'e': // VPR
		t.moveBy(0, in.One(0))
	case 'h', 'l', '?'*Private + 'h', '?'*Private + 'l':
		t.setModes(f)
	case 'r':
		t.margins(in.Param(0), in.Param(1))
	case 's':
		t.saveCursor()
	case 'u':
		t.restoreCursor()
	default:
		t.csiEdit(f)
	}
}

// csiEdit executes what moves cells and tabs.
func (t *Terminal) csiEdit(f Function) {
	in, s := &t.stream, t.screen
	switch f {
	case '@':
		t.insertChars(in.One(0))
	case 'I':
		t.tabs(t.count(s.cols), s.nextTab)
	case 'L':
		t.insertLines(t.count(len(s.rows)))
	case 'M':
		t.deleteLines(t.count(len(s.rows)))
	case 'P':
		t.deleteChars(in.One(0))
	case 'S':
		t.scrollUp(t.count(len(s.rows)))
	case 'T':
		t.scrollDown(t.count(len(s.rows)))
	case 'X':
		t.eraseChars(in.One(0))
	case 'Z':
		t.tabs(t.count(s.cols), s.prevTab)
	case 'b':
		t.repeat()
	case 'g':
		t.clearTabs(in.Param(0))
	case ' '*Intermediate + '@': // SL
		t.shiftColumns(0, -in.One(0))
	case ' '*Intermediate + 'A': // SR
		t.shiftColumns(0, in.One(0))
	case '\''*Intermediate + '}': // DECIC; xterm.js takes column 0 while a wrap is pending
		t.shiftColumns(s.x%s.cols, in.One(0))
	case '\''*Intermediate + '~': // DECDC
		t.shiftColumns(s.x%s.cols, -in.One(0))
	default:
		t.csiState(f)
	}
}

// csiState executes what sets something else, and leaves the rest to query.
func (t *Terminal) csiState(f Function) {
	in := &t.stream
	switch f {
	case '!'*Intermediate + 'p':
		t.softReset()
	case '"'*Intermediate + 'q':
		t.pen.Protect(in.Param(0))
		t.setPen()
	case ' '*Intermediate + 'q':
		t.setCursorStyle(in.Param(0))
	case '>'*Private + 'u':
		t.pushKitty(in.Param(0))
	case '<'*Private + 'u':
		t.popKitty(in.One(0))
	case '='*Private + 'u':
		t.changeKitty(in.Param(0), in.One(1))
	default:
		t.query(f)
	}
}
