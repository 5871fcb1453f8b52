package ssh

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/evertty/evertty/internal/provider"
)

// connection is one connection. open and used are guarded by host.mu.
type connection struct {
	client *ssh.Client
	socket *socket
	open   int // channels
	used   time.Time
	dead   chan struct{} // closed when the connection has ended
	ends   chan struct{} // one value per channel that ends a command
}

// watch removes a connection when it has ended.
func (h *host) watch(c *connection) {
	_ = c.client.Wait()
	close(c.dead)
	h.remove(c)
}

func (h *host) remove(c *connection) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.conns = slices.DeleteFunc(h.conns, func(o *connection) bool { return o == c })
}

// keep asks the server now and then whether it is there, and closes the connection when it is not,
// or after idleLimit without use.
func (c *connection) keep(h *host) {
	for {
		select {
		case <-c.dead:
			return
		case <-time.After(keepaliveEvery):
		}
		h.mu.Lock()
		idle := c.open == 0 && time.Since(c.used) > idleLimit
		if idle {
			c.open = maxChannels // so that free does not return it
		}
		h.mu.Unlock()
		if idle {
			_ = c.client.Close()
			return
		}
		silent := time.AfterFunc(silenceLimit, func() { _ = c.client.Close() })
		_, _, _ = c.client.SendRequest("keepalive@openssh.com", true, nil)
		silent.Stop()
	}
}

// channelRequest is what a channel is asked for (RFC 4254 section 6.5): "exec" with a command line,
// "subsystem" with a name.
type channelRequest struct{ request, text string }

// session is connection.session on a connection with room. One from before may have ended without
// anybody having noticed yet: then the server has certainly not begun, and the call goes to
// another. The one that this call made itself is the last, for what fails at once would do so
// again. A connection's age does not tell these apart: a young one breaks like any other.
func (h *host) session(ctx context.Context, want channelRequest,
	prepare func(ssh.Channel) error) (*connection, func(), ssh.Channel, <-chan *ssh.Request, error) {
	for {
		conn, fresh, release, err := h.acquire(ctx)
		if err != nil {
			return nil, nil, nil, nil, err
		}
		ch, requests, err := conn.session(ctx, want, prepare)
		if err == nil {
			return conn, release, ch, requests, nil
		}
		release()
		if ctx.Err() != nil || !lost(err) {
			return nil, nil, nil, nil, err
		}
		h.discard(conn)
		if fresh {
			return nil, nil, nil, nil, err
		}
	}
}

// lost reports whether a connection ended before the server was asked for a command. A server that
// refuses a channel is there, and others' commands may run on that connection.
func lost(err error) bool {
	return errors.Is(err, provider.ErrNotStarted) && errors.Is(err, provider.ErrUnreachable) && !refused(err)
}

// refused reports whether a server opens no more channels on a connection now: it allows fewer, or
// has not noticed yet that others have ended.
func refused(err error) bool {
	_, is := errors.AsType[*ssh.OpenChannelError](err)
	return is
}

// discard removes a connection that has ended.
func (h *host) discard(c *connection) {
	_ = c.client.Close()
	<-c.dead
	h.remove(c)
}

// session opens a channel, calls prepare and makes the request. When ctx ends first, the channel is
// closed as soon as it is open. Errors: ErrUnreachable, ctx.Err(); with ErrNotStarted when the
// server has certainly not begun.
func (c *connection) session(ctx context.Context, want channelRequest,
	prepare func(ssh.Channel) error) (ssh.Channel, <-chan *ssh.Request, error) {
	type opened struct {
		ch       ssh.Channel
		requests <-chan *ssh.Request
		err      error
	}
	if c.socket.gone.Load() {
		return nil, nil, errConnectionLost
	}
	done := make(chan opened, 1)
	// decided by who is first: the request is made, or it is given up because the connection or ctx
	// has ended.
	var decided atomic.Bool
	go func() {
		ch, requests, err := c.client.OpenChannel("session", nil)
		if err != nil {
			done <- opened{err: fmt.Errorf("%w: %w: %w", provider.ErrNotStarted, provider.ErrUnreachable, err)}
			return
		}
		if err = prepare(ch); err != nil {
			err = fmt.Errorf("%w: %w", provider.ErrNotStarted, err)
		} else if !decided.CompareAndSwap(false, true) {
			err = errConnectionLost
		} else {
			err = ask(ch, want.request, struct{ Text string }{want.text})
		}
		if err != nil || ctx.Err() != nil {
			_ = ch.Close()
			go ssh.DiscardRequests(requests)
			err = errors.Join(err, context.Cause(ctx))
		}
		done <- opened{ch, requests, err}
	}()
	// A channel that is opened in the moment in which its connection ends may get no answer, not
	// even an error; a request always gets one.
	for dead := c.dead; ; dead = nil {
		select {
		case o := <-done:
			return o.ch, o.requests, o.err
		case <-ctx.Done():
			go func() { // it may be there in the same moment
				if o := <-done; o.err == nil {
					_ = o.ch.Close()
					ssh.DiscardRequests(o.requests)
				}
			}()
			if decided.CompareAndSwap(false, true) {
				return nil, nil, fmt.Errorf("%w: %w", provider.ErrNotStarted, context.Cause(ctx))
			}
			return nil, nil, context.Cause(ctx)
		case <-dead:
			if decided.CompareAndSwap(false, true) {
				return nil, nil, errConnectionLost
			}
		}
	}
}

// errConnectionLost is of a connection that ended before it was asked for a command.
var errConnectionLost = fmt.Errorf("%w: %w: the connection was lost", provider.ErrNotStarted, provider.ErrUnreachable)

// ask makes a request of a channel and waits for the answer.
func ask(ch ssh.Channel, name string, payload any) error {
	ok, err := ch.SendRequest(name, true, ssh.Marshal(payload))
	if err != nil {
		return fmt.Errorf("%w: %w", provider.ErrUnreachable, err)
	}
	if !ok {
		return fmt.Errorf("%w: %w: the server refuses %s", provider.ErrNotStarted, provider.ErrProvider, name)
	}
	return nil
}
