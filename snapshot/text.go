package snapshot

import (
	"strings"

	"github.com/evertty/evertty/vt"
)

// Text returns the rows that f shows, blanks at their ends cut off, each ended
// by a line feed, empty rows included. Before them come the last scrollback
// lines of the history, all when negative. The result is UTF-8 without control
// characters besides the line feeds.
func Text(f *vt.Frame, scrollback int) string {
	f = tidy(f)
	var b []byte
	for _, lines := range [...][]vt.Line{lastLines(f.History, scrollback), f.Active().Lines} {
		for _, l := range lines {
			b = append(appendPlain(b, l), '\n')
		}
	}
	return string(b)
}

// appendPlain appends the characters of a line, blanks at the end cut off.
func appendPlain(b []byte, l vt.Line) []byte {
	start := len(b)
	for s := range l.Spans() {
		if s.Kind == vt.Blank {
			b = append(b, strings.Repeat(" ", min(s.Cells, vt.MaxSize))...)
		} else {
			b = append(b, cellText(s)...)
		}
	}
	for len(b) > start && b[len(b)-1] == ' ' {
		b = b[:len(b)-1]
	}
	return b
}
