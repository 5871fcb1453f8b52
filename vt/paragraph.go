package vt

// paragraph is a line and its continuations in cell form while it reflows. All
// its rows are equally wide and share the texts of their clusters, so that cells
// can be moved between them.
type paragraph struct {
	rows    []*row
	cells   [][]cell
	oldCols int
}

// newParagraph opens a group of lines as rows of the given width.
func (b *buffer) newParagraph(group []bufferLine, cols int) *paragraph {
	p := &paragraph{oldCols: b.oldCols}
	var clusters []string
	for i := range group {
		r := group[i].open(b.styles)
		r.makeCells(b.oldCols)
		cells := make([]cell, max(cols, b.oldCols))
		copy(cells, r.cells)
		for x, c := range cells {
			if c&cellCluster != 0 {
				cells[x] += cell(len(clusters))
			}
		}
		clusters = append(clusters, r.clusters...)
		p.rows, p.cells = append(p.rows, r), append(p.cells, cells)
	}
	for i, r := range p.rows {
		r.cells, r.clusters, r.used = p.cells[i], clusters[:len(clusters):len(clusters)], len(p.cells[i])
	}
	return p
}

// length is the number of columns of row i that belong to the text: all but for
// the last row, less the column that a wide character left free by wrapping.
func (p *paragraph) length(i int) int {
	if i == len(p.rows)-1 {
		return p.rows[i].length()
	}
	if last := p.cells[i][p.oldCols-1]; !last.hasContent() && !last.zeroWidth() && p.cells[i+1][0].wide() {
		return p.oldCols - 1
	}
	return p.oldCols
}

// widen moves the text up into rows that became wider, and returns how many
// rows it needs now.
func (p *paragraph) widen() int {
	cols := len(p.cells[0])
	dst, dstCol := 0, p.length(0)
	for src, srcCol := 1, 0; src < len(p.rows); {
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
	keep := len(p.rows)
	for i := keep - 1; i > 0 && (i > dst || p.rows[i].length() == 0); i-- {
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

// narrow moves the text down because rows become narrower. It returns the new
// rows it needs at the end and the number by which there are more, which is
// negative when there are fewer lines of text than rows.
func (p *paragraph) narrow(cols int) (fresh []bufferLine, added int) {
	last := p.rows[len(p.rows)-1].length()
	lengths := p.newLengths(cols)
	added = len(lengths) - len(p.rows)
	src := len(p.rows) - 1
	for range added {
		cells := make([]cell, p.oldCols)
		r := &row{cells: cells, clusters: p.rows[0].clusters, wrapped: true, used: cols}
		p.rows, p.cells = append(p.rows, r), append(p.cells, cells)
		fresh = append(fresh, bufferLine{row: r})
	}
	p.moveDown(lengths, src, last)
	for i := range min(len(lengths), len(p.rows)) {
		if lengths[i] < cols {
			p.cells[i][lengths[i]] = 0
		}
	}
	return fresh, added
}

// moveDown fills the rows with the new lengths from the end, in place. The text
// ends in column srcCol of row src. A row's length before is taken after rows
// below it were filled, as xterm.js does.
func (p *paragraph) moveDown(lengths []int, src, srcCol int) {
	dst := len(lengths) - 1
	if dst < 0 {
		return
	}
	dstCol := lengths[dst]
	for src >= 0 && dst >= 0 {
		n := min(srcCol, dstCol)
		copy(p.cells[dst][dstCol-n:dstCol], p.cells[src][srcCol-n:srcCol])
		if dstCol -= n; dstCol == 0 {
			if dst--; dst >= 0 {
				dstCol = lengths[dst]
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
func (p *paragraph) newLengths(cols int) (lengths []int) {
	need := 0
	for i := range p.rows {
		need += p.length(i)
	}
	col, line := 0, 0
	for have := 0; have < need; {
		if need-have < cols {
			return append(lengths, need-have)
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
		lengths = append(lengths, take)
		have += take
	}
	return lengths
}
