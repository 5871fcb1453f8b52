package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

// What a viewer writes to the user's own terminal around the program's output.
// The user's scrollback is never erased: no ED 3, no RIS.
const (
	// quiet ends every mode in which the terminal talks on its own: mouse (X10,
	// normal, button, any and their encodings), focus, paste brackets, colour
	// reports, synchronized output (xterm ctlseqs, DECSET).
	quiet = "\x1b[?9l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1005l\x1b[?1006l\x1b[?1015l\x1b[?1016l" +
		"\x1b[?1004l\x1b[?2004l\x1b[?2026l\x1b[?2031l"
	// plainModes is what DECSTR (VT510) resets, and said one by one for terminals
	// that do not know it: cursor and keypad keys, origin, reverse video, autowrap,
	// insert, newline, cursor shown and of its default form, SGR, protection, character
	// sets, and the hyperlink closed.
	plainModes = "\x1b[!p\x1b[0\"q\x1b[?1l\x1b>\x1b[?5l\x1b[?6l\x1b[?7h\x1b[?45l\x1b[4l\x1b[20l\x1b[?25h" +
		"\x1b[0 q\x1b[m\x0f\x1b(B\x1b)B\x1b*B\x1b+B\x1b]8;;\x1b\\"
	// mainScreen leaves the alternate screen. Each screen has a stack of flags of the
	// kitty keyboard protocol of its own, and a cursor that DECSC saved, which DECSTR
	// forgets. So the alternate one is shown for that if it is not.
	mainScreen = "\x1b[?1047h\x1b[!p\x1b[<99u\x1b[?1049l\x1b[<99u"
	// The title is kept on the terminal's stack (xterm ctlseqs, XTWINOPS 22, 23).
	keepTitle = "\x1b[22;0t"
	giveTitle = "\x1b[23;0t"
)

const (
	// sober is a terminal as a shell expects it; the cursor may be anywhere.
	sober = quiet + mainScreen + plainModes + "\x1b[r"
	// listening has the terminal say when its colours change (contour, mode 2031).
	listening = "\x1b[?2031h"
)

// blank makes a sober screen of rows empty, for a snapshot. It is DL (ECMA-48 8.3.32), because tmux
// and others move what ED erases into the scrollback.
func blank(rows int) string { return fmt.Sprintf("\x1b[H\x1b[%dM", rows) }

// enter makes room for the first snapshot: the text on the screen moves up into the
// user's scrollback.
func enter(rows int) string {
	return keepTitle + fmt.Sprintf("\x1b[%d;1H", rows) + strings.Repeat("\n", rows)
}

// leave gives the terminal back: everything a program may have left on is off, and
// the cursor stands on a free line below row end of rows, where the content ends.
func leave(end int, window wire.Size, left traces) string {
	return sober + left.reset(window.Cols) + fmt.Sprintf("\x1b[%d;1H\r\n", min(end, window.Rows)) + giveTitle
}

// contentEnd is the last row that has text or the cursor, from 1; the last of all
// when the main screen was hidden.
func contentEnd(f *vt.Frame) int {
	if f.Alt != nil {
		return f.Rows
	}
	text := strings.TrimRight(snapshot.Text(f, 0), "\n")
	return max(f.Main.Y+1, strings.Count(text, "\n")+1)
}

// notice shows a line at the bottom of the screen, with the cursor behind it, on a terminal
// that talks as a shell expects it. The next whole screen takes that back.
func notice(text string, cols, rows int) string {
	return quiet + listening + "\x1b[<99u" + plainModes + fmt.Sprintf("\x1b[r\x1b[%d;1H\x1b[7m%s\x1b[m\x1b[K", rows,
		clipped(printable(text), max(cols-1, 2)))
}

// traces are what a program leaves in the user's terminal that sober does not take back, as
// far as it has set any: colours and tab stops of others stay.
type traces struct {
	palette, cwd, tabs bool
	dynamic            [3]bool // foreground, background, cursor
}

// see notes the traces of a terminal in the state of f.
func (t *traces) see(f *vt.Frame) {
	t.palette = t.palette || f.Palette != nil
	t.cwd = t.cwd || f.Cwd != ""
	t.tabs = t.tabs || f.Main.Tabs != nil || f.Alt != nil && f.Alt.Tabs != nil
	for i, c := range [...]vt.Color{f.Foreground, f.Background, f.CursorColor} {
		t.dynamic[i] = t.dynamic[i] || c != 0
	}
	both := t.dynamic[0] || t.dynamic[1] // in reverse video (mode ?5) xterm changes the other one
	t.dynamic[0], t.dynamic[1] = both, both
}

// reset takes the traces back: OSC 104, 110, 111, 112, OSC 7 without a directory, and tab
// stops every 8 of cols columns, said one by one and by DECST8C (VT510).
func (t traces) reset(cols int) string {
	s := ""
	if t.palette {
		s += "\x1b]104\x1b\\"
	}
	for i, changed := range t.dynamic {
		if changed {
			s += fmt.Sprintf("\x1b]%d\x1b\\", 110+i)
		}
	}
	if t.cwd {
		s += "\x1b]7;\x1b\\"
	}
	if t.tabs {
		s += "\x1b[3g"
		for x := 0; x < cols; x += 8 {
			s += fmt.Sprintf("\x1b[%dG\x1bH", x+1)
		}
		s += "\x1b[?5W"
	}
	return s
}

// notification is what has the user's terminal show n (iTerm2, OSC 9). It is no command of
// ConEmu's: those begin with a number.
func notification(n wire.Notification) string {
	text := n.Body
	if n.Title != "" {
		text = n.Title + ": " + text
	}
	return "\x1b]9; " + printable(text) + "\x1b\\"
}

// put writes s to the terminal; an error shows at the next write of output.
func put(w io.Writer, s string) { _, _ = io.WriteString(w, s) }
