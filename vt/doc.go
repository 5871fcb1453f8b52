// Package vt is a headless terminal emulator: bytes in, state out.
//
// A Terminal takes what a program prints and keeps the screen that a person would
// see. It does no I/O, takes no lock and starts no goroutine; its owner serialises
// all calls.
//
//	term := vt.New(vt.Config{Cols: 80, Rows: 24, Scrollback: vt.DefaultScrollback})
//	text := term.Write(output) // any bytes, split anywhere; it cannot fail
//	cell := term.Cell(0, 0)
//
// # Reading the screen
//
// Terminal.Cell, Row, Cursor, Modes, Title and Size read the present state. To draw
// only what changed, ask a Damage for its Rows. To hand the state to another
// goroutine, call Freeze: a Frame is immutable, cheap, and shares the history with
// the terminal. Frame.SelectedText copies text as a mouse selects it, Find and
// FindRegexp search screen and history, TextLines joins the rows that the right
// margin broke. Package snapshot writes a Frame as ANSI, text, JSON or HTML and reads
// it back.
//
// # What leaves a terminal
//
// Write returns the text for viewers: other terminals that follow the same stream. It
// is the output with queries, clipboard writes and window operations cut out, since
// the terminal answers queries itself. Answers, bells, titles, directories and
// clipboard writes go to the callbacks of Effects.
//
// # Input
//
// EncodeKeys, EncodeMouse and Paste return the bytes to send to the program for its
// Modes.
//
// # Engines
//
// Engine is the interface of every emulator, EngineFunc makes one. Terminal is the
// exact one; package vt10x is another.
// A Tracker is a Terminal that also reports each text it shows and
// where in the output that was printed.
//
// # Exactness
//
// The reference is xterm.js 6: a viewer that writes the text of Write into it shows
// the same screen. Where DEC, ECMA-48 or xterm differ from it, xterm.js wins; see
// Terminal. All sizes, counts and strings of a program are bounded, see the constants.
package vt
