package vt

import "math"

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
	s := w.t.screen
	if s.X >= s.Cols && w.t.modes.Autowrap {
		w.beforeLine(true)
		w.t.wrap()
	}
	x := min(s.X, s.Cols-1)
	n = min(len(text), s.Cols-x)
	w.beforeOverwrite(s.Y, x)
	m := w.show(text[:n], true, i, x)
	at, last := w.offset(i+1), w.offset(math.MaxInt)
	offsets := m.offsets[x : x+n]
	for k := range offsets {
		offsets[k] = min(at+uint64(k), last)
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
	switch wraps := s.X+width-old > s.Cols && t.modes.Autowrap; {
	case wraps && s.Y == s.Bottom: // a blank row comes
		if j.joins() {
			w.reportChanged(y) // its end moves there
		}
		x = 0
		w.beforeLine(true)
	case wraps:
		y, x = min(s.Y+1, s.Rows-1), 0
		w.beforeLine(true)
		w.beforeOverwrite(y, x)
	case !j.joins() || s.X < s.row().used: // what joins the end of a line goes on with it
		w.beforeOverwrite(y, x)
	}
	m := w.show(text[:n], false, i, x)
	for k := max(min(x, s.X-1), 0); k < min(s.X, s.Cols); k++ {
		m.offsets[k] = w.offset(i + n)
	}
	return n
}

// show has the terminal print text, which is at index i of the stream's text and comes to column x.
func (w *Tracker) show(text []byte, ascii bool, i, x int) *trackedRow {
	s, begun := w.t.screen, w.t.stream.printed
	w.t.stream.printed = i
	w.t.print(text, ascii)
	w.t.stream.printed = begun
	m := w.touch(s.row())
	if w.t.modes.Insert {
		copy(m.offsets[min(s.X, s.Cols):], m.offsets[max(min(x, s.Cols), 0):])
	}
	return m
}

// touch notes that a row changes, and returns its positions, with room for all columns.
func (w *Tracker) touch(r *row) *trackedRow {
	m := r.tracked()
	if m == nil {
		m = &trackedRow{}
		r.more().tracked = m
	}
	if n := w.t.screen.Cols; len(m.offsets) < n {
		m.offsets = append(m.offsets, make([]uint64, n-len(m.offsets))...)
	}
	if !m.changed {
		m.changed = true
		w.changedRows++
	}
	return m
}

// beforeOverwrite reports row y when text printed from column x on overwrites text
// that was not reported.
func (w *Tracker) beforeOverwrite(y, x int) {
	if x < w.t.screen.rows[y].used {
		w.reportChanged(y)
	}
}

// reportChanged reports the line of row y when that row changed.
func (w *Tracker) reportChanged(y int) {
	if m := w.t.screen.rows[y].tracked(); m != nil && m.changed {
		w.reportRow(y)
	}
}

// beforeLine is called before the cursor moves down a line. At the bottom margin the region moves up
// by a line: the row at its top goes to the history, or is gone. wrapping: a line goes on in the
// row that comes.
func (w *Tracker) beforeLine(wrapping bool) {
	s := w.t.screen
	switch {
	case s.Y != s.Bottom:
	case s != w.t.main || s.Top > 0:
		w.reportChanged(s.Top)
		w.blank(s.rows[s.Top])
	case s.Bottom > s.Top:
		w.rowToHistory(s.rows[0], s.rows[1].wrapped)
	default:
		w.rowToHistory(s.rows[0], wrapping)
	}
}

// rowToHistory is called before a row goes to the history. goesOn: so does its line.
func (w *Tracker) rowToHistory(r *row, goesOn bool) {
	m := r.tracked()
	changed := m != nil && m.changed
	if prefixed := w.prefixed(); w.hooks.Changed == nil && !goesOn && !prefixed {
		w.reportChanged(0)
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
	r.addTo(&b)
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
	m := r.tracked()
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
		w.beforeLine(false)
	}
	w.t.control(c)
	if w.hooks.Control != nil && (c == '\n' || c == '\r') {
		w.hooks.Control(c)
	}
}

// Escape implements Handler.
func (h *trackHandler) Escape(f function) {
	w := (*Tracker)(h)
	switch f {
	case 'D', 'E':
		w.beforeLine(false)
	case 'M', 'c', '#'*intermediate + '8':
		w.Report()
	}
	w.t.escape(f)
	w.t.settle()
	switch f {
	case 'M':
		w.clearBlankRows(w.t.screen)
	case 'c':
		w.forget()
	case '#'*intermediate + '8':
		w.clearBlankRows(w.t.screen)
		h.changed()
	}
	w.hooks.moved()
}

// changed notes that all rows changed.
func (h *trackHandler) changed() {
	w := (*Tracker)(h)
	for _, r := range w.t.screen.rows {
		w.setOffsets(r, 0, math.MaxInt)
		w.t.stream.meter.Add(len(r.tracked().offsets))
	}
}

// setOffsets gives the columns from x0 to x1-1 of a row the position at hand.
func (w *Tracker) setOffsets(r *row, x0, x1 int) *trackedRow {
	m := w.touch(r)
	for x := x0; x < min(x1, len(m.offsets)); x++ {
		m.offsets[x] = w.Offset()
	}
	return m
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
	case 'K', '?'*private + 'K', 'X', '@', 'P', 'J', '?'*private + 'J':
		h.edit(f)
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

// edit is a function that changes cells of the cursor's row, and ED and DECSED, which erase others
// too.
func (h *trackHandler) edit(f function) {
	w := (*Tracker)(h)
	s, how := w.t.screen, w.t.stream.Param(0)
	display := byte(f) == 'J'
	if display {
		w.Report()
	} else {
		w.reportChanged(s.Y)
	}
	r := s.row()
	used := r.used
	x0, x1 := min(s.X, s.Cols), s.Cols
	switch byte(f) {
	case 'K', 'J':
		x0, x1 = s.EraseColumns(how)
	case 'X':
		x1 = s.X + max(how, 1)
	}
	w.t.csi(f)
	switch {
	case display && how == 3:
		w.pastRows = nil
		return
	case display:
		w.clearBlankRows(s)
	}
	if x0 < used {
		w.setOffsets(r, x0, min(x1, s.Cols)).erased = true
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
