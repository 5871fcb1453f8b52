package proc

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// A tag is a number by which a program and everything that it starts can be told from all other processes of the
// machine. It is the soft limit RLIMIT_LOCKS: Linux keeps it for each process, hands it on in fork(2) and execve(2) and
// shows it to everybody, and nothing has used it since 2.4.25 (getrlimit(2)). So it stays on a process that empties its
// environment, closes its files, opens a session and loses its parent, whoever is killed meanwhile, and needs no
// privileges. Only a process that sets this very limit (`ulimit -x`) loses its tag, and one whose hard limit is lower
// never gets it.

// tagBits is the size of a tag: it lies between 2^61 and 2^62, where no limit is that somebody sets for its own sake.
const tagBits = 61

// TagOf is the tag of what a text names, the same at any time and in any process. Two texts have different ones, but
// for a chance of 2^-61.
func TagOf(text string) uint64 {
	sum := sha256.Sum256([]byte(text))
	return 1<<tagBits | binary.BigEndian.Uint64(sum[:])>>(64-tagBits)
}

// IsTag tells a tag from a limit of files that somebody has set.
func IsTag(n uint64) bool { return n>>tagBits == 1 }

// SetTag gives this process a tag of its own, which what it starts without one inherits. Where that is not possible,
// since the hard limit is lower, it keeps the one it has.
func SetTag(tag uint64) {
	var own unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_LOCKS, &own) == nil {
		_ = unix.Setrlimit(unix.RLIMIT_LOCKS, &unix.Rlimit{Cur: tag, Max: own.Max})
	}
}

// withTag calls f while this process has a tag, so that what f starts has it from its first instruction; with tag 0, or
// one above the hard limit, it just calls f. What others start meanwhile has it too: it is for a process that starts
// one program after the other. Who looks for a tag meanwhile finds it on this process too, and has to know it: see
// KillTagged.
func withTag(tag uint64, f func() error) error {
	var own unix.Rlimit
	if tag == 0 || unix.Getrlimit(unix.RLIMIT_LOCKS, &own) != nil {
		return f()
	}
	if err := unix.Setrlimit(unix.RLIMIT_LOCKS, &unix.Rlimit{Cur: tag, Max: own.Max}); err != nil {
		return f() // EINVAL: above the hard limit
	}
	defer func() { _ = unix.Setrlimit(unix.RLIMIT_LOCKS, &own) }()
	return f()
}

// Tag is the tag of the process that has the number pid now, 0 when it has none or there is no such process.
func Tag(pid int) uint64 {
	n, _ := readTag(pid)
	return n
}

// readTag is Tag; ok is false when there is no such process, also when it was just reaped: its limits are an empty file
// then.
func readTag(pid int) (tag uint64, ok bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/limits")
	return parseTag(text), err == nil && len(text) > 0
}

// parseTag finds the tag in a file /proc/PID/limits (proc_pid_limits(5)).
func parseTag(text []byte) uint64 {
	_, rest, _ := bytes.Cut(text, []byte("\nMax file locks "))
	soft, _, _ := bytes.Cut(bytes.TrimLeft(rest, " "), []byte(" "))
	n, err := strconv.ParseUint(string(soft), 10, 64)
	if err != nil {
		return 0 // unlimited
	}
	return n
}

// idleScans is how many scans in a row have to find nobody before KillTagged believes it when processes have ended
// before they could be looked at, for one of these may have left another. One scan misses a daemon of short-lived
// processes now and then.
const idleScans = 8

// KillTagged sends SIGKILL to the processes that have one of tags, each as it is found, the newest first and with its
// process group, until there are none or ctx ends: a process that forks and ends all the time is gone before all others
// have been looked at, but its group is not. Everything in the group of a tagged process must have the same tag, as it
// has when the program that was started with it leads a session (Plan.Exec). This process and starter, another that
// executes plans and so has a tag for moments, are spared with their process groups; 0 is no starter. It does not wait
// for their end. found reports whether there was one. Errors: the kernel's, when /proc cannot be read.
func KillTagged(ctx context.Context, starter int, tags ...uint64) (found bool, err error) {
	spared := sparedBy(os.Getpid(), starter)
	t, err := cache.fresh()
	if err != nil {
		return false, fmt.Errorf("proc: kill tagged: %w", err)
	}
	t.tags() // of what has settled they need not be read again
	for idle := 0; idle < idleScans && ctx.Err() == nil; idle++ {
		hit, missed, err := killTagged(tags, spared)
		if err != nil {
			return found, fmt.Errorf("proc: kill tagged: %w", err)
		}
		if hit {
			found, idle = true, -1
		} else if !missed {
			break
		}
	}
	return found, nil
}

// HangUpTagged ends all processes that have a tag as Kill ends a tree: SIGHUP first, SIGKILL to those that are left
// after KillGrace, or at once when ctx ends. It is for what a program has left when it has ended, whoever its parent
// was, and needs no process of it. This process, starter (see KillTagged; 0 is none) and those they descend from are
// spared. It returns when nobody is left. Errors: ErrSurvived with the process ids, the kernel's when /proc cannot be
// read.
func HangUpTagged(ctx context.Context, tag uint64, starter int) error {
	f := &family{tag: tag, known: map[int]uint64{}, sessions: map[int]uint64{}, self: os.Getpid()}
	f.reaper, _ = Find(starter)
	if err := newKiller(f, func() TTY { return TTY{} }).run(ctx); err != nil {
		return fmt.Errorf("proc: end the tagged: %w", err)
	}
	return nil
}

// spared are processes and process groups that KillTagged leaves alone. What a starter has just forked is in its group
// until it leads a session.
type spared struct{ processes, groups []int }

func sparedBy(pids ...int) (s spared) {
	for _, pid := range pids {
		if group, err := unix.Getpgid(pid); pid > 0 && err == nil {
			s.processes, s.groups = append(s.processes, pid), append(s.groups, group)
		}
	}
	return s
}

// killTagged is one scan. missed tells that processes have ended before it came to them, or were about to.
func killTagged(tags []uint64, but spared) (hit, missed bool, err error) {
	list, err := listing()
	if err != nil {
		return false, false, err
	}
	slices.SortFunc(list, func(a, b entry) int { return b.pid - a.pid })
	for _, e := range list {
		pid := e.pid
		if tag, ok := cache.known(pid).tagIn(e); ok && !slices.Contains(tags, tag) {
			continue
		}
		noteRead(pid)
		p, there := Find(pid)
		found, readable := readTag(pid)
		if !there || !readable {
			missed = true
			continue
		}
		if !slices.Contains(tags, found) || slices.Contains(but.processes, pid) {
			continue
		}
		group, err := unix.Getpgid(pid)
		if now, there := Find(pid); err != nil || !there || !now.is(p) { // all of this was of one process
			missed = true
			continue
		}
		if group > initPID && !slices.Contains(but.groups, group) {
			_ = unix.Kill(-group, unix.SIGKILL)
		}
		if p.Ended {
			missed = true
		} else if p.Signal(unix.SIGKILL) == nil { // else it is another user's
			hit = true
		}
	}
	return hit, missed, nil
}
