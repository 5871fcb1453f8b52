package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/evertty/evertty/internal/journal"
	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
)

const (
	// waitHistory is how many lines of history a wait has: more than a screen can
	// grow by, so that a resize finds what it brings back.
	waitHistory = vt.MaxSize
	// maxReplay is how much output is applied to get to the state at a position, in
	// bytes: half a second of work. Terminals have a snapshot each megabyte, so only
	// positions older than the last two are further away.
	maxReplay = 64 << 20
	// warmReplay is the same where nothing is known to begin with: a screen that was
	// empty this much earlier is nearly always the same, in bytes.
	warmReplay = 1 << 20
	// maxStep is how much output a wait goes through at once, in bytes: a millisecond of
	// work, after which a terminal that has output goes on first.
	maxStep = 16 << 10
)

// follower is a terminal's screen at a position of its output, with all that comes
// after it: a copy of the emulator that reads the journal. So a wait sees each
// moment, however late it looks, and the terminal knows nothing of it. Several waits
// may have one, see listeners: all but its slots is for who has the turn.
type follower struct {
	t      *Terminal
	screen *vt.Tracker
	reader *journal.Reader
	rest   []byte // of the entry at hand, what was not applied yet
	seq    uint64 // position of what was applied
	base   uint64 // where the watching began
	title  string
	listeners
}

// newFollower begins in the state of f, nil for a blank screen, at position seq.
// The caller must close it. Errors: those of Journal, journal.ErrNotKept.
func (t *Terminal) newFollower(f *vt.Frame, seq uint64) (*follower, error) {
	o := &follower{t: t, listeners: listeners{drive: make(slots, 1), turn: make(slots, 1)}}
	if err := o.begin(f, seq); err != nil {
		return nil, err
	}
	return o, nil
}

// begin goes on in the state of f at position seq; with an error all is as it was.
func (o *follower) begin(f *vt.Frame, seq uint64) error {
	t := o.t
	j, err := t.Journal()
	if err != nil {
		return err
	}
	r, err := j.Read(seq)
	if err != nil {
		return err
	}
	cfg := vt.Config{Cols: t.spec.Cols, Rows: t.spec.Rows, Scrollback: min(*t.spec.Scrollback, waitHistory), Unicode: t.registry.cfg.Unicode, Memory: t.registry.cfg.Memory}
	if cols, rows := r.Size(); cols > 0 && rows > 0 {
		cfg.Cols, cfg.Rows = cols, rows
	}
	if f != nil {
		cfg.Cols, cfg.Rows = f.Cols, f.Rows
	}
	var screen *vt.Tracker
	cfg.Effects = &vt.Effects{Title: func(title string) {
		if o.screen == screen {
			o.title = title
			o.retold(title)
		}
	}}
	screen = vt.NewTracker(cfg)
	title := ""
	if f != nil {
		screen.Write(snapshot.ANSI(f, snapshot.Options{Scrollback: waitHistory}))
		title = f.Title
	}
	if o.reader != nil {
		o.close()
	}
	o.screen, o.reader, o.rest, o.seq, o.title = screen, r, nil, seq, title
	return nil
}

func (o *follower) close() { _ = o.reader.Close() } // read only: nothing is lost

// followFrom makes a follower whose state is the terminal's at position seq.
// Errors: ErrInvalid beyond the end of the output, journal.ErrNotKept, ErrJournal,
// the context's.
func (t *Terminal) followFrom(ctx context.Context, seq uint64) (*follower, error) {
	j, err := t.Journal()
	if err != nil {
		return nil, err
	}
	if end := j.End(); seq > end {
		return nil, fmt.Errorf("%w: since %d: the output has %d bytes", ErrInvalid, seq, end)
	}
	if seq < j.Start() {
		_, err := j.Read(seq)
		return nil, err
	}
	o, err := t.followBefore(j, seq)
	if err != nil {
		return nil, err
	}
	for o.seq < seq && err == nil {
		err = o.step(ctx, seq, nil)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		o.close()
		return nil, err
	}
	return o, nil
}

// followBefore makes a follower at the nearest position before seq at which the
// state is known. Where none is near it is blank some way before.
func (t *Terminal) followBefore(j *journal.Journal, seq uint64) (*follower, error) {
	t.saving.Lock()
	kept, err := t.registry.cfg.Store.LoadAt(t.ID, seq)
	t.saving.Unlock()
	from := kept.Header.Seq
	switch {
	case err == nil && from >= j.Start() && seq-from <= maxReplay:
		return t.newFollower(kept.Frame, from)
	case j.Start() == 0 && seq <= maxReplay:
		return t.newFollower(nil, 0)
	}
	return t.newFollower(nil, max(j.Start(), seq-min(seq, warmReplay)))
}

// watch begins to tell of what follows.
func (o *follower) watch(w vt.TrackerHooks) {
	o.base, o.watched = o.seq, true
	o.screen.Begin(o.seq, w)
}

// errGap says that the journal has lost output.
var errGap = errors.New("output is missing in the journal")

// step applies what comes next, at most up to position limit; before is called
// first, when it is not nil, with the position that it begins at. Errors: io.EOF when
// there is no more now, errGap, the journal's and the context's.
func (o *follower) step(ctx context.Context, limit uint64, before func(seq uint64)) error {
	if len(o.rest) == 0 {
		if err := o.next(); err != nil {
			return err
		}
	}
	if len(o.rest) == 0 {
		return nil
	}
	if err := o.t.registry.looking.enter(ctx); err != nil {
		return err
	}
	defer o.t.registry.looking.leave()
	if before != nil {
		before(o.seq)
	}
	n := int(min(uint64(len(o.rest)), limit-o.seq, maxStep))
	o.screen.Write(o.rest[:n])
	o.rest, o.seq = o.rest[n:], o.seq+uint64(n)
	return nil
}

// next reads the next entry of the journal.
func (o *follower) next() error {
	e, err := o.reader.Next()
	if err != nil {
		return err
	}
	switch e.Kind {
	case journal.EntryOutput:
		if begin := e.Seq - uint64(len(e.Data)); begin < o.seq {
			return fmt.Errorf("%w: position %d follows %d", errGap, begin, o.seq)
		}
		o.rest = e.Data
	case journal.EntryResize:
		o.screen.Resize(e.Cols, e.Rows)
	case journal.EntryRestart:
		o.screen.Flush() // of the generation that has ended
		o.screen.Resize(e.Cols, e.Rows)
	case journal.EntryExit:
		o.screen.Flush()
	case journal.EntryGap:
		o.screen.Flush()
		o.seq = e.Seq
		return errGap
	}
	return nil
}
