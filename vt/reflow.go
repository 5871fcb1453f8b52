package vt

// buffer is the main screen with its history as one list of lines while it is
// resized. The rules and their corner cases come from xterm.js 6 (Buffer,
// BufferReflow): the lines that the cursor's line was wrapped into stay as they
// are, because the program will paint them anew.
type buffer struct {
	lines         []bufferLine
	base          int // lines above the screen
	y             int // the cursor's row on the screen
	saved         int // the saved cursor's row, counted from the first line
	oldCols, cols int
	rows          int
	max           int  // lines there may be
	inexact       bool // xterm.js does something else, which is not to be followed
	most          int  // bytes that new lines may take
	short         bool // the oldest lines went for want of memory
	styles        *styles
	paragraph     paragraph // scratch
}

// bufferLine is a line, packed as long as nothing has to be done to it.
type bufferLine struct {
	line Line
	row  *row // nil: packed
}

func (l *bufferLine) wrapped() bool {
	if l.row != nil {
		return l.row.wrapped
	}
	return l.line.wrapped
}

// open returns the line as a row, which is then what l is.
func (l *bufferLine) open(t *styles) *row {
	if l.row == nil {
		l.row = &row{}
		l.row.setLine(l.line, t)
	}
	return l.row
}

// length is the number of columns up to the last character.
func (l *bufferLine) length() int {
	if l.row != nil {
		return l.row.length()
	}
	x, n := 0, 0
	for s := range l.line.Spans() {
		if x += s.Cells; s.Kind == ZeroWidth {
			n = x - 1
		} else if s.Kind != Blank {
			n = x
		}
	}
	return n
}

func (r *row) length() int {
	if r.cells == nil {
		n, i := r.used, len(r.runs)-1
		for ; i >= 0 && r.runs[i].kind == Blank; i-- {
			n -= int(r.runs[i].cells)
		}
		if i >= 0 && r.runs[i].kind == ZeroWidth {
			n--
		}
		return n
	}
	return textLength(r.cells)
}

// cells is the number of columns that the line takes.
func (l *bufferLine) cells() int {
	if l.row != nil {
		return l.row.used
	}
	return l.line.Cells()
}

// fitted is line i with nothing beyond the new columns: of a line that did not
// reflow, the rest is lost.
func (b *buffer) fitted(i int) bufferLine {
	if b.lines[i].cells() <= b.cols {
		return b.lines[i]
	}
	b.paragraph.open(b.lines[i:i+1], b.oldCols, b.cols, b.styles)
	b.inexact = b.inexact || b.paragraph.cells[0][b.cols-1].wide() // whose half xterm.js leaves
	return b.paragraph.line(0, b.cols)
}

// setRows adapts the list to the new number of rows: more come out of the
// history while nothing is below the cursor, fewer go from below the cursor
// first. max is the number of lines there may be afterwards.
func (b *buffer) setRows(old, most int) {
	added := 0
	for range b.rows - old {
		if b.base > 0 && len(b.lines) <= b.base+b.y+added+1 {
			b.base--
			added++
		} else {
			b.lines = append(b.lines, bufferLine{row: &row{}})
		}
	}
	for range old - b.rows {
		if len(b.lines) > b.base+b.y+1 {
			b.lines = b.lines[:len(b.lines)-1]
		} else {
			b.base++
		}
	}
	if n := len(b.lines) - most; n > 0 {
		b.lines = b.lines[n:]
		b.base, b.saved = max(b.base-n, 0), max(b.saved-n, 0)
	}
	b.max = most
	b.y = min(b.y, b.rows-1) + added
}

func (b *buffer) reflow() {
	if b.cols > b.oldCols {
		b.larger()
	} else {
		b.smaller()
	}
}

// cursorIn reports whether the cursor's line is one of lines from to to-1.
func (b *buffer) cursorIn(from, to int) bool { return b.base+b.y >= from && b.base+b.y < to }

// A line with more cells, which no program prints for people, reflows in parts: cells
// that are open at a time take memory beside all else. So they are bounded by a part of
// the terminal's memory, between these numbers of cells, which are 2 and 32 MiB.
const (
	minParagraph  = 256 << 10
	maxParagraph  = 4 << 20
	paragraphPart = 2 * cellSize
)

// fits reports whether a paragraph of n lines may have one more.
func (b *buffer) fits(n int) bool {
	most := min(max(b.most/paragraphPart, minParagraph), maxParagraph)
	if n < most/max(b.oldCols, b.cols) {
		return true
	}
	b.inexact = true
	return false
}

// larger joins what was wrapped.
func (b *buffer) larger() {
	kept := make([]bufferLine, 0, len(b.lines))
	for from := 0; from < len(b.lines); {
		to := from + 1
		for to < len(b.lines) && b.lines[to].wrapped() && b.fits(to-from) {
			to++
		}
		group := b.lines[from:to]
		if len(group) > 1 && !b.cursorIn(from, to) {
			group = b.widen(group)
		}
		kept = append(kept, group...)
		from = to
	}
	removed := len(b.lines) - len(kept)
	b.lines = kept
	for range removed {
		switch {
		case b.base > 0:
			b.base--
		default:
			b.y = max(b.y-1, 0)
			if len(b.lines) < b.rows {
				b.lines = append(b.lines, bufferLine{row: &row{}})
			}
		}
	}
	b.saved = max(b.saved-removed, 0)
}

// widen joins the lines of a group and returns the remaining ones.
func (b *buffer) widen(group []bufferLine) []bufferLine {
	p := &b.paragraph
	p.open(group, b.oldCols, b.cols, b.styles)
	group = group[:p.widen()]
	for i := range group {
		group[i] = p.line(i, b.cols)
	}
	return group
}

// narrow wraps the lines of a group anew. It returns the lines to put behind them, at
// most the last kept of them, and how many more lines of text there are. When none
// may be kept, nor are the rows of the group.
func (b *buffer) narrow(group []bufferLine, kept int) (fresh []bufferLine, added int) {
	p := &b.paragraph
	p.open(group, b.oldCols, b.cols, b.styles)
	added = p.narrow(b.cols, kept)
	if added > 0 && kept <= 0 {
		return nil, added
	}
	for i := range group {
		group[i] = p.line(i, b.cols)
	}
	if n := len(group) + added - p.freshFrom; n > 0 {
		fresh = make([]bufferLine, n)
		for i := range fresh {
			fresh[i] = p.line(p.freshFrom+i, b.cols)
		}
	}
	return fresh, added
}

// insertion is new lines that belong before line at, which counts the lines inserted
// below it.
type insertion struct {
	at    int
	lines []bufferLine
}

// smaller wraps what became too long, from the bottom up.
func (b *buffer) smaller() {
	var inserts []insertion
	count, bytes := 0, 0
	for y := len(b.lines) - 1; y >= 0; y-- {
		if y >= len(b.lines) || !b.lines[y].wrapped() && b.lines[y].length() <= b.cols {
			continue
		}
		to := y + 1
		for b.lines[y].wrapped() && y > 0 && b.fits(to-y) {
			y--
		}
		if b.cursorIn(y, to) {
			continue
		}
		// Lines above as many new ones as there may be lines are lost.
		fresh, added := b.narrow(b.lines[y:to], b.max-count)
		trimmed := len(b.lines) - b.max + added
		if b.base == 0 && b.y != len(b.lines)-1 {
			trimmed = b.y - b.max + added
		}
		if len(fresh) > 0 {
			inserts = append(inserts, insertion{to + count, fresh})
		}
		count += max(added, 0)
		b.makeRoom(added-max(trimmed, 0), count)
		b.saved = min(b.saved+added, b.base+b.rows-1)
		for _, l := range fresh {
			bytes += l.line.Size()
		}
		if bytes > b.most && y <= b.base {
			b.dropOlder(y, inserts)
			break
		}
	}
	b.insert(inserts, count)
}

// dropOlder forgets the first n lines: narrow, those below take all the memory there
// is, since every line has its links in full.
func (b *buffer) dropOlder(n int, inserts []insertion) {
	b.inexact, b.short = true, true
	b.lines = b.lines[n:]
	b.base, b.saved = max(b.base-n, 0), max(b.saved-n, 0)
	for i := range inserts {
		inserts[i].at -= n
	}
}

// makeRoom moves the screen down by n lines that were added above or on it.
func (b *buffer) makeRoom(n, count int) {
	for ; n > 0; n-- {
		switch {
		case b.base == 0 && b.y < b.rows-1:
			last := &b.lines[len(b.lines)-1]
			b.inexact = b.inexact || last.length() > 0 || last.wrapped()
			b.y++
			b.lines = b.lines[:len(b.lines)-1]
		case b.base == 0, b.base < min(b.max, len(b.lines)+count)-b.rows:
			b.base++
		}
	}
}

// insert puts the new lines, count in all, into the list. The oldest lines go
// when there are more than max.
func (b *buffer) insert(inserts []insertion, count int) {
	if count == 0 {
		return
	}
	old := b.lines
	out := make([]bufferLine, min(b.max, len(old)+count))
	from, inserted := len(old)-1, 0
	for i := len(out) - 1; i >= 0; {
		if len(inserts) > 0 && inserts[0].at > from+inserted {
			fresh := inserts[0].lines
			for n := len(fresh) - 1; n >= 0 && i >= 0; n-- {
				out[i] = fresh[n]
				i--
			}
			b.inexact = b.inexact || i < 0 && len(old)+count > b.max
			inserted += len(fresh)
			inserts = inserts[1:]
			continue
		}
		out[i] = old[from]
		from--
		i--
	}
	b.lines = out
}
