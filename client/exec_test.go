package client

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/wire"
)

// TestExecCalls checks method, path and body of every call against the contract.
func TestExecCalls(t *testing.T) {
	var got string
	c := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = strings.TrimSpace(r.Method + " " + r.URL.RequestURI() + " " + string(body))
		_, _ = io.WriteString(w, `{"success":false,"exit_code":3,"stdout":"a\ufffd","stdout_b64":"Yf8=",`+
			`"stderr":"e","command_id":"c1","pid":7,
			"lost":["jobs"],"recreated":true,"new":1,"id":"s1","shells":[{"id":"s1","busy":true}],
				"commands":[{"command_id":"c1","exit_code":3},{"command_id":"c2","exit_code":null}]}`)
	}))
	ctx := t.Context()
	for _, tc := range []struct {
		want string
		call func() error
	}{
		{`POST /session/s/exec {"command":"ls","cwd":"/","env":{"A":"b"},"timeout_ms":1500,"stdin_b64":"/w==",` +
			`"max_output_bytes":9}`, func() error {
			r, err := c.Exec(ctx, "s", "", ExecRequest{Command: "ls", Cwd: "/", Env: map[string]string{"A": "b"},
				Timeout: 1500 * time.Millisecond, Stdin: []byte{0xff}, MaxOutput: 9})
			out, errs := r.Output()
			return want(err, !r.Success && r.ExitCode == 3 && string(out) == "a\xff" && string(errs) == "e" &&
				r.Lost[0] == "jobs" && r.Recreated && strings.Contains(string(r.Raw), `"new"`))
		}},
		{`POST /session/s/shell/x%2Fy/exec {"argv":["a","b c"],"isolated":true,"timeout_ms":1,"queue_timeout_ms":2}`,
			func() error {
				_, err := c.Exec(ctx, "s", "x/y",
					ExecRequest{Isolated: true, Argv: []string{"a", "b c"}, Timeout: 1,
						QueueTimeout: 2 * time.Millisecond})
				return err
			}},
		{`POST /session/s/exec {"command":"","stdin_open":true,"background":true,"tty":true}`, func() error {
			r, err := c.Exec(ctx, "s", "", ExecRequest{TTY: true, StdinOpen: true, Background: true})
			return want(err, r.CommandID == "c1" && r.PID == 7)
		}},
		{`POST /session/s/shell {"id":"x","cwd":"/w","env":{"A":"b"},"command_timeout_ms":2000,"max_output_bytes":5,` +
			`"login":true}`, func() error {
			i, err := c.API().CreateShell(ctx, wire.CreateShell{SessionRef: wire.SessionRef{Session: "s"}, ID: "x",
				Cwd: "/w", Env: map[string]*string{"A": new("b")}, Login: true, CommandTimeoutMS: 2000,
				MaxOutputBytes: 5})
			return want(err, i.ID == "s1" && i.PID == 7)
		}},
		{`GET /shell`, func() error { l, err := c.Shells(ctx, ""); return want(err, len(l) == 1 && l[0].Busy) }},
		{`DELETE /session/s/shell`, func() error {
			_, err := c.API().DeleteShells(ctx, wire.SessionRef{Session: "s"})
			return err
		}},
		{`GET /session/s/shell`, func() error {
			l, err := c.Shells(ctx, "s")
			return want(err, len(l) == 1 && l[0].Busy)
		}},
		{`GET /session/s/shell/x`, func() error {
			i, err := c.API().GetShell(ctx, shellRef("s", "x"))
			return want(err, i.ID == "s1")
		}},
		{`DELETE /session/s/shell/x`, func() error { return c.DeleteShell(ctx, "s", "x") }},
		{`POST /session/s/env {"env":{"A":"b"},"unset":["C","D"]}`, func() error {
			_, err := c.API().SetEnv(ctx, wire.SetEnv{ShellRef: shellRef("s", ""),
				Env: map[string]*string{"A": new("b")}, Unset: []string{"C", "D"}})
			return err
		}},
		{`POST /session/s/shell/x/env {"unset":["C"]}`, func() error {
			_, err := c.API().SetEnv(ctx, wire.SetEnv{ShellRef: shellRef("s", "x"), Unset: []string{"C"}})
			return err
		}},
		{`GET /session/s/commands`, func() error {
			l, err := c.Commands(ctx, "s", 0, "")
			return want(err, len(l) == 2 && *l[0].ExitCode == 3 && l[1].ExitCode == nil)
		}},
		{`GET /session/s/commands?before=c9&limit=2`, func() error {
			_, err := c.Commands(ctx, "s", 2, "c9")
			return err
		}},
		{`GET /session/s/commands/c1`, func() error {
			i, err := c.Command(ctx, "s", "c1")
			return want(err, i.CommandID == "c1")
		}},
		{`GET /session/s/commands/c1/logs`, func() error {
			out, errs, cut, err := c.CommandLogs(ctx, "s", "c1")
			return want(err, string(out) == "a\xff" && string(errs) == "e" && !cut)
		}},
		{`POST /session/s/commands/c1/input {"data_b64":"/w=="}`, func() error {
			return c.CommandInput(ctx, "s", "c1", []byte{0xff}, false)
		}},
		{`POST /session/s/commands/c1/input {"data_b64":"","eof":true}`, func() error {
			return c.CommandInput(ctx, "s", "c1", nil, true)
		}},
		{`DELETE /session/s/commands/c1`, func() error {
			_, err := c.API().CancelCommand(ctx, wire.CancelCommand{CommandRef: commandRef("s", "c1")})
			return err
		}},
	} {
		got = ""
		if err := tc.call(); err != nil {
			t.Errorf("%s: %v", tc.want, err)
		}
		if got != tc.want {
			t.Errorf("sent %s\nwant %s", got, tc.want)
		}
	}
}

// TestCommandInputInPieces: a large input arrives whole, in requests that the
// server takes, and the last one alone ends it.
func TestCommandInputInPieces(t *testing.T) {
	var got bytes.Buffer
	var ends int
	c := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var b struct {
			Data []byte `json:"data_b64"`
			EOF  bool   `json:"eof"`
		}
		raw, _ := io.ReadAll(r.Body)
		if len(raw) > 1<<20 || json.Unmarshal(raw, &b) != nil || ends > 0 {
			t.Errorf("a body of %d bytes after %d ends", len(raw), ends)
		}
		got.Write(b.Data)
		if b.EOF {
			ends++
		}
		_, _ = io.WriteString(w, `{}`)
	}))
	data := bytes.Repeat([]byte("0123456\xff"), inputPiece/3)
	if err := c.CommandInput(t.Context(), "s", "c", data, true); err != nil || !bytes.Equal(got.Bytes(), data) ||
		ends != 1 {
		t.Errorf("%d of %d bytes, %d ends, %v", got.Len(), len(data), ends, err)
	}
}

// execServer serves one stream of events.
func execServer(t *testing.T, body string) *Client {
	return serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("X-Command-Id", "c1")
		_, _ = io.WriteString(w, body)
	}))
}

func TestExecStream(t *testing.T) {
	long := strings.Repeat("é", eventBuffer)
	quoted, _ := json.Marshal(long)
	c := execServer(t, "event: start\ndata: {\"command_id\":\"c1\",\"pid\":9}\n\n: heartbeat\n\nevent: "+
		"brandnew\ndata: {}\n\n"+
		"event: stdout\nid: 4\ndata: {\"data\":\"a\\u0000\\nb\"}\n\nevent: stderr\r\ndata: {\"data\":\"\ufffd\","+
		"\"data_b64\":\"/wA=\"}\r\n\r\n"+
		"event: stdout\ndata: {\"data\":"+string(quoted)+
		"}\n\nevent: complete\ndata: {\"exit_code\":3,\"recreated\":true}\n\nevent: stdout\ndata: "+
		"{\"data\":\"never\"}\n\n")
	s, err := c.ExecStream(t.Context(), "s", "", ExecRequest{Command: "x"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.CommandID() != "c1" {
		t.Errorf("command %q", s.CommandID())
	}
	for _, want := range []ExecEvent{
		{Kind: ExecStart, CommandID: "c1", PID: 9},
		{Kind: ExecStdout, Data: []byte("a\x00\nb")},
		{Kind: ExecStderr, Data: []byte("\xff\x00")},
		{Kind: ExecStdout, Data: []byte(long)},
	} {
		e, err := s.Next()
		if err != nil || e.Kind != want.Kind || e.CommandID != want.CommandID || e.PID != want.PID ||
			!bytes.Equal(e.Data, want.Data) {
			t.Fatalf("%s %d bytes, %v; want %s %d bytes", e.Kind, len(e.Data), err, want.Kind, len(want.Data))
		}
	}
	if e, err := s.Next(); err != nil || e.Kind != ExecComplete || e.Reply.ExitCode != 3 || !e.Reply.Recreated {
		t.Fatalf("%+v, %v", e, err)
	}
	if _, err := s.Next(); err != io.EOF {
		t.Errorf("after the end: %v", err)
	}
}

func TestExecStreamEnds(t *testing.T) {
	whole := "event: stdout\ndata: {\"data\":\"x\"}\n\n"
	for name, tail := range map[string]string{"between events": "", "in an event": "event: complete\ndata: {\"exit_",
		"not JSON": "event: complete\ndata: nonsense\n\n"} {
		c := execServer(t, whole+tail)
		s, err := c.FollowCommand(t.Context(), "s", "c", 5, 6, false)
		if err != nil {
			t.Fatal(err)
		}
		if e, err := s.Next(); err != nil || string(e.Data) != "x" {
			t.Errorf("%s: %+v, %v", name, e, err)
		}
		if e, err := s.Next(); !errors.Is(err, ErrClosed) {
			t.Errorf("%s: %+v, %v", name, e, err)
		}
		_ = s.Close()
	}
	c := execServer(t, "event: error\ndata: {\"error\":\"the server is leaving\",\"code\":\"CLOSING\"}\n\n")
	s, err := c.FollowCommand(t.Context(), "s", "c", 0, 0, true)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var refused *Error
	if _, err := s.Next(); !errors.As(err, &refused) || refused.Code != "CLOSING" ||
		err.Error() != "the server is leaving" {
		t.Errorf("%v", err)
	}
	nobody, _ := New("http://127.0.0.1:1", "")
	if _, err := nobody.ExecStream(t.Context(), "s", "", ExecRequest{}); !errors.Is(err, ErrNoServer) {
		t.Errorf("%v", err)
	}
}

// TestFollowCommandAsks: the positions go into the request.
func TestFollowCommandAsks(t *testing.T) {
	c := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RequestURI() != "/session/s/commands/c/logs?follow=1&late=0&stderr_from=6&stdout_from=5" ||
			r.Header.Get("Accept") != "text/event-stream" {
			t.Errorf("%s %v", r.URL, r.Header)
		}
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"error":"no such command","code":"NOT_FOUND"}`)
	}))
	if _, err := c.FollowCommand(t.Context(), "s", "c", 5, 6, false); !errors.Is(err, ErrNotFound) {
		t.Errorf("%v", err)
	}
}

// BenchmarkExecStream is the time for 100 MB of output in the pieces of a server.
func BenchmarkExecStream(b *testing.B) {
	const piece, total = 64 << 10, 100 << 20
	text := strings.Repeat("the quick brown fox jumps over the lazy dog 0123456789 \"quoted\"\n", piece/64)[:piece]
	quoted, _ := json.Marshal(text)
	for name, event := range map[string]string{
		"text": fmt.Sprintf("event: stdout\ndata: {\"data\":%s}\n\n", quoted),
		"bytes": fmt.Sprintf("event: stdout\ndata: {\"data_b64\":%q}\n\n",
			base64.StdEncoding.EncodeToString([]byte(text))),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(total)
			for b.Loop() {
				ctx, cancel := context.WithCancelCause(b.Context())
				text := strings.Repeat(event, total/piece) + "event: complete\ndata: {}\n\n"
				s := ExecStream{events: newEvents(ctx, cancel, io.NopCloser(strings.NewReader(text)))}
				n := 0
				for {
					e, err := s.Next()
					if err == io.EOF {
						break
					}
					if err != nil {
						b.Fatal(err)
					}
					n += len(e.Data)
				}
				if n != total {
					b.Fatal(n)
				}
			}
		})
	}
}
