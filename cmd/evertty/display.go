package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

// display draws a terminal on the user's own. When both have one size the output
// goes through as it is. Otherwise nothing of it does, because a terminal of another
// size wraps and scrolls elsewhere: the rows are painted from an emulator that
// follows the output, as much of them as the window shows, around the cursor.
// It has one caller at a time and writes nothing itself.
type display struct {
	engine vt.Engine // the terminal; nil before the first snapshot
	size   wire.Size // of the terminal
	window wire.Size // of the user's terminal
	direct bool      // the output goes through
	x, y   int       // first column and row of the terminal that the window shows
	traces traces    // of what was on the user's terminal before the engine's state
	bell   bool      // the program rang since the last painting
	// predicted is shown over the cursor's row. No emulator knows of it.
	predicted prediction
	hint      string // is on the last row of the window, over what the terminal shows; "" is none
	status    *statusLine
	kept      int       // lines of history that the terminal keeps; the emulator has them too, see past
	gone      []vt.Line // scrolled off and not in the window's scrollback yet; with status only

	// What was painted last, when not direct.
	rows  []string // of the window; nil when nothing of it is known
	alt   bool     // on the alternate screen
	state string   // the modes
	title string
}

// fits reports whether output can go through.
func (d *display) fits() bool { return d.size == d.window && d.hint == "" && !d.hasStatus() }

// load begins anew with a snapshot. shown is what a window of its size gets.
func (d *display) load(e client.Event, history int) (f *vt.Frame, shown []byte) {
	d.traces, d.hint = d.leaves(), ""
	d.size = wire.Size{Cols: e.Cols, Rows: e.Rows}
	effects := &vt.Effects{Bell: func() { d.bell = true }, Notify: func(vt.Notification) { d.bell = true }}
	d.engine = engines[defaultEngine](vt.Config{Cols: e.Cols, Rows: e.Rows, Scrollback: history, Effects: effects,
		Guest: true})
	shown = bytes.Clone(d.engine.Write(e.Data))
	d.bell = false
	if d.status != nil {
		effects.ScrolledOff = d.scrolled
	}
	return d.engine.Freeze(), shown
}

// leaves are the traces that are to be taken back.
func (d *display) leaves() traces {
	t := d.traces
	if d.direct {
		t.see(d.engine.Freeze())
	}
	return t
}

// atRest reports whether something can be written behind what was: no sequence and no
// character is open.
func (d *display) atRest() bool { return !d.direct || d.engine.AtRest() && d.engine.Held() == 0 }

// first is what shows the first snapshot, which carries the history: that goes into
// the user's scrollback.
func (d *display) first(e client.Event) []byte {
	f, shown := d.load(e, vt.MaxScrollback)
	history := f.History
	d.load(client.Event{Cols: f.Cols, Rows: f.Rows, Data: snapshot.ANSI(f, snapshot.Options{Scrollback: d.kept})},
		d.kept)
	if d.fits() {
		return d.through(shown)
	}
	return append(d.history(history), d.redraw()...)
}

// again is what shows a later snapshot.
func (d *display) again(e client.Event) []byte {
	past := d.past(e.Rows)
	e.Data = append(past, e.Data...)
	_, shown := d.load(e, d.kept)
	if d.fits() {
		return d.through(shown[len(past):])
	}
	return d.redraw()
}

// past is what gives a new emulator of so many rows as much history as there was, when a snapshot has none: in xterm.js
// a saved cursor moves up with the lines while the history grows. Its lines are never shown.
func (d *display) past(rows int) []byte {
	if d.engine == nil {
		return nil
	}
	n := d.engine.Freeze().History.Len()
	if n == 0 {
		return nil
	}
	return append(bytes.Repeat([]byte("\n"), n+rows-1), "\x1b[H"...)
}

// through is a snapshot for a window of the terminal's size.
func (d *display) through(ansi []byte) []byte {
	start := d.begin()
	d.direct, d.rows, d.gone = true, nil, nil
	return append([]byte(start), ansi...)
}

// begin makes the window ready for a whole screen. All traces are taken back.
func (d *display) begin() string {
	left := d.traces
	d.traces = traces{}
	return sober + left.reset(d.window.Cols) + listening + blank(d.window.Rows)
}

// resize follows a resize until the snapshot of the new size comes.
func (d *display) resize(s wire.Size) {
	if d.engine != nil {
		d.size = s
		d.engine.Resize(s.Cols, s.Rows)
	}
}

// output is what to write for a piece of output. painted tells that it has to be
// painted instead.
func (d *display) output(p []byte) (through []byte, painted bool) {
	through = d.engine.Write(p)
	if !d.direct {
		return nil, true
	}
	return through, false
}

// redraw draws the whole window from the known state of the terminal.
func (d *display) redraw() []byte {
	d.traces = d.leaves()
	if d.fits() {
		f := *d.engine.Freeze()
		if f.Modes.MouseEncoding == vt.MouseEncodingSGRPixels {
			f.Modes.MouseEncoding = vt.MouseEncodingSGR // see mouseView
		}
		return d.through(snapshot.ANSI(&f, snapshot.Options{}))
	}
	d.direct, d.rows = false, nil
	return d.paint()
}

// paint is what makes the painted window show the terminal as it is now.
func (d *display) paint() []byte {
	f := d.engine.Freeze()
	d.follow(f)
	var b strings.Builder
	b.WriteString(beginPainting)
	d.paintScrolled(&b)
	switch alt := f.Alt != nil; {
	case d.rows != nil && alt == d.alt:
	case alt && d.hasStatus():
		d.turnFromMain(&b, f)
	default:
		d.turnTo(&b, alt)
	}
	d.paintState(&b, f)
	d.paintRows(&b, f, f.Active(), d.lastRow(f))
	if d.bell {
		b.WriteString("\a")
		d.bell = false
	}
	d.paintCursor(&b, f)
	b.WriteString(endPainting)
	return []byte(b.String())
}

// turnTo shows the empty main or alternate screen, of which nothing is known to be left.
func (d *display) turnTo(b *strings.Builder, alt bool) {
	b.WriteString(d.begin())
	if alt {
		b.WriteString(alternateScreen)
	}
	d.rows, d.alt, d.state, d.title = make([]string, d.window.Rows), alt, "", ""
	b.WriteString(hideCursor)
}

// What surrounds a painting: the terminal shows it at once if it knows synchronized
// output (DEC private mode 2026), and else without its cursor running about.
const (
	hideCursor      = "\x1b[?25l"
	showCursor      = "\x1b[?25h"
	beginPainting   = "\x1b[?2026h" + hideCursor
	endPainting     = "\x1b[?2026l"
	alternateScreen = "\x1b[?1049h\x1b[H\x1b[2J"
)

// paintState sets the modes that the program asked for as far as they change what
// the user's terminal sends, and the colours. Mouse reports come in a form that can
// be translated, see mouseView.
func (d *display) paintState(b *strings.Builder, f *vt.Frame) {
	g := vt.Frame{Cols: d.window.Cols, Rows: d.window.Rows, CursorStyle: f.CursorStyle,
		Palette: f.Palette, Foreground: f.Foreground, Background: f.Background, CursorColor: f.CursorColor}
	m := f.Modes
	g.Modes = vt.Modes{AppCursor: m.AppCursor, AppKeypad: m.AppKeypad, ReverseVideo: m.ReverseVideo,
		Linefeed: m.Linefeed, BracketedPaste: m.BracketedPaste, FocusEvents: m.FocusEvents, Kitty: m.Kitty}
	if m.Mouse != vt.MouseNone {
		g.Modes.Mouse, g.Modes.MouseEncoding = m.Mouse, vt.MouseEncodingSGR
	}
	if m.Kitty != 0 {
		g.Main.Kitty = []uint8{m.Kitty} // pushed, so that emptying the stack takes it back
	}
	if state := string(snapshot.ANSI(&g, snapshot.Options{})); state != d.state {
		d.state = state
		d.traces.see(&g)
		b.WriteString(quiet + listening + plainModes + "\x1b[<99u" + state + hideCursor)
	}
	if f.Title != d.title {
		d.title = f.Title
		fmt.Fprintf(b, "\x1b]2;%s\x1b\\", printable(f.Title))
	}
}

// paintRows writes the rows that look different from before, as s has them; last, unless it is "", is the last one of
// the window.
func (d *display) paintRows(b *strings.Builder, f *vt.Frame, s *vt.Screen, last string) {
	arrowRow, arrows := d.arrows(f)
	for i := range d.rows {
		row := ""
		if at := d.y + i; at < len(s.Lines) && i < d.room() {
			row = string(snapshot.PaintRow(s.Lines[at], d.x, min(d.window.Cols, f.Cols-d.x)))
			if at == s.Y && s == f.Active() {
				row += d.overRow(f)
			}
		}
		if i == arrowRow {
			row += arrows
		}
		if last != "" && i == len(d.rows)-1 {
			row = last
		}
		d.paintRow(b, i, row)
	}
}

// paintRow writes a row of the window, from 0, if it looks different from before.
func (d *display) paintRow(b *strings.Builder, i int, row string) {
	if row != d.rows[i] {
		d.rows[i] = row
		fmt.Fprintf(b, "\x1b[%d;1H\x1b[2K%s", i+1, row)
	}
}

func (d *display) paintCursor(b *strings.Builder, f *vt.Frame) {
	x, y := d.cursorX(f)-d.x, f.Active().Y-d.y
	if f.Modes.CursorHidden || x < 0 || y < 0 || x >= d.window.Cols || y >= d.room() {
		return
	}
	fmt.Fprintf(b, "\x1b[%d;%dH%s", y+1, x+1, showCursor)
}

// follow moves the window as little as shows the cursor. A program that hides its
// cursor leaves it anywhere; on the main screen its row is still where text goes on.
func (d *display) follow(f *vt.Frame) {
	s := f.Active()
	if !f.Modes.CursorHidden {
		x := d.cursorX(f)
		d.x = max(min(d.x, x), x-d.window.Cols+1)
	}
	if !f.Modes.CursorHidden || f.Alt == nil {
		d.y = max(min(d.y, s.Y), s.Y-d.room()+1)
	}
	d.x = max(0, min(d.x, f.Cols-d.window.Cols))
	d.y = max(0, min(d.y, f.Rows-d.room()))
}

// history is what puts lines into the scrollback of a window of another width. Lines
// that the terminal broke are put together and broken by the window.
func (d *display) history(lines vt.Lines) []byte {
	if lines.Len() == 0 {
		return nil
	}
	b := []byte(sober + blank(d.window.Rows))
	taken, width := 0, 0 // rows of the window, cells of the line
	first := true
	for l := range lines.All() {
		if !l.Wrapped() && !first {
			b = append(b, "\r\n"...)
			taken, width = taken+1+width/d.window.Cols, 0
		}
		first = false
		b = append(b, snapshot.PaintRow(l, 0, d.size.Cols)...)
		width += l.Cells()
	}
	taken += 1 + width/d.window.Cols
	rows := d.window.Rows
	return fmt.Appendf(b, "\x1b[%d;1H%s", rows, strings.Repeat("\n", min(taken, rows)))
}

// contentEnd is the last row of the window that has text or the cursor, from 1; the
// last of all while the main screen is hidden.
func (d *display) contentEnd() int {
	f := d.engine.Freeze()
	if f.Alt != nil {
		return d.room()
	}
	end := contentEnd(f)
	if !d.direct {
		end -= d.y
	}
	return min(max(end, 1), d.room())
}

// mouse is how mouse reports have to be translated, nil when they need not be.
func (d *display) mouse() *mouseView {
	switch {
	case d.engine == nil, d.direct && d.engine.Modes().MouseEncoding != vt.MouseEncodingSGRPixels:
		return nil
	case d.direct:
		return &mouseView{cols: d.size.Cols, rows: d.size.Rows, encoding: vt.MouseEncodingSGRPixels}
	}
	return &mouseView{x: d.x, y: d.y, cols: d.size.Cols, rows: min(d.size.Rows, d.y+d.room()),
		encoding: d.engine.Modes().MouseEncoding}
}
