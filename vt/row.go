package vt

import (
	"bytes"
	"unicode/utf8"
	"unsafe"
)

// row is one row of a screen in one of two forms.
//
// Nearly every row is written once from left to right, so it starts in text
// form: characters and runs of styles as they come, which is also how it is
// packed when it scrolls off. Only when something happens left of its end does
// a row become cells, and it stays cells until it is blank again.
type row struct {
	cells []cell // as many as the screen has columns; nil in text form
	text  []byte
	runs  []run // of text; their cells are used in sum

	used    int      // all columns from here on are blank in the default style
	rare    *rareRow // nil for nearly all rows
	version uint64   // grows with every visible change but append, which shows in used
	wrapped bool     // continues the row above
	noted   bool     // the open link is noted here, see openLink
}

// rareRow is what only few rows have.
type rareRow struct {
	clusters []string // texts of cells with marks, cell form only
	hidden   []cell   // what a narrower alternate screen cut off
	spared   sparedAt // the state in which a selective erase left it, with nothing left to erase
	sum      sumAt    // of the cells, when DECRQCRA asked last
	tracked  *trackedRow
}

// more is r.rare to write to.
func (r *row) more() *rareRow {
	if r.rare == nil {
		r.rare = new(rareRow)
	}
	return r.rare
}

// hidden is what a narrower alternate screen cut off.
func (r *row) hidden() []cell {
	if r.rare == nil {
		return nil
	}
	return r.rare.hidden
}

// tracked is what a Tracker knows of the row, nil for nothing.
func (r *row) tracked() *trackedRow {
	if r.rare == nil {
		return nil
	}
	return r.rare.tracked
}

// run is a stretch of equal cells of a row in text form.
type run struct {
	end   int // of its text
	style uint32
	cells uint16
	kind  Kind
}

// maxMarks is how many marks a cell keeps, a bound for what one cell takes: no text
// in the Stream-Safe Text Format has more (UAX #15, 13).
const maxMarks = 30

// maxCluster bounds the text of one cell in bytes.
const maxCluster = (1 + maxMarks) * utf8.UTFMax

// clear makes the row blank and gives back its cells, nil in text form.
func (r *row) clear() []cell {
	cells := r.cells
	r.cells, r.text, r.runs = nil, r.text[:0], r.runs[:0]
	r.used, r.wrapped, r.noted = 0, false, false
	if r.rare != nil {
		r.rare.clusters, r.rare.hidden = nil, nil
	}
	return cells
}

// holds reports whether a row in text form has so many cells, all of the style, with this text: nil
// for blanks.
func (r *row) holds(text []byte, cells int, style uint32) bool {
	return r.cells == nil && r.used == cells && len(r.runs) == 1 && r.runs[0].style == style &&
		bytes.Equal(r.text, text)
}

// beginsWide reports whether the first character takes two columns.
func (r *row) beginsWide() bool {
	if r.cells != nil {
		return r.cells[0].wide()
	}
	return len(r.runs) > 0 && (r.runs[0].kind == Wide || r.runs[0].kind == ClusterWide)
}

// append adds text of the given kind at the end of a row in text form.
func (r *row) append(k Kind, text []byte, cells int, style uint32) {
	r.text = append(r.text, text...)
	r.addRun(k, len(r.text), cells, style)
}

// addRun notes what was appended to the text, which ends at end then.
func (r *row) addRun(k Kind, end, cells int, style uint32) {
	r.used += cells
	if n := len(r.runs) - 1; n >= 0 && r.runs[n].style == style && mergeable(r.runs[n].kind, k) {
		last := &r.runs[n]
		last.end = end
		last.cells += uint16(cells)
		last.kind = max(last.kind, k)
		return
	}
	r.runs = append(r.runs, run{end: end, style: style, cells: uint16(cells), kind: k})
}

// appendChar adds one character of 0 to 2 cells.
func (r *row) appendChar(c rune, width int, style uint32) {
	kind := kindOf(c, width)
	var buf [utf8.UTFMax]byte
	r.append(kind, utf8.AppendRune(buf[:0], c), max(width, 1), style)
}

// kindOf is how a character of that width lies in cells.
func kindOf(c rune, width int) Kind {
	switch {
	case width == 2:
		return Wide
	case width == 1 && c < utf8.RuneSelf:
		return ASCII
	case width == 1:
		return Narrow
	}
	return ZeroWidth
}

// mergeable reports whether characters of kind k go on a span of kind last, which
// then has the larger of the two kinds: ASCII and Narrow become Narrow.
func mergeable(last, k Kind) bool {
	return last == k && k != ClusterOne && k != ClusterWide || min(last, k) == ASCII && max(last, k) == Narrow
}

// pad adds default blanks up to column x, which is not left of the end.
func (r *row) pad(x int) {
	if x > r.used {
		r.append(Blank, nil, x-r.used, 0)
	}
}

// begin is where the text of run n begins, or would.
func (r *row) begin(n int) int {
	if n == 0 {
		return 0
	}
	return r.runs[n-1].end
}

// mark adds c to the last character of a row in text form. It reports whether it
// could: there has to be a character.
func (r *row) mark(c rune) bool {
	n := len(r.runs) - 1
	if n < 0 || r.runs[n].kind == Blank || r.runs[n].kind == ZeroWidth {
		return false
	}
	if k := r.runs[n].kind; k != ClusterOne && k != ClusterWide {
		r.splitLast(n)
		n = len(r.runs) - 1
	}
	r.version++
	if len(r.text)-r.begin(n)+utf8.RuneLen(c) <= maxCluster {
		r.text = utf8.AppendRune(r.text, c)
		r.runs[n].end = len(r.text)
	}
	return true
}

// splitLast gives the last character of the last run, n, a run of its own.
func (r *row) splitLast(n int) {
	last := &r.runs[n]
	kind, width := ClusterOne, uint16(1)
	if last.kind == Wide {
		kind, width = ClusterWide, 2
	}
	style := last.style
	if last.cells == width {
		r.runs = r.runs[:n]
	} else {
		_, size := utf8.DecodeLastRune(r.text)
		last.end -= size
		last.cells -= width
		if text := r.text[r.begin(n):last.end]; last.kind == Narrow && asciiRun(text) == len(text) {
			last.kind = ASCII
		}
	}
	r.runs = append(r.runs, run{end: len(r.text), style: style, cells: width, kind: kind})
}

// last is the text of the last cell of a row in text form, nothing for a blank.
func (r *row) last() []byte {
	n := len(r.runs) - 1
	if n < 0 || r.runs[n].kind == Blank {
		return nil
	}
	if k := r.runs[n].kind; k != ClusterOne && k != ClusterWide {
		return r.text[lastStart(r.text):]
	}
	return r.text[r.begin(n):]
}

// truncate takes away all columns from x on of a row in text form. It reports
// whether it could without making cells: only whole runs and ASCII are cut.
func (r *row) truncate(x int) bool {
	r.version++
	used := r.used
	for n := len(r.runs) - 1; n >= 0; n-- {
		last := &r.runs[n]
		begin := used - int(last.cells)
		if begin < x {
			if used > x && last.kind != ASCII && last.kind != Blank {
				return false
			}
			break
		}
		used = begin
	}
	for n := len(r.runs) - 1; n >= 0 && r.used > x; n-- {
		last := &r.runs[n]
		begin := r.used - int(last.cells)
		if begin < x {
			cut := r.used - x
			last.cells -= uint16(cut)
			if last.kind == ASCII {
				last.end -= cut
			}
			r.used = x
		} else {
			r.runs, r.used = r.runs[:n], begin
		}
	}
	r.text = r.text[:r.begin(len(r.runs))]
	return true
}

// fillCells writes a row in text form into cells, which are blank.
func (r *row) fillCells(cells []cell) {
	x, at := 0, 0
	for _, run := range r.runs {
		text, style := r.text[at:run.end], blankCell(run.style)
		at = run.end
		switch run.kind {
		case Blank:
			for i := range cells[x : x+int(run.cells)] {
				cells[x+i] = style
			}
		case ASCII:
			dst := cells[x : x+len(text)]
			for i, c := range text {
				dst[i] = cell(c) | style
			}
		case Narrow, Wide, ZeroWidth:
			r.fillChars(cells[x:], text, run.kind, style)
		default:
			cells[x] = r.cluster(string(text)) | style
			if run.kind == ClusterWide {
				cells[x] |= cellWide
				cells[x+1] = cellTail | style
			}
		}
		x += int(run.cells)
	}
}

// fillChars writes single characters of one width.
func (r *row) fillChars(cells []cell, text []byte, k Kind, style cell) {
	x := 0
	for len(text) > 0 {
		c, size := utf8.DecodeRune(text)
		text = text[size:]
		cells[x] = cell(c) | style
		switch k {
		case Wide:
			cells[x] |= cellWide
			cells[x+1] = cellTail | style
			x++
		case ZeroWidth:
			cells[x] |= cellMark
		}
		x++
	}
}

// cluster keeps the text of a cell that has more than one character.
func (r *row) cluster(text string) cell {
	m := r.more()
	m.clusters = append(m.clusters, text)
	return cellCluster | cell(len(m.clusters)-1)
}

// appendChars appends the text of a cell.
func (r *row) appendChars(b []byte, c cell) []byte {
	switch {
	case c&cellCluster != 0:
		return append(b, r.rare.clusters[c&cellChar]...)
	case c&cellChar != 0:
		return utf8.AppendRune(b, rune(c&cellChar))
	}
	return b
}

// Sizes for memory in bytes.
const (
	rowSize  = int(unsafe.Sizeof(row{}))
	rareSize = int(unsafe.Sizeof(rareRow{}))
	runSize  = int(unsafe.Sizeof(run{}))
	cellSize = 8
)

func (r *row) memory() int {
	n := rowSize + cap(r.text) + cap(r.runs)*runSize + cap(r.cells)*cellSize
	if r.rare == nil {
		return n
	}
	n += rareSize + cap(r.rare.hidden)*cellSize
	for _, c := range r.rare.clusters {
		n += len(c) + 16
	}
	return n
}
