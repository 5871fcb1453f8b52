package service

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/evertty/evertty/internal/notify"
	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/shell/registry"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/internal/thread/sqlite"
)

// chargeEvery is the time between two accounts of what sessions use.
const chargeEvery = time.Second

// activity notes what happens in live sessions and what they use. Its state is database.memory;
// only cpu is its own.
type activity struct {
	*database
	*parts
	processes *processes
	// inUse says whether a thread has viewers, or output that is not charged yet. Called under no
	// lock but the thread's own.
	inUse func(threadID string) bool
	// settling says whether a thread may have output from when no server ran that is not read yet. Called as inUse.
	settling func(threadID string) bool
	wake     notify.Signal // a session is over its budget: the maintenance loop looks for it at once

	// cpu is the processor time of threads with a budget of it, as of the last account. Only the
	// goroutine of chargeLoop uses it.
	cpu map[string]time.Duration
}

func newActivity(db *database, p *parts) *activity {
	return &activity{database: db, parts: p, wake: notify.NewSignal(), cpu: map[string]time.Duration{}}
}

// touchSession notes activity: input, output, a file. It costs a lock and a comparison; the row
// follows with flush. A paused session stays paused. Errors: thread.ErrExpired (only lifecycle.open
// makes another session), ErrNotFound.
func (a *activity) touchSession(threadID string) error {
	if a.touchInput(threadID) == nil {
		return nil
	}
	s, ok := a.window(threadID)
	if !ok {
		if _, err := a.thread(threadID); err != nil {
			return err
		}
		return fmt.Errorf("%w: thread %s", thread.ErrExpired, threadID)
	}
	reason, err := a.over(s)
	if err != nil {
		return err
	}
	if reason != "" {
		return fmt.Errorf("%w: thread %s: %s", thread.ErrExpired, threadID, reason)
	}
	a.touch(threadID)
	return a.activate(threadID, false)
}

// activate makes an idle session active again, and a paused one if paused is set.
func (a *activity) activate(threadID string, paused bool) error {
	return a.update(func(c *change) error {
		s, ok := a.window(threadID)
		if !ok {
			return fmt.Errorf("%w: thread %s", thread.ErrExpired, threadID)
		}
		from, kind := s.Status, thread.SessionActive
		switch {
		case from == thread.Paused && !paused || from == thread.Active:
			return nil
		case from == thread.Paused:
			kind = thread.SessionResumed
		}
		s, err := s.To(thread.Active)
		if err != nil {
			return err
		}
		s.LastActiveAt, s.WarnedFor = c.now, time.Time{}
		c.putSession(s)
		return c.emit(threadID, kind, thread.Detail{SessionID: s.ID, From: string(from), To: string(s.Status),
			ExpiresAt: s.ExpiresAt()})
	})
}

// flush writes activity and usage that are only in memory. Errors: any of the store; then they
// stay for the next time.
func (a *activity) flush() error {
	list := a.liveSessions(func(w *window) bool { return w.dirty })
	if len(list) == 0 {
		return nil
	}
	return a.update(func(c *change) error {
		for _, s := range list {
			c.Pulse(s.ID, s.LastActiveAt, s.Used)
		}
		c.after = append(c.after, func() { a.flushed(list) })
		return nil
	})
}

// over says why a session has to end now, "" when it has not. Viewers and commands that run are
// activity, and so may output be that is not read yet.
func (a *activity) over(s thread.Session) (string, error) {
	reason := s.Expired(a.clock.now())
	if reason != thread.ReasonIdle {
		return reason, nil
	}
	busy, err := a.isBusy(s.Thread)
	switch {
	case err != nil:
		return reason, err
	case busy:
		a.touch(s.Thread)
	case !a.settling(s.Thread):
		return reason, nil
	}
	return "", nil
}

func (a *activity) isBusy(threadID string) (bool, error) {
	if a.inUse(threadID) {
		return true, nil
	}
	open, err := read(a.database, func(tx *sqlite.Tx) ([]thread.Command, error) { return tx.OpenCommands(threadID) })
	return len(open) > 0, err
}

// sessionsOf returns the sessions of a thread, the newest first. Errors: thread.ErrNotFound.
func (a *activity) sessionsOf(threadID string) ([]thread.Session, error) {
	list, err := readOf(a.database, threadID, func(tx *sqlite.Tx) ([]thread.Session, error) {
		return tx.Sessions(threadID)
	})
	if w, ok := a.window(threadID); ok && len(list) > 0 && list[0].ID == w.ID {
		list[0] = w
	}
	return list, err
}

// chargeLoop charges sessions with what was used until the server closes. Output of a program on a
// terminal is activity, too.
func (a *activity) chargeLoop() {
	pause := time.NewTimer(chargeEvery)
	defer pause.Stop()
	for {
		select {
		case <-pause.C:
			a.chargeOutput()
			a.chargeCPU()
		case <-a.ctx.Done():
			return
		}
		if !a.awaitUse() {
			return
		}
		pause.Reset(chargeEvery)
	}
}

// awaitUse waits until there may be something to charge, and reports whether the server goes on. Shells may print at
// any time.
func (a *activity) awaitUse() bool {
	if len(a.liveSessions(hasCPUBudget)) > 0 || len(a.shells.List("")) > 0 {
		return true
	}
	select {
	case <-a.accounts:
	case <-a.terminals.SomePrinted():
	case <-a.ctx.Done():
		return false
	}
	return true
}

func (a *activity) chargeOutput() {
	bytes := map[string]int64{}
	for _, s := range a.shells.List("") {
		if n := newShellOutput(s); n > 0 {
			bytes[s.Session] += n
		}
	}
	for _, t := range a.terminals.TakePrinted() {
		if n := newOutput(t); n > 0 {
			bytes[t.Thread()] += n
			_ = a.touchSession(t.Thread()) // output alone makes no new session
		}
	}
	for threadID, n := range bytes {
		a.charge(threadID, thread.Usage{Bytes: n})
	}
}

// charge adds to what the session of a thread has used, and has one that is over its budget closed.
func (a *activity) charge(threadID string, u thread.Usage) {
	if errors.Is(a.memory.charge(threadID, u), thread.ErrBudget) {
		a.wake.Set()
	}
}

// newOutput returns how much a terminal has printed since the last call, in bytes. One goroutine
// calls it.
func newOutput(t *terminal.Terminal) int64 {
	if t.Process() == nil {
		return 0
	}
	now := t.Printed()
	return int64(now - row(t).charged.Swap(now))
}

// newShellOutput returns how much the commands of a shell have printed since the last call.
func newShellOutput(s *registry.Shell) int64 {
	now := s.Printed()
	return now - shellRow(s).charged.Swap(now)
}

// chargeShell charges what a shell that ends has printed: chargeOutput does not find it any more.
func (a *activity) chargeShell(s *registry.Shell) {
	if n := newShellOutput(s); n > 0 {
		a.charge(s.Session, thread.Usage{Bytes: n})
	}
}

func hasCPUBudget(w *window) bool { return w.Policy.Budget.CPUSeconds > 0 }

// chargeCPU charges the processor time of threads that have a budget of it: for the others it does
// not read the processes.
func (a *activity) chargeCPU() {
	live := a.liveSessions(hasCPUBudget)
	maps.DeleteFunc(a.cpu, func(threadID string, _ time.Duration) bool {
		return !slices.ContainsFunc(live, func(s thread.Session) bool { return s.Thread == threadID })
	})
	for _, s := range live {
		used, err := proc.CPUTime(a.processes.trees(s.Thread))
		if err != nil {
			continue
		}
		last, known := a.cpu[s.Thread]
		a.cpu[s.Thread] = used
		if more := used - last; known && more > 0 {
			a.charge(s.Thread, thread.Usage{CPUSeconds: more.Seconds()})
		}
	}
}
