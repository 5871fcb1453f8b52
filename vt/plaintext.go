package vt

import (
	"io"
	"slices"
	"strings"
)

const (
	// maxPlainLine bounds one line, in characters; a longer one is broken.
	maxPlainLine = 64 << 10
	plainTab     = 8 // columns between two tab stops
)

// PlainText turns output into plain lines. Sequences act on their line or are left out, carriage
// return and backspace overwrite, and text on the alternate screen is not written. It knows no size
// of a screen. It is not for concurrent use.
type PlainText struct {
	w       io.Writer
	stream  stream
	line    []rune
	col     int
	flushed string // of the line, on w already
	alt     bool
	out     strings.Builder
}

// NewPlainText writes lines to w. alt says that the output begins on the alternate screen.
func NewPlainText(w io.Writer, alt bool) *PlainText { return &PlainText{w: w, alt: alt} }

// Start writes whole lines; the last one is the line that output goes on with.
func (l *PlainText) Start(lines []string) error {
	for i, s := range lines {
		if i < len(lines)-1 {
			l.out.WriteString(s + "\n")
			continue
		}
		l.line = []rune(s)
		l.col = len(l.line)
	}
	return l.Flush()
}

// Write takes output, cut anywhere.
func (l *PlainText) Write(p []byte) (int, error) {
	l.stream.Write(p, (*plainHandler)(l))
	return len(p), l.deliver()
}

// Flush writes the line as it is now. A line that changes later is written again below.
func (l *PlainText) Flush() error {
	l.show()
	return l.deliver()
}

// End writes the rest as a whole line.
func (l *PlainText) End() error {
	if len(l.line) > 0 {
		l.feed()
	}
	return l.deliver()
}

func (l *PlainText) deliver() error {
	if l.out.Len() == 0 {
		return nil
	}
	_, err := io.WriteString(l.w, l.out.String())
	l.out.Reset()
	return err
}

func (l *PlainText) show() {
	s := string(l.line)
	rest, ok := strings.CutPrefix(s, l.flushed)
	if !ok {
		rest = "\n" + s
	}
	l.out.WriteString(rest)
	l.flushed = s
}

// feed ends the line.
func (l *PlainText) feed() {
	l.show()
	l.out.WriteByte('\n')
	l.line, l.col, l.flushed = l.line[:0], 0, ""
}

func (l *PlainText) put(r rune) {
	if l.col >= maxPlainLine {
		l.feed()
	}
	l.pad(l.col + 1)
	l.line[l.col] = r
	l.col++
}

// pad makes the line at least n characters long.
func (l *PlainText) pad(n int) {
	for len(l.line) < n {
		l.line = append(l.line, ' ')
	}
}

// plainHandler is the handler of a PlainText's stream.
type plainHandler PlainText

// Print implements handler.
func (h *plainHandler) Print(text []byte, _ bool) {
	if h.alt {
		return
	}
	for _, r := range string(text) {
		(*PlainText)(h).put(r)
	}
}

// Control implements handler.
func (h *plainHandler) Control(c rune) {
	if h.alt {
		return
	}
	switch c {
	case '\n', '\v', '\f', 0x84, 0x85: // LF, VT, FF, IND, NEL
		(*PlainText)(h).feed()
	case '\r':
		h.col = 0
	case '\b':
		h.col = max(0, h.col-1)
	case '\t':
		h.col = min(h.col/plainTab*plainTab+plainTab, maxPlainLine)
	}
}

// Escape implements handler.
func (h *plainHandler) Escape(f function) {
	switch f {
	case 'D', 'E', 'c': // IND, NEL, RIS
		if !h.alt && (f != 'c' || len(h.line) > 0) {
			(*PlainText)(h).feed()
		}
	}
}

// CSI implements handler.
func (h *plainHandler) CSI(f function) {
	l := (*PlainText)(h)
	switch n := l.stream.Param(0); f {
	case '?'*private + 'h', '?'*private + 'l':
		for i := range l.stream.Count() {
			switch l.stream.Param(i) {
			case 47, 1047, 1049: // the alternate screen (xterm ctlseqs, DECSET)
				l.alt = f == '?'*private+'h'
			}
		}
	default:
		if !l.alt {
			l.act(f, n, min(max(n, 1), maxPlainLine))
		}
	}
}

// OSC implements handler.
func (h *plainHandler) OSC([]byte) {}

// DCS implements handler.
func (h *plainHandler) DCS([]byte) {}

// act changes the line as a control sequence does. Its first parameter is n, as a count it is
// count.
func (l *PlainText) act(f function, n, count int) {
	switch f {
	case 'C', 'a': // CUF, HPR
		l.col = min(l.col+count, maxPlainLine)
	case 'D': // CUB
		l.col = max(0, l.col-count)
	case 'G', '`': // CHA, HPA
		l.col = count - 1
	case 'K', 'J': // EL, ED as far as the line goes
		l.erase(n)
	case 'P': // DCH
		at := min(l.col, len(l.line))
		l.line = slices.Delete(l.line, at, min(len(l.line), at+count))
	case 'X': // ECH
		l.blank(l.col, l.col+count)
	case '@': // ICH
		if count = min(count, maxPlainLine-len(l.line)); l.col < len(l.line) && count > 0 {
			l.line = slices.Insert(l.line, l.col, slices.Repeat([]rune{' '}, count)...)
		}
	case 'H', 'f', 'd': // CUP, HVP, VPA: somewhere else
		if len(l.line) > 0 {
			l.feed()
		}
		l.col = 0
	}
}

// blank makes the characters from from to to-1 blanks, as far as there are any.
func (l *PlainText) blank(from, to int) {
	for i := from; i < min(len(l.line), to); i++ {
		l.line[i] = ' '
	}
}

func (l *PlainText) erase(how int) {
	switch how {
	case 0:
		l.line = l.line[:min(l.col, len(l.line))]
	case 1:
		l.blank(0, l.col+1)
	case 2:
		l.line = l.line[:0]
	}
}
