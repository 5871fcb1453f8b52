package e2b

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/service"
)

const (
	daemonPort = "49983" // where the daemon of a sandbox listens
	// extendTimeout bounds the call that keeps a sandbox from being paused: output waits meanwhile,
	// and a stream that is not read counts as silent.
	extendTimeout = 10 * time.Second
)

// daemon is the access to a sandbox's daemon.
type daemon struct {
	token, domain string
	extended      atomic.Int64 // Unix seconds; 0 is not known
}

// remember notes the access to the daemon of a sandbox that runs from now on.
func (e *Provider) remember(s sandbox) {
	d := &daemon{token: s.Token, domain: s.Domain}
	d.extended.Store(time.Now().Unix())
	e.daemons.Put(s.ID, d)
}

// daemon is the address of a sandbox's daemon, and the header of a call to it. ErrNotStarted is
// part of every error: nothing was asked of the sandbox yet.
func (e *Provider) daemon(ctx context.Context, id string) (string, http.Header, error) {
	d, ok := e.daemons.Get(id)
	if !ok {
		s, err := e.look(ctx, id)
		switch {
		case err != nil:
		case s.state() == provider.Dead, !sandboxID().MatchString(id):
			err = fmt.Errorf("e2b: %w: %q", provider.ErrNotFound, id)
		case s.state() != provider.Running:
			err = fmt.Errorf("e2b: %w: %s is %s", provider.ErrNotRunning, id, s.State)
		}
		if err != nil {
			return "", nil, fmt.Errorf("%w: %w", provider.ErrNotStarted, err)
		}
		d = &daemon{token: s.Token, domain: s.Domain}
		e.daemons.Put(id, d)
	}
	base := e.c.SandboxURL
	if base == "" {
		var err error
		base, err = service.BaseURL("domain", "https://"+daemonPort+"-"+id+"."+cmp.Or(d.domain, e.c.Domain))
		if err != nil {
			return "", nil, err
		}
	}
	h := http.Header{}
	h.Set("E2b-Sandbox-Id", id)
	h.Set("E2b-Sandbox-Port", daemonPort)
	h.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(e.c.User+":")))
	if d.token != "" {
		h.Set("X-Access-Token", d.token)
	}
	return base, h, nil
}

// extend keeps the service from pausing a sandbox in use. It is called at every use and at every
// message of a long one, and makes a call once in a third of the timeout.
func (e *Provider) extend(ctx context.Context, id string) {
	d, ok := e.daemons.Get(id)
	if !ok {
		return
	}
	last, now := d.extended.Load(), time.Now().Unix()
	if now-last <= int64(e.c.Timeout)/3 || !d.extended.CompareAndSwap(last, now) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, extendTimeout)
	defer cancel()
	_ = e.control(ctx, http.MethodPost, at(id)+"/timeout", true, map[string]int{"timeout": e.c.Timeout}, nil)
}

// inside calls f with the address of a sandbox's daemon. After a failure it asks the service for
// the sandbox's state. After a refused token it gets the token once more: a sandbox that another
// server has resumed may have a new one.
func (e *Provider) inside(ctx context.Context, id string, f func(base string, h http.Header) error) error {
	for fresh := false; ; fresh = true {
		base, h, err := e.daemon(ctx, id)
		if err != nil {
			return err
		}
		err = f(base, h)
		switch {
		case errors.Is(err, provider.ErrRefused) && !fresh:
			e.daemons.Delete(id)
		case err == nil || ctx.Err() != nil:
			return err
		default:
			return service.Explain(ctx, e, id, err)
		}
	}
}

// call makes a call to the daemon in a sandbox.
func (e *Provider) call(ctx context.Context, id, at string, c service.Call) (r service.Reply, err error) {
	err = e.inside(ctx, id, func(base string, h http.Header) error {
		c.URL, c.Header = base+at, h
		r, err = e.Client.Do(ctx, c)
		return err
	})
	return r, err
}

// unary makes a call of the Connect protocol that has one reply, which is read into out if that is
// not nil.
func (e *Provider) unary(ctx context.Context, id, method string, idempotent bool, timeout time.Duration, in,
	out any) error {
	c := service.Call{Method: http.MethodPost, Idempotent: idempotent, Timeout: timeout}
	return e.Client.JSON(c, in, out, func(c service.Call) (service.Reply, error) {
		return e.call(ctx, id, "/"+method, c)
	})
}
