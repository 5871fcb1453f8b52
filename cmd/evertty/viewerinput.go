package main

import (
	"context"
	"errors"
	"io"
	"syscall"
	"time"
)

// detachGrace is how long the detach keys wait for what was typed before them.
const detachGrace = 500 * time.Millisecond

// readKeys passes typed input on until the detach keys or the end of v.tty. When
// the sender does not follow it waits, and so does the user's terminal. It closes
// typed behind the last key before the detach keys.
func (v *viewer) readKeys(ctx context.Context, typed chan<- []byte) {
	d := detacher{keys: v.keys}
	var mouse mouseTranslator
	buf := make([]byte, typedPiece)
	var pressed time.Time
	for {
		limit := v.colors.patience()
		if d.waiting() && (limit < 0 || limit > detachPause) {
			limit = detachPause
		}
		n, err := v.tty.read(buf, limit)
		if err != nil {
			if !errors.Is(err, io.EOF) {
				v.end(err)
			}
			return
		}
		var out []byte
		detached := false
		if p := v.colors.pass(buf[:n]); len(p) > 0 {
			out, detached = d.pass(p)
		} else if n == 0 && time.Since(pressed) >= detachPause {
			out = d.release()
		}
		if n > 0 {
			pressed = time.Now()
		}
		if out = mouse.pass(out, v.mouse.Load()); len(out) > 0 && !v.readOnly {
			select {
			case typed <- out:
			case <-ctx.Done():
				return
			}
		}
		if detached {
			close(typed)
			time.AfterFunc(detachGrace, func() { v.end(errDetached) })
			v.drain(buf)
			return
		}
	}
}

// drain takes the answers that the user's terminal still owes, until they are there or the
// end of v.tty: else they would come to the shell.
func (v *viewer) drain(buf []byte) {
	for v.colors.waiting() {
		n, err := v.tty.read(buf, v.colors.patience())
		if err != nil {
			return
		}
		v.colors.pass(buf[:n])
	}
}

// sendKeys sends typed input. While there is no connection it is dropped: nobody
// wants a command from before carried out on a screen not yet seen.
func (v *viewer) sendKeys(ctx context.Context, typed <-chan []byte) {
	for {
		select {
		case p, ok := <-typed:
			if !ok {
				v.end(errDetached)
				return
			}
			if conn := v.conn.Load(); conn != nil {
				at := time.Now()
				_ = conn.Input(p) // a broken connection shows in Next
				v.noteSent(p, at)
			}
		case <-ctx.Done():
			return
		}
	}
}

// hear ends the viewer at a signal to end, and has it leave the user's
// terminal while the program is stopped.
func (v *viewer) hear(ctx context.Context, s signals) {
	for {
		first := ""
		select {
		case got := <-s.end:
			v.end(signalError{got.(syscall.Signal)})
			return
		case <-s.stop:
			s.stopped(v.turn, v.tty, v.farewell)
			first = enter(windowOf(v.tty.out, leastSize).Rows)
		case <-s.cont: // it was stopped by SIGSTOP, which no handler gets
			v.turn.take()
		case <-ctx.Done():
			return
		}
		if !v.left && s.regain(v.tty.out) {
			v.goOn(first)
		}
		v.turn.give()
	}
}

// goOn takes the user's terminal again after a stop, writes first, and paints the screen
// anew, for a window that may have another size. The caller has the turn.
func (v *viewer) goOn(first string) {
	v.tty.raw()
	v.asks = !v.readOnly
	if conn := v.conn.Load(); conn != nil {
		v.sayHow(conn)
	}
	if v.shown {
		put(v.tty.out, first)
		_ = v.anew()
	}
	_ = v.write(nil)
}
