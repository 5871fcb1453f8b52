package vt

import "unicode/utf8"

// source is text that is being printed: raw as it came, and the same in the character
// set in force, which makes one character of one.
type source struct {
	raw, text []byte
	// at is the index in raw of the character at index of in text.
	at, of int
}

// startOf is where in raw the end begins that is rest in the text. It never grows
// from one call to the next, so that all calls together read the text once.
func (s *source) startOf(rest []byte) int {
	end := len(s.text) - len(rest)
	if len(s.raw) == len(s.text) && &s.raw[0] == &s.text[0] {
		return end
	}
	for s.of < end {
		_, size := utf8.DecodeRune(s.text[s.of:])
		s.of += size
		_, size = utf8.DecodeRune(s.raw[s.at:])
		s.at += size
	}
	return s.at
}

// omit takes a character that was not printed out of the viewers' text: the first of
// rest, which is the end of what is printed. One that was dropped for want of room takes the
// cursor to the last column.
func (t *Terminal) omit(from *source, rest []byte) {
	t.omitted = true
	var move []byte
	if t.stream.before.lost() {
		move = t.toLastColumn()
	}
	if t.repeating {
		return
	}
	begun := from.of
	at := from.startOf(rest)
	t.stream.meter.Add(from.of - begun)
	_, size := utf8.DecodeRune(from.raw[at:])
	t.stream.CutPrinted(at, size)
	t.stream.InsertPrinted(at+size, move)
}

// toLastColumn moves the cursor and returns the sequence that does.
func (t *Terminal) toLastColumn() []byte {
	x, y := t.screen.Cols-1, t.screen.Y
	text := t.moveText(nil, x, y)
	t.moveTo(x, y)
	return text
}

// keepWideWhole keeps the first character of text, the end of from, from taking the place of the
// second half of a wide one only, without autowrap: whether xterm.js takes the first
// half too depends on how the text reached it. After CUP it does.
func (t *Terminal) keepWideWhole(from *source, text []byte) {
	s := t.screen
	c, _ := decodeSound(text)
	r := s.row()
	if s.Cols < 2 || t.widths.next(c, t.stream.before).joins() || r.cells == nil && r.used < s.Cols ||
		!s.cells(r)[s.Cols-2].wide() {
		return
	}
	t.stream.before = 0
	if move := t.toLastColumn(); !t.repeating {
		t.stream.InsertPrinted(from.startOf(text), move)
	}
}
