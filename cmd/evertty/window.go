package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
)

// errNoScreen is a user's terminal that takes no output.
var errNoScreen = errors.New("the terminal takes no output")

// fullWindow is a picture in the whole of the user's window: the picker's, or top's. It has one caller at a time.
type fullWindow struct {
	out     *os.File
	painted string                            // on the screen
	lines   func(cols, rows int) []string     // the picture, a line for each row of the window at most
	press   func(key pickerKey) (leaves bool) // does what a key asks for
}

// occupy shows w until a key leaves it or a signal ends this process. What comes by changes is called between keys. The
// user's terminal is as before then.
func (a *app) occupy(w *fullWindow, changes <-chan func()) (err error) {
	heard := hearSignals()
	defer heard.close()
	tty, err := openTTY(a.stdin, a.stdout)
	if err != nil {
		return err
	}
	go heard.endLate(tty)
	keys := newPickerKeys(tty)
	defer func() { // also when it panics
		w.leave()
		tty.stop()
		keys.stop()
		tty.Close()
	}()
	w.enter()
	for leaves := false; err == nil && !leaves; {
		select {
		case k := <-keys.pressed:
			leaves = w.press(k)
			keys.next(leaves)
		case change := <-changes:
			change()
		case <-heard.size:
		case got := <-heard.end:
			return signalCode(got.(syscall.Signal))
		case <-heard.stop:
			err = w.pause(heard, tty, true)
		case <-heard.cont: // it was stopped by SIGSTOP
			err = w.pause(heard, tty, false)
		case err = <-keys.failed:
		}
		if err == nil && !leaves {
			err = w.draw()
		}
	}
	return err
}

// pause stops this process when it is asked to, gives the terminal back for that long, and takes it again.
func (w *fullWindow) pause(heard signals, tty *tty, asked bool) error {
	if asked {
		turn := newTurn()
		heard.stopped(turn, tty, w.leave)
	}
	if !heard.regain(w.out) {
		return signalCode((<-heard.end).(syscall.Signal))
	}
	tty.raw()
	w.enter()
	return nil
}

// size is the window's size.
func (w *fullWindow) size() (cols, rows int) {
	s := windowOf(w.out, leastSize)
	return s.Cols, s.Rows
}

// draw brings the window up to date.
func (w *fullWindow) draw() error {
	cols, rows := w.size()
	text := paintLines(w.lines(cols, rows), cols)
	if text == w.painted {
		return nil
	}
	w.painted = text
	return w.write(text)
}

// write puts text on the user's terminal, unless another job has it.
func (w *fullWindow) write(text string) error {
	if !foreground(w.out) {
		return nil
	}
	if _, err := w.out.WriteString(text); err != nil {
		return fmt.Errorf("%w: %w", errNoScreen, err)
	}
	return nil
}

// enter shows the alternate screen, leave the one before with the modes of a shell.
func (w *fullWindow) enter() {
	w.painted = ""
	_ = w.write(keepTitle + alternateScreen + bracketPastes)
	_ = w.draw()
}

func (w *fullWindow) leave() { _ = w.write(plainPastes + showCursor + "\x1b[m\x1b[?1049l" + giveTitle) }

// send hands a change to the loop of a window, unless ctx ends first.
func send(ctx context.Context, changes chan<- func(), change func()) {
	select {
	case changes <- change:
	case <-ctx.Done():
	}
}

// canPaint reports whether both are a terminal that understands sequences.
func (a *app) canPaint() bool { return isTTY(a.stdin, a.stdout) && os.Getenv("TERM") != "dumb" }

// colors reports whether what goes to f may have colours (https://no-color.org).
func colors(f *os.File) bool {
	return isTTY(f, f) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}
