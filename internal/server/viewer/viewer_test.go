package viewer_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/internal/journal"
	"github.com/evertty/evertty/internal/server/viewer"
	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/tests/polling"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/vt/vt10x"
	"github.com/evertty/evertty/wire"
)

// echo is a terminal whose program shows what it is told.
type echo struct {
	hub  *stream.Hub
	kept *kept
	mu   sync.Mutex
	got  []string
}

// viewer is the id of a viewer, the oldest is 0.
func (e *echo) viewer(n int) string { return e.hub.ViewerList().Viewers[n].ID }

func (e *echo) note(s string) error {
	e.mu.Lock()
	e.got = append(e.got, s)
	e.mu.Unlock()
	e.hub.Write([]byte(s))
	return nil
}

// TryInput is Input where that does not wait for the lock.
func (e *echo) TryInput(_ *stream.Subscription, p []byte, _ func(error)) bool {
	if !e.mu.TryLock() {
		return false
	}
	e.mu.Unlock()
	return e.note(string(p)) == nil
}

func (e *echo) Hub() *stream.Hub { return e.hub }
func (e *echo) Input(_ context.Context, _ *stream.Subscription, p []byte) error {
	return e.note(string(p))
}
func (e *echo) Keys(_ context.Context, _ *stream.Subscription, names []string) error {
	return e.note(strings.Join(names, " "))
}
func (e *echo) Paste(_ context.Context, _ *stream.Subscription, text string) error {
	return e.note("paste " + text)
}
func (e *echo) Detach(s *stream.Subscription) { s.Close() }
func (e *echo) Hide(s *stream.Subscription, hidden bool) {
	s.Hide(hidden)
	size := e.hub.EffectiveSize()
	e.hub.Resize(size.Cols, size.Rows)
}
func (e *echo) RequestSize(s *stream.Subscription, c, r int) error {
	size := s.RequestSize(c, r)
	e.hub.Resize(size.Cols, size.Rows)
	return nil
}

// only is a directory of one terminal.
type only struct{ t *echo }

func (o only) Find(id string) (stream.Terminal, error) {
	if id != "term1" {
		return nil, errors.New("no such terminal")
	}
	return o.t, nil
}
func (o only) List() []byte { return []byte(`[{"id":"term1"}]`) }
func (o only) Watch() (<-chan struct{}, func()) {
	return nil, func() {}
}

// serve offers one terminal over SSE, WebSocket and as a page.
func serve(t *testing.T, v viewer.Viewer) (*echo, *httptest.Server) {
	t.Helper()
	k := newKept(t, vt10x.New, 80, 24)
	term := &echo{hub: k.Hub, kept: k}
	v.Refusal = func(err error) (string, string, wire.ErrorDetails) {
		return err.Error(), "REFUSED", wire.ErrorDetails{}
	}
	v.Scrollback = -1
	v.Context = t.Context()
	if v.Sockets == nil {
		v.Sockets = viewer.NewSockets(nil, func(p any) { t.Error(p) })
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/stream", func(w http.ResponseWriter, r *http.Request) {
		viewer.ServeSSE(w, r, term.hub.Subscribe(stream.SubscribeOptions{Scrollback: -1, Since: sinceOf(r)}))
	})
	mux.HandleFunc("/ws", func(w http.ResponseWriter, r *http.Request) {
		v := v
		v.Binary = r.URL.Query().Get("format") == "binary"
		v.Since = sinceOf(r)
		viewer.OpenWebSocket(w, r, term, v)
	})
	mux.HandleFunc("/page", func(w http.ResponseWriter, r *http.Request) { viewer.OpenPage(w, r, only{term}, v) })
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	t.Cleanup(func() {
		waitFor(t, "viewers to leave", func() bool { return term.hub.Stats().Viewers == 0 })
	})
	return term, s
}

func sinceOf(r *http.Request) *uint64 {
	n, err := strconv.ParseUint(r.URL.Query().Get("since"), 10, 64)
	if err != nil {
		return nil
	}
	return &n
}

func dial(t *testing.T, s *httptest.Server, path string) *websocket.Conn {
	t.Helper()
	c, resp, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(s.URL, "http")+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	t.Cleanup(func() { c.Close() })
	_ = c.SetReadDeadline(time.Now().Add(patience))
	return c
}

// event is any JSON event.
type event struct {
	Event, PTY, Data, Error, Reason, Unicode string
	Code                                     any
	Cols, Rows                               int
	Seq                                      uint64
	T                                        any
}

func read(t *testing.T, c *websocket.Conn) event {
	t.Helper()
	var e event
	if err := c.ReadJSON(&e); err != nil {
		t.Fatal(err)
	}
	return e
}

// until reads events up to the first that fits.
func until(t *testing.T, c *websocket.Conn, what string, fits func(event) bool) event {
	t.Helper()
	var past []event
	for range 1000 {
		var e event
		if err := c.ReadJSON(&e); err != nil {
			t.Fatalf("no %s: %v; read %+v", what, err, past)
		}
		if fits(e) {
			return e
		}
		past = append(past, e)
	}
	t.Fatalf("no %s in %+v", what, past)
	return event{}
}

func send(t *testing.T, c *websocket.Conn, msg string) {
	t.Helper()
	if err := c.WriteMessage(websocket.TextMessage, []byte(msg)); err != nil {
		t.Fatal(err)
	}
}

// TestAFloodKeepsNothingOut: a viewer for whom there is always more is answered, and so
// is pinged: else it would count as gone.
func TestAFloodKeepsNothingOut(t *testing.T) {
	for _, path := range []string{"/ws", "/page"} {
		term, s := serve(t, viewer.Viewer{})
		busy := httptest.NewUnstartedServer(s.Config.Handler)
		busy.Listener = flooding{busy.Listener, func() { term.hub.Write([]byte("more\r\n")) }}
		busy.Start()
		c := dial(t, busy, path)
		if path == "/page" {
			send(t, c, `{"type":"attach","pty":"term1"}`)
		}
		until(t, c, "output", func(e event) bool { return e.Event == "data" })
		send(t, c, `{"type":"ping","t":7}`)
		answered := false
		for range 5000 {
			if answered = read(t, c).Event == "pong"; answered {
				break
			}
		}
		if !answered {
			t.Errorf("%s: no answer among 5000 events", path)
		}
		c.Close()
		busy.Close()
	}
}

// everywhere is a directory in which each id is the same terminal.
type everywhere struct{ only }

func (e everywhere) Find(string) (stream.Terminal, error) { return e.t, nil }

// TestOneTerminalTooMany: a page that may not watch a terminal changes nothing of it.
func TestOneTerminalTooMany(t *testing.T) {
	term, _ := serve(t, viewer.Viewer{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		viewer.OpenPage(w, r, everywhere{only{term}},
			viewer.Viewer{Context: t.Context(), Sockets: viewer.NewSockets(nil, nil),
				Refusal: func(err error) (string, string, wire.ErrorDetails) {
					return err.Error(), "CROWDED", wire.ErrorDetails{}
				}})
	}))
	defer s.Close()
	c := dial(t, s, "/")
	const most = 64
	for i := range most {
		send(t, c, fmt.Sprintf(`{"type":"attach","pty":"t%d"}`, i))
	}
	waitFor(t, "all viewers", func() bool { return term.hub.Stats().Attached == most })
	send(t, c, `{"type":"attach","pty":"more","cols":100,"rows":30}`)
	for read(t, c).Code != "CROWDED" {
	}
	if f := term.hub.Stats(); f.Cols != 80 || f.Attached != most {
		t.Errorf("%d columns and %d viewers", f.Cols, f.Attached)
	}
	send(t, c, `{"type":"detach","pty":"t0"}`)
	send(t, c, `{"type":"attach","pty":"t0","cols":100,"rows":30}`)
	waitFor(t, "a viewer in the place of another", func() bool { return term.hub.Stats().Cols == 100 })
}

// TestAProgramThatDoesNotRead: very much input for one program keeps neither answers nor another
// terminal of the connection waiting; what is too much is refused, and nothing else is lost.
func TestAProgramThatDoesNotRead(t *testing.T) {
	const inputs = 400
	for _, path := range []string{"/ws", "/page"} {
		term, s := serve(t, viewer.Viewer{})
		c := dial(t, s, path)
		if path == "/page" {
			send(t, c, `{"type":"attach","pty":"term1"}`)
		}
		until(t, c, "the snapshot", func(e event) bool { return e.Event == "snapshot" })
		term.mu.Lock() // a call of Input waits for it
		for range inputs {
			send(t, c, `{"type":"input","pty":"term1","data":"x"}`)
		}
		send(t, c, `{"type":"ping"}`)
		refused := 0
		until(t, c, "pong", func(e event) bool {
			if e.Event == "error" {
				refused++
			}
			return e.Event == "pong"
		})
		term.mu.Unlock()
		if refused == 0 || refused > inputs/2 {
			t.Errorf("%s: %d of %d were refused", path, refused, inputs)
		}
		waitFor(t, "the others", func() bool {
			term.mu.Lock()
			defer term.mu.Unlock()
			return len(term.got) == inputs-refused
		})
		c.Close()
	}
}

// TestNothingFollowsTheExit: also a viewer that asks all the time gets the exit as its last event.
func TestNothingFollowsTheExit(t *testing.T) {
	term, s := serve(t, viewer.Viewer{})
	term.hub.Finish(stream.Exit{Reason: "exit"})
	for range 100 {
		c := dial(t, s, "/ws")
		for range 40 {
			send(t, c, `{"type":"ping"}`)
		}
		until(t, c, "exit", func(e event) bool { return e.Event == "exit" })
		var after event
		if err := c.ReadJSON(&after); !websocket.IsCloseError(err, websocket.CloseNormalClosure) {
			t.Fatalf("after the exit came %+v, %v", after, err)
		}
		c.Close()
	}
}

// flooding is a listener whose connections have more come before each of their writes.
type flooding struct {
	net.Listener
	more func()
}

func (f flooding) Accept() (net.Conn, error) {
	c, err := f.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &floodingConn{c, f.more}, nil
}

type floodingConn struct {
	net.Conn
	more func()
}

func (f *floodingConn) Write(p []byte) (int, error) {
	f.more()
	return f.Conn.Write(p)
}

// TestTheSnapshotIsFirst: also for a viewer that asks or errs at once.
func TestTheSnapshotIsFirst(t *testing.T) {
	term, s := serve(t, viewer.Viewer{})
	term.hub.Write(bytes.Repeat([]byte("a line of the history\r\n"), 2000))
	for range 200 {
		c := dial(t, s, "/ws")
		for _, m := range []string{`{"type":"ping"}`, `{"type":"no such command"}`} {
			if err := c.WriteMessage(websocket.TextMessage, []byte(m)); err != nil {
				t.Fatal(err)
			}
		}
		_, p, err := c.ReadMessage()
		if err != nil || !bytes.HasPrefix(p, []byte(`{"event":"snapshot"`)) {
			t.Fatalf("the first event is %.100s, %v", p, err)
		}
		c.Close()
	}
}

func TestSSE(t *testing.T) {
	term, s := serve(t, viewer.Viewer{})
	term.hub.Write([]byte("hello"))
	resp, err := http.Get(s.URL + "/stream")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for k, want := range map[string]string{"Content-Type": "text/event-stream", "Cache-Control": "no-store",
		"X-Accel-Buffering": "no"} {
		if got := resp.Header.Get(k); got != want {
			t.Errorf("%s: %q, want %q", k, got, want)
		}
	}
	r := bufio.NewReader(resp.Body)
	kind, id, data := sse(t, r)
	if kind != "snapshot" || id != "5" || !strings.Contains(data, "hello") ||
		!strings.Contains(data, `"reason":"connect"`) {
		t.Errorf("first event %s %s %s", kind, id, data)
	}
	hostile := "a\n\nevent: exit\ndata: {}\n\n\xff\u2028\x00\"\\"
	term.hub.Write([]byte(hostile))
	kind, _, data = sse(t, r)
	var d struct{ Data string }
	if err := json.Unmarshal([]byte(data), &d); err != nil || kind != "data" {
		t.Fatalf("%s %q: %v", kind, data, err)
	}
	if want := strings.ReplaceAll(hostile, "\xff", "\ufffd"); d.Data != want {
		t.Errorf("data %q, want %q", d.Data, want)
	}
	code := 0
	term.hub.Finish(stream.Exit{Code: &code, Reason: "exit"})
	if kind, _, data = sse(t, r); kind != "exit" || !strings.HasPrefix(data, `{"code":0,`) {
		t.Errorf("last event %s %s", kind, data)
	}
	if _, err := r.ReadByte(); err == nil {
		t.Error("the stream goes on after the exit")
	}
}

// sse reads one event.
func sse(t *testing.T, r *bufio.Reader) (kind, id, data string) {
	t.Helper()
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "event":
			kind = value
		case "id":
			id = value
		case "data":
			data += value
		case "":
			if kind != "" {
				return kind, id, data
			}
		}
	}
}

func TestWebSocketJSON(t *testing.T) {
	term, s := serve(t, viewer.Viewer{})
	c := dial(t, s, "/ws")
	if e := read(t, c); e.Event != "snapshot" || e.PTY != "term1" || e.Cols != 80 || e.Unicode != "11" {
		t.Errorf("first event %+v", e)
	}
	send(t, c, `{"type":"input","data":"hé"}`)
	if e := read(t, c); e.Event != "data" || e.Data != "hé" || e.Seq != 3 {
		t.Errorf("after input %+v", e)
	}
	send(t, c, `{"type":"input","data_b64":"AAH/"}`)
	if e := read(t, c); e.Data != "\x00\x01\ufffd" {
		t.Errorf("after bytes %+v", e)
	}
	send(t, c, `{"type":"resize","cols":100,"rows":30}`)
	if e := until(t, c, "resize", func(e event) bool { return e.Event == "resize" }); e.Cols != 100 || e.Rows != 30 {
		t.Errorf("resize %+v", e)
	}
	send(t, c, `{"type":"ping","t":17}`)
	if e := until(t, c, "pong", func(e event) bool { return e.Event == "pong" }); e.T != 17.0 {
		t.Errorf("pong %+v", e)
	}
	for _, bad := range []string{`{`, `{"type":"jump"}`, `{"type":"input"}`, `{"type":"resize","cols":0,"rows":5}`,
		`{"type":"paste"}`} {
		send(t, c, bad)
		if e := until(t, c, "error", func(e event) bool { return e.Event == "error" }); e.Error == "" ||
			e.Code != "REFUSED" {
			t.Errorf("%s: %+v", bad, e)
		}
	}
	code := 0
	term.hub.Finish(stream.Exit{Code: &code, Reason: "exit"})
	until(t, c, "exit", func(e event) bool { return e.Event == "exit" })
	if _, _, err := c.ReadMessage(); !websocket.IsCloseError(err, websocket.CloseNormalClosure) {
		t.Errorf("after the exit: %v, want a normal close", err)
	}
}

func TestWebSocketBinary(t *testing.T) {
	term, s := serve(t, viewer.Viewer{})
	term.hub.Write([]byte("hello"))
	c := dial(t, s, "/ws?format=binary")
	next := func() []byte {
		t.Helper()
		kind, p, err := c.ReadMessage()
		if err != nil || kind != websocket.BinaryMessage {
			t.Fatalf("frame of kind %d: %v", kind, err)
		}
		return p
	}
	p := next()
	if p[0] != 1 || binary.BigEndian.Uint16(p[1:]) != 80 || binary.BigEndian.Uint16(p[3:]) != 24 ||
		binary.BigEndian.Uint64(p[5:]) != 5 || !bytes.Contains(p[13:], []byte("hello")) {
		t.Errorf("snapshot frame % x", p)
	}
	if err := c.WriteMessage(websocket.BinaryMessage, []byte("\x00typed")); err != nil {
		t.Fatal(err)
	}
	if p = next(); p[0] != 2 || binary.BigEndian.Uint64(p[1:]) != 10 || string(p[9:]) != "typed" {
		t.Errorf("data frame % x", p)
	}
	if err := c.WriteMessage(websocket.BinaryMessage, []byte("\x03{\"type\":\"ping\"}")); err != nil {
		t.Fatal(err)
	}
	if p = next(); string(p) != "\x03{\"event\":\"pong\"}" {
		t.Errorf("control frame %q", p)
	}
}

func TestReadOnlyViewerCannotType(t *testing.T) {
	term, s := serve(t, viewer.Viewer{ReadOnly: true})
	c := dial(t, s, "/ws")
	read(t, c)
	for _, m := range []string{`{"type":"input","data":"x"}`, `{"type":"keys","keys":["Enter"]}`,
		`{"type":"paste","data":"x"}`} {
		send(t, c, m)
		if e := read(t, c); e.Event != "error" {
			t.Errorf("%s: %+v, want an error", m, e)
		}
	}
	send(t, c, `{"type":"resize","cols":100,"rows":30}`)
	send(t, c, `{"type":"ping"}`)
	if e := read(t, c); e.Event != "pong" {
		t.Errorf("a looking viewer's resize: %+v", e)
	}
	if len(term.got) != 0 || term.hub.Stats().Cols != 80 {
		t.Errorf("the terminal got %q and has %d columns", term.got, term.hub.Stats().Cols)
	}
}

func TestPageWatchesOnOneConnection(t *testing.T) {
	term, s := serve(t, viewer.Viewer{})
	term.hub.Write([]byte("before"))
	c := dial(t, s, "/page")
	until(t, c, "list", func(e event) bool { return e.Event == "list" })
	send(t, c, `{"type":"input","pty":"term1","data":"x"}`)
	if e := until(t, c, "error", func(e event) bool { return e.Event == "error" }); e.PTY != "term1" {
		t.Errorf("input before attach: %+v", e)
	}
	send(t, c, `{"type":"attach","pty":"nobody"}`)
	until(t, c, "error", func(e event) bool { return e.Event == "error" && e.PTY == "nobody" })
	for range 2 { // attaching again begins again
		send(t, c, `{"type":"attach","pty":"term1","cols":90,"rows":20}`)
		e := until(t, c, "snapshot", func(e event) bool { return e.Event == "snapshot" })
		if e.PTY != "term1" || e.Cols != 90 || e.Reason != "connect" || !strings.Contains(e.Data, "before") {
			t.Errorf("snapshot %+v", e)
		}
	}
	// There was one snapshot for each: a second of the first attachment, for the resize,
	// would pass for that of the second, whose own then has in it what is typed here.
	send(t, c, `{"type":"input","pty":"term1","data":"typed"}`)
	until(t, c, "data", func(e event) bool { return e.Event == "data" && e.Data == "typed" })
	send(t, c, `{"type":"detach","pty":"term1"}`)
	waitFor(t, "the viewer to leave", func() bool { return term.hub.Stats().Viewers == 0 })
	send(t, c, `{"type":"ping"}`)
	until(t, c, "pong", func(e event) bool { return e.Event == "pong" })
}

// TestHiddenViewersDoNotCount: a terminal that a page keeps and does not show has no
// viewer, and the page's size does not decide its size.
func TestHiddenViewersDoNotCount(t *testing.T) {
	term, s := serve(t, viewer.Viewer{})
	page, other := dial(t, s, "/page"), dial(t, s, "/ws")
	until(t, page, "list", func(e event) bool { return e.Event == "list" })
	send(t, other, `{"type":"resize","cols":100,"rows":30}`)
	until(t, other, "its size", func(e event) bool { return e.Cols == 100 })
	send(t, page, `{"type":"attach","pty":"term1","cols":90,"rows":20}`)
	until(t, other, "the page's size", func(e event) bool { return e.Cols == 90 })
	for _, step := range []struct {
		send            string
		viewers, column int
	}{
		{`{"type":"hide","pty":"term1"}`, 1, 100},
		{`{"type":"show","pty":"term1"}`, 2, 90},
		{`{"type":"attach","pty":"term1","cols":90,"rows":20,"hidden":true}`, 1, 100},
		{`{"type":"hide","pty":"term1"}`, 1, 100},
	} {
		send(t, page, step.send)
		var f stream.Stats
		if !polling.Until(patience, func() bool {
			f = term.hub.Stats()
			return f.Viewers == step.viewers && f.Attached == 2 && f.Cols == step.column
		}) {
			t.Errorf("%s: %d viewers, %d attached, %d columns; want %d, 2, %d", step.send, f.Viewers, f.Attached,
				f.Cols, step.viewers, step.column)
		}
	}
}

func TestServerSaysGoodBye(t *testing.T) {
	closing := make(chan struct{})
	_, s := serve(t, viewer.Viewer{Sockets: viewer.NewSockets(closing, nil)})
	for _, path := range []string{"/ws", "/page"} {
		c := dial(t, s, path)
		read(t, c)
		if path == "/page" {
			close(closing)
		}
		if path == "/ws" {
			c.Close()
			continue
		}
		if _, _, err := c.ReadMessage(); !websocket.IsCloseError(err, websocket.CloseGoingAway) {
			t.Errorf("%s: %v, want going away", path, err)
		}
	}
}

func TestTooLargeMessageClosesTheConnection(t *testing.T) {
	_, s := serve(t, viewer.Viewer{})
	c := dial(t, s, "/ws")
	read(t, c)
	send(t, c, `{"type":"input","data":"`+strings.Repeat("x", 1<<20)+`"}`)
	if _, _, err := c.ReadMessage(); !websocket.IsCloseError(err, websocket.CloseMessageTooBig) {
		t.Errorf("%v, want 1009", err)
	}
}

// TestResumeOnTheWire: the resume event on every kind of connection, and then only
// what was missed.
func TestResumeOnTheWire(t *testing.T) {
	term, s := serve(t, viewer.Viewer{})
	term.kept.write([]byte("seen missed"))
	resp, err := http.Get(s.URL + "/stream?since=5")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	r := bufio.NewReader(resp.Body)
	if kind, id, data := sse(t, r); kind != "resume" || id != "5" || data != `{"cols":80,"viewer":"`+term.viewer(0)+`","rows":24,"seq":5}` {
		t.Errorf("%s %s %s", kind, id, data)
	}
	if kind, id, data := sse(t, r); kind != "data" || id != "11" || data != `{"seq":11,"data":"missed"}` {
		t.Errorf("%s %s %s", kind, id, data)
	}
	c := dial(t, s, "/ws?since=5")
	if e := read(t, c); e.Event != "resume" || e.PTY != "term1" || e.Seq != 5 || e.Cols != 80 || e.Rows != 24 {
		t.Errorf("%+v", e)
	}
	if e := read(t, c); e.Event != "data" || e.Data != "missed" {
		t.Errorf("%+v", e)
	}
	c = dial(t, s, "/ws?format=binary&since=5")
	for _, want := range []string{"\x03" + `{"event":"resume","pty":"term1","cols":80,"rows":24,"seq":5}`,
		"\x02\x00\x00\x00\x00\x00\x00\x00\x0bmissed"} {
		if _, p, err := c.ReadMessage(); err != nil || string(p) != want {
			t.Errorf("frame %q, %v; want %q", p, err, want)
		}
	}
	c = dial(t, s, "/page")
	send(t, c, `{"type":"attach","pty":"term1","since":5}`)
	if e := until(t, c, "resume", func(e event) bool { return e.Event == "resume" }); e.PTY != "term1" || e.Seq != 5 {
		t.Errorf("%+v", e)
	}
	if e := until(t, c, "data", func(e event) bool { return e.Event == "data" }); e.Data != "missed" {
		t.Errorf("%+v", e)
	}
	term.kept.write([]byte(" live"))
	if e := until(t, c, "live data", func(e event) bool { return e.Event == "data" }); e.Data != " live" ||
		e.Seq != 16 {
		t.Errorf("%+v", e)
	}
	send(t, c, `{"type":"attach","pty":"term1","since":99}`)
	until(t, c, "snapshot", func(e event) bool { return e.Event == "snapshot" && e.Seq == 16 })
}

// kept is a hub whose owner keeps a journal, as the real one does.
type kept struct {
	*stream.Hub
	t       testing.TB
	journal *journal.Journal
	buf     []byte
}

func newKept(t testing.TB, engine vt.EngineFunc, cols, rows int) *kept {
	t.Helper()
	store, err := datadir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	k := &kept{t: t, buf: make([]byte, 64<<10)}
	k.journal, err = journal.Open(store, "term1",
		journal.Options{Sync: journal.SyncNone, Segment: 256 << 10, Cols: cols, Rows: rows})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = k.journal.Close() })
	options := stream.Options{ID: "term1", Engine: engine, Config: vt.Config{Cols: cols, Rows: rows, Scrollback: 200},
		Journal: k.journal,
		Hooks:   stream.Hooks{Resized: k.journal.Resized}}
	k.Hub = stream.New(options)
	return k
}

func (k *kept) write(p []byte) {
	for len(p) > 0 {
		n := min(len(p), len(k.buf))
		if _, err := k.journal.Append(journal.BytesSource(p[:n]), n, k.buf); err != nil {
			k.t.Error(err)
		}
		k.Write(p[:n])
		p = p[n:]
	}
}

// patience is how long a test waits for a fact before it fails.
const patience = time.Minute

func waitFor(t testing.TB, what string, fact func() bool) {
	t.Helper()
	if !polling.Until(patience, fact) {
		t.Fatalf("waited %v in vain for %s", patience, what)
	}
}

// TestAnswersAreShort: a pong repeats 64 bytes at most, and an error event a kilobyte of what it is about.
func TestAnswersAreShort(t *testing.T) {
	for _, path := range []string{"/ws", "/page"} {
		_, s := serve(t, viewer.Viewer{})
		c := dial(t, s, path)
		long := strings.Repeat("x", 1<<19)
		for message, want := range map[string]string{
			`{"type":"ping","t":"` + strings.Repeat("x", 62) + `"}`: "pong",
			`{"type":"ping","t":"` + strings.Repeat("x", 63) + `"}`: "error",
			`{"type":"ping","t":[` + strings.Repeat(" ", 63) + `]}`: "error",
			`{"type":"` + long + `"}`:                               "error",
			`{"type":"input","pty":"` + long + `"}`:                 "error",
			`{"type":"resize","cols":` + long + `}`:                 "error",
		} {
			send(t, c, message)
			for {
				_, p, err := c.ReadMessage()
				if err != nil {
					t.Fatalf("%s: %.40s: %v", path, message, err)
				}
				if !bytes.Contains(p, []byte(`"pong"`)) && !bytes.Contains(p, []byte(`"error"`)) {
					continue
				}
				if !bytes.Contains(p, []byte(want)) || len(p) > 2<<10 {
					t.Errorf("%s: %.40s: %d bytes, %.100s", path, message, len(p), p)
				}
				break
			}
		}
		c.Close()
	}
}

// FuzzMessages: whatever a viewer sends, on any of its connections, the server answers the next ping or closes.
func FuzzMessages(f *testing.F) {
	for _, seed := range []string{
		`{"type":"input","data":"ls\r"}`, `{"type":"input","data_b64":"bHM="}`, `{"type":"resize","cols":90,"rows":30}`,
		`{"type":"keys","keys":["C-c","Up","text:abc"]}`, `{"type":"paste","data":"a\nb"}`, `{"type":"focus"}`,
		`{"type":"attach","pty":"term1","since":1}`, `{"type":"detach","pty":"term1"}`, `{"type":"hide"}`,
		`{"type":"colors","foreground":"#ffffff"}`, `{"type":"ping","t":{"a":[1]}}`, `{"type":"auth","page":"x"}`,
		`{"type":"input","data":"\ud83d"}`, "{\"type\":\"\xff\"}", `[`, `null`, ``, `{"type":5}`, `{"cols":1e99}`,
	} {
		for way := range uint8(6) {
			f.Add([]byte(seed), way)
		}
	}
	f.Fuzz(func(t *testing.T, message []byte, way uint8) {
		_, s := serve(t, viewer.Viewer{})
		path := []string{"/ws", "/ws?format=binary", "/page"}[way%3]
		c := dial(t, s, path)
		if path == "/page" && way >= 3 {
			send(t, c, `{"type":"attach","pty":"term1"}`)
		}
		kind := websocket.TextMessage
		if way >= 3 {
			kind = websocket.BinaryMessage
		}
		if err := c.WriteMessage(kind, message); err != nil {
			t.Fatal(err)
		}
		_ = c.WriteMessage(websocket.TextMessage, []byte(`{"type":"ping","t":"the end"}`))
		for {
			_, b, err := c.ReadMessage()
			if _, closed := errors.AsType[*websocket.CloseError](err); closed || strings.Contains(string(b), `"the end"`) {
				return
			} else if err != nil {
				t.Fatalf("%s: neither an answer nor a close: %v", path, err)
			}
		}
	})
}
