package wait

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/evertty/evertty/internal/journal"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
)

const (
	// maxHistory is how many lines of history a wait has: more than a screen can grow by,
	// so that a resize finds the lines it brings back.
	maxHistory = vt.MaxSize
	// maxReplay is how much output is applied to get to the state at a position, in
	// bytes: half a second of work. Terminals have a snapshot each megabyte, so only
	// positions older than the last two are further away.
	maxReplay = 64 << 20
	// primeReplay is the same where no state before the position is known, in bytes. A
	// screen that was blank this much earlier is nearly always the same.
	primeReplay = 1 << 20
	// maxPiece is how much output is applied between two looks at the screen, in bytes: a
	// millisecond of work as a rule.
	maxPiece = 16 << 10
	// stepWork bounds one step in the unit of vt.Engine.WriteSome: some 2 ms.
	// Then a terminal that has output goes first, and whoever waits for the time to be over.
	stepWork = 512 << 10
)

// follower is an emulator that reads a terminal's journal. It has the screen at position seq
// and reports what follows. Several waiters may share it, see share.go; lock guards all but
// the semaphores.
type follower struct {
	service   *Service
	followers *followers // of t
	t         *terminal.Terminal
	journal   *journal.Journal
	screen    *vt.Tracker
	reader    *journal.Reader
	unread    []byte // of the current entry, not applied yet
	piece     int    // bytes of unread until the next look at the screen
	seq       uint64 // position of what was applied
	base      uint64 // where hook was called
	title     string

	driver    semaphore // one place: the waiter that applies output, pauses included
	lock      semaphore // one place, never held for long
	waiters   []*waiter
	hooked    bool      // the screen reports to the hooks
	exclusive bool      // nobody may join
	stepping  bool      // step has a place of Service.replays
	flushed   bool      // the end of a program may have shown text since the last report
	resume    time.Time // when the next output may be applied
}

// newFollower begins in the state of frame, nil for a blank screen, at position seq.
// The caller must close it. Errors: as terminal.Journal, and journal.ErrNotKept.
func (l *followers) newFollower(frame *vt.Frame, seq uint64) (*follower, error) {
	f := &follower{service: l.service, followers: l, t: l.t, driver: make(semaphore, 1), lock: make(semaphore, 1)}
	if err := f.reset(frame, seq); err != nil {
		return nil, err
	}
	return f, nil
}

// reset continues in the state of frame at position seq; an error changes nothing.
func (f *follower) reset(frame *vt.Frame, seq uint64) error {
	j, err := f.t.Journal()
	if err != nil {
		return err
	}
	r, err := j.Read(seq)
	if err != nil {
		return err
	}
	cfg := f.t.EngineConfig()
	cfg.Scrollback = min(cfg.Scrollback, maxHistory)
	if cols, rows := r.Size(); cols > 0 && rows > 0 {
		cfg.Cols, cfg.Rows = cols, rows
	}
	if frame != nil {
		cfg.Cols, cfg.Rows = frame.Cols, frame.Rows
	}
	var screen *vt.Tracker
	cfg.Effects = &vt.Effects{Title: func(title string) {
		if f.screen == screen {
			f.titleChanged(title)
		}
	}}
	screen = vt.NewTracker(cfg)
	title := ""
	if frame != nil {
		all := snapshot.Options{Scrollback: maxHistory, Engine: true}
		if !screen.Restore(snapshot.Normalize(frame, all)) {
			screen.Write(snapshot.ANSI(frame, snapshot.Options{Scrollback: maxHistory}))
		}
		title = frame.Title
	}
	if f.reader != nil {
		f.close()
	}
	f.journal, f.screen, f.reader, f.unread, f.piece, f.seq, f.title = j, screen, r, nil, 0, seq, title
	return nil
}

func (f *follower) close() { _ = f.reader.Close() } // read only: nothing is lost

// followFrom returns a follower in the state of the terminal at position seq. Errors:
// terminal.ErrInvalid beyond the end of the output, journal.ErrNotKept,
// terminal.ErrJournal, ctx.Err().
func (l *followers) followFrom(ctx context.Context, seq uint64) (*follower, error) {
	j, err := l.t.Journal()
	if err != nil {
		return nil, err
	}
	if end := j.End(); seq > end {
		return nil, fmt.Errorf("%w: since %d: the output has %d bytes", terminal.ErrInvalid, seq, end)
	}
	if seq < j.Start() {
		_, err := j.Read(seq)
		return nil, err
	}
	f, err := l.followBefore(j, seq)
	if err != nil {
		return nil, err
	}
	if err := f.catchUp(ctx, seq, nil); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

// catchUp applies the output up to seq, as far as there is some; output that is missing is left
// out, and may end behind seq. before is as of step. Errors: as step, without io.EOF and errGap.
func (f *follower) catchUp(ctx context.Context, seq uint64, before func(seq uint64)) error {
	for f.seq < seq {
		switch err := f.step(ctx, seq, before); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && !errors.Is(err, errGap):
			return err
		}
	}
	return nil
}

// followBefore returns a follower at the nearest position before seq at which the state
// is known. Where none is near it is blank some way before.
func (l *followers) followBefore(j *journal.Journal, seq uint64) (*follower, error) {
	kept, err := l.t.SnapshotAt(seq)
	from := kept.Header.Seq
	switch {
	case err == nil && from >= j.Start() && seq-from <= maxReplay:
		return l.newFollower(kept.Frame, from)
	case j.Start() == 0 && seq <= maxReplay:
		return l.newFollower(nil, 0)
	}
	return l.newFollower(nil, max(j.Start(), seq-min(seq, primeReplay)))
}

// hook begins to report what follows.
func (f *follower) hook(h vt.TrackerHooks) {
	f.base, f.hooked = f.seq, true
	f.screen.Begin(f.seq, h)
}

// errGap says that the journal has lost output.
var errGap = errors.New("output is missing in the journal")

// step applies the next output, at most up to position limit. It calls before, unless
// that is nil, with the position that the output begins at. Where output is dear it ends inside
// a piece: then f.piece is not 0. Errors: io.EOF when there is no more now, errGap, the
// journal's and ctx.Err().
func (f *follower) step(ctx context.Context, limit uint64, before func(seq uint64)) error {
	if err := f.resizes(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := f.service.replays.acquire(ctx); err != nil {
		return err
	}
	defer f.service.replays.release()
	f.stepping = true
	defer func() { f.stepping = false }()
	if before != nil {
		before(f.seq)
	}
	if f.piece == 0 {
		f.piece = min(len(f.unread), maxPiece)
	}
	f.piece = int(min(uint64(f.piece), limit-f.seq))
	n := f.screen.WriteSome(f.unread[:f.piece], stepWork)
	f.unread, f.seq, f.piece = f.unread[n:], f.seq+uint64(n), f.piece-n
	return nil
}

// resizes applies what the journal has before the next output. Errors: as next.
func (f *follower) resizes() error {
	for len(f.unread) == 0 {
		if err := f.next(); err != nil {
			return err
		}
	}
	return nil
}

// next reads the next entry of the journal.
func (f *follower) next() error {
	e, err := f.reader.Next()
	if err != nil {
		return err
	}
	switch e.Kind {
	case journal.EntryOutput:
		if begin := e.Seq - uint64(len(e.Data)); begin < f.seq {
			return fmt.Errorf("%w: position %d follows %d", errGap, begin, f.seq)
		}
		f.unread = e.Data
	case journal.EntryResize:
		f.screen.Resize(e.Cols, e.Rows)
	case journal.EntryRestart:
		f.screen.Flush() // of the generation that has ended
		f.screen.Resize(e.Cols, e.Rows)
	case journal.EntryExit:
		f.screen.Flush()
		f.flushed = true
	case journal.EntryGap:
		f.screen.Flush()
		f.seq = e.Seq
		return errGap
	}
	return nil
}
