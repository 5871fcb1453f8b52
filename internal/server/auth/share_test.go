package auth

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/server/httpapi"
)

// keptShares is a store that keeps its shares in dir, as a server of that token does. Dropping it is a kill.
func keptShares(clock *handClock, dir, token string) *shares {
	s := newShares(clock.Now, slog.New(slog.DiscardHandler), func(pty string) bool { return pty != "gone" })
	s.keep(dir, token, "")
	return s
}

func ofPTY(pty string, limit int) share {
	return share{grant: Grant{Role: Read, PTY: pty}, limit: limit, by: "token"}
}

// TestSharesOutliveTheServer: what is left of them, until they expire, for the same token only. The file has no secret.
func TestSharesOutliveTheServer(t *testing.T) {
	clock, dir := newHandClock(), t.TempDir()
	first := keptShares(clock, dir, "a")
	issue := func(one share, ttl time.Duration) (string, string) {
		secret, made, err := first.issue(one, ttl, nil)
		if err != nil {
			t.Fatal(err)
		}
		return secret, made.id
	}
	twice, _ := issue(ofPTY("alpha", 2), time.Hour)
	spent, spentID := issue(ofPTY("alpha", 1), time.Hour)
	endless, _ := issue(share{grant: Grant{Role: Write, Session: "dev"}, name: "team"}, time.Hour)
	short, _ := issue(ofPTY("alpha", 0), time.Minute)
	gone, _ := issue(ofPTY("alpha", 0), time.Hour)
	shut, shutID := issue(ofPTY("alpha", 0), time.Hour)
	_, _ = first.use(twice)
	_, _ = first.use(spent)
	_, _ = first.use(endless)
	first.end(func(s *share) bool { return s.key == DigestOf(gone) })
	first.shut(shutID)
	cookie := first.cookie(spentID)
	content, err := os.ReadFile(filepath.Join(dir, shareFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{twice, spent, endless, short, gone, shut} {
		if bytes.Contains(content, []byte(secret)) {
			t.Error("the file has a secret")
		}
	}
	if info, _ := os.Stat(filepath.Join(dir, shareFile)); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %o", info.Mode().Perm())
	}
	clock.advance(time.Minute)
	second := keptShares(clock, dir, "a")
	for name, tc := range map[string]struct {
		secret string
		want   []bool
	}{"used once of two": {twice, []bool{true, false}}, "used up": {spent, []bool{false}},
		"no limit": {endless, []bool{true, true}}, "expired": {short, []bool{false}}, "ended": {gone, []bool{false}},
		"shut": {shut, []bool{false}}, "unknown": {"x", []bool{false}}} {
		for i, want := range tc.want {
			if _, ok := second.use(tc.secret); ok != want {
				t.Errorf("%s: use %d: %v", name, i+1, ok)
			}
		}
	}
	if _, ok := second.ofID(spentID); !ok || second.cookie(spentID) != cookie {
		t.Error("the page of one that is used up does not come back")
	}
	if _, ok := second.ofID(shutID); ok {
		t.Error("the page of one whose viewer was kicked comes back")
	}
	if one, _ := second.ofSecret(endless); one.name != "team" || one.grant.Session != "dev" || one.grant.Role != Write ||
		one.grant.Share != one.id {
		t.Errorf("%+v", one)
	}
	if other := keptShares(clock, dir, "b"); len(other.byID) != 0 || other.cookie(spentID) == cookie {
		t.Error("the shares of another token")
	}
}

// TestTornShareFile: whatever byte a killed server came to, no share can be used more often than it was issued for, and
// whatever is in the file, a server starts.
func TestTornShareFile(t *testing.T) {
	clock, dir := newHandClock(), t.TempDir()
	first := keptShares(clock, dir, "a")
	secret, _, _ := first.issue(ofPTY("alpha", 2), time.Hour, nil)
	_, _ = first.use(secret)
	file := filepath.Join(dir, shareFile)
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	issued := bytes.LastIndexByte(content[:len(content)-1], '\n')
	for cut := range content {
		if err := os.WriteFile(file, content[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		want, got := 0, 0
		if cut >= issued {
			want = 2 // the use was not granted before its line was complete
		}
		if cut == len(content)-1 {
			want = 1
		}
		s := keptShares(clock, dir, "a")
		for range 3 {
			if _, ok := s.use(secret); ok {
				got++
			}
		}
		if got != want {
			t.Errorf("cut at %d of %d: %d uses, want %d", cut, len(content), got, want)
		}
	}
	head, line, _ := strings.Cut(string(content), "\n")
	line, _, _ = strings.Cut(line, "\n")
	for _, bad := range []string{"", "\x00\xff", `{"format":2}`, strings.Replace(line, `"read"`, `"admin"`, 1),
		strings.Replace(line, `"limit":2`, `"limit":-1`, 1), strings.Replace(line, `"pty":"alpha"`, `"pty":""`, 1),
		strings.Replace(line, `"digest":"`, `"digest":"0`, 1), strings.Repeat("x", maxSecretLine+1),
		strings.Replace(line, `"expires":"20`, `"expires":"21`, 1)} {
		if err := os.WriteFile(file, []byte(head+"\n"+bad+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if s := keptShares(clock, dir, "a"); len(s.byID) != 0 {
			t.Errorf("%.80q is a share", bad)
		}
	}
}

// TestSharesAreBounded: at most so many, of a user fewer; one that has expired makes room, unless it has viewers.
func TestSharesAreBounded(t *testing.T) {
	clock := newHandClock()
	s := newShares(clock.Now, slog.New(slog.DiscardHandler), func(string) bool { return true })
	issue := func(user string, ttl time.Duration, viewers map[string]int) error {
		one := ofPTY("alpha", 0)
		one.grant.User = user
		_, _, err := s.issue(one, ttl, viewers)
		return err
	}
	full := func(err error) bool {
		e, ok := errors.AsType[*httpapi.Error](err)
		return ok && e.Code == "LIMIT" && e.Status == http.StatusTooManyRequests
	}
	for range maxSharesOf {
		if err := issue("alice", time.Minute, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := issue("alice", time.Minute, nil); !full(err) {
		t.Errorf("a user: %v", err)
	}
	for range maxShares - maxSharesOf {
		if err := issue("", time.Hour, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := issue("", time.Hour, nil); !full(err) {
		t.Errorf("all: %v", err)
	}
	clock.advance(time.Minute)
	watched := map[string]int{}
	for id, one := range s.byID {
		if one.grant.User == "alice" {
			watched[id] = 1
		}
	}
	if err := issue("", time.Hour, watched); !full(err) {
		t.Errorf("with viewers: %v", err)
	}
	if err := issue("", time.Hour, nil); err != nil {
		t.Error(err)
	}
}

// shareLink makes a share at a gate, and returns its secret and id.
func (g *gate) shareLink(t *testing.T, body string) (secret, id string) {
	t.Helper()
	r := g.do(t, nil, "POST", "/shares", body, g.bearer(), jsonType)
	url, ok := member(r.body, "url")
	id, _ = member(r.body, "id")
	if r.status != http.StatusCreated || !ok {
		t.Fatalf("%d %s", r.status, r.body)
	}
	return url[strings.LastIndexByte(url, '/')+1:], id
}

// member is a text of a JSON object.
func member(object, name string) (value string, ok bool) {
	_, rest, ok := strings.Cut(object, `"`+name+`":"`)
	value, _, _ = strings.Cut(rest, `"`)
	return value, ok
}

// follow opens a link and returns its cookie.
func (g *gate) follow(t *testing.T, secret string) (cookie string, r reply) {
	t.Helper()
	r = g.do(t, nil, "GET", "/t/"+secret, "")
	cookie, _, _ = strings.Cut(r.header.Get("Set-Cookie"), ";")
	return "Cookie: " + cookie, r
}

// TestLinkIsFollowed: each GET is one use, HEAD and what a browser loads beforehand none; the cookie is for the path of
// its share only, where nothing else that the browser has counts.
func TestLinkIsFollowed(t *testing.T) {
	g := newGate(t, Config{})
	secret, id := g.shareLink(t, `{"pty":"web","uses":2,"role":"write"}`)
	for range 3 {
		if r := g.do(t, nil, "HEAD", "/t/"+secret, ""); r.status != 200 || r.header.Get("Set-Cookie") != "" {
			t.Errorf("HEAD: %d, %q", r.status, r.header.Get("Set-Cookie"))
		}
		if r := g.do(t, nil, "GET", "/t/"+secret, "", "Sec-Purpose: prefetch"); r.status != 503 {
			t.Errorf("prefetch: %d", r.status)
		}
	}
	cookie, r := g.follow(t, secret)
	set := r.header.Get("Set-Cookie")
	for _, want := range []string{"; Path=/t/" + id + "/;", "HttpOnly", "SameSite=Strict", "; Max-Age=3"} {
		if !strings.Contains(set, want) {
			t.Errorf("%s has no %s", set, want)
		}
	}
	if r.status != 200 || !strings.Contains(r.body, `url=`+id+`/"`) || strings.Contains(r.body, secret) ||
		r.header.Get("Referrer-Policy") != "no-referrer" {
		t.Errorf("%d %v %s", r.status, r.header, r.body)
	}
	if r := g.do(t, nil, "GET", "/t/"+id+"/pty/web/ws", "", cookie); r.body != "write alpha-000001" {
		t.Errorf("below its path: %d %s", r.status, r.body)
	}
	browser := g.browser(t)
	page := g.logIn(t, browser)
	if r := g.do(t, browser, "GET", "/t/"+id+"/pty/beta-0000002/ws", "", page, g.bearer()); r.status != 404 {
		t.Errorf("with a login, the token and no cookie of the share: %d %s", r.status, r.body)
	}
	other, otherID := g.shareLink(t, `{"pty":"beta-0000002"}`)
	second, _ := g.follow(t, other)
	both := second + "; " + strings.TrimPrefix(cookie, "Cookie: ")
	for path, want := range map[string]string{"/t/" + id + "/pty/web/ws": "write alpha-000001",
		"/t/" + otherID + "/pty/beta-0000002/ws": "read beta-0000002"} {
		if r := g.do(t, nil, "GET", path, "", both); r.body != want {
			t.Errorf("%s with two cookies: %d %s", path, r.status, r.body)
		}
	}
	for _, forged := range []string{strings.Replace(cookie, id, otherID, 1), cookie + "x",
		"Cookie: " + shareCookie + "=" + id, second} {
		if r := g.do(t, nil, "GET", "/t/"+id+"/pty/web/ws", "", forged); r.status != 404 {
			t.Errorf("%q: %d %s", forged, r.status, r.body)
		}
	}
	if r := g.do(t, nil, "GET", "/t/"+id+"/pty/web/ws", "", cookie, "Upgrade: websocket"); r.status != 403 {
		t.Errorf("a WebSocket without Origin: %d", r.status)
	}
	for _, path := range []string{"/t//pty/web/ws", "/t/%2f../pty/web/ws", "/t/x/pty/web/ws",
		"/t/" + id + "//pty/web/ws"} {
		if r := g.do(t, nil, "GET", path, "", cookie); r.status == 200 {
			t.Errorf("%s: %s", path, r.body)
		}
	}
	_, again := g.follow(t, secret)
	_, dead := g.follow(t, secret)
	_, wrong := g.follow(t, "wrong")
	if again.status != 200 || dead.status != 404 || wrong.body != dead.body || wrong.status != dead.status ||
		!strings.Contains(dead.header.Get("Content-Type"), "text/html") {
		t.Errorf("the second use %d, the third %d, a wrong one %d", again.status, dead.status, wrong.status)
	}
	if log := g.log.String(); strings.Contains(log, secret) || strings.Contains(log, other) {
		t.Error("the log has a secret")
	}
}

// TestShareIsOfItsTerminals: a secret and a cookie open streams, sockets and snapshots of the terminals that are
// shared, and nothing else; the role is the share's.
func TestShareIsOfItsTerminals(t *testing.T) {
	g := newGate(t, Config{})
	one, _ := g.shareLink(t, `{"pty":"web"}`)
	session, _ := g.shareLink(t, `{"session":"other","role":"write"}`)
	for secret, opens := range map[string]string{one: "alpha-000001", session: "beta-0000002"} {
		cookie, _ := g.follow(t, secret)
		for _, path := range []string{"/pty/alpha-000001/", "/pty/beta-0000002/", "/session/other/pty/web/",
			"/session/other/pty/beta-0000002/"} {
			for _, verb := range []string{"stream", "ws", "snapshot"} {
				want := 401
				if strings.Contains(path, opens) || secret == session && strings.Contains(path, "/session/other") {
					want = 200
				}
				if r := g.do(t, nil, "GET", path+verb+"?ticket="+secret, ""); r.status != want {
					t.Errorf("%s%s of %s: %d %s", path, verb, opens, r.status, r.body)
				}
			}
		}
		for _, method := range []string{"GET", "POST", "DELETE", "PUT", "PATCH"} {
			for _, path := range []string{"/shares", "/shares/x", "/tickets", "/logout"} {
				if r := g.do(t, nil, method, path, `{}`, cookie, jsonType); r.status < 400 {
					t.Errorf("%s %s: %d %s", method, path, r.status, r.body)
				}
			}
		}
	}
	for _, reaches := range []string{"/pty", "/metrics", "/pty/:id", "/pty/:id/input", "/session/:sid/exec", "/backup",
		"/openapi.json", "/shares", "/tickets"} {
		if (Grant{Role: Write, PTY: "x", Share: "y"}).Reaches(reaches) ||
			(Grant{Role: Write, Session: "x"}).Reaches(reaches) {
			t.Errorf("a share reaches %s", reaches)
		}
	}
}

// TestShareEnds: what it has opened ends when it is deleted, and not when it expires; then nothing new opens.
func TestShareEnds(t *testing.T) {
	for _, by := range []string{"secret", "cookie"} {
		g := newGate(t, Config{})
		secret, id := g.shareLink(t, `{"pty":"web","ttl_s":60}`)
		cookie, _ := g.follow(t, secret)
		c, ctx := g.enters(t, by, secret, strings.TrimPrefix(cookie, "Cookie: "))
		g.clock.advance(time.Minute)
		if _, r := g.follow(t, secret); r.status != 404 {
			t.Errorf("after its end: %d", r.status)
		}
		if r := g.do(t, nil, "GET", "/t/"+id+"/pty/web/ws", "", cookie); r.status != 404 {
			t.Errorf("the cookie after its end: %d", r.status)
		}
		if r := g.do(t, nil, "GET", "/shares", "", g.bearer()); !strings.Contains(r.body, `"viewers":1`) || ctx.Err() != nil {
			t.Errorf("its viewer by %s: %v, %s", by, ctx.Err(), r.body)
		}
		if r := g.do(t, nil, "DELETE", "/shares/"+id, "", g.bearer()); r.status != 200 {
			t.Errorf("%d %s", r.status, r.body)
		}
		if !errors.Is(context.Cause(ctx), httpapi.ErrEnded) {
			t.Errorf("its viewer by %s: %v", by, context.Cause(ctx))
		}
		g.auth.leave(c)
		if r := g.do(t, nil, "GET", "/shares", "", g.bearer()); r.body != `{"shares":[]}`+"\n" && r.body != `{"shares":[]}` {
			t.Errorf("%s", r.body)
		}
	}
}

// enters lets a request in by a share, and returns its context.
func (g *gate) enters(t *testing.T, by, secret, cookie string) (echo.Context, context.Context) {
	t.Helper()
	r := sampleRequest("GET", "localhost")
	r.URL.RawQuery = "ticket=" + secret
	if by == "cookie" {
		r.Header.Set("Cookie", cookie)
	}
	c := echo.New().NewContext(r, echo.NewResponse(nopWriter{}, nil))
	c.SetPath("/pty/:id/ws")
	c.SetParamNames("id")
	c.SetParamValues("web")
	var err error
	if by == "cookie" {
		_, err = g.auth.grantOfShareCookie(c, "")
	} else {
		one, _ := g.auth.shares.ofSecret(secret)
		_, err = g.auth.grantOfShare(c, one, secret)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c, c.Request().Context()
}

// nopWriter is a response that nobody reads.
type nopWriter struct{ http.ResponseWriter }

// TestKickedViewersLinkOpensNothing: the ticket or the share of a kicked viewer opens nothing more, for nobody, also
// after a restart; what it has opened stays.
func TestKickedViewersLinkOpensNothing(t *testing.T) {
	g := newGate(t, Config{})
	secret, id := g.shareLink(t, `{"pty":"web"}`)
	cookie, _ := g.follow(t, secret)
	c, ctx := g.enters(t, "secret", secret, "")
	g.auth.Revoker(c)()
	g.auth.Revoker(c)()
	if ctx.Err() != nil {
		t.Error("the others have ended")
	}
	if _, r := g.follow(t, secret); r.status != 404 {
		t.Errorf("the link: %d", r.status)
	}
	if r := g.do(t, nil, "GET", "/t/"+id+"/pty/web/ws", "", cookie); r.status != 404 {
		t.Errorf("the cookie: %d", r.status)
	}
	ticket, _, _ := g.auth.tickets.issue(Grant{Role: Read, PTY: "alpha-000001"}, time.Hour, 5)
	r := sampleRequest("GET", "localhost")
	r.URL.RawQuery = "ticket=" + ticket
	by := echo.New().NewContext(r, echo.NewResponse(nopWriter{}, nil))
	by.SetParamNames("id")
	by.SetParamValues("web")
	if _, err := g.auth.grantOfTicket(by, ticket); err != nil {
		t.Fatal(err)
	}
	g.auth.Revoker(by)()
	if r := g.do(t, nil, "GET", "/pty/web/ws?ticket="+ticket, ""); r.status != 401 {
		t.Errorf("the ticket: %d", r.status)
	}
	g.auth.Revoker(echo.New().NewContext(sampleRequest("GET", "localhost"), nil))() // by token: nothing
	next := newGate(t, Config{DataDir: g.dir})
	if _, r := next.follow(t, secret); r.status != 404 {
		t.Errorf("the link after a restart: %d", r.status)
	}
}

// TestLogoutOfAllEndsShares: as tickets do.
func TestLogoutOfAllEndsShares(t *testing.T) {
	g := newGate(t, Config{})
	secret, _ := g.shareLink(t, `{"pty":"web"}`)
	_, ctx := g.enters(t, "secret", secret, "")
	if r := g.do(t, nil, "POST", "/logout?all=1", "", g.bearer()); r.status != 200 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	if _, r := g.follow(t, secret); r.status != 404 || !errors.Is(context.Cause(ctx), httpapi.ErrEnded) {
		t.Errorf("%d, %v", r.status, context.Cause(ctx))
	}
	if s := keptShares(g.clock, g.dir, g.token); len(s.byID) != 0 {
		t.Errorf("%d are left", len(s.byID))
	}
}

// TestQRCodeIsAnSVG: a document of its own that is well-formed and has the margin that scanners need.
func TestQRCodeIsAnSVG(t *testing.T) {
	svg, err := qrSVG("https://term.example.com/t/" + NewSecret())
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "svg" {
			for _, a := range e.Attr {
				if a.Name.Local == "viewBox" {
					size, _ = strconv.Atoi(a.Value[strings.LastIndexByte(a.Value, ' ')+1:])
				}
			}
		}
	}
	finder := "M4 4h7v1h-7z" // the top of the first finder pattern
	if size < 21+8 || !strings.Contains(svg, finder) || !strings.Contains(svg, "<title>") ||
		strings.Contains(svg, "href") {
		t.Errorf("%d: %.300s", size, svg)
	}
}
