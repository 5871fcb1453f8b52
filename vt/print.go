package vt

import "unicode/utf8"

// print shows a run of characters.
func (p *printer) print(text []byte, ascii bool) {
	switch {
	case ascii && p.printsRuns():
		p.printASCII(text)
	case p.linkShown():
		p.noteLink()
		p.printAny(text, ascii)
		p.noteLinkHere()
	default:
		p.printAny(text, ascii)
	}
}

// printsRuns reports whether printASCII does all that ASCII needs.
func (p *printer) printsRuns() bool {
	return p.charsets.ASCII() && p.modes.Autowrap && !p.modes.Insert && p.stream.viewers == 0 &&
		!p.stream.before.prepends() && !p.linkShown()
}

// printAny is print without the notes of the open link.
func (p *printer) printAny(text []byte, ascii bool) {
	from := source{raw: text}
	if !p.charsets.ASCII() {
		text, ascii = p.charsets.Translate(text), false
	}
	from.text = text
	if p.stream.viewers != 0 {
		c, _ := decodeSound(text)
		p.stream.alignViewers(p.widths.next(c, p.stream.viewers).joins())
	}
	for len(text) > 0 {
		if p.screen.X >= p.screen.Cols && !p.modes.Autowrap {
			p.keepWideWhole(&from, text)
		}
		if p.modes.Insert || p.stream.before.prepends() {
			c, size := decodeSound(text)
			if !p.printChar(c) {
				p.omit(&from, text)
			}
			text = text[size:]
			continue
		}
		text = text[p.printSome(&from, text, ascii):]
	}
}

// printSome prints the beginning of text, which is the end of from, and returns its size: as much as
// can be printed at once.
func (p *printer) printSome(from *source, text []byte, ascii bool) (n int) {
	if ascii {
		n = len(text)
	} else if n = p.printToEnd(text); n > 0 {
		return n
	} else if n = asciiRun(text); n == 0 {
		return p.printOne(from, text)
	}
	p.printASCII(text[:n])
	return n
}

// printASCII prints characters of one cell as runs, one a row.
func (p *printer) printASCII(text []byte) {
	s, style := p.screen, p.penStyle()
	p.stream.before = narrow
	for {
		if s.X >= s.Cols {
			if !p.modes.Autowrap {
				text, s.X = text[len(text)-1:], s.Cols-1 // the others would be overwritten
			} else {
				p.wrap()
			}
		}
		n := min(len(text), s.Cols-s.X)
		if r := s.rows[s.Y]; r.cells == nil && s.X == r.used {
			r.append(ASCII, text[:n], n, style)
		} else {
			s.put(r, s.X, text[:n], style)
		}
		s.X += n
		if text = text[n:]; len(text) == 0 {
			return
		}
	}
}

// printOne prints the first character of text, which is the end of from, and returns its size.
func (p *printer) printOne(from *source, text []byte) (n int) {
	c, n := decodeSound(text)
	if !p.printChar(c) {
		p.omit(from, text)
	}
	return n
}

// printToEnd prints the beginning of text at the end of a row in text form, as far as the row
// has room and no character may join the one before it. It returns the size, 0 when it can print
// nothing.
func (p *printer) printToEnd(text []byte) (n int) {
	s := p.screen
	r := s.rows[s.Y]
	switch {
	case s.X >= s.Cols:
		if first, _ := p.widths.first(text); first > entryWide || first.width() > s.Cols || !p.modes.Autowrap {
			return 0
		}
		p.wrap()
		r = s.rows[s.Y]
	case r.cells == nil && s.X > r.used:
		if first, _ := p.widths.first(text); first > entryWide || s.X+first.width() > s.Cols {
			return 0
		}
		r.pad(s.X)
	}
	if r.cells != nil || s.X < r.used {
		return 0
	}
	if n = p.appendRuns(r, text, s.Cols-s.X); n == 0 {
		return 0
	}
	s.X = r.used
	p.stream.before = narrow
	if r.runs[len(r.runs)-1].kind == Wide {
		p.stream.before = wide
	}
	return n
}

// appendRuns appends the beginning of text to r as far as room columns have room for it and no
// character may join. It returns the size.
func (p *printer) appendRuns(r *row, text []byte, room int) (n int) {
	style, begin := p.penStyle(), len(r.text)
	kind, cells := Blank, 0 // of the open run
	for n < len(text) && room > 0 {
		k, size, width := ASCII, 1, 1
		if c := text[n]; c >= ' ' && c < 0x7f {
			size = min(asciiRun(text[n:]), room)
			width = size
		} else {
			var e widthEntry
			e, size = p.widths.first(text[n:])
			if width = e.width(); e > entryWide || width > room {
				break
			}
			k = Narrow + Kind(e)
			more, count := p.leads.run(text[n+size:], e, size, room>>e-1) // e is 1 for two cells
			size, width = size+more, width+count*width
		}
		if (k == Wide) != (kind == Wide) && n > 0 {
			r.addRun(kind, begin+n, cells, style)
			kind, cells = Blank, 0
		}
		kind = max(kind, k)
		cells += width
		room -= width
		n += size
	}
	if n > 0 {
		r.text = append(r.text, text[:n]...)
		r.addRun(kind, len(r.text), cells, style)
	}
	return n
}

// lastStart is the index of the last character of text.
func lastStart(text []byte) int {
	i := len(text) - 1
	for i > 0 && !utf8.RuneStart(text[i]) {
		i--
	}
	return i
}

// printChar prints one character as xterm.js does: it may join the one before,
// widen it, or wrap. It reports whether it did: a cell that is full takes no more, and
// the last column nothing of two cells that must not wrap.
func (p *printer) printChar(c rune) bool {
	before := p.stream.before
	j := p.widths.next(c, before)
	width, old := j.width(), 0
	s := p.screen
	if j.joins() {
		old = before.width()
		if before.lost() || s.X > 0 && p.joinedSize()+utf8.RuneLen(c) > maxCluster {
			return false
		}
	}
	if s.X+width-old > s.Cols && width == 2 && !p.modes.Autowrap {
		p.stream.before = lostWide
		return false
	}
	p.stream.before = j
	if p.joinText(c, j, width, old) {
		return true
	}
	style := p.penStyle()
	if r := s.row(); s.X > 0 && s.X <= s.Cols && (r.cells != nil || s.X < r.used) {
		s.cells(r)
		s.clearLeftHalf(r, s.X, style)
	}
	if s.X+width-old > s.Cols {
		p.overflow(old, style)
	}
	r := s.row()
	if j.joins() && s.X > 0 {
		p.join(r, c, width, old, style)
	} else {
		p.placeChar(r, c, width, old, style)
	}
	if s.X < s.Cols && r.cells != nil {
		s.clearRightHalf(r, s.X, style)
	}
	return true
}

// joinedSize is how many bytes are in the cell that a character which joins goes to.
func (p *printer) joinedSize() int {
	s := p.screen
	r := s.row()
	if r.cells == nil && s.X == r.used {
		return len(r.last())
	}
	c := s.cells(r)[s.joinAt(r)]
	if c&cellCluster != 0 {
		return len(r.rare.clusters[c&cellChar])
	}
	return utf8.UTFMax
}

// joinText is the usual case of a mark: it joins the end of a row in text form.
func (p *printer) joinText(c rune, j join, width, old int) bool {
	s := p.screen
	r := s.row()
	return j.joins() && width == old && r.cells == nil && s.X == r.used && s.X > 0 && r.mark(c)
}

// overflow handles a character that does not fit into its row: it wraps, or
// takes the last column. A character before that it joins, of old cells, moves along.
func (p *printer) overflow(old int, style uint32) {
	s := p.screen
	if !p.modes.Autowrap {
		s.X = s.Cols - 1
		return
	}
	from, at := s.row(), s.X-old
	var moved []cell
	var text string
	if old > 0 && at >= 0 {
		cells := s.cells(from)
		moved = append(moved, cells[at:min(at+old, s.Cols)]...)
		if moved[0]&cellCluster != 0 {
			text = from.rare.clusters[moved[0]&cellChar]
		}
	}
	p.clearRest(from, max(at, 0), style)
	p.wrap()
	s.X = old
	for x, c := range moved {
		if x == 0 && text != "" {
			s.tidyClusters(s.row())
			c = c&^(cellChar|cellCluster) | s.row().cluster(text)
		}
		s.setCell(s.row(), x, c)
	}
}

// clearRest blanks the columns from x on that a wrapping character leaves.
func (p *printer) clearRest(r *row, x int, style uint32) {
	s := p.screen
	switch {
	case x >= s.Cols || r.cells == nil && x >= r.used && style == 0:
	case r.cells == nil && x >= r.used:
		r.pad(x)
		r.append(Blank, nil, s.Cols-x, style)
	default:
		s.cells(r)
		s.meter.Add(s.Cols - x)
		s.fill(r, x, s.Cols, style)
	}
}

// joinAt is the column of the character left of the cursor, which is not in column 0.
func (s *screen) joinAt(r *row) int {
	x := min(s.X, s.Cols) - 1
	if r.cells[x].zeroWidth() && x > 0 {
		x--
	}
	return x
}

// join adds c to the character left of the cursor and widens that to width.
func (p *printer) join(r *row, c rune, width, old int, style uint32) {
	s := p.screen
	s.cells(r)
	s.join(r, s.joinAt(r), c, width)
	for ; old < width && s.X < s.Cols; old++ {
		s.setCell(r, s.X, newCell(0, 0, style))
		s.X++
	}
}

// placeChar writes c at the cursor.
func (p *printer) placeChar(r *row, c rune, width, old int, style uint32) {
	s := p.screen
	if p.modes.Insert && s.X < s.Cols {
		s.insert(r, s.X, width-old, style)
	}
	if s.X >= s.Cols {
		s.X++ // without width, it goes nowhere; what follows wraps
		return
	}
	if r.cells == nil && s.X >= r.used && s.X+width <= s.Cols {
		r.pad(s.X)
		r.appendChar(c, width, style)
		s.X += max(width, 1)
		return
	}
	s.setCell(r, s.X, newCell(c, width, style))
	s.X++
	if width == 2 && s.X < s.Cols {
		s.setCell(r, s.X, newCell(0, 0, style))
		s.X++
	}
}

// wrap goes to the next line because a character does not fit (DECAWM, VT510).
func (p *printer) wrap() {
	s := p.screen
	p.noteLinkHere()
	s.X = 0
	if s.Index() {
		p.scrollUp(p.internBlank()) // no sweep: who prints holds numbers of styles
	}
	s.rows[s.Y].wrapped = true
}

// scrollUp moves the scroll region up by a line; blanks of the style follow. The
// line that leaves the main screen at its top becomes history.
func (p *printer) scrollUp(blank uint32) {
	s := p.screen
	if s == p.main && s.Top == 0 {
		packed := p.keep(s.rows[0])
		if f := p.cfg.Effects.ScrolledOff; f != nil {
			f(Line{packed: string(packed), wrapped: s.rows[0].wrapped})
		}
	}
	if s.Top > 0 {
		p.loseLink() // xterm.js moves the lines, and leaves their notes
	}
	s.scrollUp(s.Top, s.Bottom, 1, blank)
}
