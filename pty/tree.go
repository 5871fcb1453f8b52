package pty

import (
	"context"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Kill ends the child and everything it started: SIGHUP to every process of the tree, with SIGCONT so that stopped ones react, and
// SIGKILL to those that are left after KillGrace, or at once when ctx ends. It returns when nobody is left, or ErrSurvived
// with the process ids. After the child's exit it ends what the child left behind.
//
// The tree is looked up in /proc: the child's session, the session that the terminal of m controls now, all descendants with the sessions they opened, and
// processes that let themselves be adopted (setsid, double fork) as long as their standard input, output or error is that terminal.
// A daemon that left all of these behind is not found. m may be nil or closed, then the terminal is not asked.
//
// It may be called several times and at the same time.
func (c *Child) Kill(ctx context.Context, m *Master) error { return c.kill(ctx, m, 0) }

// kill is Kill, with a brand also of all that have it, wherever they are; what has another brand is not part of the tree then.
func (c *Child) kill(ctx context.Context, m *Master, brand uint64) error {
	k := killer{family: c.family(), master: m}
	k.family.brand = brand
	if err := k.run(ctx); err != nil {
		// Without a view of the others the child at least has to go.
		_ = c.signal(unix.SIGKILL)
		return fmt.Errorf("pty: kill the tree of %d: %w", c.pid, err)
	}
	return nil
}

// family is what is known of the child's tree before the first look.
func (c *Child) family() *family {
	ended := c.endTick()
	if c.birth == 0 && !c.groupLives() {
		ended = reapedLongAgo
	}
	f := newFamily(c.pid, c.birth, ended, os.Getpid())
	f.siblings = children.others(c)
	if c.adoption != nil {
		f.reaper = c.adoption.parent
	}
	return f
}

// reapedLongAgo is the end, in clock ticks since boot, of a child whose number may be another's since nobody knows when.
const reapedLongAgo = 1

// killer ends one family.
type killer struct {
	family *family
	master *Master
	held   bond  // when there is no master: what the terminal said
	denied error // the last signal that could not be sent
}

// run ends the family: politely first, what is left of it then.
func (k *killer) run(ctx context.Context) error {
	gone, err := k.hangUp(ctx)
	if err == nil && !gone {
		err = k.destroy()
	}
	return err
}

// look returns the living members as of now.
func (k *killer) look() ([]stat, error) {
	t, err := processes.fresh()
	if err != nil {
		return nil, err
	}
	// The terminal is asked after the table was made: that it is open now proves that it was not another's meanwhile.
	if k.master == nil {
		return k.family.find(t, k.held), nil
	}
	return k.family.find(t, k.master.bond()), nil
}

// hangUp sends SIGHUP and SIGCONT, also to those started meanwhile, and tells whether all are gone before KillGrace is over or ctx ends.
func (k *killer) hangUp(ctx context.Context) (gone bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, KillGrace)
	defer cancel()
	told := marks{}
	for again := killLookMin; ; again = min(2*again, KillGrace) {
		members, err := k.look()
		if err != nil || len(members) == 0 {
			return err == nil, err
		}
		k.send(told.fresh(members), unix.SIGHUP, unix.SIGCONT)
		// Those that are left may have started others: look again, ever less often.
		pause, cancel := context.WithTimeout(ctx, again)
		waitGone(pause, members)
		cancel()
		if ctx.Err() != nil {
			return false, nil
		}
	}
}

// destroy sends SIGKILL until nobody is left. Members are stopped first: a process that runs could fork and die between
// two looks, and its child would be nobody's.
func (k *killer) destroy() error {
	ctx, cancel := context.WithTimeout(context.Background(), killConfirm)
	defer cancel()
	for {
		members, err := k.freeze(ctx)
		if err != nil || len(members) == 0 {
			return err
		}
		k.send(members, unix.SIGKILL)
		if !waitGone(ctx, members) {
			return k.survivors()
		}
	}
}

// freeze stops members until a look finds no new ones, and returns all.
func (k *killer) freeze(ctx context.Context) ([]stat, error) {
	stopped := marks{}
	for {
		members, err := k.look()
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
	members, err := k.look()
	if err != nil || len(members) == 0 {
		return err
	}
	pids := make([]int, len(members))
	for i, s := range members {
		pids[i] = s.pid
	}
	if k.denied != nil {
		return fmt.Errorf("%w: %v: %w", ErrSurvived, pids, k.denied)
	}
	return fmt.Errorf("%w: %v", ErrSurvived, pids)
}

// send signals each of a list and keeps the last refusal.
func (k *killer) send(list []stat, signals ...unix.Signal) {
	for _, s := range list {
		if err := s.signal(signals...); err != nil {
			k.denied = fmt.Errorf("signal %d: %w", s.pid, err)
		}
	}
}

// marks are processes that were treated already, by id with their start time.
type marks map[int]uint64

// fresh marks all of list and returns those that were not marked before.
func (m marks) fresh(list []stat) []stat {
	var fresh []stat
	for _, s := range list {
		if start, ok := m[s.pid]; !ok || start != s.start {
			m[s.pid] = s.start
			fresh = append(fresh, s)
		}
	}
	return fresh
}

// waitGone waits until none of the list runs, and tells whether it came to that before ctx ended.
func waitGone(ctx context.Context, list []stat) bool {
	pause := killPollMin
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-ctx.Done():
			return false
		}
		for len(list) > 0 && !list[0].alive() {
			list = list[1:]
		}
		if len(list) == 0 {
			return true
		}
		pause = min(2*pause, killPollMax)
		timer.Reset(pause)
	}
}

// bond returns what the terminal says of its processes; nothing when it is closed.
func (m *Master) bond() bond {
	if m == nil {
		return bond{}
	}
	session, err := m.session()
	dev, ok := terminal(m.path)
	if err != nil || m.is(m.closed) {
		return bond{}
	}
	if !ok {
		dev = device{}
	}
	return bond{session: session, dev: dev}
}
