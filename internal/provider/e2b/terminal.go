package e2b

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/service"
	"github.com/evertty/evertty/internal/provider/wait"
)

const (
	reconnects     = 3                      // in a row, until a terminal's connection counts as lost
	reconnectPause = 100 * time.Millisecond // before the first, then doubled
)

// OpenPTY runs a program on a terminal: the login shell, or r.Argv.
func (e *Provider) OpenPTY(ctx context.Context, id string, r provider.PTYRequest) (provider.PTY, error) {
	in := startRequest{PTY: sizeOf(r.Cols, r.Rows), Tag: newTag()}
	in.Process.Cmd, in.Process.Args = "/bin/bash", []string{"-i", "-l"}
	if len(r.Argv) > 0 {
		in.Process.Cmd, in.Process.Args = r.Argv[0], r.Argv[1:]
	}
	in.Process.Cwd = cmp.Or(r.Cwd, e.c.Cwd)
	in.Process.Envs = map[string]string{"TERM": "xterm-256color", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}
	maps.Copy(in.Process.Envs, r.Env)
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	early := context.AfterFunc(ctx, end)
	f, pid, err := e.begin(life, id, in)
	if !early() && err == nil {
		f.close()
		e.endTree(context.WithoutCancel(ctx), id, pid, "KILL")
		err = context.Cause(ctx)
	} else if err != nil && (ctx.Err() != nil || !errors.Is(err, provider.ErrNotStarted)) { // its number is not known
		killing, cancel := wait.CleanupContext(ctx)
		defer cancel()
		e.killUnheard(killing, id, in.Tag)
	}
	if err != nil {
		end()
		if ctx.Err() != nil {
			err = fmt.Errorf("e2b: %w", context.Cause(ctx))
		}
		return nil, err
	}
	return service.NewTerminal(&connection{e: e, id: id, pid: pid, life: life, end: end, frames: f, size: in.PTY}), nil
}

// connection is a terminal whose output is a stream and whose input goes in calls.
type connection struct {
	e      *Provider
	id     string
	pid    int
	life   context.Context // of the stream and the calls
	end    context.CancelFunc
	frames *frames // of Receive and Close

	mu   sync.Mutex
	size *terminalSize
}

// Receive returns the next output. A stream that ends before the program is opened again. Output in
// between is lost, so the program is asked to draw its screen again.
func (c *connection) Receive() ([]byte, error) {
	for failed := 0; ; {
		var ev event
		err := c.frames.next(&ev)
		if err != nil {
			if failed++; c.reconnect(err, failed) {
				continue
			}
			return nil, err
		}
		failed = 0
		c.e.extend(c.life, c.id)
		switch {
		case ev.Event.End != nil:
			return nil, &service.Exited{Code: ev.Event.End.code()}
		case ev.Event.Data != nil:
			return ev.Event.Data.PTY, nil
		}
	}
}

// reconnect opens the stream again; false when that is useless.
func (c *connection) reconnect(err error, failed int) bool {
	if !errors.Is(err, provider.ErrUnreachable) || failed > reconnects || !wait.Sleep(c.life, reconnectPause<<failed) {
		return false
	}
	base, h, err := c.e.daemon(c.life, c.id)
	if err != nil {
		return false
	}
	f, err := openStream(c.life, c.e.Client, base+"/process.Process/Connect", h,
		map[string]any{"process": processRef{PID: c.pid}})
	if err != nil {
		return true // the next message of the old one fails again, and is counted
	}
	c.frames.close()
	c.frames = f
	c.mu.Lock()
	s := *c.size
	c.mu.Unlock()
	_ = c.update(c.life, sizeOf(s.Size.Cols, s.Size.Rows+1))
	_ = c.update(c.life, &s)
	return true
}

// Send sends input.
func (c *connection) Send(input []byte) error {
	in := map[string]any{"process": processRef{PID: c.pid}, "input": map[string][]byte{"pty": input}}
	return service.InstanceExists(
		c.e.unary(c.life, c.id, "process.Process/SendInput", false, service.InputTimeout, in, nil))
}

// Resize changes the size.
func (c *connection) Resize(ctx context.Context, cols, rows int) error {
	s := sizeOf(cols, rows)
	c.mu.Lock()
	c.size = s
	c.mu.Unlock()
	return service.InstanceExists(c.update(ctx, s))
}

func (c *connection) update(ctx context.Context, s *terminalSize) error {
	in := map[string]any{"process": processRef{PID: c.pid}, "pty": s}
	return c.e.unary(ctx, c.id, "process.Process/Update", true, 0, in, nil)
}

// Kill ends the program, with a hangup first.
func (c *connection) Kill() {
	ctx, cancel := wait.CleanupContext(context.Background())
	defer cancel()
	c.e.endTree(ctx, c.id, c.pid, "HUP")
}

// Cancel ends the stream and the calls.
func (c *connection) Cancel() { c.end() }

// Close closes the stream.
func (c *connection) Close() { c.frames.close() }
