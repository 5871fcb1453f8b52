package provider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/evertty/evertty/pty"
)

// scriptLine is what bash is given as its command: the script comes on descriptor 3, where it may have any length and ps does not show it. bash reads it
// to its end before eval begins, and the command does not get the descriptor.
const scriptLine = `eval "$(</dev/fd/3)" 3<&-`

// Exec runs a command with a bash in a session of its own, with the environment of a terminal's program. What it leaves in the background goes on and belongs to the instance; of its
// output no more is read 250 ms after the bash has ended, but all that was written before the bash ended. When ctx or the timeout ends, all of its tree is killed.
func (l *Local) Exec(ctx context.Context, id string, r ExecRequest, stdout, stderr io.Writer) (ExecResult, error) {
	i, err := l.running(id)
	if err != nil {
		return ExecResult{}, fmt.Errorf("%w: %w", ErrNotStarted, err)
	}
	cmd, script, err := l.command(i, r)
	if err != nil {
		return ExecResult{}, err
	}
	defer script.Close()
	waiting, cancel := limited(ctx, r.Timeout)
	defer cancel()
	waiting, fail := context.WithCancelCause(waiting)
	defer fail(nil)
	pipes, err := openPipes(cmd, r.Stdin, guarded{stdout, fail}, guarded{stderr, fail})
	if err != nil {
		return ExecResult{}, fmt.Errorf("local: %w: %w: %w", ErrNotStarted, ErrProvider, err)
	}
	defer pipes.close()
	return l.run(ctx, waiting, i, cmd, pipes)
}

// run starts, keeps and reaps the bash of one Exec.
func (l *Local) run(ctx, waiting context.Context, i *localInstance, cmd *exec.Cmd, pipes *localPipes) (ExecResult, error) {
	if waiting.Err() != nil {
		return ExecResult{}, fmt.Errorf("%w: %w", ErrNotStarted, context.Cause(waiting))
	}
	if err := cmd.Start(); err != nil {
		return ExecResult{}, fmt.Errorf("local: %w: %w: %w", ErrNotStarted, ErrProvider, err)
	}
	pipes.begin()
	tree, _ := pty.TreeOf(cmd.Process.Pid)
	l.keep(i, tree)
	ended := make(chan struct{})
	stop := context.AfterFunc(waiting, func() {
		defer close(ended)
		grace, cancel := context.WithTimeout(context.Background(), localGrace)
		defer cancel()
		_ = pty.KillTrees(grace, []pty.Tree{tree})
	})
	err := cmd.Wait()
	l.reaped(i, tree)
	pipes.end(localDrain)
	if !stop() {
		<-ended
		return stopped("local", ctx, waiting)
	}
	return exitResult(cmd, err)
}

// guarded is a writer of a caller; when it fails the command has nobody to talk to any more.
type guarded struct {
	w    io.Writer
	fail context.CancelCauseFunc
}

func (g guarded) Write(p []byte) (int, error) {
	n, err := g.w.Write(p)
	if err != nil {
		g.fail(fmt.Errorf("output: %w", err))
	}
	return n, err
}

// stopped is what becomes of a command that was ended before its end: ctx is its caller's, waiting the one that ends with the timeout and by guarded too.
func stopped(name string, ctx, waiting context.Context) (ExecResult, error) {
	if err := context.Cause(waiting); ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return ExecResult{ExitCode: -1, TimedOut: true}, nil
	}
	return ExecResult{}, fmt.Errorf("%s: %w", name, context.Cause(waiting))
}

// exitResult is how a command ended.
func exitResult(cmd *exec.Cmd, err error) (ExecResult, error) {
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return ExecResult{}, fmt.Errorf("local: %w", err)
	}
	status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return ExecResult{ExitCode: signalBase + int(status.Signal())}, nil
	}
	return ExecResult{ExitCode: status.ExitStatus()}, nil
}

// signalBase is what shells add to the number of the signal that ended a command.
const signalBase = 128

// keep makes a tree one of an instance's.
func (l *Local) keep(i *localInstance, t pty.Tree) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i.trees = append(i.trees, t)
}

// reaped says that the root of a tree was reaped.
func (l *Local) reaped(i *localInstance, t pty.Tree) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for n := range i.trees {
		if i.trees[n].Root() == t.Root() {
			i.trees[n] = i.trees[n].Reaped()
		}
	}
}

// command is the bash of a request and the file that its script is in.
func (l *Local) command(i *localInstance, r ExecRequest) (*exec.Cmd, *os.File, error) {
	text, err := commandScript(r)
	if err != nil {
		return nil, nil, err
	}
	plan, err := pty.Spec{Argv: []string{"bash", "-c", scriptLine}, Dir: l.cfg.Dir, Env: i.env}.Plan()
	if err != nil {
		return nil, nil, fmt.Errorf("local: %w: %w: %w", ErrNotStarted, ErrProvider, err)
	}
	script, err := unnamed(text)
	if err != nil {
		return nil, nil, fmt.Errorf("local: %w: %w: %w", ErrNotStarted, ErrProvider, err)
	}
	cmd := &exec.Cmd{Path: plan.Path, Args: plan.Argv, Env: plan.Env, Dir: plan.Dir, ExtraFiles: []*os.File{script},
		SysProcAttr: &syscall.SysProcAttr{Setsid: true}}
	return cmd, script, nil
}

// unnamed is a file with a text that no directory has.
func unnamed(text string) (*os.File, error) {
	f, err := os.CreateTemp("", ".evertty-*")
	if err != nil {
		return nil, err
	}
	err = os.Remove(f.Name())
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// limited is ctx with a timeout, 0 for none.
func limited(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, d)
}
