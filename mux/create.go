package mux

import (
	"context"
	"io"
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
	p, err := pty.Start(pty.Spec{Argv: s.Cmd, Dir: s.Cwd, Env: s.Env, Cols: s.Cols, Rows: s.Rows})
	if err != nil {
		m.forget(t)
		return nil, err
	}
	t.process, t.input = p, newInput(p)
	t.screen.hub.Store(stream.New(t.options()))
	t.saveRecord()
	m.work.Go(t.run)
	m.work.Go(func() { t.input.run(t.ended) })
	m.changes.notify()
	return t, nil
}

// reserve makes the id and the name the terminal's before it starts, so that
// two requests for one name start one program.
func (m *Mux) reserve(t *Terminal) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closing {
		return ErrClosing
	}
	live := 0
	for _, o := range m.byID {
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
	m.byID[t.ID] = t
	return nil
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
			if err != io.EOF {
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
