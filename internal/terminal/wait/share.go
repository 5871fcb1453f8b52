package wait

import (
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/evertty/evertty/internal/journal"
	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

const (
	// maxJoin is how far before the place where a waiter begins a follower may be that it
	// joins, in bytes of output: some 100 ms of work. A new follower that begins at the
	// place is there sooner than one further away.
	maxJoin = 1 << 20
	// maxShared is how many instructions the regular expressions of a waiter need that shares a follower.
	maxShared = 256
	// pauseFactor is how much longer than it works a follower pauses while the terminal is
	// flooded, so that its reader and the program have the processors. pauseFactorBehind is
	// the same once half of what the journal keeps is not followed yet.
	pauseFactor       = 4
	pauseFactorBehind = 1
	// maxPause bounds a pause: work can take long because others have the processors.
	maxPause = 250 * time.Millisecond
)

// followers are the followers of one terminal that a waiter may join.
type followers struct {
	service *Service
	t       *terminal.Terminal

	waits  int       // for the terminal; guarded by Service.mu
	begins semaphore // one place: the waiter that joins a follower or makes one that others may join

	mu   sync.Mutex
	list []*follower // the newest last
}

func (l *followers) add(f *follower) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, f)
}

func (l *followers) remove(f *follower) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = slices.DeleteFunc(l.list, func(x *follower) bool { return x == f })
}

func (l *followers) newest() *follower {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.list) == 0 {
		return nil
	}
	return l.list[len(l.list)-1]
}

// accepts reports whether a waiter for what comes after seq may join.
func (f *follower) accepts(seq uint64) bool {
	return len(f.waiters) > 0 && !f.exclusive && f.seq <= seq && seq-f.seq <= maxJoin
}

// add reports to w what comes after position from, which the follower has not passed.
func (f *follower) add(w *waiter, from uint64) {
	w.follower, w.from = f, from
	f.waiters = append(f.waiters, w)
	if from <= f.seq {
		f.start(w)
	}
}

// start begins to report to w.
func (f *follower) start(w *waiter) {
	w.filterEcho()
	w.reached = true
	f.exclusive = f.exclusive || w.conditions.alone()
	f.setHooks()
	w.checkState()
}

// remove ends what add began; the last waiter closes the follower.
func (f *follower) remove(w *waiter) {
	f.lock.lock()
	defer f.lock.release()
	f.waiters = slices.DeleteFunc(f.waiters, func(x *waiter) bool { return x == w })
	if len(f.waiters) == 0 {
		f.followers.remove(f)
		f.close()
		return
	}
	if w.reached {
		f.setHooks()
	}
}

// started yields the waiters whose place was reached.
func (f *follower) started(yield func(*waiter) bool) {
	for _, w := range f.waiters {
		if w.reached && !yield(w) {
			return
		}
	}
}

// setHooks has the screen report what the started waiters need. They have had everything
// that was shown before.
func (f *follower) setHooks() {
	if h := f.hooks(); f.hooked {
		f.screen.SetHooks(h)
	} else {
		f.hook(h)
	}
}

// hooks are what the emulator has to report for the conditions of the started waiters, none that nobody needs.
func (f *follower) hooks() (h vt.TrackerHooks) {
	for w := range f.started {
		if w.conditions.needs((*condition).onModes) {
			h.Moved = f.modesChanged
		}
		if w.echo != nil {
			h.Print, h.Control = f.printed, f.controlled
		}
		switch {
		case w.conditions.multiline():
			h.Changed = w.linesChanged // the follower is w's alone
		case w.conditions.needs((*condition).forText):
			h.Line = f.lineChanged
		}
	}
	return h
}

func (f *follower) modesChanged() {
	for w := range f.started {
		w.modesChanged()
	}
}

func (f *follower) lineChanged(l vt.TextLine) {
	for w := range f.started {
		w.match(func(p *pattern) (wire.Match, bool) { return w.finder.findIn(p, l) })
	}
}

func (f *follower) printed(text []byte, from uint64) {
	for w := range f.started {
		w.echo.Print(text, from)
	}
}

func (f *follower) controlled(c rune) {
	for w := range f.started {
		w.echo.Control(c)
	}
}

// titleChanged notes a new title and reports it.
func (f *follower) titleChanged(title string) {
	f.title = title
	for w := range f.started {
		w.titleChanged(title)
	}
}

// updateEcho tells the filters what was typed up to now; seq is the position of the output.
func (f *follower) updateEcho(seq uint64) {
	for w := range f.started {
		w.echo.Update(seq)
	}
}

// advance applies the next output, at most up to position limit, and has all waiters look at
// it. more is false when there is none now. Where the journal has lost output it goes on with
// the current screen. Other errors: as step.
func (f *follower) advance(ctx context.Context, limit uint64) (more bool, err error) {
	for _, w := range f.waiters {
		if !w.reached {
			limit = min(limit, w.from)
		}
	}
	runtime.LockOSThread() // for ThreadTime
	defer runtime.UnlockOSThread()
	began, end := proc.ThreadTime(), f.journal.End()
	err = f.step(ctx, limit, f.updateEcho)
	if errors.Is(err, io.EOF) && f.seq < min(end, f.t.Hub().Stats().Seq) {
		err = errGap // the disk refuses what comes, and the screen has it
	}
	switch {
	case errors.Is(err, io.EOF) && !f.flushed:
		return false, nil
	case errors.Is(err, io.EOF):
		f.flushed, err = false, nil
	case errors.Is(err, errGap), errors.Is(err, journal.ErrNotKept):
		err = f.resync()
	}
	if err != nil {
		return false, err
	}
	if f.piece == 0 {
		f.screen.Report()
	}
	for _, w := range f.waiters {
		if f.piece == 0 {
			if !w.reached && w.from <= f.seq {
				f.start(w)
			}
			w.checkState()
		}
		w.wake()
	}
	f.resume = time.Now().Add(f.pause(proc.ThreadTime() - began))
	return true, nil
}

// pause is how long to pause after work that took so long: not at all without a flood.
func (f *follower) pause(worked time.Duration) time.Duration {
	if !f.t.Flooded() {
		return 0
	}
	factor := time.Duration(pauseFactor)
	if end := f.journal.End(); end-min(end, f.seq) > uint64(f.t.JournalQuota())/2 {
		factor = pauseFactorBehind
	}
	return min(factor*worked, maxPause)
}

// resync goes on with the terminal's current screen, because the journal has lost output
// before it. Lines that were not on the old screen count as printed, also for a waiter whose
// place is in what was lost.
func (f *follower) resync() error {
	had := map[string]bool{}
	for _, l := range f.screen.Lines(maxHistory) {
		had[string(l.Text)] = true
	}
	shot := f.t.Hub().Snapshot()
	err := f.reset(shot.Frame, shot.Seq)
	if errors.Is(err, journal.ErrNotKept) { // a quota has just dropped what follows
		shot = f.t.Hub().Snapshot()
		err = f.reset(shot.Frame, shot.Seq)
	}
	if err != nil {
		return err
	}
	f.hooked = false
	for _, w := range f.waiters {
		if !w.reached && w.from < shot.Seq {
			f.start(w)
		}
	}
	f.setHooks()
	fresh := slices.DeleteFunc(f.screen.Lines(maxHistory), func(l vt.TextLine) bool { return had[string(l.Text)] })
	for i := range fresh {
		fresh[i].Offsets = slices.Repeat([]uint64{shot.Seq}, len(fresh[i].Text))
	}
	for w := range f.started {
		w.finder.base = shot.Seq
		w.match(func(p *pattern) (wire.Match, bool) { return w.finder.find(p, fresh) })
	}
	return nil
}
