package vt

// paragraph is a line and its continuations in cell form while they reflow. All
// its rows are equally wide and share the texts of their clusters, so that cells
// can be moved between them. It is used for one group of lines after the other
// and keeps its memory: a long history never is in cells as a whole.
type paragraph struct {
	cells    [][]cell // the rows
	clusters []string
	wrapped  []bool
	oldCols  int

	// fresh are the cells of the rows behind them that narrow makes, of cols columns: of the
	// last ones, from row freshFrom on.
	fresh     []cell
	freshFrom int
	cols      int

	width  int // of the rows
	spare  [][]cell
	row    row    // scratch
	styles styles // of these cells: a history can hold more styles than a terminal shall know
	packer rowPacker
}

// open makes p the rows of a group of lines. They are as wide as the wider of
// the two sizes. t are the styles of lines that are not packed.
func (p *paragraph) open(group []bufferLine, oldCols, cols int, t *styles) {
	p.spare = append(p.spare, p.cells...)
	p.cells, p.clusters, p.wrapped = p.cells[:0], p.clusters[:0], p.wrapped[:0]
	p.oldCols, p.width = oldCols, max(oldCols, cols)
	if p.styles.list == nil || p.styles.full() {
		p.styles = newStyles()
	}
	for i := range group {
		if l := &group[i]; l.row != nil {
			l.line = Line{packed: string(p.packer.row(l.row, t)), wrapped: l.row.wrapped}
		}
		p.add(group[i].line)
	}
}

// add appends a line.
func (p *paragraph) add(l Line) {
	r := &p.row
	r.clear()
	r.setLine(l, &p.styles)
	cells := p.blank(l.wrapped)
	r.fillCells(cells)
	first := cell(len(p.clusters))
	if r.rare != nil {
		p.clusters = append(p.clusters, r.rare.clusters...)
	}
	for x, c := range cells {
		if c&cellCluster != 0 {
			cells[x] += first
		}
	}
}

// blank appends a blank row and returns it.
func (p *paragraph) blank(wrapped bool) []cell {
	var cells []cell
	if n := len(p.spare) - 1; n >= 0 {
		cells, p.spare = p.spare[n], p.spare[:n]
		clear(cells)
	} else {
		cells = make([]cell, p.width)
	}
	p.cells, p.wrapped = append(p.cells, cells), append(p.wrapped, wrapped)
	return cells
}

// rowAt is row i, also one that narrow made; nil when it was not kept.
func (p *paragraph) rowAt(i int) []cell {
	if i < len(p.cells) {
		return p.cells[i]
	}
	if i < p.freshFrom {
		return nil
	}
	at := (i - p.freshFrom) * p.cols
	return p.fresh[at : at+p.cols : at+p.cols]
}

// line packs row i, cut to the given width. A wide character of which only half
// would be left is blank.
func (p *paragraph) line(i, cols int) bufferLine {
	r := row{cells: p.rowAt(i)[:cols], rare: &rareRow{clusters: p.clusters}, used: cols}
	wrapped := i >= len(p.cells) || p.wrapped[i]
	return bufferLine{line: Line{packed: string(p.packer.row(&r, &p.styles)), wrapped: wrapped}}
}

// textLength is the number of columns of a row up to its last character.
func textLength(cells []cell) int {
	for x := len(cells) - 1; x >= 0; x-- {
		switch c := cells[x]; {
		case !c.hasContent():
		case c.wide():
			return x + 2
		case c&cellMark != 0:
			return x
		default:
			return x + 1
		}
	}
	return 0
}

// length is the number of columns of row i that belong to the text: all but for
// the last row, less the column that a wide character left free by wrapping.
func (p *paragraph) length(i int) int {
	if i == len(p.cells)-1 {
		return textLength(p.cells[i])
	}
	if last := p.cells[i][p.oldCols-1]; !last.hasContent() && !last.zeroWidth() && p.cells[i+1][0].wide() {
		return p.oldCols - 1
	}
	return p.oldCols
}

// widen moves the text up into rows that became wider, and returns how many
// rows it needs now.
func (p *paragraph) widen() int {
	cols := p.width
	dst, dstCol := 0, p.length(0)
	for src, srcCol := 1, 0; src < len(p.cells); {
		length := p.length(src)
		n := min(length-srcCol, cols-dstCol)
		copy(p.cells[dst][dstCol:], p.cells[src][srcCol:srcCol+n])
		if dstCol += n; dstCol == cols {
			dst, dstCol = dst+1, 0
		}
		if srcCol += n; srcCol == length {
			src, srcCol = src+1, 0
		}
		if last := cols - 1; dstCol == 0 && dst > 0 && p.cells[dst-1][last].wide() {
			p.cells[dst][0], dstCol = p.cells[dst-1][last], 1
			p.cells[dst-1][last] = 0
		}
	}
	if dst < len(p.cells) {
		p.replace(dst, dstCol)
	}
	keep := len(p.cells)
	for i := keep - 1; i > 0 && (i > dst || textLength(p.cells[i]) == 0); i-- {
		keep = i
	}
	return keep
}

// replace blanks row i from column x on.
func (p *paragraph) replace(i, x int) {
	if x > 0 && p.cells[i][x-1].wide() {
		p.cells[i][x-1] = 0
	}
	clear(p.cells[i][x:])
}

// narrow moves the text down because rows become narrower, into new rows behind the
// others, of which the last ones are kept: at most so many. It returns how many more
// rows the text needs, which is negative when it needs fewer.
func (p *paragraph) narrow(cols, kept int) (added int) {
	src := len(p.cells) - 1
	last := textLength(p.cells[src])
	lengths := p.newLengths(cols)
	if added = len(lengths) - len(p.cells); added > 0 && kept <= 0 {
		return added
	}
	p.cols, p.freshFrom = cols, max(len(lengths)-max(kept, 0), len(p.cells))
	n := max(len(lengths)-p.freshFrom, 0) * cols
	if cap(p.fresh) < n {
		p.fresh = make([]cell, n)
	}
	p.fresh = p.fresh[:n]
	clear(p.fresh)
	p.moveDown(lengths, src, last)
	for i, n := range lengths {
		if row := p.rowAt(i); row != nil && int(n) < cols {
			row[n] = 0
		}
	}
	return added
}

// moveDown fills the rows with the new lengths from the end, in place. The text
// ends in column srcCol of row src. A row's length before is taken after rows
// below it were filled, as xterm.js does.
func (p *paragraph) moveDown(lengths []uint16, src, srcCol int) {
	dst := len(lengths) - 1
	if dst < 0 {
		return
	}
	dstCol := int(lengths[dst])
	for src >= 0 && dst >= 0 {
		row := p.rowAt(dst)
		if row == nil { // nor is any above
			return
		}
		n := min(srcCol, dstCol)
		copy(row[dstCol-n:dstCol], p.cells[src][srcCol-n:srcCol])
		if dstCol -= n; dstCol == 0 {
			if dst--; dst >= 0 {
				dstCol = int(lengths[dst])
			}
		}
		if srcCol -= n; srcCol == 0 {
			if src--; src >= 0 {
				srcCol = p.length(src)
			}
		}
	}
}

// newLengths says how many columns of the text each row of cols columns takes:
// all, or one less when a wide character would be cut.
func (p *paragraph) newLengths(cols int) (lengths []uint16) {
	need := 0
	for i := range p.cells {
		need += p.length(i)
	}
	col, line := 0, 0
	for have := 0; have < need; {
		if need-have < cols {
			return append(lengths, uint16(need-have))
		}
		col += cols
		if n := p.length(line); col > n {
			col -= n
			line++
		}
		take := cols
		if line < len(p.cells) && p.cells[line][col-1].wide() {
			col--
			take--
		}
		lengths = append(lengths, uint16(take))
		have += take
	}
	return lengths
}
