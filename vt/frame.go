package vt

// Frame is the whole state of a terminal at one instant. Frames are immutable:
// nobody changes one after Freeze returned it, so they are shared freely
// between goroutines. An engine that does not track a part leaves its default.
type Frame struct {
	Cols, Rows int
	Unicode    Unicode
	History    Lines // scrolled-off lines of the main screen
	Main       Screen
	Alt        *Screen // the alternate screen while it is shown, else nil
	// Hidden is the alternate screen while it is not shown: its Saved and Kitty,
	// nothing else of it outlives being hidden. nil when it has neither.
	Hidden *Screen
	Modes  Modes

	// The pen of the active screen: what the next character gets.
	Pen      Style
	Charsets Charsets
	// Invoked is the final byte of the set that characters are printed in when that
	// is not Charsets.G[Charsets.GL]: xterm.js 6 restores the set itself with DECRC,
	// whatever is designated. 0 when it is the designated one.
	Invoked byte
	// Extended has the extended attributes when Pen does not imply them, after DECRC.
	Extended *ExtendedAttrs
	// Open is where xterm.js has noted the pen's link: nil for the cursor's row and for no link.
	Open *OpenLink
	// LastChar is the character REP (ECMA-48 8.3.103) would repeat; 0 for none.
	LastChar rune
	// LastDropped: what came last was a character of two columns that found one and did
	// not wrap. Marks that follow it are dropped too; viewers get nothing of them.
	LastDropped bool

	CursorStyle CursorStyle
	Title, Icon string          // OSC 2 and OSC 1
	Cwd         string          // path of OSC 7; "" when never reported
	CwdHost     string          // host of OSC 7, whose path Cwd is; "" when it named none
	Palette     map[uint8]Color // colours changed by OSC 4
	Foreground  Color           // OSC 10; default when unchanged
	Background  Color           // OSC 11
	CursorColor Color           // OSC 12
	// OtherColors are those that no viewer shows, and programs can ask for: 0 to 6
	// of OSC 13 to 19, 7 to 11 of OSC 5.
	OtherColors map[uint8]Color
	// SavedModes are the private modes that XTSAVE (xterm ctlseqs) keeps, by number.
	SavedModes map[int]bool

	// Pending holds the text of the escape sequence that is unfinished at this
	// instant, without the controls inside it that were executed already. A
	// viewer that gets it goes on with the rest of the stream as if it had seen
	// the beginning; of one that is Withheld viewers get nothing, only engines do.
	// Never more than MaxPending bytes and never half a character.
	Pending []byte
}

// Memory is what the frame takes, in bytes.
func (f *Frame) Memory() int {
	n := f.History.Size() + len(f.Title) + len(f.Icon) + len(f.Cwd) + len(f.CwdHost) + len(f.Pending) +
		len(f.Palette)*colorSize +
		f.Main.memory()
	if f.Alt != nil {
		n += f.Alt.memory()
	}
	return n
}

func (s *Screen) memory() int {
	n := len(s.Lines) * lineHeader
	for _, l := range s.Lines {
		n += l.Size()
	}
	return n
}

// lineHeader is what a Line takes besides its packed form, in bytes.
const lineHeader = 24

// Active is the screen that is shown.
func (f *Frame) Active() *Screen {
	if f.Alt != nil {
		return f.Alt
	}
	return &f.Main
}

// Screen is one of the two buffers of a terminal.
type Screen struct {
	Lines []Line // exactly Frame.Rows
	// X and Y are the cursor, from 0. PendingWrap: a character was printed in
	// the last column and the next one wraps first (the cursor shows on X).
	X, Y        int
	PendingWrap bool
	// Beyond: while the wrap was pending a character without width came that followed
	// nothing. xterm.js 6 moves the cursor by one more column then; only with PendingWrap.
	Beyond      bool
	Saved       SavedCursor
	Top, Bottom int // scroll region, rows from 0, both inside (DECSTBM)
	// Tabs are the columns of the tab stops, ascending; nil means every 8. There can
	// be some right of the screen, which count when it becomes wider.
	Tabs  []int
	Kitty []uint8 // kitty keyboard stack, oldest first; nil means empty
}

// ExtendedAttrs is the part of a pen that xterm.js 6 calls extended attributes: style
// and colour of the underline, and the link. DECSC does not save them. DECRC decides
// only whether they show, until the next change of one of them shows all.
type ExtendedAttrs struct {
	Underline            Underline
	UnderlineColor       Color
	Link                 Link
	Underlined, Extended bool // as in AttrFlags
}

// SavedCursor is what DECSC (VT510) keeps of a screen. X is a column of the
// screen. Y counts from its first row but can be off the screen: negative when
// the line went into the history, Rows or more when the screen became lower.
type SavedCursor struct {
	Set         bool // something was saved; else all is as after RIS
	X, Y        int
	PendingWrap bool
	Beyond      bool // as in a Screen
	Pen         Style
	Charsets    Charsets
	Origin      bool
	// FlagsDiffer has the flags that xterm.js 6 saved otherwise than Pen implies.
	FlagsDiffer AttrFlags
}

// AttrFlags are the two flags that xterm.js 6 saves of a pen's underline and link.
type AttrFlags uint8

// The bits of AttrFlags.
const (
	FlagUnderlined AttrFlags = 1 << iota // there is an underline
	FlagExtended                         // a style of underline or a link shows
)

// Flags returns the two flags of the saved pen as xterm.js has them.
func (c *SavedCursor) Flags() (underlined, extended bool) {
	underlined = c.Pen.Underline != UnderlineNone
	extended = underlined || c.Pen.Link != Link{}
	return underlined != (c.FlagsDiffer&FlagUnderlined != 0), extended != (c.FlagsDiffer&FlagExtended != 0)
}

// Charsets are the four designated sets and the one that GL invokes (ECMA-35,
// VT510 SCS). The final byte names a set: 'B' or 0 is ASCII, '0' DEC Special
// Graphics, 'A' United Kingdom, and so on.
type Charsets struct {
	G  [4]byte
	GL uint8 // 0..3
}

// CursorStyle is the parameter of DECSCUSR (VT510): 0 default, 1/2 block,
// 3/4 underline, 5/6 bar; odd ones blink.
type CursorStyle uint8

// Shape is the name of the form in the API.
func (s CursorStyle) Shape() string {
	switch s {
	case 3, 4:
		return "underline"
	case 5, 6:
		return "bar"
	}
	return "block"
}

// Blinks reports whether the cursor blinks; the default does not, as in xterm.js.
func (s CursorStyle) Blinks() bool { return s%2 == 1 }
