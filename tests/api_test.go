package tests

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

// terminal is what the contract says of a terminal.
type terminal struct {
	ID, PTYID    string
	Name         *string
	Session      string
	Cmd          []string
	Cwd          string
	Env          map[string]string
	Cols, Rows   int
	Title        *string
	State        string
	Exit         *wire.Exit
	PID          int
	Generation   int
	Viewers      *int
	SizePolicy   string  `json:"size_policy"`
	CreatedAt    string  `json:"created_at"`
	LastActivity string  `json:"last_activity_at"`
	LastOutput   *string `json:"last_output_at"`
	Seq          *uint64
	AltScreen    *bool   `json:"alt_screen"`
	BellCount    *uint64 `json:"bell_count"`
	JournalBytes *int64  `json:"journal_bytes"`
	MemoryBytes  *int64  `json:"memory_bytes"`
}

var (
	idForm   = regexp.MustCompile(`^[A-Za-z0-9_-]{12,}$`)
	timeForm = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$`)
)

// TestCreateAndInfo: F-001, F-003. What is asked for is what there is.
func TestCreateAndInfo(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	dir := t.TempDir()
	var made, i terminal
	s.post("/session/s1/pty", fmt.Sprintf(`{"cmd":["bash","-c","pwd; echo $A; read"],"cols":90,"rows":30,"cwd":%q,`+
		`"env":{"A":"b"},"name":"mine","scrollback":100,"size_policy":"smallest"}`, dir)).
		wants(201).into(&made)
	if made.ID != made.PTYID || !idForm.MatchString(made.ID) || made.State != "running" || made.PID == 0 ||
		made.Session != "s1" {
		t.Errorf("%+v", made)
	}
	s.await(made.ID, "^"+regexp.QuoteMeta(dir)+"\nb$")
	s.get("/session/s1/pty/" + made.ID).wants(200).into(&i)
	want := terminal{ID: made.ID, PTYID: made.ID, Session: "s1", Cwd: dir, Cols: 90, Rows: 30, State: "running",
		PID: made.PID, Generation: 1, SizePolicy: "smallest"}
	got := terminal{ID: i.ID, PTYID: i.PTYID, Session: i.Session, Cwd: i.Cwd, Cols: i.Cols, Rows: i.Rows,
		State: i.State, PID: i.PID, Generation: i.Generation, SizePolicy: i.SizePolicy}
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) || *i.Name != "mine" || i.Env["A"] != "b" ||
		!slices.Equal(i.Cmd, []string{"bash", "-c", "pwd; echo $A; read"}) || i.Exit != nil {
		t.Errorf("%+v", i)
	}
	if *i.Seq == 0 || *i.Viewers != 0 || *i.AltScreen || *i.BellCount != 0 || i.JournalBytes == nil ||
		*i.MemoryBytes <= 0 || i.Title == nil {
		t.Errorf("%+v", i)
	}
	for _, at := range []string{i.CreatedAt, i.LastActivity, *i.LastOutput} {
		if !timeForm.MatchString(at) {
			t.Errorf("%q is not RFC 3339 in UTC", at)
		}
	}
	if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", i.PID)); err != nil ||
		!strings.Contains(string(b), "A=b\x00") {
		t.Errorf("the child's environment: %q %v", b, err)
	}
}

// TestDefaults: F-002.
func TestDefaults(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	for _, body := range []string{"{}", ""} {
		var i terminal
		s.do(request{"POST", "/session/d/pty", body,
			map[string]string{"Content-Type": "application/json"}}).wants(201).into(&i)
		if i.Cols != 80 || i.Rows != 24 || !slices.Equal(i.Cmd, []string{"bash", "-l"}) || i.SizePolicy != "latest" ||
			i.Env == nil {
			t.Errorf("%+v", i)
		}
		s.await(i.ID, `[$#]$`)
		s.input(i.ID, "tput cols; tput lines; echo $TERM; printf '%s\\n' $0\n")
		s.await(i.ID, "^80\n24\nxterm-256color\n")
	}
}

// TestListsAndSessions: F-004, F-036. Lists hold what is theirs, long and short
// paths are the same.
func TestListsAndSessions(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	type list struct {
		PTYs  []string
		Items []terminal
	}
	var a, b, all list
	ids := map[string][]string{}
	for _, session := range []string{"s1", "s2", "s1"} {
		i, err := s.Create(s.ctx(), session,
			wire.CreateTerminal{Cmd: []string{"sleep", "1000"}, Name: fmt.Sprintf("n%d", len(ids[session]))})
		s.must(err)
		ids[session] = append(ids[session], i.ID)
	}
	s.get("/session/s1/pty").wants(200).into(&a)
	s.get("/session/s2/pty").wants(200).into(&b)
	s.get("/pty").wants(200).into(&all)
	if !slices.Equal(a.PTYs, ids["s1"]) || !slices.Equal(b.PTYs, ids["s2"]) || len(all.PTYs) != 3 ||
		len(a.Items) != 2 || a.Items[1].ID != a.PTYs[1] {
		t.Errorf("s1 %v, s2 %v, all %v, want %v", a.PTYs, b.PTYs, all.PTYs, ids)
	}
	if body := s.get("/session/unused/pty").wants(200).body; strings.TrimSpace(body) != `{"ptys":[],"items":[]}` {
		t.Errorf("an unused session: %s", body)
	}
	one := ids["s1"][0]
	for _, path := range []string{"/session/s1/pty/" + one, "/pty/" + one, "/session/s1/pty/n0"} {
		var i terminal
		if s.get(path).wants(200).into(&i); i.ID != one {
			t.Errorf("%s is %s, want %s", path, i.ID, one)
		}
	}
	if long, short := s.get("/session/s1/pty/"+one+"/snapshot").wants(200).body,
		s.get("/pty/"+one+"/snapshot").wants(200).body; long != short {
		t.Errorf("%s differs from %s", long, short)
	}
	s.get("/session/s2/pty/"+one).refused(404, "NOT_FOUND")
	s.get("/pty/n0").refused(409, "AMBIGUOUS")
	s.post("/session/s1/pty", `{"name":"n0"}`).refused(409, "NAME_TAKEN", "n0")
	s.call("DELETE", "/session/s1/pty/"+one, "").wants(200)
	s.call("DELETE", "/session/s1/pty/"+one, "").wants(200) // again is no error
	s.get("/session/s1/pty").into(&a)
	if !slices.Equal(a.PTYs, ids["s1"][1:]) {
		t.Errorf("after the delete: %v", a.PTYs)
	}
	var gone terminal
	if s.get("/pty/" + one).wants(200).into(&gone); gone.State != "exited" || gone.Exit.Reason != "killed" {
		t.Errorf("a deleted terminal: %+v", gone)
	}
	s.get("/pty/" + one + "/snapshot").wants(200)
	s.call("DELETE", "/pty/"+one+"?purge=1", "").wants(200)
	s.get("/pty/"+one).refused(404, "NOT_FOUND")
	if body := s.call("DELETE", "/session/s1/pty", "").wants(200).body; strings.TrimSpace(body) != `{"success":true}` {
		t.Errorf("delete all: %s", body)
	}
	s.get("/session/s1/pty").into(&a)
	s.get("/session/s2/pty").into(&b)
	if len(a.PTYs) != 0 || a.PTYs == nil || len(b.PTYs) != 1 {
		t.Errorf("after all of s1 was deleted: s1 %v, s2 %v", a.PTYs, b.PTYs)
	}
}

// TestInputKeysPasteSignal: F-005.
func TestInputKeysPasteSignal(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.create("bash", "-c", `stty -echo; echo ready; cat -v; printf '\e[?1h\e[?2004hmodes\n'; cat -v`).ID
	s.await(id, "^ready$")
	at := "/session/test/pty/" + id
	ok := func(path, body, want string) {
		t.Helper()
		var got, wanted map[string]any
		s.post(at+path, body).wants(200).into(&got)
		s.must(json.Unmarshal([]byte(want), &wanted))
		for name, value := range wanted {
			if got[name] != value {
				t.Errorf("%s %s: %v, want %s", path, body, got, want)
			}
		}
		if _, ok := got["seq"].(float64); !ok && path != "/signal" {
			t.Errorf("%s %s has no position: %v", path, body, got)
		}
	}
	ok("/input", `{"data":"héllo\n"}`, `{"success":true,"bytes":7}`)
	s.await(id, `^hM-CM-\)llo$`)
	ok("/input", `{"data_b64":"/wA9Cg=="}`, `{"success":true,"bytes":4}`)
	s.await(id, `^M-\^\?\^@=$`)
	ok("/input", `{"data":""}`, `{"success":true,"bytes":0}`)
	ok("/keys", `{"keys":["Up","text:x","Tab","S-F5","Enter"]}`, `{"success":true}`)
	s.await(id, `^\^\[\[Ax\s+\^\[\[15;2~$`)
	ok("/paste", `{"data":"pasted\n"}`, `{"success":true}`)
	s.await(id, `^pasted$`)
	ok("/input", `{"data":"\u0004"}`, `{"success":true,"bytes":1}`)
	s.await(id, "^modes$") // now with application cursor keys and bracketed paste
	ok("/keys", `{"keys":["Up","Enter"]}`, `{"success":true}`)
	s.await(id, `^\^\[OA$`)
	ok("/paste", `{"data":"two\n\u001b[201~lines\n"}`, `{"success":true}`)
	ok("/keys", `{"keys":["Enter"]}`, `{"success":true}`)
	s.await(id, `^\^\[\[200~two\nlines\n\^\[\[201~$`)
	ok("/signal", `{"signal":"INT"}`, `{"success":true}`)
	if exit := s.exit(id); exit.Signal != "INT" {
		t.Errorf("%+v", exit)
	}
	big := strings.Repeat("0123456789abcde\n", 30_000) // 480 kB, all of it in order
	sum := s.create("bash", "-c", "stty raw -echo; echo ready; head -c 480000 | sha256sum").ID
	s.await(sum, "^ready")
	s.input(sum, big)
	if text := s.await(sum, `^\s*[0-9a-f]{64}  -$`); !strings.Contains(text, sha256Of(big)) {
		t.Errorf("the program read something else:\n%s", text)
	}
}

// TestSnapshotFormats: what GET …/snapshot can be asked for.
func TestSnapshotFormats(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.create("bash", "-c", `seq 100; printf '\e[?1h\e[?2004h\e[?1002;1006h\e]2;t\a\e[31mred\e[0m<&>'; read`).ID
	s.await(id, "^red<&>$")
	var text struct {
		Text       string
		Cols, Rows int
		Seq        uint64
	}
	s.get("/pty/" + id + "/snapshot?format=text&scrollback=0").wants(200).into(&text)
	if lines := strings.Split(strings.TrimRight(text.Text, "\n"), "\n"); len(lines) != 24 || lines[0] != "78" ||
		lines[23] != "red<&>" || text.Cols != 80 || text.Seq == 0 {
		t.Errorf("%+v", text)
	}
	s.get("/pty/" + id + "/snapshot?format=text&scrollback=2").into(&text)
	if !strings.HasPrefix(text.Text, "76\n77\n78\n") {
		t.Errorf("two lines of history: %.30q", text.Text)
	}
	var screen screenJSON
	s.get("/pty/" + id + "/snapshot?format=json").wants(200).into(&screen)
	if screen.Cursor.X != 6 || screen.Cursor.Y != 23 || !screen.Cursor.Visible || screen.Title != "t" || screen.Alt ||
		len(screen.Lines) != 24 {
		t.Errorf("%+v", screen)
	}
	for name, want := range map[string]any{"application_cursor": true, "bracketed_paste": true, "mouse": "button",
		"mouse_encoding": "sgr", "autowrap": true, "insert": false} {
		if got := screen.Modes[name]; got != want {
			t.Errorf("mode %s: %v, want %v", name, got, want)
		}
	}
	var html struct{ HTML string }
	s.get("/pty/" + id + "/snapshot?format=html").wants(200).into(&html)
	if !strings.Contains(html.HTML, "&lt;&amp;&gt;") {
		t.Errorf("html: %q", html.HTML)
	}
	for _, bad := range []string{"format=pdf", "scrollback=-2", "scrollback=x", "scrollback=1e9",
		"scrollback=99999999"} {
		s.get("/pty/"+id+"/snapshot?"+bad).refused(400, "VALIDATION", strings.Split(bad, "=")[0])
	}
}

// TestCompression: F-027.
func TestCompression(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.create("bash", "-c", "seq 5100 | sed 's/$/ some words that are the same in every line/'; read").ID
	s.await(id, "^5100 some words")
	whole := s.get("/pty/" + id + "/snapshot").wants(200).body
	for coding, open := range map[string]func(io.Reader) (io.Reader, error){
		"gzip": func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
		"zstd": func(r io.Reader) (io.Reader, error) { return zstd.NewReader(r) },
	} {
		r := s.do(request{method: "GET", path: "/pty/" + id + "/snapshot",
			header: map[string]string{"Accept-Encoding": coding}}).wants(200)
		if r.header.Get("Content-Encoding") != coding || len(r.body) > len(whole)/2 {
			t.Errorf("%s: encoding %q, %d of %d bytes", coding, r.header.Get("Content-Encoding"), len(r.body),
				len(whole))
			continue
		}
		d, err := open(strings.NewReader(r.body))
		s.must(err)
		b, err := io.ReadAll(d)
		if err != nil || string(b) != whole {
			t.Errorf("%s: %v, %d bytes, want %d", coding, err, len(b), len(whole))
		}
	}
}

// TestWait: every condition, met and not met.
func TestWait(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.create("bash", "-c", "stty -echo; echo begin; read; echo middle; read; exit 4").ID
	at := "/pty/" + id + "/wait"
	var w struct {
		Matched bool
		Text    string
		Seq     uint64
		Exit    *wire.Exit
	}
	if s.post(at, `{"for":"text","pattern":"begin"}`).wants(200).into(&w); !w.Matched ||
		!strings.HasPrefix(w.Text, "begin\n") || w.Seq == 0 {
		t.Errorf("%+v", w)
	}
	s.post(at, `{"for":"idle","idle_ms":50}`).wants(200)
	// A program that reads is no shell that does.
	s.post(at, `{"for":"prompt","timeout_ms":400}`).refused(408, "TIMEOUT")
	s.post(at, `{"for":"text","pattern":"never","timeout_ms":50}`).refused(408, "TIMEOUT", "text")
	var refusal struct{ Details struct{ Text string } }
	s.post(at, `{"for":"regex","pattern":"ne(v)er","timeout_ms":50}`).into(&refusal)
	if !strings.HasPrefix(refusal.Details.Text, "begin\n") {
		t.Errorf("a timeout does not bring the screen: %+v", refusal)
	}
	for _, bad := range []string{`{}`, `{"for":"luck"}`, `{"for":"text"}`, `{"for":"regex","pattern":"("}`,
		`{"for":"exit","timeout_ms":-1}`, `{"for":"idle","idle_ms":1e12}`} {
		s.post(at, bad).refused(400, "VALIDATION")
	}
	s.input(id, "\n")
	s.post(at, `{"for":"regex","pattern":"^midd.e$"}`).wants(200) // ^ and $ are each line's
	s.input(id, "\n")
	if s.post(at, `{"for":"exit"}`).wants(200).into(&w); w.Exit == nil || *w.Exit.Code != 4 {
		t.Errorf("%+v", w.Exit)
	}
	s.post(at, `{"for":"text","pattern":"never"}`).refused(409, "EXITED")
	s.post(at, `{"for":"text","pattern":"middle"}`).wants(200)
}

// TestOps: F-029, F-035.
func TestOps(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.shell().ID
	s.watch(sse, id).close()
	s.watch(sse, id).close()
	var health struct {
		Status   string
		Lossless *bool
		Reasons  []string
		Version  string
		PID      int
	}
	if s.get("/healthz").wants(200).into(&health); health.Status != "ok" || health.PID != s.pid() ||
		health.Version == "" || health.Lossless == nil || len(health.Reasons) != 0 {
		t.Errorf("%+v", health)
	}
	s.get("/readyz").wants(200)
	var version struct{ Version string }
	if s.get("/version").wants(200).into(&version); version.Version != health.Version {
		t.Errorf("version %q, health says %q", version.Version, health.Version)
	}
	var metrics string
	eventually(t, "the viewers are gone", func() bool {
		metrics = s.get("/metrics").wants(200).body
		return strings.Contains(metrics, "evertty_viewers 0\n")
	})
	for _, want := range []string{"evertty_active_ptys 1\n", "evertty_snapshot_bytes_bucket{",
		"evertty_recovery_seconds_count 0\n", "evertty_reconnects_total 1\n",
		"evertty_failed_recoveries_total 0\n", "go_goroutines ", "process_open_fds ",
		"process_resident_memory_bytes "} {
		if !strings.Contains(metrics, want) {
			t.Errorf("/metrics lacks %q", want)
		}
	}
	var routes struct {
		Routes []struct{ Method, Path, Does string }
	}
	s.get("/").wants(200).into(&routes)
	served := map[string]bool{}
	for _, r := range routes.Routes {
		served[r.Method+" "+r.Path] = r.Does != ""
	}
	for _, want := range append(contractRoutes(), execRoutes()...) {
		if !served[want] {
			t.Errorf("GET / does not list %s", want)
		}
	}
	var doc struct {
		OpenAPI string
		Paths   map[string]map[string]any
	}
	s.get("/openapi.json").wants(200).into(&doc)
	if !strings.HasPrefix(doc.OpenAPI, "3.1") {
		t.Errorf("openapi %q", doc.OpenAPI)
	}
	param := regexp.MustCompile(`:(\w+)`)
	for route := range served {
		method, path, _ := strings.Cut(route, " ")
		if strings.HasPrefix(path, "/assets") || path == "/favicon.svg" {
			continue
		}
		if doc.Paths[param.ReplaceAllString(path, "{$1}")][strings.ToLower(method)] == nil {
			t.Errorf("openapi.json does not describe %s", route)
		}
	}
	page := s.do(request{method: "GET", path: "/", header: map[string]string{"Accept": "text/html"}}).wants(200)
	if !strings.HasPrefix(page.header.Get("Content-Type"), "text/html") ||
		!strings.Contains(strings.ToLower(page.body), "<!doctype html") {
		t.Errorf("the page: %s %s", page.header.Get("Content-Type"), clip(page.body))
	}
}

// contractRoutes are the routes that this version serves.
func contractRoutes() []string {
	list := []string{"POST /session/:sid/pty", "GET /session/:sid/pty", "DELETE /session/:sid/pty", "GET /pty",
		"GET /", "GET /healthz", "GET /readyz", "GET /metrics", "GET /openapi.json", "GET /version", "POST /tickets"}
	for _, base := range []string{"/session/:sid/pty/:id", "/pty/:id"} {
		for _, r := range []string{"GET ", "DELETE ", "POST /input", "POST /keys", "POST /paste", "POST /resize",
			"POST /signal", "GET /snapshot", "GET /stream", "GET /ws", "POST /wait"} {
			method, end, _ := strings.Cut(r, " ")
			list = append(list, method+" "+base+end)
		}
	}
	return list
}

// execRoutes are the routes of exec shells.
func execRoutes() []string {
	list := []string{"POST /session/:sid/shell", "GET /session/:sid/shell", "DELETE /session/:sid/shell",
		"GET /session/:sid/shell/:shid", "DELETE /session/:sid/shell/:shid",
		"POST /api/session/create", "GET /api/session/list", "POST /api/session/delete", "POST /api/session/:id/env",
		"POST /api/env/set", "POST /api/execute", "POST /api/execute/stream",
		"POST /api/process/start", "GET /api/process/list", "GET /api/process/:id", "DELETE /api/process/:id",
		"GET /api/process/:id/logs", "GET /api/process/:id/stream", "DELETE /api/process/kill-all",
		"POST /api/file/write", "POST /api/file/read", "POST /api/file/mkdir", "DELETE /api/file/delete",
		"POST /api/file/list"}
	for _, base := range []string{"/session/:sid", "/session/:sid/shell/:shid"} {
		for _, r := range []string{"POST /exec", "POST /exec/stream", "POST /env", "GET /commands",
			"GET /commands/:cid", "DELETE /commands/:cid", "GET /commands/:cid/logs", "POST /commands/:cid/input"} {
			method, end, _ := strings.Cut(r, " ")
			list = append(list, method+" "+base+end)
		}
	}
	return list
}

// TestPageConnection: one WebSocket for all terminals of a page.
func TestPageConnection(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	a, b := s.shell().ID, s.create("bash", "-c", "echo second; read").ID
	s.await(b, "^second$")
	page, err := s.dialJSON(s.ctx(), "/ws")
	s.must(err)
	defer page.Close()
	next := func(what string, f func(frame, []byte) bool) {
		t.Helper()
		for {
			m, raw, err := page.read()
			if err != nil {
				t.Fatalf("never: %s: %v", what, err)
			}
			if f(m, raw) {
				return
			}
		}
	}
	next("the list", func(f frame, raw []byte) bool {
		var list struct{ Items []terminal }
		return f.Event == "list" && json.Unmarshal(raw, &list) == nil && len(list.Items) == 2
	})
	for _, id := range []string{a, b} {
		s.must(page.send(map[string]any{"type": "attach", "pty": id, "cols": 100, "rows": 30}))
		next("the snapshot of "+id,
			func(f frame, _ []byte) bool { return f.Event == client.KindSnapshot && f.PTY == id })
	}
	s.must(page.send(map[string]any{"type": "input", "pty": a, "data": "echo 'by' page\r"}))
	next("the output", func(f frame, _ []byte) bool { return f.PTY == a && strings.Contains(f.Data, "by page\r\n") })
	s.must(page.send(map[string]any{"type": "detach", "pty": a}))
	s.must(page.send(map[string]any{"type": "input", "pty": a, "data": "x"}))
	next("the refusal", func(f frame, _ []byte) bool {
		return f.Event == client.KindError && f.PTY == a && f.Code == "VALIDATION"
	})
	s.must(page.send(map[string]any{"type": "attach", "pty": "nothere"}))
	next("the refusal", func(f frame, _ []byte) bool { return f.Event == client.KindError && f.Code == "NOT_FOUND" })
	s.must(page.send(map[string]any{"type": "input", "pty": b, "data": "\r"}))
	next("the exit", func(f frame, _ []byte) bool { return f.Event == client.KindExit && f.PTY == b })
	next("the list", func(f frame, raw []byte) bool {
		return f.Event == "list" && strings.Contains(string(raw), `"exited"`)
	})
}
