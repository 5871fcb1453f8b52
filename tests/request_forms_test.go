package tests

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// rawRequest sends a request line as it is, with headers, and returns the status and the header of the reply.
func (s *server) rawRequest(line string, headers ...string) (status int, header http.Header) {
	s.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	s.must(err)
	defer conn.Close()
	s.must(conn.SetDeadline(time.Now().Add(patience)))
	_, err = fmt.Fprintf(conn, "%s HTTP/1.1\r\nConnection: close\r\n%s\r\n\r\n", line, strings.Join(headers, "\r\n"))
	s.must(err)
	method, _, _ := strings.Cut(line, " ")
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	s.must(err)
	defer resp.Body.Close()
	return resp.StatusCode, resp.Header
}

// TestEveryFormOfARequestIsChecked: security rows 1, 2 and 5 for requests that no browser's address bar makes.
// Whatever the form of the target and the method, Host and Origin must be ours, and nothing is said without
// credentials.
func TestEveryFormOfARequestIsChecked(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	id := s.shell().ID
	at := strings.TrimPrefix(s.url, "http://")
	host, bearer := "Host: "+at, "Authorization: "+s.bearer()
	for _, line := range []string{"OPTIONS *", "OPTIONS /", "OPTIONS /nothere", "OPTIONS /pty/" + id,
		"OPTIONS /pty/nothere", "OPTIONS //x/pty", "CONNECT " + at, "CONNECT /pty", "TRACE /pty", "TRACE /",
		"HEAD /pty",
		"HEAD /nothere", "GET //x/pty", "GET " + s.url + "/pty", "GET http://localhost/pty", "HEAD " + s.url + "/",
		"PROPFIND /pty", "get /pty", "GET /./pty",
		"GET /assets/../pty", "GET /assets/..%2fpty", "GET /favicon.svg/../pty", "OPTIONS " + s.url + "/pty"} {
		for what, request := range map[string]struct {
			status  int
			headers []string
		}{
			"a foreign Host":   {403, []string{"Host: evil.example", bearer}},
			"a foreign Origin": {403, []string{host, bearer, "Origin: http://evil.example"}},
			"two Origins":      {403, []string{host, bearer, "Origin: " + s.url, "Origin: " + s.url}},
			"a stranger":       {401, []string{host}},
			"a wrong token":    {401, []string{host, bearer + "x"}},
		} {
			absolute := strings.Contains(line, "://") || strings.HasPrefix(line, "CONNECT "+at)
			if what == "a foreign Host" && absolute {
				continue // the target's own name counts (RFC 9112, 3.2.2)
			}
			status, header := s.rawRequest(line, request.headers...)
			if status != request.status || header.Get("X-Frame-Options") != "DENY" || header.Get("Allow") != "" {
				t.Errorf("%s, %s: %d %v, want %d", line, what, status, header, request.status)
			}
			for name := range header {
				if strings.HasPrefix(name, "Access-Control-") {
					t.Errorf("%s, %s: %s", line, what, name)
				}
			}
		}
	}
	for _, line := range []string{"GET http://evil.example/pty", "OPTIONS http://evil.example/pty",
		"CONNECT evil.example:80"} {
		if status, _ := s.rawRequest(line, host, bearer); status != 403 {
			t.Errorf("%s: %d, want 403", line, status)
		}
	}
	if status, header := s.rawRequest("OPTIONS /pty/"+id, host, bearer); status != 204 || header.Get("Allow") == "" {
		t.Errorf("OPTIONS of who may: %d %v", status, header)
	}
	if status, _ := s.rawRequest("OPTIONS *", host, bearer); status >= 500 {
		t.Errorf("OPTIONS * of who may: %d", status)
	}
}
