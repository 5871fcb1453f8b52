package interrupt

import (
	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/shell/proctree"
)

// unsettled finds a stopped shell that SIGINT must not meet where it is.
func (i *interruption) unsettled(list []proc.Process) (sh proc.Process, found bool) {
	if i.late() {
		return proc.Process{}, false
	}
	if i.betweenPrograms(i.Bash, list) {
		return i.Bash, true
	}
	for _, p := range list {
		if !p.Ended && i.isShell(p.PID) && i.betweenPrograms(p, list) {
			return p, true
		}
	}
	return proc.Process{}, false
}

// betweenPrograms tells of a stopped shell whether SIGINT must not meet it where it is:
//   - one of its children has ended otherwise than of SIGINT and was not reaped; or it is in wait(2), for which bash
//     blocks SIGCHLD, with nothing to wait for: the end of a child is what it comes back with, and it would take
//     SIGINT as meant for that one and drop it;
//   - it is about to fork, for which it blocks SIGINT: the program would begin after that, and the shell wait for it;
//   - it begins to wait, with SIGCHLD blocked but not asleep: until bash 5.2 has noted its handler from before, the one
//     that it waits with sends SIGINT to itself for ever (wait_sigint_handler without old_sigint_handler).
func (i *interruption) betweenPrograms(sh proc.Process, list []proc.Process) bool {
	if i.seen[sh.PID].idle {
		return false
	}
	waitsFor := false
	for _, p := range list {
		if p.Parent != sh.PID {
			continue
		}
		if p.Ended && !endedOfSIGINT(p) {
			return true
		}
		waitsFor = true
	}
	blocked := proctree.StatusOf(sh.PID).Blocked
	return blocked.Has(unix.SIGINT) || blocked.Has(unix.SIGCHLD) && (!waitsFor || !i.seen[sh.PID].asleep)
}

// settle stops the next program that a running shell starts, before it can end, as soon as it is
// one. One with job control is left, for the shell would take it for suspended. A shell that is
// asleep in wait(2) without a program waits for jobs of earlier commands, which SIGINT ends.
// Errors: as wait.
func (i *interruption) settle(sh proc.Process) error {
	caught := false
	for !i.late() {
		children := i.children(sh.PID)
		for _, p := range children {
			if p.Ended || caught {
				continue
			}
			if just, async := i.forked(p); !just && i.mayStop(p) {
				i.stopMember(p, async)
				caught = true
			}
		}
		now := proctree.StatusOf(sh.PID)
		waits, forks := now.Blocked.Has(unix.SIGCHLD), now.Blocked.Has(unix.SIGINT)
		switch {
		case caught:
			// A shell that was stopped again at once would never sleep where programs wait for a
			// processor.
			if now.State == 'S' || !forks && !waits {
				return nil
			}
		case len(children) == 0 && !waits:
			return nil
		case now.State == 'S' && waits:
			was := i.seen[sh.PID]
			was.idle = len(children) == 0
			i.seen[sh.PID] = was
			return nil
		}
		if err := i.wait(shortInterval); err != nil {
			return err
		}
	}
	return nil
}
