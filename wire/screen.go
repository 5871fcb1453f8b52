package wire

// The forms of a snapshot in a reply. ScreenANSI has its text as `data`, ScreenJSON is the whole object, another one
// has its text under the form's name.
const (
	FormatANSI = "ansi" // what rebuilds the screen on a fresh terminal of its size
	FormatText = "text" // plain lines
	FormatJSON = "json" // cells, styles, modes
	FormatHTML = "html" // a page fragment
)

// ScreenFormats are all forms, and Screens the replies in them.
var (
	ScreenFormats = []string{FormatANSI, FormatText, FormatJSON, FormatHTML}
	Screens       = []any{ScreenANSI{}, ScreenText{}, ScreenJSON{}, ScreenHTML{}}
)

// GetSnapshot asks for the screen and its history.
type GetSnapshot struct {
	TerminalRef
	// Form of the reply.
	Format string `json:"-" query:"format" enum:"ansi,text,json,html" default:"ansi"`
	Lines
}

// ScreenANSI makes a fresh xterm.js 6 of that size equal to the terminal: history, screen, modes,
// cursor, and at the end the bytes of an unfinished escape sequence. It contains no query and rings
// no bell.
//
//schema:examples [{"data": "\u0018$ echo hello\r\nhello\r\n$ \u001b[20l\u001b[?25h\u001b[3;3H",
//schema:and "cols": 80, "rows": 24, "seq": 31}]
type ScreenANSI struct {
	// Text with escape sequences, for write().
	Data string `json:"data"`
	// Columns of the screen, in cells.
	Cols int `json:"cols" minimum:"1" maximum:"1000"`
	// Rows of the screen, in cells.
	Rows int `json:"rows" minimum:"1" maximum:"1000"`
	// Position: output bytes of the terminal, counted from 0 at its creation, that are part of this.
	Seq uint64 `json:"seq" minimum:"0"`
}

// ScreenText is the screen as plain text.
type ScreenText struct {
	// History and screen, a line feed after each line, blanks at the end of a line cut off; no
	// escape sequence.
	Text string `json:"text"`
	// Columns of the screen, in cells.
	Cols int `json:"cols" minimum:"1" maximum:"1000"`
	// Rows of the screen, in cells.
	Rows int `json:"rows" minimum:"1" maximum:"1000"`
	// Position: output bytes of the terminal, counted from 0 at its creation, that are part of this.
	Seq uint64 `json:"seq" minimum:"0"`
}

// ScreenHTML is the screen for a web page.
type ScreenHTML struct {
	// One `pre` element with inline styles: no script, no style sheet, all text escaped, links only
	// to http, https and mailto.
	HTML string `json:"html"`
	// Columns of the screen, in cells.
	Cols int `json:"cols" minimum:"1" maximum:"1000"`
	// Rows of the screen, in cells.
	Rows int `json:"rows" minimum:"1" maximum:"1000"`
	// Position: output bytes of the terminal, counted from 0 at its creation, that are part of this.
	Seq uint64 `json:"seq" minimum:"0"`
}

// ScreenJSON is the screen with every cell's style. Columns and rows count from 0.
type ScreenJSON struct {
	// Columns of the screen, in cells.
	Cols int `json:"cols" minimum:"1" maximum:"1000"`
	// Rows of the screen, in cells.
	Rows   int    `json:"rows" minimum:"1" maximum:"1000"`
	Cursor Cursor `json:"cursor"`
	// Title the program set; "" when none.
	Title string `json:"title"`
	// Whether the alternate screen is shown.
	Alt          bool         `json:"alt"`
	Modes        Modes        `json:"modes"`
	ScrollRegion ScrollRegion `json:"scroll_region"`
	// The rows of the screen from top to bottom, as many as `rows`.
	Lines []Line `json:"lines"`
	// The history above the screen, oldest first, as much as was asked for.
	Scrollback []Line `json:"scrollback"`
	// Position: output bytes of the terminal, counted from 0 at its creation, that are part of this.
	Seq uint64 `json:"seq" minimum:"0"`
}

// ScrollRegion are the rows that scroll (DECSTBM), both included, from 0.
type ScrollRegion struct {
	// First row.
	Top int `json:"top" minimum:"0" maximum:"999"`
	// Last row.
	Bottom int `json:"bottom" minimum:"0" maximum:"999"`
}

// Cursor is the cursor.
type Cursor struct {
	// Column, from 0.
	X int `json:"x" minimum:"0" maximum:"999"`
	// Row of the screen, from 0.
	Y int `json:"y" minimum:"0" maximum:"999"`
	// Whether it shows (DECTCEM).
	Visible bool `json:"visible"`
	// Its form (DECSCUSR).
	Style string `json:"style" enum:"block,underline,bar"`
	// Whether it blinks.
	Blink bool `json:"blink"`
	// Whether a character stands in the last column and the next one wraps first.
	PendingWrap bool `json:"pending_wrap"`
}

// Modes are the modes of the terminal.
type Modes struct {
	// Cursor keys send SS3 (DECCKM).
	ApplicationCursor bool `json:"application_cursor"`
	// The keypad sends SS3 (DECKPAM).
	ApplicationKeypad bool `json:"application_keypad"`
	// Rows count from the scroll region (DECOM).
	Origin bool `json:"origin"`
	// Text wraps at the last column (DECAWM); true at the start.
	Autowrap bool `json:"autowrap"`
	// Backspace goes to the line above (?45).
	ReverseWrap bool `json:"reverse_wrap"`
	// Printing moves what follows (IRM).
	Insert bool `json:"insert"`
	// A line feed also returns (LNM).
	Linefeed bool `json:"linefeed"`
	// Foreground and background are exchanged (DECSCNM).
	ReverseVideo bool `json:"reverse_video"`
	// Pastes are bracketed (?2004).
	BracketedPaste bool `json:"bracketed_paste"`
	// Focus changes are reported (?1004).
	FocusEvents bool `json:"focus_events"`
	// Mouse events the program wants: none, presses (?9), presses and releases (?1000), also drags
	// (?1002), also moves (?1003).
	Mouse string `json:"mouse" enum:"none,x10,normal,button,any"`
	// How mouse events are sent: ?1005, ?1006, ?1015, ?1016.
	MouseEncoding string `json:"mouse_encoding" enum:"default,utf8,sgr,urxvt,sgr_pixels"`
	// The program is in the middle of a frame (?2026).
	SynchronizedOutput bool `json:"synchronized_output"`
	// Flags of the kitty keyboard protocol in force.
	KittyKeyboard int `json:"kitty_keyboard" minimum:"0" maximum:"31"`
}

// Line is one line of cells.
type Line struct {
	// Whether it continues the line above (autowrap).
	Wrapped bool `json:"wrapped"`
	// Its characters, blanks at the end cut off.
	Text string `json:"text"`
	// The cells from left to right, up to the last one that is not a blank of the default style.
	Runs []Run `json:"runs"`
}

// Run has neighbouring cells of one style.
type Run struct {
	// Their characters; an erased cell is a space.
	Text string `json:"text"`
	// Columns they take.
	Cells int   `json:"cells" minimum:"1" maximum:"1000"`
	Fg    Color `json:"fg"`
	Bg    Color `json:"bg"`
	// Attributes that are on.
	//schema:uniqueItems true
	//schema:items {"type": "string", "enum": ["bold", "dim", "italic", "blink", "inverse",
	//schema:and "invisible", "strikethrough", "overline"]}
	Attrs []string `json:"attrs"`
	// Kind of underline; absent when there is none.
	Underline string `json:"underline,omitempty" enum:"single,double,curly,dotted,dashed"`
	// Colour of the underline; absent when it is that of the text.
	UnderlineColor Color `json:"underline_color,omitempty"`
	// Where the cells lead (OSC 8): http, https or mailto, at most 2083 bytes. Absent when there is
	// no link or it leads elsewhere.
	Link string `json:"link,omitempty"`
}

// Color is a colour: null is the default, a number an entry of the palette, a string red, green and
// blue.
//
//schema:oneOf [{"type": "null"}, {"type": "integer", "minimum": 0, "maximum": 255},
//schema:and {"type": "string", "pattern": "^#[0-9a-f]{6}$"}]
type Color any
