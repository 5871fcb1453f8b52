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
		n := len(text)
		if !ascii {
			n = asciiRun(text)
		}
		if n == 0 {
			n = p.printWider(&from, text)
		} else {
			p.printASCII(text[:n])
		}
		text = text[n:]
	}
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

// printWider prints the beginning of text, which is not ASCII: a run of
// characters of one width at the end of a row, or one character. It returns the
// number of bytes. text is the end of from.
func (p *printer) printWider(from *source, text []byte) int {
	s := p.screen
	class := p.classAt(text, 0)
	r := s.rows[s.Y]
	kind, width, after := Narrow, 1, narrow
	if class == classWide {
		kind, width, after = Wide, 2, wide
	}
	if class == classOther || r.cells != nil || s.X < r.used || s.X+width > s.Cols {
		c, size := decodeSound(text)
		if !p.printChar(c) {
			p.omit(from, text)
		}
		return size
	}
	n, count := p.sameWidth(text, class, (s.Cols-s.X)/width)
	r.pad(s.X)
	r.append(kind, text[:n], count*width, p.penStyle())
	s.X += count * width
	p.stream.before = after
	return n
}

// sameWidth measures the run of characters of a class at the start of text: at
// least one and at most limit characters, count of them in n bytes.
func (p *printer) sameWidth(text []byte, class widthClass, limit int) (n, count int) {
	leads, all, some := p.leads, lead(class)<<leadClass, lead(classOther)<<leadClass
	n, count = leads[text[0]].size(), 1
	for n < len(text) && count < limit {
		l := leads[text[n]]
		if of := l &^ leadSize; of != all && (of != some || p.classAt(text, n) != class) {
			break
		}
		n += l.size()
		count++
	}
	return n, count
}

// lastStart is the index of the last character of text.
func lastStart(text []byte) int {
	i := len(text) - 1
	for i > 0 && !utf8.RuneStart(text[i]) {
		i--
	}
	return i
}

// classAt is the class of the character at text[i:].
func (p *printer) classAt(text []byte, i int) widthClass {
	if c := p.leads[text[i]].class(); c != classOther {
		return c
	}
	r, _ := decodeSound(text[i:])
	return p.widths.class(r)
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
		return len(r.clusters[c&cellChar])
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
			text = from.clusters[moved[0]&cellChar]
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
