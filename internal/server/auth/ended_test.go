package auth

import (
	"log/slog"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
)

// TestEndedLoginsAreKept: a login that would have expired is forgotten when the file is full, and not before: the clock
// may have been wrong.
func TestEndedLoginsAreKept(t *testing.T) {
	now := time.Now()
	e := &endedLogins{Ended: map[string]time.Time{}}
	for i := range maxEnded - 1 {
		e.Ended[strconv.Itoa(i)] = now
	}
	full := e.with(newLogin(), now)
	if full == nil || len(full.Ended) != maxEnded {
		t.Fatal("a file that is just full has forgotten logins")
	}
	if more := full.with(newLogin(), now); more == nil || len(more.Ended) != 2 {
		t.Fatal("a file with one login too many keeps the expired ones")
	}
	for key := range full.Ended {
		full.Ended[key] = now.Add(time.Second)
	}
	if full.with(newLogin(), now) != nil {
		t.Error("more logins are in the file than it may have")
	}
}

// TestAnsweredRequestsHaveNoTimer: what has let a request in is not looked at when the request is answered.
func TestAnsweredRequestsHaveNoTimer(t *testing.T) {
	a := &Auth{opened: openedRequests{all: map[*opened]struct{}{}}}
	c := echo.New().NewContext(httptest.NewRequest("GET", "/", nil), httptest.NewRecorder())
	o := a.enter(c, &opened{pty: "one"})
	o.expire(time.Now().Add(time.Hour), time.Now)
	if len(a.opened.all) != 1 || o.ctx.Err() != nil {
		t.Fatal("the request is not entered")
	}
	a.leave(c)
	if o.timer.Stop() || len(a.opened.all) != 0 || o.ctx.Err() == nil {
		t.Error("an answered request is still watched")
	}
}

// TestTokenFileIsNamed: where the token is, for who has to find it; without one there is no file.
func TestTokenFileIsNamed(t *testing.T) {
	if name := (&Auth{mode: ModeToken}).TokenFile(); name != tokenFile {
		t.Errorf("with a token the file is %q", name)
	}
	if name := (&Auth{mode: ModeNone}).TokenFile(); name != "" {
		t.Errorf("without one the file is %q", name)
	}
}

// TestLogoutsAtOnceAreAllKept: logins that end at the same time are all in the file that the next server reads, and
// all of them at once is one state.
func TestLogoutsAtOnceAreAllKept(t *testing.T) {
	s := mustSessions(t, "token")
	ids := make([]loginID, 16)
	var all sync.WaitGroup
	for i := range ids {
		ids[i] = newLogin()
		all.Go(func() {
			if err := s.end(ids[i], time.Now().Add(time.Hour)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if next := loadEnded(s.ended.dir, slog.New(slog.DiscardHandler)); len(next.Ended) != len(ids) {
		t.Errorf("%d of %d logins are ended", len(next.Ended), len(ids))
	}
	for range ids {
		all.Go(func() {
			if _, err := s.endAll(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if next := loadEnded(s.ended.dir, slog.New(slog.DiscardHandler)); next.Epoch != s.ended.Epoch {
		t.Errorf("the file has the epoch %q, the server %q", next.Epoch, s.ended.Epoch)
	}
}
