package main

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

// leastSize is the size of a terminal that does not say.
var leastSize = wire.Size{Cols: 1, Rows: 1}

// userOutput writes what a program printed to the user's terminal and takes it back: at the
// end, and while this process is stopped. Whoever calls begin, write, resize or farewell
// has the turn.
type userOutput struct {
	out    *os.File
	tty    *tty // nil without a keyboard
	turn   turn
	screen vt.Engine // what the user's terminal shows; nil before begin
	traces traces    // of the screens before
}

// begin makes the terminal ready for a program in a terminal of the size.
func (u *userOutput) begin(size wire.Size) error {
	first := ""
	if u.screen == nil {
		first = enter(windowOf(u.out, leastSize).Rows)
	} else {
		u.traces.see(u.screen.Freeze())
	}
	u.screen = engines[defaultEngine](vt.Config{Cols: size.Cols, Rows: size.Rows, Guest: true})
	return u.anew(first)
}

// write shows output. The terminal gets what a viewer does: no queries, whose answers
// nobody waits for.
func (u *userOutput) write(p []byte) error {
	_, err := u.out.Write(u.screen.Write(p))
	return err
}

// anew makes the terminal as the screen is, behind first.
func (u *userOutput) anew(first string) error {
	f := u.screen.Freeze()
	u.traces.see(f)
	w := windowOf(u.out, leastSize)
	p := first + sober + u.traces.reset(w.Cols) + blank(w.Rows) + string(snapshot.ANSI(f, snapshot.Options{}))
	_, err := u.out.WriteString(p)
	return err
}

// farewell takes back all that was written, unless another job has the terminal.
func (u *userOutput) farewell() {
	if u.screen == nil || !foreground(u.out) {
		return
	}
	f := u.screen.Freeze()
	u.traces.see(f)
	put(u.out, leave(contentEnd(f), windowOf(u.out, leastSize), u.traces))
}

// begun hears signals; a signal to end must end ctx too. The caller calls end after the last output, which takes
// everything back. See hear for stopped.
func (u *userOutput) begun(ctx context.Context, stopped func(time.Duration)) (end func()) {
	heard := hearSignals()
	go heard.endLate(u.tty)
	ctx, done := context.WithCancel(ctx)
	var hears sync.WaitGroup
	hears.Go(func() { u.hear(ctx, heard, stopped) })
	return func() { // also when the caller panics
		done()
		hears.Wait()
		u.farewell()
		heard.close()
	}
}

// hear gives the terminal back while this process is stopped, until ctx ends. stopped gets
// the time that took.
func (u *userOutput) hear(ctx context.Context, s signals, stopped func(time.Duration)) {
	for {
		first, since := "", time.Now()
		select {
		case <-ctx.Done():
			return
		case <-s.stop:
			s.stopped(u.turn, u.tty, u.farewell)
			first = enter(windowOf(u.out, leastSize).Rows)
		case <-s.cont: // it was stopped by SIGSTOP, which no handler gets
			u.turn.take()
		}
		if s.regain(u.out) {
			u.tty.raw()
			if u.screen != nil {
				_ = u.anew(first) // an error shows at the next write of output
			}
		}
		u.turn.give()
		stopped(time.Since(since))
	}
}

// windowOf is the size of the terminal behind f, which is given when it does not say.
func windowOf(f *os.File, otherwise wire.Size) wire.Size {
	if cols, rows, ok := sizeOf(f); ok {
		return wire.Size{Cols: cols, Rows: rows}
	}
	return otherwise
}
