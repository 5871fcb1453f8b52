package auth

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
)

const hookSecret = "a secret of at least 32 characters"

func signed(secret, at, body string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(at + "." + body))
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// TestSignedWebhooks: a signature of time and body is let in once, within five minutes either way.
func TestSignedWebhooks(t *testing.T) {
	clock := newHandClock()
	a, err := New(Config{Mode: ModeToken, DataDir: t.TempDir(), Listen: "127.0.0.1:0", Now: clock.Now,
		WebhookSecret: hookSecret, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	const body = `{"id":"x"}`
	after := func(d time.Duration) string { return strconv.FormatInt(clock.Now().Add(d).Unix(), 10) }
	send := func(at, signature, body, from string, more ...string) error {
		r := httptest.NewRequest(http.MethodPost, "/api/webhooks/e2b", strings.NewReader(body))
		r.RemoteAddr = from
		for name, value := range map[string]string{webhookTime: at, webhookSignature: signature} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		for _, secret := range more {
			r.Header.Add(webhookSecret, secret)
		}
		if strings.HasPrefix(from, "tls ") {
			r.RemoteAddr, r.TLS = from[len("tls "):], &tls.ConnectionState{}
		}
		got, err := a.ReadWebhook(echo.New().NewContext(r, httptest.NewRecorder()))
		if err == nil && !bytes.Equal(got, []byte(body)) {
			t.Errorf("the body is %q", got)
		}
		return err
	}
	const far = "192.0.2.1:5"
	now := after(0)
	good := signed(hookSecret, now, body)
	old, ahead := after(-5*time.Minute-time.Second), after(5*time.Minute+time.Second)
	for name, test := range map[string]struct{ at, signature, body string }{
		"another secret":  {now, signed("x", now, body), body},
		"another body":    {now, good, body + " "},
		"another time":    {after(time.Second), good, body},
		"no time":         {"", good, body},
		"no number":       {"soon", signed(hookSecret, "soon", body), body},
		"too old":         {old, signed(hookSecret, old, body), body},
		"too new":         {ahead, signed(hookSecret, ahead, body), body},
		"far away":        {"9223372036854775807", signed(hookSecret, "9223372036854775807", body), body},
		"no scheme":       {now, good[len(signatureScheme):], body},
		"half":            {now, good[:40], body},
		"nothing":         {now, signatureScheme, body},
		"no hexadecimals": {now, signatureScheme + strings.Repeat("z", 64), body},
		"no signature":    {now, "", body},
	} {
		if err := send(test.at, test.signature, test.body, far); err == nil {
			t.Errorf("%s was let in", name)
		}
	}
	if err := send(now, good, body, far); err != nil {
		t.Error(err)
	}
	upper := signatureScheme + strings.ToUpper(good[len(signatureScheme):])
	for _, again := range []string{good, upper} {
		if err := send(now, again, body, far); err == nil || !strings.Contains(err.Error(), "before") {
			t.Errorf("a replay: %v", err)
		}
	}
	for _, d := range []time.Duration{-5*time.Minute + time.Second, 5*time.Minute - time.Second} {
		if err := send(after(d), signed(hookSecret, after(d), body), body, far); err != nil {
			t.Errorf("%v: %v", d, err)
		}
	}
	ahead = after(5*time.Minute - time.Second)
	clock.advance(9 * time.Minute) // the time that was ahead is still in the window
	if err := send(ahead, signed(hookSecret, ahead, body), body, far); err == nil {
		t.Error("a replay was let in when its first time was long ago")
	}

	for from, lets := range map[string]bool{far: false, "tls " + far: true, "127.0.0.1:9": true, "[::1]:9": true,
		"@": true, "": true} {
		if err := send("", "", body, from, hookSecret); (err == nil) != lets {
			t.Errorf("the plain secret from %q: %v", from, err)
		}
		if err := send("", "", body, from, "other"); err == nil {
			t.Errorf("another secret from %q was let in", from)
		}
		if err := send("", "", body, from, hookSecret, hookSecret); err == nil {
			t.Errorf("two secrets from %q were let in", from)
		}
	}
}

// TestSignaturesAreBounded: a full list refuses, so that nothing that was forgotten comes again.
func TestSignaturesAreBounded(t *testing.T) {
	h, now := hooks{key: []byte(hookSecret)}, time.Now()
	h.seen = map[[sha256.Size]byte]time.Time{}
	for i := range maxSignatures {
		h.seen[sha256.Sum256([]byte(strconv.Itoa(i)))] = now.Add(time.Minute)
	}
	signature := signed(hookSecret, "1", "x")
	if err := h.check("1", signature, []byte("x"), now); err == nil {
		t.Error("a full list takes one more")
	}
	if err := h.check("1", signature, []byte("x"), now.Add(time.Hour)); err != nil || len(h.seen) != 1 {
		t.Errorf("%v, %d are left", err, len(h.seen))
	}
}

// TestASignatureIsTakenOnce: of requests with one signature at the same time one is let in.
func TestASignatureIsTakenOnce(t *testing.T) {
	h := &hooks{key: []byte(hookSecret)}
	const at, senders = "1", 16
	signature := signed(hookSecret, at, "body")
	var taken atomic.Int32
	var all sync.WaitGroup
	for range senders {
		all.Go(func() {
			if h.check(at, signature, []byte("body"), time.Unix(1, 0)) == nil {
				taken.Add(1)
			}
		})
	}
	if all.Wait(); taken.Load() != 1 {
		t.Errorf("%d of %d were let in", taken.Load(), senders)
	}
}
