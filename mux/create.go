package mux

import (
	"context"
	"errors"
	"io"
	"iter"
	"sync"
	"time"

	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/stream"
)

// Create starts a terminal. Errors: ErrInvalid, ErrNameTaken, ErrLimit,
// ErrClosing and those of pty.Start.
func (m *Mux) Create(s Spec) (*Terminal, error) {
	if err := s.complete(); err != nil {
		return nil, err
	}
	now := time.Now().UTC()
	t := &Terminal{ID: newID(), mux: m, spec: s, created: now, state: StateRunning, lastActivity: now, ended: make(chan struct{}), changes: 1}
	if err := m.reserve(t); err != nil {
		return nil, err
	}
	defer m.release(t)
	p, err := pty.Start(pty.Spec{Argv: s.Cmd, Dir: s.Cwd, Env: s.Env, Cols: s.Cols, Rows: s.Rows})
	if err != nil {
		return nil, err
	}
	t.process, t.input = p, newInput(p)
	t.screen.hub.Store(stream.New(t.options()))
	m.publish(t)
	t.saveRecord()
	m.changes.notify()
	return t, nil
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
	live := 0
	for o := range m.taken() {
		if o.running() {
			live++
		}
		if o.spec.Name != "" && o.spec.Name == t.spec.Name && o.spec.Session == t.spec.Session && !o.isDeleted() {
			return wrapf(ErrNameTaken, "session %q has a terminal %q (%s); delete it or choose another name", o.spec.Session, o.spec.Name, o.ID)
		}
	}
	if live >= MaxTerminals {
		return wrapf(ErrLimit, "%d terminals are running, the most this server holds", live)
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
	m.work.Go(func() { t.input.run(t.ended) })
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

const (
	// idleBuffer is what a silent terminal holds for its next output, in bytes:
	// what the kernel hands out at once.
	idleBuffer = 4 << 10
	// floodBuffer is what a terminal that filled idleBuffer reads into, in bytes.
	floodBuffer = 64 << 10
)

var floodBuffers = sync.Pool{New: func() any { b := make([]byte, floodBuffer); return &b }}

// run brings the program's output to the hub until its end. It is the only
// reader, and the only goroutine that writes to the hub.
func (t *Terminal) run() {
	hub := t.Hub()
	small := make([]byte, idleBuffer)
	var large *[]byte
	buf := small
	for {
		n, err := t.process.Read(buf)
		if n > 0 {
			t.input.reply(hub.Write(buf[:n]))
			t.changed()
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				t.mux.cfg.Log.Warn("terminal output ended early", "id", t.ID, "error", err)
			}
			break
		}
		switch {
		case n < idleBuffer && large != nil:
			floodBuffers.Put(large)
			buf, large = small, nil
		case n == idleBuffer && large == nil:
			large = floodBuffers.Get().(*[]byte)
			buf = *large
		}
	}
	t.finish()
}

// changed notes output: not activity of a user, but worth a snapshot.
func (t *Terminal) changed() {
	t.mu.Lock()
	t.changes++
	t.mu.Unlock()
}

// finish notes the end of the program after its last output.
func (t *Terminal) finish() {
	status, _ := t.process.Wait(context.Background()) // fails with its context only
	_ = t.process.Close()
	e := stream.Exit{Signal: status.Signal, Reason: "exit", Code: &status.Code}
	if status.Signal != "" {
		e.Reason = "signal"
	}
	t.mu.Lock()
	if t.killed {
		e.Reason = "killed"
	}
	closing := t.mux.ctx.Err() != nil
	if !closing {
		t.state, t.exit = StateExited, &e
		t.endedAt = time.Now().UTC()
	}
	t.changes++
	t.mu.Unlock()
	t.Hub().Finish(e)
	if !closing { // else the record goes on saying that it ran: it will be lost
		t.checkpoint()
		t.saveRecord()
	}
	close(t.ended)
	t.mux.changes.notify()
}
