package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/shell/proctree"
	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/pty"
)

// background follows a command in the background until it has ended. pid is what its process was begun as, 0 when
// nobody knows; r is what its result has from its start.
func (s *Shell) background(run *running, e *Exec, pid int, r Result) {
	defer s.leaveBeside()
	if s.leaving() { // perhaps the command has not come to open its FIFOs
		run.leave()
		return
	}
	shelldir.RemoveFIFOs(e.dir)
	process, there := e.begunAs(pid)
	end, over := s.awaitBackground(run, e, process, there)
	if !over {
		run.leave()
		return
	}
	if e.wasKilled(end) {
		s.terminate(pty.Proc{}, e) // somebody killed its process: what that waited for ends with it
	}
	r.ExitCode, r.TimedOut, r.Cancelled = end.ExitCode, end.TimedOut, end.Cancelled
	eof := run.drain()
	r.Background = !eof
	run.judge(&r)
	status := Done
	if r.Cancelled {
		status = Cancelled
	}
	e.answer(status, &r)
	run.see(eof)
}

// begunAs is the process that a command in the background was begun as, the zero value and false when it has ended. A
// later server may find another process under the number: what the record says of the process tells, or its mark when
// the earlier server did not come to write that.
func (e *Exec) begunAs(pid int) (pty.Proc, bool) {
	p, there := pty.FindProc(pid)
	if pid <= 0 || !there {
		return pty.Proc{}, false
	}
	e.mu.Lock()
	start, noted := proctree.ParseStarts(e.record.Note)[pid]
	e.mu.Unlock()
	if noted && start != p.Start || !noted && !proctree.Tagged(e.shell.spec.Dir, pid) {
		return pty.Proc{}, false
	}
	return p, true
}

// awaitBackground waits for the status of a command in the background, and for the end of all that it started when it
// was told to end. over is false when the shell is left.
func (s *Shell) awaitBackground(run *running, e *Exec, process pty.Proc, there bool) (r Result, over bool) {
	var ending sync.WaitGroup
	defer ending.Wait()
	pid, begun := shelldir.FindNumber(e.dir, shelldir.PidName)
	ended, stop := s.watchProcess(process, there, begun && pid == 0)
	defer stop()
	late, stopLate := e.overtime()
	defer stopLate()
	stopped := e.stop
	for {
		if code, ok := e.status(); ok {
			if !r.TimedOut && !r.Cancelled {
				r.ExitCode = code
			}
			return r, true
		}
		select {
		case <-run.watch.Changed:
		case <-ended:
			// The process that waits for it reports within this time, unless it was killed too.
			if !s.report(run, e) {
				return Result{}, false
			}
			if _, ok := e.status(); !ok {
				if !r.TimedOut && !r.Cancelled {
					r.ExitCode = killedCode
				}
				return r, true
			}
		case <-late:
			r = Result{ExitCode: timeoutCode, TimedOut: true}
			late, stopped = nil, nil
			ending.Go(func() { s.terminate(process, e) })
		case <-stopped:
			r = Result{ExitCode: cancelCode, Cancelled: true}
			late, stopped = nil, nil
			ending.Go(func() { s.terminate(process, e) })
		case <-s.life.Done():
			return Result{}, false
		}
	}
}

// wasKilled tells whether the process of a command in the background ended of a signal, and not the
// last program of the command: then the command did not come to its end, nor to an exit of its own.
func (e *Exec) wasKilled(end Result) bool {
	if end.TimedOut || end.Cancelled || end.ExitCode <= signalCodes {
		return false
	}
	_, came := shelldir.FindSign(e.dir, shelldir.FinishedName)
	return !came
}

// signalCodes is what a shell adds to the number of a signal for the code of what ended of it (POSIX 2.8.2).
const signalCodes = 128

// killedCode is what a command answers whose end nobody reported: as after SIGKILL.
const killedCode = 137

// report waits for the status of a command whose process has ended, for reportGrace. It is false when the shell is
// left.
func (s *Shell) report(run *running, e *Exec) bool {
	limit, cancel := s.awake(s.life, reportGrace)
	defer cancel()
	for {
		if _, ok := e.status(); ok {
			return true
		}
		select {
		case <-run.watch.Changed:
		case <-limit.Done():
			return !s.leaving()
		}
	}
}

// watchProcess closes a channel when a process has ended, at once when there is none, never when it has begun and
// nobody knows as what.
func (s *Shell) watchProcess(p pty.Proc, there, nameless bool) (<-chan struct{}, context.CancelFunc) {
	if !there && nameless {
		return nil, func() {} // the user has unset BASHPID: only the status tells of the end
	}
	ended := make(chan struct{})
	if !there {
		close(ended)
		return ended, func() {}
	}
	ctx, cancel := context.WithCancel(s.life)
	s.work.Go(func() {
		if err := p.Wait(ctx); err == nil {
			close(ended)
		}
	})
	return ended, cancel
}

// terminate ends a command beside the queue: SIGTERM to its process and all that it started, after pty.KillGrace
// SIGKILL.
func (s *Shell) terminate(p pty.Proc, e *Exec) {
	victims := proctree.Family(p, e.dir)
	for _, v := range victims {
		_ = v.Signal(unix.SIGTERM)
		_ = v.Signal(unix.SIGCONT)
	}
	ctx, cancel := context.WithTimeout(s.life, pty.KillGrace)
	defer cancel()
	for _, v := range victims {
		_ = v.Wait(ctx)
	}
	if s.leaving() {
		return
	}
	proctree.KillAll(s.life, proctree.Successors(append(victims, p), e.dir), e.dir, endGrace)
}

// isolated runs a command as one process beside the shell.
func (s *Shell) isolated(e *Exec) {
	defer s.tidy()
	defer s.leaveBeside()
	s.awaitCapture(e)
	if s.remote() {
		s.isolatedRemote(e)
		return
	}
	s.mu.Lock()
	home := s.cwd
	body := s.body
	s.mu.Unlock()
	if body != nil {
		if now, err := body.process().Cwd(); err == nil {
			home = now
		}
	}
	e.mu.Lock()
	cwd := e.record.Spec.Cwd
	e.mu.Unlock()
	if e.withdrawn() {
		return
	}
	switch {
	case cwd == "":
		cwd = shelldir.Nearest(home)
	case !filepath.IsAbs(cwd):
		cwd = filepath.Join(home, cwd)
	}
	if info, err := os.Stat(cwd); err != nil || !info.IsDir() {
		e.missing(cwd, revived{}, home)
		return
	}
	if err := s.runIsolated(e, home, cwd); err != nil && !s.leaving() {
		e.end(Failed, nil, fmt.Errorf("start: %w", shelldir.SpaceError(err)))
	}
}

// runIsolated starts the process and follows it.
func (s *Shell) runIsolated(e *Exec, home, cwd string) error {
	plan, ok := s.isolatedPlan(e, home, cwd)
	if !ok {
		return nil
	}
	run, err := s.open(e)
	if err != nil {
		return err
	}
	std, err := run.standardFiles()
	if err != nil {
		run.abandon()
		return err
	}
	now := time.Now()
	e.mu.Lock()
	e.record.Info.Status, e.record.Info.StartedAt, e.record.Info.Cwd = Running, now, cwd
	if limit := e.record.Spec.Timeout; limit > 0 {
		e.record.Deadline = now.Add(limit)
	}
	e.mu.Unlock()
	err = s.withRoom(e.trySave)
	var child *pty.Child
	if err == nil {
		hold := []*os.File{run.ends[0], run.ends[1]}
		program, runErr := s.config.Keeper.Run(e.holdID(), plan, std, hold...)
		if err = runErr; err == nil {
			child = program.Child
			run.held = true
		}
	}
	for _, f := range std {
		_ = f.Close()
	}
	if err == nil {
		err = run.holdInput()
	}
	if err == nil {
		err = run.pump()
	}
	if err != nil {
		if child != nil {
			s.dispose(child)
		}
		run.abandon()
		return err
	}
	shelldir.RemoveFIFOs(e.dir)
	run.closeOwn()
	e.begin(child.PID())
	s.followIsolated(run, e, child, home)
	return nil
}

// dispose ends a child that is of no use.
func (s *Shell) dispose(child *pty.Child) {
	now, cancel := context.WithCancel(context.Background())
	cancel()
	_ = child.Kill(now, nil)
	child.Wait()
}

// isolatedPlan says what to execute, or ends the command as a shell ends one that it cannot find.
func (s *Shell) isolatedPlan(e *Exec, home, cwd string) (pty.Plan, bool) {
	spec := e.spec()
	if s.remote() {
		return s.relayPlan(e)
	}
	env := s.State().Env
	for name, value := range spec.Env {
		env[name] = value
	}
	plan, err := pty.Spec{Argv: spec.Argv, Dir: cwd, Env: env}.Plan()
	if err == nil {
		plan.Env = plan.Env[:0]
		for name, value := range env {
			plan.Env = append(plan.Env, name+"="+value)
		}
		slices.Sort(plan.Env)
		plan.Env = append(plan.Env, "PWD="+cwd)
		s.tag(&plan)
		return plan, true
	}
	code, words := 127, "command not found"
	if errors.Is(err, os.ErrPermission) {
		code, words = 126, "Permission denied"
	} else if !errors.Is(err, pty.ErrNoCommand) {
		code, words = 126, err.Error()
	}
	e.say(spec.Argv[0] + ": " + words + "\n")
	e.mu.Lock()
	e.record.Info.Cwd, e.record.Info.StartedAt = cwd, time.Now()
	e.mu.Unlock()
	e.end(Done, &Result{ExitCode: code, Cwd: home}, nil)
	return pty.Plan{}, false
}

// standardFiles opens those of an isolated command, which the caller closes. FIFOs are opened by what is open of them:
// the launcher of a shell that ends just now removes their names.
func (r *running) standardFiles() (std [3]*os.File, err error) {
	e := r.exec
	in, mode := os.DevNull, os.O_RDONLY
	if e.hasInput() {
		in = filepath.Join(e.dir, shelldir.InputFile)
	} else if input := e.openedInput(); input != nil {
		in = shelldir.OpenPath(input)
	}
	for i, path := range [...]string{in, shelldir.OpenPath(r.own[0]), shelldir.OpenPath(r.own[1])} {
		if i > 0 {
			mode = os.O_WRONLY
		}
		fd, err := unix.Open(path, mode|unix.O_CLOEXEC, 0)
		if err != nil {
			for _, f := range std[:i] {
				_ = f.Close()
			}
			return std, err
		}
		std[i] = os.NewFile(uintptr(fd), path)
	}
	return std, nil
}

// followIsolated waits for the end of an isolated command.
func (s *Shell) followIsolated(run *running, e *Exec, child *pty.Child, home string) {
	var exit pty.Exit
	ended := make(chan struct{})
	go func() { // not of work: it ends when the child or the connection to the keeper does
		exit = child.Wait()
		close(ended)
	}()
	late, stopLate := e.overtime()
	defer stopLate()
	var r Result
	select {
	case <-ended:
	case <-late:
		r = Result{ExitCode: timeoutCode, TimedOut: true}
	case <-e.stop:
		r = Result{ExitCode: cancelCode, Cancelled: true}
	case <-s.life.Done():
		run.leave()
		return
	}
	// By itself, and earlier: of two facts that came at once select takes any, and a server that was away finds both.
	if exited(child) {
		r = Result{}
	}
	if r.TimedOut || r.Cancelled {
		if p, ok := pty.FindProc(child.PID()); ok {
			s.terminate(p, e)
		}
	}
	select {
	case <-ended:
	case <-s.life.Done():
		run.leave()
		return
	}
	if !r.TimedOut && !r.Cancelled {
		r.ExitCode = reported(exit)
	}
	eof := run.drain()
	r.Background, r.Cwd = !eof, home
	run.judge(&r)
	status := Done
	if r.Cancelled {
		status = Cancelled
	}
	e.answer(status, &r)
	run.see(eof)
}

// exited tells whether a child has ended, whatever has its number by now.
func exited(c *pty.Child) bool {
	over := true // also when Wait has returned, which closes the descriptor
	_ = c.SyscallConn().Control(func(fd uintptr) { over, _ = shelldir.Poll(int(fd)) })
	return over
}

// reported is the code of a process that has ended: killedCode when nobody saw how.
func reported(x pty.Exit) int {
	if x.Code < 0 {
		return killedCode
	}
	return x.Code
}
