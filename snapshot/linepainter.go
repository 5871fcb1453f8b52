package snapshot

import (
	"unicode"
	"unicode/utf8"

	"github.com/evertty/evertty/vt"
)

// linePainter paints lines from top to bottom, and knows the receiver's cursor after each step.
type linePainter struct {
	ansiWriter
	rowState
	pieces *Pieces // gets out instead of spills; nil: blocks of history are painted like other lines

	whole     bool // the history is painted from its first line on
	alternate bool // the alternate screen is painted
	lastRow   int  // of the screen, the one that is bottom

	// Which line is at hand, counted from the first that is painted. The first lines are history.
	line, history int
	above         *vt.SavedCursor // saved in line saveIn of the history; nil when there is none
	saveIn        int
}

// rowState is all that the text of a line in the history depends on, besides penState and the line.
type rowState struct {
	cols, rows int

	// Where the cursor is, and what its row has around it.
	x       int      // column of the cursor; cols when the next character wraps
	y       int      // its row while lines are painted
	skip    int      // blank cells right of x, passed over but not moved over yet
	tail    vt.Color // background of the last column when it was erased, else default
	entered bool     // the cursor is in the first column of the row for the next line
	natural bool     // the row at hand begins with a character that wrapped

	// How far lines may go on beyond their row.
	fold     bool // lines wider than the screen go on in the next row
	anywhere bool // the text is for any terminal, and nothing may wrap
	bottom   bool // a wrap in the row at hand would scroll, or change cells there

	// xterm.js notes a link in a row and forgets it with that row.
	linkRow int // where the pen's link was opened
	textRow int // where a cell was painted last

	// Erased cells with a style. The one in the last column is held back: a wide character
	// of that style, which wraps, leaves it behind.
	held    vt.Style
	holding bool
	ends    int // cells at the end of the row that are painted already
}

// lines paints history and a screen from the top left corner of a blank screen
// in one flow, so that the history scrolls off as it once did. Blank rows at
// the end need nothing unless a history has to be pushed up by them.
func (p *linePainter) lines(history vt.Lines, screen []vt.Line) {
	if history.Len() == 0 {
		for len(screen) > 0 && screen[len(screen)-1].Size() == 0 && !screen[len(screen)-1].Wrapped() {
			screen = screen[:len(screen)-1]
		}
	}
	if first := firstLine(history, screen); p.whole && first.Wrapped() && p.cols >= 2 && (p.rows >= 2 || p.alternate) {
		p.wrapFirst()
	}
	p.x, p.skip, p.tail, p.y = 0, 0, 0, 0
	p.fold, p.line, p.history = p.cols >= 2, 0, history.Len()
	p.entered, p.lastRow = true, p.rows-1
	if p.paintHistory(history); p.failed != nil {
		return
	}
	p.fold = false
	if n := erasedRows(screen, p.rows, p.cols); n > 0 {
		p.paintErasedRows(screen, n)
		screen = screen[:p.rows-n]
	}
	for _, l := range screen {
		p.paint(l)
	}
	if p.holding {
		p.wrapHeld()
	}
	p.above, p.bottom, p.ends = nil, false, 0
}

// firstLine is the first line of history and a screen, a blank one when there is none.
func firstLine(history vt.Lines, screen []vt.Line) (l vt.Line) {
	for l := range history.All() {
		return l
	}
	if len(screen) > 0 {
		l = screen[0]
	}
	return l
}

// wrapFirst makes the first row of a blank screen continue one that is no more: it
// wraps from another and deletes that. On a main screen of one row that would be history,
// which only ED 3 erases, the receiver's own too.
func (p *linePainter) wrapFirst() {
	p.setPen(vt.Style{})
	p.csi(p.cols, 'G')
	p.add(filler + "\r\x1b[2X")
	if p.rows >= 2 {
		p.add("\x1b[H\x1b[M")
	}
}

// paint goes to the next row, unless this is the first, and paints l.
func (p *linePainter) paint(l vt.Line) {
	saves := p.above != nil && p.line == p.saveIn
	p.bottom, p.ends = p.line-p.history == p.lastRow, 0
	var end []vt.Style
	if p.bottom && p.cols >= 2 {
		end = erasedEnd(l, p.cols)
	}
	switch {
	case p.entered:
		p.entered = false
	case l.Wrapped() && p.cols >= 2 && (saves || end != nil):
		p.wrapByFiller()
	case l.Wrapped() && p.cols >= 2:
		p.wrap(firstSpan(l))
	default:
		p.lineFeed()
	}
	if saves {
		p.saveInLine()
	}
	p.line++
	if end != nil {
		p.endOfBottomRow(end)
	}
	p.paintCells(l)
}

// paintCells paints the cells of l.
func (p *linePainter) paintCells(l vt.Line) {
	for s := range l.Spans() {
		if !p.span(&s) {
			return
		}
		p.spill(spillAt)
	}
}

// firstSpan is how a line begins; a blank one begins with blanks.
func firstSpan(l vt.Line) vt.Span {
	for s := range l.Spans() {
		return s
	}
	return vt.Span{}
}

// lineFeed ends a row whose successor does not continue it. The row that comes
// in has the pen's background (BCE), so the pen must have none.
func (p *linePainter) lineFeed() {
	p.natural = false
	if p.holding {
		p.wrapHeld()
		return
	}
	if p.pen.BG != 0 {
		p.setPen(vt.Style{})
	}
	p.add("\r\n")
	p.nextRow()
}

// nextRow notes that the cursor came to the first column of the next row.
func (p *linePainter) nextRow() {
	p.x, p.skip, p.tail = 0, 0, 0
	p.y = min(p.y+1, p.rows-1)
}

// wrap goes to a row that continues the one above, which begins with next.
// Printing past the last column is the only way to make that mark, and the row
// that comes in has the background of the printed text.
func (p *linePainter) wrap(next vt.Span) {
	natural := next.Kind != vt.Blank && next.Style.BG == 0 && !p.joins(next.Text)
	p.natural = natural
	switch {
	case natural && p.leavesBlank(next):
		p.catchUp()
		p.holding = false
		p.nextRow()
	case natural && p.x == p.cols && !p.holding:
		p.nextRow()
	default:
		p.wrapByFiller()
	}
}

// leavesBlank reports whether next, a wide character that does not fit any more,
// leaves by itself the cell of the last column.
func (p *linePainter) leavesBlank(next vt.Span) bool {
	if next.Kind.Width() != 2 {
		return false
	}
	if p.holding {
		return next.Style == p.held
	}
	return p.x == p.cols-1 && p.skip == 0 && p.tail == 0 && next.Style == vt.Style{}
}

// wrapByFiller goes to a row that continues the one above and does not begin with what
// wraps by itself.
func (p *linePainter) wrapByFiller() {
	p.natural = false
	n := 2
	if p.fill() != 0 {
		n = p.cols // the row came in with that background
	}
	p.setPen(vt.Style{})
	p.csi(n, 'X')
	p.nextRow()
}

// span paints a run of cells and reports whether the row goes on. What is beyond
// the last column is cut off, or folded into further rows in history.
func (p *linePainter) span(s *vt.Span) bool {
	for {
		room := p.cols - p.x - p.skip
		if p.holding {
			room--
		}
		if s.Cells <= room {
			p.put(s)
			return true
		}
		head, rest := cutSpan(*s, room)
		if head.Cells > 0 {
			p.put(&head)
		}
		if !p.fold {
			return false
		}
		p.wrap(rest)
		s = &rest
	}
}

// put paints a span that fits.
func (p *linePainter) put(s *vt.Span) {
	if s.Kind == vt.Blank {
		p.blank(s.Cells, s.Style)
		return
	}
	p.catchUp()
	p.textRow = p.noteRow(charsIn(s))
	if p.clusters && (s.Kind == vt.Narrow || s.Kind == vt.Wide) {
		p.apart(*s)
		return
	}
	if (p.clusters || s.Kind >= vt.ClusterOne) && p.joins(s.Text) {
		p.csi(p.x+1, 'G') // any sequence keeps xterm.js from joining it to the cell before
	}
	p.setPen(s.Style)
	p.text(cellText(*s))
	p.x += s.Cells
}

// joins reports whether a terminal could join the first character of s to what was
// written before, where the frame has a cell for it.
func (p *linePainter) joins(s string) bool {
	if !p.clusters {
		return beginsWithMark(s)
	}
	first, _ := utf8.DecodeRuneInString(s)
	last, _ := utf8.DecodeLastRune(p.out)
	return beginsWithMark(s) || joinsCluster(first) || last == zwj ||
		unicode.In(last, unicode.Prepended_Concatenation_Mark, indicPrepend)
}

// apart paints characters that have a cell each, where widths count
// grapheme clusters: one that would join the cell before is printed after a
// sequence.
func (p *linePainter) apart(s vt.Span) {
	p.setPen(s.Style)
	width := s.Cells / utf8.RuneCountInString(s.Text)
	for _, r := range s.Text {
		if p.joins(string(r)) {
			p.csi(p.x+1, 'G')
		}
		p.text(string(r))
		p.x += width
	}
}

// blank makes n erased cells. xterm.js keeps nothing of them but the background, unless
// there is more in their style.
func (p *linePainter) blank(n int, s vt.Style) {
	switch {
	case keepsStyle(s):
		p.erased(n, s)
		return
	case s.BG != 0:
		p.catchUp()
		p.setBackground(s.BG)
		p.csi(n, 'X')
		if p.x+n == p.cols {
			p.tail = s.BG
		}
	}
	p.skip += n
}

// spaces paints n blanks as spaces.
func (p *linePainter) spaces(n int, s vt.Style) {
	p.catchUp()
	p.setPen(s)
	p.out = appendSpaces(p.out, n)
	p.x += n
}

// catchUp moves the cursor over the blanks that were passed over.
func (p *linePainter) catchUp() {
	if p.skip > 0 {
		p.csi(p.skip, 'C')
		p.x, p.skip = p.x+p.skip, 0
	}
}

// charsIn is how many cells with text a span has.
func charsIn(s *vt.Span) int {
	if s.Kind == vt.Wide || s.Kind == vt.ClusterWide {
		return s.Cells / 2
	}
	return s.Cells
}
