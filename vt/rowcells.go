package vt

import "slices"

// This file has what changes a row in the middle. Its functions follow
// xterm.js's BufferLine: a wide character that is cut in halves leaves blanks,
// though not in every case.

// put writes ASCII text at column x, which it does not overrun.
func (s *screen) put(r *row, x int, text []byte, style uint32) {
	if x == 0 && len(text) == s.Cols && r.used > 0 {
		s.textForm(r, len(text))
	}
	if r.cells == nil && x >= r.used {
		r.pad(x)
		r.append(ASCII, text, len(text), style)
		return
	}
	cells := s.cells(r)
	r.version++
	s.clearLeftHalf(r, x, style)
	high := blankCell(style)
	dst := cells[x : x+len(text)]
	for i, c := range text {
		dst[i] = cell(c) | high
	}
	r.used = max(r.used, x+len(text))
	s.clearRightHalf(r, x+len(text), style)
}

// clearLeftHalf blanks the wide character whose second half, at x, gets overwritten.
func (s *screen) clearLeftHalf(r *row, x int, style uint32) {
	if x > 0 && r.cells[x-1].wide() {
		r.cells[x-1] = blankCell(style)
		r.version++
	}
}

// clearRightHalf blanks the second half, at x, of a wide character that was overwritten.
func (s *screen) clearRightHalf(r *row, x int, style uint32) {
	if x < s.Cols && r.cells[x].tail() {
		r.cells[x] = blankCell(style)
		r.used = max(r.used, x+1)
		r.version++
	}
}

// erase makes columns x0 to x1-1 blanks of the style.
func (s *screen) erase(r *row, x0, x1 int, style uint32) {
	x1 = min(x1, s.Cols)
	if x0 == 0 && r.cells != nil {
		s.textForm(r, x1)
	}
	if r.cells == nil && s.eraseText(r, x0, x1, style) {
		return
	}
	cells := s.cells(r)
	r.version++
	s.clearLeftHalf(r, x0, style)
	if x1 < s.Cols && x1 > 0 && cells[x1-1].wide() {
		cells[x1] = blankCell(style)
		r.used = max(r.used, x1+1)
	}
	s.meter.Add(max(x1-x0, 0))
	s.fill(r, x0, x1, style)
}

// fill writes blanks and leaves wide characters at the edges alone.
func (s *screen) fill(r *row, x0, x1 int, style uint32) {
	if x0 >= x1 {
		return
	}
	r.version++
	if style == 0 {
		clear(r.cells[x0:x1])
		if x1 >= r.used {
			r.used = min(r.used, x0)
		}
		return
	}
	b := blankCell(style)
	for i := range r.cells[x0:x1] {
		r.cells[x0+i] = b
	}
	r.used = max(r.used, x1)
}

// eraseText erases to the end of a row in text form, the usual case. It reports
// whether it could.
func (s *screen) eraseText(r *row, x0, x1 int, style uint32) bool {
	if x0 >= x1 {
		return true
	}
	if x0 >= r.used && style == 0 {
		return true
	}
	if x1 < r.used || x0 < r.used && !r.truncate(x0) {
		return false
	}
	if style != 0 {
		r.pad(x0)
		r.append(Blank, nil, x1-x0, style)
	}
	return true
}

// eraseUnprotected is erase for DECSED and DECSEL (VT510): protected cells stay.
func (s *screen) eraseUnprotected(r *row, x0, x1 int, style uint32, t *styles) {
	x1 = min(x1, s.Cols)
	if x0 == 0 && x1 == s.Cols {
		if r.isSpared(style) && r.used > 0 {
			return
		}
		s.meter.Add(len(r.cells) + len(r.runs))
		if !r.hasProtected(t) && r.hidden() == nil {
			s.textForm(r, x1)
			s.eraseText(r, 0, x1, style)
			return
		}
		defer func() { r.more().spared = sparedAt{r.version, r.used, style} }()
	}
	cells := s.cells(r)
	s.meter.Add(max(x1-x0, 0))
	r.version++
	protected := func(x int) bool { return t.protected(cells[x]) }
	if x0 > 0 && cells[x0-1].wide() && !protected(x0-1) {
		cells[x0-1] = blankCell(style)
	}
	if x1 < s.Cols && x1 > 0 && cells[x1-1].wide() && !protected(x1) {
		cells[x1] = blankCell(style)
	}
	for x := x0; x < x1; x++ {
		if !protected(x) {
			cells[x] = blankCell(style)
		}
	}
	r.used = s.Cols
}

// sparedAt is a state of a row: its version and columns, and a style of blanks.
type sparedAt struct {
	version uint64
	used    int
	style   uint32
}

// isSpared reports whether the row is as a selective erase in the style left it.
func (r *row) isSpared(style uint32) bool {
	return r.rare != nil && r.rare.spared == sparedAt{r.version, r.used, style}
}

// unspare forgets what isSpared knows.
func (r *row) unspare() {
	if r.rare != nil {
		r.rare.spared = sparedAt{}
	}
}

// hasProtected reports whether a cell of the row may be protected (DECSCA, VT510).
func (r *row) hasProtected(t *styles) bool {
	if r.cells == nil {
		return slices.ContainsFunc(r.runs, func(n run) bool { return t.list[n.style].attr()&Protected != 0 })
	}
	return slices.ContainsFunc(r.cells, t.protected)
}

// insert puts n blanks before column x and moves the rest right.
func (s *screen) insert(r *row, x, n int, style uint32) {
	x %= s.Cols
	if n <= 0 || r.cells == nil && x >= r.used && style == 0 {
		return
	}
	cells := s.cells(r)
	s.meter.Add(s.Cols - x)
	s.clearLeftHalf(r, x, style)
	n = min(n, s.Cols-x)
	copy(cells[x+n:], cells[x:s.Cols-n])
	r.version++
	r.used = min(max(r.used, x)+n, s.Cols)
	s.fill(r, x, x+n, style)
	if cells[s.Cols-1].wide() {
		cells[s.Cols-1] = blankCell(style)
	}
}

// remove takes out n cells from column x on; blanks follow at the end.
func (s *screen) remove(r *row, x, n int, style uint32) {
	x %= s.Cols
	if r.cells == nil && x >= r.used && style == 0 {
		return
	}
	cells := s.cells(r)
	s.meter.Add(s.Cols - x)
	n = min(n, s.Cols-x)
	copy(cells[x:], cells[x+n:])
	s.fill(r, s.Cols-n, s.Cols, style)
	s.clearLeftHalf(r, x, style)
	s.clearRightHalf(r, x, style)
}

// setCell writes one cell.
func (s *screen) setCell(r *row, x int, c cell) {
	s.cells(r)[x] = c
	r.used = max(r.used, x+1)
	r.version++
}

// join adds a character to the one of column x, which gets the given width unless
// it is 0.
func (s *screen) join(r *row, x int, c rune, width int) {
	cells := s.cells(r)
	old := cells[x]
	text := r.appendChars(nil, old)
	style := blankCell(old.style())
	switch {
	case len(text) == 0:
		cells[x] = newCell(c, 1, old.style())
	case old&cellCluster != 0:
		if len(text)+4 <= maxCluster {
			r.rare.clusters[old&cellChar] += string(c)
		}
	default:
		s.tidyClusters(r)
		cells[x] = r.cluster(string(text)+string(c)) | style | old&(cellWide|cellMark)
	}
	if width > 0 {
		cells[x] &^= cellWide | cellMark
	}
	if width == 2 {
		cells[x] |= cellWide
	}
	r.used = max(r.used, x+1)
	r.version++
}

// tidyClusters forgets the texts of cells that were overwritten when there are
// more than a row can have.
func (s *screen) tidyClusters(r *row) {
	if r.rare != nil && len(r.rare.clusters) >= 2*s.Cols && r.rare.hidden == nil {
		s.meter.Add(s.Cols)
		r.tidyClusters()
	}
}

// tidyClusters keeps only the texts that a cell has.
func (r *row) tidyClusters() {
	if r.rare == nil || len(r.rare.clusters) == 0 {
		return
	}
	old := r.rare.clusters
	r.rare.clusters = nil
	for x, c := range r.cells {
		if c&cellCluster != 0 {
			r.cells[x] = c&^(cellChar|cellCluster) | r.cluster(old[c&cellChar])
		}
	}
}
