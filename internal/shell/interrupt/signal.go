package interrupt

import (
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/shell/proctree"
)

// signal sends SIGINT to all that collect has stopped and waits until bash's children have ended of
// it, from the leaves of the tree of shells up.
func (i *interruption) signal(list []proc.Process) error {
	i.signalled = true
	shells := []proc.Process{i.Bash}
	awaited, held := map[int]bool{}, map[int]bool{} // those that a shell waits for; those that stay stopped
	for _, p := range list {
		if p.Ended {
			continue
		}
		ignored, shell := proctree.StatusOf(p.PID).Ignored.Has(unix.SIGINT), i.isShell(p.PID)
		job := (ignored || shell && i.seen[p.PID].async) && i.mayStop(p)
		awaited[p.PID], held[p.PID] = !job, job
		if shell && !ignored {
			shells, held[p.PID] = append(shells, p), true
		}
		_ = p.Signal(unix.SIGINT)
	}
	i.continueIf(func(p proc.Process) bool { return !held[p.PID] })
	for _, sh := range slices.Backward(shells) {
		children := slices.DeleteFunc(slices.Clone(list), func(p proc.Process) bool {
			return p.Parent != sh.PID || !awaited[p.PID]
		})
		if err := i.awaitExit(children); err != nil {
			return err
		}
		i.continueIf(func(p proc.Process) bool { return p.PID == sh.PID })
	}
	return nil
}

// continueIf lets some of those that are stopped beside bash go on, children before their parents.
func (i *interruption) continueIf(which func(proc.Process) bool) {
	for _, p := range slices.Backward(i.stopped) {
		if which(p) {
			_ = p.Signal(unix.SIGCONT)
		}
	}
	i.stopped = slices.DeleteFunc(i.stopped, which)
}

// mayStop reports whether a process may be stopped without its shell taking it for suspended, as
// one with job control would.
func (i *interruption) mayStop(p proc.Process) bool {
	own, err1 := unix.Getpgid(i.Bash.PID)
	group, err2 := unix.Getpgid(p.PID)
	return err1 == nil && err2 == nil && (group == own || p.Session != i.Bash.Session)
}

// pressAgain is when a program that does not end on SIGINT is sent another; the pauses double then.
// A program with a handler has often ended before.
const pressAgain = 100 * time.Millisecond

// awaitExit waits until processes have ended of SIGINT. Now and then it sends another to them and
// their descendants, as a user presses the key again: a script drops one that comes when a program
// of its has just ended. Errors: errGoesOn, as wait.
func (i *interruption) awaitExit(list []proc.Process) error {
	again, pause := time.Now().Add(pressAgain), pressAgain
	for _, p := range list {
		for p.Alive() {
			if err := i.wait(pollInterval); err != nil {
				return err
			}
			if time.Now().After(again) {
				pause *= 2
				again = time.Now().Add(pause)
				for _, root := range list {
					for _, member := range proctree.LivingTree(root, i.Dir) {
						_ = member.Signal(unix.SIGINT)
					}
				}
			}
		}
		if !endedOfSIGINT(p) {
			return errGoesOn
		}
	}
	return nil
}

// endedOfSIGINT reports whether a process has ended of SIGINT.
func endedOfSIGINT(p proc.Process) bool {
	status, ok := p.Status()
	return ok && status.Signaled() && status.Signal() == syscall.SIGINT
}
