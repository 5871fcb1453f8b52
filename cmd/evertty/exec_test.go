//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/evertty/evertty/client"
)

// fakeShell is a server of one command, "c1", that does what the test tells it.
type fakeShell struct {
	t       *testing.T
	http    *httptest.Server
	streams chan *fakeStream // one value for each connection
	mu      sync.Mutex
	asked   []string
	input   bytes.Buffer
	closed  chan struct{} // the input has ended
	cancels chan struct{}
	stop    chan struct{} // the test is over
	refuse  []int         // statuses of the next requests for a stream
}

// fakeStream is the server's end of an event stream.
type fakeStream struct {
	w    http.ResponseWriter
	uri  string
	over chan struct{}
}

func newFakeShell(t *testing.T) *fakeShell {
	t.Helper()
	noLeak(t)
	s := &fakeShell{t: t, streams: make(chan *fakeStream, 8), closed: make(chan struct{}),
		cancels: make(chan struct{}, 8), stop: make(chan struct{})}
	s.http = httptest.NewServer(s)
	t.Cleanup(func() { close(s.stop); s.http.CloseClientConnections(); s.http.Close() })
	t.Setenv(envServer, s.http.URL)
	t.Setenv(envDataDir, t.TempDir())
	return s
}

func (s *fakeShell) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.asked = append(s.asked, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+string(body)))
	status := 0
	if strings.HasSuffix(r.URL.Path, "/logs") && len(s.refuse) > 0 {
		status, s.refuse = s.refuse[0], s.refuse[1:]
	}
	s.mu.Unlock()
	switch {
	case status != 0:
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"error":"not now","code":"REFUSED"}`)
	case strings.HasSuffix(r.URL.Path, "/stream"), strings.HasSuffix(r.URL.Path, "/logs"):
		w.Header().Set("X-Command-Id", "c1")
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		f := &fakeStream{w, r.URL.RequestURI(), make(chan struct{})}
		s.streams <- f
		select {
		case <-f.over:
		case <-s.stop:
		}
	case strings.HasSuffix(r.URL.Path, "/input"):
		s.take(body)
		_, _ = io.WriteString(w, `{"success":true}`)
	case r.Method == http.MethodDelete:
		s.cancels <- struct{}{}
		_, _ = io.WriteString(w, `{"success":true}`)
	case strings.HasSuffix(r.URL.Path, "/exec"):
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, `{"command_id":"c1","pid":7}`)
	}
}

func (s *fakeShell) take(body []byte) {
	var b struct {
		Data []byte `json:"data_b64"`
		EOF  bool   `json:"eof"`
	}
	if err := json.Unmarshal(body, &b); err != nil {
		s.t.Error(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.input.Write(b.Data)
	if b.EOF {
		close(s.closed)
	}
}

func (s *fakeShell) stream() *fakeStream {
	s.t.Helper()
	return within(s.t, s.streams, "a stream")
}

// requests are what was asked so far.
func (s *fakeShell) requests() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.asked, "\n")
}

// send sends an event; leave ends the connection.
func (f *fakeStream) send(kind, data string) {
	fmt.Fprintf(f.w, "event: %s\ndata: %s\n\n", kind, data)
	_ = http.NewResponseController(f.w).Flush()
}
func (f *fakeStream) leave() { close(f.over) }

func (f *fakeStream) complete(fields string) {
	f.send("complete", `{"command_id":"c1",`+fields+`}`)
	f.leave()
}

// typed is an input of the CLI: a pipe, so that it ends when the test says.
func typed(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close(); _ = w.Close() })
	return r, w
}

// begin runs a command line in the background; stdout nil is a file.
func begin(t *testing.T, stdin, stdout *os.File, args ...string) <-chan outcome {
	t.Helper()
	if stdin == nil {
		var err error
		if stdin, err = os.Open(os.DevNull); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = stdin.Close() })
	}
	kept := stdout
	if stdout == nil {
		var err error
		if kept, err = os.Create(t.TempDir() + "/out"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = kept.Close() })
	}
	over := make(chan outcome, 1)
	go func() {
		var stderr strings.Builder
		a := &app{stdin: stdin, stdout: kept, stderr: &stderr}
		code := a.run(args)
		text := ""
		if stdout == nil {
			b, _ := os.ReadFile(kept.Name())
			text = string(b)
		}
		over <- outcome{code, text, stderr.String()}
	}()
	return over
}

func TestExecOutput(t *testing.T) {
	s := newFakeShell(t)
	over := begin(t, nil, nil, "exec", "-s", "work", "--cwd", "/w", "--env", "A=b", "--timeout", "1.5", "printf", "a b",
		"-n", "it's", "")
	f := s.stream()
	if want := `POST /session/work/exec/stream {"command":"printf 'a b' -n 'it'\\''s' ''","cwd":"/w",` +
		`"env":{"A":"b"},"timeout_ms":1500}`; s.requests() != want {
		t.Errorf("asked %s\nwant %s", s.requests(), want)
	}
	f.send("start", `{"command_id":"c1","pid":5}`)
	f.send("stdout", `{"data":"a\u0000"}`)
	f.send("stderr", `{"data":"oops\n"}`)
	f.send("stdout", `{"data_b64":"/w=="}`)
	f.complete(`"exit_code":7,"recreated":true,"lost":["jobs","traps"]`)
	if o := within(t, over, "the end"); o.code != 7 || o.stdout != "a\x00\xff" ||
		o.stderr != "oops\nevertty: the shell had ended and was started again before this command; lost: jobs, "+
			"traps\n" {
		t.Errorf("%+v", o)
	}
}

func TestExecJSON(t *testing.T) {
	s := newFakeShell(t)
	over := begin(t, nil, nil, "exec", "--json", "-c", "x <y")
	f := s.stream()
	f.send("stdout", `{"data":"a<"}`)
	f.send("stderr", `{"data_b64":"/w=="}`)
	f.complete(`"exit_code":124,"timed_out":true,"recreated":true,"truncated":false,"duration_ms":12345678901`)
	o := within(t, over, "the end")
	var r client.ExecResult
	if err := json.Unmarshal([]byte(o.stdout), &r); err != nil {
		t.Fatal(err)
	}
	out, errs := r.Output()
	if o.code != 124 || o.stderr != "" || string(out) != "a<" || string(errs) != "\xff" || !r.TimedOut ||
		r.DurationMS != 12345678901 || r.CommandID != "c1" || r.StdoutB64 != nil {
		t.Errorf("%+v %+v", o, r)
	}
}

func TestExecBackground(t *testing.T) {
	s := newFakeShell(t)
	r, _ := typed(t)
	if o := within(t, begin(t, r, nil, "exec", "--background", "--shell", "x", "-c", "make"), "the end"); o.code != 0 ||
		o.stdout != "c1\n" {
		t.Errorf("%+v", o)
	}
	if want := `POST /session/main/shell/x/exec {"command":"make","background":true}`; s.requests() != want {
		t.Errorf("asked %s\nwant %s", s.requests(), want)
	}
}

func TestExecInput(t *testing.T) {
	s := newFakeShell(t)
	r, w := typed(t)
	over := begin(t, r, nil, "exec", "--", "cat")
	f := s.stream()
	if !strings.Contains(s.requests(), `"stdin_open":true`) {
		t.Errorf("asked %s", s.requests())
	}
	f.send("start", `{"command_id":"c1","pid":5}`)
	want := "first\xff\x00"
	_, _ = w.WriteString(want)
	got := func() string { s.mu.Lock(); defer s.mu.Unlock(); return s.input.String() }
	eventually(t, func() string { return "the first line comes before the second: " + got() }, func() bool {
		return got() == want
	})
	rest := strings.Repeat("0123456789", feedPiece/4)
	_, _ = w.WriteString(rest)
	_ = w.Close()
	within(t, s.closed, "the end of the input")
	if got() != want+rest {
		t.Errorf("%d bytes came", len(got()))
	}
	f.complete(`"exit_code":0`)
	if o := within(t, over, "the end"); o.code != 0 || o.stderr != "" {
		t.Errorf("%+v", o)
	}
}

// TestExecLeavesInputAlone: without the option nothing is read, and an input that
// never ends does not keep a command that has.
func TestExecLeavesInputAlone(t *testing.T) {
	for _, args := range [][]string{{"exec", "-n", "--", "true"}, {"exec", "--", "true"}} {
		s := newFakeShell(t)
		r, w := typed(t)
		_, _ = w.WriteString("mine\n")
		over := begin(t, r, nil, args...)
		f := s.stream()
		if strings.Contains(s.requests(), "stdin_open") == (args[1] == "-n") {
			t.Errorf("%v asked %s", args, s.requests())
		}
		f.complete(`"exit_code":0`)
		if o := within(t, over, "the end"); o.code != 0 {
			t.Errorf("%+v", o)
		}
		if args[1] == "-n" {
			_ = w.Close()
			if rest, _ := io.ReadAll(r); string(rest) != "mine\n" {
				t.Errorf("left %q", rest)
			}
		}
	}
}

func TestExecSignals(t *testing.T) {
	for _, tc := range []struct {
		sig  syscall.Signal
		code int
	}{{syscall.SIGINT, 130}, {syscall.SIGTERM, 143}, {syscall.SIGHUP, 129}} {
		if signal.Ignored(tc.sig) { // these tests run under nohup, which holds for the program too
			continue
		}
		s := newFakeShell(t)
		over := begin(t, nil, nil, "exec", "--", "sleep", "9")
		f := s.stream()
		_ = syscall.Kill(os.Getpid(), tc.sig)
		within(t, s.cancels, "the cancel, also of a command that has not started")
		f.send("stdout", `{"data":"last words"}`)
		f.complete(`"exit_code":130,"cancelled":true`)
		if o := within(t, over, "the end"); o.code != tc.code || o.stdout != "last words" || o.stderr != "" {
			t.Errorf("%v: %+v", tc.sig, o)
		}
	}
}

// TestExecSecondSignal leaves although the command goes on, and a command that
// ends by itself keeps its code.
func TestExecSecondSignal(t *testing.T) {
	s := newFakeShell(t)
	over := begin(t, nil, nil, "exec", "--", "sleep", "9")
	s.stream()
	_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
	within(t, s.cancels, "the cancel")
	_ = syscall.Kill(os.Getpid(), syscall.SIGINT) // as timeout(1) does
	select {
	case o := <-over:
		t.Errorf("the same signal twice at once ended it: %+v", o)
	case <-time.After(sameSignal):
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
	if o := within(t, over, "the end"); o.code != 130 || o.stderr != "" {
		t.Errorf("%+v", o)
	}
	over = begin(t, nil, nil, "exec", "--", "sleep", "9")
	f := s.stream()
	_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
	within(t, s.cancels, "the cancel")
	f.complete(`"exit_code":5`)
	if o := within(t, over, "the end"); o.code != 5 {
		t.Errorf("%+v", o)
	}
}

func TestExecClosedOutput(t *testing.T) {
	s := newFakeShell(t)
	r, w := typed(t)
	_ = r.Close()
	over := begin(t, nil, w, "exec", "--", "yes")
	f := s.stream()
	f.send("stdout", `{"data":"y\n"}`)
	within(t, s.cancels, "the cancel")
	if o := within(t, over, "the end"); o.code != 128+int(syscall.SIGPIPE) || o.stderr != "" {
		t.Errorf("%+v", o)
	}
}

// TestExecReconnects goes on where it was in both outputs, over a server that is
// not ready and one that says goodbye.
func TestExecReconnects(t *testing.T) {
	s := newFakeShell(t)
	s.refuse = []int{503}
	over := begin(t, nil, nil, "exec", "-s", "w", "--", "make")
	f := s.stream()
	f.send("stdout", `{"data":"12345"}`)
	f.send("stderr", `{"data_b64":"/w=="}`)
	f.leave()
	f = s.stream()
	if f.uri != "/session/w/commands/c1/logs?follow=1&late=0&stderr_from=1&stdout_from=5" {
		t.Errorf("asked %s", f.uri)
	}
	f.send("start", `{"command_id":"c1"}`)
	f.send("stdout", `{"data":"67"}`)
	f.send("error", `{"error":"the server is leaving","code":"CLOSING"}`)
	f.leave()
	f = s.stream()
	if f.uri != "/session/w/commands/c1/logs?follow=1&late=0&stderr_from=1&stdout_from=7" {
		t.Errorf("asked %s", f.uri)
	}
	f.complete(`"exit_code":2`)
	if o := within(t, over, "the end"); o.code != 2 || o.stdout != "1234567" || o.stderr != "\xff" {
		t.Errorf("%+v", o)
	}
}

func TestExecRefusedAfterwards(t *testing.T) {
	s := newFakeShell(t)
	s.refuse = []int{404}
	over := begin(t, nil, nil, "exec", "--", "make")
	s.stream().leave()
	if o := within(t, over, "the end"); o.code != exitNoTerminal || o.stderr != "evertty: not now\n" {
		t.Errorf("%+v", o)
	}
	over = begin(t, nil, nil, "exec", "--", "make")
	f := s.stream()
	f.send("error", `{"error":"the shell was deleted","code":"SESSION_DESTROYED"}`)
	if o := within(t, over, "the end"); o.code != exitFailure || o.stderr != "evertty: the shell was deleted\n" {
		t.Errorf("%+v", o)
	}
	f.leave()
}

// TestExecGivesUp: a server that does not come back is waited for only so long.
func TestExecGivesUp(t *testing.T) {
	s := newFakeShell(t)
	s.refuse = []int{503, 503, 503, 503, 503, 503, 503, 503}
	c, err := client.New(s.http.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	e := newExecution(func() (*client.Client, error) { return c, nil }, "work")
	e.stdout, e.stderr, e.patience = io.Discard, io.Discard, retryFirst
	go func() { s.stream().leave() }()
	_, err = e.run(t.Context(), func(ctx context.Context, c *client.Client) (*client.ExecStream, error) {
		return c.ExecStream(ctx, "work", "", client.ExecRequest{Command: "make"})
	})
	if err == nil || exitCode(err) != exitFailure || !strings.Contains(err.Error(), "evertty commands -s work c1") ||
		!strings.HasSuffix(err.Error(), "not now") {
		t.Errorf("%v", err)
	}
}

func TestShellWords(t *testing.T) {
	for want, words := range map[string][]string{
		"ls -l /tmp/a_b":            {"ls", "-l", "/tmp/a_b"},
		"'if' if":                   {"if", "if"},
		"time make":                 {"time", "make"},
		"'A=b' '~' '*' '' 'x y'":    {"A=b", "~", "*", "", "x y"},
		`'it'\''s' '$x' 'a` + "\n'": {"it's", "$x", "a\n"},
		"'é' '!' '{' '[['":          {"é", "!", "{", "[["},
	} {
		if got := shellWords(words); got != want {
			t.Errorf("%q: %s, want %s", words, got, want)
		}
	}
}

func TestExecUsage(t *testing.T) {
	t.Setenv(envDataDir, t.TempDir())
	t.Setenv(envServer, "http://127.0.0.1:1")
	for args, code := range map[string]int{
		"exec": 2, "exec -c x y": 2, "exec -n --stdin x": 2, "exec --tty --stdin x": 2,
		"exec --background --stdin x": 2,
		"exec --timeout -1 x":         2, "exec --env x y": 2, "exec --frob x": 2, "commands --cancel": 2,
		"exec x": 3, "exec -c x --json": 3, "commands": 3, "commands c1": 3, "shells": 3,
	} {
		if o := evertty(t, "", strings.Fields(args)...); o.code != code || strings.Count(o.stderr, "\n") != 1 {
			t.Errorf("%s: %+v, want %d", args, o, code)
		}
	}
}
