package proctree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/shell/shelldir"
)

// Sweep ends all processes that any process of a shell has started, also without a Shell, as after damage: SIGHUP,
// then at once SIGKILL for those that remain or come later. It gives up pty.KillGrace after the first SIGKILL: on a
// busy machine one scan may take seconds. It also removes the FIFOs of the shell. keeper is the process id of the
// keeper, the parent of the shells' programs, 0 when there is none. Errors: pty.ErrSurvived, the kernel's when /proc
// cannot be read.
func Sweep(ctx context.Context, dir string, keeper int) error {
	whole := context.WithoutCancel(ctx)
	grace, stop := context.WithTimeout(ctx, proc.KillGrace)
	defer stop()
	var end time.Time // of its patience; zero before the first SIGKILL
	for sig := unix.SIGHUP; ; sig = unix.SIGKILL {
		victims, err := Belonging(dir, keeper)
		killed := false
		if err == nil && (sig == unix.SIGKILL || len(victims) == 0) {
			limit, cancel := context.WithTimeout(whole, proc.KillGrace)
			killed, err = proc.KillTagged(limit, keeper, tagOf(dir))
			cancel()
		}
		if err != nil {
			return fmt.Errorf("shell: sweep %s: %w", dir, err)
		}
		if len(victims) == 0 && !killed {
			shelldir.RemoveAllFIFOs(dir)
			return nil
		}
		if !end.IsZero() && time.Now().After(end) {
			return fmt.Errorf("shell: sweep %s: %w: %d processes", dir, proc.ErrSurvived, len(victims))
		}
		if grace.Err() != nil {
			sig = unix.SIGKILL
		}
		if sig == unix.SIGKILL && end.IsZero() {
			end = time.Now().Add(proc.KillGrace)
		}
		for _, v := range victims {
			_ = v.Signal(sig)
			if sig == unix.SIGHUP {
				_ = v.Signal(unix.SIGCONT)
			}
		}
		wait, done := context.WithTimeout(whole, sweepPause)
		for _, v := range victims {
			_ = v.Wait(wait)
		}
		done()
	}
}

// sweepPause is how long processes may take to end by themselves: most have had SIGHUP when the shell ended.
const sweepPause = 200 * time.Millisecond

// Belonging are the living processes that belong to the shell of a directory: those that are marked, whatever their
// parents and sessions are, those of the sessions of all processes of the shell, those that have one of the shell's
// files as a standard file, and what descends from these. The keeper is none of them, although it has the mark while it
// starts one, and all terminals descend from it.
func Belonging(dir string, keeper int) ([]proc.Process, error) {
	sessions, tag := Sessions(dir), tagOf(dir)
	list, err := proc.Select(func(all []proc.Process) []proc.Process {
		found := map[int]bool{}
		all = slices.DeleteFunc(all, func(p proc.Process) bool { return p.PID == os.Getpid() || p.PID == keeper })
		byParent := map[int][]int{}
		for _, p := range all {
			byParent[p.Parent] = append(byParent[p.Parent], p.PID)
		}
		var add func(pid int)
		add = func(pid int) {
			if !found[pid] {
				found[pid] = true
				for _, child := range byParent[pid] {
					add(child)
				}
			}
		}
		for _, p := range all {
			if !found[p.PID] && !p.Ended && (sessions[p.Session] || tagged(dir, tag, p.Tag(), p.Shell) ||
				HasFileIn(p, dir)) {
				add(p.PID)
			}
		}
		return slices.DeleteFunc(all, func(p proc.Process) bool { return !found[p.PID] })
	})
	return living(list), err
}

// SessionOf is the session in the name of a marker.
func SessionOf(name string) (session int, ok bool) {
	rest, ok := strings.CutPrefix(name, shelldir.SessionName)
	_, id, found := strings.Cut(rest, ".")
	session, err := strconv.Atoi(id)
	return session, ok && found && err == nil
}

// Sessions are those of all processes of a shell in which something may still run. A number that means another session
// by now is not among them, as far as its leader lives.
func Sessions(dir string) map[int]bool {
	list, _ := os.ReadDir(filepath.Join(dir, shelldir.MarkersDir))
	found := map[int]bool{}
	for _, f := range list {
		session, ok := SessionOf(f.Name())
		if !ok {
			continue
		}
		if leader, alive := proc.Find(session); !alive || leader.Ended || Tagged(dir, session) {
			found[session] = true
		}
	}
	return found
}
