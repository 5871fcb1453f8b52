package main

import (
	"bytes"
	"errors"
	"slices"
	"time"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

// take shows one event.
func (v *viewer) take(e client.Event) error {
	if err := v.correct(e); err != nil {
		return err
	}
	if err := v.beforeEvent(e); err != nil {
		return err
	}
	switch e.Kind {
	case client.KindSnapshot:
		return v.snapshot(e)
	case client.KindResume:
		v.found()
		if v.stale {
			return v.redraw()
		}
	case client.KindData:
		v.seq = e.Seq
		kept := len(v.display.gone)
		through, painted := v.display.output(e.Data)
		v.confirm()
		v.noteFrame()
		switch {
		case v.stale: // drawing comes
			v.display.gone = v.display.gone[:kept]
		case len(v.display.gone) > scrolledAtOnce:
			return v.drew(v.display.paint())
		case painted:
			v.drawSoon(max(frameLull, frameTime-time.Since(v.drawn)))
		default:
			v.mouse.Store(v.display.mouse())
			return v.write(through)
		}
	case client.KindError:
		if errors.Is(e.Err, client.ErrLocked) && !v.display.hasStatus() {
			return v.showHint("locked: another viewer holds the keyboard")
		}
	case client.KindMeta:
		v.display.status.hear(e.Meta)
		v.statusSoon()
		if n := e.Meta.Notify; n != nil {
			v.note = notification(*n)
			return v.write(nil)
		}
		if v.clipboard != nil && e.Meta.Clipboard != nil {
			v.clipboard.take(*e.Meta.Clipboard)
			return v.write(nil)
		}
	case client.KindResize: // the screen of that size follows
		v.seq, v.stale, v.behind = e.Seq, true, true
		v.display.resize(wire.Size{Cols: e.Cols, Rows: e.Rows})
		v.drawSoon(settle)
	}
	return nil
}

func (v *viewer) snapshot(e client.Event) error {
	v.found()
	v.behind, v.seq = false, e.Seq
	before, show := "", v.display.again
	v.measure(wire.Size{Cols: e.Cols, Rows: e.Rows})
	if !v.shown {
		before, show = enter(v.display.window.Rows), v.display.first
		v.shown = true
		v.hintAfterLull()
	}
	return v.screen(append([]byte(before), show(e)...))
}

// measure notes the size of the user's terminal, which is given when it does not say.
func (v *viewer) measure(otherwise wire.Size) {
	v.display.window = windowOf(v.tty.out, otherwise)
	if s := v.display.status; s != nil {
		_, _, sized := sizeOf(v.tty.out)
		s.unsized = !sized
	}
}

// screen writes a whole screen.
func (v *viewer) screen(screen []byte) error {
	v.stale, v.waits, v.over = false, false, overlay{}
	v.draw.Stop()
	return v.drew(screen)
}

// drew writes what display drew.
func (v *viewer) drew(screen []byte) error {
	v.drawn = time.Now()
	v.mouse.Store(v.display.mouse())
	v.statusSoon()
	return v.write(screen)
}

// redraw brings the screen up to date.
func (v *viewer) redraw() error {
	switch {
	case !v.shown:
		return nil
	case v.stale:
		v.measure(v.display.window)
		return v.screen(v.display.redraw())
	case v.display.direct:
		return nil
	case time.Since(v.frame) < wholeFrame:
		v.drawSoon(wholeFrame - time.Since(v.frame))
		return nil
	}
	return v.drew(v.display.paint())
}

// noteFrame notes when the program began the picture that it is in the middle of (mode ?2026). Without a status line
// the user's terminal knows that itself, or the window has another size.
func (v *viewer) noteFrame() {
	switch within := v.display.hasStatus() && v.display.engine.Modes().SyncOutput; {
	case !within:
		v.frame = time.Time{}
	case v.frame.IsZero():
		v.frame = time.Now()
	}
}

// anew draws the whole window, in the size that it has now.
func (v *viewer) anew() error {
	v.stale = true
	err := v.redraw()
	if v.told {
		v.notice()
	}
	return err
}

// drawSoon has the screen drawn after a time, at the latest.
func (v *viewer) drawSoon(after time.Duration) {
	if due := time.Now().Add(after); !v.waits || due.Before(v.due) {
		v.waits, v.due = true, due
		v.draw.Reset(after)
	}
}

// statusSoon has the status line drawn when it may change, if it has to.
func (v *viewer) statusSoon() {
	if wait, ok := v.display.status.due(); ok && v.shown && !v.stale && v.display.hasStatus() {
		v.drawSoon(wait)
	}
}

// resized tells the server the new size. The user's terminal has rearranged its lines
// in its own way.
func (v *viewer) resized(conn *client.Attachment) error {
	v.sayHow(conn)
	v.predictor.reset(time.Now())
	v.display.predicted, v.over = prediction{}, overlay{}
	v.stale, v.waits = true, false
	v.drawSoon(settle)
	return nil
}

// wanted is the size that the user's terminal asks for, unless it only looks.
func (v *viewer) wanted() (cols, rows int, ok bool) {
	cols, rows, ok = sizeOf(v.tty.out)
	return min(cols, maxSize), min(v.display.status.rows(rows), maxSize), ok && !v.readOnly
}

// sayHow tells the server how large the user's terminal is.
func (v *viewer) sayHow(conn *client.Attachment) {
	if cols, rows, ok := v.wanted(); ok {
		_ = conn.Resize(cols, rows) // a broken connection shows in Next
	}
}

// write puts output on the screen, with what is predicted over it, and behind it what waited for the end of a sequence.
// A screen that takes none is gone. In the background nothing is written.
func (v *viewer) write(p []byte) error {
	if !foreground(v.tty.out) {
		v.stale = true
		return nil
	}
	over := overlay{}
	if !v.stale {
		over = v.display.overlay()
	}
	if len(p) > 0 || over != v.over {
		p = slices.Concat([]byte(v.over.undo), p, []byte(over.draw))
		v.over = over
	}
	p = v.clipboard.behind(p)
	if (v.asks || v.note != "") && v.display.atRest() {
		p = append(bytes.Clone(p), v.note...)
		if v.asks {
			p = append(p, v.colors.question()...)
		}
		v.asks, v.note = false, ""
	}
	if len(p) == 0 {
		return nil
	}
	if _, err := v.tty.out.Write(p); err != nil {
		v.end(errHungUp)
		return errHungUp
	}
	return nil
}

// found notes that there is a connection again.
func (v *viewer) found() {
	v.lost, v.told = false, false
	if v.display.status != nil {
		v.display.status.told.lost = false
	}
}

// tell says once that the connection is lost: when it could not be made again at
// once, for a short break does not matter. The next drawing removes the notice.
func (v *viewer) tell() error {
	if !v.told {
		v.told = true
		v.notice()
	}
	return nil
}

// notice shows on the screen that the connection is lost. Until the next drawing keys and
// mouse are as a shell has them: no program is there to read them.
func (v *viewer) notice() {
	v.stale = true
	cols, rows, ok := sizeOf(v.tty.out)
	switch {
	case !ok || !foreground(v.tty.out):
	case v.display.hasStatus():
		put(v.tty.out, v.display.lostNotice())
	default:
		put(v.tty.out, notice("evertty: connection to "+v.name+" lost, trying again", cols, rows))
	}
}

// leave gives the user's terminal back for good.
func (v *viewer) leave() {
	v.turn.take()
	defer v.turn.give()
	v.farewell()
	v.left = true
	v.tty.stop()
	v.tty.Restore()
	if v.server != nil {
		v.server.Close()
	}
}

// farewell takes back all that was written, with the cursor below the content. Nothing is
// asked any more, and keys are read until no more answers are awaited. The caller has the turn.
func (v *viewer) farewell() {
	v.asks = false
	v.colors.await()
	if !v.shown || v.left || !foreground(v.tty.out) {
		return
	}
	if v.display.hint != "" {
		v.display.hint, v.stale = "", true
	}
	v.predictor.reset(time.Now())
	_ = v.bare()
	if v.waits || v.stale {
		_ = v.redraw()
	}
	put(v.tty.out, v.display.withoutStatus()+leave(v.display.contentEnd(), v.display.window, v.display.leaves()))
}
