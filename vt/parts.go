package vt

// A Terminal is made of four parts, each of which embeds the one before and calls nothing of the
// next.

// bufferSet has the screens, their history and their styles, and bounds the memory of a Terminal.
type bufferSet struct {
	cfg    Config
	stream stream
	budget budget

	// Two screens with a cursor each. The history belongs to main.
	main, alt *screen // alt is nil until it is first needed
	screen    *screen // the one shown
	hist      history
	hidden    int // most rows there were since the alternate screen was left

	// What programs set beside the cells. DECSC saves the pen on a screen.
	modes  Modes
	pen    pen
	labels labels

	// Cells have numbers of styles. The numbers of the pen are looked up once for many cells.
	styles      styles
	styleKnown  bool   // styleNumber is the style of the pen
	blankKnown  bool   // blankNumber is the style of erased cells
	styleNumber uint32 // result of penStyle
	blankNumber uint32 // result of internBlank

	// Scratch memory.
	expansion []byte
	packer    rowPacker
}

// printer puts characters into cells, and takes out of the viewers' text what was not printed.
type printer struct {
	bufferSet
	charsets charsetState
	open     openLink

	// How characters lie in cells.
	widths *widths
	leads  *leads // of widths

	repeating bool // REP prints
	omitted   bool // a character was left out of the viewers' text
}

// editor moves, erases and fills cells that are there.
type editor struct {
	printer
	late columnShift // put off, see shiftLater
}

// executor executes controls, escape sequences and control sequences.
type executor struct {
	editor
	saved       savedModes
	cursorStyle CursorStyle
}
