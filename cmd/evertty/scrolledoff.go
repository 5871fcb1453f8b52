package main

import (
	"fmt"
	"strings"

	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
)

// scrolledAtOnce is how many lines that scrolled off are kept at most before they are painted, besides those of one
// event: some hundred screens would pass by unseen in that time.
const scrolledAtOnce = 1000

// scrolled takes a line that scrolled off the terminal, if the window would have it in its scrollback without the
// status line.
func (d *display) scrolled(l vt.Line) {
	if !d.direct && d.size == d.shows() {
		d.gone = append(d.gone, l)
	}
}

// paintScrolled moves the lines that scrolled off into the window's scrollback. A line that is not in the topmost rows
// yet is painted there, and these rows scroll off between margins (DECSTBM) that leave out the status line. Terminals
// keep what scrolls off where the margin is the first row.
func (d *display) paintScrolled(b *strings.Builder) {
	if len(d.gone) == 0 {
		return
	}
	if d.rows == nil || d.alt {
		d.turnTo(b, false)
	}
	room := d.room()
	fmt.Fprintf(b, "\x1b[1;%dr", room)
	for lines := d.gone; len(lines) > 0; {
		n := min(len(lines), room)
		for i, l := range lines[:n] {
			d.paintRow(b, i, string(snapshot.PaintRow(l, 0, d.window.Cols)))
		}
		fmt.Fprintf(b, "\x1b[%d;1H%s", room, strings.Repeat("\n", n))
		copy(d.rows, d.rows[n:room])
		clear(d.rows[room-n : room])
		lines = lines[n:]
	}
	b.WriteString("\x1b[r")
	d.gone = nil
}
