package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/server/exec"
	"github.com/evertty/evertty/internal/shell"
)

// post sends a JSON body and returns the reply, whose body the test closes.
func (s *liveServer) post(t *testing.T, ctx context.Context, path, body string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	reply, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reply.Body.Close() })
	return reply
}

// last is the newest command of a session once there is one with that text.
func (s *liveServer) last(t *testing.T, session, text string) (e *shell.Exec) {
	t.Helper()
	eventually(t, text+" is known", func() bool {
		list := s.parts.Shells.Commands(session, 0, "")
		if len(list) == 0 || list[len(list)-1].Command != text {
			return false
		}
		e, _ = s.parts.Shells.Command(session, list[len(list)-1].ID)
		return e != nil
	})
	return e
}

// TestExecSlowClient: a client that does not read holds up neither the command nor memory, and gets
// everything later.
func TestExecSlowClient(t *testing.T) {
	checkLeaks(t)
	live := startServer(t, auth.ModeNone, t.TempDir())
	const size = 40 << 20
	const text = `head -c 41943040 /dev/zero | tr '\0' x`
	body, _ := json.Marshal(map[string]any{"command": text})
	before := heap()
	reply := live.post(t, t.Context(), "/session/slow/exec/stream", string(body))
	e := live.last(t, "slow", text)
	select {
	case <-e.Done():
	case <-time.After(patience):
		t.Fatal("the command waits for its client")
	}
	if grown := int64(heap()) - int64(before); grown > size/4 {
		t.Errorf("the server holds %d bytes more", grown)
	}
	n, lines := 0, bufio.NewReaderSize(reply.Body, 1<<20)
	for {
		line, err := lines.ReadSlice('\n')
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if data, ok := bytes.CutPrefix(line, []byte(`data: {"data":"`)); ok {
			n += bytes.IndexByte(data, '"')
		}
	}
	if n != size {
		t.Errorf("it got %d of %d bytes", n, size)
	}
}

// heap is what the process holds in memory, after a collection.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestExecLargeReply: the reply has the beginning, the logs have everything.
func TestExecLargeReply(t *testing.T) {
	checkLeaks(t)
	live := startServer(t, auth.ModeNone, t.TempDir())
	reply := live.post(t, t.Context(), "/session/large/exec",
		`{"command":"head -c 12000000 /dev/zero | tr '\\0' x; printf '\\377' >&2"}`)
	var o outcome
	if err := json.NewDecoder(reply.Body).Decode(&o); err != nil {
		t.Fatal(err)
	}
	if len(o.Stdout) != exec.MaxReplyOutput || !o.Truncated || o.Stderr != "\ufffd" || o.ExitCode != 0 {
		t.Errorf("%d bytes of stdout, truncated %v, stderr %q", len(o.Stdout), o.Truncated, o.Stderr)
	}
	response, err := http.Get(live.url + "/session/large/commands/" + o.CommandID + "/logs")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var logs struct {
		Stdout    string
		StderrB64 []byte `json:"stderr_b64"`
		Truncated bool
	}
	if err := json.NewDecoder(response.Body).Decode(&logs); err != nil {
		t.Fatal(err)
	}
	if len(logs.Stdout) != 12000000 || string(logs.StderrB64) != "\xff" || logs.Truncated {
		t.Errorf("the logs have %d bytes, %q, truncated %v", len(logs.Stdout), logs.StderrB64, logs.Truncated)
	}
	http.DefaultClient.CloseIdleConnections()
}

// TestExecDisconnect: a command goes on without its client, unless it was to be cancelled.
func TestExecDisconnect(t *testing.T) {
	checkLeaks(t)
	live := startServer(t, auth.ModeNone, t.TempDir())
	for _, test := range []struct {
		path   string
		cancel bool
		want   shell.Status
	}{{"/exec", true, shell.Cancelled}, {"/exec/stream", true, shell.Cancelled}, {"/exec", false,
		shell.Done}, {"/exec/stream", false, shell.Done}} {
		ctx, cancel := context.WithCancel(t.Context())
		text := "read x # " + test.path + string(test.want)
		body, _ := json.Marshal(map[string]any{"command": text, "stdin_open": true,
			"cancel_on_disconnect": test.cancel})
		var wait sync.WaitGroup
		wait.Go(func() {
			r, _ := http.NewRequestWithContext(ctx, http.MethodPost, live.url+"/session/gone"+test.path,
				bytes.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			if reply, err := http.DefaultClient.Do(r); err == nil {
				_, _ = io.Copy(io.Discard, reply.Body) // until it is cancelled
				_ = reply.Body.Close()
			}
		})
		e := live.last(t, "gone", text)
		<-e.Started()
		cancel()
		wait.Wait()
		if !test.cancel {
			if err := e.Input(t.Context(), []byte("x\n"), false); err != nil {
				t.Errorf("%s: the input of a command without its client: %v", test.path, err)
			}
		}
		select {
		case <-e.Done():
		case <-time.After(patience):
			t.Fatalf("%+v: it does not end: %+v", test, e.Info())
		}
		if got := e.Info().Status; got != test.want {
			t.Errorf("%+v: it is %s", test, got)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

// TestExecQueueFull: what the queue does not hold is refused with a time to come back, and what
// waits can be cancelled.
func TestExecQueueFull(t *testing.T) {
	checkLeaks(t)
	live := startServer(t, auth.ModeNone, t.TempDir())
	sh, err := live.parts.Shells.Default("full")
	if err != nil {
		t.Fatal(err)
	}
	var list []*shell.Exec
	for range 1000 {
		e, err := sh.Submit(shell.Command{Text: "sleep 1000"})
		if err != nil {
			break
		}
		if list = append(list, e); len(list) == 1 {
			<-e.Started() // its place among those that wait is free then
		}
	}
	reply := live.post(t, t.Context(), "/session/full/exec", `{"command":"true"}`)
	if reply.StatusCode != http.StatusTooManyRequests || reply.Header.Get("Retry-After") == "" {
		t.Errorf("behind %d others: %d, Retry-After %q", len(list), reply.StatusCode, reply.Header.Get("Retry-After"))
	}
	queued := list[len(list)-1]
	c := newContract(t, live)
	c.do(t, exchange{method: "DELETE", target: "/session/full/commands/" + queued.ID(), status: 200})
	if i := queued.Info(); i.Status != shell.Cancelled || !i.StartedAt.IsZero() {
		t.Errorf("the queued one is %s, started %v", i.Status, i.StartedAt)
	}
}

// TestExecServerCloses: a waiting client is told that the server leaves and which command it was,
// and the next server has its result.
func TestExecServerCloses(t *testing.T) {
	checkLeaks(t)
	dir := t.TempDir()
	live := startServer(t, auth.ModeNone, dir)
	const text = "read x; echo got $x"
	body, _ := json.Marshal(map[string]any{"command": text, "stdin_open": true})
	replies := make(chan *http.Response, 1)
	go func() { replies <- live.post(t, context.Background(), "/session/moves/exec", string(body)) }()
	e := live.last(t, "moves", text)
	<-e.Started()
	live.stop()
	reply := <-replies
	var refused struct {
		Code    string
		Details struct {
			CommandID string `json:"command_id"`
		}
	}
	if err := json.NewDecoder(reply.Body).Decode(&refused); err != nil {
		t.Fatal(err)
	}
	if reply.StatusCode != http.StatusServiceUnavailable || refused.Code != "CLOSING" ||
		refused.Details.CommandID != e.ID() {
		t.Errorf("the client got %d %+v", reply.StatusCode, refused)
	}
	c := newContract(t, startServer(t, auth.ModeNone, dir))
	target := "/session/moves/commands/" + e.ID()
	c.do(t, exchange{method: "POST", target: target + "/input", body: `{"data":"it\n"}`, status: 200})
	w := c.openExec(t, "GET", target+"/logs?follow=1", "", "ExecStream")
	if w.until("complete"); w.text.String() != "got it\n" {
		t.Errorf("under the next server it printed %q", w.text.String())
	}
}

// TestExecOnATerminalServerCloses: its client is told that the server leaves, and the command runs
// on as any terminal does.
func TestExecOnATerminalServerCloses(t *testing.T) {
	checkLeaks(t)
	dir := t.TempDir()
	live := startServer(t, auth.ModeNone, dir)
	replies := make(chan *http.Response, 1)
	go func() {
		replies <- live.post(t, context.Background(), "/session/moves/exec",
			`{"command":"cat","tty":true,"cancel_on_disconnect":true}`)
	}()
	eventually(t, "the command starts", func() bool { return len(live.parts.Terminals.List("moves")) > 0 })
	id := live.parts.Terminals.List("moves")[0].ID
	live.stop()
	reply := <-replies
	var refused struct{ Code string }
	if err := json.NewDecoder(reply.Body).Decode(&refused); err != nil {
		t.Fatal(err)
	}
	if reply.StatusCode != http.StatusServiceUnavailable || refused.Code != "CLOSING" {
		t.Errorf("the client got %d %+v", reply.StatusCode, refused)
	}
	c := newContract(t, startServer(t, auth.ModeNone, dir))
	var term struct{ State string }
	decode(t, c.do(t, exchange{method: "GET", target: "/pty/" + id, status: 200}), &term)
	if term.State != "running" {
		t.Errorf("under the next server it is %s", term.State)
	}
}
