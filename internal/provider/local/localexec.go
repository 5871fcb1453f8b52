package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/bash"
	"github.com/evertty/evertty/pty"
)

// scriptLine is what bash is given as its command: the script comes on descriptor 3, where it may have any length and ps does not show it. bash reads it
// to its end before eval begins, and the command does not get the descriptor.
const scriptLine = `eval "$(</dev/fd/3)" 3<&-`

// Exec runs a command with a bash in a session of its own, with the environment of a terminal's program. What it leaves in the background goes on and belongs to the instance; of its
// output no more is read 250 ms after the bash has ended, but all that was written before the bash ended. When ctx or the timeout ends, all of its tree is killed.
func (l *Provider) Exec(ctx context.Context, id string, r provider.ExecRequest, stdout, stderr io.Writer) (provider.ExecResult, error) {
	i, err := l.running(id)
	if err != nil {
		return provider.ExecResult{}, fmt.Errorf("%w: %w", provider.ErrNotStarted, err)
	}
	cmd, script, err := l.command(i, r)
	if err != nil {
		return provider.ExecResult{}, err
	}
	defer script.Close()
	a, end := bash.NewAttempt(ctx, r.Timeout, stdout, stderr)
	defer end()
	pipes, err := openPipes(cmd, r.Stdin, a.Stdout, a.Stderr)
	if err != nil {
		return provider.ExecResult{}, fmt.Errorf("local: %w: %w: %w", provider.ErrNotStarted, provider.ErrProvider, err)
	}
	defer pipes.close()
	return l.run(a, i, cmd, pipes)
}

// run starts, keeps and reaps the bash of one Exec.
func (l *Provider) run(a *bash.Attempt, i *instance, cmd *exec.Cmd, pipes *localPipes) (provider.ExecResult, error) {
	if a.Err() != nil {
		return provider.ExecResult{}, fmt.Errorf("%w: %w", provider.ErrNotStarted, context.Cause(a))
	}
	if err := cmd.Start(); err != nil {
		return provider.ExecResult{}, fmt.Errorf("local: %w: %w: %w", provider.ErrNotStarted, provider.ErrProvider, err)
	}
	pipes.begin()
	tree, _ := proc.TreeOf(cmd.Process.Pid)
	l.keep(i, tree)
	ended := make(chan struct{})
	stop := context.AfterFunc(a, func() {
		defer close(ended)
		grace, cancel := context.WithTimeout(context.Background(), localGrace)
		defer cancel()
		_ = proc.KillTrees(grace, []proc.Tree{tree})
	})
	err := cmd.Wait()
	l.reaped(i, tree)
	pipes.end(localDrain)
	if !stop() {
		<-ended
		return a.Interrupted("local")
	}
	return exitResult(cmd, err)
}

// exitResult is how a command ended.
func exitResult(cmd *exec.Cmd, err error) (provider.ExecResult, error) {
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return provider.ExecResult{}, fmt.Errorf("local: %w", err)
	}
	status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return provider.ExecResult{ExitCode: bash.SignalBase + int(status.Signal())}, nil
	}
	return provider.ExecResult{ExitCode: status.ExitStatus()}, nil
}

// keep makes a tree one of an instance's.
func (l *Provider) keep(i *instance, t proc.Tree) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i.trees = append(i.trees, t)
}

// reaped says that the root of a tree was reaped.
func (l *Provider) reaped(i *instance, t proc.Tree) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for n := range i.trees {
		if i.trees[n].Root() == t.Root() {
			i.trees[n] = i.trees[n].Reaped()
		}
	}
}

// command is the bash of a request and the file that its script is in.
func (l *Provider) command(i *instance, r provider.ExecRequest) (*exec.Cmd, *os.File, error) {
	text, err := bash.Script(r)
	if err != nil {
		return nil, nil, err
	}
	plan, err := pty.Spec{Argv: []string{"bash", "-c", scriptLine}, Dir: l.cfg.Dir, Env: i.env}.Plan()
	if err != nil {
		return nil, nil, fmt.Errorf("local: %w: %w: %w", provider.ErrNotStarted, provider.ErrProvider, err)
	}
	script, err := unnamed(text)
	if err != nil {
		return nil, nil, fmt.Errorf("local: %w: %w: %w", provider.ErrNotStarted, provider.ErrProvider, err)
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
