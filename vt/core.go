package vt

// How a Terminal works, from the byte to the cell.
//
// stream turns output into actions without a meaning, with the VT500 state machine of parser, and
// at the same time builds the text for viewers. terminalHandler gives the actions to the Terminal:
// print.go shows characters, control.go executes C0, C1 and escape sequences, csi.go control
// sequences, labels OSC, and answers.go queries. Each sequence decides what viewers get where it is
// executed: Cut takes it out of their text, Replace and Precede change it. An unknown sequence is
// cut: a user's terminal might execute it, and nothing here could undo that.
//
// State lies where it changes. A screen has rows, cursor, margins, tab stops, saved cursor and
// keyboard stack, and there are two. The Terminal has one of everything else, in four parts
// (parts.go). Both screens share its meter and its styles.
//
// A row is text while it is written from left to right, as nearly all rows are. It becomes cells
// when something goes back into it. A cell and a run of text have the number of their style. Styles
// have no reference counts and are swept when there are many. A row that leaves the main screen at
// the top is packed into a Line and never changes again, so Freeze shares the history.
//
// Positions count from 0. X == Cols is a pending wrap. A saved row counts from the oldest line of
// history, so it has to follow when lines are dropped (forgetDropped).
//
// Two things bound what output can cost. The meter counts work (WriteSome). budget bounds memory:
// history goes first, then links, marks and styles (limitMemory).

// Held implements Engine.
func (t *Terminal) Held() int { return t.stream.Held() }

// Work implements Engine.
func (t *Terminal) Work() int { return t.stream.meter.done }

// TextDropped implements Engine.
func (t *Terminal) TextDropped() bool {
	dropped := t.stream.lost
	t.stream.lost = false
	return dropped
}

// AtRest implements Engine.
func (t *Terminal) AtRest() bool { return !t.stream.Open() }

// Modes implements Engine.
func (t *Terminal) Modes() Modes { return t.modes }

// base is the number of lines above the screen shown; a saved row counts them.
func (b *bufferSet) base() int {
	if b.screen == b.main {
		return b.hist.count
	}
	return 0
}

// forgetDropped adapts the saved row, which counts from the oldest line of history, to lines that
// went.
func (b *bufferSet) forgetDropped() {
	if n := b.hist.dropped; n > 0 {
		b.main.Dropped(n)
		b.hist.dropped = 0
	}
}

// status returns what programs can ask for.
func (x *executor) status() *status {
	s := x.screen
	return &status{
		Cols: s.Cols, Rows: s.Rows, X: min(s.X, s.Cols-1), Y: s.Y, Top: s.Top, Bottom: s.Bottom,
		Modes: x.modes, Pen: x.pen.Style(), CursorStyle: x.cursorStyle, Unicode: x.cfg.Unicode,
		Theme: x.labels.colors.themed(),
	}
}

// reply sends an answer to the program unless it is empty, and takes the sequence at hand out of
// the viewers' text.
func (x *executor) reply(answer []byte) {
	if len(answer) > 0 {
		x.cfg.Effects.reply(answer)
	}
	x.stream.Cut()
}

// penChanged forgets the numbers of the pen's styles.
func (b *bufferSet) penChanged() { b.styleKnown, b.blankKnown = false, false }

// osc executes an operating system command with this text.
func (x *executor) osc(text []byte) {
	if link, ok := x.labels.OSC(&x.stream, text, x.cfg.Effects); ok {
		x.pen.SetLink(link)
		x.linkChanged(link)
		x.penChanged()
	}
}

// dcs answers a device control string that is a query. Others do nothing: sixel images are
// consumed. Viewers get none.
func (x *executor) dcs(text []byte) {
	if answer := x.status().DCS(text); len(answer) > 0 {
		x.cfg.Effects.reply(answer)
	}
}

// SetTheme implements Engine.
func (t *Terminal) SetTheme(theme Theme) {
	if *t.labels.colors.themed() == theme {
		return
	}
	t.labels.colors.theme = new(theme)
	if t.modes.ColorReports {
		t.cfg.Effects.reply(theme.scheme())
	}
}
