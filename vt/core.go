package vt

// How a Terminal works, from the byte to the cell.
//
// stream turns output into actions without a meaning, with the VT500 state machine of parser, and at the same
// time builds the text for viewers. terminalHandler gives the actions to the Terminal: print.go shows
// characters, control.go executes C0, C1 and escape sequences, csi.go control sequences, labels OSC, and
// answers.go whatever is a query. What a sequence does to viewers is decided where it is executed: Cut takes
// it out of their text, Replace and Precede change it. A sequence that nobody knows is cut: what is not
// understood here cannot be taken back in a user's terminal.
//
// State lies where it changes. A screen has rows, cursor, margins, tab stops, saved cursor and keyboard stack,
// and there are two. The Terminal has one of everything else: modes, pen, character sets, labels, styles and
// history. Both screens share its meter and its styles.
//
// A row is text while it is written from left to right, which is how nearly all rows are written, and becomes
// cells when something goes back into it. A cell and a run of text have the number of their style; styles are
// counted by nobody and swept when there are many. A row that leaves the main screen at the top is packed into
// a Line and never changes again, so Freeze shares the history.
//
// Positions count from 0. X == Cols is a pending wrap. A saved row counts from the oldest line of history, so
// it has to follow when lines are dropped (forgetDropped).
//
// Two things bound what output can cost. The meter counts work (WriteSome). budget bounds memory: history
// goes first, then links, marks and styles (limitMemory).

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
func (t *Terminal) base() int {
	if t.screen == t.main {
		return t.hist.count
	}
	return 0
}

// forgetDropped adapts the saved row, which counts from the oldest line of history, to lines that went.
func (t *Terminal) forgetDropped() {
	if n := t.hist.dropped; n > 0 {
		t.main.Dropped(n)
		t.hist.dropped = 0
	}
}

// status returns what programs can ask for.
func (t *Terminal) status() *status {
	s := t.screen
	return &status{
		Cols: s.Cols, Rows: s.Rows, X: min(s.X, s.Cols-1), Y: s.Y, Top: s.Top, Bottom: s.Bottom,
		Modes: t.modes, Pen: t.pen.Style(), CursorStyle: t.cursorStyle, Unicode: t.cfg.Unicode,
		Theme: &t.labels.colors.theme,
	}
}

// reply sends an answer to the program unless it is empty, and takes the sequence at hand out of the viewers'
// text.
func (t *Terminal) reply(answer []byte) {
	if len(answer) > 0 {
		t.cfg.Effects.reply(answer)
	}
	t.stream.Cut()
}

// penChanged forgets the numbers of the pen's styles.
func (t *Terminal) penChanged() { t.styleKnown, t.blankKnown = false, false }

// osc executes an operating system command with this text.
func (t *Terminal) osc(text []byte) {
	if link, ok := t.labels.OSC(&t.stream, text, t.cfg.Effects); ok {
		t.pen.SetLink(link)
		t.linkChanged(link)
		t.penChanged()
	}
}

// dcs answers a device control string that is a query. Others do nothing: sixel images are consumed. Viewers
// get none.
func (t *Terminal) dcs(text []byte) {
	if answer := t.status().DCS(text); len(answer) > 0 {
		t.cfg.Effects.reply(answer)
	}
}

// SetTheme implements Engine.
func (t *Terminal) SetTheme(theme Theme) {
	if t.labels.colors.theme == theme {
		return
	}
	t.labels.colors.theme = theme
	if t.modes.ColorReports {
		t.cfg.Effects.reply(theme.scheme())
	}
}
