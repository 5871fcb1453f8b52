package vt

import "fmt"

// Check is check for tests outside of the package.
func Check(e Engine) error { return e.(*Terminal).check() }

// check verifies what always holds between two calls of a Terminal's methods.
func (t *Terminal) check() error {
	screens := []*screen{t.main}
	if t.alt != nil {
		screens = append(screens, t.alt)
	}
	for i, s := range screens {
		if err := s.check(&t.styles); err != nil {
			return fmt.Errorf("screen %d: %w", i, err)
		}
		if s.Cols != t.cfg.Cols || len(s.rows) != t.cfg.Rows {
			return fmt.Errorf("screen %d is %dx%d in a terminal of %dx%d", i, s.Cols, len(s.rows), t.cfg.Cols,
				t.cfg.Rows)
		}
	}
	if (t.screen == t.alt) != t.modes.AltScreen || t.screen != t.main && t.screen != t.alt {
		return fmt.Errorf("shown screen and mode differ")
	}
	if t.styleKnown && int(t.styleNumber) >= len(t.styles.list) || t.blankKnown &&
		int(t.blankNumber) >= len(t.styles.list) {
		return fmt.Errorf("pen has style %d, background %d of %d", t.styleNumber, t.blankNumber, len(t.styles.list))
	}
	return t.hist.check(t.cfg.Cols)
}

func (s *screen) check(t *styles) error {
	if s.X < 0 || s.X > s.Cols+1 || s.Y < 0 || s.Y >= len(s.rows) {
		return fmt.Errorf("cursor %d,%d", s.X, s.Y)
	}
	if s.Rows != len(s.rows) {
		return fmt.Errorf("%d rows, not %d", len(s.rows), s.Rows)
	}
	if s.Top < 0 || s.Bottom >= len(s.rows) || s.Top > s.Bottom || len(s.tabs) <= s.Cols || len(s.kitty) > maxKitty {
		return fmt.Errorf("margins %d,%d, %d tabs, keyboard stack of %d", s.Top, s.Bottom, len(s.tabs), len(s.kitty))
	}
	for _, cells := range s.spare {
		if len(cells) != s.Cols {
			return fmt.Errorf("spare cells for %d columns", len(cells))
		}
		for _, c := range cells {
			if c != 0 {
				return fmt.Errorf("a spare cell is not blank")
			}
		}
	}
	seen := map[*row]bool{}
	for y, r := range s.rows {
		if seen[r] {
			return fmt.Errorf("row %d is there twice", y)
		}
		seen[r] = true
		if err := r.check(s.Cols, len(t.list)); err != nil {
			return fmt.Errorf("row %d: %w", y, err)
		}
	}
	return nil
}

func (r *row) check(cols, styles int) error {
	if r.used < 0 || r.used > cols {
		return fmt.Errorf("%d of %d columns used", r.used, cols)
	}
	if r.cells != nil {
		return r.checkCells(cols, styles)
	}
	sum, end := 0, 0
	for i, run := range r.runs {
		if run.cells == 0 || run.end < end || run.kind >= kinds || int(run.style) >= styles {
			return fmt.Errorf("run %d: %+v", i, run)
		}
		if text := r.text[end:run.end]; run.kind != Blank && cellsOf(run.kind, string(text)) != int(run.cells) {
			return fmt.Errorf("run %d: %q in %d cells", i, text, run.cells)
		}
		sum, end = sum+int(run.cells), run.end
	}
	if sum != r.used || end != len(r.text) || r.hidden() != nil {
		return fmt.Errorf("runs have %d cells and %d bytes, the row %d and %d", sum, end, r.used, len(r.text))
	}
	return nil
}

func (r *row) checkCells(cols, styles int) error {
	if len(r.cells) != cols || len(r.runs) > 0 || len(r.text) > 0 {
		return fmt.Errorf("%d cells, %d runs", len(r.cells), len(r.runs))
	}
	var clusters []string
	if r.rare != nil {
		clusters = r.rare.clusters
	}
	if len(clusters) > 2*cols+1 && r.hidden() == nil {
		return fmt.Errorf("%d clusters", len(clusters))
	}
	for x, c := range r.cells {
		if int(c.style()) >= styles || c&cellCluster != 0 && int(c&cellChar) >= len(clusters) ||
			c&(1<<cellStyle-1)>>25 != 0 {
			return fmt.Errorf("cell %d is %x", x, c)
		}
		if x >= r.used && c != 0 {
			return fmt.Errorf("cell %d is used", x)
		}
		if c.tail() && c.hasContent() || c.wide() && c&(cellTail|cellMark) != 0 {
			return fmt.Errorf("cell %d is %x", x, c)
		}
	}
	for i, c := range clusters {
		if len(c) > maxCluster {
			return fmt.Errorf("cluster %d has %d bytes", i, len(c))
		}
	}
	return nil
}

func (h *history) check(cols int) error {
	lines, bytes := 0, 0
	for i, b := range h.blocks {
		n := 0
		for rest := b.records()[b.begin():]; rest != ""; n++ {
			var l Line
			l, rest = cutRecord(rest)
			if _, err := ParseLine(l.packed, l.wrapped, cols); err != nil {
				return fmt.Errorf("history: block %d, line %d: %w", i, n, err)
			}
		}
		if n != b.lines || n == 0 {
			return fmt.Errorf("history: block %d has %d lines, not %d", i, n, b.lines)
		}
		lines, bytes = lines+n, bytes+b.room
		if b.full == nil && cap(b.data) != b.room {
			return fmt.Errorf("history: block %d has room for %d bytes, not %d", i, cap(b.data), b.room)
		}
	}
	if lines != h.count || lines > h.limit || bytes != h.bytes {
		return fmt.Errorf("history: %d lines and %d bytes, not %d of %d and %d", lines, bytes, h.count, h.limit,
			h.bytes)
	}
	return nil
}

// Work is the number of units of work that an engine has done, see Engine.WriteSome.
func Work(e Engine) int { return e.(*Terminal).stream.meter.done }

// Sequences are the controls and sequences that a terminal reads in text, by their names.
func Sequences(text string) []string {
	r := newRecorder()
	r.Write([]byte(text), silent{r})
	return r.log
}

// silent is a recorder of everything but text.
type silent struct{ *recorder }

func (silent) Print([]byte, bool) {}
