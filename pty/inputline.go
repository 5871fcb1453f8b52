package pty

import (
	"fmt"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// MaxLine is how many bytes a line may have before its end in canonical mode: the kernel keeps 4096 with the end
// (N_TTY_BUF_SIZE, n_tty.c; termios(3)) and drops what exceeds them.
const MaxLine = 4095

// LineTooLong is an ErrLineTooLong with the length of the line.
type LineTooLong struct {
	Bytes int // before the end of the line, with what was typed before
}

func (e *LineTooLong) Error() string {
	return fmt.Sprintf("%v: it has %d bytes, %d are allowed", ErrLineTooLong, e.Bytes, MaxLine)
}

// Unwrap returns ErrLineTooLong.
func (e *LineTooLong) Unwrap() error { return ErrLineTooLong }

// inputLine is the line that was typed and has no end yet, as the line discipline keeps it in canonical mode.
type inputLine struct {
	text    []byte
	literal bool // the next byte has no meaning (VLNEXT)
}

// freshSettings are the settings of a new terminal (tty_std_termios), as far as typing depends on them.
var freshSettings = unix.Termios{
	Iflag: unix.ICRNL | unix.IXON | unix.IUTF8,
	Lflag: unix.ISIG | unix.ICANON | unix.ECHO | unix.IEXTEN,
	Cc: [19]uint8{unix.VINTR: 3, unix.VQUIT: 28, unix.VERASE: 127, unix.VKILL: 21, unix.VEOF: 4, unix.VSTART: 17,
		unix.VSTOP: 19, unix.VSUSP: 26, unix.VREPRINT: 18, unix.VWERASE: 23, unix.VLNEXT: 22},
}

// CheckFreshLine reports what CheckLine does for a terminal that was just opened.
func CheckFreshLine(p []byte) error { return (inputLine{}).check(&freshSettings, p) }

// CheckLine refuses input with a line of which the program would get only a part: in canonical mode one of more than
// MaxLine bytes, with what this side wrote before and has no end yet. Input that another Write is writing does not
// count. Errors: *LineTooLong, ErrClosed.
func (m *Master) CheckLine(p []byte) error {
	t, err := m.termios()
	if err != nil {
		return err
	}
	return m.checkLine(t, p)
}

// checkLine is CheckLine with these settings.
func (m *Master) checkLine(t *unix.Termios, p []byte) error {
	m.lineMu.Lock()
	defer m.lineMu.Unlock()
	return m.line.check(t, p)
}

// noteTyped notes what the terminal has taken.
func (m *Master) noteTyped(p []byte) {
	if t, err := m.termios(); err == nil {
		m.lineMu.Lock()
		defer m.lineMu.Unlock()
		m.line.add(t, p)
	}
}

func (l inputLine) check(t *unix.Termios, p []byte) error {
	l.text = append([]byte(nil), l.text...)
	if n := l.add(t, p); n > MaxLine {
		return &LineTooLong{n}
	}
	return nil
}

// add types p and returns the length of the longest line on the way. Without canonical mode the program reads at
// once, and there is no line.
func (l *inputLine) add(t *unix.Termios, p []byte) (longest int) {
	if t.Lflag&unix.ICANON == 0 {
		*l = inputLine{}
		return 0
	}
	for _, c := range p {
		l.char(t, c)
		longest = max(longest, len(l.text))
	}
	if len(l.text) > MaxLine {
		l.text = l.text[:MaxLine] // the rest is lost
	}
	return longest
}

// char types one byte, in the order of n_tty_receive_char (n_tty.c).
func (l *inputLine) char(t *unix.Termios, c byte) {
	if t.Iflag&unix.ISTRIP != 0 {
		c &= 0x7f
	}
	is := func(i int) bool { return c != 0 && t.Cc[i] == c } // 0 is _POSIX_VDISABLE
	extended := t.Lflag&unix.IEXTEN != 0
	switch {
	case l.literal:
		l.literal, l.text = false, append(l.text, c)
		return
	case t.Iflag&unix.IXON != 0 && (is(unix.VSTART) || is(unix.VSTOP)):
		return
	case t.Lflag&unix.ISIG != 0 && (is(unix.VINTR) || is(unix.VQUIT) || is(unix.VSUSP)):
		if t.Lflag&unix.NOFLSH == 0 {
			l.text = l.text[:0]
		}
		return
	case c == '\r' && t.Iflag&unix.IGNCR != 0:
		return
	case c == '\r' && t.Iflag&unix.ICRNL != 0:
		c = '\n'
	case c == '\n' && t.Iflag&unix.INLCR != 0:
		c = '\r'
	}
	switch {
	case is(unix.VERASE), is(unix.VKILL), extended && is(unix.VWERASE):
		l.erase(t, c)
	case extended && is(unix.VLNEXT):
		l.literal = true
	case extended && is(unix.VREPRINT) && t.Lflag&unix.ECHO != 0:
	case c == '\n', is(unix.VEOF), is(unix.VEOL), extended && is(unix.VEOL2):
		l.text = l.text[:0]
	default:
		l.text = append(l.text, c)
	}
}

// erase removes a character, a word or the line.
func (l *inputLine) erase(t *unix.Termios, c byte) {
	word := false
	for n := len(l.text); n > 0; n = len(l.text) {
		size := 1
		if t.Iflag&unix.IUTF8 != 0 {
			for size < n && !utf8.RuneStart(l.text[n-size]) {
				size++
			}
		}
		last := l.text[n-size]
		part := last == '_' || last >= '0' && last <= '9' || last|0x20 >= 'a' && last|0x20 <= 'z'
		switch {
		case c == t.Cc[unix.VKILL]:
		case c == t.Cc[unix.VERASE]:
			l.text = l.text[:n-size]
			return
		case word && !part:
			return
		}
		word = word || part
		l.text = l.text[:n-size]
	}
}
