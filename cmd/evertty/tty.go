package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// typedPiece is how much is read of the keyboard at once, in bytes.
const typedPiece = 4 << 10

// errHungUp is the end of a viewer whose terminal has gone.
var errHungUp = errors.New("the terminal has hung up")

// tty is the user's terminal while a viewer has it.
type tty struct {
	stoppable
	out   *os.File
	state *term.State // before
}

// isTTY reports whether both files are terminals.
func isTTY(in, out *os.File) bool {
	return in != nil && out != nil && term.IsTerminal(int(in.Fd())) && term.IsTerminal(int(out.Fd()))
}

// sizeOf is the size of the terminal behind f; ok is false when there is none or
// it does not say.
func sizeOf(f *os.File) (cols, rows int, ok bool) {
	cols, rows, err := term.GetSize(int(f.Fd()))
	return cols, rows, err == nil && cols > 0 && rows > 0
}

// openTTY puts the terminal into raw mode: every key arrives as it is, every byte
// leaves as it is (termios(3), cfmakeraw). The caller must Close it.
func openTTY(in, out *os.File) (*tty, error) {
	keys, err := newStoppable(in)
	if err != nil {
		return nil, fmt.Errorf("attach: %w", err)
	}
	state, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		keys.stop()
		keys.close()
		return nil, fmt.Errorf("attach: raw mode: %w", err)
	}
	return &tty{keys, out, state}, nil
}

// Restore gives the terminal its own modes back, unless another job has it. It may be called
// more than once and from any goroutine; a nil tty has nothing to give back.
func (t *tty) Restore() {
	if t != nil && foreground(t.in) {
		_ = term.Restore(int(t.in.Fd()), t.state)
	}
}

// raw puts the terminal into raw mode again, after Restore or a stop.
func (t *tty) raw() {
	if t != nil {
		_, _ = term.MakeRaw(int(t.in.Fd()))
	}
}

// Close restores the terminal and lets go of the rest; no read may be pending.
func (t *tty) Close() {
	t.Restore()
	t.close()
}

// read waits for keys. It returns no bytes and no error when limit has passed
// (negative: no limit), io.EOF after stop and errHungUp when the terminal is gone.
func (t *tty) read(p []byte, limit time.Duration) (int, error) {
	milliseconds := -1
	if limit >= 0 {
		milliseconds = int(limit.Milliseconds())
	}
	n, ready, err := t.stoppable.read(p, milliseconds)
	switch {
	case err != nil && !ready:
		return 0, fmt.Errorf("attach: keyboard: %w", err)
	case !ready, errors.Is(err, io.EOF):
		return 0, err
	case err != nil || n == 0:
		return 0, errHungUp
	}
	return n, nil
}
