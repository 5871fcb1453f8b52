package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

// serveEvents serves pieces as an event stream, flushed one by one, and then ends the connection.
func serveEvents(t *testing.T, pieces ...string) (c *Client, requests *atomic.Int32) {
	requests = new(atomic.Int32)
	c = serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if r.URL.Path != "/pty/a/stream" || r.Header.Get("Accept") != "text/event-stream" ||
			r.Header.Get("Authorization") != "Bearer secret" || r.Header.Get("Last-Event-Id") != "" {
			t.Errorf("%s %v", r.URL, r.Header)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, p := range pieces {
			_, _ = io.WriteString(w, p)
			_ = http.NewResponseController(w).Flush()
		}
	}))
	return c, requests
}

func take(t *testing.T, s *Stream) Event {
	t.Helper()
	e, err := s.Next()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestStreamEvents(t *testing.T) {
	c, _ := serveEvents(t,
		": heartbeat\n\n",
		"event: snapshot\nid: 3\ndata: {\"cols\":80,\"rows\":24,\"seq\":3,\"unicode\":\"11\",\"reason\":\"connect\","+
			"\"data\":\"\\u001b[mé\"}\n\n",
		": heartbeat\n\n",
		"event: brandnew\nid: 4\ndata: {}\n\nevent: data\nid: 5\nda", "ta: {\"seq\":5,\"data\":\"a\\nb\"}\n\n",
		"event: resize\nid: 5\ndata: {\"cols\":90,\"rows\":30,\"seq\":5}\n\n",
		"event: meta\ndata: {\"title\":\"t\",\"bell\":true,\"viewers\":2,\"owner\":9,\"size\":{\"cols\":1,"+
			"\"rows\":2}}\n\n",
		"event: exit\nid: 6\ndata: {\"code\":3,\"signal\":\"\",\"reason\":\"exit\",\"seq\":6}\n\n")
	s, err := c.Stream(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if e := take(t, s); e.Kind != KindSnapshot || string(e.Data) != "\x1b[mé" || e.Cols != 80 || e.Rows != 24 ||
		e.Seq != 3 || e.Unicode != "11" || e.Reason != "connect" {
		t.Errorf("%+v", e)
	}
	if e := take(t, s); e.Kind != KindData || string(e.Data) != "a\nb" || e.Seq != 5 {
		t.Errorf("%+v", e)
	}
	if e := take(t, s); e.Kind != KindResize || e.Cols != 90 || e.Rows != 30 {
		t.Errorf("%+v", e)
	}
	if e := take(t, s); e.Kind != KindMeta || *e.Meta.Title != "t" || !e.Meta.Bell || *e.Meta.Viewers != 2 ||
		*e.Meta.Owner != 9 || e.Meta.Size.Rows != 2 {
		t.Errorf("%+v", e)
	}
	if e := take(t, s); e.Kind != KindExit || *e.Exit.Code != 3 || e.Exit.Reason != "exit" || e.Seq != 6 {
		t.Errorf("%+v", e)
	}
	for range 2 {
		if _, err := s.Next(); err != io.EOF {
			t.Errorf("after the exit: %v", err)
		}
	}
}

func TestStreamOfALargeSnapshot(t *testing.T) {
	text := strings.Repeat("\x1b[31mred\x1b[m\r\n", 5<<20/14)
	quoted, _ := json.Marshal(text)
	c, _ := serveEvents(t, fmt.Sprintf("event: snapshot\nid: 1\ndata: {\"cols\":80,\"rows\":24,\"seq\":1,"+
		"\"data\":%s}\n\n", quoted))
	s, err := c.Stream(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if e := take(t, s); string(e.Data) != text {
		t.Errorf("%d of %d bytes came", len(e.Data), len(text))
	}
}

func TestBrokenStream(t *testing.T) {
	whole := "event: data\nid: 5\ndata: {\"seq\":5,\"data\":\"x\"}\n\n"
	for name, tail := range map[string]string{
		"between events":      "",
		"in a JSON object":    "event: data\nid: 6\ndata: {\"seq\":6,\"da",
		"before the data":     "event: data\nid: 6",
		"in the event's name": "event: da",
		"not JSON":            "event: data\ndata: nonsense\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			c, requests := serveEvents(t, whole+tail)
			s, err := c.Stream(t.Context(), "a")
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			take(t, s)
			if e, err := s.Next(); !errors.Is(err, ErrClosed) {
				t.Errorf("%+v, %v", e, err)
			}
			if n := requests.Load(); n != 1 {
				t.Errorf("%d connections: it went back on its own", n)
			}
		})
	}
}

// chopped brings a text in pieces of n bytes.
type chopped struct {
	text string
	n    int
}

func (c *chopped) Read(p []byte) (int, error) {
	if c.text == "" {
		return 0, io.ErrUnexpectedEOF
	}
	n := copy(p[:min(len(p), c.n)], c.text)
	c.text = c.text[n:]
	return n, nil
}

// TestEventsAreWhole cuts a stream into pieces of every size: each event comes once and whole, and
// what a broken connection left of one does not come.
func TestEventsAreWhole(t *testing.T) {
	const text = "id: 1\ndata: a\n\n: c\n\nevent: two\r\ndata: b\r\n\r\ndata: d\ndata:e\n\n"
	for n := 1; n < len(text)+10; n++ {
		ctx, cancel := context.WithCancelCause(t.Context())
		e := newEvents(ctx, cancel, io.NopCloser(&chopped{text + "data: lost\n", n}))
		for _, want := range [][2]string{{"", "a"}, {"two", "b"}, {"", "d\ne"}} {
			if name, data, err := e.next(); name != want[0] || string(data) != want[1] || err != nil {
				t.Errorf("pieces of %d: %q %q, %v; want %q", n, name, data, err, want)
			}
		}
		if _, data, err := e.next(); !errors.Is(err, ErrClosed) || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("pieces of %d: %q, %v at the end", n, data, err)
		}
		_ = e.close()
	}
}

// BenchmarkStreamOfALargeSnapshot is the time for 5 MB that come in small pieces.
func BenchmarkStreamOfALargeSnapshot(b *testing.B) {
	event := "event: snapshot\ndata: {\"data\":\"" + strings.Repeat("x", 5<<20) + "\"}\n\n"
	for b.Loop() {
		ctx, cancel := context.WithCancelCause(b.Context())
		e := newEvents(ctx, cancel, io.NopCloser(&chopped{event, 1400}))
		_, data, err := e.next()
		if err != nil || len(data) != len(event)-len("event: snapshot\ndata: \n\n") {
			b.Fatal(len(data), err)
		}
		_ = e.close()
	}
}

func TestStreamRefused(t *testing.T) {
	c := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"error":"no terminal \"a\"","code":"NOT_FOUND"}`)
	}))
	if _, err := c.Stream(t.Context(), "a"); !errors.Is(err, ErrNotFound) {
		t.Errorf("%v", err)
	}
	nobody, _ := New("http://127.0.0.1:1", "")
	if _, err := nobody.Stream(t.Context(), "a"); !errors.Is(err, ErrNoServer) {
		t.Errorf("%v", err)
	}
}

// TestStreamLeavesNothing closes streams in every state; serve checks for leaks.
func TestStreamLeavesNothing(t *testing.T) {
	c := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		for i := range 100 {
			fmt.Fprintf(w, "event: data\nid: %d\ndata: {\"seq\":%d,\"data\":\"x\"}\n\n", i, i)
		}
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for taken := range 3 {
		s, err := c.Stream(ctx, "a")
		if err != nil {
			t.Fatal(err)
		}
		for range taken * 50 { // 0: events wait; 100: none waits
			take(t, s)
		}
		if taken == 2 {
			cancel()
			if _, err := s.Next(); !errors.Is(err, context.Canceled) {
				t.Errorf("cancelled: %v", err)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if _, err := s.Next(); err == nil {
			t.Error("an event after Close")
		}
	}
}
