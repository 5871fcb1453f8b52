package service

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/evertty/evertty/internal/provider"
)

// StatusError is a reply with a status of 300 or more.
type StatusError struct {
	Service    string
	Status     int
	Code       string // the service's own, if it has one
	Text       string
	RetryAfter time.Duration // 0 without that header
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("%s: %d %s", e.Service, e.Status, e.Text)
}

// sentinels are the errors of statuses. That of any other status is ErrProvider.
var sentinels = map[int]error{
	http.StatusUnauthorized: provider.ErrRefused, http.StatusForbidden: provider.ErrRefused,
	http.StatusNotFound: provider.ErrNotFound, http.StatusGone: provider.ErrNotFound,
	http.StatusConflict: provider.ErrState, http.StatusRequestEntityTooLarge: provider.ErrTooLarge,
	http.StatusRequestTimeout: provider.ErrUnreachable, http.StatusTooManyRequests: provider.ErrUnreachable,
	http.StatusBadGateway: provider.ErrUnreachable, http.StatusServiceUnavailable: provider.ErrUnreachable,
	http.StatusGatewayTimeout: provider.ErrUnreachable,
}

// Unwrap is the sentinel of the status.
func (e *StatusError) Unwrap() error { return cmp.Or(sentinels[e.Status], provider.ErrProvider) }

// NothingDone reports whether an attempt that ended with err certainly had no effect: it never had
// a connection, or the service refused it. A gateway's 502 and others are no refusal: the service
// behind it may have begun.
func NothingDone(err error) bool {
	var st *StatusError
	if errors.As(err, &st) {
		return st.Status >= 400 && st.Status < 500 && st.Status != http.StatusRequestTimeout
	}
	return errors.Is(err, provider.ErrNotStarted)
}

// ReadError reads an error reply. Services have the reason in JSON under one of a few names.
func (s *Client) ReadError(resp *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	var said struct {
		Message   string          `json:"message"`
		Error     json.RawMessage `json:"error"`
		Code      json.RawMessage `json:"code"`
		ErrorCode string          `json:"error_code"`
	}
	text, code := strings.TrimSpace(string(body)), ""
	if json.Unmarshal(body, &said) == nil && (said.Message != "" || len(said.Error) > 0) {
		text = cmp.Or(said.Message, strings.Trim(string(said.Error), `"`))
		code = cmp.Or(said.ErrorCode, strings.Trim(string(said.Code), `"`))
	}
	text = cmp.Or(text, http.StatusText(resp.StatusCode))
	return &StatusError{Service: s.Name, Status: resp.StatusCode, Code: code, Text: s.Redact(text),
		RetryAfter: retryAfter(resp.Header)}
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

// Redact makes a text fit for an error: without keys, short, on one line.
func (s *Client) Redact(text string) string {
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

// Explain adds the instance's state to the error of a call inside it.
func Explain(ctx context.Context, p provider.Provider, id string, err error) error {
	state, failed := p.Status(ctx, id)
	switch {
	case failed != nil:
		return err
	case state == provider.Dead:
		return WithKind(provider.ErrNotFound, err)
	case state == provider.Paused:
		return WithKind(provider.ErrNotRunning, err)
	}
	return err
}

// InstanceExists is for a call inside an instance that runs, as Explain has found: a 404 is not
// about the instance then.
func InstanceExists(err error) error {
	var st *StatusError
	if errors.As(err, &st) && errors.Is(st, provider.ErrNotFound) {
		return WithKind(provider.ErrUnreachable, err)
	}
	return err
}

// WithKind is err as one of another kind, still with its ErrNotStarted.
func WithKind(kind, err error) error {
	if errors.Is(err, provider.ErrNotStarted) {
		return fmt.Errorf("%w: %w: %s", provider.ErrNotStarted, kind, err.Error())
	}
	return fmt.Errorf("%w: %s", kind, err.Error())
}
