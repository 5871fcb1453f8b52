package main

import (
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	// maxPlainLine bounds one line, in characters; a longer one is broken.
	maxPlainLine = 64 << 10
	// maxPlainParams bounds the parameters kept of a control sequence, in bytes.
	maxPlainParams = 64
	tabStop        = 8 // columns
)

// plainLines turns output into plain lines: escape sequences act on the line they
// are in or are left out, carriage return and backspace overwrite, and what is on
// the alternate screen is not written. It knows nothing of a screen's size.
type plainLines struct {
	w       io.Writer
	line    []rune
	col     int
	flushed string // of the line, on w already
	alt     bool
	state   func(*plainLines, rune)
	params  []byte
	out     strings.Builder
}

// start writes whole lines; the last one is the line that output goes on with.
func (l *plainLines) start(lines []string) error {
	for i, s := range lines {
		if i < len(lines)-1 {
			l.out.WriteString(s + "\n")
			continue
		}
		l.line = []rune(s)
		l.col = len(l.line)
	}
	return l.flush()
}

// write takes output, cut anywhere between characters.
func (l *plainLines) write(p []byte) error {
	for len(p) > 0 {
		r, n := utf8.DecodeRune(p)
		p = p[n:]
		if l.state == nil {
			l.state = (*plainLines).ground
		}
		l.state(l, r)
	}
	return l.deliver()
}

// flush writes the line as far as it is known. A line that was changed after that
// is written again below.
func (l *plainLines) flush() error {
	l.show()
	return l.deliver()
}

// end writes what is left, as a whole line.
func (l *plainLines) end() error {
	if len(l.line) > 0 {
		l.feed()
	}
	return l.deliver()
}

func (l *plainLines) deliver() error {
	if l.out.Len() == 0 {
		return nil
	}
	_, err := io.WriteString(l.w, l.out.String())
	l.out.Reset()
	return err
}

func (l *plainLines) show() {
	s := string(l.line)
	rest, ok := strings.CutPrefix(s, l.flushed)
	if !ok {
		rest = "\n" + s
	}
	l.out.WriteString(rest)
	l.flushed = s
}

// feed ends the line.
func (l *plainLines) feed() {
	l.show()
	l.out.WriteByte('\n')
	l.line, l.col, l.flushed = l.line[:0], 0, ""
}

func (l *plainLines) put(r rune) {
	if l.col >= maxPlainLine {
		l.feed()
	}
	l.pad(l.col + 1)
	l.line[l.col] = r
	l.col++
}

// pad makes the line at least n characters long.
func (l *plainLines) pad(n int) {
	for len(l.line) < n {
		l.line = append(l.line, ' ')
	}
}

func (l *plainLines) ground(r rune) {
	switch {
	case r == '\x1b':
		l.state = (*plainLines).escape
	case l.alt:
	case r == '\n', r == '\v', r == '\f':
		l.feed()
	case r == '\r':
		l.col = 0
	case r == '\b':
		l.col = max(0, l.col-1)
	case r == '\t':
		l.col = min(l.col/tabStop*tabStop+tabStop, maxPlainLine)
	case r >= ' ' && (r < 0x7f || r >= 0xa0):
		l.put(r)
	}
}

// escape is behind ESC (ECMA-48 5.3).
func (l *plainLines) escape(r rune) {
	l.state = (*plainLines).ground
	switch {
	case r == '[':
		l.params, l.state = l.params[:0], (*plainLines).sequence
	case strings.ContainsRune("]PX^_", r):
		l.state = (*plainLines).text
	case r >= 0x20 && r <= 0x2f:
		l.state = (*plainLines).designate
	case r == '\x1b':
		l.state = (*plainLines).escape
	case r == 'D' || r == 'E' || r == 'c': // IND, NEL, RIS
		if !l.alt && (r != 'c' || len(l.line) > 0) {
			l.feed()
		}
	}
}

// designate is between the intermediate and the final byte of an escape sequence.
func (l *plainLines) designate(r rune) {
	if r < 0x20 || r > 0x2f {
		l.state = (*plainLines).ground
	}
}

// text is in an OSC, DCS, SOS, PM or APC string.
func (l *plainLines) text(r rune) {
	switch r {
	case '\a', '\x18', '\x1a':
		l.state = (*plainLines).ground
	case '\x1b':
		l.state = (*plainLines).escape // ST is ESC \, and anything else ends it too
	}
}

// sequence is in a control sequence (ECMA-48 5.4).
func (l *plainLines) sequence(r rune) {
	switch {
	case r == '\x1b':
		l.state = (*plainLines).escape
	case r == '\x18' || r == '\x1a':
		l.state = (*plainLines).ground
	case r < 0x20: // acts at once, inside the sequence
		state := l.state
		l.ground(r)
		l.state = state
	case r >= 0x40:
		l.state = (*plainLines).ground
		l.act(r)
	case len(l.params) < maxPlainParams:
		l.params = append(l.params, byte(r))
	}
}

// act does what a control sequence does to the line.
func (l *plainLines) act(final rune) {
	params := string(l.params)
	if strings.HasPrefix(params, "?") {
		if final == 'h' || final == 'l' {
			l.private(params[1:], final == 'h')
		}
		return
	}
	if l.alt {
		return
	}
	first, _, _ := strings.Cut(params, ";")
	n, _ := strconv.Atoi(first)
	count := min(max(n, 1), maxPlainLine)
	switch final {
	case 'C', 'a': // CUF, HPR
		l.col = min(l.col+count, maxPlainLine)
	case 'D': // CUB
		l.col = max(0, l.col-count)
	case 'G', '`': // CHA, HPA
		l.col = count - 1
	case 'K', 'J': // EL, ED as far as the line goes
		l.erase(n)
	case 'P': // DCH
		end := min(len(l.line), l.col+count)
		if l.col < end {
			l.line = append(l.line[:l.col], l.line[end:]...)
		}
	case 'X': // ECH
		for i := l.col; i < min(len(l.line), l.col+count); i++ {
			l.line[i] = ' '
		}
	case '@': // ICH
		l.insert(count)
	case 'H', 'f', 'd': // CUP, HVP, VPA: somewhere else
		if len(l.line) > 0 {
			l.feed()
		}
		l.col = 0
	}
}

func (l *plainLines) insert(count int) {
	if l.col >= len(l.line) {
		return
	}
	count = min(count, maxPlainLine-len(l.line))
	if count > 0 {
		blanks := []rune(strings.Repeat(" ", count))
		l.line = append(l.line[:l.col], append(blanks, l.line[l.col:]...)...)
	}
}

func (l *plainLines) erase(how int) {
	switch how {
	case 0:
		l.line = l.line[:min(l.col, len(l.line))]
	case 1:
		for i := range l.line[:min(l.col+1, len(l.line))] {
			l.line[i] = ' '
		}
	case 2:
		l.line = l.line[:0]
	}
}

// private notices the alternate screen (xterm ctlseqs, DECSET 47, 1047, 1049).
func (l *plainLines) private(params string, on bool) {
	for _, p := range strings.Split(params, ";") {
		if p == "47" || p == "1047" || p == "1049" {
			l.alt = on
		}
	}
}
