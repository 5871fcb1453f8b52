package terminal

import (
	"errors"
	"fmt"
	"io"
	"math"
	"runtime/debug"
	"time"

	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/internal/journal"
	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/vt"
)

// replayed is the state of a terminal that was read from disk.
type replayed struct {
	hub        *stream.Hub
	from       uint64    // position of the snapshot
	to         uint64    // output behind this position is left out
	cols, rows int       // a resize that was not applied yet, 0 for none
	output     time.Time // of the newest output that was applied; zero for none
	unanswered []byte    // answers to queries that the previous server has not given
	damage     []error
}

// How many replays of the same files may end with the server, for example because they take all memory,
// before the next one makes less. Two are no proof: somebody may have killed it.
const (
	wholeTries    = 3 // then it makes the snapshot alone
	snapshotTries = 5 // then a blank screen
)

// replay makes the hub of a terminal from its newest good snapshot and the journal after
// that. j is nil when there is none. Where the emulator fails, or the server has ended wholeTries
// times meanwhile, the terminal goes on with less: the snapshot alone, or else a blank screen; the
// damage says so.
func (s *screen) replay(j *journal.Journal) replayed {
	p := s.replayTo(j, math.MaxUint64)
	known := uint64(0)
	if s.restored != nil {
		known = s.restored.Seq
	}
	if j == nil && s.t.state != StateExited {
		issued, _ := journal.Issued(s.t.registry.cfg.Store, s.t.ID) // the record has no end
		known = max(known, issued)
	}
	p.skipTo(known, j, j != nil && j == s.t.journal)
	return p
}

// replayTo is replay without the output behind a position.
func (s *screen) replayTo(j *journal.Journal, to uint64) replayed {
	tries, end := s.beginReplay(j)
	defer end()
	var p replayed
	failed := fmt.Errorf("the server ended %d times while it made the screen from the files", tries)
	if tries < wholeTries {
		p, failed = s.try(func(p *replayed) {
			p.to = to
			p.loadScreen(s.t, j)
			p.applyAll(s.t, j)
		})
	}
	if failed != nil {
		err := failed
		if tries < snapshotTries {
			p, err = s.try(func(p *replayed) { p.loadScreen(s.t, j) })
		}
		if err != nil {
			p = replayed{hub: stream.Restore(s.options(j), blank(*s.t.spec.Cols, *s.t.spec.Rows), 0)}
		}
		p.addDamage(failed)
		if j != nil {
			p.skipTo(min(j.End(), to), j, false)
		}
	}
	return p
}

// beginReplay returns how many replays of the same files have ended with the server, and what to call
// at the end of this one. A replay that others failed in runs alone, so that no other terminal's is taken
// for the one that ends the server.
func (s *screen) beginReplay(j *journal.Journal) (tries int, end func()) {
	what, store, alone := "replay", s.t.registry.cfg.Store, &s.t.registry.alone
	if j != nil {
		what = fmt.Sprintf("replay to %d", j.End())
	}
	unlock := alone.RUnlock
	if tries = store.Tries(s.t.ID, what); tries > 0 {
		unlock = alone.Unlock
		alone.Lock()
	} else {
		alone.RLock()
	}
	store.BeginTry(s.t.ID, what, tries+1)
	return tries, func() {
		store.EndTry(s.t.ID)
		unlock()
	}
}

// try has p filled by a function. Its error says that the emulator failed.
func (s *screen) try(fill func(p *replayed)) (p replayed, err error) {
	defer func() {
		if why := recover(); why != nil {
			err = fmt.Errorf("the screen could not be made from the files: %v", why)
			s.t.registry.cfg.Log.Error("a replay failed", "id", s.t.ID, "panic", why, "stack", string(debug.Stack()))
		}
	}()
	fill(&p)
	return p, nil
}

// loadScreen makes the hub from the newest good snapshot.
func (p *replayed) loadScreen(t *Terminal, j *journal.Journal) {
	o := t.options(j)
	loaded, err := t.registry.cfg.Store.Load(t.ID)
	switch {
	case err == nil:
		p.from = loaded.Header.Seq
		p.hub = stream.Restore(o, loaded.Frame, p.from)
		loaded.Free()
		p.addDamage(loaded.Damage)
	case errors.Is(err, datadir.ErrNotFound) && j != nil && j.Start() == 0:
		p.hub = stream.New(o) // it was killed before its first snapshot
	default:
		p.addDamage(err)
		p.hub = stream.Restore(o, blank(*t.spec.Cols, *t.spec.Rows), 0)
	}
}

// applyAll applies what the journal has after the snapshot.
func (p *replayed) applyAll(t *Terminal, j *journal.Journal) {
	if j == nil {
		return
	}
	p.addDamage(j.Damage())
	if j != t.journal && p.from > j.End() {
		p.addDamage(fmt.Errorf("%d bytes of output before position %d are missing", p.from-j.End(), p.from))
	} else {
		p.addDamage(p.applyJournal(j))
	}
}

// skipTo moves the hub to a known position that neither snapshot nor journal reach: no
// position is used twice. With writes the hub is at the end of the journal then, which moves too.
func (p *replayed) skipTo(known uint64, j *journal.Journal, writes bool) {
	if writes {
		known = max(known, j.End())
	}
	if have, _ := p.hub.AtRest(); known > have {
		p.addDamage(fmt.Errorf("%d bytes of output before position %d are missing", known-have, known))
		p.hub.Skip(known - have)
	}
	if writes {
		p.addDamage(j.SkipTo(known))
	}
}

// remember gives the hub the time of the last output and the bells of the record.
func (p *replayed) remember(r *meta) {
	last := p.output
	if r.LastOutput != nil {
		last = maxTime(last, *r.LastOutput)
	}
	p.hub.RestoreStats(last, r.Bells)
}

// maxDamage is how many kinds of damage are noted of one terminal.
const maxDamage = 5

func (p *replayed) addDamage(err error) {
	if err != nil && len(p.damage) < maxDamage {
		p.damage = append(p.damage, err)
	}
}

// applyJournal applies the journal from the snapshot's position to its end.
func (p *replayed) applyJournal(j *journal.Journal) error {
	if p.from > j.End() {
		// The machine went down before the journal was synced up to the snapshot.
		return j.SkipTo(p.from)
	}
	if p.from < j.Start() {
		p.addDamage(fmt.Errorf("%d bytes of output from position %d are missing", j.Start()-p.from, p.from))
		p.hub.Skip(j.Start() - p.from)
		p.from = j.Start()
	}
	r, err := j.Read(p.from)
	if err != nil {
		return err
	}
	defer r.Close()
	if p.from > 0 { // the record may be older than the snapshot
		p.output = r.Time()
	}
	answered := j.LastAnswered()
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) || err == nil && !p.keep(&e) {
			p.applySize()
			return nil
		}
		if err != nil {
			return err
		}
		p.apply(e, answered)
	}
}

// keep cuts from an entry what is behind p.to, and reports whether anything is left.
func (p *replayed) keep(e *journal.Entry) bool {
	if e.Seq <= p.to {
		return true
	}
	begin := e.Seq - uint64(len(e.Data))
	if e.Kind != journal.EntryOutput || begin >= p.to {
		return false
	}
	e.Data, e.Seq = e.Data[:p.to-begin], p.to
	return true
}

// apply applies one entry. Queries up to position answered were answered.
func (p *replayed) apply(e journal.Entry, answered uint64) {
	if e.Damaged {
		p.addDamage(fmt.Errorf("output before position %d is damaged", e.Seq))
	}
	switch e.Kind {
	case journal.EntryOutput:
		p.applySize()
		p.output = e.Time
		old := min(uint64(len(e.Data)), answered-min(answered, e.Seq-uint64(len(e.Data))))
		p.hub.Write(e.Data[:old])
		p.unanswered = append(p.unanswered, p.hub.Write(e.Data[old:])...)
	case journal.EntryResize, journal.EntryRestart:
		if e.Kind == journal.EntryRestart {
			p.hub.Flush() // of the generation that has ended
		}
		if p.cols, p.rows = e.Cols, e.Rows; e.Seq != p.from {
			p.applySize()
		}
	case journal.EntryGap:
		p.addDamage(fmt.Errorf("%d bytes of output before position %d are missing", e.Bytes, e.Seq))
		p.hub.Skip(e.Bytes)
	}
}

// applySize applies the last resize. Of several at the position of the snapshot only the
// last one counts: the snapshot may have some of them, and shrinking the screen on the way to
// its own size would lose lines.
func (p *replayed) applySize() {
	if p.cols > 0 && p.rows > 0 {
		p.hub.Resize(p.cols, p.rows)
	}
	p.cols, p.rows = 0, 0
}

// blank is a screen without output.
func blank(cols, rows int) *vt.Frame {
	cols, rows = max(cols, vt.MinSize), max(rows, vt.MinSize)
	return &vt.Frame{Cols: cols, Rows: rows, Unicode: vt.Unicode11, Modes: vt.DefaultModes(),
		Main: vt.Screen{Lines: make([]vt.Line, rows), Bottom: rows - 1}}
}
