package pty

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Tree is a process, which need not be a child of this one, and everything it started: what [Child.Kill] would end, for
// those who know only a number. Its session and the sessions of its descendants are part of it, and so are processes
// that have left these but kept the terminal of a root that leads a session. This process, those the root descends from
// and the other children of this process never are. A Tree is a plain value; all that is done with it looks at /proc
// anew.
type Tree struct {
	root  Proc
	ended uint64 // when the root was reaped, in clock ticks since boot; 0 while it was not
}

// TreeOf is the tree of the process that has a number now; ok is false when there is none. A zombie has a tree as long
// as it is not reaped.
func TreeOf(pid int) (t Tree, ok bool) {
	p, ok := FindProc(pid)
	return Tree{root: p}, ok
}

// Root is the process that the tree began with. It may have ended.
func (t Tree) Root() Proc { return t.root }

// Reaped is the tree from the moment its root was reaped on. It has to be called right after that by who reaps: from
// then on the number of the root may be another's, and only those of its session that are older belong to the tree.
func (t Tree) Reaped() Tree {
	t.ended = bootTicks()
	return t
}

// Members are the living processes of trees, parents before their children, each once. Errors: the kernel's, when /proc
// cannot be read.
func Members(trees []Tree) ([]Proc, error) {
	list, err := newForest(trees).look()
	if err != nil {
		return nil, fmt.Errorf("pty: members of trees: %w", err)
	}
	return procs(list), nil
}

// Freeze stops all processes of trees (SIGSTOP, which nobody can catch) and looks again until no new one appears, and
// returns those it stopped, in order; Thaw takes them. Those that were stopped before are not among them, so that a job
// that was suspended by hand stays so.
//
// Parents come before their children: a shell that still ran would take a stopped child for a suspended job and go on
// without it.
//
// Errors: ErrSurvived when a process could not be stopped, the reason of ctx, the kernel's own; what was stopped until
// then is returned as well.
func Freeze(ctx context.Context, trees []Tree) ([]Proc, error) {
	f := newForest(trees)
	seen := marks{}
	late := time.Now().Add(lateLimit)
	var stopped []Proc
	for {
		members, err := f.look()
		if err != nil {
			return stopped, fmt.Errorf("pty: freeze: %w", err)
		}
		fresh := seen.fresh(members)
		if len(fresh) == 0 {
			return stopped, nil
		}
		if ctx.Err() != nil {
			return stopped, fmt.Errorf("pty: freeze: %w", context.Cause(ctx))
		}
		for _, s := range fresh {
			if s.stopped {
				continue
			}
			if err := s.signal(unix.SIGSTOP); err != nil {
				return stopped, fmt.Errorf("pty: freeze: %w: %d: %w", ErrSurvived, s.pid, err)
			}
			stopped = append(stopped, s.proc())
			s.settle(true, late)
		}
	}
}

// Thaw lets processes go on (SIGCONT), the last one first: when a shell runs again its children run already, so it
// never sees them stopped. Those that have ended, or whose number is another's by now, are left alone. Errors: those of
// kill(2), of all that refused.
func Thaw(stopped []Proc) error {
	var all []error
	late := time.Now().Add(lateLimit)
	for _, p := range slices.Backward(stopped) {
		if err := p.Signal(unix.SIGCONT); err != nil {
			all = append(all, fmt.Errorf("pty: thaw %d: %w", p.PID, err))
		}
		stat{pid: p.PID, start: p.Start}.settle(false, late)
	}
	return errors.Join(all...)
}

// settle waits until the process is stopped, or goes on, as it was told: kill(2) returns when the signal was sent, and
// a parent that is about to stop can still see its child do so. Not for long: one that goes on may stop itself at once
// (a job that wants the terminal). One that waits for a processor or the disk does neither: it has time until late, for
// one that hangs in the kernel stops when it comes out.
func (s stat) settle(stopped bool, late time.Time) {
	again := time.NewTicker(settlePoll)
	defer again.Stop()
	for limit := time.Now().Add(settleLimit); ; <-again.C {
		now, ok := readStat(s.pid)
		if !ok || now.start != s.start || now.dead || now.stopped == stopped {
			return
		}
		if over := time.Now(); over.After(limit) && (!now.delayed || over.After(late)) {
			return
		}
	}
}

// KillTrees is [Child.Kill] for trees, all at the same time. It returns when nobody is left, or ErrSurvived with the
// process ids.
func KillTrees(ctx context.Context, trees []Tree) error {
	all := make([]error, len(trees))
	var done sync.WaitGroup
	for i, t := range trees {
		done.Go(func() {
			k := killer{family: t.family(), held: t.bond()}
			if err := k.run(ctx); err != nil {
				all[i] = fmt.Errorf("pty: kill the tree of %d: %w", t.root.PID, err)
			}
		})
	}
	done.Wait()
	return errors.Join(all...)
}

// family is what is known of the tree before the first look.
func (t Tree) family() *family {
	f := newFamily(t.root.PID, t.root.Start, t.ended, os.Getpid())
	f.siblings = children.except(t.root.PID)
	return f
}

// bond is what the root's terminal says, when it leads a session that has one.
func (t Tree) bond() bond {
	s, ok := readStat(t.root.PID)
	if !ok || s.start != t.root.Start || s.sid != s.pid || s.tty == 0 {
		return bond{}
	}
	dev, ok := terminal(fmt.Sprintf("/proc/%d/fd/0", s.pid))
	if again, lives := readStat(s.pid); !ok || !lives || again.start != s.start {
		return bond{}
	}
	return bond{session: s.sid, dev: dev}
}

// forest looks for the members of several trees again and again.
type forest struct {
	families []*family
	bonds    []bond
}

func newForest(trees []Tree) *forest {
	f := &forest{}
	for _, t := range trees {
		f.families = append(f.families, t.family())
		f.bonds = append(f.bonds, t.bond())
	}
	return f
}

// look returns the living members as of now, parents first.
func (f *forest) look() ([]stat, error) {
	t, err := processes.fresh()
	if err != nil {
		return nil, err
	}
	var members []stat
	for i, family := range f.families {
		members = append(members, family.find(t, f.bonds[i])...)
	}
	return t.parentsFirst(members), nil
}

// parentsFirst sorts processes by how far they are from the first process, and drops repetitions.
func (t *table) parentsFirst(list []stat) []stat {
	depth := make(map[int]int, len(list))
	for _, s := range list {
		depth[s.pid] = t.depth(s)
	}
	slices.SortFunc(list, func(a, b stat) int {
		if d := depth[a.pid] - depth[b.pid]; d != 0 {
			return d
		}
		return a.pid - b.pid
	})
	return slices.CompactFunc(list, func(a, b stat) bool { return a.pid == b.pid })
}

// depth is how many processes are above one.
func (t *table) depth(s stat) int {
	n := 0
	for n <= len(t.byPID) && s.pid > initPID { // a table is made over time, so that it may hold a circle
		s = t.byPID[s.ppid]
		n++
	}
	return n
}

func procs(list []stat) []Proc {
	out := make([]Proc, len(list))
	for i, s := range list {
		out[i] = s.proc()
	}
	return out
}
