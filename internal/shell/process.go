package shell

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/shell/bash"
	"github.com/evertty/evertty/internal/shell/history"
	"github.com/evertty/evertty/internal/shell/proctree"
	"github.com/evertty/evertty/pty"
)

// processConfig is shared by the processes of the shell.
func (s *Shell) processConfig() bash.Config {
	return bash.Config{ID: s.spec.ID, Dir: s.spec.Dir, Keeper: s.config.Keeper, Log: s.config.Log, Markers: s.watch,
		Ctx: s.ctx, Script: s.scriptBash,
		OnReady: func(p proc.Process) { s.notify(ProcessStarted, p, 0) },
		OnExit:  func(p proc.Process, code int) { s.notify(ProcessEnded, p, code) }}
}

// launch starts the next process of the shell.
func (s *Shell) launch(ctx context.Context, number int, dir string, env []string, restore bool) (*bash.Process, error) {
	plan, err := pty.Spec{Argv: bash.Arguments(s.spec.Dir, number), Dir: dir}.Plan() // with its PWD
	if err != nil {
		return nil, fmt.Errorf("shell: start: %w", err)
	}
	if s.spec.Login && !s.remote() && number == 1 {
		plan.Argv = append(plan.Argv, "--login")
	} else {
		plan.Argv = append(plan.Argv, "--noprofile", "--norc") // what the profile files did is in the state
	}
	if number > 1 {
		plan.Env = append(slices.Clip(env), "PWD="+dir) // bash keeps it while it names the directory
	} else if plan.Env, err = history.FirstEnvironment(plan.Env, s.given()); err != nil {
		return nil, err
	}
	if number == 1 {
		s.firstEnv = slices.Clone(plan.Env)
	}
	s.tag(&plan)
	s.mu.Lock()
	s.number = number
	s.mu.Unlock()
	if err := s.saveShell(); err != nil { // before it runs: a later server must not use the number again
		return nil, err
	}
	return bash.Start(ctx, s.processConfig(), number, plan, restore)
}

// tag marks the processes of a plan as the shell's.
func (s *Shell) tag(p *proc.Plan) {
	proctree.Tag(p, s.spec.Dir)
	p.Env = pty.WithIdentity(p.Env, s.config.Identity)
}

// cwdOf is the directory of a process of the shell, by the name that was last known as long as it is one of it.
func (s *Shell) cwdOf(p *bash.Process) string {
	known := s.cwdNow()
	if now, err := p.Cwd(); err == nil {
		return proc.LogicalDir(known, now)
	}
	return known
}

// Directory is where a command with Command.Cwd would begin now: absolute and with all links followed, as far as there
// is such a directory. At a provider no links are followed.
func (s *Shell) Directory(cwd string) string {
	s.mu.Lock()
	p := s.proc
	s.mu.Unlock()
	return s.directory(p, cwd)
}

// directory is Directory of a shell whose process is p.
func (s *Shell) directory(p *bash.Process, cwd string) string {
	if s.remote() {
		return Join(s.cwdNow(), cwd)
	}
	return Resolve(s.cwdOf(p), cwd)
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
