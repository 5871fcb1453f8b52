package vt

// Terminal is the Engine that is exact for xterm.js 6. Make one with New. Only the
// screens are kept as cells; lines that scroll off are packed (Line) and never change
// again, so a Frame shares them.
//
// Where DEC, xterm and xterm.js differ it does what xterm.js does:
//   - SU drops the lines it scrolls off instead of keeping them as history.
//   - RIS leaves LNM, the title, the colours and the hidden cursor alone.
//   - DECRC restores position, pen and character set, neither origin mode nor a
//     pending wrap; the row it saved moves with the history; link, underline
//     style and underline colour stay as they are.
//   - Relative movements in origin mode count from the top margin.
//   - ED 1 to the last column ends the wrapping of a row counted from the oldest
//     line of history.
//   - SGR 59 makes the underline white.
//   - A combining mark joins only the character printed right before it; after a
//     control or sequence it takes a cell of its own.
//   - 8-bit controls are the characters U+0080 to U+009F, not bytes.
//
// For programs it adds to xterm.js: the kitty keyboard protocol,
// DECRQCRA, XTGETTCAP, XTVERSION, DECDSR, OSC 5 and 13 to 19, and CPR counts from
// the margin in origin mode as DEC's terminals do. XTSAVE, DECBI, DECFI, DECERA,
// DECFRA and DECSERA, and colours that are not red, green and blue, reach viewers as
// sequences that xterm.js knows.
//
// A string or control sequence longer than MaxString is void: it does nothing,
// and viewers do not get it. A hyperlink longer than 2083 bytes is none. A
// cell keeps at most 30 combining marks; viewers do not get more either.
type Terminal struct{ executor }

var _ EngineFunc = NewEngine

// NewEngine is New as an EngineFunc.
func NewEngine(c Config) Engine { return New(c) }

// New makes a terminal with a blank screen.
func New(c Config) *Terminal {
	c = c.Clamped()
	t := &Terminal{}
	t.cfg, t.modes, t.budget, t.hidden = c, DefaultModes(), newBudget(c.Memory), c.Rows
	t.styles, t.widths = newStyles(), widthsOf(c.Unicode)
	t.leads = t.widths.leads()
	t.hist.limit = c.Scrollback
	t.charsets.Reset()
	t.main = newScreen(c.Cols, c.Rows, &t.stream.meter)
	t.screen = t.main
	t.limitMemory()
	return t
}

// Write implements Engine.
func (t *Terminal) Write(p []byte) []byte { return inPieces(p, t.write) }

// WriteSome implements Engine.
func (t *Terminal) WriteSome(p []byte, work int) (text []byte, n int) {
	return t.write(p, max(work, 1))
}

// write is WriteSome without a bound when work is 0, of as much as the memory allows.
func (t *Terminal) write(p []byte, work int) (text []byte, n int) {
	p = p[:min(len(p), t.budget.Piece())]
	text, n = t.stream.WriteSome(p, work, (*terminalHandler)(&t.executor))
	t.settle()
	if t.budget.Written(n) {
		t.limitMemory()
	}
	return text, n
}

// Flush implements Engine.
func (t *Terminal) Flush() []byte { return t.stream.Flush((*terminalHandler)(&t.executor)) }

// Memory implements Engine.
func (t *Terminal) Memory() int { return t.otherMemory() + t.hist.memory() }

// terminalHandler is the handler of a Terminal's stream. Its methods are no methods of executor,
// else Terminal would export them.
type terminalHandler executor

// Print implements Handler.
func (h *terminalHandler) Print(text []byte, ascii bool) {
	x := (*executor)(h)
	x.settle()
	if ascii && x.printsRuns() {
		x.printASCII(text)
	} else {
		x.print(text, ascii)
	}
}

// Control implements Handler.
func (h *terminalHandler) Control(c rune) {
	(*executor)(h).settle()
	(*executor)(h).control(c)
}

// Escape implements Handler.
func (h *terminalHandler) Escape(f function) {
	if f != '6' && f != '9' { // DECBI and DECFI become a movement or a shift
		(*executor)(h).settle()
	}
	(*executor)(h).escape(f)
}

// CSI implements Handler.
func (h *terminalHandler) CSI(f function) {
	x := (*executor)(h)
	if f == 'm' { // the most frequent one
		x.settle()
		x.pen.SGR(&x.stream)
		x.penChanged()
		return
	}
	if f >= intermediate {
		if m := x.columnShift(f); m.n != 0 {
			x.shiftLater(m)
			return
		}
	}
	if x.late.n != 0 && !movesOnly(f) {
		x.shiftNow()
	}
	if do := controlSequences.of(f); do != nil {
		do(x)
	} else {
		x.query(f)
	}
}

// movesOnly reports whether f does nothing but to move the cursor.
func movesOnly(f function) bool {
	switch f {
	case 'A', 'B', 'C', 'D', 'G', 'H', 'd':
		return true
	}
	return false
}

// OSC implements Handler.
func (h *terminalHandler) OSC(text []byte) {
	(*executor)(h).settle()
	(*executor)(h).osc(text)
}

// DCS implements Handler.
func (h *terminalHandler) DCS(text []byte) {
	(*executor)(h).settle()
	(*executor)(h).dcs(text)
}

// penStyle is the number of the style of printed characters.
func (b *bufferSet) penStyle() uint32 {
	if !b.styleKnown {
		b.findStyle()
	}
	return b.styleNumber
}

// findStyle looks the style of the pen up.
func (b *bufferSet) findStyle() {
	if b.styles.full() {
		b.sweepStyles()
	}
	b.styleNumber, b.styleKnown = b.styles.intern(b.pen.key(&b.styles)), true
}

// blankStyle is the number of the style of erased cells: the pen's background and
// nothing else. Like penStyle it may number all styles anew, so hold no
// other number during the call.
func (b *bufferSet) blankStyle() uint32 {
	if b.pen.bg == 0 {
		return 0
	}
	if !b.blankKnown && b.styles.full() {
		b.sweepStyles()
	}
	return b.internBlank()
}

// internBlank is blankStyle but leaves all numbers as they are.
func (b *bufferSet) internBlank() uint32 {
	if b.pen.bg == 0 {
		return 0
	}
	if !b.blankKnown {
		b.blankNumber, b.blankKnown = b.styles.intern(newStyleKey(0, b.pen.bg, 0)), true
	}
	return b.blankNumber
}

// sweepStyles forgets unused styles.
func (b *bufferSet) sweepStyles() {
	b.stream.meter.Add(len(b.styles.list) + len(b.screens())*b.main.Cols*b.main.Rows)
	b.styles.sweep(loseNothing, b.screens()...)
	b.penChanged()
}
