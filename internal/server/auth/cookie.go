package auth

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/http"
	"time"
)

const (
	// sessionLife is how long a browser stays logged in without a visit.
	sessionLife = 30 * 24 * time.Hour
	// sessionRefresh is the age at which a visit renews the cookie.
	sessionRefresh = 24 * time.Hour

	cookiePrefix = "evertty_session_"
	cookieTag    = 4  // bytes of the name that tell servers of one host apart
	cookieNonce  = 16 // bytes that make every cookie differ
	cookieSigned = 8 + cookieNonce
	cookieLength = cookieSigned + sha256.Size
)

// sessions makes and checks the browser's session cookie: expiry (8 bytes, Unix
// seconds, big endian), nonce and HMAC-SHA256 of both, in base64url. The key
// comes from the token, so that cookies outlive the server's process, and none
// outlives a change of the token. The name depends on the key too: all ports
// of a host share cookies, and two servers would log out each other's users. It does not change once made.
type sessions struct {
	name string
	key  []byte
}

func newSessions(token string) (*sessions, error) {
	key, err := hkdf.Key(sha256.New, []byte(token), nil, "evertty session cookie 1", sha256.Size)
	if err != nil {
		return nil, fmt.Errorf("server: session key: %w", err)
	}
	tag, err := hkdf.Key(sha256.New, []byte(token), nil, "evertty session name 1", cookieTag)
	if err != nil {
		return nil, fmt.Errorf("server: session name: %w", err)
	}
	return &sessions{name: cookiePrefix + hex.EncodeToString(tag), key: key}, nil
}

// cookie returns a new session cookie; secure keeps it to TLS connections.
func (s *sessions) cookie(now time.Time, secure bool) *http.Cookie {
	raw := binary.BigEndian.AppendUint64(nil, uint64(now.Add(sessionLife).Unix()))
	raw = append(raw, make([]byte, cookieNonce)...)
	rand.Read(raw[8:])
	return &http.Cookie{
		Name:     s.name,
		Value:    base64.RawURLEncoding.EncodeToString(s.sign(raw)),
		Path:     "/",
		MaxAge:   int(sessionLife / time.Second),
		Secure:   secure,
		HttpOnly: true,
		SameSite: http.SameSiteStrictMode,
	}
}

// sign appends the code of raw to raw.
func (s *sessions) sign(raw []byte) []byte {
	mac := hmac.New(sha256.New, s.key)
	mac.Write(raw)
	return mac.Sum(raw)
}

// check returns when the session in value ends, and false when we did not make
// it or it is over.
func (s *sessions) check(value string, now time.Time) (expires time.Time, ok bool) {
	if len(value) != base64.RawURLEncoding.EncodedLen(cookieLength) {
		return time.Time{}, false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(value)
	if err != nil || len(raw) != cookieLength {
		return time.Time{}, false
	}
	signed := s.sign(raw[:cookieSigned:cookieSigned])
	if !hmac.Equal(signed, raw) {
		return time.Time{}, false
	}
	expires = time.Unix(int64(binary.BigEndian.Uint64(raw)), 0)
	return expires, now.Before(expires)
}

// find looks for a valid session among the request's cookies of our name; there
// can be several, because any server on the host may set more with a narrower
// path.
func (s *sessions) find(r *http.Request, now time.Time) (expires time.Time, ok bool) {
	for _, cookie := range r.CookiesNamed(s.name) {
		if expires, ok = s.check(cookie.Value, now); ok {
			return expires, true
		}
	}
	return time.Time{}, false
}
