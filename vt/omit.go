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
func (p *printer) omit(from *source, rest []byte) {
	p.omitted = true
	var move []byte
	if p.stream.before.lost() {
		move = p.toLastColumn()
	}
	if p.repeating {
		return
	}
	begun := from.of
	at := from.startOf(rest)
	p.stream.meter.Add(from.of - begun)
	_, size := utf8.DecodeRune(from.raw[at:])
	p.stream.CutPrinted(at, size)
	p.stream.InsertPrinted(at+size, move)
}

// toLastColumn moves the cursor and returns the sequence that does.
func (p *printer) toLastColumn() []byte {
	x, y := p.screen.Cols-1, p.screen.Y
	text := p.moveText(nil, x, y)
	p.moveTo(x, y)
	return text
}

// keepWideWhole keeps the first character of text, the end of from, from taking the place of the
// second half of a wide one only, without autowrap: whether xterm.js takes the first
// half too depends on how the text reached it. After CUP it does.
func (p *printer) keepWideWhole(from *source, text []byte) {
	s := p.screen
	c, _ := decodeSound(text)
	r := s.row()
	if s.Cols < 2 || p.widths.next(c, p.stream.before).joins() || r.cells == nil && r.used < s.Cols ||
		!s.cells(r)[s.Cols-2].wide() {
		return
	}
	p.stream.before = 0
	if move := p.toLastColumn(); !p.repeating {
		p.stream.InsertPrinted(from.startOf(text), move)
	}
}
