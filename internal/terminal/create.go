package terminal

import (
	"cmp"
	"fmt"
	"time"

	"github.com/evertty/evertty/internal/confine"
	"github.com/evertty/evertty/internal/descriptors"
	"github.com/evertty/evertty/internal/owner"
	"github.com/evertty/evertty/internal/startdir"
	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/wire"
)

// Create starts a terminal of a session. Errors: ErrInvalid, ErrNameTaken, ErrLimit, ErrClosing, as pty.Start,
// the keeper and the hooks.
func (r *Registry) Create(session string, in wire.CreateTerminal) (*Terminal, error) {
	return r.CreateFor(session, in, "", nil)
}

// CreateFor is Create for a command of a shell, by which the terminal is found to be its own again, in the sandbox of
// the shell, which in.Sandbox names; "" is for none, and nil the sandbox of in.
func (r *Registry) CreateFor(session string, in wire.CreateTerminal, exec string, rules *confine.Sandbox) (*Terminal,
	error) {
	s := Spec{Session: session, CreateTerminal: in, Exec: exec, Rules: rules}
	if err := s.complete(); err != nil {
		return nil, err
	}
	leave, err := r.hooks.Enter(session)
	if err != nil {
		return nil, err
	}
	defer leave()
	if s.Provider, err = r.hooks.Provider(session); err != nil {
		return nil, err
	}
	if err := s.place(r.cfg.Store.Dir()); err != nil {
		return nil, err
	}
	now := time.Now().UTC()
	t := r.newTerminal(NewID(), s, now, firstGeneration, newGenerations())
	t.state, t.cwd, t.lastActivity = StateRunning, newCwd(Absolute(s.Cwd), ""), now
	t.changes.Store(1)
	if s.Provider == "" {
		command, err := t.command(s)
		if err == nil {
			_, err = command.Plan()
		}
		if err != nil {
			return nil, err // before makeRoom ends another terminal
		}
	}
	if err := r.makeRoom(session); err != nil {
		return nil, err
	}
	release, err := r.cfg.Descriptors.Take(descriptors.Terminal)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := r.reserve(t); err != nil {
		return nil, err
	}
	defer r.release(t)
	if err := t.openJournal(*s.Cols, *s.Rows, 0); err != nil {
		return nil, err
	}
	t.live.Store(stream.New(t.options(t.journal)))
	if err := t.start(s); err != nil {
		t.abandon()
		return nil, err
	}
	r.publish(t)
	r.changes.Notify()
	if err := r.hooks.Authorize(r.life.Opening(), t); err != nil {
		_ = r.Delete(r.ctx, t, true) // its id was not given away
		return nil, err
	}
	return t, nil
}

// place sets what depends on where the terminal runs: its directory, and its sandbox. Errors: as NewSandbox,
// checkRestoreAt.
func (s *Spec) place(dataDir string) (err error) {
	if s.Provider != "" {
		return cmp.Or(CheckProvider(s.Provider, s.Sandbox, s.Limits), checkRestoreAt(s.Provider, s.Restore))
	}
	s.Cwd = startdir.InHome(s.Cwd)
	if s.Rules == nil {
		s.Rules, err = NewSandbox(s.Sandbox, s.Cwd, dataDir, s.Env)
	}
	return err
}

// reserve takes the name and a place in the limits before the start, so that two requests for
// one name start one program. The terminal cannot be found before publish, because it has no
// screen. The caller must release it. Errors: ErrNameTaken, ErrLimit, ErrClosing.
func (r *Registry) reserve(t *Terminal) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if o := r.taken(t); o != nil {
		return &NameTaken{Session: o.spec.Session, Name: t.spec.Name, ID: o.ID}
	}
	space := owner.Space(t.spec.Session)
	live, here, own := r.running.all, r.running.of[t.spec.Session], r.running.of[space]
	if live >= r.cfg.Max {
		return fmt.Errorf("%w: %d terminals are running, the most that this server holds (max_ptys); end one, or try "+
			"again later", ErrLimit, r.cfg.Max)
	}
	if limit := r.mostIn(space); limit > 0 && own >= limit {
		return fmt.Errorf("%w: you have %d running terminals, the most that you may have (max_ptys of the user); end "+
			"one", ErrLimit, own)
	}
	if limit := r.cfg.Clean.MaxPerSession; limit > 0 && here >= limit {
		return tooMany(t.spec.Session, here, limit)
	}
	done, ok := r.life.Start()
	if !ok {
		return ErrClosing
	}
	t.started = done
	r.starting[t] = struct{}{}
	r.running.add(t)
	return nil
}

// taken is another terminal of the session that has the terminal's name, nil for none. The lock is held.
func (r *Registry) taken(t *Terminal) *Terminal {
	if t.spec.Name == "" {
		return nil
	}
	for o := range r.known {
		if o.ID != t.ID && o.named(t.spec.Name) && o.spec.Session == t.spec.Session {
			return o
		}
	}
	return nil
}

// mostIn bounds the running terminals of a user's space; 0 is no bound, as for administrators.
func (r *Registry) mostIn(space string) int {
	if user, _ := owner.Split(space); user != "" && r.cfg.MaxOf != nil {
		return r.cfg.MaxOf(user)
	}
	return 0
}

// publish lets a terminal be found that was reserved and has started, and runs it.
func (r *Registry) publish(t *Terminal) {
	r.mu.Lock()
	delete(r.starting, t)
	r.byID[t.ID] = t
	r.mu.Unlock()
	t.becomeDue()
	r.life.Go(t.run)
}

// has reports whether a terminal can be found: it was published and was not replaced.
func (r *Registry) has(t *Terminal) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byID[t.ID] == t
}

// release ends a reservation, whether the terminal was published or not.
func (r *Registry) release(t *Terminal) {
	r.mu.Lock()
	delete(r.starting, t)
	if r.byID[t.ID] != t {
		r.running.remove(t)
	}
	r.mu.Unlock()
	t.started()
}

// newTerminal returns a terminal without process and screen.
func (r *Registry) newTerminal(id string, s Spec, created time.Time, generation int, g *generations) *Terminal {
	t := &Terminal{ID: id, registry: r, spec: s, created: created, generation: generation, generations: g}
	t.program.t, t.screen.t, t.files.t = t, t, t
	t.given.Store(&t.spec)
	t.ended, t.ahead = make(chan struct{}), newAhead()
	t.Data = r.hooks.NewData(t)
	return t
}
