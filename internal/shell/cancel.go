package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/pty"
)

// cancel ends a command in the foreground: nothing of it runs after that, see strike. What cannot be ended within
// cancelGrace, or could go on, is ended with SIGKILL, the shell first for the same reason. Jobs of earlier commands are
// left alone. A command that had ended by then has its own result.
func (s *Shell) cancel(body *incarnation, run *running, e *Exec, r Result) (Result, bool) {
	if _, ok := e.status(); ok {
		return s.await(body, run, e)
	}
	over, err := s.interrupt(body, e)
	if s.leaving() {
		return r, false
	}
	if err != nil {
		if !errors.Is(err, ErrEnded) { // else it needed nobody to end it
			s.config.Log.Info("a shell is ended with its command", "command", e.id, "reason", err)
		}
		if !closed(body.ended) {
			s.destroy(body, e)
		}
		r.ShellEnded = true
	}
	_ = os.Remove(s.frozenPath())
	if over {
		return s.await(body, run, e)
	}
	return r, true
}

// interrupt sends SIGINT to what a command has started and to the shell, until the shell is back at its top level; over
// tells that the command had ended before. A user's INT trap runs as after one press of the key, and goes on with the
// command or not; one that takes longer than half the grace sees a second one. Errors: ErrEnded, those of strike, the
// reason why the shell is left.
func (s *Shell) interrupt(body *incarnation, e *Exec) (over bool, err error) {
	k, err := s.newStrike(body, e)
	if err != nil {
		return false, err
	}
	// SIGINT may hit the very line that reports the status and so take it away. The shell goes through another line
	// then.
	prefix, line := body.barrierLine()
	for pause := cancelGrace / 2; ; pause *= 2 {
		if err := k.round(); err != nil {
			k.slay()
			return false, err
		}
		if err := body.tell(line); err != nil {
			return false, err
		}
		k.release()
		ctx, cancel := context.WithTimeout(s.life, min(pause, time.Until(k.end)))
		err := body.cross(ctx, prefix)
		cancel()
		if err == nil {
			err = s.crossAll(body, prefix)
			k.thaw()
			return !k.struck, err
		}
		if !errors.Is(err, context.DeadlineExceeded) || !time.Now().Before(k.end) {
			k.slay()
			return false, err
		}
	}
}

// crossAll waits until the shell has read all that interrupt has told it, and removes what the lines after the first
// have made.
func (s *Shell) crossAll(body *incarnation, prefix string) error {
	ctx, cancel := context.WithTimeout(s.life, cancelGrace)
	defer cancel()
	err := body.barrier(ctx, "")
	_ = os.Remove(filepath.Join(s.spec.Dir, signsDir, prefix+strconv.Itoa(body.process().PID)))
	return err
}

// pressAgain is when a program that does not end on SIGINT is sent another; the pauses double then. A program that
// clears up on SIGINT is often done before.
const pressAgain = 100 * time.Millisecond

// destroy ends a shell with what its command started, and waits for it.
func (s *Shell) destroy(body *incarnation, e *Exec) {
	victims := s.members(body, e)
	body.kill()
	// Until it is gone it is the parent of earlier jobs too, and holds the command's outputs.
	gone, cancel := context.WithTimeout(s.life, endGrace)
	defer cancel()
	_ = body.process().Wait(gone)
	s.killAll(victims, e)
	timer := time.NewTimer(endGrace)
	defer timer.Stop()
	select {
	case <-body.ended:
		return
	case <-timer.C:
		body.killLauncher()
	}
	<-body.ended
}

// killAll ends processes with SIGKILL, and what they have forked meanwhile: children of theirs, and those that hold a
// command's outputs. It waits until they are gone, for endGrace: until then the outputs do not end.
func (s *Shell) killAll(victims []pty.Proc, e *Exec) {
	gone, cancel := context.WithTimeout(s.life, endGrace)
	defer cancel()
	for range killRounds {
		if len(victims) == 0 {
			return
		}
		for _, p := range victims {
			_ = p.Signal(unix.SIGKILL)
		}
		next := s.offspring(victims, e) // their children are others' when they are gone
		for _, p := range victims {
			_ = p.Wait(gone)
		}
		victims = next
	}
}

// killRounds is how often the processes of a command are looked up again while they are being ended: nobody forks
// faster than that for long.
const killRounds = 8

// members are the processes that a command in the foreground has started: what descends from the shell but from jobs of
// earlier commands, and what has left the tree but holds the command's outputs. Without a command it is all that
// descends from the shell.
func (s *Shell) members(body *incarnation, e *Exec) []pty.Proc {
	list, err := pty.Procs()
	if err != nil {
		return nil
	}
	var earlier map[int]uint64
	if e != nil {
		e.mu.Lock()
		earlier = unmark(e.record.Note)
		e.mu.Unlock()
	}
	byParent := map[int][]pty.Proc{}
	for _, p := range list {
		byParent[p.Parent] = append(byParent[p.Parent], p)
	}
	bash := body.process()
	seen := map[int]bool{os.Getpid(): true}
	var found []pty.Proc
	var walk func(parent int)
	walk = func(parent int) {
		for _, p := range byParent[parent] {
			if seen[p.PID] || parent == bash.PID && earlier[p.PID] == p.Start {
				continue
			}
			seen[p.PID] = true
			found = append(found, p)
			walk(p.PID)
		}
	}
	if bash.PID > 0 {
		seen[bash.PID] = true
		walk(bash.PID)
	}
	if e == nil {
		return found
	}
	for _, p := range list {
		if !seen[p.PID] && !p.Ended && holds(p.PID, e.dir) {
			found = append(found, p)
		}
	}
	return found
}

// offspring are the living ones of a list, their children, and those that hold a command's outputs.
func (s *Shell) offspring(parents []pty.Proc, e *Exec) []pty.Proc {
	list, err := pty.Procs()
	if err != nil {
		return nil
	}
	known := map[int]bool{}
	for _, p := range parents {
		// 0 is one that is not known, and as a parent the kernel or somebody outside of the container.
		known[p.PID] = p.PID > 0
	}
	return slices.DeleteFunc(list, func(p pty.Proc) bool {
		return p.Ended || p.PID == os.Getpid() || !known[p.Parent] && !known[p.PID] &&
			(e == nil || !holds(p.PID, e.dir))
	})
}

// holds tells whether a process has one of its standard files in a directory.
func holds(pid int, dir string) bool {
	for fd := range 3 {
		target, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/fd/" + strconv.Itoa(fd))
		if err != nil {
			return false
		}
		if strings.HasPrefix(target, dir+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

// children are the processes that a process has started and that run.
func children(pid int) []pty.Proc {
	number := strconv.Itoa(pid)
	text, err := os.ReadFile("/proc/" + number + "/task/" + number + "/children")
	var found []pty.Proc
	if err != nil { // a kernel without CONFIG_PROC_CHILDREN
		list, _ := pty.Procs()
		return slices.DeleteFunc(list, func(p pty.Proc) bool { return p.Parent != pid })
	}
	for _, field := range strings.Fields(string(text)) {
		if n, err := strconv.Atoi(field); err == nil {
			if p, ok := pty.FindProc(n); ok {
				found = append(found, p)
			}
		}
	}
	return found
}

// marks is a list of processes as text for a record; unmark reads it.
func marks(list []pty.Proc) string {
	words := make([]string, len(list))
	for i, p := range list {
		words[i] = fmt.Sprintf("%d:%d", p.PID, p.Start)
	}
	return strings.Join(words, " ")
}

func unmark(text string) map[int]uint64 {
	found := map[int]uint64{}
	for _, word := range strings.Fields(text) {
		var pid int
		var start uint64
		if _, err := fmt.Sscanf(word, "%d:%d", &pid, &start); err == nil {
			found[pid] = start
		}
	}
	return found
}
