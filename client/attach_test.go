package client

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"
)

func snapshotFrame(cols, rows uint16, seq uint64, text string) []byte {
	b := binary.BigEndian.AppendUint16([]byte{frameSnapshot}, cols)
	b = binary.BigEndian.AppendUint16(b, rows)
	return append(binary.BigEndian.AppendUint64(b, seq), text...)
}

func dataFrame(seq uint64, text string) []byte {
	return append(binary.BigEndian.AppendUint64([]byte{frameData}, seq), text...)
}

func frameOf(json string) []byte { return append([]byte{frameControl}, json...) }

// peer serves one WebSocket; do plays the server's part.
func peer(t *testing.T, do func(conn *websocket.Conn, r *http.Request)) *Client {
	return serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var u websocket.Upgrader
		conn, err := u.Upgrade(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		do(conn, r)
	}))
}

func TestAttachEvents(t *testing.T) {
	big := strings.Repeat("x", 5<<20)
	c := peer(t, func(conn *websocket.Conn, r *http.Request) {
		if r.URL.RequestURI() != "/pty/a/ws?client=attach&format=binary&scrollback=-1" ||
			r.Header.Get("Authorization") != "Bearer secret" || r.Header.Get("Origin") != "" {
			t.Errorf("%s %v", r.URL, r.Header)
		}
		for _, f := range [][]byte{
			snapshotFrame(80, 24, 1, big), {0x7f, 1, 2}, dataFrame(1<<40, "a\x00b"),
			frameOf(`{"event":"brandnew"}`), frameOf(`{"event":"pong","t":1}`),
			frameOf(`{"event":"resize","pty":"a","cols":9,"rows":8,"seq":5}`),
			frameOf(`{"event":"meta","pty":"a","cwd":"/"}`),
			frameOf(`{"event":"error","error":"only looking","code":"READ_ONLY"}`),
			frameOf(`{"event":"exit","pty":"a","code":null,"signal":"KILL","reason":"killed","seq":6}`),
		} {
			_ = conn.WriteMessage(websocket.BinaryMessage, f)
		}
		_, _, _ = conn.ReadMessage() // with something unread the connection would be reset
	})
	a, err := c.Attach(t.Context(), "a", AttachOptions{Scrollback: AllHistory})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	next := func() Event {
		e, err := a.Next()
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	if e := next(); e.Kind != KindSnapshot || string(e.Data) != big || e.Cols != 80 || e.Rows != 24 || e.Seq != 1 {
		t.Errorf("%s %d bytes", e.Kind, len(e.Data))
	}
	if e := next(); e.Kind != KindData || string(e.Data) != "a\x00b" || e.Seq != 1<<40 {
		t.Errorf("%+v", e)
	}
	if e := next(); e.Kind != KindResize || e.Cols != 9 || e.Rows != 8 {
		t.Errorf("%+v", e)
	}
	if e := next(); e.Kind != KindMeta || *e.Meta.Cwd != "/" {
		t.Errorf("%+v", e)
	}
	if e := next(); e.Kind != KindError || e.Err.Code != "READ_ONLY" || e.Err.Error() != "only looking" {
		t.Errorf("%+v", e)
	}
	if e := next(); e.Kind != KindExit || e.Exit.Code != nil || e.Exit.Signal != "KILL" || e.Exit.Reason != "killed" {
		t.Errorf("%+v", e)
	}
	if _, err := a.Next(); err != io.EOF {
		t.Errorf("after the exit: %v", err)
	}
}

// TestSince: who has everything up to a position says so, and is told to go on.
func TestSince(t *testing.T) {
	c := peer(t, func(conn *websocket.Conn, r *http.Request) {
		if r.URL.RawQuery != "client=attach&format=binary&scrollback=0&since=7" {
			t.Errorf("%s", r.URL)
		}
		_ = conn.WriteMessage(websocket.BinaryMessage,
			frameOf(`{"event":"resume","pty":"a","cols":80,"rows":24,"seq":7}`))
		_, _, _ = conn.ReadMessage()
	})
	since := uint64(7)
	a, err := c.Attach(t.Context(), "a", AttachOptions{Since: &since})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if e, err := a.Next(); err != nil || e.Kind != KindResume || e.Cols != 80 || e.Rows != 24 || e.Seq != 7 {
		t.Errorf("%+v, %v", e, err)
	}
	c = serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RequestURI() != "/pty/a/stream?since=0" {
			t.Errorf("%s", r.URL)
		}
		_, _ = io.WriteString(w, "event: resume\nid: 0\ndata: {\"cols\":80,\"rows\":24,\"seq\":0}\n\n")
	}))
	s, err := c.StreamSince(t.Context(), "a", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if e := take(t, s); e.Kind != KindResume || e.Cols != 80 || e.Rows != 24 {
		t.Errorf("%+v", e)
	}
}

func TestAttachSends(t *testing.T) {
	got := make(chan []byte, 16)
	c := peer(t, func(conn *websocket.Conn, r *http.Request) {
		defer close(got)
		for {
			kind, p, err := conn.ReadMessage()
			if err != nil {
				if !websocket.IsCloseError(err, websocket.CloseNormalClosure) {
					t.Errorf("the client left with %v", err)
				}
				return
			}
			if kind != websocket.BinaryMessage {
				t.Errorf("a message of kind %d", kind)
			}
			got <- p
		}
	})
	a, err := c.Attach(t.Context(), "a", AttachOptions{})
	if err != nil {
		t.Fatal(err)
	}
	long := bytes.Repeat([]byte("0123456789"), inputFrame/10*2)
	for _, err := range []error{a.Input([]byte("l\xff")), a.Input(long), a.Resize(90, 30), a.Keys("C-c"), a.Paste(""),
		a.Close(), a.Close()} {
		if err != nil {
			t.Error(err)
		}
	}
	if err := a.Input([]byte("x")); !errors.Is(err, ErrClosed) {
		t.Errorf("input after Close: %v", err)
	}
	var typed []byte
	var rest []string
	for p := range got {
		if p[0] == frameInput {
			typed = append(typed, p[1:]...)
		} else {
			rest = append(rest, string(p[1:]))
		}
	}
	if string(typed) != "l\xff"+string(long) {
		t.Errorf("%d bytes of input came", len(typed))
	}
	if s := strings.Join(rest, " "); s != `{"type":"resize","cols":90,"rows":30} {"type":"keys","keys":["C-c"]} `+
		`{"type":"paste","data":""}` {
		t.Errorf("%s", s)
	}
}

func TestAttachEnds(t *testing.T) {
	c := peer(t, func(conn *websocket.Conn, r *http.Request) {
		switch r.URL.Path {
		case "/pty/polite/ws":
			_ = conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseGoingAway, "bye"),
				time.Now().Add(time.Second))
		case "/pty/bad/ws":
			_ = conn.WriteMessage(websocket.BinaryMessage, []byte{frameSnapshot, 1})
			_, _, _ = conn.ReadMessage()
		case "/pty/silent/ws":
			_, _, _ = conn.ReadMessage()
		}
	})
	for id, is := range map[string]error{"polite": ErrClosed, "rude": ErrClosed, "bad": ErrBadFrame} {
		a, err := c.Attach(t.Context(), id, AttachOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.Next(); !errors.Is(err, is) {
			t.Errorf("%s: %v", id, err)
		}
		_ = a.Close()
	}
	ctx, cancel := context.WithCancel(t.Context())
	a, err := c.Attach(ctx, "silent", AttachOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := a.Next(); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	_ = a.Close()
}

// TestAttachMeasuresTheLine: from the first ping on, whose answer comes as late as the line is slow.
func TestAttachMeasuresTheLine(t *testing.T) {
	const late = 30 * time.Millisecond
	c := peer(t, func(conn *websocket.Conn, r *http.Request) {
		conn.SetPingHandler(func(data string) error {
			time.Sleep(late)
			for _, answer := range []string{data, "", "x", "-1", "9223372036854775807"} {
				_ = conn.WriteControl(websocket.PongMessage, []byte(answer), time.Now().Add(time.Second))
			}
			return conn.WriteMessage(websocket.BinaryMessage, dataFrame(1, "behind the answers"))
		})
		_, _, _ = conn.ReadMessage()
	})
	a, err := c.Attach(t.Context(), "a", AttachOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if took := a.RTT(); took != 0 {
		t.Errorf("before the first answer it is %v", took)
	}
	if _, err := a.Next(); err != nil {
		t.Fatal(err)
	}
	if took := a.RTT(); took < late || took > time.Minute {
		t.Errorf("measured %v on a line of %v", took, late)
	}
}

func TestAttachRefused(t *testing.T) {
	c := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"error":"no terminal \"a\"","code":"NOT_FOUND"}`)
	}))
	if _, err := c.Attach(t.Context(), "a", AttachOptions{}); !errors.Is(err, ErrNotFound) ||
		err.Error() != `no terminal "a"` {
		t.Errorf("%v", err)
	}
	nobody, _ := New("http://127.0.0.1:1", "")
	if _, err := nobody.Attach(t.Context(), "a", AttachOptions{}); !errors.Is(err, ErrNoServer) {
		t.Errorf("%v", err)
	}
}

// pipes listens for the connections of a client in a bubble of synctest, where
// real sockets do not count as idle.
type pipes struct{ conns chan net.Conn }

func (p pipes) Accept() (net.Conn, error) {
	if c, ok := <-p.conns; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}
func (p pipes) Close() error   { return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{} }

func (p pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	p.conns <- far
	return near, nil
}

// TestSilence gives up a connection whose other side is gone without a word,
// and keeps one that is only idle.
func TestSilence(t *testing.T) {
	for name, beats := range map[string]int{"dead at once": 0, "dead after a while": 5} {
		t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { silenceOf(t, beats) }) })
	}
}

func silenceOf(t *testing.T, beats int) {
	p := pipes{conns: make(chan net.Conn)}
	s := http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		for range beats {
			_, _ = io.WriteString(w, ": heartbeat\n\n")
			_ = http.NewResponseController(w).Flush()
			<-time.After(silence - time.Second)
		}
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})}
	served := make(chan struct{})
	go func() { defer close(served); _ = s.Serve(p) }()
	c, _ := New("http://pipe", "")
	c.http.Transport.(*http.Transport).DialContext = p.dial
	start := time.Now()
	st, err := c.Stream(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.Next(); !errors.Is(err, ErrClosed) || !strings.Contains(err.Error(), "silent") {
		t.Errorf("%v", err)
	}
	last := time.Duration(max(beats-1, 0)) * (silence - time.Second) // when the last heartbeat came
	if took, want := time.Since(start), last+silence; took < want-time.Second || took > want+time.Second {
		t.Errorf("given up after %v, want %v", took, want)
	}
	_ = st.Close()
	c.Close()
	close(p.conns)
	_ = s.Close()
	<-served
}
