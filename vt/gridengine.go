package vt

import (
	"bytes"
	"unicode/utf8"
)

// gridEngine is an Engine whose cells lie in a Grid. Every character takes one
// cell, and a resize does not reflow.
type gridEngine struct {
	core

	newGrid   func(cols, rows int) Grid
	main, alt *gridScreen // alt is nil until it is first needed
	screen    *gridScreen // the one shown
	styles    *gridStyles
	packer    Packer

	// text and blank are the styles of printed and of erased cells, while styleKnown.
	text, blank StyleID
}

// NewGridEngine makes an engine out of grids, one for each screen. It has the
// parser, the modes, the replies and the limits of Terminal. What depends on cells
// is simpler: every character takes one cell, a resize does not reflow, and the
// kitty keyboard protocol, XTSAVE, DECBI, DECFI, the operations on rectangles and
// DECRQCRA are missing.
func NewGridEngine(c Config, newGrid func(cols, rows int) Grid) Engine {
	c = c.Clamped()
	e := &gridEngine{newGrid: newGrid, styles: newGridStyles()}
	e.main = e.newScreen(c.Cols, c.Rows)
	e.core.init(c, e, &e.main.cursor)
	e.unicode = "" // a character takes one cell
	e.show(e.main)
	e.limitMemory()
	return e
}

func (e *gridEngine) newScreen(cols, rows int) *gridScreen {
	return &gridScreen{
		cursor: newCursor(cols, rows), grid: e.newGrid(cols, rows), rows: make([]gridRow, rows), meter: &e.stream.meter,
	}
}

// show makes s the screen that is shown.
func (e *gridEngine) show(s *gridScreen) { e.screen, e.cur = s, &s.cursor }

// screens are the screens that there are.
func (e *gridEngine) screens() []*gridScreen {
	if e.alt == nil {
		return []*gridScreen{e.main}
	}
	return []*gridScreen{e.main, e.alt}
}

// Write implements Engine.
func (e *gridEngine) Write(p []byte) []byte { return inPieces(p, e.write) }

// WriteSome implements Engine.
func (e *gridEngine) WriteSome(p []byte, work int) (text []byte, n int) {
	return e.write(p, max(work, 1))
}

// write is WriteSome without a bound when work is 0, of as much as the memory allows.
func (e *gridEngine) write(p []byte, work int) (text []byte, n int) {
	p = p[:min(len(p), e.budget.Piece())]
	text, n = e.stream.WriteSome(p, work, (*gridHandler)(e))
	if e.budget.Written(n) {
		e.limitMemory()
	}
	return text, n
}

// Flush implements Engine.
func (e *gridEngine) Flush() []byte { return e.stream.Flush((*gridHandler)(e)) }

// Restore implements Engine. A Grid cannot be put into a state.
func (e *gridEngine) Restore(*Frame) bool { return false }

// Resume implements Engine. The engine saves no modes.
func (e *gridEngine) Resume(f *Frame) {
	e.modes.resume(f.Modes)
	e.labels.Resume(f)
}

// gridHandler is the handler of a gridEngine's stream.
type gridHandler gridEngine

// Print implements Handler.
func (h *gridHandler) Print(text []byte, ascii bool) { (*gridEngine)(h).print(text, ascii) }

// Control implements Handler.
func (h *gridHandler) Control(c rune) { h.control(c) }

// Escape implements Handler.
func (h *gridHandler) Escape(f function) { h.escape(f) }

// CSI implements Handler.
func (h *gridHandler) CSI(f function) { h.csi(f) }

// OSC implements Handler.
func (h *gridHandler) OSC(text []byte) { h.osc(text) }

// DCS implements Handler.
func (h *gridHandler) DCS(text []byte) { h.dcs(text) }

// print shows a run of characters, each one cell wide. ascii tells that every
// byte is one.
func (e *gridEngine) print(t []byte, ascii bool) {
	if !e.charsets.ASCII() {
		t, ascii = e.charsets.Translate(t), false
	}
	e.stream.Last, _ = utf8.DecodeLastRune(t)
	for len(t) > 0 {
		s := e.screen
		if s.X == s.Cols {
			if e.modes.Autowrap {
				e.wrap()
			} else {
				_, last := utf8.DecodeLastRune(t) // the others would be overwritten
				t, s.X = t[len(t)-last:], s.Cols-1
			}
		}
		n := min(len(t), s.Cols-s.X)
		size := n
		if !ascii {
			size, n = charactersOf(t, s.Cols-s.X)
		}
		if e.modes.Insert {
			s.insert(s.X, s.Y, n, ErasedStyle)
		}
		s.put(s.X, s.Y, t[:size], n, e.textStyle())
		s.X += n
		t = t[size:]
	}
}

// charactersOf measures the beginning of t: at most limit characters, n of them in
// size bytes.
func charactersOf(t []byte, limit int) (size, n int) {
	for size < len(t) && n < limit {
		_, w := utf8.DecodeRune(t[size:])
		size += w
		n++
	}
	return size, n
}

// wrap goes to the next line because a character does not fit (DECAWM, VT510).
func (e *gridEngine) wrap() {
	s := e.screen
	s.X = 0
	if s.Index() {
		e.scroll()
	}
	s.rows[s.Y].wrapped = true
}

// repeat implements cellEditor. Without a character before it nothing happens, and
// viewers do not get it either: theirs may know a character that a query cut from
// their text has made us forget.
func (e *gridEngine) repeat() {
	if e.stream.Last == 0 {
		e.stream.Cut()
		return
	}
	most := min(e.screen.Cols*e.screen.Rows, maxRepeated)
	if e.stream.Last >= utf8.RuneSelf || e.modes.Insert { // as a Terminal
		most = e.screen.Cols
	}
	n := e.stream.Times(most)
	e.print(bytes.Repeat([]byte(string(e.stream.Last)), n), false)
}

func (e *gridEngine) scroll() {
	s := e.screen
	if s == e.main && s.Top == 0 {
		e.keep(s.line(0, e.styles, &e.packer))
	}
	s.scrollUp(s.Top, s.Bottom, 1, e.blankStyle())
}

// keep makes a line the newest one of the history.
func (e *gridEngine) keep(l Line) {
	e.hist.push([]byte(l.packed), l.wrapped)
	e.forgetDropped()
}

func (e *gridEngine) scrollBack() { e.moveDown(e.screen.Top, e.screen.Bottom, 1, false) }

func (e *gridEngine) moveUp(top, bottom, n int) { e.screen.scrollUp(top, bottom, n, e.blankStyle()) }

func (e *gridEngine) moveDown(top, bottom, n int, plain bool) {
	style := ErasedStyle
	if !plain {
		style = e.blankStyle()
	}
	e.screen.scrollDown(top, bottom, n, style)
}

func (e *gridEngine) eraseCells(y, x0, x1 int, keep bool) {
	s := e.screen
	x1 = min(x1, s.Cols)
	from := x0
	for x := x0; x < x1 && keep; x++ {
		if _, style := s.grid.Cell(x, y); e.styles.entry(style).style.Attr&Protected != 0 {
			s.erase(y, from, x, e.blankStyle())
			from = x + 1
		}
	}
	s.erase(y, from, x1, e.blankStyle())
}

func (e *gridEngine) eraseRows(y0, y1 int, keep bool) {
	s := e.screen
	if !keep {
		s.eraseRows(y0, y1, e.blankStyle())
		return
	}
	for y := y0; y < y1; y++ {
		e.eraseCells(y, 0, s.Cols, true)
		s.rows[y].wrapped = false
	}
}

func (e *gridEngine) insertCells(y, x, n int) { e.screen.insert(x, y, n, e.blankStyle()) }
func (e *gridEngine) deleteCells(y, x, n int) { e.screen.remove(x, y, n, e.blankStyle()) }

func (e *gridEngine) wrapped(y int) bool             { return e.screen.rows[y].wrapped }
func (e *gridEngine) setWrapped(y int, wrapped bool) { e.screen.rows[y].wrapped = wrapped }

func (e *gridEngine) erased(x, y int) bool {
	_, style := e.screen.grid.Cell(x, y)
	return e.styles.entry(style).blank
}

func (e *gridEngine) beforeInsert(int, int, int) {} // no character takes two cells
func (e *gridEngine) clearHistory()              { e.hist.clear() }
func (e *gridEngine) linkChanged(Link)           {}
func (e *gridEngine) loseLink()                  {}
func (e *gridEngine) extraCSI(function) bool     { return false }
func (e *gridEngine) extraEscape(function) bool  { return false }

func (e *gridEngine) fillWithE(style Style) {
	s := e.screen
	line, id := bytes.Repeat([]byte("E"), s.Cols), e.styles.number(gridStyle{style: style})
	for y := s.Y; y < s.Rows; y++ {
		s.put(0, y, line, s.Cols, id)
		s.rows[y].wrapped = false
	}
}

// setAlt implements cellEditor. The alternate screen comes filled with the pen's
// background; the cursor goes along.
func (e *gridEngine) setAlt(on bool) {
	if on == (e.screen != e.main) {
		return
	}
	from := e.screen
	if on {
		if e.alt == nil {
			e.alt = e.newScreen(e.cfg.Cols, e.cfg.Rows)
		}
		e.show(e.alt)
		e.alt.eraseRows(0, e.alt.Rows, e.blankStyle())
	} else {
		e.show(e.main)
		from.eraseRows(0, from.Rows, ErasedStyle)
		from.Reset()
	}
	e.screen.X, e.screen.Y = from.X, from.Y
	e.modes.AltScreen = on
}

func (e *gridEngine) clearScreens() {
	e.show(e.main)
	for _, s := range e.screens() {
		s.eraseRows(0, s.Rows, ErasedStyle)
		s.cursor = newCursor(e.cfg.Cols, e.cfg.Rows)
	}
}

// textStyle is the style of the next character.
func (e *gridEngine) textStyle() StyleID {
	e.numberPen()
	return e.text
}

// blankStyle is the style of cells that are erased: only the background of the pen.
func (e *gridEngine) blankStyle() StyleID {
	e.numberPen()
	return e.blank
}

func (e *gridEngine) numberPen() {
	if e.styleKnown {
		return
	}
	if e.styles.full() {
		e.stream.meter.Add(len(e.styles.list) + len(e.screens())*e.main.Cols*e.main.Rows)
		e.styles.sweep(e.screens()...)
	}
	s := e.pen.Style()
	e.text, e.blank, e.styleKnown = plainStyle, ErasedStyle, true
	if s != (Style{}) {
		e.text = e.styles.number(gridStyle{style: s})
	}
	if s.BG != 0 {
		e.blank = e.styles.number(gridStyle{Style{BG: s.BG}, true})
	}
}
