package terminal

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/evertty/evertty/internal/notify"
	"github.com/evertty/evertty/stream"
)

const (
	// parkTries is how often Park writes the screen of a program that prints meanwhile.
	parkTries = 3
	// releaseFrom is from how much freed memory on it is given back to the system at once, in bytes. That costs a
	// collection of garbage, some 10 ms for each 100 MiB in use.
	releaseFrom = 1 << 20
	// releaseAtOnce is the same while more is freed, in bytes.
	releaseAtOnce = 8 << 20
	// releaseShare is how many times as long as one release took there is no other: it may take a two hundredth of the
	// time. Terminals that print in bursts free what they take again with the next one.
	releaseShare = 200
)

// parking parks idle terminals.
type parking struct {
	rounds *rounds
	freed  atomic.Int64  // bytes that were parked or compressed, and not given back to the system yet
	some   notify.Signal // freed has grown
}

func newParking() *parking { return &parking{rounds: newRounds(), some: notify.NewSignal()} }

// Park writes the screens of a running terminal to disk and frees their memory. The program is not
// stopped. Whatever needs the screen brings it back exactly. Errors: ErrExited; ErrInUse while somebody watches, it
// prints all the time, or its output cannot be written; those of datadir.Store.Save.
func (t *Terminal) Park() error {
	if !t.Running() {
		return t.ExitError()
	}
	hub := t.Hub()
	if hub.Parked() {
		return nil
	}
	err := stream.ErrChanged
	for try := 0; try < parkTries && errors.Is(err, stream.ErrChanged); try++ {
		err = t.saveAndPark(hub)
	}
	switch {
	case err == nil:
		t.saveRecord() // says so too
		t.registry.changes.Notify()
		return nil
	case errors.Is(err, stream.ErrWatched) || errors.Is(err, stream.ErrChanged) || errors.Is(err, stream.ErrInexact):
		return fmt.Errorf("%w: terminal %s cannot be parked now: %w", ErrInUse, t.ID, err)
	}
	return err
}

// saveAndPark writes the screen, and parks the hub unless it has changed meanwhile. It holds saving, so that nobody who
// does needs a parked screen, see remake.
// Errors: as Park of the hub; ErrInUse, ErrExited, as the store.
func (t *Terminal) saveAndPark(hub *stream.Hub) error {
	t.saving.Lock()
	defer t.saving.Unlock()
	if t.purged {
		return t.ExitError()
	}
	if hub.Parked() { // meanwhile
		return nil
	}
	if t.failing(journalFailure) {
		return fmt.Errorf("%w: the output of terminal %s cannot be written to its journal", ErrInUse, t.ID)
	}
	if err := hub.Parkable(); err != nil {
		return err // before the disk is busy
	}
	changes, facts, shot := t.changes.Load(), t.facts(), hub.Snapshot()
	if err := t.saveShot(facts.Work, shot); err != nil {
		return err
	}
	t.saved.Store(changes)
	if err := hub.Park(shot, t.remake); err != nil {
		return err
	}
	t.process.Master().Interrupt() // run ends
	t.registry.parking.free(facts.Memory)
	return nil
}

// free notes that so many bytes may be given back to the system.
func (p *parking) free(bytes int) {
	if bytes > 0 {
		p.freed.Add(int64(bytes))
		p.some.Set()
	}
}

// Parked reports whether the screens are on disk alone. It waits for nothing.
func (s *screen) Parked() bool {
	h := s.now()
	return h != nil && h.Parked()
}

// remake makes the screen of a parked terminal again, as it was at a position: from the snapshot that Park has written,
// else from the one before and the journal. Nobody who holds saving may call it.
func (s *screen) remake(seq uint64) *stream.Hub {
	s.t.mu.Lock()
	s.t.wokenAt = time.Now()
	s.t.mu.Unlock()
	s.t.saving.Lock()
	s.replaying.Store(true)
	p := s.replayTo(s.t.journal, seq)
	p.skipTo(seq, nil, false)
	s.replaying.Store(false)
	s.t.saving.Unlock()
	s.t.noteDamage(p.damage...)
	s.t.registry.changes.Notify()
	p.hub.Compact()
	return p.hub
}

// stayParked is the hub of a terminal that was parked when the previous server ended and has not printed since; nil for
// any other.
func (s *screen) stayParked() *stream.Hub {
	r, j := s.restored, s.t.journal
	if !r.Parked || j.Damage() != nil || j.End() != r.Seq || s.t.positionUnknown() {
		return nil
	}
	facts := s.facts()
	hub := stream.RestoreParked(s.options(j), facts, r.Seq, func(seq uint64) *stream.Hub {
		hub := s.remake(seq)
		s.setReported(hub.Stats().Cwd)
		return hub
	})
	s.noteKept(r.Seq)
	s.startSeq.Store(r.Seq)
	s.t.process.Master().Interrupt() // run ends
	return hub
}

// idle reports whether nobody has used the terminal for so long: no viewer, output, input or look at its parked screen.
func (t *Terminal) idle(long time.Duration, now time.Time) bool {
	hub := t.now()
	if hub == nil || t.process == nil || hub.Parked() || !t.Running() {
		return false
	}
	last := hub.Stats().Output
	t.mu.Lock()
	last = maxTime(t.created, t.lastActivity, t.lastDetach, t.wokenAt, last)
	t.mu.Unlock()
	return now.Sub(last) > long && !t.failing(journalFailure) && hub.Parkable() == nil
}

// parkIdle parks the terminals that are idle for Config.ParkAfter.
func (r *Registry) parkIdle() {
	for _, t := range r.Unsorted() {
		if t.idle(r.cfg.ParkAfter, time.Now()) {
			r.parking.rounds.do(t, func() { _ = t.Park() }) // tried again; what cannot be written is logged
		}
	}
}

// releaseParked gives memory back to the system once no more is freed: an idle server collects no garbage for minutes.
func (r *Registry) releaseParked() {
	p := r.parking
	for {
		select {
		case <-p.some:
		case <-r.ctx.Done():
			return
		}
		for seen := int64(-1); seen != p.freed.Load() && p.freed.Load() < releaseAtOnce; {
			seen = p.freed.Load()
			select {
			case <-p.some:
			case <-time.After(maintainInterval):
			case <-r.ctx.Done():
				return
			}
		}
		freed := p.freed.Load()
		if freed < releaseFrom {
			continue
		}
		began := time.Now()
		debug.FreeOSMemory()
		p.freed.Add(-freed)
		select {
		case <-time.After(releaseShare * time.Since(began)):
			p.some.Set() // what was freed meanwhile
		case <-r.ctx.Done():
			return
		}
	}
}
