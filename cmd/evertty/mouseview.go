package main

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/evertty/evertty/vt"
)

// mouseView is the part of a terminal that a window shows, for the mouse: the user's
// terminal reports cells of the window in the SGR form, and the program wants cells of
// the terminal in the form it asked for (xterm ctlseqs, Mouse Tracking), or their middle
// in pixels, in cells of the size that it gets.
type mouseView struct {
	x, y       int // cell of the terminal in the window's corner, from 0
	cols, rows int // of the terminal
	encoding   vt.MouseEncoding
}

// mouseReport begins a report in the SGR form: CSI < button ; column ; row M or m.
const mouseReport = "\x1b[<"

// maxReport bounds a report, in bytes; a longer one is none.
const maxReport = 32

// mouseTranslator translates the reports in typed input; the zero value has seen
// nothing. A report may come in pieces.
type mouseTranslator struct{ held []byte }

// pass returns p with the reports translated for v; with nil nothing is. Reports of
// cells beside the terminal are dropped. The result is the caller's.
func (m *mouseTranslator) pass(p []byte, v *mouseView) []byte {
	p = append(m.held, p...)
	m.held = nil
	if v == nil {
		return p
	}
	var out []byte
	for {
		before, rest, found := bytes.Cut(p, []byte(mouseReport))
		out = append(out, before...)
		if !found {
			return out
		}
		end := bytes.IndexAny(rest, "Mm")
		digits := rest
		if end >= 0 {
			digits = rest[:end]
		}
		switch plain := len(bytes.Trim(digits, "0123456789;")) == 0 && len(digits) <= maxReport; {
		case !plain:
			out, p = append(out, mouseReport...), rest
		case end < 0:
			m.held = append([]byte(mouseReport), rest...)
			return out
		default:
			out, p = append(out, v.report(digits, rest[end])...), rest[end+1:]
		}
	}
}

// report is one report for the program, nothing when it is of no cell of its own.
func (v *mouseView) report(digits []byte, final byte) []byte {
	fields := bytes.Split(digits, []byte(";"))
	if len(fields) != 3 {
		return nil
	}
	var n [3]int
	for i, f := range fields {
		var err error
		if n[i], err = strconv.Atoi(string(f)); err != nil {
			return nil
		}
	}
	button, x, y := n[0], n[1]+v.x, n[2]+v.y
	if x < 1 || y < 1 || x > v.cols || y > v.rows {
		return nil
	}
	if v.encoding == vt.MouseEncodingSGRPixels {
		x, y = (x-1)*vt.CellWidth+vt.CellWidth/2, (y-1)*vt.CellHeight+vt.CellHeight/2
		return fmt.Appendf(nil, "%s%d;%d;%d%c", mouseReport, button, x, y, final)
	}
	if final == 'm' && v.encoding != vt.MouseEncodingSGR {
		button |= 3 // these forms do not say which button was let go
	}
	const offset = 32 // of all numbers, so that none is a control character
	switch v.encoding {
	case vt.MouseEncodingSGR:
		return fmt.Appendf(nil, "%s%d;%d;%d%c", mouseReport, button, x, y, final)
	case vt.MouseEncodingURXVT:
		return fmt.Appendf(nil, "\x1b[%d;%d;%dM", button+offset, x, y)
	case vt.MouseEncodingUTF8:
		out := []byte("\x1b[M")
		for _, c := range []int{button, x, y} {
			out = utf8.AppendRune(out, rune(c+offset))
		}
		return out
	}
	const most = 255 - offset // larger numbers cannot be said
	if max(x, y) > most {
		return nil
	}
	return []byte{0x1b, '[', 'M', byte(button + offset), byte(x + offset), byte(y + offset)}
}
