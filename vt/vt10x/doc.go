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
//   - DECRC also restores hyperlink and underline style, which xterm.js forgets.
//   - ED 1 to the last column leaves a wrap flag of the history alone.
//   - SGR 59 restores the default underline colour; xterm.js makes it white.
//   - A hyperlink longer than maxLink is none.
//   - Kitty keyboard flags are not kept; the query says that there are none.
//
// A string (OSC, DCS, APC, PM, SOS) or control sequence longer than vt.MaxString
// is void: it does nothing here, and viewers do not get it.
//
// As in xterm.js 6, SU drops the lines it scrolls off instead of keeping them as
// xterm does, RIS leaves LNM, the title, the colours and the hidden cursor
// alone, DECRC restores neither origin mode nor a pending wrap, its row moves
// with the history, and relative movements in origin mode count from the margin.
package vt10x
