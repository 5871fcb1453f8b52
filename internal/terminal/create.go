package terminal

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/evertty/evertty/internal/descriptors"
	"github.com/evertty/evertty/internal/startdir"
	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/pty/keeper"
	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/wire"
)

// Create starts a terminal of a session. Errors: ErrInvalid, ErrNameTaken, ErrLimit, ErrClosing, those
// of pty.Start, of the keeper and of the hooks.
func (m *Registry) Create(session string, in wire.CreateTerminal) (*Terminal, error) {
	s := Spec{Session: session, CreateTerminal: in}
	if err := s.complete(); err != nil {
		return nil, err
	}
	leave, err := m.hooks.Enter(session)
	if err != nil {
		return nil, err
	}
	defer leave()
	if s.Provider, err = m.hooks.Provider(session); err != nil {
		return nil, err
	}
	if s.Provider == "" {
		s.Cwd = startdir.InHome(s.Cwd)
	}
	now := time.Now().UTC()
	t := m.withData(&Terminal{ID: NewID(), registry: m, spec: s, created: now, generation: firstGeneration,
		generations: newGenerations(), state: StateRunning, cwd: newCwd(Absolute(s.Cwd), ""), lastActivity: now,
		ended: make(chan struct{}), changes: 1})
	if s.Provider == "" {
		program, _ := t.program(s)
		if _, err := program.Plan(); err != nil {
			return nil, err // before makeRoom ends another terminal
		}
	}
	if err := m.makeRoom(session); err != nil {
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
	if err := t.openJournal(*s.Cols, *s.Rows, 0); err != nil {
		return nil, err
	}
	t.screen.live.Store(stream.New(t.options()))
	if err := t.start(s); err != nil {
		t.abandon()
		return nil, err
	}
	m.publish(t)
	m.changes.Notify()
	if err := m.hooks.Authorize(m.life.Opening(), t); err != nil {
		_ = m.Delete(m.ctx, t, true) // nobody knows its id
		return nil, err
	}
	return t, nil
}

// start starts the program. The record is on disk before: a server that is killed in between
// leaves a terminal that is lost, never a program without a record.
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

// abandon removes the files of a terminal that did not start.
func (t *Terminal) abandon() {
	_ = t.journal.Close()
	if t.spec.Provider != "" {
		t.registry.hooks.Removed(t) // Program has made it known before the start
	}
	if err := t.removeFiles(); err != nil {
		t.registry.NoteCleanup(err)
	}
}

// KeeperID is the keeper's name for the process.
func (t *Terminal) KeeperID() string { return t.ID + "." + strconv.Itoa(t.generation) }

// setProcess gives the terminal its process, which the keeper holds.
func (t *Terminal) setProcess(k *keeper.Held) {
	t.unsynced.Store(true) // the journal's files are new, or have what came from the pipe
	t.process, t.pipe, t.input = k.Process, k.Pipe, newInput(k.Process, t.noteAnswered)
	if t.registry.cfg.Unspliced != nil {
		t.pipe.Plain()
	}
}

// reserve takes the name and a place in the limits before the start, so that two requests for
// one name start one program. The terminal cannot be found before publish, because it has no
// screen. The caller must release it. Errors: ErrNameTaken, ErrLimit, ErrClosing.
func (m *Registry) reserve(t *Terminal) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	live, here := 0, 0
	for _, o := range slices.AppendSeq(slices.Collect(maps.Keys(m.starting)), maps.Values(m.byID)) {
		same := o.spec.Session == t.spec.Session
		if o.Running() {
			live++
			if same {
				here++
			}
		}
		if same && o.spec.Name != "" && o.spec.Name == t.spec.Name && o.ID != t.ID && !o.Deleted() {
			return fmt.Errorf("%w: session %q has a terminal %q (%s); delete it or choose another name",
				ErrNameTaken, o.spec.Session, o.spec.Name, o.ID)
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

// publish lets a terminal be found that was reserved and has started, and runs it.
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

// withData gives a new terminal its Data.
func (m *Registry) withData(t *Terminal) *Terminal {
	t.Data = m.hooks.NewData(t)
	return t
}

// program is the process that the keeper starts: the terminal's program, or for one at a
// provider the relay to it.
func (t *Terminal) program(s Spec) (pty.Spec, error) {
	if s.Provider != "" {
		return t.registry.hooks.Program(t, s)
	}
	env := map[string]string{}
	maps.Copy(env, s.Env)
	maps.Copy(env, pty.Identity(t.registry.cfg.Address, s.Session, t.ID))
	return pty.Spec{Argv: s.Cmd, Dir: s.Cwd, Env: env, Cols: *s.Cols, Rows: *s.Rows, Tag: t.Tag()}, nil
}
