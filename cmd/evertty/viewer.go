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
)

const (
	// retryFirst and retryMost bound the pause before a broken connection is made
	// again; it doubles each time.
	retryFirst = 100 * time.Millisecond
	retryMost  = 5 * time.Second
	// settle is how long the size must rest before the screen is fetched again
	// after a resize.
	settle = 150 * time.Millisecond
	// typedAhead bounds what is typed faster than it can be sent, in pieces.
	typedAhead = 256
	// answerTime is how long a server may take to answer before the connection
	// counts as broken.
	answerTime = 10 * time.Second
	// farewell is how long the end may wait for the server's word on where the
	// content ends.
	farewell = time.Second
)

// signalError is why a viewer ends that was told to by a signal.
type signalError struct{ syscall.Signal }

func (s signalError) Error() string { return s.Signal.String() }

// errAgain is why a connection ends that is to be made again at once.
var errAgain = errors.New("the screen is fetched again")

// viewer shows one terminal in the user's own.
//
// One goroutine, run's, writes to the screen. Another reads the keyboard, a third
// sends what was typed, a fourth hears signals; all end with run. They end it by
// cancelling its context with the reason.
type viewer struct {
	connect    func() (*client.Client, error) // finds the server, each time anew
	id, name   string
	keys       []key
	readOnly   bool
	scrollback int            // lines of history of the first snapshot
	clipboard  *userClipboard // nil: what programs write to the clipboard goes nowhere

	tty    *tty
	end    context.CancelCauseFunc
	conn   atomic.Pointer[client.Attachment] // nil while there is none
	server *client.Client                    // of the connection; belongs to run's goroutine
	shown  bool                              // a snapshot was written: the screen is ours
	lost   bool                              // since then the connection broke
	told   bool                              // and the user was told, on the screen
	seq    uint64                            // position in the output of what is shown
	// stale: what is shown is not what the output up to seq makes, so nothing can
	// be added to it: the user's terminal was resized, or has a notice on it.
	stale  atomic.Bool
	size   client.Size // of what is shown
	colors colors
	resync *time.Timer // fetches the screen again after a resize
	again  atomic.Bool // it did
	// replacing: the connection is being made anew on purpose, and what is typed
	// meanwhile waits for the new one.
	replacing atomic.Bool
}

// run shows the terminal on the user's until the program ends (exit is not nil)
// or the viewer does: errDetached, a signalError, errHungUp, or what the server
// says. The user's terminal is as it was before, whatever happens.
func (v *viewer) run(ctx context.Context, in, out *os.File) (exit *client.Exit, err error) {
	heard := hearSignals()
	defer heard.stop()
	if v.tty, err = openTTY(in, out); err != nil {
		return nil, err
	}
	ctx, v.end = context.WithCancelCause(ctx)
	var helpers sync.WaitGroup
	defer func() { // also when run panics
		v.end(nil)
		v.tty.stop()
		v.leave()
		helpers.Wait()
		v.tty.Close()
	}()
	v.resync = time.AfterFunc(time.Hour, v.refresh)
	v.resync.Stop()
	defer v.resync.Stop()
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
func (v *viewer) follow(ctx context.Context) (*client.Exit, error) {
	history := v.scrollback
	for pause := time.Duration(0); ; {
		if err := sleep(ctx, pause); err != nil {
			return nil, err
		}
		exit, err := v.visit(ctx, history)
		switch {
		case exit != nil:
			return exit, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case !v.shown, errors.Is(err, client.ErrNotFound), errors.Is(err, client.ErrUnauthorized):
			return nil, err
		case v.again.Swap(false), errors.Is(err, errAgain):
			pause = 0
		case v.lost:
			v.replacing.Store(false)
			v.tell()
			pause = min(2*max(pause, retryFirst), retryMost)
		default:
			v.replacing.Store(false)
			v.lost, pause = true, retryFirst
		}
		history = 0 // it is in the scrollback already
	}
}

// visit shows the terminal as long as one connection lasts.
func (v *viewer) visit(ctx context.Context, history int) (*client.Exit, error) {
	conn, err := v.dial(ctx, history)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer v.conn.Store(nil)
	return v.show(conn, history != 0)
}

// sleep waits; its error is the reason of ctx's end.
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

// dial connects once. The terminal gets the user's size before, so that its first
// snapshot fits already.
func (v *viewer) dial(ctx context.Context, history int) (*client.Attachment, error) {
	server, err := v.connect()
	if err != nil {
		return nil, err
	}
	cols, rows, ok := sizeOf(v.tty.out)
	resize := ok && !v.readOnly
	if resize {
		limited, cancel := context.WithTimeout(ctx, answerTime)
		err := server.Resize(limited, v.id, cols, rows)
		cancel()
		var refused *client.Error
		if err != nil && !errors.As(err, &refused) { // a refusal may be fine: it has exited
			return nil, err
		}
	}
	o := client.AttachOptions{Scrollback: history}
	if v.shown && !v.stale.Load() {
		o.Since = &v.seq
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
	v.replacing.Store(false)
	// Only now does a change of size reach the server; one since the look above
	// did not.
	if cols, rows, ok := sizeOf(v.tty.out); ok && resize {
		_ = conn.Resize(cols, rows) // a broken connection shows at once in Next
	}
	return conn, nil
}

// show writes the events of one connection to the screen. A second snapshot with
// history would fill the scrollback twice: then the connection is made again
// without.
func (v *viewer) show(conn *client.Attachment, withHistory bool) (*client.Exit, error) {
	for first := true; ; {
		e, err := conn.Next()
		if err != nil {
			return nil, err
		}
		switch e.Kind {
		case client.KindSnapshot:
			if !first && withHistory {
				v.stale.Store(true)
				v.replacing.Store(true)
				return nil, errAgain
			}
			first = false
			v.resync.Stop()
			err = v.snapshot(e)
		case client.KindResume:
			first = false
			v.resume(e)
		case client.KindData:
			v.colors.see(e.Data)
			err = v.write(v.clipboard.behind(e.Data))
			v.seq = e.Seq
		case client.KindMeta:
			if v.clipboard != nil && e.Meta.Clipboard != nil {
				err = v.write(v.clipboard.take(*e.Meta.Clipboard))
			}
		case client.KindResize:
			v.seq = e.Seq
			v.rearranged()
		case client.KindExit:
			return e.Exit, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func (v *viewer) snapshot(e client.Event) error {
	before := fresh
	if !v.shown {
		_, rows, ok := sizeOf(v.tty.out)
		if !ok {
			rows = e.Rows
		}
		before = enter(rows) + fresh
		v.shown = true
	}
	v.lost, v.told, v.seq = false, false, e.Seq
	v.stale.Store(false)
	v.size = client.Size{Cols: e.Cols, Rows: e.Rows}
	v.colors.see(e.Data)
	return v.write(v.clipboard.behind(append([]byte(before), e.Data...)))
}

// resume goes on with what is shown.
func (v *viewer) resume(e client.Event) {
	v.lost = false
	if size := (client.Size{Cols: e.Cols, Rows: e.Rows}); size != v.size {
		v.size = size
		v.rearranged()
	}
}

// rearranged has the screen fetched again soon: the user's terminal rearranges its
// lines in its own way.
func (v *viewer) rearranged() {
	v.stale.Store(true)
	v.resync.Reset(settle)
}

// write puts output on the screen. A screen that takes none is gone.
func (v *viewer) write(p []byte) error {
	if _, err := v.tty.out.Write(p); err != nil {
		v.end(errHungUp)
		return errHungUp
	}
	return nil
}

// refresh gets the screen anew on a new connection.
func (v *viewer) refresh() {
	v.stale.Store(true)
	if conn := v.conn.Load(); conn != nil {
		v.again.Store(true)
		v.replacing.Store(true)
		go func() { _ = conn.Close() }() // not here: it waits, and the timer may be stopped meanwhile
	}
}

// tell says once that the connection is lost: when it could not be made again at
// once, for a short break is nobody's concern. The next snapshot removes the notice.
func (v *viewer) tell() {
	if v.told {
		return
	}
	v.told = true
	v.stale.Store(true)
	if cols, rows, ok := sizeOf(v.tty.out); ok {
		put(v.tty.out, notice("evertty: connection to "+v.name+" lost, trying again", cols, rows))
	}
}

// leave gives the user's terminal back, with the cursor below the content.
func (v *viewer) leave() {
	if v.shown {
		_, rows, ok := sizeOf(v.tty.out)
		if !ok {
			rows = v.size.Rows
		}
		put(v.tty.out, leave(v.contentEnd(rows), rows)+v.colors.reset())
	}
	v.tty.Restore()
	if v.server != nil {
		v.server.Close()
	}
}

// contentEnd is the last row that has text or the cursor, from 1; the last one of
// the screen when nobody says, and when the main screen was hidden.
func (v *viewer) contentEnd(rows int) int {
	if v.server == nil {
		return rows
	}
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	s, err := screenOf(ctx, v.server, v.id, 0)
	if err != nil || s.Alt {
		return rows
	}
	return s.contentEnd()
}
