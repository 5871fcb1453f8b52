package auth

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// keptTickets is a store that keeps its tickets in dir, as a server of that token does. Dropping it is a kill: it has
// no end.
func keptTickets(clock *handClock, dir, token string) *tickets {
	t := newTickets(clock.Now, slog.New(slog.DiscardHandler))
	t.keep(dir, token, "")
	return t
}

// TestTicketsOutliveTheServer: what is left of them, until they expire, for the same token only; login tickets do not.
func TestTicketsOutliveTheServer(t *testing.T) {
	clock, dir := newHandClock(), t.TempDir()
	first := keptTickets(clock, dir, "a")
	once, _, _ := first.issue(Grant{Role: Write, PTY: "alpha"}, time.Hour, 1)
	used, _, _ := first.issue(Grant{Role: Write, PTY: "alpha"}, time.Hour, 1)
	thrice, _, _ := first.issue(Grant{Role: Read, PTY: "beta"}, time.Hour, 3)
	short, _, _ := first.issue(Grant{Role: Read, PTY: "beta"}, time.Minute, 1)
	login, _, _ := first.issue(Grant{Role: Write}, ticketTTL, 1)
	for _, redeemed := range []string{used, thrice} {
		pty := map[string]string{used: "alpha", thrice: "beta"}[redeemed]
		if _, _, ok := first.redeem(redeemed, pty); !ok {
			t.Fatal("refused")
		}
	}
	file := filepath.Join(dir, ticketFile)
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{once, used, thrice, short, login} {
		if bytes.Contains(content, []byte(secret)) {
			t.Error("the file has a secret")
		}
	}
	if info, _ := os.Stat(file); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %o", info.Mode().Perm())
	}
	clock.advance(time.Minute)
	second := keptTickets(clock, dir, "a")
	for _, tc := range []struct {
		name, secret, pty string
		want              []bool
	}{{"unused", once, "alpha", []bool{true, false}}, {"used up", used, "alpha", []bool{false}},
		{"used once of three times", thrice, "beta", []bool{true, true, false}},
		{"expired", short, "beta", []bool{false}}, {"a login", login, "", []bool{false}}} {
		for i, want := range tc.want {
			if _, _, ok := second.redeem(tc.secret, tc.pty); ok != want {
				t.Errorf("%s: use %d: %v", tc.name, i+1, ok)
			}
		}
	}
	again, _, _ := second.issue(Grant{Role: Read, PTY: "beta"}, time.Hour, 1)
	if _, _, ok := keptTickets(clock, dir, "b").redeem(again, "beta"); ok {
		t.Error("the ticket of another token")
	}
	if _, _, ok := keptTickets(clock, dir, "a").redeem(again, "beta"); ok {
		t.Error("a ticket that was forgotten")
	}
}

// TestFullTicketFile: a use is read also behind as many tickets as there may be.
func TestFullTicketFile(t *testing.T) {
	clock, dir := newHandClock(), t.TempDir()
	first := keptTickets(clock, dir, "a")
	secret := ""
	for range maxTickets {
		secret, _, _ = first.issue(Grant{Role: Write, PTY: "alpha"}, time.Hour, 1)
	}
	if _, _, ok := first.redeem(secret, "alpha"); !ok {
		t.Fatal("refused")
	}
	second := keptTickets(clock, dir, "a")
	if _, _, ok := second.redeem(secret, "alpha"); ok || len(second.live) != maxTickets-1 {
		t.Errorf("used twice: %v; %d tickets", ok, len(second.live))
	}
}

// TestTornTicketFile: whatever byte a killed server came to, no ticket can be used more often than it was issued for.
func TestTornTicketFile(t *testing.T) {
	clock, dir := newHandClock(), t.TempDir()
	first := keptTickets(clock, dir, "a")
	secret, _, _ := first.issue(Grant{Role: Write, PTY: "alpha"}, time.Hour, 2)
	first.redeem(secret, "alpha")
	file := filepath.Join(dir, ticketFile)
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	uses := func() (n int) {
		s := keptTickets(clock, dir, "a")
		for range 3 {
			if _, _, ok := s.redeem(secret, "alpha"); ok {
				n++
			}
		}
		return n
	}
	issued := bytes.IndexByte(content, '\n') + 1
	issued += bytes.IndexByte(content[issued:], '\n') + 1
	for cut := range content {
		if err := os.WriteFile(file, content[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		want := 0
		if cut >= issued-1 {
			want = 2 // the use was not granted before its line was complete
		}
		if cut == len(content)-1 {
			want = 1
		}
		if got := uses(); got != want {
			t.Errorf("cut at %d of %d: %d uses, want %d", cut, len(content), got, want)
		}
	}
}

// TestTicketFileThatCannotBeWritten: tickets work on, and none that was used comes back.
func TestTicketFileThatCannotBeWritten(t *testing.T) {
	clock, dir := newHandClock(), t.TempDir()
	first := keptTickets(clock, dir, "a")
	secret, _, _ := first.issue(Grant{Role: Write, PTY: "alpha"}, time.Hour, 1)
	var full syscall.Stat_t
	if syscall.Stat("/dev/full", &full) != nil {
		t.Skip("no /dev/full")
	}
	f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	first.journal.close()
	first.journal.file = f
	if _, _, ok := first.redeem(secret, "alpha"); !ok {
		t.Error("refused because of the disk")
	}
	if _, _, ok := keptTickets(clock, dir, "a").redeem(secret, "alpha"); ok {
		t.Error("used twice")
	}
	later, _, _ := first.issue(Grant{Role: Write, PTY: "alpha"}, time.Hour, 1) // there is room again
	if _, _, ok := keptTickets(clock, dir, "a").redeem(later, "alpha"); !ok {
		t.Error("not kept when there was room again")
	}
}

// TestTicketFileIsBounded: many uses do not make it grow for ever.
func TestTicketFileIsBounded(t *testing.T) {
	clock, dir := newHandClock(), t.TempDir()
	s := keptTickets(clock, dir, "a")
	pty := strings.Repeat("x", 64)
	secret := ""
	for i := range 40_000 {
		if i%maxTicketUses == 0 {
			secret, _, _ = s.issue(Grant{Role: Read, PTY: pty}, time.Hour, maxTicketUses)
		}
		if _, _, ok := s.redeem(secret, pty); !ok {
			t.Fatal("refused")
		}
	}
	if info, err := os.Stat(filepath.Join(dir, ticketFile)); err != nil || info.Size() > maxSecretFile+maxSecretLine {
		t.Errorf("%d bytes, %v", info.Size(), err)
	}
}

func FuzzReadTickets(f *testing.F) {
	now := time.Now()
	of := strings.Repeat("0", 64)
	f.Add([]byte(`{"format":1,"of":"` + of + `"}` + "\n" + `{"digest":"` + of +
		`","pty":"a","role":"read","expires":"2099-01-01T00:00:00Z","uses":1}` + "\n"))
	f.Add([]byte(`{"format":1}` + "\n{}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, found := range readTickets(bytes.NewReader(text), of, now) {
			if found.uses < 1 || found.uses > maxTicketUses || found.grant.PTY == "" || !now.Before(found.expires) ||
				found.expires.After(now.Add(maxTicketTTL)) {
				t.Errorf("%+v", found)
			}
		}
	})
}

// TestTicketLines: a line with any field out of bounds is invalid, and changes no ticket.
func TestTicketLines(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	key := DigestOf("secret")
	good := issueOf(key, &ticket{grant: Grant{Role: Read, PTY: "alpha"}, expires: now.Add(maxTicketTTL),
		uses: maxTicketUses})
	for name, tc := range map[string]struct {
		change      func(*ticketLine)
		valid, live bool
	}{
		"good":              {func(*ticketLine) {}, true, true},
		"of a writer":       {func(l *ticketLine) { l.Role = Write }, true, true},
		"one use":           {func(l *ticketLine) { l.Uses = 1 }, true, true},
		"no terminal":       {func(l *ticketLine) { l.PTY = "" }, false, false},
		"no role":           {func(l *ticketLine) { l.Role = "" }, false, false},
		"another role":      {func(l *ticketLine) { l.Role = "admin" }, false, false},
		"no use":            {func(l *ticketLine) { l.Uses = 0 }, false, false},
		"too many uses":     {func(l *ticketLine) { l.Uses = maxTicketUses + 1 }, false, false},
		"expired":           {func(l *ticketLine) { l.Expires = now }, true, false},
		"lasts too long":    {func(l *ticketLine) { l.Expires = now.Add(maxTicketTTL + 1) }, true, false},
		"no digest":         {func(l *ticketLine) { l.Digest = "" }, false, false},
		"short digest":      {func(l *ticketLine) { l.Digest = l.Digest[2:] }, false, false},
		"a digit too many":  {func(l *ticketLine) { l.Digest += "0" }, false, false},
		"not hexadecimal":   {func(l *ticketLine) { l.Digest = "z" + l.Digest[1:] }, false, false},
		"use of an unknown": {func(l *ticketLine) { *l = ticketLine{Digest: l.Digest, Used: true} }, true, false},
	} {
		l, live := good, map[digest]*ticket{}
		tc.change(&l)
		if valid := l.apply(live, now); valid != tc.valid || (live[key] != nil) != tc.live || len(live) > 1 {
			t.Errorf("%s: valid %v, %d live", name, valid, len(live))
		}
	}
	live := map[digest]*ticket{key: {grant: Grant{Role: Read, PTY: "alpha"}, expires: now.Add(time.Hour), uses: 2}}
	for _, left := range []int{1, 0} {
		if !(ticketLine{Digest: good.Digest, Used: true}).apply(live, now) {
			t.Error("a use is invalid")
		}
		if found := live[key]; (found != nil) != (left > 0) || found != nil && found.uses != left {
			t.Errorf("%+v with %d uses left", found, left)
		}
	}
}

// TestTicketFileOfAnotherServer: a head of another format or token, or none, is a file without tickets.
func TestTicketFileOfAnotherServer(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	line := `{"digest":"` + strings.Repeat("ab", len(digest{})) +
		`","pty":"alpha","role":"read","expires":"2026-05-01T12:30:00Z","uses":1}` + "\n"
	for head, want := range map[string]int{
		`{"format":1,"of":"me"}` + "\n":    1,
		`{"format":2,"of":"me"}` + "\n":    0,
		`{"format":1,"of":"other"}` + "\n": 0,
		"{}\n":                             0,
		"":                                 0,
		"x\n":                              0,
	} {
		for after, extra := range map[string]int{"": 0, "torn": 0, "{}\n" + strings.ReplaceAll(line, "ab", "cd"): 0,
			strings.ReplaceAll(line, "ab", "cd"): want} {
			if live := readTickets(strings.NewReader(head+line+after), "me", now); len(live) != want+extra {
				t.Errorf("%q, then %q: %d live", head, after, len(live))
			}
		}
	}
}
