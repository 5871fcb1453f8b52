// Package vt10x is the engine on github.com/hinshun/vt10x.
//
// The library is used for what it does right: it keeps two rectangles of cells,
// prints into them, scrolls, inserts, deletes and erases. Everything it gets
// wrong, lacks or dies of stays on this side: the stream is tokenised here
// (parser), its meaning follows xterm.js 6 (print, cursor, erase, mode, …), and
// the library only ever reads sequences that grid writes itself, so that no
// count of a program reaches it. A cell's foreground colour carries the number
// of its whole style (looks), which undoes the library's ambiguous colours.
//
// Deviations from xterm.js 6, and so from what a viewer shows:
//   - Every character takes one cell: the library has no widths. Wide
//     characters, combining marks and joiners therefore shift what follows.
//   - A resize does not reflow: what is cut off at the right is gone, and lines
//     of history that are too long are broken.
//   - A string (OSC, DCS, APC, PM, SOS) or control sequence longer than
//     vt.MaxString is void, here and in the text viewers get.
//   - Kitty keyboard flags are not kept; the query says that there are none.
//
// As in xterm.js 6, SU drops the lines it scrolls off instead of keeping them,
// RIS leaves LNM, the title and the hidden cursor alone, DECRC restores neither
// origin mode nor a pending wrap, and its row moves with the history.
package vt10x
