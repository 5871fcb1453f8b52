package tests

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// request is one HTTP request. Header values of "" are left out.
type request struct {
	method, path, body string
	header             map[string]string
}

// reply is what came back.
type reply struct {
	t       testing.TB
	request request
	status  int
	header  http.Header
	body    string
}

// plain is a client that keeps nothing: no connection, no cookie, no redirect.
var plain = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true, DisableCompression: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// do sends a request with exactly the headers it has.
func (s *server) do(r request) reply {
	s.t.Helper()
	got, whole := s.part(r)
	if !whole {
		s.t.Fatalf("%s %s: the reply ends in its middle", r.method, r.path)
	}
	return got
}

// part is do for a reply that the server may break off; whole says that it did not.
func (s *server) part(r request) (got reply, whole bool) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.ctx(), r.method, s.url+r.path, strings.NewReader(r.body))
	s.must(err)
	for k, v := range r.header {
		if strings.EqualFold(k, "Host") {
			req.Host = v
		} else if v != "" {
			req.Header.Set(k, v)
		}
	}
	resp, err := plain.Do(req)
	if err != nil {
		s.t.Fatalf("%s %s: %v", r.method, r.path, err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	got = reply{s.t, r, resp.StatusCode, resp.Header, string(b)}
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		s.must(err)
	}
	return got, err == nil
}

// call sends a request as a program does: with the token, and JSON when there
// is a body.
func (s *server) call(method, path, body string) reply {
	s.t.Helper()
	h := map[string]string{"Authorization": s.bearer()}
	if body != "" {
		h["Content-Type"] = "application/json"
	}
	return s.do(request{method, path, body, h})
}

func (s *server) get(path string) reply { s.t.Helper(); return s.call(http.MethodGet, path, "") }
func (s *server) post(path, body string) reply {
	s.t.Helper()
	return s.call(http.MethodPost, path, body)
}

// bearer is the Authorization header of a program, "" without authentication.
func (s *server) bearer() string {
	if s.how.auth != "token" {
		return ""
	}
	return "Bearer " + s.token()
}

// token is the long-lived token.
func (s *server) token() string {
	b, err := os.ReadFile(filepath.Join(s.how.dir, "token"))
	s.must(err)
	return strings.TrimSpace(string(b))
}

// wants fails the test when the status is another one.
func (r reply) wants(status int) reply {
	r.t.Helper()
	if r.status != status {
		r.t.Fatalf("%s %s %.200s: status %d, want %d: %s", r.request.method, r.request.path, r.request.body, r.status,
			status, r.body)
	}
	return r
}

// into reads the JSON of the reply.
func (r reply) into(v any) reply {
	r.t.Helper()
	if ct := r.header.Get("Content-Type"); ct != "application/json" {
		r.t.Errorf("%s %s: Content-Type %q", r.request.method, r.request.path, ct)
	}
	if err := json.Unmarshal([]byte(r.body), v); err != nil {
		r.t.Fatalf("%s %s: %v in %s", r.request.method, r.request.path, err, r.body)
	}
	return r
}

var codeForm = regexp.MustCompile(`^[A-Z][A-Z0-9_]+$`)

// refused checks that the reply is an error of the contract with that status
// and code, and that its sentence has all the words.
func (r reply) refused(status int, code string, words ...string) {
	r.t.Helper()
	name := r.request.method + " " + r.request.path + " " + clip(r.request.body)
	if r.status != status {
		r.t.Errorf("%s: status %d, want %d: %s", name, r.status, status, clip(r.body))
		return
	}
	var e struct {
		Error    *string         `json:"error"`
		Code     *string         `json:"code"`
		Details  *map[string]any `json:"details"`
		Approval string          `json:"approval_id"` // of 423 alone
	}
	d := json.NewDecoder(strings.NewReader(r.body))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil || e.Error == nil || e.Code == nil || e.Details == nil {
		r.t.Errorf("%s: %v: not an error of the contract: %s", name, err, clip(r.body))
		return
	}
	if (e.Approval != "") != (code == "NEEDS_APPROVAL") {
		r.t.Errorf("%s: the approval %q with status %d", name, e.Approval, status)
	}
	if *e.Code != code || !codeForm.MatchString(*e.Code) {
		r.t.Errorf("%s: code %q, want %q", name, *e.Code, code)
	}
	if *e.Error == "" || strings.Contains(*e.Error, "\n") {
		r.t.Errorf("%s: not one sentence: %q", name, *e.Error)
	}
	for _, w := range words {
		if !strings.Contains(*e.Error, w) {
			r.t.Errorf("%s: %q does not say %q", name, *e.Error, w)
		}
	}
}

func clip(s string) string {
	if len(s) > 300 {
		return s[:300] + "…"
	}
	return s
}

// rawGet sends a GET on a connection of its own and leaves the reply unread.
func (s *server) rawGet(path string, buffer int) net.Conn {
	s.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	s.must(err)
	s.t.Cleanup(func() { _ = conn.Close() })
	if buffer > 0 {
		s.must(conn.(*net.TCPConn).SetReadBuffer(buffer))
	}
	_, err = io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: "+strings.TrimPrefix(s.url, "http://")+"\r\n\r\n")
	s.must(err)
	return conn
}
