package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/bash"
	"github.com/evertty/evertty/internal/shell"
	"github.com/evertty/evertty/internal/shell/state"
)

const (
	// askPause is the time between two looks for the answer to a question, and askLimit how long
	// one is waited for: a server that is replaced takes seconds, an instance that is made again a
	// minute.
	askPause = 20 * time.Millisecond
	askLimit = 5 * time.Minute
	// codeCancelled is the code of a shell after SIGINT. codeFailed is never shown: the server
	// reports the failure instead.
	codeCancelled = 130
	codeFailed    = 255
)

// Exec has the command of a directory's job run and returns its exit code. When ctx ends, so does
// the command. A command that did not start is tried once more, on the compute that the server then
// names; no other is. One whose input has more than shell.MaxStdin bytes is not run: nothing is
// cut.
func Exec(ctx context.Context, dir string, in io.Reader, stdout, stderr io.Writer) int {
	j, err := takeJob(dir)
	if errors.Is(err, fs.ErrNotExist) {
		j, err = ask(ctx, dir) // a server that ended meanwhile
	}
	if err != nil || j.Command == nil {
		return failed(ctx, dir, noJob("command", err))
	}
	stdin, err := input(in)
	if err != nil {
		return failed(ctx, dir, err)
	}
	code, err := j.exec(ctx, stdin, stdout, stderr)
	if again := j.Command.Keep && ctx.Err() == nil && errors.Is(err, provider.ErrNotStarted); again {
		first := err
		if j, err = ask(ctx, dir); err != nil || j.Command == nil {
			return failed(ctx, dir, first)
		}
		code, err = j.exec(ctx, stdin, stdout, stderr)
	}
	if err != nil {
		return failed(ctx, dir, err)
	}
	return code
}

// input is all that a command will read. It is whole or an error.
func input(in io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(in, shell.MaxStdin+1))
	if err != nil {
		return nil, fmt.Errorf("relay: standard input: %w", err)
	}
	if len(b) > shell.MaxStdin {
		return nil, fmt.Errorf("relay: the command was not run: its standard input has more than %d bytes",
			shell.MaxStdin)
	}
	return b, nil
}

func failed(ctx context.Context, dir string, err error) int {
	if ctx.Err() != nil {
		return codeCancelled
	}
	writeFailure(dir, err)
	return codeFailed
}

// exec runs the command once. A command that leaves no state has a result all the same.
func (j Job) exec(ctx context.Context, stdin []byte, stdout, stderr io.Writer) (int, error) {
	c := j.Command
	before, err := state.LoadEnvironment(c.State)
	if err != nil {
		return 0, err
	}
	p, err := j.open()
	if err != nil {
		return 0, err
	}
	if closer, ok := p.(io.Closer); ok {
		defer closer.Close()
	}
	text := string(c.Text)
	if len(c.Cwd) > 0 {
		text = "\\builtin cd -- " + bash.Quote(string(c.Cwd)) + " || \\exit 1; " + text // as a local shell does it
	}
	now := bash.ShellState{Cwd: before.Cwd, Env: before.Delta, Unset: before.Unset}
	r, after, err := bash.ExecIn(ctx, p, j.Instance, now,
		provider.ExecRequest{Command: text, Env: texts(c.Env), Stdin: stdin}, stdout, stderr)
	if errors.Is(err, bash.ErrNoState) {
		return r.ExitCode, nil
	}
	if err != nil {
		return 0, err
	}
	if c.Keep {
		if len(c.Cwd) > 0 {
			after.Cwd = before.Cwd
		}
		err = state.SaveEnvironment(c.State, state.Environment{Cwd: after.Cwd, Delta: after.Env, Unset: after.Unset})
	}
	return r.ExitCode, err
}

// ask waits for another job. Errors: ctx.Err(), fs.ErrNotExist when there is none.
func ask(ctx context.Context, dir string) (j Job, err error) {
	if err := os.WriteFile(filepath.Join(dir, shell.RemoteAsk), nil, 0o600); err != nil {
		return j, err
	}
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	for {
		if j, err = takeJob(dir); !errors.Is(err, fs.ErrNotExist) {
			return j, err
		}
		if _, refused := os.Lstat(filepath.Join(dir, shell.RemoteRefused)); refused == nil {
			return j, err
		}
		select {
		case <-time.After(askPause):
		case <-ctx.Done():
			return j, context.Cause(ctx)
		}
	}
}
