package auth

import (
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/server/httpapi"
)

func TestTicketIsUsedUp(t *testing.T) {
	clock := newHandClock()
	store := newTickets(clock.Now, slog.Default())
	grant := Grant{Role: Read, PTY: "alpha"}
	once, expires, err := store.issue(grant, ticketTTL, 1)
	if err != nil || !expires.Equal(clock.Now().Add(ticketTTL)) {
		t.Fatalf("expires %v, %v", expires, err)
	}
	for _, other := range []string{"", "beta", "alph", "alpha "} {
		if g, _, ok := store.redeem(once, other); ok {
			t.Errorf("opened %q with %v", other, g)
		}
	}
	if g, _, ok := store.redeem(once, "alpha"); !ok || g != grant {
		t.Errorf("first use: %v, %v", g, ok)
	}
	if g, _, ok := store.redeem(once, "alpha"); ok {
		t.Errorf("second use: %v", g)
	}
	thrice, _, _ := store.issue(grant, ticketTTL, 3)
	for i, want := range []bool{true, true, true, false} {
		if _, _, ok := store.redeem(thrice, "alpha"); ok != want {
			t.Errorf("use %d: %v", i+1, ok)
		}
	}
	if len(store.live) != 0 {
		t.Errorf("%d tickets are kept", len(store.live))
	}
}

func TestTicketExpires(t *testing.T) {
	clock := newHandClock()
	store := newTickets(clock.Now, slog.Default())
	secret, _, _ := store.issue(Grant{Role: Write, PTY: ""}, time.Minute, 5)
	clock.advance(time.Minute - time.Nanosecond)
	if _, _, ok := store.redeem(secret, ""); !ok {
		t.Error("refused just before the end")
	}
	clock.advance(time.Nanosecond)
	if _, _, ok := store.redeem(secret, ""); ok || len(store.live) != 0 {
		t.Errorf("used at its end; %d kept", len(store.live))
	}
}

func TestTicketsAreBounded(t *testing.T) {
	clock := newHandClock()
	store := newTickets(clock.Now, slog.Default())
	for i := range maxTickets {
		if _, _, err := store.issue(Grant{Role: Read, PTY: "alpha"}, time.Duration(10+i)*time.Second, 1); err != nil {
			t.Fatal(err)
		}
	}
	clock.advance(4 * time.Second)
	_, _, err := store.issue(Grant{Role: Read, PTY: "alpha"}, time.Minute, 1)
	if full, ok := errors.AsType[*httpapi.Error](err); !ok || full.Status != 429 || full.Code != "LIMIT" ||
		full.RetryAfter != 6*time.Second {
		t.Fatalf("got %v", err)
	}
	clock.advance(6 * time.Second)
	if _, _, err := store.issue(Grant{Role: Read, PTY: "alpha"}, time.Minute, 1); err != nil {
		t.Errorf("after one expired: %v", err)
	}
	clock.advance(2 * maxTickets * time.Second)
	if _, _, err := store.issue(Grant{Role: Read, PTY: "alpha"}, time.Minute, 1); err != nil || len(store.live) != 1 {
		t.Errorf("after all expired: %d are kept (%v)", len(store.live), err)
	}
}

// TestLoginsHaveAReserve: tickets of terminals keep nobody from logging in, and logins are bounded too.
func TestLoginsHaveAReserve(t *testing.T) {
	store := newTickets(newHandClock().Now, slog.Default())
	for range maxTickets {
		if _, _, err := store.issue(Grant{Role: Read, PTY: "alpha"}, time.Hour, 1); err != nil {
			t.Fatal(err)
		}
	}
	for range loginReserve {
		if _, _, err := store.issue(Grant{Role: Write}, ticketTTL, 1); err != nil {
			t.Fatal(err)
		}
	}
	_, _, err := store.issue(Grant{Role: Write}, ticketTTL, 1)
	if full, ok := errors.AsType[*httpapi.Error](err); !ok || full.Status != 429 || full.Code != "LIMIT" {
		t.Errorf("one more: %v", err)
	}
}

// TestTicketsGoWithTheirTerminal: room is made by those of terminals that are gone, also at a start.
func TestTicketsGoWithTheirTerminal(t *testing.T) {
	clock, dir := newHandClock(), t.TempDir()
	store := keptTickets(clock, dir, "a")
	store.there = func(pty string) bool { return pty != "gone" }
	kept, _, _ := store.issue(Grant{Role: Read, PTY: "alpha"}, time.Hour, 1)
	for range maxTickets - 1 {
		if _, _, err := store.issue(Grant{Role: Read, PTY: "gone"}, time.Hour, 1); err != nil {
			t.Fatal(err)
		}
	}
	next := newTickets(clock.Now, slog.Default())
	next.there = store.there
	next.keep(dir, "a", "")
	for name, s := range map[string]*tickets{"at once": store, "at a start": next} {
		if _, _, err := s.issue(Grant{Role: Read, PTY: "beta"}, time.Hour, 1); err != nil || len(s.live) != 2 {
			t.Errorf("%s: %d are kept (%v)", name, len(s.live), err)
		}
		if _, _, ok := s.redeem(kept, "alpha"); !ok {
			t.Errorf("%s: the ticket of another terminal is gone", name)
		}
	}
}

func TestTicketUsesUnderRace(t *testing.T) {
	store := newTickets(time.Now, slog.Default())
	const uses, tries = 10, 64
	secret, _, _ := store.issue(Grant{Role: Read, PTY: "alpha"}, time.Minute, uses)
	var used atomic.Int32
	var group sync.WaitGroup
	for range tries {
		group.Go(func() {
			if _, _, ok := store.redeem(secret, "alpha"); ok {
				used.Add(1)
			}
			if _, _, err := store.issue(Grant{Role: Read, PTY: "beta"}, time.Minute, 1); err != nil {
				t.Error(err)
			}
			store.valid(secret, "alpha")
		})
	}
	group.Wait()
	if used.Load() != uses || len(store.live) != tries {
		t.Errorf("used %d times, %d tickets left", used.Load(), len(store.live))
	}
}

func FuzzTicket(f *testing.F) {
	store := newTickets(time.Now, slog.Default())
	secret, _, _ := store.issue(Grant{Role: Read, PTY: "alpha"}, maxTicketTTL, 1)
	f.Add("", "")
	f.Add("x"+secret, "alpha")
	f.Add(secret[1:], "alpha")
	f.Add(secret, "beta")
	f.Fuzz(func(t *testing.T, text, pty string) {
		if text == secret && pty == "alpha" {
			return
		}
		if g, _, ok := store.redeem(text, pty); ok {
			t.Fatalf("%q opened %q: %v", text, pty, g)
		}
	})
}

// TestValidTicket: what is asked of a ticket without using it is what its use gives.
func TestValidTicket(t *testing.T) {
	clock := newHandClock()
	store := newTickets(clock.Now, slog.Default())
	grant := Grant{Role: Read, PTY: "alpha"}
	secret, until, err := store.issue(grant, ticketTTL, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range [][2]string{{secret, "beta"}, {secret, ""}, {secret + "x", "alpha"}} {
		if g, _, ok := store.valid(other[0], other[1]); ok || g != (Grant{}) {
			t.Errorf("%v: %v", other, g)
		}
	}
	for range 2 {
		if g, expires, ok := store.valid(secret, "alpha"); !ok || g != grant || !expires.Equal(until) {
			t.Errorf("%v, %v, %v", g, expires, ok)
		}
	}
	clock.advance(ticketTTL)
	if _, _, ok := store.valid(secret, "alpha"); ok {
		t.Error("valid at its end")
	}
}
