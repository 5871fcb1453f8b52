package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/server/httpapi"
)

// WebhookPath is the route for reports of providers about their instances.
const WebhookPath = "/api/webhooks/:provider"

// AuditWebhook is the word of the audit log for a report that was let in.
const AuditWebhook = "webhook.received"

// Headers of a webhook. The signature is "sha256=" and the hexadecimal HMAC-SHA256 of the time, "."
// and the body, with the secret as the key; the time is in seconds since 1970. The secret itself is
// for providers that cannot sign.
const (
	webhookSecret    = "X-Webhook-Secret"
	webhookTime      = "X-Webhook-Timestamp"
	webhookSignature = "X-Webhook-Signature"
	signatureScheme  = "sha256="
)

const (
	// webhookWindow is how far the time of a webhook may be from ours, either way.
	webhookWindow = 5 * time.Minute
	// maxSignatures bounds the signatures that are remembered: some hundred webhooks a second.
	maxSignatures = 1 << 17
)

var (
	errBadSecret    = errors.New("the header " + webhookSecret + " has not this server's secret for webhooks")
	errPlainSecret  = errors.New("the header " + webhookSecret + " is only for TLS and this machine; sign the webhook")
	errBadSignature = errors.New("the header " + webhookSignature + " is not sha256= and the HMAC of time and body")
	errBadTime      = errors.New("the header " + webhookTime + " is not within 5 minutes of this server's time")
	errReplayed     = errors.New("a webhook with this signature was here before")
	errTooManyHooks = errors.New("too many webhooks came within 10 minutes")
)

// hooks checks signed webhooks. Safe for concurrent use.
type hooks struct {
	key []byte // empty without a secret

	mu   sync.Mutex
	seen map[[sha256.Size]byte]time.Time // signatures, and when their time leaves the window
}

// isWebhook reports whether the webhook secret may authenticate the request.
func (a *Auth) isWebhook(c echo.Context) bool {
	return a.Webhooks != nil && c.Path() == WebhookPath && c.Request().Method == http.MethodPost
}

// ReadWebhook returns the body of a webhook, of at most httpapi.MaxBody bytes, and refuses one that
// has neither a valid signature nor, over TLS or from this machine, the secret. If none is
// configured, the usual credentials decide. What is let in is in the audit log.
func (a *Auth) ReadWebhook(c echo.Context) ([]byte, error) {
	var at, signature string
	if a.Webhooks == nil {
		if err := RequireWrite(c.Request().Context()); err != nil {
			return nil, err
		}
	} else if signature = c.Request().Header.Get(webhookSignature); signature == "" {
		if err := a.checkPlainSecret(c.Request()); err != nil {
			return nil, a.refuse(c, err)
		}
	} else if at = c.Request().Header.Get(webhookTime); !a.inWindow(at) { // before anything is read
		return nil, a.refuse(c, errBadTime)
	}
	body, err := httpapi.ReadBody(c, httpapi.MaxBody)
	if err == nil && signature != "" {
		if err = a.hooks.check(at, signature, body, a.now()); err != nil {
			err = a.refuse(c, err)
		}
	}
	if err == nil {
		a.Note(c, AuditWebhook, c.Param("provider"), "ok")
	}
	return body, err
}

// checkPlainSecret accepts the secret itself where nobody else on the network reads it.
func (a *Auth) checkPlainSecret(r *http.Request) error {
	if given := r.Header.Values(webhookSecret); len(given) != 1 || !a.Webhooks.equal(DigestOf(given[0])) {
		return errBadSecret
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if local := err != nil || net.ParseIP(host).IsLoopback(); schemeOf(r) != "https" && !local { // a socket: no port
		return errPlainSecret
	}
	return nil
}

// inWindow reports whether a time in seconds is near enough.
func (a *Auth) inWindow(seconds string) bool {
	n, err := strconv.ParseInt(seconds, 10, 64)
	return err == nil && a.now().Sub(time.Unix(n, 0)).Abs() <= webhookWindow
}

// check verifies a signature of a time that is in the window, and remembers it until that leaves the
// window. Errors: errBadSignature, errReplayed, errTooManyHooks.
func (h *hooks) check(at, signature string, body []byte, now time.Time) error {
	mac := hmac.New(sha256.New, h.key)
	mac.Write([]byte(at + "."))
	mac.Write(body)
	want := mac.Sum(nil)
	digits, ok := strings.CutPrefix(signature, signatureScheme)
	given, err := hex.DecodeString(digits)
	if !ok || err != nil || len(h.key) == 0 || !hmac.Equal(given, want) {
		return errBadSignature
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	id := [sha256.Size]byte(want)
	if until, ok := h.seen[id]; ok && now.Before(until) {
		return errReplayed
	}
	if len(h.seen) >= maxSignatures {
		maps.DeleteFunc(h.seen, func(_ [sha256.Size]byte, until time.Time) bool { return !now.Before(until) })
	}
	switch {
	case len(h.seen) >= maxSignatures: // else one that was forgotten could come again
		return errTooManyHooks
	case h.seen == nil:
		h.seen = map[[sha256.Size]byte]time.Time{}
	}
	h.seen[id] = now.Add(2 * webhookWindow) // of a time that is ahead of ours too
	return nil
}
