package mux

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/local"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/pty"
)

// ErrNoRecords is what everything durable answers when the database could not be opened. Terminals and shells work without it.
var ErrNoRecords = errors.New("there are no records of threads")

// durable is the durable layer: the records of threads and who writes them. Without a database its Manager is nil.
//
// The id of a thread is the session of terminals and shells. A terminal's row has the terminal's id, a shell's row its key. What a command and a byte need is in
// memory (Manager.Admit, Attend); the rest is written by the recorder.
type durable struct {
	*thread.Manager
	books     *conversation.Manager // of harnesses; nil without a store
	mux       *Mux
	why       error // of no Manager
	boot      string
	recorder  recorder
	watchers  watchers
	pauses    *pauses
	local     *local.Provider
	providers map[string]provider.Provider // with local
	kick      chan struct{}                // has a value when a session is over its budget
	sweeping  sync.WaitGroup

	trouble atomic.Pointer[string] // why the records cannot be written; nil when they can

	mu  sync.Mutex               // a leaf
	cpu map[string]time.Duration // processor time of threads with a budget of it, as of the last look
}

// openRecords begins with what the database has. It happens before anything is brought back.
func (m *Mux) openRecords() {
	d := &durable{mux: m, why: m.cfg.NoRecords, recorder: newRecorder(), kick: make(chan struct{}, 1), cpu: map[string]time.Duration{}}
	m.records = d
	d.boot = bootID()
	defer d.knowPermissions()
	if m.cfg.Records == nil {
		if d.why == nil {
			d.why = errors.New("this server has none")
		}
		return
	}
	d.pauses = newPauses(d)
	d.local = local.New(local.Config{Lookup: d.localInstance})
	d.providers = map[string]provider.Provider{thread.Local: d.local}
	for name, p := range m.cfg.Providers {
		d.providers[name] = p.Provider
	}
	manager, err := thread.NewManager(thread.Config{Store: m.cfg.Records, Policy: m.cfg.Policy, Chosen: m.cfg.PolicyChosen, Providers: d.providers, ComputeChanged: d.pauses.computeChanged,
		Cwd: d.firstDir, Viewers: d.viewers, End: d.end, Notify: func(e thread.Event) { d.watchers.notify(e.Thread) }})
	if err != nil {
		d.why = err
		m.cfg.NoRecords = err
		m.cfg.Log.Error("the records of threads cannot be read", "error", err)
		return
	}
	d.Manager = manager
	d.pauses.remember()
	d.openBooks()
}

// bootID tells one run of the machine from the next.
func bootID() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // "" only makes every process of an earlier server lost
	return strings.TrimSpace(string(b))
}

// begin starts what writes the records and ends sessions.
func (d *durable) begin() {
	if d.Manager == nil {
		close(d.recorder.done)
		return
	}
	d.align()
	d.pauses.settle()
	go d.record()
	d.mux.work.Go(d.sweepLoop)
	d.mux.work.Go(d.chargeLoop)
	d.beginBooks()
}

// close writes what is left. Nothing of the Mux changes any more.
func (d *durable) close() {
	if d.Manager == nil {
		return
	}
	d.sweeping.Wait()
	close(d.recorder.stop)
	<-d.recorder.done
	d.closeBooks()
	if err := d.Flush(); err != nil {
		d.mux.cfg.Log.Warn("the last activity of sessions is not written", "error", err)
	}
}

// durable is the durable layer, or why there is none. Errors: ErrNoRecords.
func (m *Mux) durable() (*durable, error) {
	if m.records.Manager == nil {
		return nil, fmt.Errorf("%w: %w", ErrNoRecords, m.records.why)
	}
	return m.records, nil
}

// currentPatience bounds the wait of somebody who looks for what was done a moment ago.
const currentPatience = 5 * time.Second

// current is durable when everything that has happened in a thread, "" is none, is in the records.
func (m *Mux) current(ctx context.Context, thread string) (*durable, error) {
	d, err := m.durable()
	if err != nil {
		return nil, err
	}
	limit, cancel := context.WithTimeout(ctx, currentPatience)
	defer cancel()
	if thread != "" && !d.pauses.isFrozen(thread) { // what stands still changes nothing
		for _, s := range m.Shells(thread) {
			_ = s.Settled(limit) // what hangs is told as it was
		}
		for _, t := range m.live(thread) {
			t.notePlace(t.look())
		}
	}
	_ = d.flush(limit)
	return d, ctx.Err()
}

// live are the terminals of a thread whose programs run, in no order.
func (m *Mux) live(thread string) (list []*Terminal) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, t := range m.byID {
		if t.spec.Session == thread && t.process != nil && t.running() {
			list = append(list, t)
		}
	}
	return list
}

func isMissing(err error) bool { return errors.Is(err, thread.ErrNotFound) }

// firstDir is where the first process of a terminal starts when nobody said it.
func (d *durable) firstDir(name string) string {
	if name == thread.Local {
		return homeDir()
	}
	return "" // where its instances begin: the first command tells
}

// viewers is how many people look at the terminals of a thread.
func (d *durable) viewers(thread string) (n int) {
	for _, t := range d.mux.live(thread) {
		n += t.screen.attached()
	}
	return n
}

// openPatience bounds how long a command waits for its thread: for a provider to resume it, for the processes of an old session to end.
const openPatience = 60 * time.Second

// ready opens a thread for a use: Manager.Open with what is ours. Trouble with the database hinders nobody: nil is returned, and /healthz tells.
// at is where what uses it runs, "" is here. Errors: session.ErrProvider, ErrNoProvider, ErrConflict, ErrInvalid, ErrUnsupported (the thread's processes run elsewhere), the reason of ctx.
func (d *durable) ready(ctx context.Context, threadID string, u thread.Use, at string) (thread.Layers, error) {
	ctx, cancel := context.WithTimeout(ctx, openPatience)
	defer cancel()
	l, err := d.Open(ctx, threadID, u)
	if errors.Is(err, thread.ErrConflict) && u.Name != "" {
		u.Name = "" // a shell and a terminal may be called the same, rows not
		l, err = d.Open(ctx, threadID, u)
	}
	switch {
	case err == nil:
	case ctx.Err() != nil || isRefusal(err) || at != "":
		return l, err
	case errors.Is(err, thread.ErrProvider), errors.Is(err, thread.ErrNoProvider):
		return l, err
	default:
		d.failed(err)
		return l, nil
	}
	if l.Lease.Provider != cmp.Or(at, thread.Local) {
		return l, fmt.Errorf("%w: thread %s is at %s, not at %s", provider.ErrUnsupported, threadID, l.Lease.Provider, cmp.Or(at, thread.Local))
	}
	return l, nil
}

// admit lets a command begin in a shell. In an open session it is a look into memory. Errors: session.ErrBudget, and those of ready.
func (d *durable) admit(s *Shell) error {
	if d.Manager == nil {
		return nil
	}
	err := thread.ErrExpired
	if s.recorded.Load() && !d.pauses.isFrozen(s.Session) {
		err = d.Admit(s.Session)
	}
	if errors.Is(err, thread.ErrExpired) {
		if _, err := d.ready(d.mux.ctx, s.Session, s.use(), s.Spec().Place); err != nil {
			return err
		}
		d.recordShell(s)
		err = d.Admit(s.Session)
	}
	if errors.Is(err, thread.ErrBudget) {
		d.hurry()
		return err
	}
	return nil // a session without time ends again at once; its command runs
}

// attend is activity of somebody who types, which lets a paused thread go on and makes a new session when the old one is over. Errors: those of ready.
func (d *durable) attend(ctx context.Context, t *Terminal) error {
	if d.Manager == nil {
		return nil
	}
	if t.recorded.Load() && !d.pauses.isFrozen(t.spec.Session) && d.Attend(t.spec.Session) == nil {
		return nil
	}
	if _, err := d.ready(ctx, t.spec.Session, t.use(), t.spec.Place); err != nil {
		return err
	}
	d.recordTerminal(t)
	return nil
}

// use is the row of a shell.
func (s *Shell) use() thread.Use {
	return thread.Use{Kind: thread.Shell, Terminal: s.key, Name: s.ID, Cwd: absolute(s.Facts().Cwd)}
}

// use is the row of a terminal.
func (t *Terminal) use() thread.Use {
	return thread.Use{Kind: thread.PTY, Terminal: t.ID, Name: t.spec.Name, Cmd: t.spec.Cmd, Cols: t.spec.Cols, Rows: t.spec.Rows, Cwd: absolute(t.dir()), Env: t.spec.Env}
}

func absolute(dir string) string {
	if strings.HasPrefix(dir, "/") {
		return dir
	}
	return ""
}

// recordShell notes the process and the state of a shell whose row is there.
func (d *durable) recordShell(s *Shell) {
	if s.recorded.Swap(true) {
		return
	}
	if p, ok := pty.FindProc(s.Facts().PID); ok {
		d.note(func(b *thread.Batch) error { return b.Begin(s.key, d.process(p)) })
	}
	d.noteState(s)
}

// recordTerminal notes the process of a terminal whose row is there, and where it is: its program may have ended already.
func (d *durable) recordTerminal(t *Terminal) {
	if t.recorded.Swap(true) {
		return
	}
	defer func() { t.notePlace(t.dir()) }()
	if !t.running() {
		return
	}
	if p, ok := pty.FindProc(t.process.PID()); ok {
		d.note(func(b *thread.Batch) error { return b.Begin(t.ID, d.process(p)) })
	}
}

func (d *durable) process(p pty.Proc) thread.Process {
	return thread.Process{PID: p.PID, PIDStart: int64(p.Start), Boot: d.boot}
}

// noteState notes the state of a shell when it is another one.
func (d *durable) noteState(s *Shell) {
	state := s.State()
	if !strings.HasPrefix(state.Cwd, "/") {
		return
	}
	d.note(func(b *thread.Batch) error {
		return b.Save(s.key, thread.State{Cwd: state.Cwd, Env: state.Delta, Unset: state.Unset})
	})
}

// notePlace notes the directory of a terminal's program and what its shell exports when they are others than were noted last: a rollback stays until something new is seen.
// Exports stay as they are when nothing runs that shows them.
func (t *Terminal) notePlace(dir string) {
	if !t.recorded.Load() {
		return
	}
	moved := false
	if strings.HasPrefix(dir, "/") {
		old := t.noted.Swap(&dir)
		moved = old == nil || *old != dir
	}
	e, began, seen := t.shown()
	seen = seen && !e.same(t.exported.Swap(e))
	if !moved && !seen {
		return
	}
	t.mux.records.note(func(b *thread.Batch) error {
		return b.Change(t.ID, func(s thread.State) thread.State {
			if moved {
				s.Cwd = dir
			}
			if seen {
				s = e.applied(s, began)
			}
			return s
		})
	})
}
