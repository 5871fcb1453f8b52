package vt

import (
	"slices"
	"strconv"
	"unicode/utf8"
)

// This file is how a handler changes the text that viewers get.

// Cut takes the sequence at hand out of the viewers' text.
func (s *stream) Cut() { s.Replace() }

const (
	// textPerByte is how many bytes of other text viewers get for each byte of output, over
	// time: enough for a rectangle on a common screen.
	textPerByte = 32
	// maxText is how much more they may get for a while, in bytes.
	maxText = 128 << 10
)

// Afford reports whether viewers may get n bytes in the place of the sequence at hand. When
// a program makes far more text than it prints they get nothing, and need a snapshot.
func (s *stream) Afford(n int) bool {
	at := s.read + s.end
	s.spent, s.spentAt = max(s.spent-(at-s.spentAt)*textPerByte, 0), at
	if s.spent+n > maxText {
		s.lost = true
		s.Cut()
		return false
	}
	s.spent += n
	return true
}

// Times is parameter 0 of the control sequence at hand as the number of times to
// do something, at least 1. More than limit would change nothing but the time it
// takes, in a viewer too: xterm.js really does it that often. So viewers get
// limit instead.
func (s *stream) Times(limit int) int {
	n := s.One(0)
	if n <= limit {
		return n
	}
	final := s.text.in[s.end-1]
	text := append(strconv.AppendInt([]byte("\x1b["), int64(limit), 10), final)
	if final == 'b' {
		s.ReplaceQuietly(text) // CAN would make them forget what to repeat
	} else {
		s.Replace(text...)
	}
	return limit
}

// CutPrinted takes size bytes from index at of the text being printed out of the
// viewers' text.
func (s *stream) CutPrinted(at, size int) { s.text.drop(s.printed+at, s.printed+at+size) }

// InsertPrinted puts sequences before index at of the text being printed for viewers.
func (s *stream) InsertPrinted(at int, sequences []byte) { s.text.insert(s.printed+at, sequences...) }

// ReplaceByText puts characters in the place of the control sequence at hand. They
// leave viewers what a printed character does.
func (s *stream) ReplaceByText(text []byte) {
	s.ReplaceQuietly(text)
	s.quiet = true
}

// Precede puts text before the control sequence at hand for viewers.
func (s *stream) Precede(text string) {
	if n := s.text.given; n > 0 {
		s.text.out = slices.Insert(s.text.out, len(s.text.out)-n, []byte(text)...)
		return
	}
	if !s.text.head {
		s.text.insert(s.text.start, []byte(text)...)
		return
	}
	whole := append(append([]byte(text), s.seq...), s.text.in[s.end-1])
	s.Replace(whole...)
}

// Replace puts text in the place of the sequence at hand for viewers. When they
// have its head already, CAN comes before (ECMA-48 8.3.6).
func (s *stream) Replace(text ...byte) {
	s.inCut = true
	if s.withheld { // viewers have nothing of it
		return
	}
	s.quiet = s.text.replace(s.end, text...)
}

// ReplaceQuietly is Replace of a control sequence with nothing but parameters.
// It does not let viewers forget the character before: instead of CAN they get
// an end of their head that makes it malformed, and malformed sequences have no
// effect whatever.
func (s *stream) ReplaceQuietly(text []byte) {
	if !s.text.head {
		s.Replace(text...)
		return
	}
	const malformed = "[1<b"
	s.inCut = true
	s.text.end(s.end, malformed[min(max(s.headSize, 1), len(malformed)-1)-1:], text)
}

// forget ends the memory of the character before, after a control or sequence.
func (s *stream) forget() {
	switch {
	case !s.quiet:
		s.viewers = 0
	case s.viewers == 0:
		s.viewers = s.before
	}
	s.Last, s.before, s.quiet = 0, 0, false
}

// forgetHere ends the memory of the character before here. Viewers keep theirs until
// that matters.
func (s *stream) forgetHere() {
	s.quiet = true
	s.forget()
}

// alignViewers makes viewers forget what was forgotten here before text is printed that
// they would join to it: they get a CAN, which does nothing else.
func (s *stream) alignViewers(joins bool) {
	if joins {
		s.text.insert(s.printed, can)
	}
	s.viewers = 0
}

// voidControl puts CAN, which does nothing else, in the place of the control at hand: it has
// ended what was open.
func (s *stream) voidControl(c rune) {
	s.text.drop(s.end-utf8.RuneLen(c), s.end)
	s.text.insert(s.end, can)
}

// CutControl takes the control at hand out of the viewers' text.
func (s *stream) CutControl(c rune) {
	s.text.drop(s.end-utf8.RuneLen(c), s.end)
	s.quiet = true
	if s.parser.state != ground && !s.void {
		s.text.deliver(s.end)
		s.headSize = len(s.seq)
	}
}
