package wait

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/evertty/evertty/internal/journal"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

const (
	// maxLocate is how much output is applied to find where text was printed that is shown already, in bytes: some
	// 10 ms of work.
	maxLocate = 2 << 20
	// locateLimit is how long a wait whose text is shown looks for its position: others may have the processors.
	// Then the position is the one where the wait began.
	locateLimit = time.Second
)

// beginInTime is begin, as long as the wait may take in all. Errors: also terminal.ErrTimeout.
func (w *waiter) beginInTime(ctx context.Context) error {
	limited, cancel := context.WithDeadline(ctx, w.began.Add(w.timeout+w.overtime()))
	defer cancel()
	err := w.begin(limited)
	for w.Since == nil && errors.Is(err, journal.ErrNotKept) && limited.Err() == nil {
		w.close() // a quota has dropped what follows the screen that it had
		w.follower, w.echo = nil, nil
		err = w.begin(limited)
	}
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return w.timedOut()
	}
	return err
}

// begin looks at the output so far, and finds a follower for the rest.
func (w *waiter) begin(ctx context.Context) error {
	w.finder.since = w.Since
	switch {
	case w.Since != nil:
		return w.beginSince(ctx)
	case w.conditions.needs((*condition).onScreen):
		return w.beginNow(ctx)
	}
	return nil
}

// beginSince begins with the state at the position Since. Near the end of the output a
// waiter without a position may join the same follower, so the two begin in turn.
func (w *waiter) beginSince(ctx context.Context) error {
	w.finder.base = *w.Since
	if f := w.t.Hub().Stats(); f.Seq-min(f.Seq, *w.Since) <= maxJoin && !w.conditions.alone() {
		if err := w.followers.begins.acquire(ctx); err != nil {
			return err
		}
		defer w.followers.begins.release()
	}
	if joined, err := w.joinAt(ctx, *w.Since); joined || err != nil {
		return err
	}
	f, err := w.followers.followFrom(ctx, *w.Since)
	if err != nil {
		return err
	}
	return w.own(f, *w.Since)
}

// beginNow looks at all that is shown. When something there matches, or when an echo may
// be there, it looks for where it was printed. No other waiter waits for its look, which can take long.
func (w *waiter) beginNow(ctx context.Context) error {
	shot, hit := w.look(ctx)
	switch {
	case hit != nil && hit.Match == nil:
		w.found = hit
		return nil
	case hit == nil && ctx.Err() != nil:
		return ctx.Err() // a screen that took so long takes as long again to follow
	case hit == nil && !w.mayEcho(shot.Seq):
		return w.follow(ctx, shot)
	case hit != nil && !w.IgnoreEcho:
		limited, cancel := context.WithTimeout(ctx, locateLimit)
		defer cancel()
		ctx = limited
	}
	if done, err := w.locate(ctx, shot.Seq, hit); done || err != nil {
		return err
	}
	return w.follow(ctx, shot)
}

// look returns what is shown now, and what of it meets a condition, nil when nothing does. It looks also when the
// time is over before it begins: a wait without time is a question.
func (w *waiter) look(ctx context.Context) (*stream.SharedSnapshot, *wire.Waited) {
	if f := w.followers.newest(); f != nil && f.lock.acquire(ctx) == nil {
		seq := f.seq
		f.lock.release()
		_ = awaitScreen(ctx, w.t, seq) // else the follower has passed the look and cannot be joined
	}
	shot := w.t.Hub().Snapshot()
	w.finder.base = shot.Seq
	if w.service.replays.acquire(ctx) == nil {
		w.looking = true
		defer func() {
			w.looking = false
			w.service.replays.release()
		}()
	}
	return shot, w.checkFrame(shot.Frame, shot.Seq)
}

// follow shares a follower that has not passed shot, or makes one that begins there. Errors: as newFollower and own.
func (w *waiter) follow(ctx context.Context, shot *stream.SharedSnapshot) error {
	if !w.conditions.alone() {
		if err := w.followers.begins.acquire(ctx); err != nil {
			return err
		}
		defer w.followers.begins.release()
	}
	if joined, err := w.join(ctx, shot.Seq); joined || err != nil {
		return err
	}
	f, err := w.followers.newFollower(shot.Frame, shot.Seq)
	if err == nil {
		return w.own(f, shot.Seq)
	}
	if errors.Is(err, terminal.ErrJournal) && !w.t.Running() {
		return nil // nothing more comes
	}
	return err
}

// unplaced has hit count when err has ended the search for its position, unless it may be an echo.
func (w *waiter) unplaced(hit *wire.Waited, err error) error {
	if hit == nil || w.mayEcho(w.finder.base) {
		return err
	}
	w.found = hit
	return nil
}

// mayEcho reports whether echo has to be ignored and some may be shown at position seq.
func (w *waiter) mayEcho(seq uint64) bool { return w.IgnoreEcho && w.t.Typed().Within(maxLocate, seq) }

// own begins to look at a new follower for what comes after position from; others may join it
// then. Errors: as resync.
func (w *waiter) own(f *follower, from uint64) error {
	f.add(w, f.seq)
	if f.seq > from { // the journal has lost what came then
		if err := f.resync(); err != nil {
			return err
		}
	}
	if !f.exclusive && w.found == nil {
		w.followers.add(f)
	}
	return nil
}

// joinAt is join for a position that a caller has named. Errors: ctx.Err().
func (w *waiter) joinAt(ctx context.Context, seq uint64) (joined bool, err error) {
	if j, err := w.t.Journal(); err != nil || seq > j.End() {
		return false, nil //nolint:nilerr // followFrom returns that error
	}
	return w.join(ctx, seq)
}

// join shares the newest follower if it has not passed seq and is not far behind. Errors: ctx.Err().
func (w *waiter) join(ctx context.Context, seq uint64) (joined bool, err error) {
	f := w.followers.newest()
	if f == nil || w.conditions.alone() {
		return false, nil
	}
	if err := f.lock.acquire(ctx); err != nil {
		return false, err
	}
	defer f.lock.release()
	joined = f.accepts(seq) && seq >= f.base
	if joined {
		f.add(w, seq)
	}
	return joined, nil
}

// locate applies the output before seq again, to know the position of each character. hit is
// what matched without positions; done tells that begin is complete.
func (w *waiter) locate(ctx context.Context, seq uint64, hit *wire.Waited) (done bool, err error) {
	f, err := w.followers.followShortlyBefore(seq)
	if err != nil || f == nil {
		w.found = hit          // positions stay unknown
		return hit != nil, nil //nolint:nilerr // the screen is known without a journal too
	}
	w.follower = f
	w.filterEcho()
	f.hook(vt.TrackerHooks{Print: w.echo.Print, Control: w.echo.Control, KeepOffsets: true})
	err = f.catchUp(ctx, seq, w.echo.Update)
	if err == nil {
		err = f.resizes()
	}
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, errGap) {
		return true, w.unplaced(hit, err)
	}
	frame := f.screen.Freeze()
	w.found = w.checkLines(f.screen.Lines(maxHistory), f.screen.Lines(0), stateOf(frame), seq)
	if w.found == nil && hit != nil && !w.IgnoreEcho {
		w.found = hit // older than the output that was applied
	}
	if w.found != nil {
		return true, nil
	}
	return true, w.own(f, seq)
}

// followShortlyBefore returns a follower at most maxLocate before seq, nil when no state there is
// known.
func (l *followers) followShortlyBefore(seq uint64) (*follower, error) {
	j, err := l.t.Journal()
	if err != nil {
		return nil, err
	}
	if j.Start() == 0 && seq <= maxLocate/2 {
		return l.newFollower(nil, 0)
	}
	kept, err := l.t.SnapshotAt(seq)
	if err != nil || seq-kept.Header.Seq > maxLocate || kept.Header.Seq < j.Start() {
		return nil, err
	}
	return l.newFollower(kept.Frame, kept.Header.Seq)
}
