package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Target is a program to end together with everything it started; see Kill. It leads, or led, a session of its own.
type Target struct {
	PID    int
	Start  uint64     // in ticks since boot; 0 when nobody knows
	Ended  uint64     // when it was reaped, in ticks since boot; 0 while it was not
	Reaper Process    // the process that started it and waits for it, when that is not this one; zero when unknown
	TTY    func() TTY // what its terminal says now; nil for none
	// Tag, when not 0, adds all processes that have it, wherever they are; processes with another tag are spared then,
	// with what these have started.
	Tag uint64
}

// EndUnknown is Target.Ended of a program whose number may be another's since nobody knows when.
const EndUnknown = 1

// Kill ends the target and everything it started: SIGHUP to every process of the tree, with SIGCONT so that stopped
// ones react, and SIGKILL to those that are left after KillGrace, or at once when ctx ends. It returns when nobody is
// left.
//
// The tree is looked up in /proc: the target's session, the session that its terminal controls now, all descendants
// with the sessions they opened, and processes that let themselves be adopted (setsid, double fork) as long as their
// standard input, output or error is that terminal. A daemon that left all of these behind is found by its tag only.
//
// It may be called several times and at the same time. Errors: ErrSurvived with the process ids, the kernel's when
// /proc cannot be read.
func (t Target) Kill(ctx context.Context) error {
	f := newFamily(t.PID, t.Start, t.Ended, os.Getpid())
	f.reaper, f.tag = t.Reaper, t.Tag
	tty := t.TTY
	if tty == nil {
		tty = func() TTY { return TTY{} }
	}
	if err := newKiller(f, tty).run(ctx); err != nil {
		return fmt.Errorf("pty: kill the tree of %d: %w", t.PID, err)
	}
	return nil
}

// KillTrees is [Target.Kill] for trees, all at the same time. It returns when nobody is left, or ErrSurvived with the
// process ids.
func KillTrees(ctx context.Context, trees []Tree) error {
	all := make([]error, len(trees))
	var done sync.WaitGroup
	for i, t := range trees {
		tty := t.tty()
		done.Go(func() {
			all[i] = Target{PID: t.root.PID, Start: t.root.Start, Ended: t.ended,
				TTY: func() TTY { return tty }}.Kill(ctx)
		})
	}
	done.Wait()
	return errors.Join(all...)
}

// killer ends one family.
type killer struct {
	forest
	denied error // the last signal that could not be sent
}

func newKiller(f *family, tty func() TTY) *killer {
	return &killer{forest: forest{[]*family{f}, []func() TTY{tty}}}
}

// run ends the family: by SIGHUP first, what is left of it by SIGKILL.
func (k *killer) run(ctx context.Context) error {
	gone, err := k.hangUp(ctx)
	if err == nil && !gone {
		err = k.killStopped()
	}
	return err
}

// hangUp sends SIGHUP and SIGCONT, also to those started meanwhile, and reports whether all are gone before KillGrace
// is over or ctx ends.
func (k *killer) hangUp(ctx context.Context) (gone bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, KillGrace)
	defer cancel()
	signalled := seen{}
	for again := scanPauseMin; ; again = min(2*again, KillGrace) {
		members, err := k.members()
		if err != nil || len(members) == 0 {
			return err == nil, err
		}
		k.send(signalled.fresh(members), unix.SIGHUP, unix.SIGCONT)
		// Those that are left may have started others: scan again, ever less often.
		pause, cancel := context.WithTimeout(ctx, again)
		waitGone(pause, members)
		cancel()
		if ctx.Err() != nil {
			return false, nil
		}
	}
}

// killStopped sends SIGKILL until nobody is left. Members are stopped first: a process that runs could fork and die
// between two scans, and its child would be nobody's.
func (k *killer) killStopped() error {
	ctx, cancel := context.WithTimeout(context.Background(), killConfirm)
	defer cancel()
	for {
		members, err := k.stop(ctx)
		if err != nil || len(members) == 0 {
			return err
		}
		k.send(members, unix.SIGKILL)
		if !waitGone(ctx, members) {
			return k.survivors()
		}
	}
}

// stop stops members until a scan finds no new ones, and returns all.
func (k *killer) stop(ctx context.Context) ([]Process, error) {
	stopped := seen{}
	for {
		members, err := k.members()
		if err != nil {
			return nil, err
		}
		fresh := stopped.fresh(members)
		if len(fresh) == 0 || ctx.Err() != nil {
			return members, nil //nolint:nilerr // when the time is over, what was found has to do
		}
		k.send(fresh, unix.SIGSTOP)
	}
}

// survivors is the error for those still there, or nil if the last of them ended just now.
func (k *killer) survivors() error {
	members, err := k.members()
	if err != nil || len(members) == 0 {
		return err
	}
	pids := make([]int, len(members))
	for i, p := range members {
		pids[i] = p.PID
	}
	if k.denied != nil {
		return fmt.Errorf("%w: %v: %w", ErrSurvived, pids, k.denied)
	}
	return fmt.Errorf("%w: %v", ErrSurvived, pids)
}

// send signals each of a list and keeps the last refusal.
func (k *killer) send(list []Process, signals ...unix.Signal) {
	for _, p := range list {
		if err := p.Signal(signals...); err != nil {
			k.denied = fmt.Errorf("signal %d: %w", p.PID, err)
		}
	}
}

// seen are processes that were treated already, by id with their start time.
type seen map[int]uint64

// fresh notes all of list and returns those that were not noted before.
func (s seen) fresh(list []Process) []Process {
	var fresh []Process
	for _, p := range list {
		if start, ok := s[p.PID]; !ok || start != p.Start {
			s[p.PID] = p.Start
			fresh = append(fresh, p)
		}
	}
	return fresh
}

// waitGone waits until none of the list runs, and reports whether it came to that before ctx ended.
func waitGone(ctx context.Context, list []Process) bool {
	for _, p := range list {
		if err := p.Wait(ctx); err != nil && (ctx.Err() != nil || !p.pollGone(ctx)) {
			return false
		}
	}
	return true
}

// pollGone is Wait without a descriptor: there is none left, or the process may not be watched.
func (p Process) pollGone(ctx context.Context) bool {
	again := time.NewTicker(endPoll)
	defer again.Stop()
	for p.Alive() {
		select {
		case <-again.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}
