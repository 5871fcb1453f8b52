package vt

import (
	"bytes"
	"fmt"
)

// What the engines say they are: the answers of xterm.js 6 to DA1 and DA2, a
// unit of zero to DA3, and a name to XTVERSION.
const (
	deviceAttributes          = "\x1b[?1;2c"
	secondaryDeviceAttributes = "\x1b[>0;276;0c"
	tertiaryDeviceAttributes  = "\x1bP!|00000000\x1b\\"
	version                   = "\x1bP>|evertty\x1b\\"
	statusOK                  = "\x1b[0n"
)

// query is a control sequence with a first parameter.
type query struct {
	f     function
	first int
}

// fixedAnswers are the answers to queries that do not depend on the state: DA (ECMA-48 8.3.24), DA2,
// DA3, XTVERSION, DSR (8.3.35), XTWINOPS (xterm ctlseqs), and DECDSR (VT510; xterm ctlseqs) as a
// terminal without these devices answers it.
var fixedAnswers = map[query]string{
	{'c', 0}:               deviceAttributes,
	{'>'*private + 'c', 0}: secondaryDeviceAttributes,
	{'='*private + 'c', 0}: tertiaryDeviceAttributes,
	{'>'*private + 'q', 0}: version,
	{'n', 5}:               statusOK,

	{'t', 11}: "\x1b[1t", // open, not iconified
	{'t', 13}: "\x1b[3;0;0t",
	{'t', 20}: "\x1b]L\x1b\\", // no answer has a title: a program stored that text
	{'t', 21}: "\x1b]l\x1b\\",

	{'?'*private + 'n', 15}: "\x1b[?13n",   // no printer
	{'?'*private + 'n', 25}: "\x1b[?20n",   // user-defined keys are unlocked
	{'?'*private + 'n', 26}: "\x1b[?27;0n", // the keyboard's language is unknown
	{'?'*private + 'n', 53}: "\x1b[?50n",   // no locator
	{'?'*private + 'n', 55}: "\x1b[?50n",
	{'?'*private + 'n', 56}: "\x1b[?57;0n", // of an unknown type
	{'?'*private + 'n', 62}: "\x1b[0*{",    // no room for macros
	{'?'*private + 'n', 75}: "\x1b[?70n",   // no errors on the line
	{'?'*private + 'n', 85}: "\x1b[?83n",   // one session
}

// CellWidth and CellHeight are the size of a cell in pixels that programs get: a headless
// terminal has no real one. Mouse reports in pixels (?1016) count in this unit.
const (
	CellWidth  = 10
	CellHeight = 20
)

// status is the part of a terminal's state that programs can ask for. Its
// methods give the answers; they hold only constants and numbers, never text
// that a program stored. nil is no answer.
type status struct {
	Cols, Rows  int
	X, Y        int // the cursor, from 0; on the last column while a wrap is pending
	Top, Bottom int // scroll region, rows from 0, both inside
	Modes       Modes
	Pen         Style
	CursorStyle CursorStyle
	Unicode     Unicode // the width table in use; "" when there is none
	Theme       *Theme
}

// CSI answers control sequence f with the parameters of s.
func (q *status) CSI(s *stream, f function) []byte {
	first := s.Param(0)
	switch (query{f, first}) {
	case query{'n', 6}:
		return q.cursor("")
	case query{'?'*private + 'n', 6}:
		return q.cursor("?")
	case query{'?'*private + 'n', 63}:
		return fmt.Appendf(nil, "\x1bP%d!~0000\x1b\\", s.Param(1)) // DECCKSR: there are no macros
	case query{'?'*private + 'n', 996}:
		return q.Theme.scheme()
	}
	switch f {
	case '$'*intermediate + 'p':
		return fmt.Appendf(nil, "\x1b[%d;%d$y", first, q.Modes.reportANSI(first))
	case '?'*private + '$'*intermediate + 'p':
		return fmt.Appendf(nil, "\x1b[?%d;%d$y", first, q.privateMode(first))
	case '?'*private + 'u': // kitty keyboard
		return fmt.Appendf(nil, "\x1b[?%du", q.Modes.Kitty)
	case 't':
		if answer := q.windowSize(first); answer != nil {
			return answer
		}
	}
	return []byte(fixedAnswers[query{f, first}])
}

// cursor answers CPR and DECXCPR; in origin mode rows count from the top margin (VT510).
func (q *status) cursor(prefix string) []byte {
	y := q.Y
	if q.Modes.Origin {
		y -= q.Top
	}
	return fmt.Appendf(nil, "\x1b[%s%d;%dR", prefix, y+1, q.X+1)
}

// privateMode answers DECRQM; ?2027 says whether widths count grapheme
// clusters, which no program can change.
func (q *status) privateMode(mode int) modeReport {
	switch {
	case mode != 2027:
		return q.Modes.reportPrivate(mode)
	case q.Unicode == Unicode15Graphemes:
		return modeAlwaysSet
	}
	return modeNeverSet
}

// windowSize answers XTWINOPS (xterm ctlseqs) about sizes, in pixels or cells. The screen is as
// large as the window.
func (q *status) windowSize(what int) []byte {
	switch what {
	case 14, 15:
		return fmt.Appendf(nil, "\x1b[%d;%d;%dt", what-10, q.Rows*CellHeight, q.Cols*CellWidth)
	case 16:
		return fmt.Appendf(nil, "\x1b[6;%d;%dt", CellHeight, CellWidth)
	case 18, 19:
		return fmt.Appendf(nil, "\x1b[%d;%d;%dt", what-10, q.Rows, q.Cols)
	}
	return nil
}

// DCS answers DECRQSS (VT510) and XTGETTCAP (xterm ctlseqs) with this text.
func (q *status) DCS(text []byte) []byte {
	text = bytes.TrimLeft(text, "0123456789;:")
	if what, ok := bytes.CutPrefix(text, []byte("$q")); ok {
		return q.setting(string(what))
	}
	if names, ok := bytes.CutPrefix(text, []byte("+q")); ok {
		return capabilityReports(names)
	}
	return nil
}

// setting answers DECRQSS.
func (q *status) setting(what string) []byte {
	switch what {
	case "m":
		return fmt.Appendf(nil, "\x1bP1$r%sm\x1b\\", q.Pen.SGR())
	case "r":
		return fmt.Appendf(nil, "\x1bP1$r%d;%dr\x1b\\", q.Top+1, q.Bottom+1)
	case " q":
		return fmt.Appendf(nil, "\x1bP1$r%d q\x1b\\", q.CursorStyle)
	case `"q`:
		return fmt.Appendf(nil, "\x1bP1$r%d\"q\x1b\\", q.Pen.Attr&Protected/Protected)
	case "s":
		return fmt.Appendf(nil, "\x1bP1$r1;%ds\x1b\\", q.Cols) // no left and right margins
	case "t", "*|":
		return fmt.Appendf(nil, "\x1bP1$r%d%s\x1b\\", q.Rows, what)
	case `"p`:
		return []byte("\x1bP1$r61;1\"p\x1b\\")
	case "*x", "$}", "$~": // DECSACE, DECSASD, DECSSDT: no status line, no change of attributes
		return []byte("\x1bP1$r0" + what + "\x1b\\")
	}
	return []byte("\x1bP0$r\x1b\\")
}

// SGR returns the parameters of the SGR (ECMA-48 8.3.117) that makes s from
// nothing, for DECRQSS. Link and protection are no part of SGR.
func (s *Style) SGR() string {
	b := []byte{'0'}
	for _, n := range [...]int{1, 2, 3, 5, 7, 8, 9, 53} {
		if s.Attr&attrs[n] != 0 {
			b = fmt.Appendf(b, ";%d", n)
		}
	}
	switch s.Underline {
	case UnderlineNone:
	case UnderlineSingle:
		b = append(b, ";4"...)
	default:
		b = fmt.Appendf(b, ";4:%d", s.Underline)
	}
	for i, c := range [...]Color{s.FG, s.BG, s.UnderlineColor} {
		if n, ok := c.Palette(); ok {
			b = fmt.Appendf(b, ";%d:5:%d", 38+10*i, n)
		} else if r, g, bl, ok := c.RGB(); ok {
			b = fmt.Appendf(b, ";%d:2::%d:%d:%d", 38+10*i, r, g, bl)
		}
	}
	return string(b)
}

// capabilities are what XTGETTCAP can ask for: hexadecimal names and values of
// xterm-256color's terminfo entry (TN, Co, RGB).
var capabilities = map[string]string{
	"544E": "787465726D2D323536636F6C6F72", "6E616D65": "787465726D2D323536636F6C6F72",
	"436F": "323536", "636F6C6F7273": "323536", "524742": "38",
}

// capabilityReports answers XTGETTCAP (xterm ctlseqs), one reply for each name that is known. A
// name that is not gets none: vim asks on after each reply, also while it ends.
func capabilityReports(names []byte) []byte {
	b := []byte{}
	for name := range bytes.SplitSeq(bytes.ToUpper(names), []byte(";")) {
		if value, ok := capabilities[string(name)]; ok {
			b = fmt.Appendf(b, "\x1bP1+r%s=%s\x1b\\", name, value)
		}
	}
	return b
}
