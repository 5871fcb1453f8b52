package service

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/shell/registry"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/internal/thread"
)

const (
	// sweepEvery is the time between two looks for sessions that are over.
	sweepEvery = 500 * time.Millisecond
	// sweepsAtOnce is how many looks may be at work: one that ends processes takes as long as these
	// do.
	sweepsAtOnce = 4
	// chargeEvery is the time between two accounts of what sessions use.
	chargeEvery = time.Second
	// endTime bounds the end of processes whose session is over: SIGHUP, proc.KillGrace, SIGKILL,
	// and what the disk may hold up.
	endTime = proc.KillGrace + 10*time.Second
)

// maintenanceLoop closes sessions that are over until the server closes.
func (d *Service) maintenanceLoop() {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	slots := make(chan struct{}, sweepsAtOnce)
	for {
		select {
		case <-tick.C:
		case <-d.wake:
		case <-d.ctx.Done():
			return
		}
		select {
		case slots <- struct{}{}:
		default:
			continue // the next one
		}
		d.sweeping.Go(func() {
			defer func() { <-slots }()
			if _, err := d.Manager.Sweep(d.ctx); err != nil && d.ctx.Err() == nil && !isRefusal(err) {
				d.cfg.Log.Warn("sessions cannot be closed", "error", err)
			}
		})
	}
}

// wakeMaintenance has sessions that are over looked for at once.
func (d *Service) wakeMaintenance() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// settle is lifecycle.Config.Settle. A database that is slow delays the end of a session, and does not prevent it.
func (d *Service) settle(ctx context.Context) { _ = d.current(ctx, "") }

// end ends processes because their session is over (lifecycle.Config.End): all of them when
// somebody chose the thread's policy, destroys it, or its budget is used up. Of a thread that has
// no policy but the server's default one only shells end in which nothing runs: they come back with
// their next command as if nothing had happened, while a program on a terminal belongs to whoever
// started it and outlives its viewers.
func (d *Service) end(ctx context.Context, threadID string, list []thread.Runtime, reason string) error {
	ctx, cancel := context.WithTimeout(ctx, endTime)
	defer cancel()
	all := true
	if reason == thread.ReasonIdle || reason == thread.ReasonMax {
		th, err := d.Manager.Thread(threadID)
		if err != nil {
			return err
		}
		all = th.Chosen || d.remote(th) // its compute is paused: nothing of it can go on
	}
	wanted := map[string]bool{}
	for _, r := range list {
		wanted[r.Terminal] = true
	}
	var work sync.WaitGroup
	var mu sync.Mutex
	var failed error
	do := func(f func() error) {
		work.Go(func() {
			if err := f(); err != nil {
				mu.Lock()
				failed = errors.Join(failed, err)
				mu.Unlock()
			}
		})
	}
	for _, t := range d.terminals.Running(threadID) {
		if all && wanted[t.ID] {
			do(func() error { return d.endNow(ctx, t) })
		}
	}
	for _, s := range d.shells.List(threadID) {
		switch {
		case !wanted[s.Key]:
		case all:
			do(func() error { return s.Stop(ctx, reason) })
		default:
			do(func() error { s.Retire(0); return nil })
		}
	}
	work.Wait()
	return failed
}

// endNow ends the program of a terminal, which stays listed with its last screen, and waits for
// that.
func (d *Service) endNow(ctx context.Context, t *terminal.Terminal) error {
	t.HangUp(ctx)
	select {
	case <-t.Done():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-d.ctx.Done():
		return terminal.ErrClosing
	}
}

// chargeLoop charges sessions with what was used until the server closes. Output of a program on a
// terminal is activity, too.
func (d *Service) chargeLoop() {
	tick := time.NewTicker(chargeEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			d.chargeOutput()
			d.chargeCPU()
		case <-d.ctx.Done():
			return
		}
	}
}

func (d *Service) chargeOutput() {
	bytes := map[string]int64{}
	for _, s := range d.shells.List("") {
		if n := newOutputOf(s); n > 0 {
			bytes[s.Session] += n
		}
	}
	for _, t := range d.terminals.Unsorted() {
		if n := newOutput(t); n > 0 {
			bytes[t.Thread()] += n
			_ = d.Manager.Touch(t.Thread()) // a session that is over waits for somebody who does something
		}
	}
	for threadID, n := range bytes {
		d.charge(threadID, thread.Usage{Bytes: n})
	}
}

// charge has a session that is over its budget closed.
func (d *Service) charge(threadID string, u thread.Usage) {
	if errors.Is(d.Manager.Charge(threadID, u), thread.ErrBudget) {
		d.wakeMaintenance()
	}
}

// newOutput is how much a terminal has printed since the last call; of the goroutine that charges.
func newOutput(t *terminal.Terminal) int64 {
	if t.Process() == nil {
		return 0
	}
	now := t.Printed()
	return int64(now - row(t).charged.Swap(now))
}

// newOutputOf is how much the commands of a shell have printed since the last call.
func newOutputOf(s *registry.Shell) int64 {
	now := s.Printed()
	return now - shellRow(s).charged.Swap(now)
}

// chargeCPU charges the processor time of threads that have a budget of it: a look at all processes
// is not for nothing.
func (d *Service) chargeCPU() {
	live, err := d.Manager.Sessions("")
	if err != nil {
		return
	}
	live = slices.DeleteFunc(live, func(s thread.Session) bool { return s.Policy.Budget.CPUSeconds <= 0 })
	d.mu.Lock()
	maps.DeleteFunc(d.cpu, func(threadID string, _ time.Duration) bool {
		return !slices.ContainsFunc(live, func(s thread.Session) bool { return s.Thread == threadID })
	})
	d.mu.Unlock()
	for _, s := range live {
		used, err := proc.CPUTime(d.trees(s.Thread))
		if err != nil {
			continue
		}
		d.mu.Lock()
		last, known := d.cpu[s.Thread]
		d.cpu[s.Thread] = used
		d.mu.Unlock()
		if more := used - last; known && more > 0 {
			d.charge(s.Thread, thread.Usage{CPUSeconds: more.Seconds()})
		}
	}
}
