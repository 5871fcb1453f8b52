package ssh

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/evertty/evertty/internal/provider"
)

// host is one machine with its connections.
type host struct {
	user, address string
	login         *login

	slots   chan struct{} // one value per channel in use
	dialing chan struct{} // holds one value while a connection is made
	ended   chan struct{} // closed by close

	mu     sync.Mutex // a leaf
	conns  []*connection
	closed bool
	loops  sync.WaitGroup
}

func newHost(name, address string, login *login) *host {
	return &host{user: name, address: address, login: login, ended: make(chan struct{}),
		slots: make(chan struct{}, maxChannels*maxConnections), dialing: make(chan struct{}, 1)}
}

// String is user@host:port.
func (h *host) String() string { return h.user + "@" + h.address }

func (h *host) close() {
	h.mu.Lock()
	if !h.closed {
		h.closed = true
		close(h.ended)
	}
	conns := slices.Clone(h.conns)
	h.mu.Unlock()
	for _, c := range conns {
		_ = c.client.Close()
	}
	h.loops.Wait()
}

// acquire is a connection with room for one more channel, a new one when there is none; fresh says
// that this call made it. release gives the room back. Errors: as dial, ctx.Err(); all with
// ErrNotStarted.
func (h *host) acquire(ctx context.Context) (c *connection, fresh bool, release func(), err error) {
	select {
	case h.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, false, nil, fmt.Errorf("%w: %w", provider.ErrNotStarted, context.Cause(ctx))
	}
	c, fresh, err = h.connected(ctx)
	if err != nil {
		<-h.slots
		return nil, false, nil, fmt.Errorf("%w: %w", provider.ErrNotStarted, err)
	}
	return c, fresh, func() {
		h.mu.Lock()
		c.open--
		c.used = time.Now()
		h.mu.Unlock()
		<-h.slots
	}, nil
}

// connected is acquire without the slot.
func (h *host) connected(ctx context.Context) (c *connection, fresh bool, err error) {
	if c := h.free(); c != nil {
		return c, false, nil
	}
	select {
	case h.dialing <- struct{}{}:
		defer func() { <-h.dialing }()
	case <-ctx.Done():
		return nil, false, context.Cause(ctx)
	}
	if c := h.free(); c != nil { // made meanwhile
		return c, false, nil
	}
	client, socket, err := h.dial(ctx)
	if err != nil {
		return nil, false, err
	}
	c = &connection{client: client, socket: socket, open: 1, used: time.Now(), dead: make(chan struct{}),
		ends: make(chan struct{}, maxEndChannels)}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		_ = client.Close()
		return nil, false, errors.New("ssh: closed")
	}
	h.conns = append(h.conns, c)
	h.loops.Go(func() { h.watch(c) })
	h.loops.Go(func() { c.keep(h) })
	return c, true, nil
}

// free is a connection that has room, which it takes; nil when there is none. It may have ended
// without anybody having noticed yet.
func (h *host) free() *connection {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.conns {
		if c.open < maxChannels && !c.socket.gone.Load() {
			c.open++
			return c
		}
	}
	return nil
}
