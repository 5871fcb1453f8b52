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

// Sweep ends all processes that any process of a shell has started, also without a Shell, as after
// damage. It sends SIGHUP, then SIGKILL to the remaining and to new ones. It gives up
// proc.KillGrace after the first SIGKILL: on a busy machine one scan may take seconds. It also
// removes the FIFOs of the shell. keeper is the process id of the keeper, the parent of the shells'
// programs, 0 without one. Errors: proc.ErrSurvived, the kernel's when /proc cannot be read.
func Sweep(ctx context.Context, dir string, keeper int) error {
	whole := context.WithoutCancel(ctx)
	grace, stop := context.WithTimeout(ctx, proc.KillGrace)
	defer stop()
	var end time.Time // when it gives up; zero before the first SIGKILL
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

// sweepPause is how long processes may take to end by themselves: most have had SIGHUP when the
// shell ended.
const sweepPause = 200 * time.Millisecond

// Belonging are the living processes of the shell of a directory: all with its tag, all in the
// sessions of its processes, all with one of its files as a standard file, and the descendants of
// these. The keeper is none of them, although it has the tag while it starts one, and all terminals
// descend from it.
func Belonging(dir string, keeper int) ([]proc.Process, error) {
	sessions, tag := Sessions(dir), tagOf(dir)
	list, err := proc.Select(func(all []proc.Process) []proc.Process {
		all = slices.DeleteFunc(all, func(p proc.Process) bool { return p.PID == os.Getpid() || p.PID == keeper })
		roots := slices.DeleteFunc(slices.Clone(all), func(p proc.Process) bool {
			return p.Ended || !sessions[p.Session] && !tagged(dir, tag, p.Tag(), p.Shell) && !HasFileIn(p, dir)
		})
		return withMembers(all, roots, "")
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

// Sessions are the sessions of all processes of a shell in which something may still run. A number
// that was reused is not among them while the leader of the new session lives.
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
