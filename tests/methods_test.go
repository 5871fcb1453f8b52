package tests

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/evertty/evertty/client"
)

// TestHeadIsGetWithoutABody: the same status and headers for every kind of reply; of a stream at once, without a
// viewer.
func TestHeadIsGetWithoutABody(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token"})
	id := s.shell().ID
	s.post("/session/head/exec", `{"command":"echo hello"}`).wants(200)
	s.book.add("head")
	auth := map[string]string{"Authorization": s.bearer()}
	for _, path := range []string{"/", "/openapi.json", "/version", "/healthz", "/readyz", "/pty", "/session/test/pty",
		"/session/none/pty", "/shell", "/session/head/shell",
		"/session/head/commands", "/api/threads", "/api/threads/absent", "/pty/" + id, "/pty/absent",
		"/pty/" + id + "/snapshot", "/pty/" + id + "/snapshot?format=text",
		"/pty/" + id + "/snapshot?format=bad", "/pty/" + id + "/recording?format=raw", "/absent", "/ws", "/pty/" + id +
			"/ws", "/assets/absent.js"} {
		get := s.do(request{http.MethodGet, path, "", auth})
		head := s.do(request{http.MethodHead, path, "", auth})
		if head.status != get.status || head.body != "" {
			t.Errorf("HEAD %s: %d %q, GET is %d", path, head.status, head.body, get.status)
		}
		for name := range get.header {
			switch name {
			case "X-Request-Id", "Date", "Content-Length", "Transfer-Encoding":
				continue
			}
			if got, want := strings.Join(head.header[name], "|"), strings.Join(get.header[name], "|"); got != want {
				t.Errorf("HEAD %s: %s is %q, GET has %q", path, name, got, want)
			}
		}
	}
	for _, path := range []string{"/pty/" + id + "/stream", "/pty/" + id + "/recording?follow=1"} {
		head := s.do(request{http.MethodHead, path, "", auth}) // which would not return
		if head.status != 200 || head.body != "" || strings.Contains(path, "/stream") &&
			head.header.Get("Content-Type") != "text/event-stream" {
			t.Errorf("HEAD %s: %d %v", path, head.status, head.header)
		}
	}
	if i := s.info(id); i.Viewers != 0 {
		t.Errorf("%d viewers", i.Viewers)
	}
	options := s.do(request{http.MethodOptions, "/pty/" + id, "", auth})
	if options.status != 204 || options.header.Get("Allow") != "DELETE, GET, HEAD, OPTIONS, PATCH" {
		t.Errorf("OPTIONS: %d %v", options.status, options.header)
	}
	s.do(request{http.MethodHead, "/pty", "", nil}).wants(401)
	s.do(request{http.MethodOptions, "/pty", "", nil}).wants(401)
	s.do(request{http.MethodPut, "/pty/" + id, "", auth}).wants(405)
}

// TestTicketsOutliveAKill: a ticket of an hour opens its terminal after a kill -9, once; HEAD, as previews send it,
// does not use it up.
func TestTicketsOutliveAKill(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token"})
	id := s.shell().ID
	issue := func(body string) string {
		var made struct{ Ticket string }
		s.do(request{http.MethodPost, "/tickets", body,
			map[string]string{"Authorization": s.bearer(), "Content-Type": "application/json"}}).wants(201).into(&made)
		return "/pty/" + id + "/snapshot?format=text&ticket=" + made.Ticket
	}
	unused, used := issue(`{"pty":"`+id+`","ttl_s":3600}`), issue(`{"pty":"`+id+`","ttl_s":3600}`)
	thrice, short := issue(`{"pty":"`+id+`","ttl_s":3600,"uses":3}`), issue(`{"pty":"`+id+`","ttl_s":1}`)
	open := func(path string) int { return s.do(request{http.MethodGet, path, "", nil}).status }
	if open(used) != 200 || open(thrice) != 200 {
		t.Fatal("a ticket does not work")
	}
	s.kill()
	s.again()
	eventually(t, "a ticket of a second has expired", func() bool {
		head := s.do(request{http.MethodHead, short, "", nil})
		return head.status == 401
	})
	s.do(request{http.MethodHead, unused, "", nil}).wants(200)
	for _, tc := range []struct {
		name, path string
		want       []int
	}{{"unused", unused, []int{200, 401}}, {"used up", used, []int{401}}, {"used once", thrice,
		[]int{200, 200, 401}}, {"expired", short, []int{401}}} {
		for i, want := range tc.want {
			if got := open(tc.path); got != want {
				t.Errorf("%s, use %d: %d, want %d", tc.name, i+1, got, want)
			}
		}
	}
	if s.onDiskAnywhere(strings.TrimPrefix(unused, "/pty/"+id+"/snapshot?format=text&ticket=")) {
		t.Error("the data directory has the ticket")
	}
}

// TestTextThatIsNoText: what HTTP answers with 400 is an error event on a WebSocket, and nothing is typed.
func TestTextThatIsNoText(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	for _, path := range []string{"/pty/ID/ws", "/pty/ID/ws?format=binary", "/ws"} {
		id := s.create("cat").ID
		j := s.socket(strings.ReplaceAll(path, "ID", id), id)
		for _, message := range []string{`{"type":"input","pty":"ID","data":"bad` + "\xff" + `"}`,
			`{"type":"input","pty":"ID","data":"bad\ud800"}`, `{"type":"paste","pty":"ID","data":"bad` + "\xc3" + `"}`,
			`{"type":"paste","pty":"ID","data":"bad\udc00"}`, `{"type":"input","pty":"ID","data_b64":"bad!"}`,
			`{"type":"input","pty":"ID","data_b64":7}`,
			`{"type":"keys","pty":"ID","keys":["text:bad` + "\xe2\x82" + `"]}`,
			`{"type":"keys","pty":"ID","keys":["text:bad","NoSuchKey"]}`, `{"type":"keys","pty":"ID","keys":[]}`,
			`{"type":"keys","pty":"ID","keys":"bad"}`} {
			b, kind := []byte(strings.ReplaceAll(message, "ID", id)), websocket.TextMessage
			if strings.Contains(path, "binary") {
				b, kind = append([]byte{3}, b...), websocket.BinaryMessage
			}
			s.must(j.conn.WriteMessage(kind, b))
			refused := j.control(client.KindError)
			if refused.Code != "VALIDATION" || strings.Contains(refused.Error, "Go ") ||
				strings.Contains(refused.Error, "command.") {
				t.Errorf("%s: %q: %+v", path, message, refused)
			}
		}
		j.types(path, id, "good\n")
		s.await(id, "^good$")
		if text := s.text(id); strings.Contains(text, "bad") || strings.Contains(text, "\uFFFD") {
			t.Errorf("%s: it was typed:\n%s", path, text)
		}
		_ = j.Close()
	}
}
