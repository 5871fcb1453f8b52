// Package service is shared by the clients of sandbox services: calls over HTTP, their errors, and
// how a sandbox is made, changed and destroyed.
package service

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/wait"
)

// Bounds of every call to a service.
const (
	ConnectTimeout  = 10 * time.Second       // to a connection, and again for its TLS
	callTimeout     = 60 * time.Second       // one attempt, unless the call says otherwise
	callAttempts    = 4                      // of a call that may be made twice, the first included
	firstRetry      = 100 * time.Millisecond // before the second attempt, then doubled
	maxRetryAfter   = 10 * time.Second       // what asks for more is not waited for
	maxReply        = 8 << 20                // bytes of a reply; also base64 of the largest piece of output fits
	maxErrorText    = 300                    // bytes of a service's own words in an error
	idleConnections = 16                     // kept open to one service
	idleTimeout     = 30 * time.Second       // after which an unused connection is closed
)

// UntilEnd is no timeout, for a call that lasts as long as a process; its context ends with that.
const UntilEnd time.Duration = -1

// Client makes the HTTP calls of one adapter. Its methods may be called at the same time.
type Client struct {
	Name    string
	client  *http.Client
	secrets []string // never in an error
}

// NewClient makes a Client of a service. Secrets appear in none of its errors.
func NewClient(name string, secrets ...string) *Client {
	t := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: ConnectTimeout}).DialContext,
		TLSHandshakeTimeout:   ConnectTimeout,
		MaxIdleConnsPerHost:   idleConnections,
		IdleConnTimeout:       idleTimeout,
		ExpectContinueTimeout: time.Second,
		ForceAttemptHTTP2:     true,
	}
	// A redirect would take the key to where it was not meant for.
	refuse := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{Name: name, client: &http.Client{Transport: t, CheckRedirect: refuse}, secrets: secrets}
}

// Close closes unused connections.
func (s *Client) Close() error {
	s.client.CloseIdleConnections()
	return nil
}

// Call is one request. It is repeated after a failure only when that does no harm.
type Call struct {
	Method, URL string
	Header      http.Header
	Body        []byte
	ContentType string        // Content-Type of body
	Idempotent  bool          // doing it twice is as good as once
	Timeout     time.Duration // of one attempt; 0 is callTimeout, UntilEnd none
	MaxReply    int64         // bytes of the reply; 0 is maxReply
}

// Reply is a reply with a status below 300.
type Reply struct {
	Body            []byte
	NoEarlierEffect bool // no attempt before this can have done anything
}

// Do makes a call, repeats it where that is allowed, and reads the reply. Errors: ErrUnreachable,
// ErrTooLarge, *StatusError, ctx.Err(); with ErrNotStarted when the call certainly had no effect.
func (s *Client) Do(ctx context.Context, c Call) (r Reply, err error) {
	r.NoEarlierEffect, err = s.retry(ctx, c, func() error {
		attempt, cancel := wait.WithTimeout(ctx, cmp.Or(c.Timeout, callTimeout))
		defer cancel()
		resp, err := s.send(attempt, c)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		r.Body, err = s.read(resp.Body, cmp.Or(c.MaxReply, maxReply))
		return err
	})
	return r, err
}

// Open makes a call whose reply is a stream: its body, which the caller closes, ends with ctx.
// Errors: as Do.
func (s *Client) Open(ctx context.Context, c Call) (body io.ReadCloser, err error) {
	_, err = s.retry(ctx, c, func() error {
		resp, err := s.send(ctx, c) //nolint:bodyclose // the caller does
		if err == nil {
			body = resp.Body
		}
		return err
	})
	return body, err
}

// retry makes attempts. noEarlierEffect: none before the last can have had an effect.
func (s *Client) retry(ctx context.Context, c Call, try func() error) (noEarlierEffect bool, err error) {
	certain := true // that no attempt did anything
	for attempt := 1; ; attempt++ {
		if err = try(); err == nil {
			return certain, nil
		}
		if ctx.Err() != nil {
			return false, fmt.Errorf("%s: %w", s.Name, context.Cause(ctx))
		}
		certain = certain && NothingDone(err)
		pause, again := retryPause(c, err, attempt)
		if again && wait.Sleep(ctx, pause) {
			continue
		}
		switch notStarted := errors.Is(err, provider.ErrNotStarted); {
		case certain && !notStarted:
			err = fmt.Errorf("%w: %w", provider.ErrNotStarted, err)
		case !certain && notStarted: // true of the last attempt alone
			err = fmt.Errorf("%w: %s", provider.ErrUnreachable, s.Redact(err.Error()))
		}
		return false, err
	}
}

// retryPause reports whether a failed call is repeated, and after how long.
func retryPause(c Call, err error, attempt int) (time.Duration, bool) {
	if attempt >= callAttempts {
		return 0, false
	}
	pause := firstRetry << (attempt - 1)
	pause += rand.N(pause)
	var st *StatusError
	if !errors.As(err, &st) {
		return pause, c.Idempotent && !errors.Is(err, provider.ErrTooLarge) || errors.Is(err, provider.ErrNotStarted)
	}
	if st.RetryAfter > maxRetryAfter {
		return 0, false
	}
	switch st.Status {
	case http.StatusTooManyRequests: // a refusal: nothing was done
		return max(pause, st.RetryAfter), true
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout, http.StatusRequestTimeout:
		return max(pause, st.RetryAfter), c.Idempotent
	}
	return 0, false
}

// read reads a reply of at most so many bytes.
func (s *Client) read(from io.Reader, most int64) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(from, most+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w: the reply ended early: %s", s.Name, provider.ErrUnreachable,
			s.Redact(err.Error()))
	}
	if int64(len(body)) > most {
		return nil, fmt.Errorf("%s: %w: a reply of more than %d bytes", s.Name, provider.ErrTooLarge, most)
	}
	return body, nil
}

// send makes one attempt up to the header of the reply, whose status is below 300. The caller
// closes the body and owns ctx until then.
func (s *Client) send(ctx context.Context, c Call) (*http.Response, error) {
	var connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
		connected.Store(true)
	}})
	req, err := http.NewRequestWithContext(ctx, c.Method, c.URL, bytes.NewReader(c.Body))
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", s.Name, provider.ErrProvider, s.Redact(err.Error()))
	}
	maps.Copy(req.Header, c.Header)
	if c.ContentType != "" {
		req.Header.Set("Content-Type", c.ContentType)
	}
	req.Header.Set("User-Agent", "evertty")
	resp, err := s.client.Do(req)
	if err != nil {
		if call, ok := errors.AsType[*url.Error](err); ok {
			err = call.Err // without the method and the address
		}
		err = fmt.Errorf("%s: %w: %s", s.Name, provider.ErrUnreachable, s.Redact(err.Error()))
		if !connected.Load() {
			err = fmt.Errorf("%w: %w", provider.ErrNotStarted, err)
		}
		return nil, err
	}
	if resp.StatusCode >= http.StatusMultipleChoices {
		defer resp.Body.Close()
		return nil, s.ReadError(resp)
	}
	return resp, nil
}

// DoJSON sends in, if it is not nil, and reads the reply into out, if that is not nil.
func (s *Client) DoJSON(ctx context.Context, c Call, in, out any) error {
	return s.JSON(c, in, out, func(c Call) (Reply, error) { return s.Do(ctx, c) })
}

// JSON is DoJSON by another way to make the call.
func (s *Client) JSON(c Call, in, out any, do func(Call) (Reply, error)) error {
	if in != nil {
		body, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		c.Body, c.ContentType = body, "application/json"
	}
	r, err := do(c)
	if err != nil || out == nil {
		return err
	}
	if err := json.Unmarshal(r.Body, out); err != nil {
		return fmt.Errorf("%s: %w: the reply is not what was agreed: %s", s.Name, provider.ErrProvider,
			s.Redact(err.Error()))
	}
	return nil
}

// BaseURL checks a setting. Only on this machine a key may be sent without encryption.
func BaseURL(setting, v string) (string, error) {
	u, err := url.Parse(v)
	if err != nil || u.Host == "" || !slices.Contains([]string{"https", "http"}, u.Scheme) || u.User != nil ||
		u.RawQuery != "" {
		return "", fmt.Errorf("provider: %s must be an address like https://host/path, not %q", setting, v)
	}
	ip := net.ParseIP(u.Hostname())
	if u.Scheme == "http" && u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return "", fmt.Errorf("provider: %s must begin with https://, for the key would be readable on the way to %s",
			setting, u.Host)
	}
	return strings.TrimRight(v, "/"), nil
}
