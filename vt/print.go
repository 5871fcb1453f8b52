package vt

import "unicode/utf8"

// print shows a run of characters.
func (t *Terminal) print(text []byte, ascii bool) {
	switch {
	case t.linkShown():
		t.noteLink()
		t.printAny(text, ascii)
		t.noteLinkHere()
	case ascii && t.printsRuns():
		t.printASCII(text)
	default:
		t.printAny(text, ascii)
	}
}

// printsRuns reports whether printASCII does all that ASCII needs.
func (t *Terminal) printsRuns() bool {
	return t.charsets.ASCII() && t.modes.Autowrap && !t.modes.Insert && t.stream.viewers == 0 &&
		!t.stream.before.prepends()
}

// printAny is print without the notes of the open link.
func (t *Terminal) printAny(text []byte, ascii bool) {
	from := source{raw: text}
	if !t.charsets.ASCII() {
		text, ascii = t.charsets.Translate(text), false
	}
	from.text = text
	if t.stream.viewers != 0 {
		c, _ := decodeSound(text)
		t.stream.alignViewers(t.widths.next(c, t.stream.viewers).joins())
	}
	for len(text) > 0 {
		if t.screen.X >= t.screen.Cols && !t.modes.Autowrap {
			t.keepWideWhole(&from, text)
		}
		if t.modes.Insert || t.stream.before.prepends() {
			c, size := decodeSound(text)
			if !t.printChar(c) {
				t.omit(&from, text)
			}
			text = text[size:]
			continue
		}
		n := len(text)
		if !ascii {
			n = asciiRun(text)
		}
		if n == 0 {
			n = t.printWider(&from, text)
		} else {
			t.printASCII(text[:n])
		}
		text = text[n:]
	}
}

// printASCII prints characters of one cell as runs, one a row.
func (t *Terminal) printASCII(text []byte) {
	s, style := t.screen, t.penStyle()
	t.stream.before = narrow
	for {
		if s.X >= s.Cols {
			if !t.modes.Autowrap {
				text, s.X = text[len(text)-1:], s.Cols-1 // the others would be overwritten
			} else {
				t.wrap()
			}
		}
		n := min(len(text), s.Cols-s.X)
		s.put(s.rows[s.Y], s.X, text[:n], style)
		s.X += n
		if text = text[n:]; len(text) == 0 {
			return
		}
	}
}

// printWider prints the beginning of text, which is not ASCII: a run of
// characters of one width at the end of a row, or one character. It returns the
// number of bytes. text is the end of from.
func (t *Terminal) printWider(from *source, text []byte) int {
	s := t.screen
	class := t.classAt(text, 0)
	r := s.rows[s.Y]
	kind, width, after := Narrow, 1, narrow
	if class == classWide {
		kind, width, after = Wide, 2, wide
	}
	if class == classOther || r.cells != nil || s.X < r.used || s.X+width > s.Cols {
		c, size := decodeSound(text)
		if !t.printChar(c) {
			t.omit(from, text)
		}
		return size
	}
	n, count := t.sameWidth(text, class, (s.Cols-s.X)/width)
	r.pad(s.X)
	r.append(kind, text[:n], count*width, t.penStyle())
	s.X += count * width
	t.stream.before = after
	return n
}

// sameWidth measures the run of characters of a class at the start of text: at
// least one and at most limit characters, count of them in n bytes.
func (t *Terminal) sameWidth(text []byte, class widthClass, limit int) (n, count int) {
	leads, all, some := t.leads, lead(class)<<leadClass, lead(classOther)<<leadClass
	n, count = leads[text[0]].size(), 1
	for n < len(text) && count < limit {
		l := leads[text[n]]
		if of := l &^ leadSize; of != all && (of != some || t.classAt(text, n) != class) {
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
func (t *Terminal) classAt(text []byte, i int) widthClass {
	if c := t.leads[text[i]].class(); c != classOther {
		return c
	}
	r, _ := decodeSound(text[i:])
	return t.widths.class(r)
}

// printChar prints one character as xterm.js does: it may join the one before,
// widen it, or wrap. It reports whether it did: a cell that is full takes no more, and
// the last column nothing of two cells that must not wrap.
func (t *Terminal) printChar(c rune) bool {
	before := t.stream.before
	j := t.widths.next(c, before)
	width, old := j.width(), 0
	s := t.screen
	if j.joins() {
		old = before.width()
		if before.lost() || s.X > 0 && t.joinedSize()+utf8.RuneLen(c) > maxCluster {
			return false
		}
	}
	if s.X+width-old > s.Cols && width == 2 && !t.modes.Autowrap {
		t.stream.before = lostWide
		return false
	}
	t.stream.before = j
	if t.joinText(c, j, width, old) {
		return true
	}
	style := t.penStyle()
	if r := s.row(); s.X > 0 && s.X <= s.Cols && (r.cells != nil || s.X < r.used) {
		s.cells(r)
		s.clearLeftHalf(r, s.X, style)
	}
	if s.X+width-old > s.Cols {
		t.overflow(old, style)
	}
	r := s.row()
	if j.joins() && s.X > 0 {
		t.join(r, c, width, old, style)
	} else {
		t.placeChar(r, c, width, old, style)
	}
	if s.X < s.Cols && r.cells != nil {
		s.clearRightHalf(r, s.X, style)
	}
	return true
}

// joinedSize is how many bytes are in the cell that a character which joins goes to.
func (t *Terminal) joinedSize() int {
	s := t.screen
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
func (t *Terminal) joinText(c rune, j join, width, old int) bool {
	s := t.screen
	r := s.row()
	return j.joins() && width == old && r.cells == nil && s.X == r.used && s.X > 0 && r.mark(c)
}

// overflow handles a character that does not fit into its row: it wraps, or
// takes the last column. A character before that it joins, of old cells, moves along.
func (t *Terminal) overflow(old int, style uint32) {
	s := t.screen
	if !t.modes.Autowrap {
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
	t.clearRest(from, max(at, 0), style)
	t.wrap()
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
func (t *Terminal) clearRest(r *row, x int, style uint32) {
	s := t.screen
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
func (t *Terminal) join(r *row, c rune, width, old int, style uint32) {
	s := t.screen
	s.cells(r)
	s.join(r, s.joinAt(r), c, width)
	for ; old < width && s.X < s.Cols; old++ {
		s.setCell(r, s.X, newCell(0, 0, style))
		s.X++
	}
}

// placeChar writes c at the cursor.
func (t *Terminal) placeChar(r *row, c rune, width, old int, style uint32) {
	s := t.screen
	if t.modes.Insert && s.X < s.Cols {
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
func (t *Terminal) wrap() {
	s := t.screen
	t.noteLinkHere()
	s.X = 0
	if s.Index() {
		t.scrollUp(t.internBlank()) // no sweep: who prints holds numbers of styles
	}
	s.rows[s.Y].wrapped = true
}

// scrollUp moves the scroll region up by a line; blanks of the style follow. The
// line that leaves the main screen at its top becomes history.
func (t *Terminal) scrollUp(blank uint32) {
	s := t.screen
	if s == t.main && s.Top == 0 {
		t.keep(s.rows[0])
	}
	if s.Top > 0 {
		t.loseLink() // xterm.js moves the lines, and leaves their notes
	}
	s.scrollUp(s.Top, s.Bottom, 1, blank)
}
