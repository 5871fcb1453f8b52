package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
)

// pickerHint says how to get to the page.
const pickerHint = "evertty url prints a link and a QR code for a browser"

// Widths of the picker's columns, in cells; the title has the rest. A narrow window has no session.
const (
	nameCells    = 22
	sessionCells = 14
	stateCells   = 12
	narrowWindow = 64
	maxFilter    = 200              // runes of the filter
	beyond       = 2*maxFilter + 20 // cells that a line may have behind the window's edge, where nothing shows
)

// picker is the list of terminals to choose from. It has one caller at a time.
type picker struct {
	list   []client.Terminal
	filter string
	id     string // of the terminal the mark is on
	at     int    // where that was last
	top    int    // the first one that is shown
	room   int    // lines that the window had for terminals last
	choice
}

// matching are the terminals that have all words of the filter in their name, session, command or title.
func (p *picker) matching() []client.Terminal {
	words := strings.Fields(strings.ToLower(p.filter))
	if len(words) == 0 {
		return p.list
	}
	var found []client.Terminal
	for _, t := range p.list {
		text := strings.ToLower(strings.Join([]string{t.ID, t.Name, t.Session, t.Title,
			strings.Join(t.Cmd, " ")}, "\n"))
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) }) {
			found = append(found, t)
		}
	}
	return found
}

// mark is the place of the mark in the shown terminals: it stays on its terminal while that is there.
func (p *picker) mark(shown []client.Terminal) int {
	at := slices.IndexFunc(shown, func(t client.Terminal) bool { return t.ID == p.id })
	if at < 0 {
		at = min(p.at, len(shown)-1)
	}
	return max(at, 0)
}

// press does what a key asks for, and reports whether it leaves.
func (p *picker) press(k pickerKey) (leaves bool) {
	shown := p.matching()
	at := p.mark(shown)
	switch k.what {
	case pressLeave:
		leaves = true
	case pressEnter:
		if len(shown) > 0 {
			p.terminal, leaves = &shown[at], true
		}
	case pressText:
		return p.typed(k.text)
	case pressPaste:
		p.add(k.text)
		return false
	case pressMove:
		at += k.by
	case pressPage:
		at += k.by * max(p.room, 1)
	}
	if p.at = max(0, min(at, len(shown)-1)); len(shown) > 0 {
		p.id = shown[p.at].ID
	}
	return leaves
}

// typed changes the filter: with DEL the last character goes, with NAK all of it. It reports whether it leaves.
func (p *picker) typed(text string) (leaves bool) {
	switch {
	case text == "n" && p.filter == "":
		p.create = true
		return true
	case text == "\x7f":
		if r := []rune(p.filter); len(r) > 0 {
			p.filter = string(r[:len(r)-1])
		}
	case text == "\x15":
		p.filter = ""
	default:
		p.add(text)
	}
	p.at, p.id = 0, ""
	return false
}

// add puts text behind the filter, as much as there is room for.
func (p *picker) add(text string) {
	r := []rune(p.filter + text)
	p.filter = string(r[:min(len(r), maxFilter)])
	p.at, p.id = 0, ""
}

// lines are the picture. They cost what the window shows, and one look at each terminal.
func (p *picker) lines(cols, rows int) []string {
	shown := p.matching()
	p.at = p.mark(shown)
	if len(shown) > 0 {
		p.id = shown[p.at].ID
	}
	p.room = max(rows-2, 1)
	p.top = max(0, min(p.top, p.at, len(shown)-p.room))
	p.top = max(p.top, p.at-p.room+1)
	lines := []string{fmt.Sprintf("\x1b[1m%s\x1b[m %s", "Terminal:", printable(p.filter))}
	for i := p.top; i < min(p.top+p.room, len(shown)); i++ {
		lines = append(lines, pickerLine(shown[i], i == p.at, cols))
	}
	for len(lines) < p.room+1 {
		lines = append(lines, "")
	}
	lines = append(lines, fmt.Sprintf("%d of %d  Enter attach  n new  Esc leave  %s", len(shown), len(p.list),
		pickerHint))
	if rows < 3 { // no room for more than the list
		lines = lines[1 : 1+rows]
	}
	return lines
}

// pickerLine is the line of a terminal.
func pickerLine(t client.Terminal, marked bool, cols int) string {
	begin, sign := "", "  "
	blank := func(int) string { return "\x1b[K" }
	if marked { // what is erased is not reversed
		begin, sign = "\x1b[7m", "> "
		blank = func(at int) string { return strings.Repeat(" ", max(cols-at+1, 0)) + fmt.Sprintf("\x1b[%dG", at) }
	}
	state := stateOf(t)
	if t.Viewers > 0 {
		state += fmt.Sprintf(" +%d", t.Viewers)
	}
	at := 1
	var b strings.Builder
	cell := func(text string, width int) {
		fmt.Fprintf(&b, "\x1b[%dG%s%s", at, blank(at), clipped(printable(text), max(width-1, 2)))
		at += width
	}
	b.WriteString(begin)
	cell(sign+cmp.Or(t.Name, t.ID), nameCells+2)
	if cols >= narrowWindow {
		cell(t.Session, sessionCells)
	}
	cell(state, stateCells)
	cell(caption(t), max(cols-at+2, 3))
	return b.String() + "\x1b[m"
}

// paintLines is what shows the lines from the top of the window, each cut at its right edge. The widths of characters
// are those of the emulator. The cursor ends behind the first line.
func paintLines(lines []string, cols int) string {
	e := engines[defaultEngine](vt.Config{Cols: cols + beyond, Rows: len(lines), Guest: true})
	var b strings.Builder
	b.WriteString("\x1b[?7l")
	for i := len(lines) - 1; i >= 0; i-- {
		fmt.Fprintf(&b, "\x1b[%d;1H%s", i+1, lines[i])
	}
	e.Write([]byte(b.String()))
	f := e.Freeze()
	b.Reset()
	b.WriteString(beginPainting + "\x1b[m")
	for i, l := range f.Active().Lines {
		fmt.Fprintf(&b, "\x1b[%d;1H\x1b[2K%s", i+1, snapshot.PaintRow(l, 0, cols))
	}
	fmt.Fprintf(&b, "\x1b[1;%dH%s%s", min(f.Active().X+1, cols), showCursor, endPainting)
	return b.String()
}
