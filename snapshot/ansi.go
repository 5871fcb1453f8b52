// Package snapshot turns a frozen screen (vt.Frame) into what others can use:
// the text that paints it in a fresh terminal (ANSI), plain text, JSON and
// HTML, and the file that keeps it over a restart (Encode, Decode, Compress).
//
// Every function here only reads its frame, so all of them may be called for
// one frame from many goroutines at once. A frame is never trusted: sizes,
// cursors and texts outside vt's limits are brought inside them, so that no
// frame, however it was made, leads to a panic or to an escape sequence that
// this package did not write on purpose.
package snapshot

import "github.com/evertty/evertty/vt"

// Options says what ANSI writes.
type Options struct {
	// Scrollback is the number of history lines before the screen: the last N,
	// all when negative, none when 0.
	Scrollback int
	// Dead says that the program behind the frame is gone. What it asked of the
	// input side (mouse, paste, focus, keypad, kitty keyboard, synchronized
	// output), its hidden cursor, margins, saved cursors, character sets, pen
	// and unfinished sequence are left out; what the screen shows stays.
	Dead bool
	// Engine says that the text is for one of our engines, which goes on with the
	// program's own bytes: it gets an unfinished sequence that viewers do not get
	// (vt.Withheld) too.
	Engine bool
}

// apply is the tidy frame f as the options want it, with the whole history.
func (o Options) apply(f *vt.Frame) *vt.Frame {
	if o.Dead {
		f = lifeless(f)
	}
	if !o.Engine && vt.Withheld(f.Pending) {
		g := *f
		g.Pending = nil
		return &g
	}
	return f
}

// ANSI returns the text that makes a fresh xterm.js 6 of f.Cols x f.Rows equal
// to f: both screens and the history with all attributes, links and wrap flags,
// and every state that the rest of the program's output depends on. The last
// bytes are f.Pending, so the output that follows f continues seamlessly.
//
// Written to any terminal it has no effect but the picture: it holds no query,
// no BEL, no clipboard write and no beginning of one. It begins with CAN (ECMA-48 8.3.6), which ends
// a sequence that the receiver was in the middle of, and it sets the cursor's
// visibility and LNM even when they are the default, because reset() of
// xterm.js 6 leaves both alone. It leaves changed colours alone too: when
// f.Palette is not nil, even if empty, all colours f does not set are restored.
// Titles f does not have are not touched.
//
// The order is forced by side effects: DECSTBM and DECOM home the cursor, DECSC
// needs pen and character set of its own, entering the alternate screen copies
// the background, character sets translate text, and only the very last
// character can be repeated by REP. The caller owns the result.
func ANSI(f *vt.Frame, o Options) []byte {
	p := painter{out: make([]byte, 0, estimate(f, lastLines(f.History, o.Scrollback)))}
	p.frame(o, f)
	return p.out
}

// frame paints all of f.
func (p *painter) frame(o Options, f *vt.Frame) {
	f = o.apply(tidy(f))
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
		p.open = onScreenLink(f)
	}
	if f.Open != nil && f.Open.Above {
		p.noted = openLink(f)
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
	p.openBelow(f)
	p.add("\x1b[?1047h\x1b[H")
	rows := rowsToPaint(f)
	p.open = onScreenLink(f)
	p.alternate, p.whole = true, true
	if p.edge(rows, 0).keepsStyle() {
		p.tabs(alt.Tabs, nil) // they may need a wrap that is pending in a row, which leaves no such cell
		p.add("\x1b[H")
		alt.Tabs = nil
	}
	p.lines(vt.Lines{}, rows)
	p.screenState(&alt, rows)
}

// lastLines is the end of history that a scrollback option selects.
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

// topKitty is what the keyboard stack alone puts in force.
func topKitty(f *vt.Frame) uint8 {
	stack := f.Active().Kitty
	if len(stack) == 0 {
		return 0
	}
	return stack[len(stack)-1]
}

// lifeless is f as it looks to people after its program ended. f is tidy.
func lifeless(f *vt.Frame) *vt.Frame {
	g := *f
	g.Modes = vt.DefaultModes()
	g.Modes.ReverseVideo = f.Modes.ReverseVideo
	g.Modes.AltScreen = f.Alt != nil
	g.Pen, g.Charsets, g.LastChar, g.LastDropped, g.CursorStyle, g.Pending, g.Hidden = vt.Style{}, vt.Charsets{}, 0, false,
		0, nil, nil
	g.Invoked, g.Extended, g.Open = 0, nil, nil
	g.Main = still(f.Main, f.Rows)
	if f.Alt != nil {
		alt := still(*f.Alt, f.Rows)
		g.Alt = &alt
	}
	return &g
}

// still is a screen without what only its program would use.
func still(s vt.Screen, rows int) vt.Screen {
	return vt.Screen{Lines: s.Lines, X: s.X, Y: s.Y, Bottom: rows - 1}
}
