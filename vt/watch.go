package vt

import "unicode/utf8"

// Watcher is told what a Watched shows. Fields may be nil; what it is given is
// valid during the call only, and it must not write to the terminal.
type Watcher struct {
	// Line gets each line that was printed or changed, as it was before something
	// erases, overwrites or moves a part of it, and at Settle. So each text that was
	// shown at any moment is in one of them, but for what more of the same printing
	// was added to.
	Line func(Shown)
	// Look is called instead of Line, at the same moments, for those who look at
	// lines together. Lines of history since the last call are at most LookEvery.
	Look func()
	// Print gets the characters that are printed, and the position before them;
	// Control the controls CR and LF.
	Print   func(text []byte, from uint64)
	Control func(c rune)
	// Moved is called after modes or the screen shown may have changed.
	Moved func()
	// Cells: Lines has to know the position of each cell of the history.
	Cells bool
}

const (
	// LookEvery is how many lines leave the screen between two calls of Look.
	LookEvery = 200
	// maxShown bounds a line, in bytes; the beginning of a longer one is told, and
	// then only the end of that is kept, in bytes.
	maxShown  = 32 << 10
	keptShown = 4 << 10
)

// Watched is a Terminal that tells which text it shows at every moment. What it
// does to the screen is exactly what a Terminal does. It is not for concurrent
// use, and it costs some three times as much as a Terminal.
type Watched struct {
	t     *Terminal
	w     Watcher
	on    bool
	begun uint64 // position of the piece at hand
	size  int    // of the piece
	held  int    // bytes of a character before the piece
	done  uint64 // position behind all that was written
	fixed uint64 // position of what is printed, when it has one; else 0

	dirty  int // rows that changed since they were told
	behind int // lines of history that changed since Look
	carry  Shown
	// carried: carry is the beginning of the line of the first row; carryDirty: it
	// changed since it was told.
	carried, carryDirty bool
	past                []watchedRow // of the newest rows of history
	text                shownBuilder
}

// watchedRow is what is known of the cells of a row.
type watchedRow struct {
	at     []uint64
	newest uint64 // of at; in the history at is kept only where somebody needs it
	dirty  bool
	erased bool // something was erased in it
}

// ends has the positions behind the text of a row that is told, if any matter.
func (m *watchedRow) ends() []uint64 {
	if m == nil || !m.erased {
		return nil
	}
	return m.at
}

// NewWatched makes a terminal that nobody is told of yet.
func NewWatched(c Config) *Watched {
	t, _ := NewEngine(c).(*Terminal)
	return &Watched{t: t}
}

// Begin watches from position at on.
func (w *Watched) Begin(at uint64, what Watcher) {
	w.on, w.w, w.done = true, what, at
	w.behind = 0
	w.forget()
	if w.t.screen == w.t.main && w.t.main.rows[0].wrapped {
		w.carryHistory()
	}
}

// carryHistory takes the beginning of the first row's line from the history.
func (w *Watched) carryHistory() {
	const enough = 64 // rows
	rows := w.t.hist.freeze().Last(enough).Slice()
	first := len(rows)
	for first > 0 {
		first--
		if !rows[first].wrapped {
			break
		}
	}
	var b shownBuilder
	for _, r := range rows[first:] {
		b.row(nil)
		for s := range r.Spans() {
			b.span(s.Kind, s.Text, s.Cells)
		}
		b.goOn(w.t.main.Cols, false)
	}
	w.carry, w.carried = b.line, true
}

// Ask replaces what is told. Only changes from now on are told to the new one.
func (w *Watched) Ask(what Watcher) {
	w.w = what
	w.clean()
}

// At is the position behind what was handled last: inside a callback the sequence
// at hand.
func (w *Watched) At() uint64 {
	if w.size == 0 {
		return w.done
	}
	return w.position(w.t.stream.end)
}

// position is where index i of the stream's text is in the output.
func (w *Watched) position(i int) uint64 {
	if w.fixed > 0 {
		return w.fixed
	}
	return w.begun + uint64(min(max(i-w.held, 0), w.size))
}

// Modes is that of Engine.
func (w *Watched) Modes() Modes { return w.t.Modes() }

// Freeze is that of Engine.
func (w *Watched) Freeze() *Frame { return w.t.Freeze() }

// Held is that of Engine.
func (w *Watched) Held() int { return w.t.Held() }

// Flush says that the rest of an incomplete character will not come (see Engine).
func (w *Watched) Flush() {
	if !w.on {
		w.t.Flush()
		return
	}
	w.begun, w.size, w.held = w.done, 0, 0
	w.t.stream.Flush((*watchHandler)(w))
}

// Write applies output.
func (w *Watched) Write(p []byte) {
	if !w.on {
		w.t.Write(p)
		w.done += uint64(len(p))
		return
	}
	valid := sound(p[:len(p)-incomplete(p)])
	for len(p) > 0 {
		n := len(p)
		switch {
		case w.t.Held() > 0:
			n = 1
		case !valid:
			n = soundRun(p)
		}
		w.begun, w.size, w.held = w.done, n, w.t.Held()
		w.t.stream.Write(p[:n], (*watchHandler)(w))
		w.done += uint64(n)
		w.size = 0
		p = p[n:]
		if w.t.budget.Wrote(n) {
			w.t.weigh()
		}
	}
}

// soundRun is the length of the characters at the start of p, or of one byte that
// is none. So each piece of output is as long as its text.
func soundRun(p []byte) int {
	i := 0
	for i < len(p) {
		r, n := utf8.DecodeRune(p[i:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		i += n
	}
	return max(i, 1)
}

// Resize changes the size (see Engine). Lines that changed are told before.
func (w *Watched) Resize(cols, rows int) {
	if !w.on {
		w.t.Resize(cols, rows)
		return
	}
	w.Settle()
	w.t.Resize(cols, rows)
	w.forget()
}

// forget lets go of everything that is known of cells.
func (w *Watched) forget() {
	for _, s := range w.screens() {
		for _, r := range s.rows {
			r.watched = nil
		}
	}
	w.dirty, w.past = 0, nil
	w.carry, w.carried, w.carryDirty = Shown{}, false, false
}

// screens are those that there are.
func (w *Watched) screens() []*screen {
	if w.t.alt == nil {
		return []*screen{w.t.main}
	}
	return []*screen{w.t.main, w.t.alt}
}

// Settle tells of all lines that changed since they were told.
func (w *Watched) Settle() {
	if w.w.Look != nil {
		if w.dirty > 0 || w.carryDirty || w.behind > 0 {
			w.clean()
			w.w.Look()
		}
		return
	}
	if w.dirty == 0 && !w.carryDirty {
		return
	}
	s := w.t.screen
	if w.carryDirty && s == w.t.main {
		w.tell(0)
	}
	for y := 0; y < len(s.rows) && w.dirty > 0; y++ {
		if m := s.rows[y].watched; m != nil && m.dirty {
			w.tell(y)
		}
	}
	w.clean()
}

// clean notes that everything was told.
func (w *Watched) clean() {
	w.behind, w.carryDirty = 0, false
	if w.dirty == 0 {
		return
	}
	for _, s := range w.screens() {
		for _, r := range s.rows {
			if r.watched != nil {
				r.watched.dirty = false
			}
		}
	}
	w.dirty = 0
}

// tell tells of the line that row y is part of.
func (w *Watched) tell(y int) {
	if w.w.Look != nil {
		w.Settle()
		return
	}
	s := w.t.screen
	for y > 0 && s.rows[y].wrapped {
		y--
	}
	b := &w.text
	b.line.Text, b.line.At, b.line.Erased = b.line.Text[:0], b.line.At[:0], 0
	b.printed = 0
	if y == 0 && w.carried && s == w.t.main {
		b.line.Text, b.line.At = append(b.line.Text, w.carry.Text...), append(b.line.At, w.carry.At...)
		b.printed, w.carryDirty = len(b.line.Text), false
	}
	for ; ; y++ {
		m := w.add(b, s.rows[y])
		if m != nil && m.dirty {
			m.dirty = false
			w.dirty--
		}
		if y+1 == len(s.rows) || !s.rows[y+1].wrapped {
			w.say(b.end(m.ends()))
			return
		}
		b.goOn(s.Cols, s.rows[y+1].beginsWide())
	}
}

func (w *Watched) say(l Shown) {
	if w.w.Line != nil {
		w.w.Line(l)
	}
}

// add adds the cells of a row to a line.
func (w *Watched) add(b *shownBuilder, r *row) *watchedRow {
	m := r.watched
	b.row(nil)
	if m != nil {
		b.at = m.at
	}
	if r.cells == nil {
		r.addText(b)
	} else {
		r.addCells(b)
	}
	return m
}

// addText is add for a row in text form.
func (r *row) addText(b *shownBuilder) {
	from := 0
	for _, run := range r.runs {
		text := r.text[from:run.end]
		from = run.end
		switch run.kind {
		case ASCII:
			b.ascii(text)
		case Blank:
			b.blank(int(run.cells))
		default:
			b.span(run.kind, string(text), int(run.cells))
		}
	}
}

// addCells is add for a row in cell form.
func (r *row) addCells(b *shownBuilder) {
	var buf [maxCluster]byte
	for x := 0; x < r.used && x < len(r.cells); x++ {
		c := r.cells[x]
		switch {
		case c.orphan() && !c.hasContent():
			if x == 0 || !r.cells[x-1].wide() {
				b.blank(1)
			}
		case !c.hasContent():
			b.blank(1)
		case c.wide():
			b.char(r.appendChars(buf[:0], c), 2)
		default:
			b.char(r.appendChars(buf[:0], c), 1)
		}
	}
}

// positions are those of a row of history with so many columns.
func (m *watchedRow) positions(cols int) []uint64 {
	if m.at != nil || m.newest == 0 {
		return m.at
	}
	at := make([]uint64, cols)
	for x := range at {
		at[x] = m.newest
	}
	return at
}

// Lines returns the lines shown, after those of the last n rows of history.
func (w *Watched) Lines(n int) []Shown {
	history := w.t.hist.freeze().Last(n)
	if w.t.screen != w.t.main {
		history = Lines{}
	}
	rows := append(history.Slice(), w.t.Freeze().Active().Lines...)
	at := make([][]uint64, len(rows))
	old := history.Len()
	for i := range min(old, len(w.past)) {
		at[old-1-i] = w.past[len(w.past)-1-i].positions(w.t.screen.Cols)
	}
	for y, r := range w.t.screen.rows {
		if r.watched != nil {
			at[old+y] = r.watched.at
		}
	}
	return joinRows(rows, at, w.t.screen.Cols)
}

// BeforeCursor is what stands left of the cursor in its line.
func (w *Watched) BeforeCursor() Shown {
	f := w.t.Freeze()
	return beforeCursor(f.Active(), f.Cols, func(y int) []uint64 {
		if m := w.t.screen.rows[y].watched; m != nil {
			return m.at
		}
		return nil
	})
}
