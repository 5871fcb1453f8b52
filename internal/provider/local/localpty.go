package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"sync"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/pty"
)

// localPTY is a terminal of this machine. Its tree belongs to the instance.
type localPTY struct {
	*pty.Process
	ctx    context.Context // ends with Close, so that a Write which waits ends too
	cancel context.CancelFunc
	once   sync.Once
	err    error
}

// OpenPTY starts a program on a terminal, a login shell when none is given. Its environment is that of [pty.Start].
func (l *Provider) OpenPTY(_ context.Context, id string, r provider.PTYRequest) (provider.PTY, error) {
	i, err := l.running(id)
	if err != nil {
		return nil, err
	}
	if len(r.Argv) == 0 {
		r.Argv = []string{cmp.Or(os.Getenv("SHELL"), "bash"), "-l"}
	}
	env := maps.Clone(i.env)
	if env == nil {
		env = map[string]string{}
	}
	maps.Copy(env, r.Env)
	p, err := pty.Start(pty.Spec{Argv: r.Argv, Dir: l.path(r.Cwd), Env: env, Cols: r.Cols, Rows: r.Rows})
	if err != nil {
		return nil, fmt.Errorf("local: %w: %w", provider.ErrProvider, err)
	}
	if tree, ok := proc.TreeOf(p.PID()); ok {
		l.keep(i, tree)
		go func() {
			<-p.Done()
			l.reaped(i, tree)
		}()
	}
	t := &localPTY{Process: p}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	return t, nil
}

// Read ends when Exit is known: the end of the output is, an instant before.
func (t *localPTY) Read(buf []byte) (int, error) {
	n, err := t.Process.Read(buf)
	if errors.Is(err, io.EOF) {
		<-t.Done()
	}
	return n, err
}

// Write waits for a program that does not read until Close.
func (t *localPTY) Write(data []byte) (int, error) { return t.Process.Write(t.ctx, data) }

func (t *localPTY) Resize(_ context.Context, cols, rows int) error {
	if err := t.Process.Resize(cols, rows); err != nil {
		return fmt.Errorf("local: %w: %w", provider.ErrProvider, err)
	}
	return nil
}

// Exit is known when the output was read to its end.
func (t *localPTY) Exit() (code int, known bool) {
	select {
	case <-t.Done():
		exit, _ := t.Wait(context.Background())
		return exit.Code, exit.Code >= 0
	default:
		return 0, false
	}
}

// Close sends SIGHUP to the whole tree, and SIGKILL to what is left of it half a second later.
func (t *localPTY) Close() error {
	t.once.Do(func() {
		t.cancel()
		grace, cancel := context.WithTimeout(context.Background(), localGrace)
		defer cancel()
		if err := t.Kill(grace); err != nil {
			t.err = fmt.Errorf("local: %w: %w", provider.ErrProvider, err)
		}
		_ = t.Process.Close()
	})
	return t.err
}
