package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/wire"
)

// serve starts a server for the test and returns a client of it. All
// connections are gone when the test ends.
func serve(t *testing.T, h http.Handler) *Client {
	t.Helper()
	noLeak(t)
	s := httptest.NewServer(h)
	c, err := New(s.URL, "secret")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); s.CloseClientConnections(); s.Close() })
	return c
}

func TestNewAddresses(t *testing.T) {
	for _, tc := range []struct {
		in, address, url string
		local            bool
	}{
		{"http://127.0.0.1:3000", "http://127.0.0.1:3000", "http://127.0.0.1:3000/pty/a", true},
		{"http://127.0.0.1:3000/?ticket=x", "http://127.0.0.1:3000", "http://127.0.0.1:3000/pty/a", true},
		{"http://[::1]:3000/", "http://[::1]:3000", "http://[::1]:3000/pty/a", true},
		{"https://box.example", "https://box.example", "https://box.example/pty/a", false},
		{"unix:///run/e.sock", "unix:///run/e.sock", "http://localhost/pty/a", true},
		{"localhost:3000", "", "", false},
		{"unix://relative", "", "", false},
		{"ftp://x", "", "", false},
		{"", "", "", false},
	} {
		c, err := New(tc.in, "")
		if tc.address == "" {
			if err == nil {
				t.Errorf("New(%q): no error", tc.in)
			}
			continue
		}
		if err != nil || c.Address() != tc.address || c.Local() != tc.local || c.at(nil, "pty", "a") != tc.url {
			t.Errorf("New(%q) = %+v, %v", tc.in, c, err)
		}
	}
}

// TestCalls checks method, path and body of every call against the contract.
func TestCalls(t *testing.T) {
	var got string
	c := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = strings.TrimSpace(r.Method + " " + r.URL.RequestURI() + " " + string(body))
		if r.Header.Get("Authorization") != "Bearer secret" {
			got += " without token"
		}
		if (len(body) > 0) != (r.Header.Get("Content-Type") == "application/json") {
			got += " with wrong type"
		}
		_, _ = io.WriteString(w, `{"id":"i1","items":[{"id":"i1","new":1}],"text":"hi","data":"\u001b[m","seq":7,`+
			`"matched":true,"status":"ok","version":"v1","url":"http://u"}`)
	}))
	ctx := t.Context()
	ten := 10
	for _, tc := range []struct {
		want string
		call func() error
	}{
		{`POST /session/main/pty {"cmd":["sh"],"cols":80,"rows":24,"env":{"A":"b"},"scrollback":10}`, func() error {
			i, err := c.Create(ctx, "main", wire.CreateTerminal{Cmd: []string{"sh"}, Cols: new(80), Rows: new(24),
				Env: map[string]string{"A": "b"}, Scrollback: &ten})
			return want(err, i.ID == "i1" && strings.Contains(string(i.Raw), `"status":"ok"`))
		}},
		{`GET /pty`, func() error {
			l, err := c.List(ctx, "")
			text, _ := json.Marshal(l)
			return want(err, len(l) == 1 && string(text) == `[{"id":"i1","new":1}]`)
		}},
		{`GET /session/s/pty`, func() error { l, err := c.List(ctx, "s"); return want(err, len(l) == 1) }},
		{`GET /pty/a%2F..%2Fb`, func() error { _, err := c.Get(ctx, "a/../b"); return err }},
		{`POST /pty/a/input {"data_b64":"aP8A"}`, func() error {
			n, err := c.Input(ctx, "a", []byte("h\xff\x00"))
			return want(err, n.Bytes == 3)
		}},
		{`POST /pty/a/input {"data_b64":""}`, func() error {
			n, err := c.Input(ctx, "a", nil)
			return want(err, n.Bytes == 0)
		}},
		{`POST /pty/a/keys {"keys":["C-c","Up"]}`,
			func() error { _, err := c.Keys(ctx, "a", "C-c", "Up"); return err }},
		{`POST /pty/a/keys {"mouse":{"x":3,"y":0,"button":"right"}}`, func() error {
			_, err := c.API().SendKeys(ctx, wire.Keys{TerminalRef: wire.TerminalRef{ID: "a"},
				Mouse: &wire.MouseEvent{X: 3, Button: "right"}})
			return err
		}},
		{`POST /pty/a/paste {"data":"x\ny"}`, func() error { _, err := c.Paste(ctx, "a", "x\ny"); return err }},
		{`POST /pty/a/resize {"cols":9,"rows":8}`, func() error { return c.Resize(ctx, "a", 9, 8) }},
		{`POST /pty/a/signal {"signal":"INT"}`, func() error { return c.Signal(ctx, "a", "INT") }},
		{`GET /pty/a/snapshot?format=text&scrollback=0`, func() error {
			s, err := c.Snapshot(ctx, "a", Text, 0)
			return want(err, s.Text == "hi" && s.Seq == 7 && s.Content(Text) == "hi" && s.Content(ANSI) == "\x1b[m")
		}},
		{`GET /pty/a/snapshot?format=ansi&scrollback=-1`, func() error {
			_, err := c.Snapshot(ctx, "a", ANSI, AllHistory)
			return err
		}},
		{`POST /pty/a/wait {"for":"idle","idle_ms":250,"timeout_ms":2000}`, func() error {
			w, err := c.Wait(ctx, "a", WaitRequest{For: "idle", Idle: 250 * time.Millisecond, Timeout: 2 * time.Second})
			return want(err, w.Matched)
		}},
		{`DELETE /pty/a`, func() error { return c.Delete(ctx, "a", false) }},
		{`DELETE /pty/a?purge=1`, func() error { return c.Delete(ctx, "a", true) }},
		{`GET /session/s/pty/a?secrets=1`, func() error {
			in := wire.GetTerminal{TerminalRef: wire.TerminalRef{SessionRef: wire.SessionRef{Session: "s"}, ID: "a"}}
			in.Secrets = true
			i, err := c.API().GetTerminal(ctx, in)
			return want(err, i.ID == "i1")
		}},
		{`GET /pty/a%2Fb`, func() error {
			_, err := c.API().GetTerminal(ctx, wire.GetTerminal{TerminalRef: wire.TerminalRef{ID: "a/b"}})
			return err
		}},
		{`POST /pty/a/resize {"cols":9,"rows":8}`, func() error {
			in := wire.ResizeTerminal{TerminalRef: wire.TerminalRef{ID: "a"}, Size: wire.Size{Cols: 9, Rows: 8}}
			_, err := c.API().ResizeTerminal(ctx, in)
			return err
		}},
		{`GET /session/s/commands?after=&limit=5`, func() error {
			in := wire.ListCommands{ShellRef: wire.ShellRef{SessionRef: wire.SessionRef{Session: "s"}}, After: new("")}
			in.Limit = 5
			_, err := c.API().ListCommands(ctx, in)
			return err
		}},
		{``, func() error {
			_, err := c.API().GetTerminal(ctx, wire.GetTerminal{})
			return want(nil, err != nil && strings.Contains(err.Error(), "a name in the path is missing"))
		}},
		{`POST /tickets {"login":true}`, func() error {
			k, err := c.Ticket(ctx, wire.TicketRequest{Login: true})
			return want(err, k.URL == "http://u")
		}},
		{`GET /version`, func() error { v, err := c.API().GetVersion(ctx); return want(err, v.Version == "v1") }},
		{`GET /healthz`, func() error { h, err := c.API().GetHealth(ctx); return want(err, h.Status == "ok") }},
	} {
		got = ""
		if err := tc.call(); err != nil {
			t.Errorf("%s: %v", tc.want, err)
		}
		if got != tc.want {
			t.Errorf("sent %s\nwant %s", got, tc.want)
		}
	}
}

// TestPages: a list that comes in pages is asked for up to its end.
func TestPages(t *testing.T) {
	var asked []string
	c := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.RequestURI())
		_, _ = io.WriteString(w, []string{`{"leases":[{"lease_id":"a"}],"next":"a"}`,
			`{"leases":[{"lease_id":"b"}]}`}[len(asked)-1])
	}))
	l, err := c.Leases(t.Context(), "docker")
	if err != nil || len(l) != 2 || l[0].LeaseID != "a" || string(l[1].Raw) != `{"lease_id":"b"}` ||
		strings.Join(asked, " ") != "/api/leases?limit=1000&provider=docker "+
			"/api/leases?after=a&limit=1000&provider=docker" {
		t.Fatalf("%q: %v, %v", asked, l, err)
	}
}

func want(err error, ok bool) error {
	if err == nil && !ok {
		return errors.New("the reply was not understood")
	}
	return err
}

func TestErrors(t *testing.T) {
	var status int
	var body string
	c := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	for _, tc := range []struct {
		status  int
		body    string
		is      error
		message string
	}{
		{404, `{"error":"no terminal \"x\"","code":"NOT_FOUND","details":{}}`, ErrNotFound, `no terminal "x"`},
		{409, `{"error":"it is over","code":"EXITED"}`, ErrExited, "it is over"},
		{409, `{"error":"name taken","code":"CONFLICT"}`, nil, "name taken"},
		{408, `{"error":"not seen","code":"TIMEOUT","details":{"text":"$"}}`, ErrTimeout, "not seen"},
		{401, `{"error":"no token","code":"UNAUTHORIZED"}`, ErrUnauthorized, "no token"},
		{502, `<html>`, nil, "502 Bad Gateway"},
	} {
		status, body = tc.status, tc.body
		_, err := c.Get(t.Context(), "x")
		var e *Error
		if !errors.As(err, &e) || e.Status != tc.status || !strings.Contains(err.Error(), tc.message) {
			t.Errorf("%d %s: %v", tc.status, tc.body, err)
		}
		for _, s := range []error{ErrNotFound, ErrExited, ErrTimeout, ErrUnauthorized, ErrNoServer} {
			if errors.Is(err, s) != (s == tc.is) {
				t.Errorf("%d %s: errors.Is %v is %v", tc.status, tc.body, s, !(s == tc.is))
			}
		}
	}
	status, body = 200, "<html>not ours</html>"
	if _, err := c.Get(t.Context(), "x"); err == nil {
		t.Error("a page that is not JSON was taken for a reply")
	}
}

func TestInputArrivesWholeAndInOrder(t *testing.T) {
	var got bytes.Buffer
	c := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var b struct {
			Data []byte `json:"data_b64"`
		}
		raw, _ := io.ReadAll(r.Body)
		if len(raw) > 1<<20 || json.Unmarshal(raw, &b) != nil {
			t.Errorf("a body of %d bytes", len(raw))
		}
		got.Write(b.Data)
		if got.Len() > 2*inputPiece {
			w.WriteHeader(http.StatusConflict)
			_, _ = io.WriteString(w, `{"error":"over","code":"EXITED"}`)
			return
		}
		_, _ = io.WriteString(w, `{"success":true}`)
	}))
	data := make([]byte, 2*inputPiece)
	for i := range data {
		data[i] = byte(i * 7 >> 3)
	}
	if n, err := c.Input(t.Context(), "a", data); err != nil || n.Bytes != len(data) ||
		!bytes.Equal(got.Bytes(), data) {
		t.Fatalf("%d of %d bytes, %v", n.Bytes, len(data), err)
	}
	if n, err := c.Input(t.Context(), "a", data); n.Bytes != 0 || !errors.Is(err, ErrExited) {
		t.Fatalf("%d, %v", n.Bytes, err)
	}
}

func TestDiscover(t *testing.T) {
	dir := t.TempDir()
	if _, err := Discover(dir); !errors.Is(err, ErrNoServer) {
		t.Fatalf("empty directory: %v", err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("server.json", `{"url":"http://127.0.0.1:1","pid":7,"token_file":"token"}`)
	if _, err := Discover(dir); err == nil {
		t.Fatal("a token file that is not there was accepted")
	}
	write("token", "abc\n")
	c, err := Discover(dir)
	if err != nil || c.token != "abc" || c.Address() != "http://127.0.0.1:1" {
		t.Fatalf("%+v, %v", c, err)
	}
	if _, err := c.List(t.Context(), ""); !errors.Is(err, ErrNoServer) {
		t.Fatalf("nobody listens there: %v", err)
	}
	write("server.json", `{`)
	if _, err := Discover(dir); !errors.Is(err, ErrNoServer) || !strings.Contains(err.Error(), "damaged") {
		t.Fatalf("broken file: %v", err)
	}
}

func TestUnixSocket(t *testing.T) {
	noLeak(t)
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := &httptest.Server{Listener: l,
		Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, `{"version":"`+r.Host+`"}`)
		})}}
	s.Start()
	c, err := New("unix://"+path, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); s.Close() })
	if v, err := c.API().GetVersion(t.Context()); err != nil || v.Version != "localhost" {
		t.Fatalf("%+v, %v", v, err)
	}
	gone, _ := New("unix://"+path+".not", "")
	if _, err := gone.API().GetVersion(t.Context()); !errors.Is(err, ErrNoServer) {
		t.Fatalf("absent socket: %v", err)
	}
}

func TestCancelledCall(t *testing.T) {
	c := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Get(ctx, "x"); !errors.Is(err, context.Canceled) || errors.Is(err, ErrNoServer) {
		t.Fatalf("%v", err)
	}
}
