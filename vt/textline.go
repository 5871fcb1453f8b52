package vt

import (
	"bytes"
	"unicode/utf8"
)

// TextLine is a line of text as a screen shows it. Rows that the right margin broke
// are one line.
type TextLine struct {
	// Text is what was printed, with blanks where nothing was. Blanks at the end are
	// part of it only when they were printed.
	Text []byte
	// Offsets has for each byte of Text the position in the output behind its character;
	// 0 for characters from before the tracked output. nil when nothing has one.
	Offsets []uint64
	// ErasedAt is the position behind the last sequence that erased something behind
	// the text; 0 when none did.
	ErasedAt uint64
}

// TextLines returns the lines that a frame shows, after the last n rows of its
// history, all when n is negative. Nothing of them has a position.
func TextLines(f *Frame, n int) []TextLine {
	history := f.History
	if n >= 0 {
		history = history.Last(n)
	}
	rows := history.Slice()
	return joinRows(append(rows, f.Active().Lines...), nil, f.Cols)
}

// joinRows makes lines of rows. at has the positions of their cells, by row; nil for
// a row without.
func joinRows(rows []Line, at [][]uint64, cols int) []TextLine {
	var lines []TextLine
	b := textLineBuilder{bare: at == nil}
	for i, r := range rows {
		var positions []uint64
		if i < len(at) {
			positions = at[i]
		}
		b.row(positions)
		for s := range r.Spans() {
			b.span(s.Kind, s.Text, s.Cells)
		}
		if i+1 < len(rows) && rows[i+1].wrapped {
			b.continueRow(cols, beginsWide(rows[i+1]))
			continue
		}
		lines = append(lines, b.end(positions))
		b = textLineBuilder{bare: at == nil}
	}
	return lines
}

// TextBeforeCursor returns the text left of the cursor in its line.
func TextBeforeCursor(f *Frame) TextLine {
	return beforeCursor(f.Active(), f.Cols, func(int) []uint64 { return nil }, nil)
}

// TextFromCursorLine returns the line that the cursor is in and those below it, each ended by LF
// and without blanks at its end, without empty lines at the end.
func TextFromCursorLine(f *Frame) []byte {
	s := f.Active()
	first := s.Y
	for first > 0 && s.Lines[first].wrapped {
		first--
	}
	var b []byte
	for _, l := range joinRows(s.Lines[first:], nil, f.Cols) {
		b = append(append(b, bytes.TrimRight(l.Text, " ")...), '\n')
	}
	return append(bytes.TrimRight(b, "\n"), '\n')
}

// beforeCursor is TextBeforeCursor of a screen; at has the positions of a row, ends those of the
// cursor's row when cells behind its text were erased.
func beforeCursor(s *Screen, cols int, at func(y int) []uint64, ends []uint64) TextLine {
	y := s.Y
	for y > 0 && s.Lines[y].wrapped {
		y--
	}
	var b textLineBuilder
	for ; y <= s.Y; y++ {
		b.row(at(y))
		if y == s.Y && !s.PendingWrap {
			b.limit = s.X
		}
		for span := range s.Lines[y].Spans() {
			b.span(span.Kind, span.Text, span.Cells)
		}
		if y < s.Y {
			b.continueRow(cols, beginsWide(s.Lines[y+1]))
		}
	}
	return b.end(ends)
}

// beginsWide reports whether a line begins with a character of two cells: then the
// row before may have ended one column early.
func beginsWide(l Line) bool {
	for s := range l.Spans() {
		return s.Kind == Wide || s.Kind == ClusterWide
	}
	return false
}

// textLineBuilder makes a TextLine of the rows of a line, cell by cell.
type textLineBuilder struct {
	line    TextLine
	bare    bool     // positions are left out
	offsets []uint64 // of the cells of the row at hand; may be short
	x       int
	printed int // length of the text up to the last character that was printed
	used    int // columns up to that character
	limit   int // columns of the row that count
}

// row begins a row whose cells have these positions.
func (b *textLineBuilder) row(at []uint64) { b.offsets, b.x, b.used, b.limit = at, 0, 0, MaxSize }

// offset is the position of column x.
func (b *textLineBuilder) offset(x int) uint64 {
	if x < len(b.offsets) {
		return b.offsets[x]
	}
	return 0
}

// span adds text that takes so many cells.
func (b *textLineBuilder) span(k Kind, text string, cells int) {
	switch k {
	case Blank:
		b.blank(cells)
	case ASCII:
		b.ascii(text)
	case ClusterOne, ClusterWide:
		b.char(text, cells)
	default:
		for rest := text; rest != ""; {
			_, n := utf8.DecodeRuneInString(rest)
			b.char(rest[:n], max(k.Width(), 1))
			rest = rest[n:]
		}
	}
}

// ascii adds characters of one byte and one cell.
func (b *textLineBuilder) ascii(text string) {
	text = text[:min(len(text), max(b.limit-b.x, 0))]
	b.line.Text = append(b.line.Text, text...)
	switch {
	case b.bare:
	case b.x+len(text) <= len(b.offsets):
		b.line.Offsets = append(b.line.Offsets, b.offsets[b.x:b.x+len(text)]...)
	default:
		for i := range len(text) {
			b.line.Offsets = append(b.line.Offsets, b.offset(b.x+i))
		}
	}
	b.x += len(text)
	b.printed, b.used = len(b.line.Text), b.x
}

// char adds the text of one character.
func (b *textLineBuilder) char(text string, cells int) {
	if b.x < b.limit {
		b.add(text, cells)
		b.printed, b.used = len(b.line.Text), b.x
	}
}

// blank adds cells that nothing was printed in.
func (b *textLineBuilder) blank(n int) {
	for ; n > 0 && b.x < b.limit; n-- {
		b.add(" ", 1)
	}
}

// add adds text that has the position of the column at hand.
func (b *textLineBuilder) add(text string, cells int) {
	b.line.Text = append(b.line.Text, text...)
	if !b.bare {
		for range len(text) {
			b.line.Offsets = append(b.line.Offsets, b.offset(b.x))
		}
	}
	b.x += cells
}

// continueRow ends a row that the next one continues.
func (b *textLineBuilder) continueRow(cols int, wide bool) {
	b.blank(cols - b.x)
	if wide && b.used < cols {
		b.cut(len(b.line.Text) - 1)
	}
	b.printed = len(b.line.Text)
}

func (b *textLineBuilder) cut(n int) {
	b.line.Text = b.line.Text[:n]
	if !b.bare {
		b.line.Offsets = b.line.Offsets[:n]
	}
}

// end returns the line, which ends with this row.
func (b *textLineBuilder) end(at []uint64) TextLine {
	b.cut(b.printed)
	for x := b.used; x < len(at); x++ {
		b.line.ErasedAt = max(b.line.ErasedAt, at[x])
	}
	return b.line
}
