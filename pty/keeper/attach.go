package keeper

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/evertty/evertty/pty"
)

// run reads what the keeper says and gets another one when it is gone. It ends with Close.
func (c *Client) run(l *link) {
	defer close(c.done)
	for l != nil {
		err := c.read(l)
		l.close()
		c.lost(l, err)
		l = c.regain()
	}
}

// read handles packets until the link breaks.
func (c *Client) read(l *link) error {
	for {
		p, err := l.receive()
		if err == nil {
			err = c.handle(l, p)
		}
		if err != nil {
			return err
		}
	}
}

// lost notes that the link is over and fails the calls that wait on it.
func (c *Client) lost(l *link, err error) {
	if c.gone.Err() != nil {
		err = ErrClosed
	} else {
		err = fmt.Errorf("%w: connection to process %d: %w", ErrNoKeeper, l.pid, err)
		c.log.Warn("the keeper is gone", "pid", l.pid, "err", err)
	}
	c.mu.Lock()
	c.link, c.trouble = nil, err
	c.changed()
	calls := l.finish()
	for _, call := range calls {
		if call.op == opStart || call.op == opRelease {
			c.drop[call.id] = true
		}
	}
	c.mu.Unlock()
	for _, call := range calls {
		call.err = err
		close(call.done)
	}
}

// changed wakes those who wait for a keeper. The lock is held.
func (c *Client) changed() {
	close(c.change)
	c.change = make(chan struct{})
}

// regain gets a keeper again, nil when the client was closed.
func (c *Client) regain() *link {
	for c.gone.Err() == nil {
		ctx, cancel := context.WithTimeout(c.gone, connectTimeout)
		l, err := c.attach(ctx)
		cancel()
		if err == nil {
			c.log.Info("there is a keeper again", "pid", l.pid)
			return l
		}
		c.mu.Lock()
		c.trouble = err
		c.mu.Unlock()
		c.orphan()
		select {
		case <-time.After(regainPause):
		case <-c.gone.Done():
		}
	}
	return nil
}

// attach finds or starts a keeper and settles with it. A keeper that dies meanwhile, as one that becomes a program that is none, is followed by another.
func (c *Client) attach(ctx context.Context) (*link, error) {
	for try := 1; ; try++ {
		l, err := c.find(ctx)
		if err != nil {
			return nil, err
		}
		if l, err = c.join(ctx, l); err == nil || ctx.Err() != nil || try == maxFailedLaunches {
			return l, err
		}
		c.log.Warn("the keeper went away", "err", err)
	}
}

// join makes the keeper hold what this client has, takes what it holds, and replaces it when it is of another release.
func (c *Client) join(ctx context.Context, l *link) (*link, error) {
	// A keeper that stops in the middle must not stop this one.
	stop := context.AfterFunc(ctx, l.close)
	err := c.settle(l)
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		l.close()
		c.lostEarly(l)
		return nil, fmt.Errorf("%w: process %d: %w", ErrNoKeeper, l.pid, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone.Err() != nil { // Close does not see this link
		l.close()
		return nil, ErrClosed
	}
	c.link, c.trouble = l, nil
	c.changed()
	return l, nil
}

// lostEarly notes that a keeper went away while it was being settled with, which matters to releases.
func (c *Client) lostEarly(l *link) {
	calls := l.finish()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, call := range calls {
		if call.op == opRelease {
			c.drop[call.id] = true
		}
	}
}

// settle brings keeper and client to the same knowledge.
func (c *Client) settle(l *link) error {
	if l.version != protocolVersion {
		if err := c.upgrade(l); err != nil {
			return err
		}
	}
	if l.version != protocolVersion {
		return fmt.Errorf("%w: version %d, this is %d", ErrVersion, l.version, protocolVersion)
	}
	if l.born != c.born {
		c.orphan()
	}
	c.born = l.born
	if err := c.dropAll(l); err != nil {
		return err
	}
	if err := c.adoptAll(l); err != nil {
		return err
	}
	if !c.took {
		if err := l.ask(c, packet{Op: opTake}); err != nil {
			return err
		}
		c.took = true
	}
	return c.upgrade(l)
}

// orphan tells all children that nobody reaps them for us any more.
func (c *Client) orphan() {
	for _, k := range c.all() {
		if k.exit == nil {
			k.Process.Child().Orphaned()
		}
	}
}

// all are copies of what is held.
func (c *Client) all() []keeping {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := make([]keeping, 0, len(c.held))
	for _, k := range c.held {
		list = append(list, *k)
	}
	return list
}

// dropAll releases what the keeper may hold for nobody.
func (c *Client) dropAll(l *link) error {
	c.mu.Lock()
	ids := c.drop
	c.drop = map[string]bool{}
	c.mu.Unlock()
	for id := range ids {
		if err := l.ask(c, packet{Op: opRelease, ID: id}); err != nil {
			c.mu.Lock()
			for id := range ids {
				c.drop[id] = true // again, which does no harm
			}
			c.mu.Unlock()
			return err
		}
	}
	return nil
}

// adoptAll hands everything over. The keeper that has it already says so.
func (c *Client) adoptAll(l *link) error {
	for _, k := range c.all() {
		err := k.descriptors(func(files []int) error {
			return l.ask(c, packet{Op: opAdopt, ID: k.ID, PID: k.Process.PID(), Exit: wireExit(k.exit)}, files...)
		})
		var refused *failure
		switch {
		case errors.Is(err, pty.ErrClosed) || errors.Is(err, errGone):
			continue // its owner is done with it
		case errors.As(err, &refused):
			c.log.Warn("the keeper does not take a terminal", "id", k.ID, "err", err)
		case err != nil:
			return err
		}
	}
	return nil
}

// errGone means that the pidfd of a child is closed: it was waited for.
var errGone = errors.New("child was waited for")

// descriptors calls f with what a keeper holds of a terminal.
func (k keeping) descriptors(f func(files []int) error) error {
	return withHold(k.Process.Master(), k.Pipe, func(hold []int) error {
		conn := k.Process.Child().SyscallConn()
		var inner, err error
		if k.exit != nil {
			conn, err = k.pidfd.SyscallConn() // fails for nil, too
		}
		if err == nil {
			err = conn.Control(func(pidfd uintptr) { inner = f(append([]int{int(pidfd)}, hold...)) })
		}
		if err != nil {
			return errGone
		}
		return inner
	})
}

// upgrade asks a keeper of another release to become ours. One that cannot goes on as it is.
func (c *Client) upgrade(l *link) error {
	if l.release == c.config.Release && l.version == protocolVersion {
		return nil
	}
	old := l.release
	err := l.ask(c, packet{Op: opUpgrade, Argv: c.config.Command})
	var refused *failure
	switch {
	case errors.As(err, &refused):
		c.log.Warn("the keeper stays what it is", "pid", l.pid, "release", old, "wanted", c.config.Release, "err", err)
		return nil
	case err != nil:
		return err
	}
	c.log.Info("the keeper was replaced", "pid", l.pid, "from", old, "to", l.release)
	return nil
}
