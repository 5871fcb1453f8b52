package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/server/exec"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/wire"
)

// isExec tells the routes of shells and commands from those of terminals.
func isExec(r httpapi.Route) bool {
	return strings.HasPrefix(r.Path, "/api/") && !isDurable(r) || r.Path == "/shell" ||
		strings.HasPrefix(r.Path, "/session/") && !strings.HasPrefix(r.Path, "/session/:sid/pty")
}

// isDurable tells the routes of threads, leases and webhooks.
func isDurable(r httpapi.Route) bool {
	return slices.ContainsFunc([]string{"/api/threads", "/api/leases", "/api/sandbox", "/api/webhooks"},
		func(p string) bool {
			return strings.HasPrefix(r.Path, p)
		})
}

// TestExecIsAsDocumented drives a real server through every route of shells and commands, and of
// their compatible form, and holds requests, replies and events against the document.
func TestExecIsAsDocumented(t *testing.T) {
	if testing.Short() {
		t.Skip("drives every route of a server")
	}
	checkLeaks(t)
	c := newContract(t, startServer(t, auth.ModeNone, t.TempDir()))
	c.visitShells(t)
	for _, base := range []string{"/session/dev", "/session/dev/shell/one"} {
		c.visitExec(t, base)
		c.visitExecStream(t, base)
		c.visitCommands(t, base)
	}
	c.visitCompat(t)
	c.visitProcesses(t)
	c.visitFiles(t)
	for _, e := range []exchange{
		{method: "DELETE", target: "/session/dev/shell/one", status: 200},
		{method: "DELETE", target: "/session/dev/shell/one", status: 404, code: "NOT_FOUND"},
		{method: "DELETE", target: "/session/dev/shell", status: 200},
		{method: "GET", target: "/session/dev/shell", status: 200},
	} {
		c.do(t, e)
	}
	for _, r := range routes() {
		key := r.Method + " " + templateOf(r.Path)
		if isExec(r) && !c.met[key+" OK"] && !c.met[key+" Created"] {
			t.Errorf("%s was never seen to succeed", key)
		}
	}
}

func (c *contract) visitShells(t *testing.T) {
	for _, path := range []string{"/exec", "/exec/stream"} {
		large := `{"command":"` + strings.Repeat("x", exec.MaxBody) + `"}`
		c.do(t, exchange{method: "POST", target: "/session/dev" + path, body: large, status: 413, code: "TOO_LARGE"})
	}
	const target = "/session/dev/shell"
	for _, e := range []exchange{
		{body: `{"id":"one","cwd":"/","env":{"A":"b"},"command_timeout_ms":60000,"max_output_bytes":1000000,` +
			`"login":false}`, status: 201},
		{body: `{"id":"one"}`, status: 409, code: "SESSION_ALREADY_EXISTS"},
		{header: "Content-Type: application/json", status: 201},
		{body: `{"id":"a/b"}`, status: 400, code: "VALIDATION"},
		{body: `{"command_timeout_ms":-1}`, status: 400, code: "VALIDATION"},
		{body: `{"max_output_bytes":-1}`, status: 400, code: "VALIDATION"},
		{body: `{"env":{"A=B":"c"}}`, status: 400, code: "VALIDATION"},
		{body: `{"env":{"A":null}}`, status: 400, code: "VALIDATION"},
		{body: `{"nope":1}`, status: 400, code: "VALIDATION"},
		{status: 415, code: "UNSUPPORTED_MEDIA_TYPE"},
	} {
		e.method, e.target = "POST", target
		c.do(t, e)
	}
	for _, e := range []exchange{
		{target: target, status: 200},
		{target: target + "/one", status: 200},
		{target: target + "/two", status: 404, code: "NOT_FOUND"},
		{target: "/session/other/shell/one", status: 404, code: "NOT_FOUND"},
		{target: "/session/other/shell", status: 200},
		{target: "/shell", status: 200},
	} {
		e.method = "GET"
		c.do(t, e)
	}
}

// outcome is what the tests look at of a reply.
type outcome struct {
	ExitCode   int    `json:"exit_code"`
	Stdout     string `json:"stdout"`
	StdoutB64  []byte `json:"stdout_b64"`
	Stderr     string `json:"stderr"`
	CommandID  string `json:"command_id"`
	Cwd        string `json:"cwd"`
	TimedOut   bool   `json:"timed_out"`
	Truncated  bool   `json:"truncated"`
	Recreated  bool   `json:"recreated"`
	ShellEnded bool   `json:"shell_ended"`
	PTY        string `json:"pty"`
}

// exec runs a command and returns its outcome.
func (c *contract) exec(t *testing.T, base, body string) (o outcome) {
	t.Helper()
	decode(t, c.do(t, exchange{method: "POST", target: base + "/exec", body: body, status: 200}), &o)
	return o
}

func (c *contract) visitExec(t *testing.T, base string) {
	long := strings.Repeat("x", httpapi.MaxBody)
	for _, test := range []struct {
		body string
		good func(o outcome) bool
	}{
		{`{"command":"cd /tmp && export K='a b'; printf out; printf err >&2; (exit 7)"}`, func(o outcome) bool {
			return o.ExitCode == 7 && o.Stdout == "out" && o.Stderr == "err" && o.Cwd == "/tmp"
		}},
		{`{"command":"printf %s \"$K $PWD\""}`, func(o outcome) bool { return o.Stdout == "a b /tmp" }},
		{`{"command":"printf 'a\\377\\0b'"}`, func(o outcome) bool {
			return o.Stdout == "a\ufffd\x00b" && string(o.StdoutB64) == "a\xff\x00b"
		}},
		{`{"command":"cat","stdin":"é\n"}`, func(o outcome) bool { return o.Stdout == "é\n" && o.StdoutB64 == nil }},
		{`{"command":"cat","stdin_b64":"/w=="}`, func(o outcome) bool { return string(o.StdoutB64) == "\xff" }},
		{`{"command":"true","cwd":"/no/such/place"}`, func(o outcome) bool {
			return o.ExitCode == 1 && o.Stderr != "" && o.Cwd == "/tmp"
		}},
		{`{"command":"pwd; echo $V","cwd":"/","env":{"V":"v"}}`, func(o outcome) bool {
			return o.Stdout == "/\nv\n" && o.Cwd == "/tmp"
		}},
		{`{"command":"sleep 100","timeout_ms":50}`, func(o outcome) bool { return o.ExitCode == 124 && o.TimedOut }},
		{`{"argv":["printf","%s|","a b","$K","it's"]}`, func(o outcome) bool { return o.Stdout == "a b|$K|it's|" }},
		{`{"argv":["printf","%s|","a b"],"isolated":true}`, func(o outcome) bool { return o.Stdout == "a b|" }},
		{`{"command":"echo $K; cd /","isolated":true}`, func(o outcome) bool {
			return o.Stdout == "a b\n" && o.Cwd == "/tmp"
		}},
		{`{"command":"echo one","login":true}`, func(o outcome) bool { return strings.HasSuffix(o.Stdout, "one\n") }},
		{`{"command":"test -t 0 && echo terminal","tty":true}`, func(o outcome) bool {
			return o.Stdout == "terminal\r\n" && o.PTY != ""
		}},
		{`{"command":"# ` + long + `\necho end"}`, func(o outcome) bool { return o.Stdout == "end\n" }},
		{`{"command":"head -c 1000 /dev/zero","max_output_bytes":10}`, func(o outcome) bool {
			return len(o.Stdout) == 10 && o.Truncated && o.ExitCode == 0
		}},
		{`{"command":"exit 3","cancel_on_disconnect":true}`, func(o outcome) bool {
			return o.ExitCode == 3 && o.ShellEnded
		}},
		{`{"command":"echo $K; pwd"}`, func(o outcome) bool { return o.Stdout == "a b\n/tmp\n" && o.Recreated }},
	} {
		if o := c.exec(t, base, test.body); !test.good(o) {
			t.Errorf("%s %.200s gave %+.1000v", base, test.body, o)
		}
	}
	c.refuseExec(t, base)
	for _, e := range []exchange{
		{body: `{"env":{"E":"1"}}`, status: 200},
		{body: `{"env":{"E":"2","F":"3"},"unset":["K"]}`, status: 200},
		{body: `{"env":{"1E":"1"}}`, status: 400, code: "VALIDATION"},
		{body: `{"unset":["a-b"]}`, status: 400, code: "VALIDATION"},
		{body: `{"set":{}}`, status: 400, code: "VALIDATION"},
	} {
		e.method, e.target = "POST", base+"/env"
		c.do(t, e)
	}
	if o := c.exec(t, base, `{"command":"sh -c 'echo $E$F$K'"}`); o.Stdout != "23\n" {
		t.Errorf("%s: the environment is %q", base, o.Stdout)
	}
}

// refuseExec sends what neither form of exec takes.
func (c *contract) refuseExec(t *testing.T, base string) {
	for _, e := range []exchange{
		{body: `{}`, status: 400, code: "VALIDATION"},
		{body: `{"command":"a","argv":["b"]}`, status: 400, code: "VALIDATION"},
		{body: `{"argv":[]}`, status: 400, code: "VALIDATION"},
		{body: `{"command":"a\u0000b"}`, status: 400, code: "VALIDATION", loose: true},
		{body: `{"argv":["a\u0000b"]}`, status: 400, code: "VALIDATION", loose: true},
		{body: `{"command":"true","env":{"A-B":"c"}}`, status: 400, code: "VALIDATION"},
		{body: `{"command":"true","timeout_ms":-1}`, status: 400, code: "VALIDATION"},
		{body: `{"command":"true","timeout_ms":2592000001}`, status: 400, code: "VALIDATION"},
		{body: `{"command":"true","max_output_bytes":-1}`, status: 400, code: "VALIDATION"},
		{body: `{"command":"true","stdin":"a","stdin_b64":"YQ=="}`, status: 400, code: "VALIDATION", loose: true},
		{body: `{"command":"true","tty":true,"background":true}`, status: 400, code: "VALIDATION", loose: true},
		{body: `{"comand":"true"}`, status: 400, code: "VALIDATION"},
		{status: 415, code: "UNSUPPORTED_MEDIA_TYPE"},
	} {
		e.method = "POST"
		for _, path := range []string{"/exec", "/exec/stream"} {
			e.target = base + path
			c.do(t, e)
		}
	}
}

// openExec sends a request whose reply is an event stream.
func (c *contract) openExec(t *testing.T, method, path, body, response string) *watcher {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, method, c.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	reply, err := c.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reply.Body.Close() })
	if reply.StatusCode != http.StatusOK || reply.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%s %s: %d %v", method, path, reply.StatusCode, reply.Header)
	}
	u, _ := url.Parse(path)
	template, _ := c.template(u)
	c.met[method+" "+template+" OK"] = true
	w := c.watcher(t, response)
	lines := bufio.NewReader(reply.Body)
	w.next = func() (kind string, value any) {
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				t.Fatalf("%s %s: %v", method, path, err)
			}
			name, content, _ := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(": "))
			switch string(name) {
			case "event":
				kind = string(content)
			case "data":
				if value = jsonValue(t, content); kind == "" {
					kind, _ = value.(map[string]any)["type"].(string)
				}
			case "":
				if kind != "" {
					w.gather(kind, value.(map[string]any))
					return kind, value
				}
			}
		}
	}
	return w
}

// gather adds the bytes of stdout to what the connection got.
func (w *watcher) gather(kind string, fields map[string]any) {
	if kind != "stdout" {
		return
	}
	text, _ := fields["data"].(string)
	if b64, ok := fields["data_b64"].(string); ok {
		p, _ := base64.StdEncoding.DecodeString(b64)
		text = string(p)
	}
	w.text.WriteString(text)
}

func (c *contract) visitExecStream(t *testing.T, base string) {
	w := c.openExec(t, "POST", base+"/exec/stream",
		`{"command":"printf 'a\\377é'; read x; printf \"$x\"; echo e >&2; exec 2>&-","stdin_open":true}`, "ExecStream")
	w.until("start")
	w.until("stdout")
	list := c.commands(t, base)
	id := list[len(list)-1].CommandID
	late := c.openExec(t, "GET", base+"/commands/"+id+"/logs?follow=1&stdout_from=1", "", "ExecStream")
	late.until("stdout")
	target := base + "/commands/" + id + "/input"
	for _, e := range []exchange{
		{body: `{"data":"li"}`, status: 200},
		{body: `{"data_b64":"bmUK"}`, status: 200},
		{body: `{"data":"a","data_b64":"YQ=="}`, status: 400, code: "VALIDATION"},
		{body: `{}`, status: 400, code: "VALIDATION"},
	} {
		e.method, e.target = "POST", target
		c.do(t, e)
	}
	w.until("stderr")
	w.until("complete")
	late.until("complete")
	if w.text.String() != "a\xffé"+"line" || late.text.String() != "\xffé"+"line" {
		t.Errorf("%s: the streams had %q and %q", base, w.text.String(), late.text.String())
	}
	c.do(t, exchange{method: "POST", target: target, body: `{"eof":true}`, status: 410, code: "COMMAND_FINISHED"})
	tty := c.openExec(t, "POST", base+"/exec/stream",
		`{"command":"test -t 1 && echo first; sleep .1; printf 'é'","tty":true}`, "ExecStream")
	if tty.until("complete"); tty.text.String() != "first\r\né" {
		t.Errorf("%s: on a terminal it printed %q", base, tty.text.String())
	}
}

func (c *contract) commands(t *testing.T, base string) []wire.Command {
	t.Helper()
	var list struct{ Commands []wire.Command }
	decode(t, c.do(t, exchange{method: "GET", target: base + "/commands", status: 200}), &list)
	return list.Commands
}

func (c *contract) visitCommands(t *testing.T, base string) {
	var started struct {
		ID string `json:"command_id"`
	}
	decode(t, c.do(t, exchange{method: "POST", target: base + "/exec",
		body: `{"command":"printf begun; sleep 1000","background":true}`, status: 202}), &started)
	w := c.openExec(t, "GET", base+"/commands/"+started.ID+"/logs?follow=1&late=0", "", "ExecStream")
	w.until("stdout")
	if list := c.commands(t, base); list[len(list)-1].PID == 0 { // the reply has none where the start takes too long
		t.Errorf("%s: the background command has no pid", base)
	}
	target := base + "/commands/" + started.ID
	for _, e := range []exchange{
		{method: "GET", target: target, status: 200},
		{method: "GET", target: target + "/logs", status: 200},
		{method: "GET", target: target + "/logs?follow=maybe", status: 400, code: "VALIDATION"},
		{method: "GET", target: target + "/logs?follow=1&stdout_from=100", status: 400, code: "VALIDATION",
			loose: true},
		{method: "POST", target: target + "/input", body: `{"data":"x"}`, status: 409, code: "NO_STDIN"},
		{method: "DELETE", target: target, status: 200},
		{method: "DELETE", target: target, status: 200},
		{method: "GET", target: base + "/commands/absent", status: 404, code: "NOT_FOUND"},
		{method: "GET", target: base + "/commands/absent/logs", status: 404, code: "NOT_FOUND"},
		{method: "DELETE", target: base + "/commands/absent", status: 404, code: "NOT_FOUND"},
		{method: "POST", target: base + "/commands/absent/input", body: `{"data":"x"}`, status: 404, code: "NOT_FOUND"},
		{method: "GET", target: base + "/commands?limit=0", status: 400, code: "VALIDATION"},
		{method: "GET", target: base + "/commands?limit=2&before=" + started.ID, status: 200},
	} {
		c.do(t, e)
	}
	w.until("complete")
	long := c.exec(t, base, `{"command":"echo `+strings.Repeat("é", exec.MaxListedCommand)+` | wc -c"}`)
	list := c.commands(t, base)
	if last := list[len(list)-1]; last.CommandID != long.CommandID || !last.Clipped ||
		len(last.Text) > exec.MaxListedCommand || last.ExitCode == nil {
		t.Errorf("%s: the last command is %+.300v", base, last)
	}
}

func (c *contract) visitCompat(t *testing.T) {
	for _, e := range []exchange{
		{target: "/api/session/create", body: `{"id":"a","env":{"A":"1"},"cwd":"/tmp","commandTimeoutMs":60000}`,
			status: 200},
		{target: "/api/session/create", body: `{"id":"a"}`, status: 409, code: "SESSION_ALREADY_EXISTS"},
		{target: "/api/session/create", body: `{"commandTimeoutMs":-1}`, status: 400, code: "VALIDATION"},
		{target: "/api/session/create", header: "Content-Type: application/json", status: 200},
		{target: "/api/execute", body: `{"command":"pwd; echo $A"}`, header: "X-Session-Id: a", status: 200},
		{target: "/api/execute", body: `{"command":"cd /","sessionId":"b"}`, status: 200},
		{target: "/api/execute", body: `{"command":"false","cwd":"/","env":{"A":"b"},"timeoutMs":5000}`, status: 200},
		{target: "/api/execute", body: `{"command":"true"}`, header: "X-Session-Id: nobody", status: 404,
			code: "SESSION_NOT_FOUND"},
		{target: "/api/execute", body: `{"sessionId":"a"}`, status: 400, code: "VALIDATION"},
		{target: "/api/execute/stream", body: `{"command":"true"}`, header: "X-Session-Id: nobody", status: 404,
			code: "SESSION_NOT_FOUND"},
		{target: "/api/session/a/env", body: `{"envVars":{"N":"1"}}`, status: 200},
		{target: "/api/session/a/env", body: `{"env":{"A":null}}`, status: 200},
		{target: "/api/session/nobody/env", body: `{"envVars":{"N":"1"}}`, status: 404, code: "SESSION_NOT_FOUND"},
		{target: "/api/env/set", body: `{"envVars":{"N-1":"1"}}`, status: 400, code: "VALIDATION"},
		{target: "/api/env/set", body: `{}`, status: 400, code: "VALIDATION"},
	} {
		e.method = "POST"
		c.do(t, e)
	}
	for i := range 100 {
		c.do(t, exchange{method: "POST", target: "/api/env/set", body: fmt.Sprintf(`{"envVars":{"N%d":"%d"}}`, i, i),
			header: "X-Session-Id: a", status: 200})
	}
	var r struct {
		Stdout   string
		ExitCode int
	}
	decode(t, c.do(t, exchange{method: "POST", target: "/api/execute", body: `{"command":"echo $N$N0$N99[$A]"}`,
		header: "X-Session-Id: a", status: 200}), &r)
	if r.Stdout != "1099[]\n" || r.ExitCode != 0 {
		t.Errorf("the variables are %+v", r)
	}
	w := c.openExec(t, "POST", "/api/execute/stream",
		`{"command":"echo é; printf '\\377' >&2; exit 4","sessionId":"b"}`, "CompatStream")
	for _, kind := range []string{"start", "complete"} {
		w.until(kind)
	}
	if w.text.String() != "é\n" {
		t.Errorf("the stream had %q", w.text.String())
	}
	for _, e := range []exchange{
		{method: "GET", target: "/api/session/list", status: 200},
		{method: "POST", target: "/api/session/delete", body: `{"sessionId":"b"}`, status: 200},
		{method: "POST", target: "/api/session/delete", body: `{"sessionId":"b"}`, status: 404,
			code: "SESSION_NOT_FOUND"},
		{method: "POST", target: "/api/session/delete", body: `{}`, status: 404, code: "SESSION_NOT_FOUND"},
	} {
		c.do(t, e)
	}
}

func (c *contract) visitProcesses(t *testing.T) {
	var p, other wire.CompatProcess
	decode(t, c.do(t, exchange{method: "POST", target: "/api/process/start", body: `{"command":"echo up; sleep 1000"}`,
		header: "X-Session-Id: a", status: 200}), &p)
	decode(t, c.do(t, exchange{method: "POST", target: "/api/execute",
		body: `{"command":"sleep 1000","background":true}`, status: 200}), &other)
	decode(t, c.do(t, exchange{method: "POST", target: "/api/process/start", body: `{"command":"sh -c 'exit 3'"}`,
		status: 200}), &other)
	c.openExec(t, "GET", "/api/process/"+other.ID+"/stream", "", "CompatStream").until("complete")
	w := c.openExec(t, "GET", "/api/process/"+p.ID+"/stream", "", "CompatStream")
	w.until("stdout")
	decode(t, c.do(t, exchange{method: "GET", target: "/api/process/" + p.ID, status: 200}), &p)
	if p.PID == 0 || p.Status != "running" || p.SessionID != "a" {
		t.Errorf("the process is %+v", p)
	}
	for _, e := range []exchange{
		{method: "GET", target: "/api/process/" + p.ID + "/logs", status: 200},
		{method: "GET", target: "/api/process/absent", status: 404, code: "PROCESS_NOT_FOUND"},
		{method: "GET", target: "/api/process/absent/logs", status: 404, code: "PROCESS_NOT_FOUND"},
		{method: "GET", target: "/api/process/absent/stream", status: 404, code: "PROCESS_NOT_FOUND"},
		{method: "DELETE", target: "/api/process/absent", status: 404, code: "PROCESS_NOT_FOUND"},
		{method: "DELETE", target: "/api/process/" + p.ID, status: 200, header: "X-Session-Id: default"},
		{method: "DELETE", target: "/api/process/kill-all", status: 200},
		{method: "POST", target: "/api/process/kill-all", status: 200},
	} {
		c.do(t, e)
	}
	w.until("complete")
	var list []wire.CompatProcess
	decode(t, c.do(t, exchange{method: "GET", target: "/api/process/list", status: 200}), &list)
	status := map[string]string{}
	for _, p := range list {
		status[p.ID] = p.Status
	}
	if status[p.ID] != "killed" || status[other.ID] != "failed" || len(list) < 3 ||
		slices.ContainsFunc(list, func(p wire.CompatProcess) bool {
			return p.Status == "running"
		}) {
		t.Errorf("the processes are %+v", list)
	}
}

func (c *contract) visitFiles(t *testing.T) {
	dir := t.TempDir()
	quoted, _ := json.Marshal("cd " + dir)
	c.do(t, exchange{method: "POST", target: "/api/execute", body: `{"command":` + string(quoted) + `}`, status: 200})
	if err := os.WriteFile(filepath.Join(dir, "binary"), []byte("\xff\x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	const r = "/api/file/"
	for _, e := range []exchange{
		{target: r + "mkdir", body: `{"path":"sub/deep","recursive":true}`, status: 200},
		{target: r + "mkdir", body: `{"path":"sub"}`, status: 409, code: "FILE_EXISTS"},
		{target: r + "mkdir", body: `{"path":"no/such"}`, status: 404, code: "FILE_NOT_FOUND"},
		{target: r + "write", body: `{"path":"sub/text","content":"é"}`, status: 200},
		{target: r + "write", body: `{"path":"sub/text","content":"/w==","encoding":"base64"}`, status: 200},
		{target: r + "write", body: `{"path":"sub/text","content":"?","encoding":"base64"}`, status: 400,
			code: "VALIDATION", loose: true},
		{target: r + "write", body: `{"path":"sub/text","content":"a","encoding":"latin1"}`, status: 400,
			code: "VALIDATION"},
		{target: r + "write", body: `{"path":"sub","content":"a"}`, status: 409, code: "IS_DIRECTORY"},
		{target: r + "write", body: `{"path":"/dev/null","content":"a"}`, status: 409, code: "NOT_FILE"},
		{target: r + "write", body: `{"path":"x"}`, status: 400, code: "VALIDATION"},
		{target: r + "write", body: `{"content":"x"}`, status: 400, code: "VALIDATION"},
		{target: r + "read", body: `{"path":"sub/text"}`, status: 200},
		{target: r + "read", body: `{"path":"sub/text","encoding":"utf-8"}`, status: 409, code: "NOT_TEXT"},
		{target: r + "read", body: `{"path":"binary","encoding":"base64"}`, status: 200},
		{target: r + "read", body: `{"path":"none"}`, status: 404, code: "FILE_NOT_FOUND"},
		{target: r + "read", body: `{"path":"sub"}`, status: 409, code: "IS_DIRECTORY"},
		{target: r + "read", body: `{"path":"binary/x"}`, status: 409, code: "NOT_DIRECTORY"},
		{target: r + "read", body: `{"path":"/dev/zero"}`, status: 409, code: "NOT_FILE"},
		{target: r + "read", body: `{"path":"sub/text"}`, header: "X-Session-Id: nobody", status: 404,
			code: "SESSION_NOT_FOUND"},
		{target: r + "exists", body: `{"path":"sub"}`, status: 200},
		{target: r + "exists", body: `{"path":"none"}`, status: 200},
		{target: r + "rename", body: `{"oldPath":"sub/text","newPath":"text"}`, status: 200},
		{target: r + "rename", body: `{"oldPath":"sub","newPath":"sub/deep/er"}`, status: 409, code: "NOT_POSSIBLE"},
		{target: r + "move", body: `{"sourcePath":"text","destinationPath":"sub/text"}`, status: 200},
		{target: r + "list", body: `{"path":".","options":{"recursive":true,"includeHidden":true}}`, status: 200},
		{target: r + "list", body: `{"path":"binary"}`, status: 409, code: "NOT_DIRECTORY"},
		{target: r + "delete", body: `{"path":"sub"}`, status: 409, code: "NOT_EMPTY"},
		{target: r + "delete", body: `{"path":"sub/text"}`, status: 200},
		{method: "DELETE", target: r + "delete", body: `{"path":"sub/deep"}`, status: 200},
		{method: "DELETE", target: r + "delete", body: `{"path":"sub/deep"}`, status: 404, code: "FILE_NOT_FOUND"},
	} {
		if e.method == "" {
			e.method = "POST"
		}
		c.do(t, e)
	}
	if _, err := os.Stat(filepath.Join(dir, "sub")); err != nil {
		t.Error(err)
	}
}
