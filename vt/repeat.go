package vt

import "unicode/utf8"

// repeat implements REP (ECMA-48 8.3.103), at most a screen full. xterm.js reads
// the character from the cells left of the cursor. Without a character before it
// nothing happens, and viewers do not get it either: theirs may know a character
// that a query cut from their text has made us forget.
func (t *Terminal) repeat() {
	before := t.stream.before
	if before == 0 || before.lost() {
		t.stream.Cut()
		return
	}
	s := t.screen
	var buf [maxCluster]byte // printing changes the row
	text := append(buf[:0], t.cellText(s.row(), s.X-before.width())...)
	n := t.stream.Times(s.Cols * len(s.rows))
	t.stream.meter.Add(n * len(text))
	switch {
	case len(text) == 0:
	case len(text) == 1:
		t.repeatRuns(text[0], n)
	default:
		t.repeatText(text, n, func(text []byte) { t.print(text, false) })
	}
}

// repeatText prints a character of more than one byte n times. When some of it is left
// out, viewers get the rest as text.
func (t *Terminal) repeatText(text []byte, n int, print func(text []byte)) {
	first, _ := utf8.DecodeRune(text)
	t.repeating = true
	defer func() { t.repeating = false }()
	if t.modes.Autowrap && !t.widths.next(first, t.stream.before).joins() {
		for ; n > 0; n-- {
			print(text)
		}
		return
	}
	var kept []byte
	left := false
	for ; n > 0; n-- {
		for _, c := range string(text) {
			t.omitted = false
			one := utf8.AppendRune(nil, c)
			if print(one); !t.omitted {
				kept = append(kept, one...)
			}
			left = left || t.omitted
		}
	}
	if left && t.stream.before.lost() {
		kept = append(kept, t.toLastColumn()...)
	}
	if left {
		t.stream.ReplaceByText(kept)
	}
}

// repeatRuns prints an ASCII character n times.
func (t *Terminal) repeatRuns(c byte, n int) {
	var run [256]byte
	for i := range run {
		run[i] = c
	}
	for ; n > 0; n -= len(run) {
		t.print(run[:min(n, len(run))], c >= ' ' && c < 0x7f)
	}
}

// cellText is the text of a cell, nothing outside the row. The caller must not
// change it, and it is valid until the row is.
func (t *Terminal) cellText(r *row, x int) []byte {
	switch {
	case x < 0 || x >= t.screen.Cols:
		return nil
	case r.cells == nil && x < r.used && t.screen.X == r.used:
		return r.last()
	}
	return r.appendChars(nil, t.screen.cells(r)[x])
}
