package vt

// trackHandler is the handler of a Tracker's stream. Before each action it reports the
// text that the action removes, then has the Terminal execute it, and tracks new text.
type trackHandler Tracker

// Print implements Handler.
func (h *trackHandler) Print(text []byte, ascii bool) {
	w := (*Tracker)(h)
	w.print(text, ascii, w.t.stream.printed)
	if w.hooks.Print != nil {
		w.hooks.Print(text, w.offset(w.t.stream.printed))
	}
}

// print shows text, which is at index i of the stream's text: in pieces that each
// lie in one row.
func (w *Tracker) print(text []byte, ascii bool, i int) {
	for len(text) > 0 {
		n := len(text)
		if !ascii {
			n = asciiRun(text)
		}
		if n == 0 || w.t.stream.before.prepends() {
			n = w.char(text, i)
		} else {
			n = w.ascii(text[:n], i)
		}
		text, i = text[n:], i+n
	}
}

// ascii prints characters of one cell as far as they fit into a row.
func (w *Tracker) ascii(text []byte, i int) (n int) {
	t, s := w.t, w.t.screen
	if s.X >= s.Cols && t.modes.Autowrap {
		if s.Y == s.Bottom {
			w.beforeScroll(true)
		}
		t.wrap()
	}
	x := min(s.X, s.Cols-1)
	n = min(len(text), s.Cols-x)
	r := s.row()
	w.beforeOverwrite(s.Y, x)
	m := w.touch(r)
	if t.modes.Insert {
		copy(m.offsets[min(x+n, s.Cols):], m.offsets[x:])
	}
	begun := t.stream.printed
	t.stream.printed = i
	t.print(text[:n], true)
	t.stream.printed = begun
	at := w.offset(i + 1)
	if w.fixed > 0 {
		for k := range n {
			m.offsets[x+k] = at
		}
		return n
	}
	for k := range n {
		m.offsets[x+k] = min(at+uint64(k), w.begun+uint64(w.size))
	}
	return n
}

// char prints one character of any width, which may join the one before.
func (w *Tracker) char(text []byte, i int) (n int) {
	t, s := w.t, w.t.screen
	c, n := decodeSound(text)
	j := t.widths.next(c, t.stream.before)
	width, old := j.width(), 0
	if j.joins() {
		old = t.stream.before.width()
	}
	y, x := s.Y, s.X-old
	if s.X+width-old > s.Cols && t.modes.Autowrap {
		if s.Y == s.Bottom {
			w.beforeScroll(true)
		} else {
			y = min(s.Y+1, s.Rows-1)
		}
		x = 0
	}
	if y != s.Y || !j.joins() || s.X < s.row().used { // what joins the end of a line goes on with it
		w.beforeOverwrite(y, x)
	}
	begun := t.stream.printed
	t.stream.printed = i
	t.print(text[:n], false)
	t.stream.printed = begun
	m := w.touch(s.row())
	if t.modes.Insert {
		copy(m.offsets[min(max(s.X, 0), s.Cols):], m.offsets[max(min(x, s.Cols), 0):])
	}
	for k := max(min(x, s.X-1), 0); k < min(s.X, s.Cols); k++ {
		m.offsets[k] = w.offset(i + n)
	}
	return n
}

// touch notes that a row changes.
func (w *Tracker) touch(r *row) *trackedRow {
	m := w.trackRow(r)
	if !m.changed {
		m.changed = true
		w.changedRows++
	}
	return m
}

// trackRow returns the positions of a row, with room for all columns.
func (w *Tracker) trackRow(r *row) *trackedRow {
	m := r.tracked
	if m == nil {
		m = &trackedRow{}
		r.tracked = m
	}
	if n := w.t.screen.Cols; len(m.offsets) < n {
		m.offsets = append(m.offsets, make([]uint64, n-len(m.offsets))...)
	}
	return m
}

// beforeOverwrite reports row y when text printed from column x on overwrites text
// that was not reported.
func (w *Tracker) beforeOverwrite(y, x int) {
	r := w.t.screen.rows[y]
	if x >= r.used {
		return
	}
	if m := r.tracked; m != nil && m.changed {
		w.reportRow(y)
	}
}

// beforeScroll is called before the region moves up by a line. The row at its top goes
// to the history, or is gone. wrapping: a line goes on in the row that comes.
func (w *Tracker) beforeScroll(wrapping bool) {
	s := w.t.screen
	r := s.rows[s.Top]
	m := r.tracked
	if s != w.t.main || s.Top > 0 {
		if m != nil && m.changed {
			w.reportRow(s.Top)
		}
		w.blank(r)
		return
	}
	goesOn := wrapping
	if s.Bottom > s.Top {
		goesOn = s.rows[1].wrapped
	}
	w.rowToHistory(r, m, goesOn)
}

// rowToHistory is beforeScroll for a row that goes to the history.
func (w *Tracker) rowToHistory(r *row, m *trackedRow, goesOn bool) {
	changed := m != nil && m.changed
	if w.hooks.Changed == nil && !goesOn && !w.hasPrefix {
		if changed {
			w.reportRow(0)
		}
		w.keepOffsets(r, m)
		return
	}
	if changed {
		w.unreported++
	}
	b := textLineBuilder{line: w.prefix, printed: len(w.prefix.Text)}
	if !w.hasPrefix {
		b = textLineBuilder{}
	}
	w.add(&b, r)
	if goesOn {
		b.continueRow(w.t.screen.Cols, len(w.t.screen.rows) > 1 && w.t.screen.rows[1].beginsWide())
		w.prefix, w.hasPrefix, w.prefixChanged = b.line, true, w.prefixChanged || changed
	} else {
		if l := b.end(m.ends()); w.hooks.Changed == nil && (changed || w.prefixChanged) {
			w.reportLine(l)
		}
		w.prefix, w.hasPrefix, w.prefixChanged = TextLine{}, false, false
	}
	w.keepOffsets(r, m)
	w.limitPrefix()
}

// keepOffsets moves the positions of a row to the history; the row comes back blank.
func (w *Tracker) keepOffsets(r *row, m *trackedRow) {
	if len(w.pastRows) >= 2*MaxSize {
		w.pastRows = append(w.pastRows[:0], w.pastRows[MaxSize:]...)
	}
	var old trackedRow
	switch {
	case m == nil:
	case w.hooks.keepsOffsets():
		old.offsets, m.offsets = m.offsets, nil
	case r.used > 0:
		old.newest = m.offsets[min(r.used, len(m.offsets))-1]
	}
	w.pastRows = append(w.pastRows, old)
	w.blank(r)
}

// limitPrefix reports and cuts a prefix that is too long to be kept.
func (w *Tracker) limitPrefix() {
	if w.hooks.Changed != nil && w.unreported >= MaxUnreported {
		w.Report()
	}
	if len(w.prefix.Text) <= maxTextLine {
		return
	}
	if w.prefixChanged {
		w.reportLine(w.prefix)
	}
	cut := len(w.prefix.Text) - keptTextLine
	for cut > 0 && w.prefix.Text[cut]&0xc0 == 0x80 {
		cut--
	}
	w.prefix.Text = append(w.prefix.Text[:0], w.prefix.Text[cut:]...)
	w.prefix.Offsets = append(w.prefix.Offsets[:0], w.prefix.Offsets[cut:]...)
	w.prefixChanged = false
}

// blank removes the positions of a row that is blank now.
func (w *Tracker) blank(r *row) {
	m := r.tracked
	if m == nil {
		return
	}
	if m.changed {
		m.changed = false
		w.changedRows--
	}
	m.erased = false
	w.t.stream.meter.Add(len(m.offsets) / costCopy)
	clear(m.offsets)
}

// Control implements Handler.
func (h *trackHandler) Control(c rune) {
	w := (*Tracker)(h)
	switch c {
	case '\n', '\v', '\f', 0x84, 0x85: // LF, VT, FF, IND, NEL
		w.index()
	}
	w.t.control(c)
	if w.hooks.Control != nil && (c == '\n' || c == '\r') {
		w.hooks.Control(c)
	}
}

// index is called before the cursor moves down a line.
func (w *Tracker) index() {
	if s := w.t.screen; s.Y == s.Bottom {
		w.beforeScroll(false)
	}
}

// Escape implements Handler.
func (h *trackHandler) Escape(f function) {
	w := (*Tracker)(h)
	switch f {
	case 'D', 'E':
		w.index()
		w.t.escape(f)
	case 'M', '#'*intermediate + '8':
		w.Report()
		w.t.escape(f)
		w.clearBlankRows(w.t.screen)
		if f != 'M' {
			h.changed()
		}
	case 'c':
		w.Report()
		w.t.escape(f)
		w.forget()
	default:
		w.t.escape(f)
		w.t.settle()
	}
	w.hooks.moved()
}

// changed notes that all rows changed.
func (h *trackHandler) changed() {
	w := (*Tracker)(h)
	for _, r := range w.t.screen.rows {
		m := w.touch(r)
		w.t.stream.meter.Add(len(m.offsets))
		for x := range m.offsets {
			m.offsets[x] = w.Offset()
		}
	}
}

// clearBlankRows removes the positions of rows that are blank now.
func (w *Tracker) clearBlankRows(screens ...*screen) {
	for _, s := range screens {
		for _, r := range s.rows {
			if r.cells == nil && len(r.text) == 0 {
				w.blank(r)
			}
		}
	}
}

// CSI implements Handler.
func (h *trackHandler) CSI(f function) {
	w := (*Tracker)(h)
	switch f {
	case 'm':
		w.t.csi(f)
		return
	case 'K', '?'*private + 'K', 'X', '@', 'P':
		w.edit(f)
	case 'J', '?'*private + 'J':
		w.eraseDisplay(f)
	case 'L', 'M', 'S', 'T':
		w.Report()
		w.t.csi(f)
		w.clearBlankRows(w.t.screen)
	case ' '*intermediate + '@', ' '*intermediate + 'A', '\''*intermediate + '}', '\''*intermediate + '~':
		w.Report()
		w.t.shiftColumns(w.t.columnShift(f))
		h.changed()
	case 'b':
		h.repeat()
	case '?'*private + 'h', '?'*private + 'l':
		h.setModes(f)
	default:
		w.t.csi(f)
	}
	w.hooks.moved()
}

// edit is a function that changes cells of the cursor's row.
func (w *Tracker) edit(f function) {
	s := w.t.screen
	r := s.row()
	if m := r.tracked; m != nil && m.changed {
		w.reportRow(s.Y)
	}
	used := r.used
	x0, x1 := min(s.X, s.Cols), s.Cols
	switch f {
	case 'K', '?'*private + 'K':
		x0, x1 = s.EraseColumns(w.t.stream.Param(0))
	case 'X':
		x1 = min(s.X+w.t.stream.One(0), s.Cols)
	}
	w.t.csi(f)
	if x0 < used {
		w.erased(r, x0, min(x1, s.Cols))
	}
}

// erased gives the columns from x0 to x1-1 of a row the position at hand.
func (w *Tracker) erased(r *row, x0, x1 int) {
	m := w.touch(r)
	m.erased = true
	for x := x0; x < x1; x++ {
		m.offsets[x] = w.Offset()
	}
}

// eraseDisplay is ED and DECSED.
func (w *Tracker) eraseDisplay(f function) {
	s := w.t.screen
	w.Report()
	x0, x1 := s.EraseColumns(w.t.stream.Param(0))
	r, used := s.row(), s.row().used
	w.t.csi(f)
	if w.t.stream.Param(0) == 3 {
		w.pastRows = nil
		return
	}
	w.clearBlankRows(w.t.screen)
	if x0 < used {
		w.erased(r, x0, min(x1, s.Cols))
	}
}

// repeat implements REP, see printer.repeat.
func (h *trackHandler) repeat() {
	w := (*Tracker)(h)
	t, s := w.t, w.t.screen
	before := t.stream.before
	if before == 0 {
		t.repeat()
		return
	}
	text := append([]byte(nil), t.cellText(s.row(), s.X-before.width())...)
	n := t.stream.Times(t.mostRepeats(text))
	if len(text) == 0 {
		return
	}
	w.fixed = w.Offset()
	t.repeatText(text, n, func(text []byte) { w.print(text, len(text) == 1, 0) })
	w.fixed = 0
}

// setModes is DECSET and DECRST, which may show the other screen.
func (h *trackHandler) setModes(f function) {
	w := (*Tracker)(h)
	was := w.t.screen
	for i := range w.t.stream.Count() {
		if mode := w.t.stream.Param(i); mode == 47 || mode == 1047 || mode == 1049 {
			w.Report()
		}
	}
	w.t.csi(f)
	if w.t.screen != was {
		w.clearBlankRows(w.t.main, w.t.alt)
	}
}

// OSC implements Handler.
func (h *trackHandler) OSC(text []byte) { (*terminalHandler)(&h.t.executor).OSC(text) }

// DCS implements Handler.
func (h *trackHandler) DCS(text []byte) { (*terminalHandler)(&h.t.executor).DCS(text) }
