// Package snapshot turns a frozen screen (vt.Frame) into text, JSON, HTML and files.
//
// ANSI returns the text that rebuilds the frame in an empty terminal. Text, JSON and HTML are
// the same screen for people and programs. Options.Write, WriteText, WriteJSON and WriteHTML write
// these to an io.Writer piece by piece. Encode and Decode are the file that outlives a server;
// Compress makes it smaller. Differences compares two frames.
//
// Functions only read their frame, so any number of goroutines may use one frame at once. A
// frame need not be valid: sizes, cursors and texts outside the limits of vt are brought inside
// them. No frame leads to a panic or to an escape sequence that this package does not write on
// purpose.
package snapshot

import "github.com/evertty/evertty/vt"

// Options selects what ANSI writes. The zero value writes the screen of a running program
// without history.
type Options struct {
	// Scrollback is the number of history lines before the screen, the newest ones: all when
	// negative, none when 0.
	Scrollback int
	// Ended says that the program behind the frame has ended. Its input modes (mouse, paste,
	// focus, keypad, kitty keyboard, synchronized output), hidden cursor, margins, saved cursors,
	// character sets, pen and unfinished sequence are left out. The visible screen stays.
	Ended bool
	// Engine says that an engine of this module reads the text and then the program's own
	// bytes. It gets unfinished sequences that viewers do not get (vt.Withheld).
	Engine bool
}

// apply returns the normalized frame f as the options want it, with the whole history.
func (o Options) apply(f *vt.Frame) *vt.Frame {
	if o.Ended {
		f = withoutProgram(f)
	}
	if !o.Engine && vt.Withheld(f.Pending) {
		g := *f
		g.Pending = nil
		return &g
	}
	return f
}

// ANSI returns the text that makes a fresh xterm.js 6 of f.Cols x f.Rows equal to f: both
// screens and the history with all attributes, links and wrap flags, and every state on which
// later output depends. It ends with f.Pending, so the output after f continues seamlessly.
// The caller owns the result.
//
// The text changes only the picture: it has no query, no BEL and no clipboard write, and no
// beginning of one. It begins with CAN (ECMA-48 8.3.6), which ends a sequence that the receiver
// has begun. It sets the cursor's visibility and LNM even to their defaults, because reset() of
// xterm.js 6 keeps both. reset() also keeps changed colours: unless f.Palette is nil, the text
// restores all colours that f does not set. Titles that f does not have stay as they are.
//
// Side effects force the order: DECSTBM and DECOM home the cursor, DECSC needs a pen and a
// character set of its own, entering the alternate screen copies the background, character
// sets translate text, and REP repeats only the very last character.
func ANSI(f *vt.Frame, o Options) []byte {
	out := make([]byte, 0, estimate(f, lastLines(f.History, o.Scrollback)))
	p := painter{linePainter{ansiWriter: ansiWriter{out: out}}}
	p.frame(o, f)
	return p.out
}

// painter paints a frame: lines with a linePainter, and the state of screens and terminal around
// them.
type painter struct{ linePainter }

// frame paints all of f.
func (p *painter) frame(o Options, f *vt.Frame) {
	f = o.apply(normalize(f))
	history := lastLines(f.History, o.Scrollback)
	p.cols, p.rows, p.whole = f.Cols, f.Rows, history.Len() == f.History.Len()
	p.clusters = f.Unicode == vt.Unicode15Graphemes
	p.add("\x18")
	how, early := recalledBelow(f)
	saved := early || savedBehindErased(f)
	switch {
	case f.Hidden != nil:
		p.hidden(f.Hidden)
	case saved:
		p.hidden(&vt.Screen{Saved: f.Alt.Saved})
	}
	main := f.Main.Lines
	if f.Alt == nil {
		main = rowsToPaint(f)
	}
	p.scrolledOff(&f.Main.Saved, history.Len())
	p.lines(history, main)
	p.screenState(&f.Main, main)
	if f.Alt != nil {
		p.paintAlternate(f, how, early, saved)
	}
	if f.Modes.Kitty != topKitty(f) {
		p.kitty('=', f.Modes.Kitty)
	}
	p.modes(&f.Modes, f.CursorStyle)
	p.titles(f)
	p.colours(f)
	p.finish(f)
	p.out = append(p.out, f.Pending...)
}

// paintAlternate enters the alternate screen and paints it. early: the pen and the character
// sets of f have to be recalled before. saved: its saved cursor is there already.
func (p *painter) paintAlternate(f *vt.Frame, how *recalling, early, saved bool) {
	alt := *f.Alt
	if early {
		p.recall(f, how, 0)
		p.locked = f.Extended != nil
		p.set = f.Invoked
	}
	if saved {
		alt.Saved = vt.SavedCursor{}
	}
	p.moveTo(f.Main.X, f.Main.Y)
	p.setPen(vt.Style{})
	p.add("\x1b[?1047h\x1b[H")
	rows := rowsToPaint(f)
	p.alternate, p.whole = true, true
	if p.edge(rows, 0).keepsStyle() {
		p.tabs(alt.Tabs, nil) // they may need a wrap that is pending in a row, which leaves no such cell
		p.add("\x1b[H")
		alt.Tabs = nil
	}
	p.lines(vt.Lines{}, rows)
	p.screenState(&alt, rows)
}

// lastLines returns the lines of history that a scrollback option selects.
func lastLines(history vt.Lines, scrollback int) vt.Lines {
	if scrollback < 0 {
		return history
	}
	return history.Last(scrollback)
}

// estimate is the number of bytes to reserve: the packed text is close to the
// text sent, and each line adds its line feed.
func estimate(f *vt.Frame, history vt.Lines) int {
	n := 512 + len(f.Pending) + len(f.Title) + len(f.Icon) + history.Size() + 2*history.Len()
	for _, l := range f.Main.Lines {
		n += l.Size() + 2
	}
	if f.Alt != nil {
		for _, l := range f.Alt.Lines {
			n += l.Size() + 2
		}
	}
	return n + n/8
}

// topKitty returns the flags at the top of the keyboard stack, 0 when it is empty.
func topKitty(f *vt.Frame) uint8 {
	stack := f.Active().Kitty
	if len(stack) == 0 {
		return 0
	}
	return stack[len(stack)-1]
}

// withoutProgram returns the normalized frame f as people see it after its program has ended.
func withoutProgram(f *vt.Frame) *vt.Frame {
	g := *f
	g.Modes = vt.DefaultModes()
	g.Modes.ReverseVideo = f.Modes.ReverseVideo
	g.Modes.AltScreen = f.Alt != nil
	g.Pen, g.Extended, g.Open, g.Pending, g.Hidden = vt.Style{}, nil, nil, nil, nil
	g.Charsets, g.Invoked, g.LastChar, g.LastDropped, g.CursorStyle = vt.Charsets{}, 0, 0, false, 0
	g.Main = screenWithoutProgram(f.Main, f.Rows)
	if f.Alt != nil {
		alt := screenWithoutProgram(*f.Alt, f.Rows)
		g.Alt = &alt
	}
	return &g
}

// screenWithoutProgram returns s without the state that only its program uses.
func screenWithoutProgram(s vt.Screen, rows int) vt.Screen {
	return vt.Screen{Lines: s.Lines, X: s.X, Y: s.Y, Bottom: rows - 1}
}
