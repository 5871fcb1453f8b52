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

// channelRequest is the request of a new channel (RFC 4254 section 6.5): "exec" with a command line,
// "subsystem" with a name. prepare, if it is not nil, makes requests before it.
type channelRequest struct {
	name, text string
	prepare    func(ssh.Channel) error
}

// channel is an open channel that was asked for a command.
type channel struct {
	ssh.Channel
	requests <-chan *ssh.Request
	conn     *connection
	release  func() // gives back the room that host.session has taken
}

// session is connection.session on a connection with room. An older one may have ended unnoticed:
// then the server has certainly not begun, and the call goes to another. A connection that this call
// made is the last, for an immediate failure would repeat. A connection's age does not distinguish
// these: a young one breaks like any other.
func (h *host) session(ctx context.Context, want channelRequest) (*channel, error) {
	for {
		conn, fresh, release, err := h.acquire(ctx)
		if err != nil {
			return nil, err
		}
		ch, err := conn.session(ctx, want)
		if err == nil {
			ch.release = release
			return ch, nil
		}
		release()
		if ctx.Err() != nil || !lost(err) {
			return nil, err
		}
		h.discard(conn)
		if fresh {
			return nil, err
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

// session opens a channel, prepares it and makes the request. When ctx ends first, the channel is
// closed as soon as it is open. Errors: ErrUnreachable, ctx.Err(); with ErrNotStarted when the server
// has certainly not begun.
func (c *connection) session(ctx context.Context, want channelRequest) (*channel, error) {
	type opened struct {
		ch  *channel
		err error
	}
	if c.socket.gone.Load() {
		return nil, errConnectionLost
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
		if want.prepare != nil {
			err = want.prepare(ch)
		}
		switch {
		case err != nil:
			err = fmt.Errorf("%w: %w", provider.ErrNotStarted, err)
		case !decided.CompareAndSwap(false, true):
			err = errConnectionLost
		default:
			err = ask(ch, want.name, struct{ Text string }{want.text})
		}
		if err != nil || ctx.Err() != nil {
			_ = ch.Close()
			go ssh.DiscardRequests(requests)
			err = errors.Join(err, context.Cause(ctx))
		}
		done <- opened{&channel{Channel: ch, requests: requests, conn: c}, err}
	}()
	// A channel that is opened in the moment in which its connection ends may get no answer, not
	// even an error; a request always gets one.
	for dead := c.dead; ; dead = nil {
		select {
		case o := <-done:
			return o.ch, o.err
		case <-ctx.Done():
			go func() { // it may be there in the same moment
				if o := <-done; o.err == nil {
					_ = o.ch.Close()
					ssh.DiscardRequests(o.ch.requests)
				}
			}()
			if decided.CompareAndSwap(false, true) {
				return nil, fmt.Errorf("%w: %w", provider.ErrNotStarted, context.Cause(ctx))
			}
			return nil, context.Cause(ctx)
		case <-dead:
			if decided.CompareAndSwap(false, true) {
				return nil, errConnectionLost
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
