package snapshot

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/evertty/evertty/vt"
)

// Limits of the result of Differences.
const (
	maxDifferences = 20  // sentences
	maxSentence    = 300 // bytes of each: a style with a link can be 64 KiB
)

// Normalize returns the frame that ANSI paints for these options: f within the limits of vt,
// with the history that o selects and, for an ended program, without its input state. It is
// the first argument of Differences.
func Normalize(f *vt.Frame, o Options) *vt.Frame {
	g := o.apply(normalize(f))
	g.History = lastLines(g.History, o.Scrollback)
	return g
}

// Differences compares want, a frame of Normalize, with got, the frame of an engine of the
// same size to which ANSI of want was written. It returns one sentence per differing part, at
// most 20 of at most 300 bytes, or nil when the snapshot was exact. Lines are compared by
// their cells, whatever their packing.
//
// It ignores state that ANSI cannot carry, because no text sets it or no viewer can notice it:
//   - state that Normalize changes: cells off the screen, text with control characters;
//   - a link without a URI, which is no link;
//   - the style of an erased cell if only its background shows and selective erasure does not
//     protect it, and an erased cell that ANSI has to paint as a space;
//   - the wrap flag of the first line, and every wrap flag and pending wrap on a screen one
//     column wide, where no filler fits;
//   - the form of the default tab stops, and a stop in column 0;
//   - a saved cursor equal to the one after RIS, and the row of one below the screen;
//   - saved character sets that are not in use, which xterm.js 6 does not restore, and invisible
//     parts of the pen;
//   - the main screen's cursor while the alternate screen is shown: on the way back xterm.js
//     takes the cursor of the alternate one;
//   - the cursor's distance from the margins when it is outside of them in origin mode, which
//     no movement can reach;
//   - the character of REP, if printing it again would change something else.
func Differences(want, got *vt.Frame) []string {
	want, got = normalize(want), normalize(got)
	d := &findings{}
	if want.Cols != got.Cols || want.Rows != got.Rows {
		d.add("size: want %dx%d, got %dx%d", want.Cols, want.Rows, got.Cols, got.Rows)
		return d.list
	}
	d.modes(&want.Modes, &got.Modes)
	d.lines(want, got)
	d.screen("", want.Active(), got.Active(), want)
	d.cursor(want, got)
	if want.Alt != nil && got.Alt != nil {
		d.screen("main screen: ", &want.Main, &got.Main, want)
	}
	d.hidden(want.Hidden, got.Hidden, want.Rows)
	d.program(want, got)
	d.names(want, got)
	return d.list
}

// hidden compares what the alternate screen keeps while it is not shown.
func (d *findings) hidden(want, got *vt.Screen, rows int) {
	var w, g vt.Screen
	if want != nil {
		w = *want
	}
	if got != nil {
		g = *got
	}
	d.keeps("hidden screen: ", &w, &g, rows)
}

// findings collects sentences up to the bounds.
type findings struct{ list []string }

func (d *findings) full() bool { return len(d.list) >= maxDifferences }

func (d *findings) add(format string, args ...any) {
	if d.full() {
		return
	}
	s := fmt.Sprintf(format, args...)
	if len(s) > maxSentence {
		s = strings.ToValidUTF8(s[:maxSentence-len("…")], "") + "…"
	}
	d.list = append(d.list, s)
}

// differ notes that a part is not the same.
func differ[T comparable](d *findings, part string, want, got T) {
	if want == got {
		return
	}
	verb := "%+v"
	if _, ok := any(want).(string); ok {
		verb = "%.100q"
	}
	d.add("%s: want "+verb+", got "+verb, part, want, got)
}

// modes compares every switch that viewers know by the name that vt.Modes has for it.
func (d *findings) modes(want, got *vt.Modes) {
	known := *got
	for i, on := range known.QueryOnly() {
		*on = *want.QueryOnly()[i]
	}
	got = &known
	w, g := reflect.ValueOf(want).Elem(), reflect.ValueOf(got).Elem()
	for i := range w.NumField() {
		differ(d, "mode "+w.Type().Field(i).Name, w.Field(i).Interface(), g.Field(i).Interface())
	}
}

// lines compares the cells of history and screens.
func (d *findings) lines(want, got *vt.Frame) {
	c := comparison{findings: d, frame: want}
	if want.History.Len() != got.History.Len() {
		d.add("history: want %d lines, got %d", want.History.Len(), got.History.Len())
	} else {
		c.flow("history line", want.History.Slice(), got.History.Slice(), nil)
	}
	name := "row"
	if want.Alt != nil {
		name = "main row"
	}
	c.flow(name, want.Main.Lines, got.Main.Lines, &want.Main)
	if (want.Alt != nil) != (got.Alt != nil) {
		d.add("alternate screen: want shown %t, got %t", want.Alt != nil, got.Alt != nil)
	} else if want.Alt != nil {
		c.flow("row", want.Alt.Lines, got.Alt.Lines, want.Alt)
	}
}

// screen compares what belongs to one screen besides its cells and cursor.
func (d *findings) screen(name string, want, got *vt.Screen, f *vt.Frame) {
	differ(d, name+"margins", [2]int{want.Top, want.Bottom}, [2]int{got.Top, got.Bottom})
	if w, g := stops(want.Tabs, f.Cols), stops(got.Tabs, f.Cols); !slices.Equal(w, g) {
		d.add("%stab stops: want %v, got %v", name, w, g)
	}
	d.keeps(name, want, got, f.Rows)
}

// keeps compares what a screen keeps even while it is not shown.
func (d *findings) keeps(name string, want, got *vt.Screen, rows int) {
	if !slices.Equal(want.Kitty, got.Kitty) {
		d.add("%skeyboard stack: want %v, got %v", name, want.Kitty, got.Kitty)
	}
	w, g := want.Saved, got.Saved
	w.Pen.Link, g.Pen.Link = carriedLink(w.Pen.Link), carriedLink(g.Pen.Link)
	if w.Y, g.Y = min(w.Y, rows-1), min(g.Y, rows-1); w.Y < 0 {
		w.Origin, g.Origin = false, false // saved while its line was painted, without margins
	}
	if !g.Set && (w == vt.SavedCursor{Set: true, Y: min(w.Y, 0)}) {
		w = g // as in a fresh terminal
	}
	w.Charsets, g.Charsets = inForce(w.Charsets), inForce(g.Charsets)
	differ(d, name+"saved cursor", w, g)
}

// inForce is what xterm.js saves of character sets: the one that is printed in.
func inForce(c vt.Charsets) vt.Charsets {
	return vt.Charsets{G: [4]byte{plainSet(c.G[c.GL])}}
}

// stops are the tab stops on the screen behind column 0.
func stops(tabs []int, cols int) []int {
	if tabs == nil {
		return usualStops(cols)
	}
	return behindFirst(onScreen(tabs, cols))
}

// cursor compares the cursor of the screen that is shown.
func (d *findings) cursor(want, got *vt.Frame) {
	w, g := want.Active(), got.Active()
	y := w.Y
	if want.Modes.Origin {
		y = min(max(y, w.Top), w.Bottom)
	}
	if w.X != g.X || y != g.Y {
		d.add("cursor: want column %d of row %d, got column %d of row %d", w.X, y, g.X, g.Y)
	}
	if want.Cols >= 2 {
		differ(d, "pending wrap", w.PendingWrap, g.PendingWrap)
	}
	differ(d, "cursor style", want.CursorStyle, got.CursorStyle)
}

// program compares what only the rest of the program's output depends on.
func (d *findings) program(want, got *vt.Frame) {
	wantPen, gotPen := want.Pen, got.Pen
	wantPen.Link, gotPen.Link = carriedLink(wantPen.Link), carriedLink(gotPen.Link)
	differ(d, "pen", wantPen, gotPen)
	w, g := normalizeCharsets(printingSets(want)), normalizeCharsets(printingSets(got))
	differ(d, "character sets", w, g)
	last := want.LastChar
	if _, ok := repeatable(want); !ok {
		last = 0
	}
	if last != got.LastChar {
		d.add("character that REP repeats: want %q, got %q", last, got.LastChar)
	}
	differ(d, "unfinished sequence", string(want.Pending), string(got.Pending))
}

// names compares texts and colours of the whole terminal.
func (d *findings) names(want, got *vt.Frame) {
	for _, part := range [...]struct {
		name      string
		want, got any
	}{
		{"width table", want.Unicode, got.Unicode}, {"title", want.Title, got.Title},
		{"icon name", want.Icon, got.Icon},
		{"directory", want.Cwd, got.Cwd}, {"host of the directory", want.CwdHost, got.CwdHost},
		{"foreground", want.Foreground, got.Foreground}, {"background", want.Background, got.Background},
		{"cursor colour", want.CursorColor, got.CursorColor},
	} {
		differ(d, part.name, part.want, part.got)
	}
	if !maps.Equal(want.Palette, got.Palette) {
		d.add("palette: want %v, got %v", want.Palette, got.Palette)
	}
}

// comparison compares lines of one width. It keeps the memory for their cells.
type comparison struct {
	*findings
	frame     *vt.Frame // that is wanted
	want, got []cell
}

// flow compares lines that are painted one after the other: the lines of s, or of the
// history.
func (c *comparison) flow(name string, want, got []vt.Line, s *vt.Screen) {
	cols, first := c.frame.Cols, s != &c.frame.Main || c.frame.History.Len() == 0
	for i, w := range want {
		if c.full() {
			return
		}
		g := got[i]
		if w == g {
			continue
		}
		if (i > 0 || !first) && cols >= 2 && w.Wrapped() != g.Wrapped() {
			c.add("%s %d: want wrapped %t, got %t", name, i, w.Wrapped(), g.Wrapped())
		}
		space := -1
		switch {
		case s != nil:
			space = becomesSpace(c.frame, s, i)
		case cols < 2 && erasedEnd(w, cols) != nil:
			space = 0
		}
		c.want, c.got = appendCells(c.want[:0], w, cols, space), appendCells(c.got[:0], g, cols, space)
		c.cells(name, i)
	}
}

// cells says where the cells of a line begin to differ.
func (c *comparison) cells(name string, line int) {
	first, n := -1, 0
	for x := range c.want {
		if c.want[x] != c.got[x] {
			if n++; first < 0 {
				first = x
			}
		}
	}
	if n == 0 {
		return
	}
	w, g := c.want[first], c.got[first]
	if w.text == g.text && w.width == g.width {
		c.add("%s %d: %d cells differ, first column %d, %q: want %+v, got %+v", name, line, n, first, w.text, w.style,
			g.style)
		return
	}
	c.add("%s %d: %d cells differ, first column %d: want %.40q (%d wide), got %.40q (%d wide)", name, line, n, first,
		w.text, w.width, g.text, g.width)
}

// appendCells appends the columns of l as a snapshot carries them, exactly cols.
// The second half of a wide character has no text and no width. An erased cell in
// column space, when there is one, counts as printed.
func appendCells(b []cell, l vt.Line, cols, space int) []cell {
	for s := range l.Spans() {
		for s.Cells > 0 && len(b) < cols {
			var c cell
			c, s = firstCell(s)
			if len(b)+c.width > cols {
				return append(b, cell{x: len(b), width: 1}) // half a character ends the row
			}
			c.x = len(b)
			b = append(b, carriedCell(c, c.x == space))
			if c.width == 2 {
				b = append(b, cell{x: len(b)})
			}
		}
	}
	for x := len(b); x < cols; x++ {
		b = append(b, carriedCell(cell{x: x, width: 1}, x == space))
	}
	return b
}

// firstCell divides s behind its first character.
func firstCell(s vt.Span) (c cell, rest vt.Span) {
	c = cellInSpan(s, 0, 0)
	if c.width >= s.Cells {
		return c, vt.Span{}
	}
	_, rest = cutSpan(s, c.width)
	return c, rest
}

// carriedLink is l as a snapshot carries it.
func carriedLink(l vt.Link) vt.Link {
	if l.URI == "" {
		return vt.Link{}
	}
	return l
}

// carriedCell is c as it comes out of the snapshot of its line.
func carriedCell(c cell, printed bool) cell {
	c.style = normalizeStyle(c.style)
	c.style.Link = carriedLink(c.style.Link)
	if c.text != "" {
		return c
	}
	switch {
	case printed:
		c.text = " "
	case !keepsStyle(c.style):
		c.style = vt.Style{BG: c.style.BG}
	}
	return c
}
