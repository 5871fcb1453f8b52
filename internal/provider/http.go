package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Bounds of every call to a service.
const (
	connectTimeout  = 10 * time.Second // to a connection, and again for its TLS
	callTimeout     = 60 * time.Second // one attempt, unless the call says otherwise
	callAttempts    = 4                // of a call that may be made twice, the first included
	firstPause      = 100 * time.Millisecond
	maxRetryAfter   = 10 * time.Second // what asks for more is not waited for
	maxReply        = 8 << 20          // bytes of a reply; also base64 of the largest piece of output fits
	maxErrorText    = 300              // bytes of a service's own words in an error
	idleConnections = 16               // kept open to one service
	idleTimeout     = 30 * time.Second // after which an unused connection is closed
)

// untilEnd is the timeout of a call that takes as long as the process at its other end likes; its context ends with that.
const untilEnd time.Duration = -1

// service makes the HTTP calls of one adapter. Its methods may be called at the same time.
type service struct {
	name    string
	client  *http.Client
	secrets []string // never in an error
}

func newService(name string, secrets ...string) *service {
	t := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: connectTimeout}).DialContext,
		TLSHandshakeTimeout:   connectTimeout,
		MaxIdleConnsPerHost:   idleConnections,
		IdleConnTimeout:       idleTimeout,
		ExpectContinueTimeout: time.Second,
		ForceAttemptHTTP2:     true,
	}
	// A redirect would take the key to where it was not meant for.
	refuse := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &service{name: name, client: &http.Client{Transport: t, CheckRedirect: refuse}, secrets: secrets}
}

// Close closes connections that nobody uses.
func (s *service) Close() error {
	s.client.CloseIdleConnections()
	return nil
}

// call is one request. It may be made again after a failure only when twice does no harm.
type call struct {
	method, url string
	header      http.Header
	body        []byte
	kind        string        // Content-Type of body
	twice       bool          // doing it twice is as good as once
	timeout     time.Duration // of one attempt; 0 is callTimeout, untilEnd none
	max         int64         // bytes of the reply; 0 is maxReply
}

// answer is a reply with a status below 300.
type answer struct {
	status int
	header http.Header
	body   []byte
	first  bool // no attempt before this can have done anything
}

// do makes a call, again where that is allowed, and reads its reply. Errors: ErrUnreachable, ErrTooLarge, ErrNotStarted beside one of these when nothing of the
// call can have happened, *statusError, ctx's own.
func (s *service) do(ctx context.Context, c call) (answer, error) {
	certain := true // that no attempt did anything
	for attempt := 1; ; attempt++ {
		a, err := s.once(ctx, c)
		if err == nil {
			a.first = certain
			return a, nil
		}
		if ctx.Err() != nil {
			return answer{}, fmt.Errorf("%s: %w", s.name, context.Cause(ctx))
		}
		certain = certain && nothingDone(err)
		pause, again := s.again(c, err, attempt)
		if !again || !sleep(ctx, pause) {
			return answer{}, s.last(err, certain)
		}
	}
}

// last is the error of the last attempt; that nothing happened is said only when it is true of all.
func (s *service) last(err error, certain bool) error {
	if certain && !errors.Is(err, ErrNotStarted) {
		return fmt.Errorf("%w: %w", ErrNotStarted, err)
	}
	if !certain && errors.Is(err, ErrNotStarted) {
		return fmt.Errorf("%w: %s", ErrUnreachable, s.clean(err.Error()))
	}
	return err
}

// again tells whether a failed call is made once more, and after how long.
func (s *service) again(c call, err error, attempt int) (time.Duration, bool) {
	if attempt >= callAttempts {
		return 0, false
	}
	pause := firstPause << (attempt - 1)
	pause += rand.N(pause)
	var st *statusError
	if !errors.As(err, &st) {
		return pause, c.twice && !errors.Is(err, ErrTooLarge) || errors.Is(err, ErrNotStarted)
	}
	if st.after > maxRetryAfter {
		return 0, false
	}
	busy := st.status == http.StatusTooManyRequests // a refusal: nothing was done
	late := st.status == http.StatusBadGateway || st.status == http.StatusServiceUnavailable ||
		st.status == http.StatusGatewayTimeout || st.status == http.StatusRequestTimeout
	return max(pause, st.after), busy || c.twice && late
}

// once makes one attempt.
func (s *service) once(ctx context.Context, c call) (answer, error) {
	if c.timeout == 0 {
		c.timeout = callTimeout
	}
	ctx, cancel := limited(ctx, c.timeout)
	defer cancel()
	resp, err := s.send(ctx, c)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	if c.max == 0 {
		c.max = maxReply
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, c.max+1))
	if err != nil {
		return answer{}, fmt.Errorf("%s: %w: the reply ended early: %s", s.name, ErrUnreachable, s.clean(err.Error()))
	}
	if int64(len(body)) > c.max {
		return answer{}, fmt.Errorf("%s: %w: a reply of more than %d bytes", s.name, ErrTooLarge, c.max)
	}
	return answer{status: resp.StatusCode, header: resp.Header, body: body}, nil
}

// send makes one attempt up to the header of the reply, whose status is below 300. The caller closes the body and owns ctx until then.
func (s *service) send(ctx context.Context, c call) (*http.Response, error) {
	var connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	req, err := http.NewRequestWithContext(ctx, c.method, c.url, bytes.NewReader(c.body))
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", s.name, ErrProvider, s.clean(err.Error()))
	}
	for k, v := range c.header {
		req.Header[k] = v
	}
	if c.kind != "" {
		req.Header.Set("Content-Type", c.kind)
	}
	req.Header.Set("User-Agent", "evertty")
	resp, err := s.client.Do(req)
	if err != nil {
		if call, ok := errors.AsType[*url.Error](err); ok {
			err = call.Err // without the method and the address
		}
		err = fmt.Errorf("%s: %w: %s", s.name, ErrUnreachable, s.clean(err.Error()))
		if !connected.Load() {
			err = fmt.Errorf("%w: %w", ErrNotStarted, err)
		}
		return nil, err
	}
	if resp.StatusCode >= http.StatusMultipleChoices {
		defer resp.Body.Close()
		return nil, s.problem(resp)
	}
	return resp, nil
}

// statusError is a reply that says no.
type statusError struct {
	service string
	status  int
	code    string // the service's own, if it has one
	text    string
	after   time.Duration // Retry-After
}

func (e *statusError) Error() string {
	return fmt.Sprintf("%s: %d %s", e.service, e.status, e.text)
}

// Unwrap gives the sentinel that the status stands for.
func (e *statusError) Unwrap() error {
	switch e.status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return ErrRefused
	case http.StatusNotFound, http.StatusGone:
		return ErrNotFound
	case http.StatusConflict:
		return ErrState
	case http.StatusRequestEntityTooLarge:
		return ErrTooLarge
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return ErrUnreachable
	}
	return ErrProvider
}

// nothingDone tells whether the attempt that ended with err certainly did nothing: it never had a connection, or the service refused it. A gateway's 502 and what
// follows are no refusal: what is behind it may have begun.
func nothingDone(err error) bool {
	var st *statusError
	if errors.As(err, &st) {
		return st.status >= 400 && st.status < 500 && st.status != http.StatusRequestTimeout
	}
	return errors.Is(err, ErrNotStarted)
}

// problem reads a reply that says no. Services say why in JSON under one of a few names.
func (s *service) problem(resp *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	var said struct {
		Message   string          `json:"message"`
		Error     json.RawMessage `json:"error"`
		Code      json.RawMessage `json:"code"`
		ErrorCode string          `json:"error_code"`
	}
	text, code := strings.TrimSpace(string(body)), ""
	if json.Unmarshal(body, &said) == nil && (said.Message != "" || len(said.Error) > 0) {
		text, code = said.Message, strings.Trim(string(said.Code), `"`)
		if text == "" {
			text = strings.Trim(string(said.Error), `"`)
		}
		if said.ErrorCode != "" {
			code = said.ErrorCode
		}
	}
	if text == "" {
		text = http.StatusText(resp.StatusCode)
	}
	return &statusError{service: s.name, status: resp.StatusCode, code: code, text: s.clean(text), after: retryAfter(resp.Header)}
}

// retryAfter reads the header of that name, which has seconds or a date (RFC 9110, 10.2.3).
func retryAfter(h http.Header) time.Duration {
	v := h.Get("Retry-After")
	if n, err := strconv.Atoi(v); err == nil && n >= 0 {
		return time.Duration(min(n, int(24*time.Hour/time.Second))) * time.Second
	}
	if t, err := http.ParseTime(v); err == nil {
		return max(0, time.Until(t))
	}
	return 0
}

// clean cuts a text for an error: no key in it, not too long, one line.
func (s *service) clean(text string) string {
	for _, secret := range s.secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "***")
			text = strings.ReplaceAll(text, url.QueryEscape(secret), "***")
		}
	}
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > maxErrorText {
		text = strings.ToValidUTF8(text[:maxErrorText], "") + "…"
	}
	return text
}

// doJSON sends in, if it is not nil, and reads the reply into out, if that is not nil.
func (s *service) doJSON(ctx context.Context, c call, in, out any) error {
	if in != nil {
		body, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		c.body, c.kind = body, "application/json"
	}
	a, err := s.do(ctx, c)
	if err != nil || out == nil {
		return err
	}
	if err := json.Unmarshal(a.body, out); err != nil {
		return fmt.Errorf("%s: %w: the reply is not what was agreed: %s", s.name, ErrProvider, s.clean(err.Error()))
	}
	return nil
}

// sleep waits; false when ctx ends before.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// until asks again and again, at growing distances up to most, until done says so, an error comes, or within is over (ErrUnreachable).
func until(ctx context.Context, what string, within, most time.Duration, done func(context.Context) (bool, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, within, fmt.Errorf("%w: %s: not after %v", ErrUnreachable, what, within))
	defer cancel()
	for pause := firstPause; ; pause = min(2*pause, most) {
		ok, err := done(ctx)
		if ok || err != nil && ctx.Err() == nil {
			return err
		}
		if !sleep(ctx, pause) {
			return context.Cause(ctx)
		}
	}
}

// baseURL checks a setting. A key may travel in the clear only inside this machine.
func baseURL(setting, v string) (string, error) {
	u, err := url.Parse(v)
	if err != nil || u.Host == "" || !slices.Contains([]string{"https", "http"}, u.Scheme) || u.User != nil || u.RawQuery != "" {
		return "", fmt.Errorf("provider: %s must be an address like https://host/path, not %q", setting, v)
	}
	ip := net.ParseIP(u.Hostname())
	if u.Scheme == "http" && u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return "", fmt.Errorf("provider: %s must begin with https://, for the key would be readable on the way to %s", setting, u.Host)
	}
	return strings.TrimRight(v, "/"), nil
}

// stillThere is for a call inside an instance that explain has found to run: a 404 is not about the instance then.
func stillThere(err error) error {
	var st *statusError
	if errors.As(err, &st) && errors.Is(st, ErrNotFound) {
		return asErr(ErrUnreachable, err)
	}
	return err
}

// explain says of a failed call inside an instance what state explains it.
func explain(ctx context.Context, p Provider, id string, err error) error {
	state, failed := p.Status(ctx, id)
	switch {
	case failed != nil:
		return err
	case state == Dead:
		return asErr(ErrNotFound, err)
	case state == Paused:
		return asErr(ErrNotRunning, err)
	}
	return err
}

// asErr is err as one of another kind; only that nothing was started stays true.
func asErr(kind, err error) error {
	if errors.Is(err, ErrNotStarted) {
		return fmt.Errorf("%w: %w: %s", ErrNotStarted, kind, err.Error())
	}
	return fmt.Errorf("%w: %s", kind, err.Error())
}
