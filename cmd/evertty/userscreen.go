package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
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
	// insert, newline, cursor shown and of its default form, SGR, character sets,
	// and the hyperlink closed.
	plainModes = "\x1b[!p\x1b[?1l\x1b>\x1b[?5l\x1b[?6l\x1b[?7h\x1b[?45l\x1b[4l\x1b[20l\x1b[?25h\x1b[0 q\x1b[m" +
		"\x0f\x1b(B\x1b)B\x1b*B\x1b+B\x1b]8;;\x1b\\"
	// mainScreen leaves the alternate screen. Each screen has a stack of flags of the
	// kitty keyboard protocol of its own, and both are emptied, so that of the
	// alternate screen is shown for that if it is not.
	mainScreen = "\x1b[?1047h\x1b[<99u\x1b[?1049l\x1b[<99u"
	// The title is kept on the terminal's stack (xterm ctlseqs, XTWINOPS 22, 23).
	keepTitle = "\x1b[22;0t"
	giveTitle = "\x1b[23;0t"
)

// sober is a terminal as a shell expects it; the cursor may be anywhere. fresh is
// one that is ready for a snapshot.
const (
	sober = quiet + mainScreen + plainModes + "\x1b[r"
	fresh = sober + "\x1b[H\x1b[J"
)

// enter makes room for the first snapshot: what is on the screen moves up into the
// user's scrollback.
func enter(rows int) string {
	return keepTitle + fmt.Sprintf("\x1b[%d;1H", rows) + strings.Repeat("\n", rows)
}

// leave gives the terminal back: everything a program may have left on is off, and
// the cursor stands on a free line below row end of rows, where the content ends.
func leave(end, rows int) string {
	return sober + fmt.Sprintf("\x1b[%d;1H\r\n", min(end, rows)) + giveTitle
}

// notice shows a line at the bottom of the screen. The next snapshot removes it.
func notice(text string, cols, rows int) string {
	return fmt.Sprintf("\x1b7\x1b[?6l\x1b[%d;1H\x1b[0;7m%s\x1b[0m\x1b[K\x1b8", rows,
		clipped(printable(text), max(cols-1, 2)))
}

// colors notices when a program changes the terminal's own colours (OSC 4 and 10
// to 12), which are to be put back at the end. Nobody else's palette is touched.
type colors struct {
	tail    []byte // the end of what was seen: a sequence may be cut in two
	palette bool
	dynamic [3]bool // foreground, background, cursor
}

// colorPrefixes are the beginnings of the sequences colors looks for.
var colorPrefixes = [...]string{"\x1b]4;", "\x1b]10;", "\x1b]11;", "\x1b]12;"}

func (c *colors) see(p []byte) {
	const longest = len("\x1b]10;") - 1
	c.find(append(c.tail, p[:min(len(p), longest)]...))
	c.find(p)
	c.tail = append(c.tail, p[max(0, len(p)-longest):]...)
	c.tail = c.tail[max(0, len(c.tail)-longest):]
}

func (c *colors) find(p []byte) {
	for i, prefix := range colorPrefixes {
		if !bytes.Contains(p, []byte(prefix)) {
			continue
		}
		if i == 0 {
			c.palette = true
		} else {
			c.dynamic[i-1] = true
		}
	}
}

// reset puts the colours back that were changed (OSC 104, 110, 111, 112).
func (c *colors) reset() string {
	s := ""
	if c.palette {
		s += "\x1b]104\x1b\\"
	}
	for i, changed := range c.dynamic {
		if changed {
			s += fmt.Sprintf("\x1b]%d\x1b\\", 110+i)
		}
	}
	return s
}

// put writes s to the terminal; an error shows at the next write of output.
func put(w io.Writer, s string) { _, _ = io.WriteString(w, s) }
