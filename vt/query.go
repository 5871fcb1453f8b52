package vt

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// What the engines say they are: the answers of xterm.js 6 to DA1 and DA2, a
// unit of zero to DA3, and a name to XTVERSION.
const (
	deviceAttributes          = "\x1b[?1;2c"
	secondaryDeviceAttributes = "\x1b[>0;276;0c"
	tertiaryDeviceAttributes  = "\x1bP!|00000000\x1b\\"
	version                   = "\x1bP>|evertty\x1b\\"
	statusOK                  = "\x1b[0n"
	darkScheme                = "\x1b[?997;1n"
)

// A cell's size in pixels as told to programs: nobody here has a real one.
const cellWidth, cellHeight = 10, 20

func (fx *Effects) reply(p []byte) {
	if fx.Reply != nil {
		fx.Reply(p)
	}
}

// reply gives an answer to the program, and takes the query out of the viewers'
// text. Without an answer it does nothing.
func (t *Terminal) reply(answer []byte) {
	if len(answer) > 0 {
		t.cfg.Effects.reply(answer)
		t.stream.Cut()
	}
}

// status is what programs can ask for.
func (t *Terminal) status() *Status {
	s := t.screen
	return &Status{
		Cols: s.Cols, Rows: len(s.rows), X: min(s.X, s.Cols-1), Y: s.Y, Top: s.Top, Bottom: s.Bottom,
		Modes: t.modes, Pen: t.pen.Style(), CursorStyle: t.cursorStyle, Unicode: t.cfg.Unicode,
	}
}

// query answers the control sequences that ask.
func (t *Terminal) query(f Function) {
	if f == '*'*Intermediate+'y' {
		t.reply(t.checksum())
	} else {
		t.reply(t.status().CSI(&t.stream, f))
	}
}

// fixedAnswer is the answer to a query that does not depend on the state, "" for
// anything else: DA (ECMA-48 8.3.24), DA2, DA3, XTVERSION and DSR (8.3.35).
func fixedAnswer(f Function, first int) string {
	switch {
	case f == 'n' && first == 5:
		return statusOK
	case f == '?'*Private+'n' && first == 996: // colour scheme, mode 2031
		return darkScheme
	case first != 0:
		return ""
	}
	switch f {
	case 'c':
		return deviceAttributes
	case '>'*Private + 'c':
		return secondaryDeviceAttributes
	case '='*Private + 'c':
		return tertiaryDeviceAttributes
	case '>'*Private + 'q':
		return version
	}
	return ""
}

// checksum answers DECRQCRA (VT510): the negative sum of the character
// codes in a rectangle, blanks as spaces (xterm's checksum with attributes left
// out, which is what esctest reads the screen with).
func (t *Terminal) checksum() []byte {
	in, s := &t.stream, t.screen
	origin := 0
	if t.modes.Origin {
		origin = s.Top
	}
	edge := func(i, last int) int { // a bottom or right edge that is not given is the last
		if v := in.Param(i); v > 0 {
			return min(v, last)
		}
		return last
	}
	sum := 0
	left, right := in.One(3)-1, edge(5, s.Cols)
	for y := in.One(2) - 1 + origin; y < edge(4, len(s.rows)-origin)+origin; y++ {
		sum += t.sumCells(s.rows[y], left, right)
	}
	return fmt.Appendf(nil, "\x1bP%d!~%04X\x1b\\", in.Param(0), -sum&0xffff)
}

// sumCells adds up the first characters of the cells from left to right-1.
func (t *Terminal) sumCells(r *row, left, right int) (sum int) {
	cells := t.screen.cells(r)
	for x := left; x < right; x++ {
		switch c := cells[x]; {
		case c&cellCluster != 0:
			first, _ := utf8.DecodeRuneInString(r.clusters[c&cellChar])
			sum += int(first)
		case c&cellChar != 0:
			sum += int(c & cellChar)
		default:
			sum += ' '
		}
	}
	return sum
}

// OSC implements Handler.
func (h *handler) OSC(text []byte) {
	t := (*Terminal)(h)
	if link, ok := t.labels.OSC(&t.stream, text, t.cfg.Effects); ok {
		t.pen.SetLink(link)
		t.setPen()
	}
}

// DCS implements Handler. Strings that are not a query do nothing: sixel images
// are consumed.
func (h *handler) DCS(text []byte) {
	t := (*Terminal)(h)
	t.reply(t.status().DCS(text))
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

// capabilityReports answers XTGETTCAP (xterm ctlseqs), one reply a name.
func capabilityReports(names []byte) string {
	var b strings.Builder
	for name := range bytes.SplitSeq(bytes.ToUpper(names), []byte(";")) {
		if value, ok := capabilities[string(name)]; ok {
			fmt.Fprintf(&b, "\x1bP1+r%s=%s\x1b\\", name, value)
		} else {
			b.WriteString("\x1bP0+r\x1b\\")
		}
	}
	return b.String()
}
