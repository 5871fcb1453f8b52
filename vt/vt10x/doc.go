// Package vt10x is the engine on github.com/hinshun/vt10x: the library keeps the
// screen that is shown. The native engine is vt.Terminal.
//
// The library alone cannot be a vt.Engine. It answers queries itself, knows neither
// the text for viewers nor a history, hangs on large counts and panics on larger
// ones. A vt.Terminal therefore reads the output first. It answers, runs the effects,
// keeps modes, history and the screen that is not shown. The library reads what the
// Terminal gives to viewers.
//
// The screen shown differs from xterm.js 6, and so from a viewer, where the library does:
//   - Every character takes one cell: wide characters, combining marks and joiners
//     shift what follows.
//   - It has no insert mode, no protected cells, no reverse wraparound, and of the
//     character sets only DEC Special Graphics in G0.
//   - Of the attributes it has bold, italic, underline, blink and inverse, and no links.
//     Bold text in a bright colour becomes bold in the normal one, and a direct colour
//     below 0,1,0 is a colour of the palette. It ignores SGR with colons.
//   - It cannot tell an erased cell from a printed space: spaces at the end of a line
//     count as erased. IL and DL do not go to the first column, and a row that was wrapped into
//     stays so until the last cell above is written again.
//   - An escape sequence that another one interrupts prints its rest.
//
// After a resize, a restore, REP, RIS, DECSTR, a panic of the library, or output of which viewers
// get only a snapshot, the library gets a picture of the Terminal's screen.
package vt10x
