package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

const (
	// retryFirst and retryMost bound the pause before a broken connection is made
	// again; it doubles each time.
	retryFirst = 100 * time.Millisecond
	retryMost  = 5 * time.Second
	// settle is how long the size must rest before the screen is drawn again after a
	// resize: the server's screen of the new size comes in that time, if it comes.
	settle = 100 * time.Millisecond
	// frameTime is the shortest time between two paintings: no eye sees more.
	frameTime = 33 * time.Millisecond
	// frameLull is how long a painting waits for more of the same output.
	frameLull = 3 * time.Millisecond
	// wholeFrame is how long a painting waits for the end of a picture that the program holds together.
	wholeFrame = 100 * time.Millisecond
	// typedAhead bounds typed input that waits to be sent, in pieces.
	typedAhead = 256
)

// signalError is the signal that ended a viewer.
type signalError struct{ syscall.Signal }

func (s signalError) Error() string { return s.Signal.String() }

// viewer shows one terminal in the user's own.
//
// One goroutine, run's, writes to the screen. Another reads the keyboard, a third
// sends what was typed, a fourth hears signals; all end with run. They end it by
// cancelling its context with the reason.
type viewer struct {
	target
	link
	userWindow
	drawing
	predicting
	end context.CancelCauseFunc
}

// target is the terminal to show, and how.
type target struct {
	connect    func() (*client.Client, error) // finds the server, each time anew
	id, name   string
	keys       []key  // that detach
	leaveKeys  string // the same in words, for the hint; "" is no hint
	readOnly   bool
	self       string // what other viewers see
	secret     string // by which the server knows this viewer again
	scrollback int    // lines of history of the first snapshot
	inside     client.Inside
}

// link is the connection to the server. The fields below conn need the turn.
type link struct {
	conn   atomic.Pointer[client.Attachment] // nil while there is none
	server *client.Client                    // of the connection
	lost   bool                              // the connection broke after the last event
	told   bool                              // and the user was told, on the screen
	seq    uint64                            // position in the output of what display has
	behind bool                              // a snapshot is awaited: without the history a resize cannot be repeated
}

// userWindow is the user's terminal. The fields below turn need it.
type userWindow struct {
	tty       *tty
	sizes     chan os.Signal // it has another size
	colors    *userColors
	turn      turn
	clipboard *userClipboard // nil: what programs write to the clipboard goes nowhere
	note      string         // waits until no sequence is open: the last notification
	asks      bool           // tty is to be asked for its colours
	left      bool           // tty was given back for good
}

// drawing is the picture of the terminal on the window. The fields below mouse need the turn.
type drawing struct {
	mouse   atomic.Pointer[mouseView] // of the terminal on display; nil: the mouse needs no translation
	display display
	shown   bool // a snapshot was written: the screen is ours
	// stale: the screen does not show what display has, and no output can be added to
	// it: the user's terminal was resized, or has a notice on it.
	stale bool
	drawn time.Time // when display was drawn last
	draw  *time.Timer
	waits bool      // draw is set
	due   time.Time // to this
	frame time.Time // see noteFrame

	hint   *time.Timer // for turnHint
	hinted bool        // the hint was shown
}

// run shows the terminal on the user's until the program ends (exit is not nil)
// or the viewer does: errDetached, a signalError, errHungUp, or what the server
// says. The user's terminal is as it was before, whatever happens.
func (v *viewer) run(ctx context.Context, in, out *os.File) (exit *wire.Exit, err error) {
	heard := hearSignals()
	defer heard.close()
	if v.tty, err = openTTY(in, out); err != nil {
		return nil, err
	}
	go heard.endLate(v.tty)
	v.turn, v.asks = newTurn(), !v.readOnly
	v.colors = &userColors{changed: v.tellColors, outdated: make(chan struct{}, 1)}
	ctx, v.end = context.WithCancelCause(ctx)
	var helpers sync.WaitGroup
	defer func() { // also when run panics
		v.end(nil)
		v.leave()
		helpers.Wait()
		v.tty.Close()
	}()
	v.sizes = heard.size
	_ = v.write(nil) // asks for the colours
	v.draw = time.NewTimer(time.Hour)
	defer v.draw.Stop()
	v.hint = time.NewTimer(time.Hour)
	defer v.hint.Stop()
	v.recheck = time.NewTimer(time.Hour)
	defer v.recheck.Stop()
	typed := make(chan []byte, typedAhead)
	for _, f := range []func(){
		func() { v.readKeys(ctx, typed) },
		func() { v.sendKeys(ctx, typed) },
		func() { v.hear(ctx, heard) },
	} {
		helpers.Go(func() { v.guard(f) })
	}
	return v.follow(ctx)
}

// guard turns a panic of a goroutine into an error of run: the user's terminal
// must be restored before the program ends.
func (v *viewer) guard(f func()) {
	defer func() {
		if p := recover(); p != nil {
			v.end(fmt.Errorf("invariant violation: %v %s", p, debug.Stack()))
		}
	}()
	f()
}

// follow shows one connection after the other until there is an end. A connection
// that broke goes on where it was, if the server has what followed. What goes
// wrong before the first snapshot is final; after it only patience helps, and it
// does not help against a terminal that is gone or a token that is wrong.
func (v *viewer) follow(ctx context.Context) (*wire.Exit, error) {
	history := v.scrollback
	for pause := time.Duration(0); ; {
		if err := v.pause(ctx, pause); err != nil {
			return nil, err
		}
		exit, err := v.visit(ctx, history)
		switch {
		case exit != nil:
			return exit, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case !v.shown, errors.Is(err, client.ErrNotFound), errors.Is(err, client.ErrUnauthorized),
			errors.Is(err, client.ErrKicked):
			return nil, err
		case v.lost:
			_ = v.mine(v.tell)
			pause = min(2*max(pause, retryFirst), retryMost)
		default:
			v.lost, pause = true, retryFirst
		}
		history = 0 // it is in the scrollback already
	}
}

// visit shows the terminal as long as one connection lasts.
func (v *viewer) visit(ctx context.Context, history int) (*wire.Exit, error) {
	conn, err := v.dial(ctx, history)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer v.conn.Store(nil)
	defer func() { _ = v.mine(v.forgetPredictions) }() // an error ends ctx
	return v.show(ctx, conn)
}

// sleep waits; its error is the cause of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// pause waits between two connections; its error is the cause of ctx. The status line follows the window's size.
func (v *viewer) pause(ctx context.Context, d time.Duration) error {
	if v.display.status == nil {
		return sleep(ctx, d)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-v.sizes:
			_ = v.mine(v.anew) // an error ends ctx
		}
	}
}

// dial connects once. The size of the user's terminal goes along as a viewer's, so
// that the first snapshot has the size that the policy makes of it.
func (v *viewer) dial(ctx context.Context, history int) (*client.Attachment, error) {
	server, err := v.connect()
	if err != nil {
		return nil, err
	}
	o := client.AttachOptions{Scrollback: history, HistoryOnce: true, Inside: v.inside, Name: v.self, Key: v.secret}
	if v.shown && !v.behind {
		o.Since = &v.seq
	}
	if cols, rows, ok := v.wanted(); ok {
		o.Cols, o.Rows = cols, rows
	}
	conn, err := server.Attach(ctx, v.id, o)
	if err != nil {
		return nil, err
	}
	if v.server != nil {
		v.server.Close()
	}
	v.server = server
	v.conn.Store(conn)
	v.tellColors()
	return conn, nil
}

// tellColors tells the server which colours the user's terminal has, once they are known.
func (v *viewer) tellColors() {
	if conn := v.conn.Load(); conn != nil {
		if c, ok := v.colors.known(); ok {
			_ = conn.Colors(c) // a broken connection shows in Next
		}
	}
}

// show writes what one connection brings to the screen.
func (v *viewer) show(ctx context.Context, conn *client.Attachment) (*wire.Exit, error) {
	events, quit := make(chan taken), make(chan struct{})
	defer close(quit)
	go passEvents(conn.Next, events, quit)
	ctx, done := context.WithCancel(ctx)
	defer done()
	infos, asked := make(chan client.Terminal, 1), v.display.status == nil
	v.display.status.connected()
	for {
		var err error
		select {
		case t := <-events:
			if t.err != nil {
				return nil, t.err
			}
			if t.event.Kind == client.KindExit {
				return t.event.Exit, nil
			}
			err = v.mine(func() error { return v.take(t.event) })
			if !asked { // from the first event on this viewer counts
				asked = true
				go ask(ctx, v.server, v.id, infos)
			}
		case info := <-infos:
			err = v.mine(func() error { v.display.status.learn(info); v.statusSoon(); return nil })
		case <-v.sizes:
			err = v.mine(func() error { return v.resized(conn) })
		case <-v.draw.C:
			err = v.mine(func() error { v.waits = false; return v.redraw() })
		case k := <-v.sent:
			err = v.mine(func() error { return v.predict(k) })
		case <-v.recheck.C:
			err = v.mine(func() error { v.predictor.recheck(time.Now()); return v.showPrediction() })
		case <-v.hint.C:
			err = v.mine(v.turnHint)
		case <-v.colors.outdated:
			err = v.mine(func() error { v.asks = true; return v.write(nil) })
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if err != nil {
			return nil, err
		}
	}
}

// ask hands on what the server says of a terminal, if it does. infos has room for it.
func ask(ctx context.Context, server *client.Client, id string, infos chan<- client.Terminal) {
	if info, err := server.Get(ctx, id); err == nil {
		infos <- info
	}
}

// mine runs f in the turn.
func (v *viewer) mine(f func() error) error {
	v.turn.take()
	defer v.turn.give()
	return f()
}

// passEvents hands on what next returns until its first error, or until quit.
func passEvents(next func() (client.Event, error), events chan<- taken, quit <-chan struct{}) {
	for {
		e, err := next()
		select {
		case events <- taken{e, err}:
		case <-quit:
			return
		}
		if err != nil {
			return
		}
	}
}
