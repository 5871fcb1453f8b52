package pty

import (
	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
)

// SignalChars are the bytes that the line discipline makes signals of instead of
// passing them on (termios(3) VINTR, VQUIT, VSUSP with ISIG); none when it does
// not. Errors: ErrClosed.
func (m *Master) SignalChars() (chars []byte, err error) {
	t, err := m.termios()
	if err != nil || t.Lflag&unix.ISIG == 0 {
		return nil, err
	}
	for _, i := range [...]int{unix.VINTR, unix.VQUIT, unix.VSUSP} {
		if c := t.Cc[i]; c != 0 && c < 0x80 { // 0 is _POSIX_VDISABLE; beyond ASCII it is a part of a character
			chars = append(chars, c)
		}
	}
	return chars, nil
}

// LineMode says who edits what is typed, and who shows it.
type LineMode struct {
	Canonical bool // the line discipline hands out whole lines (termios(3) ICANON)
	Echo      bool // the line discipline shows what is typed (ECHO)
	// Editing: a line editor may have the terminal: neither of the two, and CR is no newline
	// (ICRNL), or VLNEXT has no meaning.
	Editing bool
	// Readline: these are the settings in which GNU Readline edits a line (rltty.c): neither of
	// the two, and no VLNEXT, which `stty raw` and a shell's `read -n` leave.
	Readline bool
}

// LineMode returns how the line discipline treats what is typed. Errors: ErrClosed.
func (m *Master) LineMode() (LineMode, error) {
	t, err := m.termios()
	if err != nil {
		return LineMode{}, err
	}
	return lineModeOf(t), nil
}

func lineModeOf(t *unix.Termios) LineMode {
	mode := LineMode{Canonical: t.Lflag&unix.ICANON != 0, Echo: t.Lflag&unix.ECHO != 0}
	mode.Editing = !mode.Canonical && !mode.Echo && (t.Iflag&unix.ICRNL == 0 || t.Cc[unix.VLNEXT] == 0)
	mode.Readline = !mode.Canonical && !mode.Echo && t.Cc[unix.VLNEXT] == 0
	return mode
}

// EOFChar is the byte that ends the input of a program where it stands at the beginning of a line (termios(3)
// VEOF with ICANON). ok is false when the line discipline has none, as for a program that reads single keys.
func (m *Master) EOFChar() (c byte, ok bool) {
	t, err := m.termios()
	if err != nil || t.Lflag&unix.ICANON == 0 {
		return 0, false
	}
	c = t.Cc[unix.VEOF]
	return c, c != 0 // _POSIX_VDISABLE
}

// termios returns the settings of the far end (TCGETS on a master, ioctl_tty(2)).
func (m *Master) termios() (t *unix.Termios, err error) {
	err = m.control("get line settings", func(fd int) (err error) {
		t, err = proc.TermiosNow(fd)
		return err
	})
	return t, err
}
