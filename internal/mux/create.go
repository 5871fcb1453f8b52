package mux

import (
	"iter"
	"strconv"
	"time"

	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/pty/keeper"
	"github.com/evertty/evertty/stream"
)

// Create starts a terminal. Errors: ErrInvalid, ErrNameTaken, ErrLimit,
// ErrClosing, those of pty.Start and of the keeper, and of the thread's records (see durable.ready).
func (m *Mux) Create(s Spec) (*Terminal, error) {
	if err := s.complete(); err != nil {
		return nil, err
	}
	if err := m.checkProvider(&s); err != nil {
		return nil, err
	}
	if s.Place == "" {
		s.Cwd = inHome(s.Cwd)
	}
	now := time.Now().UTC()
	t := &Terminal{ID: newID(), mux: m, spec: s, created: now, generation: firstGeneration, line: newLineage(), state: StateRunning,
		place: startingIn(absolute(s.Cwd), ""), lastActivity: now, ended: make(chan struct{}), changes: 1}
	if s.Place == "" {
		program, _ := t.program(s)
		if _, err := program.Plan(); err != nil {
			return nil, err // before anything is ended to make room
		}
	}
	if err := m.makeRoom(s.Session); err != nil {
		return nil, err
	}
	release, err := m.descriptors.take(terminalDescriptors)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := m.reserve(t); err != nil {
		return nil, err
	}
	defer m.release(t)
	if err := t.openJournal(s.Cols, s.Rows); err != nil {
		return nil, err
	}
	t.screen.hub.Store(stream.New(t.options()))
	if err := t.start(s); err != nil {
		t.abandon()
		return nil, err
	}
	m.publish(t)
	m.changes.notify()
	if err := m.records.attend(m.opening, t); err != nil {
		_ = m.Delete(m.ctx, t, true) // nobody was told of it
		return nil, err
	}
	return t, nil
}

// start starts the program. The record is on disk before: a server that is killed
// in between leaves a terminal that is lost, never a program that nobody knows.
func (t *Terminal) start(s Spec) error {
	t.saveRecord()
	program, err := t.program(s)
	if err != nil {
		return err
	}
	k, err := t.mux.cfg.Keeper.Start(t.holdID(), program)
	if err != nil {
		t.dropJob()
		return err
	}
	t.hold(k)
	t.look()
	return nil
}

// abandon removes what a terminal that did not start has on disk.
func (t *Terminal) abandon() {
	_ = t.journal.Close()
	if t.spec.Place != "" {
		t.mux.records.note(func(b *thread.Batch) error { return b.DeleteTerminal(t.ID) }) // made before the start
	}
	if err := t.removeFiles(); err != nil {
		t.mux.cannotClean(err)
	}
}

// holdID is what the keeper knows the process as.
func (t *Terminal) holdID() string { return t.ID + "." + strconv.Itoa(t.generation) }

// hold makes what the keeper holds the terminal's.
func (t *Terminal) hold(k *keeper.Kept) {
	t.process, t.pipe, t.input = k.Process, k.Pipe, newInput(k.Process, t.answering)
	if t.mux.cfg.Unspliced != nil {
		t.pipe.Plain()
	}
}

// reserve makes the name and a place the terminal's before it starts, so that
// two requests for one name start one program. Nobody finds it before publish:
// half a terminal has no screen. The caller must release it.
func (m *Mux) reserve(t *Terminal) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closing {
		return ErrClosing
	}
	live, here := 0, 0
	for o := range m.taken() {
		if o.running() {
			live++
			if o.spec.Session == t.spec.Session {
				here++
			}
		}
		if o.spec.Name != "" && o.spec.Name == t.spec.Name && o.ID != t.ID && o.spec.Session == t.spec.Session && !o.isDeleted() {
			return wrapf(ErrNameTaken, "session %q has a terminal %q (%s); delete it or choose another name", o.spec.Session, o.spec.Name, o.ID)
		}
	}
	if live >= MaxTerminals {
		return wrapf(ErrLimit, "%d terminals are running, the most this server holds", live)
	}
	if limit := m.cfg.Clean.MaxPerSession; limit > 0 && here >= limit {
		return tooMany(t.spec.Session, here, limit)
	}
	m.starting[t] = struct{}{}
	m.starts.Add(1)
	return nil
}

// taken yields every terminal that holds a name or a place, also those that
// are starting. The lock is held.
func (m *Mux) taken() iter.Seq[*Terminal] {
	return func(yield func(*Terminal) bool) {
		for t := range m.starting {
			if !yield(t) {
				return
			}
		}
		for _, t := range m.byID {
			if !yield(t) {
				return
			}
		}
	}
}

// publish lets a terminal that was reserved and has started be found, and runs it.
func (m *Mux) publish(t *Terminal) {
	m.mu.Lock()
	delete(m.starting, t)
	m.byID[t.ID] = t
	m.mu.Unlock()
	m.work.Go(t.run)
	m.work.Go(func() { t.input.run(t.ended, m.ctx.Done()) })
}

// release ends a reservation, whether the terminal was published or not.
func (m *Mux) release(t *Terminal) {
	m.mu.Lock()
	delete(m.starting, t)
	m.mu.Unlock()
	m.starts.Done()
}

func (m *Mux) forget(t *Terminal) {
	m.mu.Lock()
	delete(m.byID, t.ID)
	m.mu.Unlock()
}
