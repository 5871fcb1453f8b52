package shell

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/pty"
)

// strike is how a command in the foreground is ended so that nothing of it runs after that.
//
// SIGINT alone does not do it: bash drops its own when the child that it waits for does not die of SIGINT, and goes on
// with the next command; and a child between fork and execve still has bash's handler and loses it. So bash is stopped
// first, and with it its subshells, which are shells like it. Then all others get SIGINT, all of them before the first
// one can react: in a pipeline one would end by the end of another. When those that a shell has to wait for have ended
// of SIGINT, and only then, it drops everything as soon as it goes on with SIGINT pending. Has one ended otherwise, the
// shell would go on: it must not run again. Where none runs just then, for the last one has ended by itself, the next
// one is waited for (reaping).
//
// What ignores SIGINT is a job (or the command is such that only SIGKILL helps). It does not run while the shell does,
// so that its end cannot be taken for one of the command's.
type strike struct {
	shell  *Shell
	body   *incarnation
	exec   *Exec
	bash   pty.Proc
	look   string // what bash and its subshells look like
	end    time.Time
	struck bool         // SIGINT was sent
	over   bool         // the command has a status
	idle   map[int]bool // shells that wait, and not for a program of the command
	// asleep are processes that slept just before they were stopped, or that a server before this one had stopped
	// there.
	asleep map[int]bool
	// async are forks of bash that ignored SIGINT just before they were stopped, as that of `builtin &` does for a
	// moment: a shell waits for them only in the builtin wait, which SIGINT ends.
	async  map[int]bool
	halted []pty.Proc // what is stopped beside bash, parents first
}

// Errors of a strike. The shell is stopped after them, and of no use.
var (
	errDeaf      = errors.New("it does not end on SIGINT")
	errOtherwise = errors.New("it did not end of SIGINT, so that the shell would go on")
	errHalted    = errors.New("the shell was stopped by somebody else")
)

const (
	// glance is the time between two looks at whether processes have stopped or ended.
	glance = 300 * time.Microsecond
	// glimpse is that where something is about to happen at once.
	glimpse = 50 * time.Microsecond
	// growLimit is how long a process between fork and execve may take to get there, but for starved ones: half a
	// timeout's accuracy.
	growLimit = 50 * time.Millisecond
	// haltLimit is how long a process may take to stop, unless it waits for a processor: one that hangs in the kernel
	// does so when it comes out.
	haltLimit = 50 * time.Millisecond
)

// frozenPath is a file that is there while a shell may be stopped by us: a later server finishes what this one has
// begun.
func (s *Shell) frozenPath() string { return filepath.Join(s.spec.Dir, frozenFile) }

// newStrike begins with a command. Errors: ErrEnded, errHalted.
func (s *Shell) newStrike(body *incarnation, e *Exec) (*strike, error) {
	k := &strike{shell: s, body: body, exec: e, bash: body.process(), end: time.Now().Add(s.grace()),
		idle: map[int]bool{}, asleep: map[int]bool{}, async: map[int]bool{}}
	now, ok := pty.FindProc(k.bash.PID)
	_, err := os.Lstat(s.frozenPath())
	switch {
	case !ok || now.Start != k.bash.Start || now.Ended:
		return nil, ErrEnded
	case now.Stopped && err != nil:
		return nil, errHalted
	}
	// Without the file a server that is killed now would leave a stopped shell, which counts as stopped by somebody
	// else: it is ended.
	_ = os.WriteFile(s.frozenPath(), nil, 0o600)
	k.look = looks(k.bash.PID)
	return k, nil
}

// round stops bash and ends what it has to wait for. After it bash is stopped, release lets it go on. Errors: ErrEnded,
// errDeaf, errOtherwise, the reason why the shell is left.
func (k *strike) round() error {
	for {
		if !k.halt(k.bash) {
			return ErrEnded
		}
		if _, k.over = k.exec.status(); k.over {
			return nil
		}
		members, err := k.gather()
		if err != nil {
			return err
		}
		sh, found := k.reaping(members)
		if !found {
			return k.fire(members)
		}
		k.thaw()
		_ = k.bash.Signal(unix.SIGCONT)
		if err := k.catch(sh); err != nil {
			return err
		}
	}
}

// release lets bash go on, with SIGINT unless the command has ended.
func (k *strike) release() {
	if !k.over {
		k.struck = true
		_ = k.bash.Signal(unix.SIGINT)
	}
	_ = k.bash.Signal(unix.SIGCONT)
}

// thaw lets all others go on.
func (k *strike) thaw() { k.resume(func(pty.Proc) bool { return true }) }

// slay ends what is stopped, for a shell that is about to be ended, unless it is being left: with the end of the shell
// its process group is an orphan, and the kernel lets the stopped processes of such a one go on.
func (k *strike) slay() {
	if k.shell.leaving() {
		return
	}
	_ = k.bash.Signal(unix.SIGSTOP)
	for _, p := range k.halted {
		_ = p.Signal(unix.SIGKILL)
	}
}

// pause waits. Errors: errDeaf when the time is over, the reason why the shell is left.
func (k *strike) pause(d time.Duration) error {
	if !time.Now().Before(k.end) {
		return errDeaf
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-k.shell.life.Done():
		return context.Cause(k.shell.life)
	}
}

// halt stops a process and tells whether it is there. Whoever cannot be stopped, for it is another user's or hangs in
// the kernel, counts as stopped.
func (k *strike) halt(p pty.Proc) bool {
	before := statusOf(p.PID).state
	k.asleep[p.PID] = before == 'S' || before == 'T'
	if err := p.Signal(unix.SIGSTOP); err != nil {
		return true
	}
	for end := time.Now().Add(haltLimit); ; {
		now, ok := pty.FindProc(p.PID)
		if !ok || now.Start != p.Start || now.Ended {
			return false
		}
		if now.Stopped || time.Now().After(end) && statusOf(p.PID).state != 'R' || k.pause(glimpse) != nil {
			return true
		}
	}
}

// gather finds the processes of the command and stops them, parents first, until there are no new ones. Those that were
// just forked are given time to become what they are to be. The list has those that have ended too.
func (k *strike) gather() ([]pty.Proc, error) {
	grown := time.Now().Add(growLimit)
	stopped := map[int]bool{}
	for _, p := range k.halted {
		stopped[p.PID] = true
	}
	// A look at all processes takes milliseconds, in which a short command ends by itself. So bash's children come
	// first.
	list := k.childrenOf(k.bash.PID)
	for first := true; ; first = false {
		fresh, young := false, false
		for _, p := range list {
			if p.Ended || stopped[p.PID] {
				continue
			}
			fresh = true
			born, async := k.newborn(p)
			if born && (time.Now().Before(grown) || !k.late() && starved(p.PID)) {
				young = true
				continue
			}
			stopped[p.PID] = true
			k.hold(p, async)
		}
		if !fresh && !first {
			return list, nil
		}
		if young {
			if err := k.pause(glimpse); err != nil {
				return nil, err
			}
			continue
		}
		list = k.shell.members(k.body, k.exec)
	}
}

// childrenOf are a shell's children but for jobs of earlier commands.
func (k *strike) childrenOf(shell int) []pty.Proc {
	k.exec.mu.Lock()
	earlier := unmark(k.exec.record.Note)
	k.exec.mu.Unlock()
	return slices.DeleteFunc(children(shell), func(p pty.Proc) bool { return earlier[p.PID] == p.Start })
}

// newborn tells whether a process was just forked: it still has bash's handlers, and SIGINT would be lost or make it a
// second bash. For who stops the process when it is none, async says that it is a fork of bash that ignores SIGINT.
func (k *strike) newborn(p pty.Proc) (born, async bool) {
	ignored, caught := dispositions(p.PID)
	if !ignored && !caught || !k.shellLike(p.PID) {
		return false, false
	}
	return caught && len(children(p.PID)) == 0, ignored
}

// hold stops a process beside bash; async is what newborn said of it.
func (k *strike) hold(p pty.Proc, async bool) {
	k.halt(p)
	k.halted = append(k.halted, p)
	k.async[p.PID] = async
}

// shellLike tells whether a process is a fork of bash that has not become something else.
func (k *strike) shellLike(pid int) bool { return k.look != "" && looks(pid) == k.look }

// fire sends SIGINT to all that gather has stopped and waits until bash's children have ended of it, from the leaves of
// the tree of shells up.
func (k *strike) fire(members []pty.Proc) error {
	k.struck = true
	shells := []pty.Proc{k.bash}
	bound, held := map[int]bool{}, map[int]bool{} // those that a shell waits for; those that stay stopped
	for _, p := range members {
		if p.Ended {
			continue
		}
		ignored, _ := dispositions(p.PID)
		like := k.shellLike(p.PID)
		deaf := (ignored || like && k.async[p.PID]) && k.job(p)
		bound[p.PID], held[p.PID] = !deaf, deaf
		if like && !ignored {
			shells, held[p.PID] = append(shells, p), true
		}
		_ = p.Signal(unix.SIGINT)
	}
	k.resume(func(p pty.Proc) bool { return !held[p.PID] })
	for _, sh := range slices.Backward(shells) {
		kids := slices.DeleteFunc(slices.Clone(members), func(p pty.Proc) bool {
			return p.Parent != sh.PID || !bound[p.PID]
		})
		if err := k.fall(kids); err != nil {
			return err
		}
		k.resume(func(p pty.Proc) bool { return p.PID == sh.PID })
	}
	return nil
}

// resume lets some of those that are stopped beside bash go on, children before their parents.
func (k *strike) resume(which func(pty.Proc) bool) {
	for _, p := range slices.Backward(k.halted) {
		if which(p) {
			_ = p.Signal(unix.SIGCONT)
		}
	}
	k.halted = slices.DeleteFunc(k.halted, which)
}

// job tells whether what ignores SIGINT may be stopped without its shell taking it for suspended, as one with job
// control would.
func (k *strike) job(p pty.Proc) bool {
	own, err1 := unix.Getpgid(k.bash.PID)
	group, err2 := unix.Getpgid(p.PID)
	return err1 == nil && err2 == nil && (group == own || p.Session != k.bash.Session)
}

// fall waits until processes have ended of SIGINT, and sends it again now and then to all that runs for them, as
// somebody does who presses the key again: a script drops one that comes when a program of its has just ended. Errors:
// errDeaf, errOtherwise, the reason why the shell is left.
func (k *strike) fall(kids []pty.Proc) error {
	again, pause := time.Now().Add(pressAgain), pressAgain
	for _, p := range kids {
		for p.Alive() {
			if err := k.pause(glance); err != nil {
				return err
			}
			if time.Now().After(again) {
				pause *= 2
				again = time.Now().Add(pause)
				for _, kid := range kids {
					for _, member := range k.shell.family(kid, k.exec) {
						_ = member.Signal(unix.SIGINT)
					}
				}
			}
		}
		if !ofInterrupt(p) {
			return errOtherwise
		}
	}
	return nil
}

// ofInterrupt tells whether a process has ended of SIGINT.
func ofInterrupt(p pty.Proc) bool {
	status, ok := p.Status()
	return ok && status.Signaled() && status.Signal() == syscall.SIGINT
}

// looks is what a process was executed as: the same for all forks of it. It is "" for those that may not be looked at.
func looks(pid int) string {
	dir := "/proc/" + strconv.Itoa(pid)
	exe, err := os.Readlink(dir + "/exe")
	words, err2 := os.ReadFile(dir + "/cmdline")
	if err != nil || err2 != nil {
		return ""
	}
	return exe + "\x00" + string(words)
}
