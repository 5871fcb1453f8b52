package vt

import (
	"bytes"
	"unicode/utf8"
)

// function names an escape or control sequence: its final byte, plus the intermediate
// byte times intermediate, plus the private prefix times private (ECMA-48 5.4). 0 is
// none that exists.
type function uint32

// Weights of the parts of a function: '?'*private + 'h' is DECSET.
const (
	intermediate function = 1 << 8
	private      function = 1 << 16
)

// handler is everything a program's output can say, in its order. The stream
// calls it inside Write; text belongs to the stream and is only valid during the
// call.
type handler interface {
	// Print shows characters: valid UTF-8 without controls, never empty. ascii
	// says that every byte is one character from U+0020 to U+007E.
	Print(text []byte, ascii bool)
	// Control executes a control of C0 or C1 (ECMA-48 5.2, 5.3). It may come in
	// the middle of a sequence.
	Control(c rune)
	Escape(f function) // ECMA-35 13.2
	CSI(f function)    // ECMA-48 5.4; the parameters are Params and Sub
	// OSC and DCS get the text of a string, without introducer and terminator.
	// One that was longer than MaxString comes as nil.
	OSC(text []byte)
	DCS(text []byte)
}

// stream turns a program's output into calls of a handler, and at the same time
// into the text that viewers get (see Engine.Write). It assigns no meaning. How
// the output was split shows in neither.
//
// The zero value is ready. A stream is not safe for concurrent use.
type stream struct {
	decoder  decoder
	meter    meter
	parser   parser
	text     viewerText
	seq      []byte // the open sequence, without what has no part in it
	void     bool   // it is too long: it does nothing, and viewers do not get it
	withheld bool   // it is a string that viewers do not get, see Withheld
	decided  bool   // whether it is one is known
	inCut    bool   // the open ESC ends a string that was cut

	headSize int // bytes of seq that an earlier Write delivered
	end      int // index behind the character at hand

	// Last is the character that REP (ECMA-48 8.3.103) repeats, 0 for none, for
	// handlers that keep it here when they print. As in xterm.js every control and
	// every sequence makes the stream forget it, after it was handled.
	Last rune
	// before is what the character before leaves for the next one, in handlers
	// that know widths. It is forgotten in the same way.
	before join
	// viewers is what viewers still remember of a character that was forgotten
	// here because of a query, which they did not get; 0 when nothing.
	viewers join
	quiet   bool // the sequence at hand leaves nothing in the viewers' text
	// spent is how much of the bound of Afford was used at position spentAt of all text that
	// was read. lost: text was dropped.
	spent, spentAt int
	read           int // all text of earlier Writes, in bytes
	lost           bool
	printed        int // index of the text that is being printed
}

// Write hands p to h and returns the text for viewers. The result may alias p or
// the stream's own memory and is valid until the next call; p is not retained.
func (s *stream) Write(p []byte, h handler) []byte {
	text, _ := s.process(s.decoder.Decode(p), 0, h)
	return text
}

// WriteSome is Write of the first n bytes of p, see Engine.WriteSome; work 0 is no bound.
func (s *stream) WriteSome(p []byte, work int, h handler) (text []byte, n int) {
	if work <= 0 {
		return s.Write(p, h), len(p)
	}
	p = p[:min(len(p), work)]
	held := s.decoder.Held()
	in := s.decoder.Decode(p)
	s.meter.limit = s.meter.done + work
	// All bytes that were held go: each of them is at most one U+FFFD.
	text, done := s.process(in, held*utf8.RuneLen(utf8.RuneError)+1, h)
	if done == len(in) {
		return text, len(p)
	}
	return text, s.decoder.PutBack(p, held, done)
}

// Flush hands over the bytes of an incomplete character, see Engine.Flush. The
// result is valid as long as Write's.
func (s *stream) Flush(h handler) []byte {
	text, _ := s.process(s.decoder.Flush(), 0, h)
	return text
}

// process hands in, which is sound UTF-8, to h and returns the viewers' text. Unless least
// is 0 it stops at the meter's limit, but not in the first least bytes nor inside of a
// sequence, and returns where.
func (s *stream) process(in []byte, least int, h handler) (text []byte, done int) {
	s.text.open(in, s.parser.state != ground && !s.void && !s.withheld)
	s.headSize = len(s.seq)
	i := 0
	for i < len(in) {
		if s.parser.state != ground {
			s.meter.done += costSequence
			i = s.inside(in, i, h)
			continue
		}
		if least > 0 && i >= least && s.meter.done+i >= s.meter.limit {
			break
		}
		s.meter.done += costSequence
		begin := i
		switch c := in[i]; {
		case c >= ' ' && c < 0x7f:
			run := in[i:]
			if least > 0 {
				run = run[:min(len(run), maxRun)]
			}
			i += asciiRun(run)
			s.printed, s.end = begin, i
			h.Print(in[begin:i], true)
		case c == 0x1b:
			if n := s.plainCSI(in[i:]); n > 0 {
				s.text.sequence(i)
				i += n
				s.end = i
				h.CSI(function(s.parser.prefix)*private | function(in[i-1]))
				s.forget()
				s.inCut = false
			} else {
				i = s.character(in, i, h)
			}
		case c < ' ': // as character does
			i++
			s.end = i
			h.Control(rune(c))
			s.forget()
		default:
			run := in[i:]
			if least > 0 {
				run = characters(run, maxRun)
			}
			if n := textRun(run); n > 0 {
				i += n
				s.printed, s.end = begin, i
				h.Print(in[begin:i], false)
			} else {
				i = s.character(in, i, h)
			}
		}
	}
	s.meter.done += i
	s.read += i
	return s.text.close(i), i
}

// characters is the beginning of text, of about n bytes: whole characters.
func characters(text []byte, n int) []byte {
	for n < len(text) && !utf8.RuneStart(text[n]) {
		n++
	}
	return text[:min(n, len(text))]
}

// Held is the number of bytes of an incomplete character, see Engine.Held.
func (s *stream) Held() int { return s.decoder.Held() }

// Memory is what the stream keeps between two writes, in bytes.
func (s *stream) Memory() int {
	return cap(s.seq) + cap(s.text.out) + cap(s.text.inner) + cap(s.decoder.raw) + cap(s.decoder.text)
}

// Pending is the text of the unfinished sequence, see Frame.Pending. The caller
// owns it.
func (s *stream) Pending() []byte {
	switch {
	case s.parser.state == ground:
		return nil
	case s.void && s.parser.inString():
		return voidString(s.parser.state)
	}
	return append([]byte(nil), s.seq...)
}

// Open reports whether a sequence is unfinished: text that is put into the stream
// here becomes a part of it.
func (s *stream) Open() bool { return s.parser.state != ground }

// Count is the number of parameters of the sequence at hand; at least 1.
func (s *stream) Count() int { return s.parser.count }

// Param is parameter i, 0 when it was not given.
func (s *stream) Param(i int) int {
	if i < s.parser.count {
		return int(s.parser.params[i])
	}
	return 0
}

// One is parameter i of a function where 0 and absent mean 1.
func (s *stream) One(i int) int { return max(s.Param(i), 1) }

// Sub is what parameter i has behind its colons; -1 is a place without digits.
func (s *stream) Sub(i int) []int32 { return s.parser.sub(i) }

// plainCSI reads a whole control sequence of digits and semicolons at the start of
// in and returns its length, 0 when it is unfinished or anything else. It leaves
// the parser as character by character does.
func (s *stream) plainCSI(in []byte) (n int) {
	if len(in) < 3 || in[1] != '[' {
		return 0
	}
	p := &s.parser
	i, count := 2, 0
	p.prefix, p.inter, p.tooManyIntermediates, p.nsub = 0, 0, false, 0
	if c := in[2]; c >= '<' && c <= '?' {
		p.prefix = c
		i = 3
	}
	for count < maxParams {
		v, from := 0, i
		for i < len(in) && in[i]-'0' < 10 {
			v = v*10 + int(in[i]-'0')
			i++
		}
		if i == len(in) || i-from > plainDigits {
			return 0
		}
		p.params[count], p.subEnd[count] = int32(v), 0
		count++
		switch c := in[i]; {
		case c == ';':
			i++
		case c >= 0x40 && c < 0x7f:
			p.count = count
			return i + 1
		default:
			return 0
		}
	}
	return 0
}

// plainDigits is how many digits a parameter can have without the risk of being
// beyond maxParam.
const plainDigits = 9

// inside goes on in the middle of a sequence.
func (s *stream) inside(in []byte, i int, h handler) (next int) {
	if st := s.parser.state; st == stringOSC || st == stringDCS {
		if n := stringRun(in[i:]); n > 0 {
			if st == stringOSC && !s.decided {
				n = numberEnd(in[i : i+n]) // what follows may be longer
			}
			s.end = i + n
			s.collect(in[i:s.end], i)
			return s.end
		}
	}
	return s.character(in, i, h)
}

// bom is no character anywhere: xterm.js drops it before it parses.
const bom = '\ufeff'

// character handles a control, or a character of a sequence, at index i.
func (s *stream) character(in []byte, i int, h handler) (next int) {
	c, size := rune(in[i]), 1
	if c >= utf8.RuneSelf {
		c, size = utf8.DecodeRune(in[i:])
	}
	s.end = i + size
	act := ignore
	if c != bom {
		act = s.parser.next(c)
	}
	switch act {
	case ignore:
		s.collect(nil, i)
	case collect:
		s.collect(in[i:s.end], i)
	case begin:
		s.begin(c, i)
	case execute:
		if s.parser.state != ground {
			s.text.inner = append(s.text.inner, byte(c))
		} else {
			s.finish(s.end)
		}
		h.Control(c)
		s.forget()
	case stringEnd:
		s.endString(c, i, h)
	case escDone:
		h.Escape(s.parser.function(c))
		s.forget()
		s.finish(i)
	case csiDone:
		h.CSI(s.parser.function(c))
		s.forget()
		s.finish(i)
	case abort:
		s.finish(i)
	}
	return i + size
}

// begin opens a sequence with its first character. When that also ends what was
// open before, viewers need it even if the sequence is cut.
func (s *stream) begin(c rune, i int) {
	open, hidden := len(s.seq) > 0 && !s.withheld, s.void || s.withheld
	s.finish(s.end)
	s.inCut = hidden // ESC \ ends what was cut
	s.text.sequence(i)
	if open {
		s.text.deliver(s.end)
	}
	s.seq = utf8.AppendRune(s.seq, c)
	if open {
		s.headSize = len(s.seq)
	}
	if s.parser.inString() {
		s.withholdString()
	}
}

// withholdString has viewers get nothing of the open string, as soon as that is
// known of it.
func (s *stream) withholdString() {
	switch {
	case s.decided || s.void:
		return
	case s.parser.state != stringOSC:
		s.withheld, s.decided = true, true
	default:
		s.withheld, s.decided = withheld(s.seq[introducer:])
	}
	if s.withheld {
		s.quiet = s.text.replace(s.end)
		s.forget() // as viewers do that get a CAN
	}
}

// limit bounds the open sequence, in bytes.
func (s *stream) limit() int {
	if s.withheld && s.parser.state == stringOSC {
		number, _, _ := bytes.Cut(s.seq[introducer:min(len(s.seq), introducer+numberDigits)], []byte(";"))
		if oscNumber(number) == oscClipboard {
			return MaxPending
		}
	}
	return MaxString
}

// collect adds to the open sequence what belongs to it of in[i:end]. Of one that
// grows too long, or turns out to be none of theirs, viewers drop what they have and
// get no more. The first is void then.
func (s *stream) collect(part []byte, i int) {
	if s.void || s.withheld {
		s.text.drop(i, s.end)
	}
	switch {
	case s.void:
	case len(s.seq)+len(part) > MaxString && len(s.seq)+len(part) > s.limit():
		if !s.withheld {
			s.quiet = s.text.replace(s.end)
			s.forget() // as viewers do that get a CAN
		}
		s.void, s.withheld, s.seq = true, false, s.seq[:0]
	default:
		s.seq = append(s.seq, part...)
		if s.parser.inString() {
			s.withholdString()
		}
	}
}

// endString hands over a string that c terminates. An ESC does it at once and
// begins the next sequence, usually ESC \, which is cut when the string was.
func (s *stream) endString(c rune, i int, h handler) {
	next := s.end
	if c == 0x1b {
		s.end = i
	}
	cut := s.void || s.withheld
	s.inCut = false
	s.deliverString(h)
	if s.parser.kind == stringOSC && !s.decided && !s.void && !shownOSC(oscNumber(s.seq[introducer:])) {
		s.Cut()
	}
	s.quiet = s.quiet || cut
	cut = cut || s.inCut
	s.forget()
	if s.end = next; c != 0x1b {
		s.finish(i)
		return
	}
	if cut {
		s.seq = s.seq[:0]
	}
	s.begin(c, i)
	s.inCut = cut
}

// introducer is the length of what begins a string, with ESC and as a C1 control,
// in bytes.
const introducer = 2

// deliverString gives the open string to the handler.
func (s *stream) deliverString(h handler) {
	kind, data := s.parser.kind, []byte(nil)
	if !s.void {
		data = s.seq[introducer:]
	}
	if kind == stringOSC {
		h.OSC(data)
	} else {
		h.DCS(data)
	}
}

// finish forgets the sequence that ended. The rest of a void one, from index i,
// is no text.
func (s *stream) finish(i int) {
	if (s.void || s.withheld) && i < s.end {
		s.text.drop(i, s.end)
	}
	if s.seq = s.seq[:0]; cap(s.seq) > 2*MaxString {
		s.seq = nil
	}
	s.void, s.inCut, s.withheld, s.decided = false, false, false, false
}

// EndsCut reports whether the ESC \ at hand ends a string that was cut; it has to
// be cut too.
func (s *stream) EndsCut() bool { return s.inCut }
