// Package vt10x is the engine on github.com/hinshun/vt10x. The native engine is
// vt.Terminal.
//
// The library is used for what it does right: it keeps two rectangles of cells,
// prints into them, scrolls, inserts, deletes and erases. Everything that it gets
// wrong or lacks is done by vt.NewGridEngine, which shares the parser, modes,
// replies and limits of the native engine. The library only reads sequences that
// this package writes itself, so that no count of a program reaches it.
//
// Deviations from xterm.js 6, and so from what a viewer shows:
//   - Every character takes one cell: the library has no widths. Wide
//     characters, combining marks and joiners therefore shift what follows.
//   - A resize does not reflow: what is cut off at the right is gone, and lines
//     of history that are too long are broken.
//
// Of what the native engine adds, the kitty keyboard protocol (the query says
// that no flag is set) and DECRQCRA are missing. In everything else both engines
// are equal; see vt.Terminal for where they follow xterm.js against DEC and
// xterm, and for their limits.
package vt10x
