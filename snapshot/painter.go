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
	skip int      // blank cells right of x, passed over but not moved over yet
	tail vt.Color // background of the last column when it was erased, else default
	fold bool     // lines wider than the screen go on in the next row

	clusters bool // widths are those of grapheme clusters
	locked   bool // of the pen only colours and attributes may change
	set      byte // the character set in force, which must not change; 0 for US ASCII

	history int  // lines of history that are painted above the screen at hand
	whole   bool // that is all that there is

	alternate bool // the alternate screen is painted

	open    linkOnScreen // while that screen is painted
	linkRow int          // where the pen's link was opened
	textRow int          // where a cell was painted last
	natural bool         // the row at hand begins with a character that wrapped

	// above is a saved cursor whose line is in the history, saveIn that line, counted
	// from the first that is painted, and line the one at hand. nil when there is none.
	above        *vt.SavedCursor
	noted        vt.Link // is noted in the first line, when it is one
	saveIn, line int

	// held is the style of a blank in the last column that is not painted yet: when
	// the next row begins with a wide character of the same style, wrapping that
	// leaves the very same blank.
	held    vt.Style
	holding bool
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
	p.noteHere(p.noted)
	p.noted = vt.Link{}
	p.x, p.skip, p.tail = 0, 0, 0
	p.fold, p.line, p.history = p.cols >= 2, 0, history.Len()
	for l := range history.All() {
		if p.paint(l); p.failed != nil {
			return
		}
	}
	p.fold = false
	for _, l := range screen {
		p.paint(l)
	}
	p.release()
	p.above, p.open = nil, linkOnScreen{}
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
	p.add("\u4e00\r\x1b[2X")
	if p.rows >= 2 {
		p.add("\x1b[H\x1b[M")
	}
}

// paint goes to the next row, unless this is the first, and paints l.
func (p *painter) paint(l vt.Line) {
	saves := p.above != nil && p.line == p.saveIn
	switch {
	case p.line == 0:
	case l.Wrapped() && p.cols >= 2 && saves:
		p.release()
		p.wrapByFiller()
		p.x, p.skip, p.tail = 0, 0, 0
	case l.Wrapped() && p.cols >= 2:
		p.wrap(firstSpan(l))
	default:
		p.lineFeed()
	}
	if saves {
		p.saveInLine()
	}
	p.line++
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
	p.release()
	if p.pen.BG != 0 {
		p.setPen(vt.Style{})
	}
	p.add("\r\n")
	p.x, p.skip, p.tail = 0, 0, 0
}

// wrap goes to a row that continues the one above, which begins with next.
// Printing past the last column is the only way to make that mark, and the row
// that comes in has the background of what is printed.
func (p *painter) wrap(next vt.Span) {
	natural := next.Kind != vt.Blank && next.Style.BG == 0 && !p.joins(next.Text) && !p.notesAbove(next.Style.Link)
	p.natural = natural
	switch {
	case natural && p.leavesBlank(next):
		p.catchUp()
		p.holding = false
	case natural && p.x == p.cols && !p.holding:
	default:
		p.release()
		if !natural || p.x != p.cols {
			p.wrapByFiller()
		}
	}
	p.x, p.skip, p.tail = 0, 0, 0
}

// leavesBlank tells whether next, a wide character that does not fit any more,
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

// release paints the blank that was held.
func (p *painter) release() {
	if p.holding {
		p.holding = false
		p.spaces(1, p.held)
	}
}

// wrapByFiller prints a wide character that does not fit where the cursor is.
// In the last column it leaves an erased cell behind, which is what a row that
// does not end in text has there, and is itself erased in the new row.
func (p *painter) wrapByFiller() {
	p.natural = false
	if p.tail != 0 && p.rows == 1 { // nothing leads back up
		p.setPen(vt.Style{BG: p.tail})
		p.csi(p.cols, 'G')
		p.add("\u4e00\r")
		p.setPen(vt.Style{})
		p.csi(p.cols, 'X') // the row came in with that background
		return
	}
	p.setPen(vt.Style{})
	if p.x < p.cols {
		p.csi(p.cols, 'G')
	}
	p.add("\u4e00\r")
	if p.tail != 0 {
		p.add("\x1b[A")
		p.csi(p.cols, 'G')
		p.setBackground(p.tail)
		p.add("\x1b[X")
		p.setPen(vt.Style{})
		p.add("\x1b[B\r")
	}
	p.add("\x1b[2X")
}

// span paints a run of cells and tells whether the row goes on. What is beyond
// the last column is cut off, or folded into further rows in history.
func (p *painter) span(s *vt.Span) bool {
	for {
		room := p.cols - p.x - p.skip
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

// joins tells whether a terminal could join the first character of s to what was
// written before, where the frame has a cell for it.
func (p *painter) joins(s string) bool {
	if !p.clusters {
		return beginsWithMark(s)
	}
	first, _ := utf8.DecodeRuneInString(s)
	last, _ := utf8.DecodeLastRune(p.out)
	return beginsWithMark(s) || joinsCluster(first) || last == zwj || unicode.In(last, unicode.Prepended_Concatenation_Mark, indicPrepend)
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

// blank makes n erased cells. xterm.js keeps nothing of them but the
// background; a style that shows on a blank in another way is kept by spaces.
func (p *painter) blank(n int, s vt.Style) {
	switch {
	case showsOnBlank(s):
		if n == 1 && p.x+p.skip == p.cols-1 && s.BG == 0 {
			p.held, p.holding = s, true
		} else {
			p.spaces(n, s)
		}
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

// showsOnBlank tells whether more of a style shows on a blank than its background.
func showsOnBlank(s vt.Style) bool {
	const shows = vt.Inverse | vt.Strikethrough | vt.Overline
	return s.Attr&shows != 0 || s.Underline != 0 || s.Link != vt.Link{}
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
