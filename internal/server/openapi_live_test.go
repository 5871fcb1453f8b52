package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/webui"
	"github.com/evertty/evertty/wire"
)

// catBody starts a program that says ready and then shows what it is told.
const catBody = `{"cmd":["sh","-c","printf ready; exec cat"],"cols":80,"rows":24,"cwd":"/","env":{"K":"V"},` +
	`"name":"web","scrollback":100,"size_policy":"latest"}`

// bases are the two paths of everything about the terminal "web".
var bases = []string{"/session/dev/pty/web", "/pty/web"}

// TestServerIsAsDocumented drives a real server through every route that is no
// stream, its refusals too, and holds each request and reply against the
// document. Replies with a field that is not documented fail.
func TestServerIsAsDocumented(t *testing.T) {
	if testing.Short() {
		t.Skip("drives every route of a server")
	}
	checkLeaks(t)
	dir := t.TempDir()
	c := newContract(t, startServer(t, auth.ModeNone, dir))
	c.visitServer(t)
	c.visitCreate(t)
	for _, base := range bases {
		c.visitTerminal(t, base)
		c.visitViewers(t, base)
	}
	c.visitAmbiguous(t)
	c.visitEnded(t)
	c.visitNextServer(t)
	c.visitWithoutJournal(t)
	c.killKeeper(t)
	c.liveServer = startServer(t, auth.ModeNone, dir)
	c.visitLost(t)
	c.visitRestart(t)
	c.visitDelete(t)
	for _, r := range routes() {
		if r.Stream && r.Method == http.MethodGet || strings.HasPrefix(r.Path, "/assets/") ||
			r.Path == "/favicon.svg" || r.Path == "/share" || isExec(r) || isDurable(r) {
			continue // streams, execs, threads and /share have their own tests; the page's files are there when it was built
		}
		key := r.Method + " " + templateOf(r.Path)
		if !c.met[key+" OK"] && !c.met[key+" Created"] && !c.met[key+" No Content"] {
			t.Errorf("%s was never seen to succeed", key)
		}
	}
}

func (c *contract) visitServer(t *testing.T) {
	for _, e := range []exchange{
		{method: "GET", target: "/", status: 200},
		{method: "GET", target: "/", status: 200, header: "Accept: text/html"},
		{method: "GET", target: "/healthz", status: 200},
		{method: "GET", target: "/readyz", status: 200},
		{method: "GET", target: "/version", status: 200},
		{method: "GET", target: "/metrics", status: 200},
		{method: "POST", target: "/backup", status: 200},
		{method: "GET", target: "/openapi.json", status: 200},
		{method: "GET", target: "/assets/absent.js", status: 404},
		{method: "GET", target: "/ws", status: 426, code: "UPGRADE_REQUIRED"},
		{method: "GET", target: "/ws?since=x", status: 400, code: "VALIDATION"},
		{method: "GET", target: "/pty", status: 200},
		{method: "GET", target: "/pty", status: 403, code: "FORBIDDEN_ORIGIN", header: "Origin: http://evil.example"},
		{method: "GET", target: "/session/new/pty", status: 200},
		{method: "GET", target: "/session/a%20b/pty", status: 400, code: "VALIDATION"},
		{method: "DELETE", target: "/session/new/pty", status: 200},
		{method: "DELETE", target: "/session/new/pty?purge=maybe", status: 400, code: "VALIDATION"},
	} {
		c.do(t, e)
	}
	var health wire.Health
	decode(t, c.do(t, exchange{method: "GET", target: "/healthz", status: 200}), &health)
	if health.Status != "ok" || health.Lossless == nil || !*health.Lossless || len(health.Reasons) != 0 {
		t.Errorf("with a keeper and a journal the server is %+v", health)
	}
	files, err := fs.Glob(webui.Files(), "assets/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		c.do(t, exchange{method: "GET", target: "/" + name, status: 200})
		c.do(t, exchange{method: "GET", target: "/favicon.svg", status: 200})
	}
}

func (c *contract) visitCreate(t *testing.T) {
	const target = "/session/dev/pty"
	for _, e := range []exchange{
		{body: catBody, status: 201},
		{body: `{}`, status: 201},
		{header: "Content-Type: application/json", status: 201},
		{body: catBody, status: 409, code: "NAME_TAKEN"},
		{body: `{"cmd":["/no/such/program"]}`, status: 400, code: "NO_COMMAND", loose: true},
		{body: `{"cmd":["cat"],"cwd":"/no/such/place"}`, status: 400, code: "NO_DIRECTORY", loose: true},
		{body: `{"cmd":["cat"]`, status: 400, code: "VALIDATION"},
		{body: `[]`, status: 400, code: "VALIDATION"},
		{body: `{"cmd":["cat"],"nope":1}`, status: 400, code: "VALIDATION"},
		{body: `{"cmd":"cat"}`, status: 400, code: "VALIDATION"},
		{body: `{"cmd":[]}`, status: 400, code: "VALIDATION"},
		{body: `{"cols":0}`, status: 400, code: "VALIDATION"},
		{body: `{"rows":-1}`, status: 400, code: "VALIDATION"},
		{body: `{"cols":1001}`, status: 400, code: "VALIDATION"},
		{body: `{"cols":1e9}`, status: 400, code: "VALIDATION"},
		{body: `{"scrollback":100001}`, status: 400, code: "VALIDATION"},
		{body: `{"name":"a/b"}`, status: 400, code: "VALIDATION"},
		{body: `{"env":{"A=B":"c"}}`, status: 400, code: "VALIDATION"},
		{body: `{"size_policy":"mine"}`, status: 400, code: "VALIDATION"},
		{body: `{"name":"` + strings.Repeat("x", httpapi.MaxBody) + `"}`, status: 413, code: "TOO_LARGE"},
		{status: 415, code: "UNSUPPORTED_MEDIA_TYPE"},
		{body: `{}`, status: 415, code: "UNSUPPORTED_MEDIA_TYPE", header: "Content-Type: text/plain"},
		{body: `{}`, status: 403, code: "FORBIDDEN_ORIGIN", header: "Sec-Fetch-Site: cross-site"},
	} {
		e.method, e.target = "POST", target
		c.do(t, e)
	}
	c.do(t, exchange{method: "POST", target: "/session/a%20b/pty", body: `{}`, status: 400, code: "VALIDATION"})
	c.do(t, exchange{method: "GET", target: target, status: 200})
	c.do(t, exchange{method: "GET", target: "/pty", status: 200})
	for _, e := range []exchange{
		{body: `{"pty":"web","role":"write","ttl_s":60,"uses":2}`, status: 201},
		{body: `{"login":true}`, status: 201},
		{body: `{"login":true,"pty":"web"}`, status: 400, code: "VALIDATION"},
		{body: `{"pty":"web","role":"root"}`, status: 400, code: "VALIDATION"},
		{body: `{"pty":"web","ttl_s":0}`, status: 400, code: "VALIDATION"},
		{body: `{"pty":"web","uses":1001}`, status: 400, code: "VALIDATION"},
		{body: `{}`, status: 400, code: "VALIDATION"},
		{body: `{"pty":"absent"}`, status: 404, code: "NOT_FOUND"},
	} {
		e.method, e.target = "POST", "/tickets"
		c.do(t, e)
	}
	c.visitShares(t)
	for _, e := range []exchange{
		{method: "DELETE", target: "/tickets?pty=web", status: 200},
		{method: "DELETE", target: "/tickets?pty=absent", status: 404, code: "NOT_FOUND"},
		{method: "POST", target: "/logout?all=1", status: 200},
	} {
		c.do(t, e)
	}
}

// visitShares makes links, follows one and revokes it.
func (c *contract) visitShares(t *testing.T) {
	for _, e := range []exchange{
		{body: `{"session":"dev","role":"write","ttl_s":60,"uses":2,"name":"team"}`, status: 201},
		{body: `{"session":"dev","pty":"web"}`, status: 400, code: "VALIDATION"},
		{body: `{"session":"a b"}`, status: 400, code: "VALIDATION"},
		{body: `{"pty":"web","role":"root"}`, status: 400, code: "VALIDATION"},
		{body: `{"pty":"web","ttl_s":2592001}`, status: 400, code: "VALIDATION"},
		{body: `{"pty":"web","uses":-1}`, status: 400, code: "VALIDATION"},
		{body: `{"pty":"web","name":"` + strings.Repeat("x", 65) + `"}`, status: 400, code: "VALIDATION"},
		{body: `{"pty":"web","name":"a\nb"}`, status: 400, code: "VALIDATION", loose: true},
		{body: `{}`, status: 400, code: "VALIDATION"},
		{body: `{"pty":"absent"}`, status: 404, code: "NOT_FOUND"},
	} {
		e.method, e.target = "POST", "/shares"
		c.do(t, e)
	}
	var made wire.MadeShare
	decode(t, c.do(t, exchange{method: "POST", target: "/shares", body: `{"pty":"web"}`, status: 201}), &made)
	secret := made.URL[strings.LastIndexByte(made.URL, '/')+1:]
	c.do(t, exchange{method: "GET", target: "/share", status: 404, code: "NOT_FOUND"})
	c.do(t, exchange{method: "GET", target: "/t/wrong", status: 404})
	c.do(t, exchange{method: "GET", target: "/t/" + secret, status: 200})
	c.do(t, exchange{method: "GET", target: "/shares", status: 200})
	c.do(t, exchange{method: "DELETE", target: "/shares/" + made.ID, status: 200})
	c.do(t, exchange{method: "DELETE", target: "/shares/" + made.ID, status: 404, code: "NOT_FOUND"})
}

// visitTerminal is everything about the running terminal at base.
// visitViewers locks a terminal for one viewer, hands it over to another, and removes both.
func (c *contract) visitViewers(t *testing.T, base string) {
	t.Helper()
	one, two := c.openSocket(t, base+"/ws?name=one&client=attach&key=k", "TerminalSocket"),
		c.openStream(t, base+"/stream?name=two&history=lazy")
	one.until("viewer")
	two.until("viewer")
	as := "?as=" + one.viewer
	for _, e := range []exchange{
		{method: "GET", target: "/viewers", status: 200},
		{method: "POST", target: "/control", body: `{"action":"grant"}`, status: 409, code: "NOT_LOCKED"},
		{method: "POST", target: "/control", body: `{"action":"lock"}`, status: 400, code: "VALIDATION", loose: true},
		{method: "POST", target: "/control", body: `{"action":"dance"}`, status: 400, code: "VALIDATION"},
		{method: "POST", target: "/control" + as, body: `{"action":"lock"}`, status: 200},
		{method: "POST", target: "/input", body: `{"data":"x"}`, status: 423, code: "LOCKED"},
		{method: "POST", target: "/keys", body: `{"keys":["x"]}`, status: 423, code: "LOCKED"},
		{method: "POST", target: "/paste?as=" + two.viewer, body: `{"data":"x"}`, status: 423, code: "LOCKED"},
		{method: "POST", target: "/paste?as=0", body: `{"data":"x"}`, status: 404, code: "NOT_FOUND"},
		{method: "POST", target: "/input" + as, body: `{"data":"\n"}`, status: 200},
		{method: "POST", target: "/control", body: `{"action":"deny"}`, status: 409, code: "NO_REQUEST"},
		{method: "POST", target: "/control", body: `{"action":"request","viewer":"` + two.viewer + `"}`, status: 200},
		{method: "POST", target: "/control", body: `{"action":"grant"}`, status: 200},
		{method: "POST", target: "/control", body: `{"action":"unlock"}`, status: 200},
		{method: "POST", target: "/viewers/0/kick", status: 404, code: "NOT_FOUND"},
		{method: "POST", target: "/viewers/" + one.viewer + "/kick", status: 200},
		{method: "POST", target: "/viewers/" + two.viewer + "/kick", body: `{}`, status: 200},
	} {
		e.target = base + e.target
		c.do(t, e)
	}
	two.until("kicked")
	for {
		if _, _, err := one.conn.ReadMessage(); err != nil {
			if !websocket.IsCloseError(err, wire.CloseKicked) {
				t.Errorf("a kicked viewer: %v", err)
			}
			return
		}
	}
}

func (c *contract) visitTerminal(t *testing.T, base string) {
	for _, e := range []exchange{
		{method: "POST", target: "/wait", body: `{"for":"text","pattern":"ready"}`, status: 200},
		{method: "GET", target: "", status: 200},
		{method: "POST", target: "/input", body: `{"data":"one\n"}`, status: 200},
		{method: "POST", target: "/input", body: `{"data_b64":"dHdvCg=="}`, status: 200},
		{method: "POST", target: "/wait", body: `{"for":"regex","pattern":"(?s)two.*tw.\\n","timeout_ms":20000}`,
			status: 200},
		{method: "POST", target: "/wait", body: `{"for":"idle","idle_ms":1}`, status: 200},
		{method: "POST", target: "/wait", body: `{"for":"prompt","timeout_ms":1}`, status: 408, code: "TIMEOUT"},
		{method: "POST", target: "/wait", body: `{"for":"prompt","not":true}`, status: 200},
		{method: "POST", target: "/wait",
			body: `{"for":"text","pattern":"ready","ignore_echo":true,"screen_only":true}`, status: 200},
		{method: "POST", target: "/wait", body: `{"any":[{"for":"text","pattern":"never"},{"for":"mode",` +
			`"mode":"autowrap","value":true}]}`, status: 200},
		{method: "POST", target: "/wait",
			body: `{"any":[{"for":"cursor","y":999},{"for":"alt_screen","not":true}],"since":0}`, status: 200},
		{method: "POST", target: "/wait", body: `{"any":[{"for":"title","pattern":"x"}],"for":"exit"}`, status: 400,
			code: "VALIDATION"},
		{method: "POST", target: "/wait", body: `{"any":[]}`, status: 400, code: "VALIDATION"},
		{method: "POST", target: "/wait", body: `{"for":"mode","mode":"luck"}`, status: 400, code: "VALIDATION"},
		{method: "POST", target: "/wait", body: `{"for":"cursor"}`, status: 400, code: "VALIDATION", loose: true},
		{method: "POST", target: "/input", body: `{"data":"x","data_b64":"eA=="}`, status: 400, code: "VALIDATION"},
		{method: "POST", target: "/input", body: `{}`, status: 400, code: "VALIDATION"},
		{method: "POST", target: "/input", status: 400, code: "VALIDATION", header: "Content-Type: application/json"},
		{method: "POST", target: "/input", body: `{"data_b64":"?"}`, status: 400, code: "VALIDATION", loose: true},
		{method: "POST", target: "/keys", body: `{"keys":["text:three","Enter"]}`, status: 200},
		{method: "POST", target: "/keys", body: `{"keys":["Hyper-Space"]}`, status: 400, code: "VALIDATION",
			loose: true},
		{method: "POST", target: "/keys", body: `{"keys":[]}`, status: 400, code: "VALIDATION"},
		{method: "POST", target: "/keys", body: `{}`, status: 400, code: "VALIDATION"},
		{method: "POST", target: "/keys",
			body: `{"mouse":{"x":1,"y":2,"button":"wheel_up","action":"press","mods":["ctrl"]}}`, status: 200},
		{method: "POST", target: "/keys", body: `{"mouse":{"x":-1,"y":2}}`, status: 400, code: "VALIDATION"},
		{method: "POST", target: "/keys", body: `{"mouse":{"x":1,"y":2,"button":"fourth"}}`, status: 400,
			code: "VALIDATION"},
		{method: "POST", target: "/keys", body: `{"keys":["a"],"mouse":{"x":1,"y":2}}`, status: 400,
			code: "VALIDATION"},
		{method: "POST", target: "/paste", body: `{"data":"four\n"}`, status: 200},
		{method: "POST", target: "/paste", body: `{}`, status: 400, code: "VALIDATION"},
		{method: "POST", target: "/resize", body: `{"cols":100,"rows":30}`, status: 200},
		{method: "POST", target: "/resize", body: `{"cols":0,"rows":30}`, status: 400, code: "VALIDATION"},
		{method: "POST", target: "/resize", body: `{"cols":80}`, status: 400, code: "VALIDATION"},
		{method: "POST", target: "/park", body: `{}`, status: 200},
		{method: "PATCH", body: `{"cols":90,"labels":{"team":"web"},"title":"mine","size_policy":"fixed"}`, status: 200},
		{method: "PATCH", body: `{"cols":0}`, status: 400, code: "VALIDATION"},
		{method: "PATCH", body: `{"size_policy":"luck"}`, status: 400, code: "VALIDATION"},
		{method: "PATCH", body: `{"labels":{"a b":""}}`, status: 400, code: "VALIDATION"},
		{method: "PATCH", body: `{"name":"-x"}`, status: 400, code: "VALIDATION"},
		{method: "PATCH", body: `{"title":"mine","state":"exited"}`, status: 400, code: "VALIDATION"},
		{method: "POST", target: "/signal", body: `{"signal":"WINCH"}`, status: 200},
		{method: "POST", target: "/signal", body: `{"signal":"SEGV"}`, status: 400, code: "VALIDATION", loose: true},
		{method: "POST", target: "/wait", body: `{"for":"text","pattern":"never","timeout_ms":1}`, status: 408,
			code: "TIMEOUT"},
		{method: "POST", target: "/wait", body: `{"for":"luck"}`, status: 400, code: "VALIDATION"},
		{method: "POST", target: "/wait", body: `{"for":"regex","pattern":"("}`, status: 400, code: "VALIDATION",
			loose: true},
		{method: "POST", target: "/wait", body: `{"for":"text"}`, status: 400, code: "VALIDATION", loose: true},
		{method: "POST", target: "/wait", body: `{"for":"idle","idle_ms":-1}`, status: 400, code: "VALIDATION"},
		{method: "POST", target: "/wait", body: `{"for":"idle","timeout_ms":3600001}`, status: 400, code: "VALIDATION"},
		{method: "POST", target: "/wait", body: `{"for":"text","pattern":"ready","since":0}`, status: 200},
		{method: "POST", target: "/wait", body: `{"for":"text","pattern":"ready","since":5,"timeout_ms":1}`,
			status: 408, code: "TIMEOUT"},
		{method: "POST", target: "/wait", body: `{"for":"prompt","since":5,"timeout_ms":1}`, status: 408,
			code: "TIMEOUT"},
		{method: "POST", target: "/wait", body: `{"for":"text","pattern":"ready","since":-1}`, status: 400,
			code: "VALIDATION"},
		{method: "POST", target: "/wait", body: `{"for":"exit","since":1000000}`, status: 400, code: "VALIDATION",
			loose: true},
		{method: "POST", target: "/restart", body: `{}`, status: 409, code: "RUNNING"},
		{method: "GET", target: "/snapshot?scrollback=0", status: 200},
		{method: "GET", target: "/snapshot?format=picture", status: 400, code: "VALIDATION"},
		{method: "GET", target: "/snapshot?scrollback=-2", status: 400, code: "VALIDATION"},
		{method: "GET", target: "/stream?since=-1", status: 400, code: "VALIDATION"},
		{method: "GET", target: "/stream?scrollback=all", status: 400, code: "VALIDATION"},
		{method: "GET", target: "/ws", status: 426, code: "UPGRADE_REQUIRED"},
		{method: "GET", target: "/ws?format=xml", status: 400, code: "VALIDATION"},
		{method: "DELETE", target: "?purge=2", status: 400, code: "VALIDATION"},
	} {
		e.target = base + e.target
		c.do(t, e)
	}
	for format, schema := range map[string]string{"ansi": "ScreenANSI", "text": "ScreenText", "json": "ScreenJSON",
		"html": "ScreenHTML"} {
		body := c.do(t, exchange{method: "GET", target: base + "/snapshot?format=" + format, status: 200})
		c.validate(t, schema, jsonValue(t, body))
	}
	c.visitEach(t, strings.Replace(base, "web", "absent", 1), http.StatusNotFound, "NOT_FOUND")
	for _, wrong := range []exchange{{method: "POST", target: "/input", body: `{"x":1}`},
		{method: "GET", target: "?secrets=7"}} {
		wrong.target, wrong.status, wrong.code = "/pty/absent"+wrong.target, http.StatusNotFound, "NOT_FOUND"
		c.do(t, wrong) // what is absent comes before what is wrong
	}
}

func jsonValue(t *testing.T, b []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatalf("%v: %.300s", err, b)
	}
	return v
}

// visitEach wants the same refusal from everything below base.
func (c *contract) visitEach(t *testing.T, base string, status int, code string) {
	bodies := map[string]string{"/input": `{"data":"x"}`, "/keys": `{"keys":["Enter"]}`, "/paste": `{"data":"x"}`,
		"/resize": `{"cols":80,"rows":24}`, "/signal": `{"signal":"INT"}`, "/restart": `{}`,
		"/wait": `{"for":"text","pattern":"never"}`}
	for _, r := range append(new(terminals).controlRoutes(), new(terminals).screenRoutes()...) {
		c.do(t, exchange{method: r.Method, target: base + r.Path, body: bodies[r.Path], status: status, code: code})
	}
}

// visitAmbiguous gives a terminal of another session the same name.
func (c *contract) visitAmbiguous(t *testing.T) {
	c.do(t, exchange{method: "POST", target: "/session/other/pty", body: `{"cmd":["cat"],"name":"web"}`, status: 201})
	c.visitEach(t, "/pty/web", http.StatusConflict, "AMBIGUOUS")
	c.do(t, exchange{method: "POST", target: "/tickets", body: `{"pty":"web"}`, status: 409, code: "AMBIGUOUS"})
	c.do(t, exchange{method: "GET", target: "/session/dev/pty/web", status: 200})
	c.do(t, exchange{method: "DELETE", target: "/session/other/pty?purge=1", status: 200})
}

// refusedWhenEnded is what an ended terminal does not do any more.
var refusedWhenEnded = map[string]string{"/input": `{"data":"x"}`, "/keys": `{"keys":["Enter"]}`,
	"/paste":  `{"data":"x"}`,
	"/resize": `{"cols":80,"rows":24}`, "/signal": `{"signal":"INT"}`, "/wait": `{"for":"text","pattern":"never"}`}

func (c *contract) visitEnded(t *testing.T) {
	c.do(t, exchange{method: "POST", target: "/session/dev/pty",
		body: `{"cmd":["sh","-c","printf '\\033[1;4:3;38;2;1;2;3;58:5:9mlast\\033]8;;http://a.example\\007 words'; ` +
			`kill -TERM $$"],"name":"ends"}`, status: 201})
	for _, base := range []string{"/session/dev/pty/ends", "/pty/ends"} {
		c.do(t, exchange{method: "POST", target: base + "/wait", body: `{"for":"exit"}`, status: 200})
		c.do(t, exchange{method: "GET", target: base, status: 200})
		c.do(t, exchange{method: "GET", target: base + "/snapshot?format=json", status: 200})
		for path, body := range refusedWhenEnded {
			c.do(t, exchange{method: "POST", target: base + path, body: body, status: 409, code: "EXITED"})
		}
	}
}

// info is one terminal's state.
func (c *contract) info(t *testing.T, target string) (i wire.Terminal) {
	t.Helper()
	decode(t, c.do(t, exchange{method: "GET", target: target, status: 200}), &i)
	return i
}

// visitNextServer replaces the server and finds the programs running. New output is
// told apart from old by its position.
func (c *contract) visitNextServer(t *testing.T) {
	was := c.info(t, "/pty/web")
	c.stop()
	c.liveServer = startServer(t, auth.ModeNone, c.dir)
	for _, base := range bases {
		is := c.info(t, base)
		if is.State != terminal.StateRunning || is.PID != was.PID || is.Generation != was.Generation ||
			is.Seq < was.Seq {
			t.Errorf("under the next server the terminal is %+v, was %+v", is, was)
		}
		c.do(t, exchange{method: "POST", target: base + "/input", body: `{"data":"again\n"}`, status: 200})
		body := c.do(t, exchange{method: "POST", target: base + "/wait",
			body: fmt.Sprintf(`{"for":"text","pattern":"again","since":%d}`, is.Seq), status: 200})
		if bytes.Contains(body, []byte("ready")) {
			t.Errorf("since %d there was %s", is.Seq, body)
		}
	}
}

// visitWithoutJournal looks at a terminal whose output was given up for its space.
func (c *contract) visitWithoutJournal(t *testing.T) {
	ends := c.info(t, "/pty/ends")
	c.stop()
	for _, name := range []string{"data.*", "index.*"} {
		files, err := filepath.Glob(filepath.Join(c.dir, "terminals", ends.ID, name))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %v", name, files, err)
		}
		for _, f := range files {
			if err := os.Remove(f); err != nil {
				t.Fatal(err)
			}
		}
	}
	c.liveServer = startServer(t, auth.ModeNone, c.dir)
	for _, base := range []string{"/session/dev/pty/ends", "/pty/ends"} {
		c.do(t, exchange{method: "GET", target: base + "/snapshot", status: 200})
		c.do(t, exchange{method: "GET", target: base + "/recording", status: 404, code: "NO_JOURNAL"})
		c.do(t, exchange{method: "POST", target: base + "/wait", body: `{"for":"exit","since":0}`, status: 404,
			code: "NO_JOURNAL"})
	}
}

// visitLost looks at the terminals whose programs ended unseen.
func (c *contract) visitLost(t *testing.T) {
	if i := c.info(t, "/pty/web"); i.State != terminal.StateLost || i.Exit == nil || i.Exit.Reason != "lost" ||
		i.Exit.Code != nil || i.PID != 0 {
		t.Errorf("without its keeper the terminal is %+v, exit %+v", i, i.Exit)
	}
	for _, base := range bases {
		c.do(t, exchange{method: "GET", target: base + "/snapshot?format=text", status: 200})
		c.do(t, exchange{method: "GET", target: base + "/recording?format=raw", status: 200})
		c.do(t, exchange{method: "POST", target: base + "/wait", body: `{"for":"exit"}`, status: 200})
		for path, body := range refusedWhenEnded {
			c.do(t, exchange{method: "POST", target: base + path, body: body, status: 409, code: "EXITED"})
		}
	}
}

// visitRestart starts the lost program again, ends it, and starts it once more by
// its other path.
func (c *contract) visitRestart(t *testing.T) {
	for n, base := range bases {
		header := []string{"", "Content-Type: application/json"}[n%2]
		was := c.info(t, base)
		c.do(t, exchange{method: "POST", target: base + "/restart", status: 415, code: "UNSUPPORTED_MEDIA_TYPE",
			header: "Content-Type: text/plain"})
		c.do(t, exchange{method: "POST", target: base + "/restart", body: `{"cols":80}`, status: 400,
			code: "VALIDATION"})
		var is wire.Terminal
		decode(t, c.do(t, exchange{method: "POST", target: base + "/restart", header: header, status: 200}), &is)
		if is.State != terminal.StateRunning || is.ID != was.ID || is.Name != was.Name ||
			is.Generation != was.Generation+1 || is.PID == 0 || is.Exit != nil || is.Cols != was.Cols ||
			is.Seq < was.Seq {
			t.Errorf("restart %d made %+v of %+v", n, is, was)
		}
		c.do(t, exchange{method: "POST", target: base + "/wait",
			body: fmt.Sprintf(`{"for":"text","pattern":"ready","since":%d}`, was.Seq), status: 200})
		screen := c.do(t, exchange{method: "GET", target: base + "/snapshot?format=text", status: 200})
		if !bytes.Contains(screen, []byte("again")) || !bytes.Contains(screen, []byte(" · restarted ")) {
			t.Errorf("restart %d shows %s", n, screen)
		}
		c.do(t, exchange{method: "POST", target: base + "/restart", body: `{}`, status: 409, code: "RUNNING"})
		c.do(t, exchange{method: "POST", target: base + "/keys", body: `{"keys":["C-d"]}`, status: 200})
		c.do(t, exchange{method: "POST", target: base + "/wait", body: `{"for":"exit"}`, status: 200})
	}
	c.do(t, exchange{method: "DELETE", target: "/pty/ends", status: 200})
	c.do(t, exchange{method: "POST", target: "/pty/ends/restart", body: `{}`, status: 404, code: "NOT_FOUND"})
}

func (c *contract) visitDelete(t *testing.T) {
	base := "/session/dev/pty/" + c.info(t, "/pty/web").ID
	c.do(t, exchange{method: "POST", target: "/session/dev/pty", body: `{"cmd":["cat"],"name":"runs"}`, status: 201})
	for _, e := range []exchange{
		{method: "DELETE", target: "/pty/runs", status: 200},
		{method: "GET", target: "/compat/ttyd/web/token", status: 200},
		{method: "GET", target: "/compat/ttyd/absent/token", status: 404, code: "NOT_FOUND"},
		{method: "GET", target: "/compat/terminado/web/api/terminals", status: 200},
		{method: "POST", target: "/compat/terminado/web/api/terminals", body: `{"name":"1"}`, status: 200},
		{method: "DELETE", target: "/compat/terminado/web/api/terminals/web", status: 204},
		{method: "GET", target: "/pty/runs", status: 404, code: "NOT_FOUND"},
		{method: "DELETE", target: base, status: 200},
		{method: "DELETE", target: base, status: 200},
		{method: "GET", target: base, status: 200},
		{method: "GET", target: base + "/snapshot", status: 200},
		{method: "DELETE", target: base + "?purge=1", status: 200},
		{method: "GET", target: base, status: 404, code: "NOT_FOUND"},
		{method: "DELETE", target: "/session/dev/pty?purge=true", status: 200},
		{method: "GET", target: "/session/dev/pty", status: 200},
	} {
		c.do(t, e)
	}
}

// TestAccessIsAsDocumented is the same for a server that asks who you are.
func TestAccessIsAsDocumented(t *testing.T) {
	checkLeaks(t)
	c := newContract(t, startServer(t, auth.ModeToken, t.TempDir()))
	token := c.token(t)
	bearer := "Authorization: Bearer " + token
	c.do(t, exchange{method: "POST", target: "/session/dev/pty", body: catBody, status: 201, header: bearer})
	link, err := c.auth.LoginURL("")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []exchange{
		{method: "GET", target: "/healthz", status: 200},
		{method: "GET", target: "/healthz", status: 200, header: bearer},
		{method: "GET", target: "/readyz", status: 200},
		{method: "GET", target: "/pty", status: 200, header: bearer},
		{method: "GET", target: "/", status: 401, header: "Accept: text/html"},
		{method: "GET", target: link, status: 303},
		{method: "GET", target: link, status: 401, code: "UNAUTHORIZED"},
		{method: "POST", target: "/session/dev/pty", body: catBody, status: 401, code: "UNAUTHORIZED"},
		{method: "POST", target: "/tickets", body: `{"pty":"web"}`, status: 401, code: "UNAUTHORIZED"},
	} {
		c.do(t, e)
	}
	for _, base := range bases {
		c.visitEach(t, base, http.StatusUnauthorized, "UNAUTHORIZED")
	}
	var ticket wire.Ticket
	decode(t, c.do(t, exchange{method: "POST", target: "/tickets", body: `{"pty":"web","uses":2}`, status: 201,
		header: bearer}), &ticket)
	u, err := url.Parse(ticket.URL)
	if err != nil {
		t.Fatal(err)
	}
	c.do(t, exchange{method: "GET", target: u.RequestURI(), status: 426, code: "UPGRADE_REQUIRED"})
	c.do(t, exchange{method: "GET", target: "/session/dev/pty/web/snapshot?ticket=" + ticket.Ticket, status: 200})
	c.do(t, exchange{method: "GET", target: "/pty/web/snapshot?ticket=" + ticket.Ticket, status: 401,
		code: "UNAUTHORIZED"})
	c.visitShared(t, bearer)
}

// visitShared asks as the page of a link does.
func (c *contract) visitShared(t *testing.T, bearer string) {
	var made wire.MadeShare
	decode(t, c.do(t, exchange{method: "POST", target: "/shares", body: `{"pty":"web"}`, status: 201, header: bearer}),
		&made)
	opened, err := c.client.Get(c.url + "/t/" + made.URL[strings.LastIndexByte(made.URL, '/')+1:])
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Body.Close()
	cookie, _, _ := strings.Cut(opened.Header.Get("Set-Cookie"), ";")
	c.do(t, exchange{method: "GET", target: "/share", status: 200, header: "Cookie: " + cookie})
	c.do(t, exchange{method: "GET", target: "/pty", status: 404, code: "NOT_FOUND", header: "Cookie: " + cookie})
}
