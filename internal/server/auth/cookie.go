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
	"sync"
	"time"
)

const (
	// sessionLife is how long a browser stays logged in without a visit.
	sessionLife = 30 * 24 * time.Hour
	// sessionRefresh is the age at which a visit renews the cookie.
	sessionRefresh = 24 * time.Hour

	// hostPrefix has browsers take the cookie only with Secure, for one host and for all paths.
	hostPrefix   = "__Host-"
	cookiePrefix = "evertty_session_"
	cookieTag    = 4  // bytes of the name that tell servers of one host apart
	cookieNonce  = 16 // bytes of a login's id
	cookieSigned = 8 + cookieNonce
	cookieLength = cookieSigned + sha256.Size // and the name of the user between
	maxUser      = 32
)

// loginID names a login; a renewed cookie keeps it.
type loginID [cookieNonce]byte

// login is what a cookie of ours says.
type login struct {
	id      loginID
	expires time.Time
	user    string // "" is who had the server's own token
	page    bool   // the secret of its page was shown too
}

// sessions makes and checks the two halves of a browser's login. The cookie is expiry (8 bytes, Unix
// seconds, big endian), login id, name of the user and HMAC-SHA256 of these, in base64url. The key of a user depends on
// the user's token too. The page's secret is the HMAC of the login id by another key. The keys come from the token and the epoch, so that logins outlive
// the server's process, and none outlives a change of the token or a logout of all. The name depends
// on the token too: all ports of a host share cookies, and two servers would log out each other's
// users. Cookies of releases before the second half were signed by "… cookie 1": their open pages know no
// first message, and have to be told that they are not logged in. It is safe for concurrent use.
type sessions struct {
	name   string
	secure bool // the cookie is for TLS only
	token  string
	users  *Users

	ending sync.Mutex   // held by who changes ended; taken before mu
	mu     sync.RWMutex // guards what follows
	keys   loginKeys
	ended  *endedLogins // never changed in place
}

// loginKeys are the keys of one epoch.
type loginKeys struct{ cookie, page []byte }

// newSessions takes the logins that have ended as they are. With secure the cookie is for TLS only.
func newSessions(token string, ended *endedLogins, users *Users, secure bool) (*sessions, error) {
	tag, err := hkdf.Key(sha256.New, []byte(token), nil, "evertty session name 1", cookieTag)
	if err != nil {
		return nil, fmt.Errorf("server: session name: %w", err)
	}
	s := &sessions{name: cookiePrefix + hex.EncodeToString(tag), secure: secure, token: token, ended: ended,
		users: users}
	if secure {
		s.name = hostPrefix + s.name
	}
	s.keys, err = keysOf(token, ended.Epoch)
	return s, err
}

func keysOf(token, epoch string) (k loginKeys, err error) {
	if k.cookie, err = hkdf.Key(sha256.New, []byte(token), []byte(epoch), "evertty session cookie 2",
		sha256.Size); err == nil {
		k.page, err = hkdf.Key(sha256.New, []byte(token), []byte(epoch), "evertty session page 1", sha256.Size)
	}
	if err != nil {
		return k, fmt.Errorf("server: session keys: %w", err)
	}
	return k, nil
}

// newLogin returns a fresh id.
func newLogin() (id loginID) {
	rand.Read(id[:])
	return id
}

// cookie returns the cookie of a login; secure keeps it to TLS connections.
func (s *sessions) cookie(id loginID, user string, now time.Time, secure bool) *http.Cookie {
	raw := binary.BigEndian.AppendUint64(nil, uint64(now.Add(sessionLife).Unix()))
	raw = append(append(raw, id[:]...), user...)
	s.mu.RLock()
	key, _ := s.keyOf(user)
	raw = sign(key, raw)
	s.mu.RUnlock()
	return &http.Cookie{
		Name:     s.name,
		Value:    base64.RawURLEncoding.EncodeToString(raw),
		Path:     "/",
		MaxAge:   int(sessionLife / time.Second),
		Secure:   secure || s.secure,
		HttpOnly: true,
		SameSite: http.SameSiteStrictMode,
	}
}

// keyOf is the key of the cookies of a user, and false for one who is not there. s.mu is held.
func (s *sessions) keyOf(user string) ([]byte, bool) {
	if user == "" {
		return s.keys.cookie, true
	}
	u, ok := s.users.find(user)
	return sign(s.keys.cookie, append(u.Hash[:], s.ended.Epochs[user]...))[len(u.Hash)+len(s.ended.Epochs[user]):], ok
}

// page returns the half of a login that its page keeps.
func (s *sessions) page(id loginID) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return base64.RawURLEncoding.EncodeToString(sign(s.keys.page, id[:])[cookieNonce:])
}

// sign appends the code of raw to raw.
func sign(key, raw []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write(raw)
	return mac.Sum(raw[:len(raw):len(raw)])
}

// check returns the login of a cookie's value, and false when we did not make it or it is over.
func (s *sessions) check(value string, now time.Time) (l login, ok bool) {
	if len(value) > base64.RawURLEncoding.EncodedLen(cookieLength+maxUser) {
		return login{}, false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(value)
	if err != nil || len(raw) < cookieLength || len(value) != base64.RawURLEncoding.EncodedLen(len(raw)) {
		return login{}, false
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	signed := raw[:len(raw)-sha256.Size]
	l.user = string(signed[cookieSigned:])
	if key, ok := s.keyOf(l.user); !ok || !hmac.Equal(sign(key, signed), raw) {
		return login{}, false
	}
	l.expires = time.Unix(int64(binary.BigEndian.Uint64(raw)), 0)
	copy(l.id[:], raw[8:])
	return l, now.Before(l.expires) && !s.ended.has(l.id)
}

// find looks for a valid login among the request's cookies of our name; there can be several, because
// any server on the host may set more with a narrower path. It prefers one that the page's secret
// goes with.
func (s *sessions) find(r *http.Request, page string, now time.Time) (found login, ok bool) {
	for _, cookie := range r.CookiesNamed(s.name) {
		l, valid := s.check(cookie.Value, now)
		if !valid {
			continue
		}
		if l.page = page != "" && hmac.Equal([]byte(s.page(l.id)), []byte(page)); l.page {
			return l, true
		}
		if !ok {
			found, ok = l, true
		}
	}
	return found, ok
}
