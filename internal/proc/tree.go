package proc

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// Tree is a process, which need not be a child of this one, and everything it started: what [Target.Kill] would end,
// for those who know only a number. Its session and the sessions of its descendants are part of it, and so are
// processes that have left these but kept the terminal of a root that leads a session. This process, those the root
// descends from and the other children of this process never are. A Tree is a plain value; every call reads /proc anew.
type Tree struct {
	root  Process
	ended uint64 // when the root was reaped, in ticks since boot; 0 while it was not
}

// TreeOf is the tree of the process that has a number now; ok is false when there is none. A zombie has a tree as long
// as it is not reaped.
func TreeOf(pid int) (t Tree, ok bool) {
	p, ok := Find(pid)
	return Tree{root: p}, ok
}

// Root is the process that the tree began with. It may have ended.
func (t Tree) Root() Process { return t.root }

// Reaped is the tree from the moment its root was reaped on. It has to be called right after that by who reaps: from
// then on the number of the root may be another's, and only those of its session that are older belong to the tree.
func (t Tree) Reaped() Tree {
	t.ended = BootTicks()
	return t
}

// Members are the living processes of trees, parents before their children, each once. Errors: the kernel's, when /proc
// cannot be read.
func Members(trees []Tree) ([]Process, error) {
	list, err := newForest(trees).members()
	if err != nil {
		return nil, fmt.Errorf("proc: members of trees: %w", err)
	}
	return list, nil
}

// Stop stops all processes of trees (SIGSTOP, which nobody can catch) and scans again until no new one appears, and
// returns those it stopped, in order, for Continue. Those that were stopped before are not among them, so that a job
// that was suspended by hand stays so.
//
// Parents come before their children: a shell that still ran would take a stopped child for a suspended job and go on
// without it.
//
// Errors: ErrSurvived when a process could not be stopped, context.Cause(ctx), the kernel's own. The processes that
// were stopped until then are returned as well.
func Stop(ctx context.Context, trees []Tree) ([]Process, error) {
	f := newForest(trees)
	known := seen{}
	late := time.Now().Add(lateLimit)
	var stopped []Process
	for {
		members, err := f.members()
		if err != nil {
			return stopped, fmt.Errorf("proc: stop: %w", err)
		}
		fresh := known.fresh(members)
		if len(fresh) == 0 {
			return stopped, nil
		}
		if ctx.Err() != nil {
			return stopped, fmt.Errorf("proc: stop: %w", context.Cause(ctx))
		}
		for level := range levels(fresh) {
			begun := len(stopped)
			for _, p := range level {
				if p.Stopped {
					continue
				}
				if err := p.Signal(unix.SIGSTOP); err != nil {
					return stopped, fmt.Errorf("proc: stop: %w: %d: %w", ErrSurvived, p.PID, err)
				}
				stopped = append(stopped, p)
			}
			for _, p := range stopped[begun:] {
				p.settle(true, late)
			}
		}
	}
}

// levels parts a list with parents before their children where a child follows: no level has both.
func levels(list []Process) iter.Seq[[]Process] {
	return func(yield func([]Process) bool) {
		begin, in := 0, map[int]bool{}
		for i, p := range list {
			if in[p.Parent] {
				if !yield(list[begin:i]) {
					return
				}
				begin = i
				clear(in)
			}
			in[p.PID] = true
		}
		if begin < len(list) {
			yield(list[begin:])
		}
	}
}

// Continue lets processes run again (SIGCONT), the last one first: when a shell runs again its children run already, so
// it never sees them stopped. Those that have ended, or whose number is another's by now, are left alone. Errors: the
// kernel's, of all that refused (kill(2)).
func Continue(stopped []Process) error {
	var all []error
	late := time.Now().Add(lateLimit)
	for _, level := range slices.Backward(slices.Collect(levels(stopped))) {
		for _, p := range slices.Backward(level) {
			if err := p.Signal(unix.SIGCONT); err != nil {
				all = append(all, fmt.Errorf("proc: continue %d: %w", p.PID, err))
			}
		}
		for _, p := range slices.Backward(level) {
			p.settle(false, late)
		}
	}
	return errors.Join(all...)
}

// settle waits until the process is stopped, or runs, as it was told: kill(2) returns when the signal was sent, and a
// parent that is about to stop can still see its child do so. Not for long: one that runs again may stop itself at once
// (a job that wants the terminal). One that waits for a processor or the disk does neither: it has time until late, for
// one that hangs in the kernel stops when it comes out.
func (p Process) settle(stopped bool, late time.Time) {
	again := time.NewTicker(settlePoll)
	defer again.Stop()
	for limit := time.Now().Add(settleLimit); ; <-again.C {
		now, ok := Find(p.PID)
		if !ok || !now.is(p) || now.Ended || now.Stopped == stopped {
			return
		}
		if over := time.Now(); over.After(limit) && (!now.delayed || over.After(late)) {
			return
		}
	}
}

// tty is what the root's terminal says, when it leads a session that has one.
func (t Tree) tty() TTY {
	p, ok := Find(t.root.PID)
	if !ok || !p.is(t.root) || p.Session != p.PID || p.TTY == 0 {
		return TTY{}
	}
	dev, ok := PTYAt(fmt.Sprintf("/proc/%d/fd/0", p.PID))
	if again, lives := Find(p.PID); !ok || !lives || !again.is(p) {
		return TTY{}
	}
	return TTY{Session: p.Session, Device: dev}
}

// forest finds the members of families again and again.
type forest struct {
	families []*family
	ttys     []func() TTY // of the families
}

func newForest(trees []Tree) *forest {
	f := &forest{}
	for _, t := range trees {
		tty := t.tty()
		f.families = append(f.families, newFamily(t.root.PID, t.root.Start, t.ended, os.Getpid()))
		f.ttys = append(f.ttys, func() TTY { return tty })
	}
	return f
}

// members returns the living members as of now, parents first. A look that took one that has moved for a member teaches
// the families nothing.
func (f *forest) members() ([]Process, error) {
	var taught []*family
	list, err := cache.current(true, func(t *table) (members []Process) {
		taught = nil
		for i, family := range f.families {
			family = family.clone()
			// The terminal is asked after the table was made: that it is open now proves that it was not another's
			// meanwhile.
			members = append(members, family.members(t, f.ttys[i]())...)
			taught = append(taught, family)
		}
		return t.parentsFirst(members)
	})
	if err != nil {
		return nil, err
	}
	f.families = taught
	return slices.DeleteFunc(list, func(p Process) bool { return p.Ended }), nil
}
