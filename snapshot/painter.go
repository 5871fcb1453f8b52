package snapshot

import (
	"io"
	"strconv"
	"unicode"
	"unicode/utf8"

	"github.com/evertty/evertty/vt"
)

// painter writes the text that paints a frame and knows what the receiving
// terminal's cursor and pen are after each step.
type painter struct {
	out        []byte
	spills     io.Writer // gets what is in out from time to time; nil: it stays there
	failed     error     // of spills
	cols, rows int

	pen  vt.Style
	x    int      // column of the cursor; cols when the next character wraps
	y    int      // its row while lines are painted
	skip int      // blank cells right of x, passed over but not moved over yet
	tail vt.Color // background of the last column when it was erased, else default
	fold bool     // lines wider than the screen go on in the next row

	clusters bool // widths are those of grapheme clusters
	locked   bool // of the pen only colours and attributes may change
	set      byte // the character set in force, which must not change; 0 for US ASCII

	history int  // lines of history that are painted above the screen at hand
	whole   bool // that is all that there is

	alternate bool // the alternate screen is painted

	linkRow int  // where the pen's link was opened
	textRow int  // where a cell was painted last
	natural bool // the row at hand begins with a character that wrapped

	// above is a saved cursor whose line is in the history, saveIn that line, counted
	// from the first that is painted, and line the one at hand. nil when there is none.
	above        *vt.SavedCursor
	saveIn, line int

	// held is the style of an erased cell in the last column that is not painted yet:
	// a wide character of that style, which wraps, leaves it behind.
	held    vt.Style
	holding bool
	ends    int  // cells at the end of the row that are painted already
	bottom  bool // what wraps from the row at hand would scroll, or change what is there
	lastRow int  // of the screen, the one that is bottom
	entered bool // the cursor is in the first column of the row for the next line
	// anywhere: the text is for any terminal, and nothing may wrap.
	anywhere bool
}

func (p *painter) add(s string) { p.out = append(p.out, s...) }

// text prints characters as they have to come in the set in force.
func (p *painter) text(s string) {
	if p.set != 0 {
		s, _ = vt.Untranslate(p.set, s)
	}
	p.add(s)
}

func (p *painter) num(n int) { p.out = strconv.AppendInt(p.out, int64(n), 10) }

// csi writes CSI n final; a count of 1 is the default and left out.
func (p *painter) csi(n int, final byte) {
	p.add("\x1b[")
	if n != 1 {
		p.num(n)
	}
	p.out = append(p.out, final)
}

// moveTo is CUP (ECMA-48 8.3.21) to a column and row from 0.
func (p *painter) moveTo(x, y int) {
	p.add("\x1b[")
	if y > 0 || x > 0 {
		p.num(y + 1)
	}
	if x > 0 {
		p.add(";")
		p.num(x + 1)
	}
	p.add("H")
}

// lines paints history and a screen from the top left corner of a blank screen
// in one flow, so that the history scrolls off as it once did. Blank rows at
// the end need nothing unless a history has to be pushed up by them.
func (p *painter) lines(history vt.Lines, screen []vt.Line) {
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
	for l := range history.All() {
		if p.paint(l); p.failed != nil {
			return
		}
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
func (p *painter) wrapFirst() {
	p.setPen(vt.Style{})
	p.csi(p.cols, 'G')
	p.add(filler + "\r\x1b[2X")
	if p.rows >= 2 {
		p.add("\x1b[H\x1b[M")
	}
}

// paint goes to the next row, unless this is the first, and paints l.
func (p *painter) paint(l vt.Line) {
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
func (p *painter) paintCells(l vt.Line) {
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
func (p *painter) lineFeed() {
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
func (p *painter) nextRow() {
	p.x, p.skip, p.tail = 0, 0, 0
	p.y = min(p.y+1, p.rows-1)
}

// wrap goes to a row that continues the one above, which begins with next.
// Printing past the last column is the only way to make that mark, and the row
// that comes in has the background of what is printed.
func (p *painter) wrap(next vt.Span) {
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
// leaves by itself what is in the last column.
func (p *painter) leavesBlank(next vt.Span) bool {
	if next.Kind != vt.Wide && next.Kind != vt.ClusterWide {
		return false
	}
	if p.holding {
		return next.Style == p.held
	}
	return p.x == p.cols-1 && p.skip == 0 && p.tail == 0 && next.Style == vt.Style{}
}

// wrapByFiller goes to a row that continues the one above and does not begin with what
// wraps by itself.
func (p *painter) wrapByFiller() {
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
func (p *painter) span(s *vt.Span) bool {
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
func (p *painter) put(s *vt.Span) {
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
func (p *painter) joins(s string) bool {
	if !p.clusters {
		return beginsWithMark(s)
	}
	first, _ := utf8.DecodeRuneInString(s)
	last, _ := utf8.DecodeLastRune(p.out)
	return beginsWithMark(s) || joinsCluster(first) || last == zwj ||
		unicode.In(last, unicode.Prepended_Concatenation_Mark, indicPrepend)
}

// apart paints characters that have a cell each, where widths are those of
// grapheme clusters: one that would join the cell before is printed after a
// sequence.
func (p *painter) apart(s vt.Span) {
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
func (p *painter) blank(n int, s vt.Style) {
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
func (p *painter) spaces(n int, s vt.Style) {
	p.catchUp()
	p.setPen(s)
	p.out = appendSpaces(p.out, n)
	p.x += n
}

// catchUp moves the cursor over the blanks that were passed over.
func (p *painter) catchUp() {
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
