package vt

import "unicode/utf8"

// omit takes a character that was not printed out of the viewers' text: the
// first of rest, which is the end of raw in the character set in force. One that was
// dropped for want of room takes the cursor to the last column.
func (t *Terminal) omit(raw, rest []byte) {
	t.omitted = true
	var move []byte
	if t.stream.before.lost() {
		move = t.toLastColumn()
	}
	if t.repeating {
		return
	}
	at := startOf(raw, rest)
	_, size := utf8.DecodeRune(raw[at:])
	t.stream.CutPrinted(at, size)
	t.stream.InsertPrinted(at+size, move)
}

// startOf is where in raw the end begins that is rest in the character set in force: a set
// makes one character of one.
func startOf(raw, rest []byte) int {
	at := len(raw)
	for range utf8.RuneCount(rest) {
		_, size := utf8.DecodeLastRune(raw[:at])
		at -= size
	}
	return at
}

// toLastColumn moves the cursor and returns the sequence that does.
func (t *Terminal) toLastColumn() []byte {
	s, y := t.screen, t.screen.Y
	text := t.moveText(nil, s.Cols-1, y)
	if t.modes.Origin {
		y = max(y-s.Top, 0)
	}
	s.MoveTo(s.Cols-1, y, t.modes.Origin)
	return text
}

// keepWideWhole keeps the first character of text, the end of raw, from taking the place of the
// second half of a wide one only, without autowrap: whether xterm.js takes the first
// half too depends on how the text reached it. After CUP it does.
func (t *Terminal) keepWideWhole(raw, text []byte) {
	s := t.screen
	c, _ := decodeSound(text)
	r := s.row()
	if s.Cols < 2 || t.widths.next(c, t.stream.before).joins() || r.cells == nil && r.used < s.Cols ||
		!s.cells(r)[s.Cols-2].wide() {
		return
	}
	t.stream.before = 0
	if move := t.toLastColumn(); !t.repeating {
		t.stream.InsertPrinted(startOf(raw, text), move)
	}
}
