package keeper

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/pty/keeper/protocol"
)

// run reads what the keeper says and gets another one when it is gone. It ends with Close.
func (c *Client) run(l *link) {
	defer close(c.done)
	for l != nil {
		err := c.read(l)
		l.Close()
		c.lost(l, err)
		l = c.reconnect()
	}
}

// read handles packets until the link breaks.
func (c *Client) read(l *link) error {
	for {
		p, err := l.Receive()
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
		if call.begins() || call.op == protocol.OpRelease {
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

// reconnect gets a keeper again, nil when the client was closed.
func (c *Client) reconnect() *link {
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

// attach finds or starts a keeper and settles with it. A keeper that dies meanwhile, as one that becomes a program that
// is none, is followed by another.
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
	stop := context.AfterFunc(ctx, l.Close)
	err := c.settle(l)
	ready := false
	for err == nil && !ready {
		if ready, err = c.use(ctx, l, stop); err == nil && !ready {
			err = c.repeat(l)
		}
	}
	if err != nil {
		stop()
		l.Close()
		c.lostEarly(l)
		return nil, fmt.Errorf("%w: process %d: %w", ErrNoKeeper, l.pid, err)
	}
	return l, nil
}

// use gives the link to all who wait for one, unless there is something that the keeper was not told yet; stop is that
// of join. Errors: ErrClosed, the reason of ctx.
func (c *Client) use(ctx context.Context, l *link, stop func() bool) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.late:
		return false, nil
	case !stop():
		return false, context.Cause(ctx)
	case c.gone.Err() != nil: // Close does not see this link
		return false, ErrClosed
	}
	c.link, c.last, c.trouble = l, l.pid, nil
	c.changed()
	return true, nil
}

// lostEarly notes that a keeper went away while it was being settled with, which matters to releases.
func (c *Client) lostEarly(l *link) {
	calls := l.finish()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, call := range calls {
		if call.op == protocol.OpRelease {
			c.drop[call.id] = true
		}
	}
}

// settle brings keeper and client to the same knowledge.
func (c *Client) settle(l *link) error {
	if l.version != protocol.Version {
		if err := c.upgrade(l); err != nil {
			return err
		}
	}
	if l.version != protocol.Version {
		return fmt.Errorf("%w: version %d, this is %d", ErrVersion, l.version, protocol.Version)
	}
	if l.born != c.born {
		c.orphan()
	}
	c.born = l.born
	if err := c.repeat(l); err != nil {
		return err
	}
	if !c.took {
		if err := l.ask(c, protocol.Packet{Op: protocol.OpTake}); err != nil {
			return err
		}
		c.took = true
	}
	return c.upgrade(l)
}

// repeat brings the keeper up to date with Release, Hold and what is held. What was released may be held again under
// the same id: that comes after it.
func (c *Client) repeat(l *link) error {
	c.mu.Lock()
	c.late = false
	c.mu.Unlock()
	if err := c.dropAll(l); err != nil {
		return err
	}
	return c.adoptAll(l)
}

// orphan tells all children that nobody reaps them for us any more.
func (c *Client) orphan() {
	for _, k := range c.all() {
		if k.child != nil && k.exit == nil {
			k.child.Orphaned()
		}
	}
}

// all are copies of what is held.
func (c *Client) all() []entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := make([]entry, 0, len(c.held))
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
		if err := l.ask(c, protocol.Packet{Op: protocol.OpRelease, ID: id}); err != nil {
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
		p := protocol.Packet{Op: protocol.OpAdopt, ID: k.id, Kind: k.kind, PID: l.pid, Exit: (*protocol.Exit)(k.exit)}
		if k.child != nil {
			p.PID = k.child.PID()
		}
		err := c.descriptors(k, func(files []int) error { return l.ask(c, p, files...) })
		var refused *protocol.Failure
		switch {
		case errors.Is(err, pty.ErrClosed), errors.Is(err, errGone): // its owner is done with it
		case errors.As(err, &refused):
		case err != nil:
			return err
		}
	}
	return nil
}

// errGone means that the pidfd of a child is closed, for it was waited for; or that it was released.
var errGone = errors.New("not held any more")

// descriptors calls f with what a keeper holds of a thing.
func (c *Client) descriptors(k entry, f func(files []int) error) error {
	return c.withHeld(k, func(hold []int) error {
		if k.child == nil {
			return f(hold)
		}
		conn := k.child.SyscallConn()
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

// withHeld calls f with the descriptors without the pidfd, which stay open meanwhile.
func (c *Client) withHeld(k entry, f func(hold []int) error) error {
	if k.terminal != nil {
		return withHold(k.terminal.Process.Master(), k.terminal.Pipe, f)
	}
	c.mu.Lock()
	files, err := []int(nil), errGone
	if now := c.held[k.id]; now != nil && now.kind == k.kind && now.child == k.child {
		files, err = duplicates(now.files)
	}
	c.mu.Unlock()
	if err != nil {
		return err
	}
	defer protocol.CloseFiles(files)
	return f(files)
}

// upgrade asks a keeper of another release to become ours. One that cannot goes on as it is.
func (c *Client) upgrade(l *link) error {
	if l.release == c.config.Release && l.version == protocol.Version && l.programs {
		return nil
	}
	old := l.release
	err := l.ask(c, protocol.Packet{Op: protocol.OpUpgrade, Argv: c.config.Command})
	var refused *protocol.Failure
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
