package vt

// watchHandler is a Watched as its stream sees it. Before each action it tells of
// what the action takes away, lets the Terminal do it, and notes what is new.
type watchHandler Watched

// Print implements Handler.
func (h *watchHandler) Print(text []byte, ascii bool) {
	w := (*Watched)(h)
	w.print(text, ascii, w.t.stream.printed)
	if w.w.Print != nil {
		w.w.Print(text, w.position(w.t.stream.printed))
	}
}

// print shows text, which is at index i of the stream's text: in pieces that each
// lie in one row.
func (w *Watched) print(text []byte, ascii bool, i int) {
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
func (w *Watched) ascii(text []byte, i int) (n int) {
	t, s := w.t, w.t.screen
	if s.X >= s.Cols && t.modes.Autowrap {
		if s.Y == s.Bottom {
			w.scrolls(true)
		}
		t.wrap()
	}
	x := min(s.X, s.Cols-1)
	n = min(len(text), s.Cols-x)
	r := s.row()
	w.overwrites(s.Y, x)
	m := w.touch(r)
	if t.modes.Insert {
		copy(m.at[min(x+n, s.Cols):], m.at[x:])
	}
	begun := t.stream.printed
	t.stream.printed = i
	t.print(text[:n], true)
	t.stream.printed = begun
	at := w.position(i + 1)
	if w.fixed > 0 {
		for k := range n {
			m.at[x+k] = at
		}
		return n
	}
	for k := range n {
		m.at[x+k] = min(at+uint64(k), w.begun+uint64(w.size))
	}
	return n
}

// char prints one character of any width, which may join the one before.
func (w *Watched) char(text []byte, i int) (n int) {
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
			w.scrolls(true)
		} else {
			y = min(s.Y+1, s.Rows-1)
		}
		x = 0
	}
	w.overwrites(y, x)
	begun := t.stream.printed
	t.stream.printed = i
	t.print(text[:n], false)
	t.stream.printed = begun
	m := w.touch(s.row())
	if t.modes.Insert {
		copy(m.at[min(max(s.X, 0), s.Cols):], m.at[max(min(x, s.Cols), 0):])
	}
	for k := max(min(x, s.X-1), 0); k < min(s.X, s.Cols); k++ {
		m.at[k] = w.position(i + n)
	}
	return n
}

// touch notes that a row changes.
func (w *Watched) touch(r *row) *watchedRow {
	m := w.known(r)
	if !m.dirty {
		m.dirty = true
		w.dirty++
	}
	return m
}

// known is what is known of a row; it has room for all columns.
func (w *Watched) known(r *row) *watchedRow {
	m := r.watched
	if m == nil {
		m = &watchedRow{}
		r.watched = m
	}
	if n := w.t.screen.Cols; len(m.at) < n {
		m.at = append(m.at, make([]uint64, n-len(m.at))...)
	}
	return m
}

// overwrites tells of row y when what is printed from column x on takes away
// something that nobody was told of.
func (w *Watched) overwrites(y, x int) {
	r := w.t.screen.rows[y]
	if x >= r.used {
		return
	}
	if m := r.watched; m != nil && m.dirty {
		w.tell(y)
	}
}

// scrolls is called before the region moves up by a line. The row at its top goes
// to the history, or is gone. wrapping: a line goes on in the row that comes.
func (w *Watched) scrolls(wrapping bool) {
	s := w.t.screen
	r := s.rows[s.Top]
	m := r.watched
	if s != w.t.main || s.Top > 0 {
		if m != nil && m.dirty {
			w.tell(s.Top)
		}
		w.blank(r)
		return
	}
	goesOn := wrapping
	if s.Bottom > s.Top {
		goesOn = s.rows[1].wrapped
	}
	w.leaves(r, m, goesOn)
}

// leaves is scrolls for a row that goes to the history.
func (w *Watched) leaves(r *row, m *watchedRow, goesOn bool) {
	dirty := m != nil && m.dirty
	if w.w.Look == nil && !goesOn && !w.carried {
		if dirty {
			w.tell(0)
		}
		w.keep(r, m)
		return
	}
	if dirty {
		w.behind++
	}
	b := shownBuilder{line: w.carry, printed: len(w.carry.Text)}
	if !w.carried {
		b = shownBuilder{}
	}
	w.add(&b, r)
	if goesOn {
		b.goOn(w.t.screen.Cols, len(w.t.screen.rows) > 1 && w.t.screen.rows[1].beginsWide())
		w.carry, w.carried, w.carryDirty = b.line, true, w.carryDirty || dirty
	} else {
		if l := b.end(m.ends()); w.w.Look == nil && (dirty || w.carryDirty) {
			w.say(l)
		}
		w.carry, w.carried, w.carryDirty = Shown{}, false, false
	}
	w.keep(r, m)
	w.bound()
}

// keep moves what is known of a row to the history; the row comes back blank.
func (w *Watched) keep(r *row, m *watchedRow) {
	if len(w.past) >= 2*MaxSize {
		w.past = append(w.past[:0], w.past[MaxSize:]...)
	}
	var old watchedRow
	switch {
	case m == nil:
	case w.w.Cells || w.w.Look != nil:
		old.at, m.at = m.at, nil
	case r.used > 0:
		old.newest = m.at[min(r.used, len(m.at))-1]
	}
	w.past = append(w.past, old)
	w.blank(r)
}

// bound tells of what grows too long to be kept.
func (w *Watched) bound() {
	if w.w.Look != nil && w.behind >= LookEvery {
		w.Settle()
	}
	if len(w.carry.Text) <= maxShown {
		return
	}
	if w.carryDirty {
		w.say(w.carry)
	}
	cut := len(w.carry.Text) - keptShown
	for cut > 0 && w.carry.Text[cut]&0xc0 == 0x80 {
		cut--
	}
	w.carry.Text = append(w.carry.Text[:0], w.carry.Text[cut:]...)
	w.carry.At = append(w.carry.At[:0], w.carry.At[cut:]...)
	w.carryDirty = false
}

// blank notes that a row is blank now.
func (w *Watched) blank(r *row) {
	m := r.watched
	if m == nil {
		return
	}
	if m.dirty {
		m.dirty = false
		w.dirty--
	}
	m.erased = false
	clear(m.at)
}

// Control implements Handler.
func (h *watchHandler) Control(c rune) {
	w := (*Watched)(h)
	switch c {
	case '\n', '\v', '\f', 0x84, 0x85: // LF, VT, FF, IND, NEL
		w.index()
	}
	w.t.control(c)
	if w.w.Control != nil && (c == '\n' || c == '\r') {
		w.w.Control(c)
	}
}

// index is called before the cursor moves down a line.
func (w *Watched) index() {
	if s := w.t.screen; s.Y == s.Bottom {
		w.scrolls(false)
	}
}

// Escape implements Handler.
func (h *watchHandler) Escape(f function) {
	w := (*Watched)(h)
	switch f {
	case 'D', 'E':
		w.index()
		w.t.escape(f)
	case 'M', '#'*intermediate + '8':
		w.Settle()
		w.t.escape(f)
		w.swept()
		if f != 'M' {
			w.changed()
		}
	case 'c':
		w.Settle()
		w.t.escape(f)
		w.forget()
	default:
		w.t.escape(f)
	}
	w.moved()
}

// changed notes that all rows changed.
func (w *Watched) changed() {
	for _, r := range w.t.screen.rows {
		m := w.touch(r)
		for x := range m.at {
			m.at[x] = w.At()
		}
	}
}

// swept forgets what is known of rows that are blank now.
func (w *Watched) swept() {
	for _, r := range w.t.screen.rows {
		if r.cells == nil && len(r.text) == 0 {
			w.blank(r)
		}
	}
}

func (w *Watched) moved() {
	if w.w.Moved != nil {
		w.w.Moved()
	}
}

// CSI implements Handler.
func (h *watchHandler) CSI(f function) {
	w := (*Watched)(h)
	switch f {
	case 'm':
		w.t.csi(f)
		return
	case 'K', '?'*private + 'K', 'X', '@', 'P':
		w.edit(f)
	case 'J', '?'*private + 'J':
		w.eraseDisplay(f)
	case 'L', 'M', 'S', 'T':
		w.Settle()
		w.t.csi(f)
		w.swept()
	case ' '*intermediate + '@', ' '*intermediate + 'A', '\''*intermediate + '}', '\''*intermediate + '~':
		w.Settle()
		w.t.csi(f)
		w.changed()
	case 'b':
		w.repeat()
	case '?'*private + 'h', '?'*private + 'l':
		w.setModes(f)
	default:
		w.t.csi(f)
	}
	w.moved()
}

// edit is a function that changes cells of the cursor's row.
func (w *Watched) edit(f function) {
	s := w.t.screen
	r := s.row()
	if m := r.watched; m != nil && m.dirty {
		w.tell(s.Y)
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
	if x0 >= used {
		return
	}
	m := w.touch(r)
	m.erased = true
	for x := x0; x < min(x1, s.Cols); x++ {
		m.at[x] = w.At()
	}
}

// eraseDisplay is ED and DECSED.
func (w *Watched) eraseDisplay(f function) {
	s := w.t.screen
	w.Settle()
	x0, x1 := s.EraseColumns(w.t.stream.Param(0))
	r, used := s.row(), s.row().used
	w.t.csi(f)
	if w.t.stream.Param(0) == 3 {
		w.past = nil
		return
	}
	w.swept()
	if x0 >= used {
		return
	}
	m := w.touch(r)
	m.erased = true
	for x := x0; x < min(x1, s.Cols); x++ {
		m.at[x] = w.At()
	}
}

// repeat is REP; see Terminal.repeat.
func (w *Watched) repeat() {
	t, s := w.t, w.t.screen
	before := t.stream.before
	if before == 0 {
		t.repeat()
		return
	}
	text := append([]byte(nil), t.cellText(s.row(), s.X-before.width())...)
	n := t.stream.Times(s.Cols * len(s.rows))
	if len(text) == 0 {
		return
	}
	w.fixed = w.At()
	t.repeatText(text, n, func(text []byte) { w.print(text, len(text) == 1, 0) })
	w.fixed = 0
}

// setModes is DECSET and DECRST, which may show the other screen.
func (w *Watched) setModes(f function) {
	was := w.t.screen
	for i := range w.t.stream.Count() {
		if mode := w.t.stream.Param(i); mode == 47 || mode == 1047 || mode == 1049 {
			w.Settle()
		}
	}
	w.t.csi(f)
	if w.t.screen == was {
		return
	}
	for _, s := range []*screen{w.t.main, w.t.alt} {
		for _, r := range s.rows {
			if r.cells == nil && len(r.text) == 0 {
				w.blank(r)
			}
		}
	}
}

// OSC implements Handler.
func (h *watchHandler) OSC(text []byte) { (*terminalHandler)(h.t).OSC(text) }

// DCS implements Handler.
func (h *watchHandler) DCS(text []byte) { (*terminalHandler)(h.t).DCS(text) }
