//go:build linux

package main

import (
	"encoding/binary"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/evertty/evertty/tests/polling"
)

// fakeServer is a server of one terminal, "t1" by the name "build", that does
// what the test tells it.
type fakeServer struct {
	t    *testing.T
	http *httptest.Server
	// viewers get one value for each connection.
	viewers chan *fakeViewer

	mu     sync.Mutex
	gone   bool   // the terminal is: 404
	screen string // JSON of GET …/snapshot
	sizes  []string
}

// fakeViewer is the server's end of a connection.
type fakeViewer struct {
	*websocket.Conn
	query string
	got   chan string // messages: "i" and input, or "c" and control
}

func newFakeServer(t *testing.T) *fakeServer {
	t.Helper()
	noLeak(t)
	s := &fakeServer{t: t, viewers: make(chan *fakeViewer, 8),
		screen: `{"alt":false,"cursor":{"x":0,"y":0},"lines":[]}`}
	s.http = httptest.NewServer(s)
	t.Cleanup(func() { s.http.CloseClientConnections(); s.http.Close() })
	t.Setenv(envServer, s.http.URL)
	t.Setenv(envDataDir, t.TempDir())
	return s
}

func (s *fakeServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	gone, screen := s.gone, s.screen
	s.mu.Unlock()
	if gone {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"error":"there is no such terminal","code":"NOT_FOUND","details":{}}`)
		return
	}
	switch r.Method + " " + r.URL.Path {
	case "GET /pty":
		_, _ = io.WriteString(w, `{"items":[{"id":"t1","name":"build","state":"running"}]}`)
	case "GET /pty/build", "GET /pty/t1":
		_, _ = io.WriteString(w, `{"id":"t1","name":"build","state":"running"}`)
	case "POST /pty/t1/resize":
		b, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.sizes = append(s.sizes, string(b))
		s.mu.Unlock()
		_, _ = io.WriteString(w, `{"success":true}`)
	case "GET /pty/t1/snapshot":
		_, _ = io.WriteString(w, screen)
	case "GET /pty/t1/ws":
		s.serveViewer(w, r)
	default:
		s.t.Errorf("unexpected %s %s", r.Method, r.URL)
	}
}

func (s *fakeServer) serveViewer(w http.ResponseWriter, r *http.Request) {
	var u websocket.Upgrader
	conn, err := u.Upgrade(w, r, nil)
	if err != nil {
		s.t.Error(err)
		return
	}
	q := r.URL.Query()
	q.Del("tty") // of the machine the test runs on
	q.Del("inside")
	if len(q.Get("key")) < 20 || q.Get("name") != (&app{}).userName() || q.Get("client") != "attach" {
		s.t.Errorf("the viewer says it is %q", q)
	}
	for _, who := range []string{"key", "name", "client"} {
		q.Del(who)
	}
	v := &fakeViewer{Conn: conn, query: q.Encode(), got: make(chan string, 64)}
	s.viewers <- v
	defer close(v.got)
	defer conn.Close()
	for {
		_, p, err := conn.ReadMessage()
		if err != nil {
			return
		}
		v.got <- map[byte]string{0: "i", 3: "c"}[p[0]] + string(p[1:])
	}
}

func (s *fakeServer) set(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// viewer waits for the next connection.
func (s *fakeServer) viewer() *fakeViewer {
	s.t.Helper()
	return within(s.t, s.viewers, "a connection")
}

// message waits for the next message that begins so; others are dropped.
func (v *fakeViewer) message(t *testing.T, begin string) string {
	t.Helper()
	for {
		if got := within(t, v.got, "a message that begins with "+begin); strings.HasPrefix(got, begin) {
			return got
		}
	}
}

func (v *fakeViewer) snapshot(cols, rows uint16, text string) {
	b := binary.BigEndian.AppendUint16([]byte{1}, cols)
	b = binary.BigEndian.AppendUint16(b, rows)
	b = append(binary.BigEndian.AppendUint64(b, 1), text...)
	_ = v.WriteMessage(websocket.BinaryMessage, b)
}

func (v *fakeViewer) data(text string) {
	_ = v.WriteMessage(websocket.BinaryMessage, append(binary.BigEndian.AppendUint64([]byte{2}, 2), text...))
}

func (v *fakeViewer) control(event string, fields map[string]any) {
	fields["event"] = event
	b, _ := json.Marshal(fields)
	_ = v.WriteMessage(websocket.BinaryMessage, append([]byte{3}, b...))
}

func (v *fakeViewer) exit(code int) {
	v.control("exit", map[string]any{"code": code, "signal": "", "reason": "exit", "seq": 3})
}

// within takes a value that must come soon.
func within[T any](t *testing.T, c <-chan T, what string) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(patience):
		t.Fatalf("not within %v: %s", patience, what)
	}
	return v
}

// patience bounds how long a test waits for a fact.
const patience = time.Minute

// eventually waits until the fact holds.
func eventually(t *testing.T, what func() string, fact func() bool) {
	t.Helper()
	if !polling.Until(patience, fact) {
		t.Fatalf("not within %v: %s", patience, what())
	}
}

// noLeak fails the test when it leaves goroutines behind. It comes first, so that
// it looks after everything else was cleaned up.
func noLeak(t *testing.T) {
	t.Helper()
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGWINCH) // os/signal keeps a goroutine from then on
	signal.Stop(c)
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		eventually(t, func() string {
			b := make([]byte, 1<<16)
			return "all goroutines of the test have ended\n" + string(b[:runtime.Stack(b, true)])
		}, func() bool { return runtime.NumGoroutine() <= before })
	})
}
