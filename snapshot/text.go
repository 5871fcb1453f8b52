package snapshot

import (
	"bytes"

	"github.com/evertty/evertty/vt"
)

// Text returns the rows that f shows, blanks at their ends cut off, each ended
// by a line feed, empty rows included. Before them come the last scrollback
// lines of the history, all when negative. The result is UTF-8 without control
// characters besides the line feeds.
func Text(f *vt.Frame, scrollback int) string {
	f = normalize(f)
	history := lastLines(f.History, scrollback)
	b := make([]byte, 0, estimate(f, history))
	for l := range history.All() {
		b = append(appendPlain(b, l), '\n')
	}
	for _, l := range f.Active().Lines {
		b = append(appendPlain(b, l), '\n')
	}
	return string(b)
}

// appendSpaces appends what n erased cells look like.
func appendSpaces(b []byte, n int) []byte {
	const spaces = "                                                                "
	for ; n > len(spaces); n -= len(spaces) {
		b = append(b, spaces...)
	}
	return append(b, spaces[:n]...)
}

// appendPlain appends the characters of a line, blanks at the end cut off.
func appendPlain(b []byte, l vt.Line) []byte {
	start := len(b)
	for s := range l.Spans() {
		if s.Kind == vt.Blank {
			b = appendSpaces(b, s.Cells)
		} else {
			b = append(b, cellText(s)...)
		}
	}
	return b[:start+len(bytes.TrimRight(b[start:], " "))]
}
