package vt

// Engine is a headless terminal emulator.
//
// An Engine cannot fail: it accepts any bytes, split anywhere, and its state
// never depends on how they were split. It is not safe for concurrent use; its
// owner serialises all calls. Callbacks of Effects run inside Write.
type Engine interface {
	// Write applies the program's output p and returns the text that viewers
	// must receive so that an xterm.js which follows the stream stays equal to
	// this engine. The text is p with these differences:
	//   - a byte that is not UTF-8 is one U+FFFD;
	//   - the bytes of an incomplete character at the end (at most 3, see Held)
	//     wait for the next Write;
	//   - queries are cut out, so that no viewer answers a second time;
	//   - so is everything else that viewers do not show or a snapshot does not
	//     restore, known or not: nothing of it gets to a user's own terminal;
	//   - counts that would freeze a viewer are clamped to the screen.
	// When the head of such a sequence left with an earlier Write, its tail is
	// replaced by CAN (ECMA-48 8.3.6), which makes every parser drop the head.
	//
	// p is not retained. The result may alias p or the engine's own memory and
	// is valid until the next call of Write.
	Write(p []byte) (text []byte)

	// WriteSome is Write of the beginning of p: of n bytes, at least one unless p is
	// empty. It stops when about so many units of work are done, each a byte read or a
	// cell touched: a few nanoseconds. It stops behind a sequence, whose work comes on
	// top, and inside of one only when that is longer than work bytes. The engine counts
	// by itself: where it stops depends on nothing but p, work and the state. work is
	// at least 1.
	WriteSome(p []byte, work int) (text []byte, n int)

	// Work is how many units of work, as WriteSome counts them, were done so far.
	Work() int

	// TextDropped reports, once, that Write or WriteSome dropped text that viewers need:
	// the output since the last call would have become many times as much text. The state
	// is whole, and viewers need a new snapshot. Text that follows is what it would be.
	TextDropped() bool

	// Held is the number of bytes of an incomplete character that Write keeps
	// back, 0..3. They are part of what was written and not yet of the state.
	Held() int

	// AtRest reports whether no sequence is unfinished. Then the bytes that follow mean
	// the same to a new engine, behind what Held counts.
	AtRest() bool

	// Flush says that the rest of an incomplete character will not come: each of
	// the bytes held is one U+FFFD. The text is as Write's, empty when no byte was
	// held. The next Write begins with a character of its own.
	Flush() (text []byte)

	// Resize changes the screen. Sizes are clamped to MinSize..MaxSize. exact
	// reports whether an xterm.js that resizes itself in the same place of the
	// stream is still equal to this engine; if not, viewers need a new snapshot.
	Resize(cols, rows int) (exact bool)

	// SetTheme says which colours viewers draw where the program has set none: programs
	// that ask are told those. Under ?2031 another theme is reported (Effects.Reply).
	// A theme is no part of the state: a Frame has none.
	SetTheme(t Theme)

	// Modes returns the modes, which decide how input is encoded. It is cheap.
	Modes() Modes

	// Memory is the size of the state in bytes: screens, history, styles with their
	// links, names, and unfinished output. It is cheap.
	Memory() int

	// Restore puts a new engine, which nothing was written to, into the state of f,
	// exactly. It does nothing and returns false when it cannot: f has another size
	// or width table, lines that are wider, or the engine does not support it. Then the
	// text of a snapshot, written to the engine, comes close. f is as Freeze makes one:
	// its positions are on the screen where Frame does not say otherwise. Resume need
	// not follow.
	Restore(f *Frame) bool

	// Resume takes the state from f that no viewer shows and programs can ask for: the
	// modes of Modes.QueryOnly, OtherColors and SavedModes. Call it after the text of
	// a snapshot of f was written to the engine.
	Resume(f *Frame)

	// Restorable reports whether Restore of what Freeze returns makes this very state. It does not while the
	// alternate screen keeps cells that a change of size has cut off, which come back with the next one.
	Restorable() bool

	// Freeze returns the whole state as an immutable Frame that shares nothing
	// mutable with the engine: the engine goes on while the frame is encoded.
	Freeze() *Frame
}

// Config has the settings of a new engine.
type Config struct {
	Cols, Rows int     // clamped to MinSize..MaxSize
	Scrollback int     // lines of history, clamped to 0..MaxScrollback
	Unicode    Unicode // width table; "" means Unicode11
	// Memory bounds the size of the state in bytes, clamped to MinMemory..MaxMemory;
	// 0 means DefaultMemory. The oldest lines of history go first, then links lose
	// their targets, then cells their marks and styles; the cells themselves stay.
	// Viewers keep all of that until their next snapshot.
	Memory int
	// Guest says that viewers draw on a terminal of a person's own. They are asked for mouse
	// reports in cells (?1006) where the program asks for pixels (?1016), because their cells
	// have another size than CellWidth by CellHeight. Their history stays: they do not get
	// ED 3 (xterm ctlseqs), and in the place of RIS what resets the same one by one.
	Guest bool
	// Effects are the callbacks for everything else that output does. It may be
	// nil, and its fields may be set and reset between calls of Write.
	Effects *Effects
}

// EngineFunc makes an engine.
type EngineFunc func(Config) Engine

// Limits of every engine. They keep one terminal's memory and the cost of one
// sequence bounded, whatever a program prints.
const (
	MinSize           = 1        // columns, rows
	MaxSize           = 1000     // columns, rows: larger than any screen in use; 1000x1000 cells are 8 MB
	DefaultScrollback = 5000     // lines
	MaxScrollback     = 100_000  // lines: some 20 MB of packed text
	MaxString         = 64 << 10 // bytes kept of an OSC, DCS, APC, PM or SOS string; the rest is dropped
	maxParams         = 32       // parameters of one control sequence, as in xterm.js
	MaxHeld           = 3        // bytes of an incomplete UTF-8 character
)

// Clamped returns c with every field within its limits.
func (c Config) Clamped() Config {
	c.Cols = min(max(c.Cols, MinSize), MaxSize)
	c.Rows = min(max(c.Rows, MinSize), MaxSize)
	c.Scrollback = min(max(c.Scrollback, 0), MaxScrollback)
	if c.Memory == 0 {
		c.Memory = DefaultMemory
	}
	c.Memory = min(max(c.Memory, MinMemory), MaxMemory)
	if c.Unicode == "" {
		c.Unicode = Unicode11
	}
	if c.Effects == nil {
		c.Effects = &Effects{}
	}
	return c
}

// Unicode names the table that says how many cells a character takes. Server
// and viewer must use the same one; the snapshot event announces it.
type Unicode string

// The width tables a viewer can be asked to load.
const (
	Unicode11          Unicode = "11"           // xterm's addon-unicode11
	Unicode15Graphemes Unicode = "15-graphemes" // xterm's addon-unicode-graphemes
)
