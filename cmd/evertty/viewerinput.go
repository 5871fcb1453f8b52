package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// detachGrace is how long the detach keys wait for what was typed before them.
const detachGrace = 500 * time.Millisecond

// readKeys passes on what is typed until the detach keys or the end of v.tty. When
// the sender does not follow it waits, and so does the user's terminal. It closes
// typed behind the last key before the detach keys.
func (v *viewer) readKeys(ctx context.Context, typed chan<- []byte) {
	d := detacher{keys: v.keys}
	buf := make([]byte, typedPiece)
	for {
		limit := detachPause
		if !d.waiting() {
			limit = -1
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
		if n == 0 {
			out = d.release()
		} else {
			out, detached = d.pass(buf[:n])
		}
		if len(out) > 0 && !v.readOnly {
			select {
			case typed <- out:
			case <-ctx.Done():
				return
			}
		}
		if detached {
			close(typed)
			time.AfterFunc(detachGrace, func() { v.end(errDetached) })
			return
		}
	}
}

// sendKeys sends what is typed. While there is no connection it is dropped: nobody
// wants a command from before carried out on a screen not yet seen.
func (v *viewer) sendKeys(ctx context.Context, typed <-chan []byte) {
	for {
		select {
		case p, ok := <-typed:
			if !ok {
				v.end(errDetached)
				return
			}
			v.deliver(ctx, p)
		case <-ctx.Done():
			return
		}
	}
}

// replaceCheck is how often a key looks whether the new connection is there.
const replaceCheck = 5 * time.Millisecond

// deliver sends one piece. A connection that is just being replaced refuses it
// whole, and the next one takes it.
func (v *viewer) deliver(ctx context.Context, p []byte) {
	for {
		conn := v.conn.Load()
		if conn != nil && conn.Input(p) == nil || !v.replacing.Load() {
			return // a broken connection shows in Next
		}
		if sleep(ctx, replaceCheck) != nil {
			return
		}
	}
}

// signals are what a viewer hears while it has the user's terminal.
type signals struct{ size, end chan os.Signal }

// hearSignals begins to hear signals; from then on none ends the program by itself.
func hearSignals() signals {
	s := signals{make(chan os.Signal, 1), make(chan os.Signal, 1)}
	signal.Notify(s.size, syscall.SIGWINCH)
	signal.Notify(s.end, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT)
	return s
}

func (s signals) stop() {
	signal.Stop(s.size)
	signal.Stop(s.end)
}

// hear follows the size of the user's terminal and ends the viewer when the program
// is told to end.
func (v *viewer) hear(ctx context.Context, s signals) {
	for {
		select {
		case <-s.size:
			v.resized()
		case got := <-s.end:
			v.end(signalError{got.(syscall.Signal)})
			return
		case <-ctx.Done():
			return
		}
	}
}

func (v *viewer) resized() {
	cols, rows, ok := sizeOf(v.tty.out)
	conn := v.conn.Load()
	if ok && conn != nil && !v.readOnly {
		_ = conn.Resize(cols, rows) // a broken connection shows in Next
	}
	v.rearranged()
}
