package terminal

import (
	"fmt"
	"iter"
	"maps"
	"strconv"
	"time"

	"github.com/evertty/evertty/internal/descriptors"
	"github.com/evertty/evertty/internal/startdir"
	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/pty/keeper"
	"github.com/evertty/evertty/stream"
)

// Create starts a terminal. Errors: ErrInvalid, ErrNameTaken, ErrLimit,
// ErrClosing, those of pty.Start and of the keeper, and of the thread's records (Hooks.Authorize).
func (m *Registry) Create(s Spec) (*Terminal, error) {
	if err := s.complete(); err != nil {
		return nil, err
	}
	if err := m.checkProvider(&s); err != nil {
		return nil, err
	}
	if s.Provider == "" {
		s.Cwd = startdir.InHome(s.Cwd)
	}
	now := time.Now().UTC()
	t := m.attach(&Terminal{ID: NewID(), registry: m, spec: s, created: now, generation: firstGeneration, generations: newGenerations(), state: StateRunning,
		cwd: newCwd(Absolute(s.Cwd), ""), lastActivity: now, ended: make(chan struct{}), changes: 1})
	if s.Provider == "" {
		program, _ := t.program(s)
		if _, err := program.Plan(); err != nil {
			return nil, err // before anything is ended to make room
		}
	}
	if err := m.makeRoom(s.Session); err != nil {
		return nil, err
	}
	release, err := m.cfg.Descriptors.Take(descriptors.Terminal)
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
	m.changes.Notify()
	if err := m.hooks.Authorize(m.life.Opening(), t); err != nil {
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
	k, err := t.registry.cfg.Keeper.Start(t.KeeperID(), program)
	if err != nil {
		t.registry.hooks.DropProgram(t)
		return err
	}
	t.setProcess(k)
	t.RefreshCwd()
	return nil
}

// abandon removes what a terminal that did not start has on disk.
func (t *Terminal) abandon() {
	_ = t.journal.Close()
	if t.spec.Provider != "" {
		t.registry.hooks.Removed(t) // it was told of before the start
	}
	if err := t.removeFiles(); err != nil {
		t.registry.NoteCleanup(err)
	}
}

// KeeperID is what the keeper knows the process as.
func (t *Terminal) KeeperID() string { return t.ID + "." + strconv.Itoa(t.generation) }

// setProcess makes what the keeper holds the terminal's.
func (t *Terminal) setProcess(k *keeper.Kept) {
	t.process, t.pipe, t.input = k.Process, k.Pipe, newInput(k.Process, t.noteAnswered)
	if t.registry.cfg.Unspliced != nil {
		t.pipe.Plain()
	}
}

// reserve makes the name and a place the terminal's before it starts, so that
// two requests for one name start one program. Nobody finds it before publish:
// half a terminal has no screen. The caller must release it.
func (m *Registry) reserve(t *Terminal) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	live, here := 0, 0
	for o := range m.taken() {
		if o.Running() {
			live++
			if o.spec.Session == t.spec.Session {
				here++
			}
		}
		if o.spec.Name != "" && o.spec.Name == t.spec.Name && o.ID != t.ID && o.spec.Session == t.spec.Session && !o.Deleted() {
			return fmt.Errorf("%w: session %q has a terminal %q (%s); delete it or choose another name", ErrNameTaken, o.spec.Session, o.spec.Name, o.ID)
		}
	}
	if live >= MaxTerminals {
		return fmt.Errorf("%w: %d terminals are running, the most this server holds", ErrLimit, live)
	}
	if limit := m.cfg.Clean.MaxPerSession; limit > 0 && here >= limit {
		return tooMany(t.spec.Session, here, limit)
	}
	done, ok := m.life.Start()
	if !ok {
		return ErrClosing
	}
	t.started = done
	m.starting[t] = struct{}{}
	return nil
}

// taken yields every terminal that holds a name or a place, also those that
// are starting. The lock is held.
func (m *Registry) taken() iter.Seq[*Terminal] {
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
func (m *Registry) publish(t *Terminal) {
	m.mu.Lock()
	delete(m.starting, t)
	m.byID[t.ID] = t
	m.mu.Unlock()
	m.life.Go(t.run)
	m.life.Go(func() { t.input.run(t.ended, m.ctx.Done()) })
}

// release ends a reservation, whether the terminal was published or not.
func (m *Registry) release(t *Terminal) {
	m.mu.Lock()
	delete(m.starting, t)
	m.mu.Unlock()
	t.started()
}

func (m *Registry) forget(t *Terminal) {
	m.mu.Lock()
	delete(m.byID, t.ID)
	m.mu.Unlock()
}

// attach gives a new terminal what the hooks keep with it.
func (m *Registry) attach(t *Terminal) *Terminal {
	t.Data = m.hooks.NewData(t)
	return t
}

// checkProvider finds out where a new terminal runs. Errors: those of Hooks.Provider.
func (m *Registry) checkProvider(s *Spec) (err error) {
	s.Provider, err = m.hooks.Provider(s.Session)
	return err
}

// program is what the keeper starts for a terminal: its program, or what stands for it here.
func (t *Terminal) program(s Spec) (pty.Spec, error) {
	if s.Provider != "" {
		return t.registry.hooks.Program(t, s)
	}
	env := map[string]string{}
	maps.Copy(env, s.Env)
	maps.Copy(env, pty.Identity(t.registry.cfg.Address, s.Session, t.ID))
	return pty.Spec{Argv: s.Cmd, Dir: s.Cwd, Env: env, Cols: s.Cols, Rows: s.Rows, Brand: t.Tag()}, nil
}
