package auth

import (
	"crypto/hkdf"
	"crypto/sha256"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func mustSessions(t testing.TB, token string) *sessions {
	t.Helper()
	s, err := newSessions(token, &endedLogins{dir: t.TempDir()}, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSessionCookieAttributes(t *testing.T) {
	s := mustSessions(t, "token")
	for _, secure := range []bool{false, true} {
		c := s.cookie(newLogin(), "", time.Now(), secure)
		if err := c.Valid(); err != nil || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" ||
			c.Domain != "" ||
			c.Secure != secure || c.MaxAge != 30*24*3600 || !strings.HasPrefix(c.Name, "evertty_session") {
			t.Errorf("cookie %v (%v)", c, err)
		}
	}
}

func TestSessionCookieIsOursUntilItEnds(t *testing.T) {
	s, now := mustSessions(t, "token"), time.Unix(1_700_000_000, 0)
	value := s.cookie(newLogin(), "", now, false).Value
	if value == s.cookie(newLogin(), "", now, false).Value {
		t.Error("two cookies are equal")
	}
	for _, test := range []struct {
		after time.Duration
		ok    bool
	}{{0, true}, {sessionLife - time.Second, true}, {sessionLife, false}, {10 * sessionLife, false}} {
		l, ok := s.check(value, now.Add(test.after))
		if ok != test.ok || ok && !l.expires.Equal(now.Add(sessionLife)) {
			t.Errorf("after %v: %v, %v", test.after, l, ok)
		}
	}
	if _, ok := mustSessions(t, "token").check(value, now); !ok {
		t.Error("the same token made afresh does not know its cookie")
	}
	if other := mustSessions(t, "other"); other.name == s.name {
		t.Error("two servers share a cookie name")
	} else if _, ok := other.check(value, now); ok {
		t.Error("another token accepts the cookie")
	}
}

// TestCookieOfAnEarlierRelease: its open page knows no first message, so it must be refused before an upgrade.
func TestCookieOfAnEarlierRelease(t *testing.T) {
	s, now := mustSessions(t, "token"), time.Now()
	old, err := hkdf.Key(sha256.New, []byte("token"), nil, "evertty session cookie 1", sha256.Size)
	if err != nil {
		t.Fatal(err)
	}
	own := s.cookie(newLogin(), "", now, false).Value
	s.keys.cookie = old
	earlier := s.cookie(newLogin(), "", now, false).Value
	if _, ok := mustSessions(t, "token").check(earlier, now); ok || len(earlier) != len(own) {
		t.Error("a cookie of an earlier release is valid")
	}
}

func TestSessionCookieTampered(t *testing.T) {
	s, now := mustSessions(t, "token"), time.Now()
	value := s.cookie(newLogin(), "", now, false).Value
	for i := range len(value) {
		for _, b := range []byte("A_-z") {
			forged := value[:i] + string(b) + value[i+1:]
			if _, ok := s.check(forged, now); ok && forged != value {
				t.Fatalf("accepted %q for %q", forged, value)
			}
		}
	}
	for _, forged := range []string{"", value + "A", value[1:], value + "=", value + "\n", value + value} {
		if _, ok := s.check(forged, now); ok {
			t.Errorf("accepted %q", forged)
		}
	}
}

func TestSessionCookieBesideForeignOnes(t *testing.T) {
	s, now := mustSessions(t, "token"), time.Now()
	r := httptest.NewRequest("GET", "/", nil)
	r.AddCookie(&http.Cookie{Name: s.name, Value: "planted"})
	if _, ok := s.find(r, "", now); ok {
		t.Error("a planted cookie was accepted")
	}
	r.AddCookie(s.cookie(newLogin(), "", now, false))
	r.AddCookie(&http.Cookie{Name: s.name, Value: ""})
	if _, ok := s.find(r, "", now); !ok {
		t.Error("planted cookies hide the real one")
	}
}

func FuzzSessionCookie(f *testing.F) {
	s, now := mustSessions(f, "token"), time.Unix(1_700_000_000, 0)
	real := s.cookie(newLogin(), "", now, false).Value
	f.Add("")
	f.Add(real[:len(real)-1] + "A")
	f.Add(strings.Repeat("A", len(real)))
	f.Add(mustSessions(f, "other").cookie(newLogin(), "", now, false).Value)
	f.Fuzz(func(t *testing.T, value string) {
		if _, ok := s.check(value, now); ok && value != real {
			t.Fatalf("accepted %q", value)
		}
	})
}
