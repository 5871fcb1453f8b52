package tests

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// strangers opens connections that show no credentials and say what is given. The test closes them.
func (s *server) strangers(network, address string, n int, says string) (list []net.Conn) {
	s.t.Helper()
	for range n {
		c, err := net.Dial(network, address)
		s.must(err)
		s.t.Cleanup(func() { _ = c.Close() })
		if _, err := io.WriteString(c, says); err != nil && !isReset(err) && !strings.Contains(err.Error(), "pipe") {
			s.t.Fatal(err)
		}
		list = append(list, c)
	}
	return list
}

// closedByServer waits until the server has closed a connection.
func closedByServer(c net.Conn) error {
	_ = c.SetReadDeadline(time.Now().Add(patience))
	_, err := io.Copy(io.Discard, c)
	if err != nil && isReset(err) {
		return nil
	}
	return err
}

// TestStrangersLockNobodyOut: 300 connections without credentials, idle, with half a request or with the body of a
// refused one outstanding, take no descriptor that the token's holder needs.
func TestStrangersLockNobodyOut(t *testing.T) {
	t.Parallel()
	for name, says := range map[string]string{
		"idle":           "",
		"half a request": "GET /version HTTP/1.1\r\nHost: localhost\r\nX-",
		"half a body": "POST /pty HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
			"Content-Length: 1000\r\n\r\n{",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, launch{auth: "token", shell: "ulimit -n 256"})
			address := strings.TrimPrefix(s.url, "http://")
			s.strangers("tcp", address, 300, says)
			for range 3 { // each on a connection of its own
				begin := time.Now()
				r := s.do(request{"GET", "/pty", "", map[string]string{"Authorization": s.bearer()}}).wants(200)
				if d := time.Since(begin); d > time.Second {
					t.Errorf("%d after %v", r.status, d)
				}
			}
		})
	}
}

// TestStrangersOfOneAddress: more than 128 of an address end the oldest of them, of a unix socket they do not.
func TestStrangersOfOneAddress(t *testing.T) {
	t.Parallel()
	get := "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
	tcp := start(t, launch{auth: "token"})
	list := tcp.strangers("tcp", strings.TrimPrefix(tcp.url, "http://"), 129, "")
	begin := time.Now()
	tcp.must(closedByServer(list[0]))
	if d := time.Since(begin); d > 4*time.Second {
		t.Errorf("the oldest ended after %v", d)
	}
	socket := filepath.Join(t.TempDir(), "s")
	unix := start(t, launch{auth: "token", listen: "unix://" + socket})
	list = unix.strangers("unix", socket, 200, "")
	_, err := io.WriteString(list[0], get)
	unix.must(err)
	answer, err := http.ReadResponse(bufio.NewReader(list[0]), nil)
	if err != nil || answer.StatusCode != 200 {
		t.Fatal(answer, err)
	}
	_ = answer.Body.Close()
}

// TestManyComeAtOnce: more than 128 of an address that show credentials are all let in, as when the viewers behind a
// proxy come back after a restart.
func TestManyComeAtOnce(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token"})
	list := s.strangers("tcp", strings.TrimPrefix(s.url, "http://"), 300, "")
	for i, c := range list {
		_, err := fmt.Fprintf(c, "GET /version HTTP/1.1\r\nHost: localhost\r\nAuthorization: %s\r\n\r\n", s.bearer())
		if err != nil {
			t.Fatalf("connection %d of %d: %v", i, len(list), err)
		}
	}
	for i, c := range list {
		answer, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || answer.StatusCode != 200 {
			t.Fatalf("connection %d of %d: %v %v", i, len(list), answer, err)
		}
		_ = answer.Body.Close()
	}
}

// TestStrangersAreIdleForSeconds: a connection without credentials ends 5 s after its last request, one that showed
// them stays.
func TestStrangersAreIdleForSeconds(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token"})
	get := func(c net.Conn, path, more string) int {
		_, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n", path, more)
		s.must(err)
		answer, err := http.ReadResponse(bufio.NewReader(c), nil)
		s.must(err)
		_, _ = io.Copy(io.Discard, answer.Body)
		return answer.StatusCode
	}
	list := s.strangers("tcp", strings.TrimPrefix(s.url, "http://"), 2, "")
	bearer := "Authorization: " + s.bearer() + "\r\n"
	begin := time.Now()
	if a, b := get(list[0], "/pty", ""), get(list[1], "/pty", bearer); a != 401 || b != 200 {
		t.Fatal(a, b)
	}
	s.must(closedByServer(list[0]))
	if d := time.Since(begin); d < 4*time.Second || d > 30*time.Second {
		t.Errorf("a stranger's connection ended after %v", d)
	}
	if code := get(list[1], "/pty", ""); code != 401 { // it is there still; every request has to show them
		t.Error(code)
	}
}
