package keeper

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/pty/keeper/protocol"
)

// Start runs s on a new terminal that the keeper holds under id, as pty.Start does: the terminal, the pipe and the plan
// are made here, the keeper forks. Many starts may run at once. Without a keeper it waits for one for awayTimeout.
//
// A failed Start leaves nothing; when the connection broke in the middle, a program that was started nevertheless gets
// SIGHUP as soon as keeper and client meet again. Errors: as pty.Start, with the error number that the keeper's
// kernel gave; ErrTaken, ErrNoKeeper, ErrClosed; pty.ErrUnsupported, also when the keeper is an old one that could not
// be replaced and cannot confine programs.
func (c *Client) Start(id string, s pty.Spec) (*Held, error) {
	err := checkHold(id, 0)
	var plan proc.Plan
	if err == nil {
		plan, err = s.Plan()
	}
	if err == nil {
		err = c.enter()
	}
	if err != nil {
		return nil, fmt.Errorf("keeper: start: %w", err)
	}
	defer c.exit()
	parts, err := prepare(plan, s.Cols, s.Rows)
	if err != nil {
		return nil, fmt.Errorf("keeper: start: %w", err)
	}
	k, err := c.startWith(id, plan, parts)
	parts.close(err != nil)
	if err != nil {
		return nil, fmt.Errorf("keeper: start %q: %w", s.Argv[0], err)
	}
	return k, nil
}

// enter waits until a start may be on its way, which then ends with exit. Errors: ErrClosed.
func (c *Client) enter() error {
	select {
	case c.starts <- struct{}{}:
		return nil
	case <-c.ctx.Done():
		return ErrClosed
	}
}

func (c *Client) exit() { <-c.starts }

// startParts are the files of a start.
type startParts struct {
	plan, tty *os.File
	master    *pty.Master
	pipe      *pty.Pipe
}

// prepare opens a terminal of the size, its pipe, and the file with the plan.
func prepare(plan proc.Plan, cols, rows int) (*startParts, error) {
	var p startParts
	var err error
	if p.master, p.tty, err = pty.OpenPair(cols, rows); err != nil {
		return nil, err
	}
	if p.pipe, err = pty.NewPipe(); err == nil {
		p.plan, err = protocol.WritePlan(plan)
	}
	if err != nil {
		p.close(true)
		return nil, err
	}
	return &p, nil
}

// close closes the files that only the keeper needs from now on, and the others too after a failure.
func (p *startParts) close(failed bool) {
	_ = p.tty.Close()
	if p.plan != nil {
		_ = p.plan.Close()
	}
	if !failed {
		return
	}
	_ = p.master.Close()
	if p.pipe != nil {
		_ = p.pipe.Close()
	}
}

// startWith sends the parts and waits for the answer.
func (c *Client) startWith(id string, plan proc.Plan, parts *startParts) (*Held, error) {
	l, err := c.await()
	if err == nil {
		err = l.knows(plan)
	}
	if err != nil {
		return nil, err
	}
	call := l.begin(protocol.OpStart, id)
	call.parts = parts
	err = parts.descriptors(func(files []int) error {
		return l.Conn.Send(protocol.Packet{Op: protocol.OpStart, Number: call.number, ID: id, Tag: plan.Tag,
			Reports: plan.Reports}, files...)
	})
	if err = c.answer(l, call, err); err != nil {
		return nil, err
	}
	return call.terminal, nil
}

// answer waits for the answer to a request that was sent with err as the result.
func (c *Client) answer(l *link, call *call, err error) error {
	if err != nil {
		l.Close() // a packet that did not go out in time: the keeper is stuck, and whether this one arrives is open
		c.abandon(l, call)
		return fmt.Errorf("%w: %w", ErrNoKeeper, err)
	}
	timeout := time.NewTimer(answerTimeout)
	defer timeout.Stop()
	select {
	case <-call.done:
	case <-timeout.C:
		if c.abandon(l, call) {
			return fmt.Errorf("%w: no answer in %v", ErrNoKeeper, answerTimeout)
		}
		<-call.done
	}
	return call.err
}

// descriptors calls f with what the keeper receives, in the order of the protocol.
func (p *startParts) descriptors(f func(files []int) error) error {
	// Fd makes the far end blocking, as the program expects of its standard files.
	files := []int{int(p.plan.Fd()), int(p.tty.Fd())}
	return withTerminal(p.master, p.pipe, func(hold []int) error { return f(append(files, hold...)) })
}

// withTerminal calls f with the descriptors of a terminal that a keeper holds, which stay open meanwhile: master, the
// pipe's reading end, its writing end.
func withTerminal(m *pty.Master, p *pty.Pipe, f func(hold []int) error) error {
	return proc.Control(m.SyscallConn(), func(fd int) error {
		return p.Control(func(r, w int) error { return f([]int{fd, r, w}) })
	})
}

// Release tells the keeper that the end of id is known here, or that its files are not needed: it closes its
// descriptors and forgets it. A program that still runs in a terminal gets SIGHUP once the caller has closed that too.
// It returns when the request is on its way; while there is no keeper it is kept for the next.
func (c *Client) Release(id string) {
	c.mu.Lock()
	c.held.remove(id)
	l := c.link
	if l == nil {
		c.held.addReleased(id)
		c.mustRepeat = true
	}
	c.mu.Unlock()
	if l == nil {
		return
	}
	call := l.begin(protocol.OpRelease, id)
	if err := l.Conn.Send(protocol.Packet{Op: protocol.OpRelease, Number: call.number, ID: id}); err != nil {
		l.Close()
		c.abandon(l, call)
	}
}

// await returns the connection to a keeper. It waits up to awayTimeout for one. Errors: ErrNoKeeper, ErrClosed.
func (c *Client) await() (*link, error) {
	ctx, cancel := context.WithTimeout(c.ctx, awayTimeout)
	defer cancel()
	changed, stop := c.changes.Watch()
	defer stop()
	for {
		c.mu.Lock()
		l, lastErr := c.link, c.lastErr
		c.mu.Unlock()
		switch {
		case c.ctx.Err() != nil:
			return nil, ErrClosed
		case l != nil:
			return l, nil
		case ctx.Err() != nil:
			return nil, fmt.Errorf("%w: %w", ErrNoKeeper, lastErr)
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}
