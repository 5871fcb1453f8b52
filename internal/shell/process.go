package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/evertty/evertty/internal/confine"
	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/shell/bash"
	"github.com/evertty/evertty/internal/shell/history"
	"github.com/evertty/evertty/internal/shell/proctree"
	"github.com/evertty/evertty/internal/shell/script"
	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/pty"
)

// processes starts, watches and ends the bash processes of a shell, one after the other. Its methods are for the
// goroutine of the queue, but those that look for the one that runs.
type processes struct {
	shell   *Shell
	watch   *shelldir.Watch
	current atomic.Pointer[bash.Process] // nil or ended while none runs
	stopped atomic.Int32                 // looks in a row that found the current one stopped
	// number of the newest process, and the environment of the first one: set before the goroutine starts.
	number   int
	firstEnv []string
}

// running is the process that has not ended; nil without one.
func (p *processes) running() *bash.Process {
	if now := p.current.Load(); now != nil && !shelldir.Closed(now.Ended) {
		return now
	}
	return nil
}

// scriptBash is the bash as package script needs it.
func (p *processes) scriptBash() script.Bash {
	now := p.shell.state.now()
	return script.Bash{Dir: p.shell.spec.Dir, Snapshot: now.snapshot, Aliases: now.mayAlias, List: now.listOn,
		Relayed: p.shell.remote != nil}
}

// config is shared by the processes of the shell.
func (p *processes) config() bash.Config {
	s := p.shell
	return bash.Config{ID: s.spec.ID, Dir: s.spec.Dir, Keeper: s.config.Keeper, Log: s.config.Log, Markers: p.watch,
		Ctx: s.ctx, Script: p.scriptBash,
		OnReady: func(p proc.Process) { s.notify(ProcessStarted, p, 0) },
		OnExit:  func(p proc.Process, code int) { s.notify(ProcessEnded, p, code) }}
}

// save writes the record of the shell, which a later server reads.
func (p *processes) save() error {
	s := p.shell
	return history.SaveShell(s.spec.Dir,
		&history.Shell{Spec: s.spec, CreatedAt: s.created, Process: p.number, FirstEnv: p.firstEnv})
}

// launch starts the next process of the shell, with an environment that is given but for the first.
func (p *processes) launch(dir string, env []string, restore bool) (*bash.Process, error) {
	s := p.shell
	p.number++
	plan, err := pty.Spec{Argv: bash.Arguments(s.spec.Dir, p.number), Dir: dir,
		Confine: p.confined()}.Plan() // with its PWD
	if err != nil {
		return nil, fmt.Errorf("shell: start: %w", err)
	}
	flags := []string{"--noprofile", "--norc"} // what the profile files did is in the state
	if p.number > 1 {
		plan.Env = append(slices.Clip(env), "PWD="+dir) // bash keeps it while it names the directory
	} else {
		given := s.spec.Env
		if s.remote != nil {
			given = nil
		} else if s.spec.Login {
			flags = []string{"--login"}
		}
		if plan.Env, err = history.FirstEnvironment(plan.Env, given); err != nil {
			return nil, err
		}
		p.firstEnv = slices.Clone(plan.Env)
	}
	plan.Argv = append(plan.Argv, flags...)
	p.tag(&plan)
	if err := p.save(); err != nil { // before it runs: a later server must not use the number again
		return nil, err
	}
	return bash.Start(s.ctx, p.config(), p.number, plan, restore)
}

// confined is how the processes of the shell are confined; nil when they are not.
func (p *processes) confined() *confine.Spec {
	s := p.shell
	if s.spec.Sandbox == nil {
		return nil
	}
	in := *s.spec.Sandbox
	in.Hide, in.Keep = s.config.DataDir, Resolve(s.spec.Dir, "")
	return &confine.Spec{Sandbox: &in}
}

// interruptMarker is a file that exists while an interrupt may have stopped the shell.
func (p *processes) interruptMarker() string {
	return filepath.Join(p.shell.spec.Dir, shelldir.InterruptFile)
}

// tag marks the processes of a plan as the shell's.
func (p *processes) tag(plan *proc.Plan) {
	proctree.Tag(plan, p.shell.spec.Dir)
	plan.Env = pty.WithIdentity(plan.Env, p.shell.config.Identity)
}

// ready returns the running process, or starts the next one, with its notice. It tries maxStarts times.
func (p *processes) ready() (now *bash.Process, n restartNotice, err error) {
	s := p.shell
	if now = p.running(); now != nil && !isEnding(now) && !p.endIfStopped(now) {
		return now, n, nil
	}
	for range maxStarts {
		err = s.withRoom(func() (err error) {
			now, n, err = p.restart()
			return err
		})
		if err == nil || s.detached() || errors.Is(err, shelldir.ErrNoSpace) {
			break
		}
		s.config.Log.Warn("a shell did not start again", "shell", s.spec.ID, "error", err)
	}
	return now, n, err
}

// isStopped reports whether bash is stopped, but not by SetFrozen.
func (p *processes) isStopped(b *bash.Process) bool {
	now, ok := proc.Find(b.Proc().PID)
	return ok && !p.shell.isFrozen() && now.Stopped && now.Start == b.Proc().Start
}

// isStoppedForLong is a look at whether bash is stopped, and reports whether stoppedLooks in a row have found it so.
func (p *processes) isStoppedForLong(b *bash.Process) bool {
	if !p.isStopped(b) {
		p.stopped.Store(0)
		return false
	}
	return p.stopped.Add(1) >= stoppedLooks
}

// isEnding reports whether bash has ended or was killed, and waits for its end. Without this a command right after
// its end would go to no process, or to one that reads it and ends before it runs.
func isEnding(b *bash.Process) bool {
	if now := b.Proc(); now.PID > 0 && now.Alive() && !proctree.IsKilled(now.PID) {
		return false
	}
	return b.AwaitEnd()
}

// endIfStopped kills an idle shell that was stopped from outside, before a command is sent to it. It gives it some time
// to be continued.
func (p *processes) endIfStopped(b *bash.Process) bool {
	if !p.isStopped(b) {
		return false
	}
	select {
	case <-time.After(stoppedLooks * stoppedLook):
	case <-p.shell.ctx.Done():
		return false
	}
	if !p.isStopped(b) {
		return false
	}
	destroy(p.shell.ctx, b, nil)
	return true
}

// destroy kills a shell with the processes of its command, or all of its descendants without a command, and waits for
// them.
func destroy(ctx context.Context, b *bash.Process, e *Exec) {
	var dir string
	var earlier proctree.Starts
	if e != nil {
		dir, earlier = e.dir, e.earlier()
	}
	victims := proctree.Members(b.Proc(), dir, earlier)
	b.Kill()
	// Until it is gone it is the parent of earlier jobs too, and holds the command's outputs.
	gone, cancel := context.WithTimeout(ctx, endGrace)
	defer cancel()
	_ = b.Proc().Wait(gone)
	proctree.KillAll(ctx, victims, dir, endGrace)
	b.AwaitEnd()
}

// end ends the process that runs, with its launcher, and waits for that until giveUp; doing names the reason.
func (p *processes) end(ctx context.Context, giveUp <-chan struct{}, doing string) (err error) {
	now := p.running()
	if now == nil {
		return nil
	}
	if err = now.End(ctx); err != nil {
		err = fmt.Errorf("shell: %s %s: %w", doing, p.shell.spec.ID, err)
	}
	select {
	case <-now.Ended:
		return err
	case <-giveUp:
		return errors.Join(err, context.Cause(ctx))
	}
}

// cwd is the directory of a process, by the name that was last known as long as it is one of it.
func (p *processes) cwd(b *bash.Process) string {
	known := p.shell.state.directory()
	if now, err := b.Cwd(); err == nil {
		return proc.LogicalDir(known, now)
	}
	return known
}

// home is the first directory of bash.
func (p *processes) home() string {
	if p.shell.remote != nil {
		return shelldir.Nearest(history.HomeDir(nil))
	}
	return p.shell.spec.Cwd
}

// directories returns the shell's directory, and the absolute directory of this command alone, "" without one; ok is
// false when that does not exist. An isolated command always has one.
func (p *processes) directories(b *bash.Process, spec Command) (home, cwd string, ok bool) {
	if p.shell.remote != nil {
		return p.shell.state.directory(), "", true // the relay goes there
	}
	home, cwd = p.cwd(b), spec.Cwd
	switch {
	case cwd == "" && spec.Isolated:
		cwd = shelldir.Nearest(home)
	case cwd == "":
		return home, "", true
	case !filepath.IsAbs(cwd):
		cwd = filepath.Join(home, cwd)
	}
	info, err := os.Stat(cwd)
	return home, cwd, err == nil && info.IsDir()
}

// HomeDir is where a shell with these variables begins that is given no directory.
func HomeDir(env map[string]string) string { return history.HomeDir(env) }

// Directory is where a command with Command.Cwd would begin now: absolute and with all links followed, as far as there
// is such a directory. At a provider no links are followed.
func (s *Shell) Directory(cwd string) string {
	if s.remote != nil {
		return Join(s.state.directory(), cwd)
	}
	return Resolve(s.procs.cwd(s.procs.current.Load()), cwd)
}

// Join is dir, or cwd in it when that is not "".
func Join(dir, cwd string) string {
	if filepath.IsAbs(cwd) {
		return filepath.Clean(cwd)
	}
	return filepath.Join(dir, cwd)
}

// Resolve is Join with all links followed; a directory that is not there stays as it is.
func Resolve(dir, cwd string) string {
	dir = Join(dir, cwd)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}
