package auth

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"
)

// TestGuests: a guest's token has the rights of the guest, whatever the server asks of others, until the guest leaves.
// The audit log says who it was, and from where.
func TestGuests(t *testing.T) {
	for _, mode := range []string{ModeToken, ModeNone} {
		dir := t.TempDir()
		g := newGate(t, Config{Mode: mode, DataDir: dir, Audit: OpenAuditLog(dir, nil)})
		for role, status := range map[Role]int{Read: http.StatusForbidden, Write: http.StatusOK} {
			guest, err := g.auth.GuestOf("", role)
			if err != nil {
				t.Fatal(err)
			}
			guest.From, guest.Who = "192.0.2.1:22", "ssh:KEY"
			token, leave, err := g.auth.Admit(guest)
			if err != nil {
				t.Fatal(err)
			}
			bearer := "Authorization: Bearer " + token
			if r := g.do(t, nil, "GET", "/pty", "", bearer); r.status != 200 || r.body != string(role)+" " {
				t.Errorf("%s: %d %s", mode, r.status, r.body)
			}
			if r := g.do(t, nil, "POST", "/pty/web/input", `{"data":"x"}`, bearer, jsonType); r.status != status {
				t.Errorf("%s: a guest who may %s types: %d", mode, role, r.status)
			}
			g.auth.NoteGuest(guest, AuditLogin, "ssh", "ok")
			leave()
			wantCode(t, g.do(t, nil, "GET", "/pty", "", bearer), http.StatusUnauthorized, "UNAUTHORIZED")
		}
		b, err := os.ReadFile(filepath.Join(dir, AuditFile))
		if want := `"who":"ssh:KEY","from":"192.0.2.1:22","what":"login","target":"ssh","result":"ok"`; err != nil ||
			!strings.Contains(string(b), want) {
			t.Errorf("%v: the audit log is %s, without %s", err, b, want)
		}
	}
}

// TestGuestsOfUsers: a guest who is a user ends with the user, and so does what the guest has opened.
func TestGuestsOfUsers(t *testing.T) {
	alice := User{Name: "alice", Hash: DigestOf(strings.Repeat("alice-", 6))}
	g := newGate(t, Config{Users: NewUsers([]User{alice})})
	if _, err := g.auth.GuestOf("bob", Write); !errors.Is(err, ErrNoGuest) {
		t.Errorf("bob is no user: %v", err)
	}
	guest, err := g.auth.GuestOf("alice", Write)
	if err != nil || guest.Owner() != "alice" {
		t.Fatal(guest, err)
	}
	ended := make(chan struct{})
	guest.Ended = func() { close(ended) }
	token, leave, err := g.auth.Admit(guest)
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	opened := make(chan context.Context, 1)
	g.Config.Handler.(*echo.Echo).GET("/session/:sid/open", func(c echo.Context) error {
		opened <- c.Request().Context()
		<-c.Request().Context().Done()
		return nil
	})
	go func() {
		r, err := http.NewRequest(http.MethodGet, g.URL+"/session/x/open", nil)
		if err == nil {
			r.Header.Set("Authorization", "Bearer "+token)
			var reply *http.Response
			if reply, err = http.DefaultClient.Do(r); err == nil {
				_ = reply.Body.Close()
			}
		}
		if err != nil {
			t.Error(err)
		}
	}()
	ctx := <-opened
	for role, user := range map[Role]string{Write: strings.Repeat("alice-", 6), Read: strings.Repeat("wrong-", 6)} {
		by, _, err := g.auth.GuestOfToken(user)
		if (err == nil) != (role == Write) || err == nil && by.Owner() != "alice" {
			t.Errorf("the token %s is of %+v: %v", user, by, err)
		}
	}
	alice.Admin = true
	g.auth.SetUsers([]User{alice})
	<-ended
	<-ctx.Done()
	if _, _, err := g.auth.Admit(guest); !errors.Is(err, ErrNoGuest) {
		t.Errorf("rights from before: %v", err)
	}
	wantCode(t, g.do(t, nil, "GET", "/pty", "", "Authorization: Bearer "+token), http.StatusUnauthorized, "UNAUTHORIZED")
}
