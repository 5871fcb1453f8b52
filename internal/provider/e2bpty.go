package provider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"sync"
)

// reattach is how often a terminal's connection is made anew in a row before it counts as lost.
const reattach = 3

// OpenPTY runs a program on a terminal: the login shell, or r.Argv.
func (e *E2B) OpenPTY(ctx context.Context, id string, r PTYRequest) (PTY, error) {
	in := e2bStartRequest{PTY: sizeOf(r.Cols, r.Rows)}
	in.Process.Cmd, in.Process.Args = "/bin/bash", []string{"-i", "-l"}
	if len(r.Argv) > 0 {
		in.Process.Cmd, in.Process.Args = r.Argv[0], r.Argv[1:]
	}
	in.Process.Cwd = or(r.Cwd, e.c.Cwd)
	in.Process.Envs = map[string]string{"TERM": "xterm-256color", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}
	maps.Copy(in.Process.Envs, r.Env)
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	early := context.AfterFunc(ctx, end)
	f, pid, err := e.begin(life, id, in)
	if !early() && err == nil {
		f.close()
		e.endTree(context.WithoutCancel(ctx), id, pid, false)
		err = context.Cause(ctx)
	}
	if err != nil {
		end()
		if ctx.Err() != nil {
			err = fmt.Errorf("e2b: %w", context.Cause(ctx))
		}
		return nil, err
	}
	return &e2bPTY{e: e, id: id, pid: pid, life: life, hangup: end, frames: f, size: in.PTY}, nil
}

// e2bPTY is a terminal whose output is a stream and whose input goes in calls.
type e2bPTY struct {
	e      *E2B
	id     string
	pid    int
	life   context.Context // of the stream and the calls
	hangup context.CancelFunc

	write   sync.Mutex // input stays in order
	closing sync.Once

	read   sync.Mutex // one reader at a time; guards frames and rest
	frames *frames
	rest   []byte

	mu     sync.Mutex
	size   *e2bSize
	end    error // what Read says from now on
	exit   int
	known  bool
	closed bool
}

// Read returns output. It ends with io.EOF when the program has; ErrUnreachable is a connection that could not be made anew. One that could has missed what was printed
// meanwhile, so the program is asked to draw its screen again.
func (p *e2bPTY) Read(b []byte) (int, error) {
	p.read.Lock()
	defer p.read.Unlock()
	for failed := 0; len(p.rest) == 0; {
		if err := p.ended(); err != nil {
			return 0, err
		}
		var ev e2bEvent
		err := p.frames.next(&ev)
		switch {
		case err != nil:
			if failed++; p.connect(err, failed) {
				continue
			}
			return 0, p.finish(err, nil)
		case ev.Event.End != nil:
			return 0, p.finish(io.EOF, ev.Event.End)
		case ev.Event.Data != nil:
			p.rest = ev.Event.Data.PTY
		}
		failed = 0
		p.e.extend(p.life, p.id)
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// connect makes the stream anew; false when that is of no use.
func (p *e2bPTY) connect(err error, failed int) bool {
	if !errors.Is(err, ErrUnreachable) || failed > reattach || !sleep(p.life, firstPause<<failed) {
		return false
	}
	base, h, err := p.e.daemon(p.life, p.id)
	if err != nil {
		return false
	}
	f, err := p.e.service.stream(p.life, base+"/process.Process/Connect", h, map[string]any{"process": e2bProcess{PID: p.pid}})
	if err != nil {
		return true // the next Read of the old one fails again, and is counted
	}
	p.frames.close()
	p.frames = f
	p.mu.Lock()
	s := *p.size
	p.mu.Unlock()
	_ = p.update(p.life, sizeOf(s.Size.Cols, s.Size.Rows+1))
	_ = p.update(p.life, &s)
	return true
}

func (p *e2bPTY) ended() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.end
}

func (p *e2bPTY) finish(err error, end *e2bEnd) error {
	p.frames.close()
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case end != nil:
		p.exit, p.known, p.end = end.code(), true, io.EOF
	case p.closed, errors.Is(err, ErrNotFound), errors.Is(err, io.EOF):
		p.end = io.EOF // it is over, though nobody said how
	default:
		p.end = fmt.Errorf("terminal: %w", err)
	}
	return p.end
}

// Write sends input, in order.
func (p *e2bPTY) Write(b []byte) (int, error) {
	p.write.Lock()
	defer p.write.Unlock()
	for sent := 0; sent < len(b); {
		n := min(len(b)-sent, ptyInput)
		in := map[string]any{"process": e2bProcess{PID: p.pid}, "input": map[string][]byte{"pty": b[sent : sent+n]}}
		if err := p.e.unary(p.life, p.id, "process.Process/SendInput", false, ptyWrite, in, nil); err != nil {
			return sent, stillThere(err)
		}
		sent += n
	}
	return len(b), nil
}

// Resize changes the size; the program gets SIGWINCH.
func (p *e2bPTY) Resize(ctx context.Context, cols, rows int) error {
	s := sizeOf(cols, rows)
	p.mu.Lock()
	p.size = s
	p.mu.Unlock()
	return stillThere(p.update(ctx, s))
}

func (p *e2bPTY) update(ctx context.Context, s *e2bSize) error {
	return p.e.unary(ctx, p.id, "process.Process/Update", true, 0, map[string]any{"process": e2bProcess{PID: p.pid}, "pty": s}, nil)
}

// Exit tells how the program ended, once Read has said so.
func (p *e2bPTY) Exit() (int, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.exit, p.known
}

// Close ends the program, with a hangup first, and the connection.
func (p *e2bPTY) Close() error {
	p.closing.Do(func() {
		p.mu.Lock()
		over := p.known
		p.closed = true
		p.mu.Unlock()
		if !over {
			ctx, cancel := context.WithTimeout(context.Background(), drainLimit)
			defer cancel()
			p.e.endTree(ctx, p.id, p.pid, true)
		}
		p.hangup()
		p.read.Lock()
		defer p.read.Unlock()
		p.frames.close()
	})
	return nil
}
