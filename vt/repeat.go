package vt

import "unicode/utf8"

// maxRepeated is how many characters one REP prints at most, more than the screens in use
// have cells.
const maxRepeated = 16 << 10

// leastRepeated is how many any REP prints when it is asked to, also of many marks.
const leastRepeated = 10

// joinedRepeat is how much longer a character takes that is joined to the one before.
const joinedRepeat = 4

// repeat implements REP (ECMA-48 8.3.103), at most a screen full. xterm.js reads
// the character from the cells left of the cursor. Without a character before it
// nothing happens, and viewers do not get it either: theirs may know a character
// that a query cut from their text has made us forget.
func (p *printer) repeat() {
	before := p.stream.before
	if before == 0 || before.lost() {
		p.stream.Cut()
		return
	}
	var buf [maxCluster]byte // printing changes the row
	text := append(buf[:0], p.cellText(p.screen.row(), p.screen.X-before.width())...)
	p.repeatTimes(text, p.stream.Times(p.mostRepeats(text)))
}

// mostRepeats is how often REP prints the text of a cell at most: a screen full of one ASCII
// character, as many of others as a row has columns, and fewer when marks are joined to it.
// These take longer, and so does insert mode.
func (p *printer) mostRepeats(text []byte) int {
	s := p.screen
	switch runes := utf8.RuneCount(text); {
	case runes > 1:
		return max(s.Cols/(joinedRepeat*runes), leastRepeated)
	case len(text) > 1 || p.modes.Insert:
		return s.Cols
	}
	return min(s.Cols*len(s.rows), maxRepeated)
}

// mayOmit reports whether some of text may not be printed when it is repeated.
func (p *printer) mayOmit(text []byte) bool {
	first, _ := utf8.DecodeRune(text)
	return !p.modes.Autowrap || p.widths.next(first, p.stream.before).joins()
}

// repeatTimes prints the text of a cell n times.
func (p *printer) repeatTimes(text []byte, n int) {
	p.stream.meter.Add(n * len(text))
	switch {
	case len(text) == 0:
	case len(text) == 1:
		p.repeatRuns(text, n, text[0] >= ' ' && text[0] < 0x7f)
	case p.mayOmit(text):
		p.repeatText(text, n, func(text []byte) { p.print(text, false) })
	default:
		p.repeating = true
		p.repeatRuns(text, n, false)
		p.repeating = false
	}
}

// repeatText prints a character of more than one byte n times. When some of it is left
// out, viewers get the rest as text.
func (p *printer) repeatText(text []byte, n int, print func(text []byte)) {
	p.repeating = true
	defer func() { p.repeating = false }()
	if !p.mayOmit(text) {
		for ; n > 0; n-- {
			print(text)
		}
		return
	}
	var kept []byte
	left := false
	for ; n > 0; n-- {
		for rest := text; len(rest) > 0; {
			_, size := utf8.DecodeRune(rest)
			p.omitted = false
			if print(rest[:size]); !p.omitted {
				kept = append(kept, rest[:size]...)
			}
			left = left || p.omitted
			rest = rest[size:]
		}
	}
	if left && p.stream.before.lost() {
		kept = append(kept, p.toLastColumn()...)
	}
	if left && p.stream.Afford(len(kept)) {
		p.stream.ReplaceByText(kept)
	}
}

// repeatRuns prints the text of a cell n times, many at once.
func (p *printer) repeatRuns(text []byte, n int, ascii bool) {
	var run [512]byte
	size := 0
	for size+len(text) <= len(run) && size < n*len(text) {
		size += copy(run[size:], text)
	}
	for n > 0 {
		k := min(n, size/len(text))
		p.print(run[:k*len(text)], ascii)
		n -= k
	}
}

// cellText is the text of a cell, nothing outside the row. The caller must not
// change it, and it is valid until the row is.
func (b *bufferSet) cellText(r *row, x int) []byte {
	switch {
	case x < 0 || x >= b.screen.Cols:
		return nil
	case r.cells == nil && x < r.used && b.screen.X == r.used:
		return r.last()
	}
	return r.appendChars(nil, b.screen.cells(r)[x])
}
