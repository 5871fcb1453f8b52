package tests

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evertty/evertty/tests/polling"
)

// body is the JSON of a request.
type body = map[string]any

// book remembers the sessions that a test has used, so that its end can end their
// shells. Safe for concurrent use.
type book struct {
	mu       sync.Mutex
	sessions []string
}

func (b *book) add(session string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !slices.Contains(b.sessions, session) {
		b.sessions = append(b.sessions, session)
	}
}

func (b *book) list() []string {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.sessions)
}

// seenBy is the same server, which fails another test than the one that started it.
func (s *server) seenBy(t testing.TB) *server {
	view := *s
	view.t = t
	return &view
}

// work is a shell as a user sees it: the session's default one or one with a name.
// Its methods fail the test.
type work struct {
	*server
	session string
	at      string // the path before /exec
}

// in is the default shell of a session.
func (s *server) in(session string) *work {
	s.book.add(session)
	return &work{s, session, "/session/" + url.PathEscape(session)}
}

// newShell makes a shell beside the default one of a session.
func (s *server) newShell(session string, b body) (w *work, id string) {
	s.t.Helper()
	s.book.add(session)
	var made struct {
		ID  string
		PID int
	}
	s.post("/session/"+session+"/shell", asJSON(b)).wants(201).into(&made)
	if made.ID == "" || !alive(made.PID) {
		s.t.Fatalf("the new shell is %+v", made)
	}
	return &work{s, session, "/session/" + session + "/shell/" + made.ID}, made.ID
}

func asJSON(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // only what a test wrote itself
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// result is the reply to an exec.
type result struct {
	t           testing.TB
	took        time.Duration // as the client saw it
	Success     bool          `json:"success"`
	ExitCode    int           `json:"exit_code"`
	ExitCode2   int           `json:"exitCode"`
	Stdout      string        `json:"stdout"`
	Stderr      string        `json:"stderr"`
	StdoutB64   string        `json:"stdout_b64"`
	StderrB64   string        `json:"stderr_b64"`
	Truncated   bool          `json:"truncated"`
	TimedOut    bool          `json:"timed_out"`
	Cancelled   bool          `json:"cancelled"`
	DurationMS  float64       `json:"duration_ms"`
	Timestamp   time.Time     `json:"timestamp"`
	Command     string        `json:"command"`
	CommandID   string        `json:"command_id"`
	Session     string        `json:"session"`
	Cwd         string        `json:"cwd"`
	CwdFallback string        `json:"cwd_fallback"`
	Background  bool          `json:"background"`
	Recreated   bool          `json:"recreated"`
	ShellEnded  bool          `json:"shell_ended"`
	Lost        []string      `json:"lost"`
}

// out is the exact output, whichever field has it.
func (r result) out() string { return exactly(r.t, r.Stdout, r.StdoutB64) }
func (r result) err() string { return exactly(r.t, r.Stderr, r.StderrB64) }

func exactly(t testing.TB, text, b64 string) string {
	t.Helper()
	if b64 == "" {
		return text
	}
	b, err := base64.StdEncoding.DecodeString(b64)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// is checks the exit code and all of both outputs: nothing on stderr.
func (r result) is(code int, stdout string) result {
	r.t.Helper()
	if r.ExitCode != code || r.out() != stdout || r.err() != "" {
		r.t.Errorf("%s: code %d, stdout %q, stderr %q; want code %d, stdout %q and nothing on stderr", clip(r.Command),
			r.ExitCode, clip(r.out()), clip(r.err()), code, clip(stdout))
	}
	return r
}

// fails checks the exit code, all of stdout, and that stderr has the words.
func (r result) fails(code int, stdout string, words ...string) result {
	r.t.Helper()
	if r.ExitCode != code || r.out() != stdout || r.err() == "" {
		r.t.Errorf("%s: code %d, stdout %q, stderr %q; want code %d, stdout %q and something on stderr",
			clip(r.Command), r.ExitCode, clip(r.out()), clip(r.err()), code, clip(stdout))
	}
	for _, w := range words {
		if !strings.Contains(r.err(), w) {
			r.t.Errorf("%s: stderr %q does not say %q", clip(r.Command), clip(r.err()), w)
		}
	}
	return r
}

// timedOut checks that the time was over, and that the rest did not run.
func (r result) timedOut() result {
	r.t.Helper()
	if !r.TimedOut || r.ExitCode != 124 || r.Success || strings.Contains(r.out(), "NOT") {
		r.t.Errorf("%s: %+v", clip(r.Command), r)
	}
	return r
}

// send is one exec, answered with whatever status.
func (w *work) send(b body) reply {
	w.t.Helper()
	return w.post(w.at+"/exec", asJSON(b))
}

// with is one exec with all that the body has.
func (w *work) with(b body) result {
	w.t.Helper()
	begin := time.Now()
	reply := w.send(b).wants(200)
	r := result{t: w.t, took: time.Since(begin)}
	reply.into(&r)
	if r.ExitCode != r.ExitCode2 || r.Success != (r.ExitCode == 0) || r.CommandID == "" || r.Timestamp.IsZero() ||
		r.DurationMS < 0 || r.Session != w.session || !filepath.IsAbs(r.Cwd) {
		w.t.Errorf("the reply %s", clip(reply.body))
	}
	if text, ok := b["command"].(string); ok && r.Command != text {
		w.t.Errorf("the command %q is answered as %q", clip(text), clip(r.Command))
	}
	return r
}

// run is one exec, optionally with more fields.
func (w *work) run(command string, more ...body) result {
	w.t.Helper()
	b := body{"command": command}
	for _, m := range more {
		maps.Copy(b, m)
	}
	return w.with(b)
}

// says runs a command that must succeed and returns its output without the
// newline at the end.
func (w *work) says(command string) string {
	w.t.Helper()
	r := w.run(command)
	if r.ExitCode != 0 {
		w.t.Fatalf("%s: code %d, stderr %q", clip(command), r.ExitCode, clip(r.err()))
	}
	return strings.TrimSuffix(r.out(), "\n")
}

// number is what a command says, as a number.
func (w *work) number(command string) int {
	w.t.Helper()
	n, err := strconv.Atoi(w.says(command))
	w.must(err)
	return n
}

// alive checks that the shell is of use: two outputs, the right codes.
func (w *work) alive() (first result) {
	w.t.Helper()
	first = w.run("echo alive")
	if first.ExitCode != 0 || first.out() != "alive\n" {
		w.t.Errorf("the shell is of no use: %+v", first)
	}
	if r := w.run("echo odd >&2; (exit 5)"); r.ExitCode != 5 || r.out() != "" || !strings.Contains(r.err(), "odd\n") {
		w.t.Errorf("the shell is of no use: %+v", r)
	}
	return first
}

// came is an exec that is answered later.
type came struct {
	t    testing.TB
	text string // of the command
	done chan struct{}
	r    reply
	err  error
}

// later sends an exec and does not wait for the answer. A connection that breaks
// is no failure: the server may be killed.
func (w *work) later(b body) *came {
	w.t.Helper()
	text, _ := b["command"].(string)
	c := &came{t: w.t, text: text, done: make(chan struct{})}
	ctx, headers := w.ctx(), map[string]string{"Authorization": w.bearer(), "Content-Type": "application/json"}
	address, sent := w.url+w.at+"/exec", asJSON(b)
	go func() {
		defer close(c.done)
		c.r, c.err = rawPost(ctx, w.t, address, sent, headers)
	}()
	return c
}

func rawPost(ctx context.Context, t testing.TB, address, text string, headers map[string]string) (reply, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(text))
	if err != nil {
		return reply{}, err
	}
	for k, v := range headers {
		if v != "" {
			req.Header.Set(k, v)
		}
	}
	resp, err := plain.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return reply{t, request{http.MethodPost, req.URL.Path, text, headers}, resp.StatusCode, resp.Header, string(b)}, err
}

// reply waits for the answer.
func (c *came) reply() reply {
	c.t.Helper()
	<-c.done
	if c.err != nil {
		c.t.Fatal(c.err)
	}
	return c.r
}

// result waits for the answer of a command that was carried out.
func (c *came) result() result {
	c.t.Helper()
	r := result{t: c.t}
	c.reply().wants(200).into(&r)
	return r
}

// past is a command of the history.
type past struct {
	CommandID   string     `json:"command_id"`
	Command     string     `json:"command"`
	Cwd         string     `json:"cwd"`
	PTY         string     `json:"pty"`
	Status      string     `json:"status"`
	ExitCode    *int       `json:"exit_code"`
	Background  bool       `json:"background"`
	TimedOut    bool       `json:"timed_out"`
	StartedAt   *time.Time `json:"started_at"`
	FinishedAt  *time.Time `json:"finished_at"`
	StdoutBytes int64      `json:"stdout_bytes"`
	StderrBytes int64      `json:"stderr_bytes"`
}

// ended reports whether it has ended with that status and code.
func (p past) ended(status string, code int) bool {
	return p.Status == status && p.ExitCode != nil && *p.ExitCode == code
}

func (p past) String() string { return asJSON(p) }

// commands is the history of the session, newest last.
func (w *work) commands(query string) []past {
	w.t.Helper()
	var list struct{ Commands []past }
	w.get("/session/" + w.session + "/commands" + query).wants(200).into(&list)
	return list.Commands
}

func (w *work) command(id string) past {
	w.t.Helper()
	var p past
	w.get("/session/" + w.session + "/commands/" + id).wants(200).into(&p)
	return p
}

// find waits until a command with that text has that status.
func (w *work) find(text, status string) (found past) {
	w.t.Helper()
	var list []past
	if !polling.Until(patience, func() bool {
		list = w.commands("")
		i := slices.IndexFunc(list, func(p past) bool { return p.Command == text && p.Status == status })
		if i >= 0 {
			found = list[i]
		}
		return i >= 0
	}) {
		w.t.Fatalf("%q is never %s: %v", clip(text), status, list)
	}
	return found
}

// finished waits until a command has ended.
func (w *work) finished(id string) (p past) {
	w.t.Helper()
	if !polling.Until(patience, func() bool {
		p = w.command(id)
		return p.Status != "queued" && p.Status != "running"
	}) {
		w.t.Fatalf("it never ends: %v", p)
	}
	return p
}

func (w *work) cancel(id string) reply {
	w.t.Helper()
	return w.call(http.MethodDelete, "/session/"+w.session+"/commands/"+id, "")
}

// logs are a command's two outputs so far.
func (w *work) logs(id string) (stdout, stderr string) {
	w.t.Helper()
	var l result
	w.get("/session/" + w.session + "/commands/" + id + "/logs").wants(200).into(&l)
	l.t = w.t
	return l.out(), l.err()
}

// logged waits until the log of stdout is that.
func (w *work) logged(id, stdout string) {
	w.t.Helper()
	got := ""
	if !polling.Until(patience, func() bool { got, _ = w.logs(id); return got == stdout }) {
		w.t.Errorf("the log of %s has %q, never %q", id, clip(got), clip(stdout))
	}
}

// streamEvent is one event of exec/stream or of logs that are followed.
type streamEvent struct {
	kind string
	result
	PID     int    `json:"pid"`
	Data    string `json:"data"`
	DataB64 string `json:"data_b64"`
}

func (e streamEvent) data(t testing.TB) string { return exactly(t, e.Data, e.DataB64) }

// eventStream is a reply of Server-Sent Events.
type eventStream struct {
	w    *work
	resp *http.Response
	r    *bufio.Reader
	stop context.CancelFunc
}

// stream is one exec whose output comes while it runs.
func (w *work) stream(b body) *eventStream {
	w.t.Helper()
	return w.events(http.MethodPost, w.at+"/exec/stream", asJSON(b))
}

// follow is the log of a command from its start, and what comes.
func (w *work) follow(id string) *eventStream {
	w.t.Helper()
	return w.events(http.MethodGet, "/session/"+w.session+"/commands/"+id+"/logs?follow=1", "")
}

func (w *work) events(method, path, text string) *eventStream {
	w.t.Helper()
	ctx, stop := context.WithCancel(w.ctx())
	req, err := http.NewRequestWithContext(ctx, method, w.url+path, strings.NewReader(text))
	w.must(err)
	if text != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if b := w.bearer(); b != "" {
		req.Header.Set("Authorization", b)
	}
	resp, err := plain.Do(req)
	w.must(err)
	if resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		b, _ := io.ReadAll(resp.Body)
		w.t.Fatalf("%s %s: %s %s: %.300s", method, path, resp.Status, resp.Header.Get("Content-Type"), b)
	}
	e := &eventStream{w, resp, bufio.NewReaderSize(resp.Body, 256<<10), stop}
	w.t.Cleanup(e.close)
	return e
}

// close hangs up.
func (e *eventStream) close() { e.stop(); _ = e.resp.Body.Close() }

// next is the next event; io.EOF at the end of the reply.
func (e *eventStream) next() (v streamEvent, err error) {
	var data []byte
	for {
		line, err := e.r.ReadBytes('\n')
		if err != nil {
			return v, err
		}
		line = line[:len(line)-1]
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch {
		case len(line) == 0 && (v.kind != "" || data != nil):
			err := json.Unmarshal(data, &v)
			v.t = e.w.t
			return v, err
		case string(name) == "event":
			v.kind = string(value)
		case string(name) == "data":
			data = append(data, value...)
		}
	}
}

// until reads up to an event of that kind and returns it.
func (e *eventStream) until(kind string) streamEvent {
	e.w.t.Helper()
	for {
		v, err := e.next()
		if err != nil {
			e.w.t.Fatalf("no %s: %v", kind, err)
		}
		if v.kind == kind {
			return v
		}
	}
}

// all reads to the end: everything of both outputs into the writers, and the
// last event that is neither.
func (e *eventStream) all(stdout, stderr io.Writer) (last streamEvent) {
	e.w.t.Helper()
	for {
		v, err := e.next()
		switch {
		case errors.Is(err, io.EOF):
			return last
		case err != nil:
			e.w.t.Fatal(err)
		case v.kind == "stdout":
			_, _ = io.WriteString(stdout, v.data(e.w.t))
		case v.kind == "stderr":
			_, _ = io.WriteString(stderr, v.data(e.w.t))
		default:
			last = v
		}
	}
}

// shellInfo is what lists tell of a shell.
type shellInfo struct {
	ID     string
	PID    int
	Cwd    string
	State  string
	Busy   bool
	Queued int
}

// shells are those of a session.
func (s *server) shells(session string) []shellInfo {
	s.t.Helper()
	var list struct{ Shells []shellInfo }
	s.get("/session/" + url.PathEscape(session) + "/shell").wants(200).into(&list)
	return list.Shells
}

// endShells ends the shells of all sessions that the test has used, by the
// server's own means. No FIFO may be left then.
func (s *server) endShells() {
	s.t.Helper()
	sessions := s.book.list()
	var wg sync.WaitGroup
	slots := make(chan struct{}, endings)
	for _, session := range sessions {
		for _, sh := range s.shells(session) {
			slots <- struct{}{}
			wg.Go(func() {
				defer func() { <-slots }()
				path := "/session/" + url.PathEscape(session) + "/shell/" + sh.ID
				if r := s.call(http.MethodDelete, path, ""); r.status/100 != 2 && r.status != http.StatusNotFound {
					s.t.Errorf("ending the shell %s of %s: %d %s", sh.ID, session, r.status, r.body)
				}
			})
		}
	}
	wg.Wait()
	if len(sessions) > 0 {
		s.noFIFO()
	}
}

// noFIFO checks that there is none in the data directory.
func (s *server) noFIFO() {
	s.t.Helper()
	var left []string
	if !polling.Until(patience, func() bool { left = fifos(s.how.dir); return len(left) == 0 }) {
		s.t.Errorf("FIFOs are left: %v", left)
	}
}

// fifos are the FIFOs below a directory.
func fifos(dir string) (list []string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type()&fs.ModeNamedPipe != 0 {
			list = append(list, path)
		}
		return nil
	})
	return list
}

// quote is a text as one word of a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// gate is a file that a command waits for. wait is shell text that ends when it
// was opened; it starts no process but sleeps.
type gate struct {
	t    testing.TB
	path string
}

func newGate(t testing.TB) gate {
	t.Helper()
	return gate{t, filepath.Join(t.TempDir(), "gate")}
}

func (g gate) wait() string { return "until [ -e " + quote(g.path) + " ]; do sleep 0.02; done" }

func (g gate) open() {
	g.t.Helper()
	if err := os.WriteFile(g.path, nil, 0o600); err != nil {
		g.t.Fatal(err)
	}
}

// pids are the numbers that commands have written to a file, a line each.
func pids(t testing.TB, file string) (list []int) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, f := range strings.Fields(string(b)) {
		n, err := strconv.Atoi(f)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, n)
	}
	return list
}

// die waits until all these processes are gone.
func die(t testing.TB, what string, list ...int) {
	t.Helper()
	if polling.Until(patience, func() bool { return !slices.ContainsFunc(list, alive) }) {
		return
	}
	for i, pid := range list {
		if alive(pid) {
			line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			t.Errorf("%s: number %d of %d lives: %d %q", what, i, len(list), pid, line)
		}
	}
}

// live checks that all these processes are there.
func live(t testing.TB, what string, list ...int) {
	t.Helper()
	for i, pid := range list {
		if !alive(pid) {
			t.Errorf("%s: number %d of %d is dead: %d", what, i, len(list), pid)
		}
	}
	if len(list) == 0 {
		t.Errorf("%s: there is none", what)
	}
}

// deleteShells ends the shells of this session and everything they started.
func (w *work) deleteShells() {
	w.t.Helper()
	for _, sh := range w.shells(w.session) {
		if r := w.call(http.MethodDelete, "/session/"+w.session+"/shell/"+sh.ID, ""); r.status/100 != 2 {
			w.t.Errorf("deleting the shell: %d %s", r.status, r.body)
		}
	}
}

// shellDirs are the directories of shells on disk.
func (s *server) shellDirs() (list []string) {
	entries, _ := os.ReadDir(s.file("shells"))
	for _, d := range entries {
		if d.IsDir() {
			list = append(list, s.file("shells", d.Name()))
		}
	}
	return list
}
