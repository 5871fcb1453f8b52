package vt

import (
	"slices"
	"unicode/utf8"
)

// TrackerHooks are the calls of a Tracker. Fields may be nil. Arguments are valid
// during the call only, and a hook must not write to the terminal.
type TrackerHooks struct {
	// Line gets each line that was printed or changed, in its state before something
	// erases, overwrites or moves a part of it, and at Report. So it gets each text
	// that was on the screen at any moment, alone or with text printed behind it.
	Line func(TextLine)
	// Changed is called in place of Line, at the same moments. The call after
	// MaxUnreported lines have gone to the history comes at once.
	Changed func()
	// Print gets the characters that are printed, and the position before them;
	// Control the controls CR and LF.
	Print   func(text []byte, from uint64)
	Control func(c rune)
	// Moved is called after modes or the screen shown may have changed.
	Moved func()
	// KeepOffsets has Lines return the position of each cell of the history.
	KeepOffsets bool
}

// keepsOffsets reports whether rows of history keep the positions of all their cells.
func (h *TrackerHooks) keepsOffsets() bool { return h.KeepOffsets || h.Changed != nil }

func (h *TrackerHooks) moved() {
	if h.Moved != nil {
		h.Moved()
	}
}

const (
	// MaxUnreported is how many lines leave the screen between two calls of Changed.
	MaxUnreported = 200
	// maxTextLine bounds a line, in bytes. Of a longer one Line gets the beginning,
	// and only its last keptTextLine bytes are kept.
	maxTextLine  = 32 << 10
	keptTextLine = 4 << 10
)

// Tracker is a Terminal that reports which text it shows at every moment, and where in
// the output each character was printed. Its screen is exactly a Terminal's. It is not
// for concurrent use, and writing to it takes some three times as long.
type Tracker struct {
	t     *Terminal
	hooks TrackerHooks
	on    bool
	begun uint64 // position of the piece at hand
	size  int    // of the piece
	held  int    // bytes of a character before the piece
	done  uint64 // position behind all output that was written
	fixed uint64 // position of characters that REP prints, else 0

	changedRows int // rows that changed since they were reported
	unreported  int // lines of history that changed since the last call of Changed
	prefix      TextLine
	// hasPrefix: prefix is the beginning of the first row's line, which is in the
	// history. prefixChanged: it changed since it was reported.
	hasPrefix, prefixChanged bool
	pastRows                 []trackedRow // of the newest rows of history
	text                     textLineBuilder
}

// trackedRow has the positions of the cells of a row.
type trackedRow struct {
	offsets []uint64
	newest  uint64 // of offsets; a row of history has offsets only when hooks need them
	changed bool
	erased  bool // something was erased in it
}

// ends has the positions of the row when cells behind its text were erased.
func (m *trackedRow) ends() []uint64 {
	if m == nil || !m.erased {
		return nil
	}
	return m.offsets
}

// NewTracker makes a terminal that reports nothing yet.
func NewTracker(c Config) *Tracker {
	return &Tracker{t: New(c)}
}

// Restore is Engine.Restore, of a Tracker that is new.
func (w *Tracker) Restore(f *Frame) bool { return w.t.Restore(f) }

// Begin tracks output from position at on.
func (w *Tracker) Begin(at uint64, what TrackerHooks) {
	w.on, w.hooks, w.done = true, what, at
	w.unreported = 0
	w.forget()
	if w.t.screen == w.t.main && w.t.main.rows[0].wrapped {
		w.prefixFromHistory()
	}
}

// prefixFromHistory takes the beginning of the first row's line from the history.
func (w *Tracker) prefixFromHistory() {
	const enough = 64 // rows
	rows := w.t.hist.freeze().Last(enough).Slice()
	first := len(rows)
	for first > 0 {
		first--
		if !rows[first].wrapped {
			break
		}
	}
	var b textLineBuilder
	for i, r := range rows[first:] {
		b.row(w.pastPositions(len(rows) - first - i))
		for s := range r.Spans() {
			b.span(s.Kind, s.Text, s.Cells)
		}
		b.continueRow(w.t.main.Cols, false)
	}
	w.prefix, w.hasPrefix = b.line, true
}

// SetHooks replaces the hooks. They get only later changes.
func (w *Tracker) SetHooks(what TrackerHooks) {
	w.hooks = what
	w.allReported()
}

// Offset is the position behind what was handled last: inside a callback the sequence
// at hand.
func (w *Tracker) Offset() uint64 {
	if w.size == 0 {
		return w.done
	}
	return w.offset(w.t.stream.end)
}

// offset is where index i of the stream's text is in the output.
func (w *Tracker) offset(i int) uint64 {
	if w.fixed > 0 {
		return w.fixed
	}
	return w.begun + uint64(min(max(i-w.held, 0), w.size))
}

// Modes is Engine.Modes.
func (w *Tracker) Modes() Modes { return w.t.Modes() }

// Freeze is Engine.Freeze.
func (w *Tracker) Freeze() *Frame { return w.t.Freeze() }

// Held is Engine.Held.
func (w *Tracker) Held() int { return w.t.Held() }

// Flush says that the rest of an incomplete character will not come (see Engine).
func (w *Tracker) Flush() {
	if !w.on {
		w.t.Flush()
		return
	}
	w.begun, w.size, w.held = w.done, 0, 0
	w.t.stream.Flush((*trackHandler)(w))
}

// Write applies output.
func (w *Tracker) Write(p []byte) {
	const all = 1 << 40 // units of work: more than any output costs
	for len(p) > 0 {
		p = p[w.WriteSome(p, all):]
	}
}

// WriteSome is Write of the first n bytes of p: it stops after so much work (see
// Engine.WriteSome), at least one byte later.
func (w *Tracker) WriteSome(p []byte, work int) (n int) {
	if !w.on {
		_, n = w.t.WriteSome(p, work)
		w.done += uint64(n)
		return n
	}
	valid := sound(p[:len(p)-incomplete(p)])
	for limit := w.t.stream.meter.done + work; n < len(p) && w.t.stream.meter.done < limit; {
		size := len(p) - n
		switch {
		case w.t.Held() > 0:
			size = 1
		case !valid:
			size = soundRun(p[n:])
		}
		w.begun, w.size, w.held = w.done, size, w.t.Held()
		_, size = w.t.stream.WriteSome(p[n:n+size], limit-w.t.stream.meter.done, (*trackHandler)(w))
		w.done += uint64(size)
		w.size = 0
		n += size
		if w.t.budget.Written(size) {
			w.t.limitMemory()
		}
	}
	return n
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

// forget removes the positions of all cells.
func (w *Tracker) forget() {
	for _, s := range w.t.screens() {
		for _, r := range s.rows {
			if r.rare != nil {
				r.rare.tracked = nil
			}
		}
	}
	w.changedRows, w.pastRows = 0, nil
	w.prefix, w.hasPrefix, w.prefixChanged = TextLine{}, false, false
}

// Report reports all lines that changed since they were reported.
func (w *Tracker) Report() {
	if w.hooks.Changed != nil {
		if w.changedRows > 0 || w.prefixChanged || w.unreported > 0 {
			w.allReported()
			w.t.stream.meter.Add(w.t.screen.Rows * w.t.screen.Cols)
			w.hooks.Changed()
		}
		return
	}
	if w.changedRows == 0 && !w.prefixChanged {
		return
	}
	s := w.t.screen
	w.t.stream.meter.Add(len(s.rows))
	if w.prefixChanged && s == w.t.main && w.prefixed() {
		w.reportRow(0)
	}
	for y := 0; y < len(s.rows) && w.changedRows > 0; y++ {
		if m := s.rows[y].tracked(); m != nil && m.changed {
			w.reportRow(y)
		}
	}
	w.allReported()
}

// allReported notes that everything was reported.
func (w *Tracker) allReported() {
	w.unreported, w.prefixChanged = 0, false
	if w.changedRows == 0 {
		return
	}
	for _, s := range w.t.screens() {
		for _, r := range s.rows {
			if r.tracked() != nil {
				r.tracked().changed = false
			}
		}
	}
	w.changedRows = 0
}

// prefixed reports whether the line in the first row begins in the history. Where that row was erased or moved since,
// the prefix is a line of its own, which is reported when it changed.
func (w *Tracker) prefixed() bool {
	if w.hasPrefix && !w.t.main.rows[0].wrapped {
		if w.prefixChanged && w.hooks.Changed == nil {
			w.reportLine(w.prefix)
		}
		w.prefix, w.hasPrefix, w.prefixChanged = TextLine{}, false, false
	}
	return w.hasPrefix
}

// reportRow reports the line that row y is part of.
func (w *Tracker) reportRow(y int) {
	if w.hooks.Changed != nil {
		w.Report()
		return
	}
	s := w.t.screen
	for y > 0 && s.rows[y].wrapped {
		y--
	}
	b := &w.text
	b.line.Text, b.line.Offsets, b.line.ErasedAt = b.line.Text[:0], b.line.Offsets[:0], 0
	b.printed = 0
	if y == 0 && s == w.t.main && w.prefixed() {
		b.line.Text, b.line.Offsets = append(b.line.Text, w.prefix.Text...), append(b.line.Offsets, w.prefix.Offsets...)
		b.printed, w.prefixChanged = len(b.line.Text), false
	}
	for ; ; y++ {
		s.rows[y].addTo(b)
		m := s.rows[y].tracked()
		if m != nil && m.changed {
			m.changed = false
			w.changedRows--
		}
		if y+1 == len(s.rows) || !s.rows[y+1].wrapped {
			w.reportLine(b.end(m.ends()))
			return
		}
		b.continueRow(s.Cols, s.rows[y+1].beginsWide())
	}
}

func (w *Tracker) reportLine(l TextLine) {
	w.t.stream.meter.Add(len(l.Text))
	if w.hooks.Line != nil {
		w.hooks.Line(l)
	}
}

// addTo adds the cells of the row to a line.
func (r *row) addTo(b *textLineBuilder) {
	b.row(nil)
	if r.tracked() != nil {
		b.offsets = r.tracked().offsets
	}
	if r.cells == nil {
		r.addText(b)
	} else {
		r.addCells(b)
	}
}

// addText is addTo for a row in text form.
func (r *row) addText(b *textLineBuilder) {
	from := 0
	for _, run := range r.runs {
		b.span(run.kind, asString(r.text[from:run.end]), int(run.cells))
		from = run.end
	}
}

// addCells is addTo for a row in cell form.
func (r *row) addCells(b *textLineBuilder) {
	var buf [maxCluster]byte
	for x, c := range r.cells[:min(r.used, len(r.cells))] {
		width := 1
		if c.wide() {
			width = 2
		}
		switch {
		case c.hasContent():
			b.char(asString(r.appendChars(buf[:0], c)), width)
		case !c.tail() || x == 0 || !r.cells[x-1].wide():
			b.blank(1)
		}
	}
}

// positions has the positions of a row of history with so many columns.
func (m *trackedRow) positions(cols int) []uint64 {
	if m.offsets != nil || m.newest == 0 {
		return m.offsets
	}
	return slices.Repeat([]uint64{m.newest}, cols)
}

// pastPositions has the positions of the n-th newest row of history, from 1; nil when they
// are unknown.
func (w *Tracker) pastPositions(n int) []uint64 {
	if n > len(w.pastRows) {
		return nil
	}
	return w.pastRows[len(w.pastRows)-n].positions(w.t.main.Cols)
}

// Lines returns the last n rows of history and the screen, as lines.
func (w *Tracker) Lines(n int) []TextLine {
	history := w.t.hist.freeze().Last(n)
	if w.t.screen != w.t.main {
		history = Lines{}
	}
	rows := append(history.Slice(), w.t.Freeze().Active().Lines...)
	at := make([][]uint64, len(rows))
	old := history.Len()
	for i := range min(old, len(w.pastRows)) {
		at[old-1-i] = w.pastPositions(i + 1)
	}
	for y, r := range w.t.screen.rows {
		if r.tracked() != nil {
			at[old+y] = r.tracked().offsets
		}
	}
	return joinRows(rows, at, w.t.screen.Cols)
}

// BeforeCursor returns the text left of the cursor in its line. ErasedAt is behind the cursor.
func (w *Tracker) BeforeCursor() TextLine {
	f := w.t.Freeze()
	s := f.Active()
	return beforeCursor(s, f.Cols, func(y int) []uint64 {
		if m := w.t.screen.rows[y].tracked(); m != nil {
			return m.offsets
		}
		return nil
	}, w.t.screen.rows[s.Y].tracked().ends())
}
