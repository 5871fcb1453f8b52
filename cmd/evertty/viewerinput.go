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
	var mouse mouseTranslator
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
			if conn := v.conn.Load(); conn != nil {
				_ = conn.Input(p) // a broken connection shows in Next
			}
		case <-ctx.Done():
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

// hear ends the viewer when the program is told to end.
func (v *viewer) hear(ctx context.Context, s signals) {
	select {
	case got := <-s.end:
		v.end(signalError{got.(syscall.Signal)})
	case <-ctx.Done():
	}
}
