package shell

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/evertty/evertty/internal/shell/interrupt"
	"github.com/evertty/evertty/internal/shell/proctree"
	"github.com/evertty/evertty/internal/shell/shelldir"
)

// interruptMarker is a file that is there while a shell may be stopped by an interrupt.
func (s *Shell) interruptMarker() string { return filepath.Join(s.spec.Dir, shelldir.InterruptFile) }

// target is a command in the foreground for an interrupt.
func (s *Shell) target(body *incarnation, e *Exec) interrupt.Target {
	prefix, line := body.barrierLine()
	e.mu.Lock()
	earlier := proctree.ParseStarts(e.record.Note)
	e.mu.Unlock()
	return interrupt.Target{Bash: body.process(), Dir: e.dir, Earlier: earlier, Marker: s.interruptMarker(), Limit: s.grace(),
		Ended: func() bool { _, ok := e.status(); return ok },
		Tell:  func() error { return body.tell(line) },
		Await: func(ctx context.Context) error { return body.cross(ctx, prefix) },
		AwaitAll: func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, cancelGrace)
			defer cancel()
			err := body.barrier(ctx, "")
			// Later lines of the same barrier have made it again.
			_ = os.Remove(filepath.Join(s.spec.Dir, shelldir.SignsDir, prefix+strconv.Itoa(body.process().PID)))
			return err
		}}
}

// cancel ends a command in the foreground: nothing of it runs after that. What cannot be interrupted within
// cancelGrace, or could go on, is ended with SIGKILL, the shell first for the same reason. Jobs of earlier commands are
// left alone. A command that had ended by then has its own result.
func (s *Shell) cancel(body *incarnation, run *running, e *Exec, r Result) (Result, bool) {
	if _, ok := e.status(); ok {
		return s.await(body, run, e)
	}
	over, err := interrupt.Interrupt(s.life, s.target(body, e))
	if s.leaving() {
		return r, false
	}
	if err != nil {
		if !errors.Is(err, ErrEnded) && !errors.Is(err, interrupt.ErrGone) { // else it needed nobody to end it
			s.config.Log.Info("a shell is ended with its command", "command", e.id, "reason", err)
		}
		if !shelldir.Closed(body.ended) {
			s.destroy(body, e)
		}
		r.ShellEnded = true
	}
	_ = os.Remove(s.interruptMarker())
	if over {
		return s.await(body, run, e)
	}
	return r, true
}

// destroy ends a shell with what its command started, all that descends from it without a command, and waits for it.
func (s *Shell) destroy(body *incarnation, e *Exec) {
	var dir string
	var earlier proctree.Starts
	if e != nil {
		e.mu.Lock()
		dir, earlier = e.dir, proctree.ParseStarts(e.record.Note)
		e.mu.Unlock()
	}
	victims := proctree.Members(body.process(), dir, earlier)
	body.kill()
	// Until it is gone it is the parent of earlier jobs too, and holds the command's outputs.
	gone, cancel := context.WithTimeout(s.life, endGrace)
	defer cancel()
	_ = body.process().Wait(gone)
	proctree.KillAll(s.life, victims, dir, endGrace)
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
