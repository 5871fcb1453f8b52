package vt10x

import (
	"bytes"
	"fmt"

	"github.com/evertty/evertty/vt"
)

// What the engine says it is: the answers of xterm.js 6 to DA1 and DA2, a unit
// of zero to DA3, and a name to XTVERSION.
const (
	deviceAttributes          = "\x1b[?1;2c"
	secondaryDeviceAttributes = "\x1b[>0;276;0c"
	tertiaryDeviceAttributes  = "\x1bP!|00000000\x1b\\"
	version                   = "\x1bP>|evertty\x1b\\"
	noKittyFlags              = "\x1b[?0u"
)

// A cell's size in pixels as told to programs: nobody here has a real one.
const cellWidth, cellHeight = 10, 20

// reply answers a query, which viewers then must not see.
func (e *engine) reply(format string, args ...any) {
	e.answer(format, args...)
	e.cut()
}

func (e *engine) answer(format string, args ...any) {
	if f := e.cfg.Effects.Reply; f != nil {
		f(fmt.Appendf(nil, format, args...))
	}
}

// query answers the control sequences that ask.
func (e *engine) query(id uint32) {
	first := e.parser.arg(0)
	switch {
	case id == 'c' && first == 0: // DA (ECMA-48 8.3.24)
		e.reply(deviceAttributes)
	case id == '>'*private+'c' && first == 0:
		e.reply(secondaryDeviceAttributes)
	case id == '='*private+'c' && first == 0:
		e.reply(tertiaryDeviceAttributes)
	case id == '>'*private+'q' && first == 0:
		e.reply(version)
	case id == '?'*private+'u':
		e.reply(noKittyFlags)
	case id == 'n' && first == 5: // DSR (ECMA-48 8.3.35)
		e.reply("\x1b[0n")
	case id == 'n' && first == 6:
		e.reportCursor("")
	case id == '?'*private+'n' && first == 6:
		e.reportCursor("?")
	case id == '$'*inter+'p':
		e.reply("\x1b[%d;%d$y", first, e.modeReport(first))
	case id == '?'*private+'$'*inter+'p':
		e.reply("\x1b[?%d;%d$y", first, e.privateModeReport(first))
	case id == 't':
		e.reportWindow(first)
	}
}

// reportCursor answers CPR and DECXCPR; in origin mode rows count from the top margin (VT510).
func (e *engine) reportCursor(prefix string) {
	s := e.cur
	y := s.y
	if e.modes.Origin {
		y -= s.top
	}
	e.reply("\x1b[%s%d;%dR", prefix, y+1, min(s.x, s.cols-1)+1)
}

// reportWindow answers XTWINOPS (xterm ctlseqs). Titles are never told: they are
// text that a program stored.
func (e *engine) reportWindow(what int) {
	s := e.cur
	switch what {
	case 14:
		e.reply("\x1b[4;%d;%dt", s.rows*cellHeight, s.cols*cellWidth)
	case 16:
		e.reply("\x1b[6;%d;%dt", cellHeight, cellWidth)
	case 18, 19:
		e.reply("\x1b[%d;%d;%dt", what-10, s.rows, s.cols)
	case 20:
		e.reply("\x1b]L\x1b\\")
	case 21:
		e.reply("\x1b]l\x1b\\")
	}
}

// The states of DECRPM (VT510).
const (
	modeUnknown = iota
	modeSet
	modeReset
	modeAlwaysSet
	modeNeverSet
)

func onOff(on bool) int {
	if on {
		return modeSet
	}
	return modeReset
}

func (e *engine) modeReport(mode int) int {
	switch mode {
	case 2:
		return modeNeverSet
	case 4:
		return onOff(e.modes.Insert)
	case 12:
		return modeAlwaysSet
	case 20:
		return onOff(e.modes.Linefeed)
	}
	return modeUnknown
}

func (e *engine) privateModeReport(mode int) int {
	if f := e.flag(mode); f != nil {
		return onOff(*f)
	}
	if m, ok := mouseModes[mode]; ok {
		return onOff(e.modes.Mouse == m)
	}
	if enc, ok := mouseEncodings[mode]; ok {
		return onOff(e.modes.MouseEncoding == enc)
	}
	switch mode {
	case 6:
		return onOff(e.modes.Origin)
	case 8: // DECARM
		return modeAlwaysSet
	case 25:
		return onOff(!e.modes.CursorHidden)
	case 67, 1005, 1015:
		return modeNeverSet
	case 47, 1047, 1049:
		return onOff(e.modes.AltScreen)
	case 1048:
		return modeSet
	}
	return modeUnknown
}

// dcs answers DECRQSS and XTGETTCAP; no other device control string does anything.
func (e *engine) dcs(data []byte) bool {
	data = bytes.TrimLeft(data, "0123456789;:")
	if what, ok := bytes.CutPrefix(data, []byte("$q")); ok {
		e.reportSetting(string(what))
		return true
	}
	if names, ok := bytes.CutPrefix(data, []byte("+q")); ok {
		e.reportCapabilities(names)
		return true
	}
	return false
}

// reportSetting answers DECRQSS (VT510).
func (e *engine) reportSetting(what string) {
	s := e.cur
	switch what {
	case "m":
		e.reply("\x1bP1$r%sm\x1b\\", appendSGR(nil, e.pen.style))
	case "r":
		e.reply("\x1bP1$r%d;%dr\x1b\\", s.top+1, s.bottom+1)
	case " q":
		e.reply("\x1bP1$r%d q\x1b\\", e.cursorStyle)
	case `"q`:
		e.reply("\x1bP1$r%d\"q\x1b\\", e.pen.style.Attr&vt.Protected/vt.Protected)
	case `"p`:
		e.reply("\x1bP1$r61;1\"p\x1b\\")
	default:
		e.reply("\x1bP0$r\x1b\\")
	}
}

// capabilities are what XTGETTCAP can ask for: hexadecimal names and values of
// xterm-256color's terminfo entry (TN, Co, RGB).
var capabilities = map[string]string{
	"544E": "787465726D2D323536636F6C6F72", "6E616D65": "787465726D2D323536636F6C6F72",
	"436F": "323536", "636F6C6F7273": "323536", "524742": "38",
}

// reportCapabilities answers XTGETTCAP (xterm ctlseqs), one reply a name.
func (e *engine) reportCapabilities(names []byte) {
	for name := range bytes.SplitSeq(bytes.ToUpper(names), []byte(";")) {
		if value, ok := capabilities[string(name)]; ok {
			e.answer("\x1bP1+r%s=%s\x1b\\", name, value)
		} else {
			e.answer("\x1bP0+r\x1b\\")
		}
	}
	e.cut()
}
