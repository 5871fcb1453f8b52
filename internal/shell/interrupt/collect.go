package interrupt

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/shell/proctree"
)

const (
	// forkLimit is how long a process between fork and execve may take to get there, but for those
	// that wait for a processor: half a timeout's accuracy.
	forkLimit = 50 * time.Millisecond
	// stopLimit is how long a process may take to stop, unless it waits for a processor: one that
	// hangs in the kernel does so when it comes out.
	stopLimit = 50 * time.Millisecond
)

// stop stops a process and reports whether it is there. Whoever cannot be stopped, for it is
// another user's or hangs in the kernel, counts as stopped.
func (i *interruption) stop(p proc.Process) bool {
	before, was := proctree.StatusOf(p.PID).State, i.seen[p.PID]
	was.asleep = before == 'S' || before == 'T'
	was.itself = before == 'T' && !i.takenOver
	i.seen[p.PID] = was
	if err := p.Signal(unix.SIGSTOP); err != nil {
		return true
	}
	for end := time.Now().Add(stopLimit); ; {
		now, ok := proc.Find(p.PID)
		if !ok || now.Start != p.Start || now.Ended {
			return false
		}
		if now.Stopped || time.Now().After(end) && proctree.StatusOf(p.PID).State != 'R' ||
			i.wait(shortInterval) != nil {
			return true
		}
	}
}

// stopMember stops a process beside bash; async is what forked said of it.
func (i *interruption) stopMember(p proc.Process, async bool) {
	i.stop(p)
	i.stopped = append(i.stopped, p)
	was := i.seen[p.PID]
	was.async = async
	i.seen[p.PID] = was
}

// collect finds the processes of the command and stops them, parents first, until there are no new
// ones. Those that were just forked are given time to become what they are to be. The list has
// those that have ended too.
func (i *interruption) collect() ([]proc.Process, error) {
	end := time.Now().Add(forkLimit)
	stopped := map[int]bool{}
	for _, p := range i.stopped {
		stopped[p.PID] = true
	}
	// A look at all processes takes milliseconds, in which a short command ends by itself. So
	// bash's children come first.
	list := i.children(i.Bash.PID)
	for first := true; ; first = false {
		fresh, young := false, false
		for _, p := range list {
			if p.Ended || stopped[p.PID] {
				continue
			}
			fresh = true
			born, async := i.forked(p)
			if born && (time.Now().Before(end) || !i.late() && waitsForProcessor(p.PID)) {
				young = true
				continue
			}
			stopped[p.PID] = true
			i.stopMember(p, async)
		}
		if !fresh && !first {
			return list, nil
		}
		if young {
			if err := i.wait(shortInterval); err != nil {
				return nil, err
			}
			continue
		}
		list = proctree.Members(i.Bash, i.Dir, i.Earlier)
	}
}

// children are a shell's but for jobs of earlier commands.
func (i *interruption) children(shell int) []proc.Process {
	return slices.DeleteFunc(proctree.Children(shell), i.Earlier.Has)
}

// forked reports whether a process was just forked: it still has bash's handlers, and SIGINT would
// be lost or make it a second bash. For who stops the process when it is none, async says that it
// is a fork of bash that ignores SIGINT.
func (i *interruption) forked(p proc.Process) (just, async bool) {
	s := proctree.StatusOf(p.PID)
	ignored, caught := s.Ignored.Has(unix.SIGINT), s.Caught.Has(unix.SIGINT)
	if !ignored && !caught || !i.isShell(p.PID) {
		return false, false
	}
	return caught && len(proctree.Children(p.PID)) == 0, ignored
}

// isShell reports whether a process is a fork of bash that has not become something else.
func (i *interruption) isShell(pid int) bool {
	return i.executable != "" && executableOf(pid) == i.executable
}

// executableOf is what a process was executed as, program and arguments: the same for all forks of
// it. It is "" for those that may not be looked at.
func executableOf(pid int) string {
	dir := "/proc/" + strconv.Itoa(pid)
	exe, err := os.Readlink(dir + "/exe")
	words, err2 := os.ReadFile(dir + "/cmdline")
	if err != nil || err2 != nil {
		return ""
	}
	return exe + "\x00" + string(words)
}

// waitsForProcessor reports whether a process has not run for forkLimit, and would.
func waitsForProcessor(pid int) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/schedstat") // nanoseconds on a processor come first
	if err != nil {
		return false // a kernel without CONFIG_SCHED_INFO
	}
	first, _, _ := strings.Cut(string(text), " ")
	ran, err := strconv.ParseInt(first, 10, 64)
	return err == nil && time.Duration(ran) < forkLimit && proctree.StatusOf(pid).State == 'R'
}
