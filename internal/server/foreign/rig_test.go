package foreign_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/evertty/evertty/internal/server/foreign"
	"github.com/evertty/evertty/internal/server/viewer"
	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/tests/polling"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

// patience bounds every wait for a fact.
const patience = 20 * time.Second

// program is a terminal whose program shows what is typed.
type program struct {
	hub *stream.Hub
	mu  sync.Mutex
	got string
}

func (p *program) note(b []byte) error {
	p.mu.Lock()
	p.got += string(b)
	p.mu.Unlock()
	p.hub.Write(b)
	return nil
}

func (p *program) typed() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.got
}

func (p *program) Hub() *stream.Hub                                                { return p.hub }
func (p *program) Input(_ context.Context, _ *stream.Subscription, b []byte) error { return p.note(b) }
func (p *program) TryInput(_ *stream.Subscription, b []byte, _ func(error)) bool {
	return p.note(b) == nil
}
func (p *program) Keys(context.Context, *stream.Subscription, []string) error { return nil }
func (p *program) Paste(context.Context, *stream.Subscription, string) error  { return nil }
func (p *program) Detach(s *stream.Subscription)                              { s.Close() }
func (p *program) Hide(s *stream.Subscription, hidden bool)                   { s.Hide(hidden) }
func (p *program) RequestSize(s *stream.Subscription, c, r int) error {
	size := s.RequestSize(c, r)
	p.hub.Resize(size.Cols, size.Rows)
	return nil
}

// kinds are the protocols by name.
var kinds = map[string]func(*program) viewer.Protocol{
	"attach":    func(*program) viewer.Protocol { return foreign.Attach{} },
	"ttyd":      func(*program) viewer.Protocol { return foreign.NewTTYD(foreign.TTYDName, "build") },
	"terminado": func(*program) viewer.Protocol { return new(foreign.Terminado) },
	"alis": func(p *program) viewer.Protocol {
		return foreign.NewALiS(foreign.ALiSName, ticks(), p.hub.Snapshot)
	},
	"kubernetes": func(*program) viewer.Protocol { return foreign.NewKubernetes(foreign.K8sNames[0], true, true) },
}

// ticks is a clock that goes on by a millisecond each time it is looked at.
func ticks() func() time.Time {
	now := time.Unix(0, 0)
	return func() time.Time {
		now = now.Add(time.Millisecond)
		return now
	}
}

// serve offers a terminal at /KIND.
func serve(t *testing.T, o func(*viewer.Viewer)) (*program, *httptest.Server) {
	t.Helper()
	p := &program{hub: stream.New(stream.Options{ID: "term1", Engine: vt.NewEngine,
		Config: vt.Config{Cols: 80, Rows: 24, Scrollback: 200}})}
	sockets := viewer.NewSockets(nil, func(v any) { t.Error(v) })
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := viewer.Viewer{Protocol: kinds[strings.TrimPrefix(r.URL.Path, "/")](p), Scrollback: 50,
			Who:     stream.Who{Role: stream.RoleWrite},
			Sockets: sockets, Context: t.Context(),
			Refusal: func(error) (string, string, wire.ErrorDetails) { return "", "", wire.ErrorDetails{} }}
		if o != nil {
			o(&v)
		}
		viewer.OpenWebSocket(w, r, p, v)
	}))
	t.Cleanup(s.Close)
	t.Cleanup(func() {
		waitFor(t, "viewers to leave", func() bool { return p.hub.Stats().Viewers == 0 })
	})
	return p, s
}

func waitFor(t testing.TB, what string, fact func() bool) {
	t.Helper()
	if !polling.Until(patience, fact) {
		t.Fatalf("waited %v in vain for %s", patience, what)
	}
}

// connect opens a connection of a kind.
func connect(t *testing.T, s *httptest.Server, kind string) *websocket.Conn {
	t.Helper()
	hub := stream.New(stream.Options{Engine: vt.NewEngine, Config: vt.Config{Cols: 1, Rows: 1}})
	name := kinds[kind](&program{hub: hub}).Name()
	d := websocket.Dialer{}
	if name != "" {
		d.Subprotocols = []string{name}
	}
	ws, reply, err := d.Dial("ws"+strings.TrimPrefix(s.URL, "http")+"/"+kind, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := reply.Header.Get("Sec-WebSocket-Protocol"); got != name {
		t.Errorf("%s: the subprotocol is %q, want %q", kind, got, name)
	}
	t.Cleanup(func() { _ = ws.Close() })
	if err := ws.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return ws
}

func say(t *testing.T, ws *websocket.Conn, kind int, p string) {
	t.Helper()
	if err := ws.WriteMessage(kind, []byte(p)); err != nil {
		t.Fatal(err)
	}
}

// closing reads until the connection closes, and returns how.
func closing(t *testing.T, ws *websocket.Conn) *websocket.CloseError {
	t.Helper()
	for {
		if _, _, err := ws.ReadMessage(); err != nil {
			e, ok := err.(*websocket.CloseError)
			if !ok {
				t.Fatalf("no close frame: %v", err)
			}
			return e
		}
	}
}
