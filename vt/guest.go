package vt

import "strconv"

// guestReset is RIS (ECMA-48 8.3.105) for a terminal that keeps its history: everything that
// a program can have set in a viewer, but tab stops and whether the cursor is hidden. The
// keyboard stack and the saved cursor of the alternate screen are reset by showing it.
const guestReset = "\x1b[?1047h\x1b[!p\x1b[<99u\x1b[?1047l\x1b[!p\x1b[<99u" +
	"\x1b[?9;1000;1002;1003;1004;1006;2004;2026;1;5;6;45l\x1b[?7h\x1b[4l\x1b>" +
	"\x1b]8;;\x1b\\\x1b[0\"q\x1b[0 q\x1b[m\x0f\x1b(B\x1b)B\x1b*B\x1b+B\x1b[r"

// showReset gives viewers RIS, or to guests guestReset.
func (e *editor) showReset() {
	if !e.cfg.Guest {
		return
	}
	text := []byte(guestReset)
	if e.main.tabStops() != nil {
		text = append(text, "\x1b[3g"...)
		for x := 0; x < e.cfg.Cols; x += tabEvery {
			text = append(strconv.AppendInt(append(text, "\x1b["...), int64(x+1), 10), "G\x1bH"...)
		}
	}
	text = append(text, "\x1b[H\x1b[2J\x1b[?25h"...)
	if e.modes.CursorHidden {
		text[len(text)-1] = 'l'
	}
	e.stream.Replace(text...)
}
