package vt

import "unicode/utf8"

// Cell is one column of a row as it is shown.
type Cell struct {
	// Text is a character with its combining marks, "" for a blank and for the
	// second column of a wide character.
	Text string
	// Width is the number of columns: 1, 2 for a wide character, and 0 for its second
	// column.
	Width int
	Style Style
}

// Cursor is where and how the cursor is shown.
type Cursor struct {
	X, Y int // from 0
	// PendingWrap: the last column was printed in, and the next character wraps first.
	PendingWrap bool
	Hidden      bool // DECTCEM (VT510)
	Style       CursorStyle
}

// Size returns the number of columns and rows.
func (t *Terminal) Size() (cols, rows int) { return t.cfg.Cols, t.cfg.Rows }

// Cursor returns the cursor of the screen shown.
func (t *Terminal) Cursor() Cursor {
	s := t.screen
	return Cursor{
		X: min(s.X, s.Cols-1), Y: s.Y, PendingWrap: s.X >= s.Cols, Hidden: t.modes.CursorHidden, Style: t.cursorStyle,
	}
}

// Title returns what OSC 0 or 2 set last (xterm ctlseqs). It is text of the program.
func (t *Terminal) Title() string { return t.labels.Title }

// Scrollback returns the number of lines in the history of the screen shown, 0 for
// the alternate screen.
func (t *Terminal) Scrollback() int { return t.base() }

// Row returns a row of the screen shown, from 0, or of its history: -1 is the newest
// line there, -Scrollback() the oldest. It is blank where there is no row.
func (t *Terminal) Row(y int) Line {
	s := t.screen
	switch {
	case y >= 0 && y < len(s.rows):
		r := s.rows[y]
		return Line{packed: string(t.packer.row(r, &t.styles)), wrapped: r.wrapped}
	case y < 0 && y >= -t.base():
		return t.hist.freeze().At(t.hist.count + y)
	}
	return Line{}
}

// Cell returns a cell of the screen shown or its history; Row counts rows in the same way. It
// is a blank where there is no cell. Row is cheaper for a whole row.
func (t *Terminal) Cell(x, y int) Cell {
	s := t.screen
	if y < 0 || y >= len(s.rows) || x < 0 || x >= s.Cols {
		return t.Row(y).Cell(x)
	}
	r := s.rows[y]
	if r.cells == nil {
		return r.textCell(x, &t.styles)
	}
	c := r.cells[x]
	out := Cell{Width: 1, Style: t.styles.style(c.style())}
	switch kind := kindAt(r.cells, x); {
	case kind == Wide || kind == ClusterWide:
		out.Width = 2
	case kind == Blank && c.tail() && x > 0 && kindAt(r.cells, x-1).wide():
		out.Width = 0
		return out
	case kind == Blank:
		return out
	}
	out.Text = string(r.appendChars(nil, c))
	return out
}

// textCell is column x of a row in text form.
func (r *row) textCell(x int, t *styles) Cell {
	begin := 0
	for _, run := range r.runs {
		if x < int(run.cells) {
			c := cellOf(run.kind, r.text[begin:run.end], x)
			c.Style = t.style(run.style)
			return c
		}
		x -= int(run.cells)
		begin = run.end
	}
	return Cell{Width: 1}
}

// style is the style of that number.
func (t *styles) style(n uint32) Style {
	l := t.list[n]
	return Style{
		FG: l.fg(), BG: l.bg(), UnderlineColor: l.line(), Attr: l.attr(), Underline: l.underline(), Link: t.linkOf(l),
	}
}

// Cell returns column x of the line, from 0; a blank in the default style behind the
// line's end.
func (l Line) Cell(x int) Cell {
	for s := range l.Spans() {
		if x >= 0 && x < s.Cells {
			c := cellOf(s.Kind, s.Text, x)
			c.Style = s.Style
			return c
		}
		x -= s.Cells
	}
	return Cell{Width: 1}
}

// cellOf is column x of text that lies in cells as kind says, without its style.
func cellOf[T string | []byte](kind Kind, text T, x int) Cell {
	width := max(kind.Width(), 1)
	switch {
	case kind == Blank:
		return Cell{Width: 1}
	case kind == ASCII:
		return Cell{Text: string(text[x : x+1]), Width: 1}
	case x%width == 1:
		return Cell{}
	case kind == ClusterOne || kind == ClusterWide:
		return Cell{Text: string(text), Width: width}
	}
	rest := string(text)
	for ; x >= width; x -= width {
		_, size := utf8.DecodeRuneInString(rest)
		rest = rest[size:]
	}
	_, size := utf8.DecodeRuneInString(rest)
	return Cell{Text: rest[:size], Width: width}
}
