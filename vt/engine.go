// Package vt is the headless terminal: bytes in, state out.
//
// It does no I/O, takes no lock and starts no goroutine. What a terminal is
// (Frame, Line, Style, Modes) and what an emulator has to do (Engine) is said
// here once; the emulators behind Engine live in this package (Terminal) and in
// the folders below it, and nothing outside vt knows which of them runs.
//
// Terminal, the native one, has three layers: a stream makes calls of a handler
// out of bytes, and the text for viewers on the way; core gives the calls their
// meaning; rows and history keep the cells. NewGridEngine makes another engine of
// the same layers and of cells that lie elsewhere.
//
// The judge of exactness is xterm.js 6, because it shows what we send. Where
// DEC, ECMA-48 or xterm differ from it, xterm.js wins.
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
	//   - queries the engine answered itself are cut out, so that no viewer
	//     answers a second time;
	//   - writes to the clipboard and window operations (xterm ctlseqs, XTWINOPS)
	//     are cut out: they would act on the viewer's own terminal;
	//   - counts that would freeze a viewer are clamped to the screen.
	// When the head of such a sequence left with an earlier Write, its tail is
	// replaced by CAN (ECMA-48 8.3.6), which makes every parser drop the head.
	//
	// p is not retained. The result may alias p or the engine's own memory and
	// is valid until the next call of Write.
	Write(p []byte) (text []byte)

	// Held is the number of bytes of an incomplete character that Write keeps
	// back, 0..3. They are part of what was written and not yet of the state.
	Held() int

	// AtRest tells whether nothing is unfinished: no sequence and no character. What a new engine makes of
	// the bytes that follow differs from what this one makes of them by the screen alone.
	AtRest() bool

	// Flush says that the rest of an incomplete character will not come: each of
	// the bytes held is one U+FFFD. The text is as that of Write, empty when no
	// byte was held. What is written next begins with a character of its own.
	Flush() (text []byte)

	// Resize changes the screen. Sizes are clamped to MinSize..MaxSize. exact
	// tells whether an xterm.js that resizes itself in the same place of the
	// stream is still equal to this engine; if not, viewers need a new snapshot.
	Resize(cols, rows int) (exact bool)

	// Modes is the cheap part of the state: what input has to know.
	Modes() Modes

	// Memory is what the state takes, in bytes: screens, history, styles with their
	// links, names, and what of the output is unfinished. It is cheap.
	Memory() int

	// Restore makes a new engine, which nothing was written to, be in the state of
	// f, exactly. It does nothing and returns false when it cannot: f has another
	// size or width table, lines that are wider, or the engine has no way to.
	// Then the text of a snapshot, written to the engine, comes close. f is as Freeze
	// makes one: everything in it is on the screen where Frame does not say otherwise.
	// Resume need not follow.
	Restore(f *Frame) bool

	// Resume takes over from f what no viewer shows and programs can ask for: the
	// modes of Modes.Unshown, OtherColors and SavedModes. An engine that goes on
	// from a snapshot of f calls it after the snapshot was written.
	Resume(f *Frame)

	// Freeze returns the whole state as an immutable Frame that shares nothing
	// mutable with the engine: the engine goes on while the frame is encoded.
	Freeze() *Frame
}

// Config says what a new engine is like.
type Config struct {
	Cols, Rows int     // clamped to MinSize..MaxSize
	Scrollback int     // lines of history, clamped to 0..MaxScrollback
	Unicode    Unicode // width table; "" means Unicode11
	// Memory bounds what the state takes, in bytes, clamped to MinMemory..MaxMemory;
	// 0 means DefaultMemory. The oldest lines of history go first, then links lose
	// their targets, then cells their marks and styles; the cells themselves stay.
	// Viewers are not told: they keep what they have until their next snapshot.
	Memory int
	// Effects receives what leaves the terminal besides its state. It may be
	// nil, and its fields may be set and reset between calls of Write.
	Effects *Effects
}

// EngineFunc makes an engine; every emulator offers one function of this type.
type EngineFunc func(Config) Engine

// Limits of every engine. They keep one terminal's memory and the cost of one
// sequence bounded, whatever a program prints.
const (
	MinSize           = 1        // columns, rows
	MaxSize           = 1000     // columns, rows: larger than any screen in use; 1000x1000 cells are 8 MB
	DefaultScrollback = 5000     // lines
	MaxScrollback     = 100_000  // lines: some 20 MB of packed text
	MaxString         = 64 << 10 // bytes kept of an OSC, DCS, APC, PM or SOS string; the rest is dropped
	MaxParams         = 32       // parameters of one control sequence, as in xterm.js
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

// Effects are the things that leave a terminal besides its state. Every field
// may be nil. Callbacks run inside Engine.Write, must return at once and must
// not call the engine. Byte slices are the callee's to keep.
type Effects struct {
	// Reply gets the answer to a query (DA, DSR, DECRQM, …). It holds only
	// constants and numbers, never text that a program stored.
	Reply func(p []byte)
	Bell  func()             // BEL in ground state (ECMA-48 8.3.3)
	Title func(title string) // OSC 0 and 2
	// Cwd gets the path of OSC 7 (file://host/path), OSC 1337 CurrentDir or OSC 633;P;Cwd.
	Cwd func(path string)
	// Clipboard gets a write by OSC 52, at most MaxClipboard bytes; selection is
	// made of the letters and digits "cpqs01234567", or empty. Reads are never
	// answered.
	Clipboard func(selection string, data []byte)
	Notify    func(n Notification) // OSC 9, OSC 777;notify
	Prompt    func(m Mark)         // OSC 133 and 633
}

// Notification is a message a program wants a person to see.
type Notification struct {
	Title string `json:"title,omitempty"`
	Body  string `json:"body"`
}

// Mark is a shell integration mark (OSC 133): 'A' prompt begins, 'B' prompt
// ended and the shell reads, 'C' command started, 'D' command finished.
type Mark struct {
	Kind byte
	Exit int // exit status with 'D'; -1 when not given
	// End is where the mark ends in the text of the Write that it came with, which
	// begins with the bytes held before: in bytes of UTF-8.
	End int
}
