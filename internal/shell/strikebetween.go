package shell

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/pty"
)

// reaping finds a shell that is about to learn, or has just learnt, of the end of a program that did not end of SIGINT:
// it would take SIGINT as meant for that one and drop it. Or one that starts a program, see between.
func (k *strike) reaping(members []pty.Proc) (sh pty.Proc, found bool) {
	if k.late() {
		return pty.Proc{}, false
	}
	if k.between(k.bash, members) {
		return k.bash, true
	}
	for _, p := range members {
		if !p.Ended && k.shellLike(p.PID) && k.between(p, members) {
			return p, true
		}
	}
	return pty.Proc{}, false
}

// late tells that there is no more time to wait for a better moment: SIGINT may be dropped then, and is sent again.
func (k *strike) late() bool { return time.Until(k.end) < k.shell.grace()/4 }

// between tells of a stopped shell whether SIGINT must not meet it where it is:
//   - one of its children has ended otherwise than of SIGINT and was not reaped; or it is in wait(2), for which bash
//     blocks SIGCHLD, with nothing to wait for: the end of a child is what it comes back with;
//   - it is about to fork, for which it blocks SIGINT: the program would begin after that, and the shell wait for it;
//   - it begins to wait, with SIGCHLD blocked but not asleep: until bash 5.2 has noted its handler from before, the one
//     that it waits with sends SIGINT to itself for ever (wait_sigint_handler without old_sigint_handler).
func (k *strike) between(sh pty.Proc, members []pty.Proc) bool {
	if k.idle[sh.PID] {
		return false
	}
	waitedFor := false
	for _, p := range members {
		if p.Parent != sh.PID {
			continue
		}
		if p.Ended && !ofInterrupt(p) {
			return true
		}
		waitedFor = true
	}
	now := statusOf(sh.PID)
	return now.blocked(unix.SIGINT) || now.blocked(unix.SIGCHLD) && (!waitedFor || !k.asleep[sh.PID])
}

// catch stops the next program that a shell starts, before it can end, as soon as it is one. One with job control is
// left, for the shell would take it for suspended. A shell that is asleep in wait(2) without a program waits for jobs
// of earlier commands, which SIGINT ends. Errors: those of pause.
func (k *strike) catch(sh pty.Proc) error {
	for !k.late() {
		kids := k.childrenOf(sh.PID)
		for _, p := range kids {
			if p.Ended {
				continue
			}
			if born, async := k.newborn(p); !born && k.job(p) {
				k.hold(p, async)
				return k.calm(sh)
			}
		}
		now := statusOf(sh.PID)
		if len(kids) == 0 && !now.blocked(unix.SIGCHLD) {
			return nil
		}
		if now.state == 'S' && now.blocked(unix.SIGCHLD) {
			k.idle[sh.PID] = len(kids) == 0
			return nil
		}
		if err := k.pause(glimpse); err != nil {
			return err
		}
	}
	return nil
}

// calm waits until a shell sleeps or has no signal blocked. One that was stopped again at once would never get there
// where programs wait for a processor. Errors: those of pause.
func (k *strike) calm(sh pty.Proc) error {
	for !k.late() {
		now := statusOf(sh.PID)
		if now.state == 'S' || !now.blocked(unix.SIGINT) && !now.blocked(unix.SIGCHLD) {
			return nil
		}
		if err := k.pause(glimpse); err != nil {
			return err
		}
	}
	return nil
}
