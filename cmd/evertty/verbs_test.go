//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/client"
)

// outcome is what a command line did.
type outcome struct {
	code           int
	stdout, stderr string
}

// evertty runs a command line that is not on a terminal.
func evertty(t *testing.T, stdin string, args ...string) outcome {
	t.Helper()
	dir := t.TempDir()
	in := filepath.Join(dir, "in")
	if err := os.WriteFile(in, []byte(stdin), 0o600); err != nil {
		t.Fatal(err)
	}
	inFile, err := os.Open(in)
	if err != nil {
		t.Fatal(err)
	}
	defer inFile.Close()
	outFile, err := os.Create(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer outFile.Close()
	var stderr strings.Builder
	a := &app{stdin: inFile, stdout: outFile, stderr: &stderr}
	code := a.run(args)
	b, err := os.ReadFile(outFile.Name())
	if err != nil {
		t.Fatal(err)
	}
	return outcome{code, string(b), stderr.String()}
}

// recorder answers every request with the next answer of its path (the last one
// again and again) and keeps what was asked.
type recorder struct {
	asked   []string
	answers map[string][]string // method and path -> status and body
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if ids := req.URL.Query()["id"]; req.URL.Path == "/pty" && len(ids) > 0 { // everything has its name as id
		_, _ = fmt.Fprintf(w, `{"items":[{"id":"%s"}]}`, strings.Join(ids, `"},{"id":"`))
		return
	}
	body, _ := io.ReadAll(req.Body)
	r.asked = append(r.asked, strings.TrimSpace(req.Method+" "+req.URL.RequestURI()+" "+string(body)))
	route := req.Method + " " + req.URL.Path
	list := r.answers[route]
	if len(list) == 0 {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"error":"no such terminal","code":"NOT_FOUND","details":{}}`)
		return
	}
	if len(list) > 1 {
		r.answers[route] = list[1:]
	}
	var status int
	var text string
	_, _ = fmt.Sscanf(list[0], "%d", &status)
	_, text, _ = strings.Cut(list[0], " ")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}

func TestVerbs(t *testing.T) {
	info := `{"id":"t1","name":"build","session":"main","cmd":["bash"],"cols":80,"rows":24,"state":"running",` +
		`"viewers":2,"title":"my \u001b[31mtitle","last_activity_at":"2020-01-01T00:00:00Z","last_output_at":null}`
	gone := `{"id":"t2","cmd":["sleep","1"],"session":"x","cols":80,"rows":24,"state":"exited","exit":{"code":3,` +
		`"signal":"","reason":"exit"}}`
	answers := map[string][]string{
		"GET /pty":               {`200 {"ptys":[],"items":[` + info + `,` + gone + `]}`},
		"GET /session/none/pty":  {`200 {"ptys":[],"items":[]}`},
		"POST /session/main/pty": {`201 ` + info},
		"POST /session/s/pty":    {`400 {"error":"cwd \"/x\" does not exist","code":"VALIDATION"}`},
		"POST /pty/t1/input":     {`200 {"success":true,"bytes":2,"seq":7}`},
		"POST /pty/t1/keys":      {`200 {"success":true}`},
		"POST /pty/t1/paste":     {`200 {"success":true}`},
		"POST /pty/t1/signal":    {`200 {"success":true}`},
		"DELETE /pty/t1":         {`200 {"success":true}`},
		"GET /pty/t1/snapshot": {`200 {"text":"a\nb\n\n\n","data":"\u001b[mx","html":"<p>","cols":80,` +
			`"lines":[{"text":"a"},{"text":"b"},{"text":""},{"text":""}],"scrollback":[]}`},
		"PUT /api/threads/t1/record": {`200 {"session_id":"r1","messages":2}`},
		"POST /tickets":              {`201 {"ticket":"k","url":"http://h/?ticket=k"}`},
		"GET /pty/t1":                {`200 {"id":"t1","seq":3}`},
		"GET /pty/slow":              {`200 {"id":"slow","seq":3}`},
		"GET /pty/never":             {`200 {"id":"never","seq":3}`},
		"GET /pty/ended":             {`200 {"id":"ended","seq":3}`},
		"POST /pty/t1/wait": {`200 {"matched":true,"text":"x","seq":9,"exit":{"code":5,"signal":"",` +
			`"reason":"exit"}}`},
		"POST /pty/slow/wait": {`408 {"error":"not yet","code":"TIMEOUT","details":{"text":"$","seq":4}}`,
			`200 {"matched":true,"text":"x","seq":9,"exit":{"code":null,"signal":"TERM","reason":"signal"}}`},
		"POST /pty/later/wait": {`408 {"error":"not yet","code":"TIMEOUT","details":{"text":"$",` +
			`"seq":4}}`, `200 {"matched":true,"text":"x","seq":9}`},
		"GET /pty/later": {`200 {"id":"later","seq":3}`},
		"POST /pty/never/wait": {`408 {"error":"the time is over","code":"TIMEOUT",` +
			`"details":{"text":"$","seq":4}}`},
		"GET /api/leases": {`401 {"error":"send the header Authorization",` +
			`"code":"UNAUTHORIZED"}`},
		"POST /api/threads": {`201 {"thread_id":"work"}`},
		"GET /api/threads/work": {`200 {"thread_id":"work","policy":{"idle_seconds":60,` +
			`"max_seconds":7200,"budget":{"commands":7}}}`},
		"DELETE /api/threads/work":          {`200 {"success":true}`},
		"POST /api/threads/work/pause":      {`200 {"thread_id":"work","sandbox":{"status":"paused"}}`},
		"PATCH /api/threads/work/policy":    {`200 {"thread_id":"work"}`},
		"GET /api/threads/work/permissions": {`200 {"mode":"prompt","rules":{"deny":[{"tool":"exec"}]}}`},
		"PUT /api/threads/work/permissions": {`200 {"mode":"allow","rules":{}}`},
		"GET /api/threads/work/approvals": {`200 {"approvals":[{"id":"apr_1","tool":"exec",` +
			`"status":"pending","arguments":{"command":"a\u001b[31m"}}]}`},
		"GET /api/threads/work/approvals/apr_1": {`200 {"id":"apr_1","tool":"exec","arguments":{"command":"ls\n-l"}}`},
		"GET /api/threads/work/approvals/apr_3": {`200 {"id":"apr_3","tool":"exec",` +
			`"arguments":{"env":{"A_KEY":"***"}},"hidden":{"A_KEY":12}}`},
		"GET /api/threads/work/approvals/apr_4": {
			`200 {"id":"apr_4","tool":"exec","arguments":{"env":{"A_KEY":"sesame"}}}`},
		"POST /api/threads/work/approvals/apr_4": {`200 {"id":"apr_4","status":"approved"}`},
		"POST /api/threads/work/approvals/apr_1": {`200 {"id":"apr_1","status":"approved"}`},
		"POST /api/threads/work/steer":           {`201 {"seq":4}`},
		"POST /api/threads/work/steer/drain":     {`200 {"messages":["one","two\u0007"]}`},
		"DELETE /pty/held": {`423 {"error":"ask","code":"NEEDS_APPROVAL",` +
			`"details":{"approval_id":"apr_1"}}`},
		"DELETE /pty/denied": {`403 {"error":"no","code":"DENIED","details":{}}`},
		"POST /pty/ended/wait": {`409 {"error":"it ended before","code":"EXITED",` +
			`"details":{"text":"bye","seq":4}}`},
	}
	for _, tc := range []struct {
		name, args, stdin string
		asked             string // requests, joined by newlines; "-" for none
		out               string // part of stdout
		err               string // part of stderr
		code              int
	}{
		{"list", "ls", "", "GET /pty", "build  main", "", 0},
		{"list is safe and tells ends", "ls", "", "", "exited(3)  80x24", "", 0},
		{"list escapes", "ls", "", "", "my ?[31mtitle", "", 0},
		{"list json", "ls --json --session none", "", "GET /session/none/pty", "[]", "", 0},
		{"new", "new -d --name build --cwd /w --env A=1 --env B=x=y --cols 90 --rows 30 --scrollback 0 " +
			"--size-policy fixed -- vi -R f", "",
			`POST /session/main/pty {"cmd":["vi","-R","f"],"cols":90,"rows":30,"cwd":"/w","env":{"A":"1","B":"x=y"},` +
				`"name":"build","scrollback":0,"size_policy":"fixed"}`, "t1\n", "", 0},
		{"new json", "new -d --json --cwd /w", "", `POST /session/main/pty {"cwd":"/w"}`, `"id": "t1"`, "", 0},
		{"new refused", "new -d -s s --cwd /x", "", `POST /session/s/pty {"cwd":"/x"}`, "",
			`evertty: cwd "/x" does not exist`, 2},
		{"new without a terminal", "new", "", "-", "", "not a terminal", 2},
		{"new with a bad variable", "new -d --env =x", "", "-", "", `--env: got "=x"`, 2},
		{"new with a bad size", "new -d --cols 0", "", "-", "", `--cols: got "0", allowed is 1 to 1000`, 2},
		{"send", "send t1 ls", "", `POST /pty/t1/input {"data_b64":"bHM="}`, "", "", 0},
		{"send enter", "send t1 ls --enter", "", `POST /pty/t1/input {"data_b64":"bHMN"}`, "", "", 0},
		{"send stdin", "send t1 -", "\xff\n", `POST /pty/t1/input {"data_b64":"/wo="}`, "", "", 0},
		{"send keys", "send t1 --keys C-c Up text:a", "", `POST /pty/t1/keys {"keys":["C-c","Up","text:a"]}`, "", "",
			0},
		{"send keys enter", "send t1 --keys Up --enter", "", `POST /pty/t1/keys {"keys":["Up","Enter"]}`, "", "", 0},
		{"send paste", "send t1 --paste - --enter", "a\nb",
			"POST /pty/t1/paste {\"data\":\"a\\nb\"}\nPOST /pty/t1/input {\"data_b64\":\"DQ==\"}", "", "", 0},
		{"send to nothing", "send nope x", "", `POST /pty/nope/input {"data_b64":"eA=="}`, "",
			"evertty: no such terminal", 4},
		{"send nothing", "send t1", "", "-", "", "want ID TEXT", 2},
		{"send two texts", "send t1 a b", "", "-", "", "want ID TEXT", 2},
		{"import", "thread import t1 -", `{"a":1}`, `PUT /api/threads/t1/record {"a":1}`, "r1: 2 messages", "", 0},
		{"import of no JSON", "thread import t1 -", `{"a"`, "-", "", "- is not JSON", 2},
		{"kill", "kill t1", "", "DELETE /pty/t1", "", "", 0},
		{"kill purge", "kill t1 --purge", "", "DELETE /pty/t1?purge=1", "", "", 0},
		{"kill several", "kill nope t1", "", "DELETE /pty/nope\nDELETE /pty/t1", "", "no such terminal", 4},
		{"kill signal", "kill t1 --signal INT", "", `POST /pty/t1/signal {"signal":"INT"}`, "", "", 0},
		{"kill both", "kill t1 --signal INT --purge", "", "-", "", "exclude", 2},
		{"logs", "logs t1", "", "GET /pty/t1/snapshot?format=json&scrollback=-1", "a\nb\n", "", 0},
		{"logs raw", "logs t1 --raw", "", "GET /pty/t1/snapshot?format=ansi&scrollback=-1", "\x1b[mx", "", 0},
		{"logs json", "logs t1 --json", "", "", `"cols":80,`, "", 0},
		{"snapshot", "snapshot t1", "", "GET /pty/t1/snapshot?format=ansi&scrollback=0", "\x1b[mx", "", 0},
		{"snapshot html", "snapshot t1 --format html --scrollback 7", "",
			"GET /pty/t1/snapshot?format=html&scrollback=7", "<p>\n", "", 0},
		{"snapshot format", "snapshot t1 --format pdf", "", "-", "",
			`--format: got "pdf", allowed is ansi, text, json, html`, 2},
		{"wait", "wait t1", "", "GET /pty/t1\nPOST /pty/t1/wait {\"for\":\"exit\",\"timeout_ms\":300000}", "", "", 5},
		{"wait again", "wait slow", "", "GET /pty/slow\nPOST /pty/slow/wait {\"for\":\"exit\"," +
			"\"timeout_ms\":300000}\nPOST /pty/slow/wait {\"for\":\"exit\",\"timeout_ms\":300000}", "", "", 143},
		{"wait text", "wait t1 --for text --pattern x --json", "",
			"GET /pty/t1\nPOST /pty/t1/wait {\"for\":\"text\",\"pattern\":\"x\",\"timeout_ms\":300000}",
			`"matched": true`, "", 0},
		{"wait since", "wait t1 --for regex --pattern ^x$ --since 0 --ignore-echo --not --screen-only", "",
			"GET /pty/t1\nPOST /pty/t1/wait {\"for\":\"regex\",\"pattern\":\"^x$\",\"not\":true," +
				"\"screen_only\":true,\"timeout_ms\":300000,\"since\":0,\"ignore_echo\":true}", "", "", 0},
		{"wait title", "wait t1 --for title --pattern x", "",
			"GET /pty/t1\nPOST /pty/t1/wait {\"for\":\"title\",\"pattern\":\"x\",\"timeout_ms\":300000}", "", "", 0},
		{"wait text again", "wait later --for text --pattern x", "",
			"GET /pty/later\nPOST /pty/later/wait {\"for\":\"text\",\"pattern\":\"x\",\"timeout_ms\":300000}\nPOST " +
				"/pty/later/wait {\"for\":\"text\",\"pattern\":\"x\",\"timeout_ms\":300000,\"since\":4}", "", "", 0},
		{"send json", "send t1 ls --json", "", `POST /pty/t1/input {"data_b64":"bHM="}`, `"seq": 7`, "", 0},
		{"wait timeout", "wait never --timeout 1ms --json", "", "", `"text": "$"`, "the time is over", 124},
		{"wait ended", "wait ended --for idle", "",
			"GET /pty/ended\nPOST /pty/ended/wait {\"for\":\"idle\",\"timeout_ms\":300000}", "", "it ended before", 1},
		{"wait pattern", "wait t1 --for text", "", "-", "", "--pattern", 2},
		{"wait for what", "wait t1 --for rain", "", "-", "",
			`--for: got "rain", allowed is exit, text, regex, idle, prompt, title, alt_screen`, 2},
		{"empty id", "wait EMPTY", "", "-", "", "wait: ID is empty", 2},
		{"empty thread", "thread show EMPTY", "", "-", "", "thread show: THREAD is empty", 2},
		{"no id", "attach", "", "-", "", "attach: got no argument, the use is: evertty attach ID", 2},
		{"two ids", "logs a b", "", "-", "", "logs: got 2 arguments, the use is: evertty logs ID", 2},
		{"a word too much", "ls x", "", "-", "", `ls: got "x", the use is: evertty ls`, 2},
		{"not logged in", "lease ls", "", "GET /api/leases?limit=1000", "",
			"set EVERTTY_TOKEN_FILE to a copy of the file token", 1},
		{"thread new", "thread new work --idle 90s --budget-commands 5 --budget-output 1MiB --sandbox docker", "",
			`POST /api/threads {"id":"work","sandbox":"docker","policy":{"idle_seconds":90,"budget":{"commands":5,` +
				`"bytes":1048576}}}`, "work\n", "", 0},
		{"thread new json", "thread new --json", "", "POST /api/threads {}", `"thread_id": "work"`, "", 0},
		{"thread rm", "thread rm nope work", "", "DELETE /api/threads/nope\nDELETE /api/threads/work", "",
			"nope: no such terminal", 4},
		{"thread pause", "thread pause work", "", "POST /api/threads/work/pause", "paused\n", "", 0},
		{"thread resume of nothing", "thread resume TYPO", "", "GET /api/threads/TYPO", "", "no such terminal", 4},
		{"thread policy", "thread policy work", "", "GET /api/threads/work",
			"idle             1m0s\nmax              2h0m0s\nbudget-commands  7\n", "", 0},
		{"thread policy keeps the rest of the budget", "thread policy work --budget-cpu 2s", "",
			"GET /api/threads/work\nPATCH /api/threads/work/policy {\"budget\":{\"cpu_seconds\":2,\"commands\":7}}", "",
			"", 0},
		{"thread policy of nothing", "thread policy TYPO --idle 5s", "", "GET /api/threads/TYPO", "",
			"no such terminal", 4},
		{"permissions", "thread permissions work", "", "GET /api/threads/work/permissions",
			"mode  prompt\ndeny  {\"tool\":\"exec\"}\n", "", 0},
		{"permissions set", "thread permissions work --mode allow --rules -", `{"ask":[]}`,
			"GET /api/threads/work/permissions\nPUT /api/threads/work/permissions {\"mode\":\"allow\"," +
				"\"rules\":{\"ask\":[]}}", "", "", 0},
		{"permissions of nothing", "thread permissions TYPO --mode allow", "", "GET /api/threads/TYPO/permissions", "",
			"no such terminal", 4},
		{"permissions both", "thread permissions work --no-rules --rules -", "", "-", "", "exclude", 2},
		{"permissions mode", "thread permissions work --mode some", "", "-", "",
			`--mode: got "some", allowed is read-only`, 2},
		{"permissions no JSON", "thread permissions work --rules -", "{", "-", "", "is not JSON", 2},
		{"approvals", "thread approvals work", "", "GET /api/threads/work/approvals?status=pending",
			"exec\n  command: a\\x1b[31m\n", "", 0},
		{"approvals all", "thread approvals work --status all --json", "", "GET /api/threads/work/approvals",
			`"id": "apr_1"`, "", 0},
		{"approve", "thread approve work apr_1 apr_2 --yes", "", "GET /api/threads/work/approvals/apr_1\n" +
			"POST /api/threads/work/approvals/apr_1 {\"decision\":\"approve\"}\nGET /api/threads/work/approvals/apr_2",
			"  command: ls\\n-l\n", "apr_2: no such terminal", 4},
		{"approve hidden", "thread approve work apr_3 --yes", "", "GET /api/threads/work/approvals/apr_3",
			"  hidden: A_KEY=***(12)\n", "--show shows them", 1},
		{"approve shown", "thread approve work apr_4 --yes --show", "",
			"GET /api/threads/work/approvals/apr_4?reveal=1\nPOST /api/threads/work/approvals/apr_4 " +
				"{\"decision\":\"approve\"}", `env: {"A_KEY":"sesame"}`, "", 0},
		{"approve without a terminal", "thread approve work apr_1", "y\n", "GET /api/threads/work/approvals/apr_1", "",
			"say --yes", 2},
		{"deny", "thread deny work apr_1 --json", "", `POST /api/threads/work/approvals/apr_1 {"decision":"deny"}`,
			`"id": "apr_1"`, "", 0},
		{"approve nothing", "thread approve work", "", "-", "",
			"got \"work\", the use is: evertty thread approve THREAD APPROVAL...", 2},
		{"steer", "thread steer work -", "stop it\n",
			"GET /api/threads/work\nPOST /api/threads/work/steer {\"message\":\"stop it\\n\"}", "", "", 0},
		{"steer nothing", "thread steer TYPO x", "", "GET /api/threads/TYPO", "", "no such terminal", 4},
		{"steer drain", "thread steer work --drain", "", "POST /api/threads/work/steer/drain", "one\ntwo?\n", "", 0},
		{"steer both", "thread steer work x --drain", "", "-", "", "not both", 2},
		{"held", "kill held", "", "DELETE /pty/held", "", "evertty thread approve SESSION apr_1", 1},
		{"denied", "kill denied", "", "DELETE /pty/denied", "", "evertty thread permissions SESSION", 1},
		{"complete approvals", "__complete thread approve work a", "", "GET /api/threads/work/approvals?status=pending",
			"apr_1\texec", "", 0},
		{"url", "url", "", `POST /tickets {"login":true}`, "http://h/?ticket=k\n", "", 0},
		{"version", "version --json", "", "-", `"version"`, "", 0},
		{"version as a flag", "--version", "", "-", "evertty ", "", 0},
		{"help of nothing", "help kil", "", "-", "", "did you mean kill?", 2},
		{"help of a verb", "help thread rm", "", "-", "forget them", "", 0},
		{"flags of a program", "new ls -la", "", "-", "", "go behind --: evertty new -- ls ...", 2},
		{"backup of no name", "backup EMPTY", "", "-", "", "backup: FILE is empty", 2},
		{"unknown verb", "atach", "", "-", "", "did you mean attach?", 2},
		{"completion", "__complete attach b", "", "GET /pty", "build\tmy ?[31mtitle", "", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := &recorder{answers: map[string][]string{}}
			for k, v := range answers {
				r.answers[k] = v
			}
			s := httptest.NewServer(r)
			defer s.Close()
			t.Setenv(envServer, s.URL)
			t.Setenv(envDataDir, t.TempDir())
			args := strings.Fields(tc.args)
			for i, word := range args {
				args[i] = strings.TrimSuffix(word, "EMPTY")
			}
			o := evertty(t, tc.stdin, args...)
			asked := strings.Join(r.asked, "\n")
			if tc.asked == "-" && asked != "" || tc.asked != "-" && tc.asked != "" && asked != tc.asked {
				t.Errorf("asked\n%s\nwant\n%s", asked, tc.asked)
			}
			if o.code != tc.code || !strings.Contains(o.stdout, tc.out) || !strings.Contains(o.stderr, tc.err) {
				t.Errorf("code %d, want %d\nstdout %q\nstderr %q", o.code, tc.code, o.stdout, o.stderr)
			}
			if !strings.HasPrefix(tc.args, "__complete") && o.stderr != "" &&
				(strings.Count(o.stderr, "\n") != 1 || !strings.HasPrefix(o.stderr, "evertty: ")) {
				t.Errorf("stderr is not one line: %q", o.stderr)
			}
			if tc.name == "logs" && o.stdout != tc.out {
				t.Errorf("the empty rows below are printed: %q", o.stdout)
			}
		})
	}
}

// TestNoPackageNames: what is printed has no words of the program's own.
func TestNoPackageNames(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(envDataDir, dir)
	t.Setenv(envTokenFile, filepath.Join(dir, "none"))
	for _, args := range [][]string{{"ls", "--server", "http://127.0.0.1:1"}, {"ls", "--server", "nonsense"},
		{"serve", "--data-dir", "/proc/none"}, {"serve", "--data-dir", "/dev/null"}} {
		if o := evertty(t, "", args...); o.code == 0 || strings.Contains(o.stderr, "client:") ||
			strings.Contains(o.stderr, "datadir:") {
			t.Errorf("%v: %+v", args, o)
		}
	}
}

// TestLoginElsewhere: what is no server of evertty, or has a certificate that nobody trusts, is not kept; why is said.
func TestLoginElsewhere(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	for url, words := range map[string]string{secure.URL: "SSL_CERT_FILE",
		strings.Replace(secure.URL, "https", "http", 1): "is it http or https?"} {
		if o := evertty(t, "token\n", "login", url); o.code != exitFailure || !strings.Contains(o.stderr, words) ||
			strings.Contains(o.stderr, `Get "`) || strings.Contains(o.stderr, "does not take") {
			t.Errorf("%s: %+v", url, o)
		}
	}
}

// TestLoginUnencrypted: it is said, but for this machine, before a token is asked for.
func TestLoginUnencrypted(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for url, told := range map[string]bool{"http://127.0.0.1:1": false, "http://[::1]:1": false,
		"https://term.example.com": false, "http://term.example.com": true, "http://10.0.0.5:3000": true} {
		o := evertty(t, "", "login", url)
		if o.code != exitUsage || strings.Contains(o.stderr, "unencrypted") != told {
			t.Errorf("%s: %+v", url, o)
		}
	}
}

// TestServerEndsEarly: a reply that never comes is no server.
func TestServerEndsEarly(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer s.Close()
	t.Setenv(envDataDir, t.TempDir())
	o := evertty(t, "", "ls", "--server", s.URL)
	if want := "evertty: no server: it ended before it answered"; o.code != exitNoServer ||
		!strings.HasPrefix(o.stderr, want) {
		t.Errorf("%+v", o)
	}
}

// TestNoHome: the user database says where the home is when no variable does.
func TestNoHome(t *testing.T) {
	u, err := user.Current()
	if err != nil {
		t.Skip(err)
	}
	for _, name := range []string{"HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", envDataDir} {
		t.Setenv(name, "")
	}
	a := &app{}
	if dir, err := a.dirName(); err != nil || dir != filepath.Join(u.HomeDir, ".local", "state", "evertty") {
		t.Errorf("%s, %v", dir, err)
	}
	if c, err := openContexts(); err != nil || c.dir != filepath.Join(u.HomeDir, ".config", "evertty", "contexts") {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestNoServer(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(envDataDir, dir)
	t.Setenv(envServer, "")
	if o := evertty(t, "", "ls", "--no-start"); o.code != exitNoServer ||
		!strings.Contains(o.stderr, filepath.Join(dir, "server.json")) {
		t.Errorf("%+v", o)
	}
	if o := evertty(t, "", "ls", "--server", "http://127.0.0.1:1"); o.code != exitNoServer ||
		!strings.Contains(o.stderr, "http://127.0.0.1:1") {
		t.Errorf("%+v", o)
	}
	if o := evertty(t, "", "ls", "--server", "nonsense"); o.code != exitUsage ||
		!strings.Contains(o.stderr, "unix:///path") {
		t.Errorf("%+v", o)
	}
}

// TestTokenGoesToItsServerOnly: the server of the data directory is asked by its socket, also when it is named by its
// address; no other server is sent its token, whoever has that address by now.
func TestTokenGoesToItsServerOnly(t *testing.T) {
	var tokens []string
	says := func(who string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			tokens = append(tokens, who+" "+r.Header.Get("Authorization"))
			_, _ = io.WriteString(w, `{"items":[]}`)
		})
	}
	port, other := httptest.NewServer(says("port")), httptest.NewServer(says("other"))
	defer port.Close()
	defer other.Close()
	dir := t.TempDir()
	place, _ := json.Marshal(client.Place{URL: port.URL, PID: 1, TokenFile: "token"})
	for name, text := range map[string]string{"server.json": string(place), "token": "secret\n", "other": "theirs"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, err := listenUnix(filepath.Join(dir, "server.sock"))
	if err != nil {
		t.Fatal(err)
	}
	mine := &httptest.Server{Listener: l, Config: &http.Server{Handler: says("socket")}}
	mine.Start()
	defer mine.Close()
	t.Setenv(envServer, "")
	evertty(t, "", "ls", "--data-dir", dir)
	evertty(t, "", "ls", "--data-dir", dir, "--server", port.URL+"/?ticket=x")
	evertty(t, "", "ls", "--data-dir", dir, "--server", strings.Replace(port.URL, "127.0.0.1", "localhost", 1))
	evertty(t, "", "ls", "--data-dir", dir, "--server", other.URL)
	t.Setenv(envTokenFile, filepath.Join(dir, "other"))
	evertty(t, "", "ls", "--data-dir", dir, "--server", other.URL)
	want := "socket Bearer secret|socket Bearer secret|socket Bearer secret|other |other Bearer theirs"
	if got := strings.Join(tokens, "|"); got != want {
		t.Errorf("%s", got)
	}
}

func TestFollowLogs(t *testing.T) {
	lines := `"lines":[{"text":"old","runs":[{"text":"old","cells":3}]},{"text":"$","runs":[{"text":"$",` +
		`"cells":1}]}],"scrollback":[{"text":"first"}],"cursor":{"x":2,"y":1},"cols":80`
	script := []string{
		`event: snapshot` + "\nid: 10\n" + `data: {"cols":80,"rows":2,"seq":10,"data":"x"}`,
		`event: data` + "\nid: 14\n" + `data: {"seq":14,"data":"abls"}`, // 12 bytes were on the screen already
		`event: data` + "\nid: 26\n" + `data: {"seq":26,"data":"\r\n\u001b[31mred\u001b[m"}`,
		`event: snapshot` + "\nid: 56\n" + `data: {"cols":80,"rows":2,"seq":56,"data":"y"}`,
		// Shorter than its text: bytes that are no text.
		`event: data` + "\nid: 60\n" + `data: {"seq":60,"data":"\r\nbye"}`,
	}
	exit := `event: exit` + "\nid: 60\n" + `data: {"code":0,"signal":"","reason":"exit","seq":60}`
	run := func(script []string, args ...string) outcome {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case strings.HasSuffix(r.URL.Path, "/snapshot"):
				_, _ = io.WriteString(w, `{`+lines+`,"seq":12}`)
				return
			case r.URL.Path == "/pty":
				_, _ = io.WriteString(w, `{"items":[{"id":"t1"}]}`)
				return
			case r.URL.Path == "/pty/t1":
				_, _ = io.WriteString(w, `{"id":"t1"}`)
				return
			}
			events := script
			if r.URL.RawQuery == "since=60" { // the connection ended without an exit
				resume := "event: resume\nid: 60\n" + `data: {"cols":80,"rows":2,"seq":60}`
				events = []string{resume, "event: data\nid: 63\n" + `data: {"seq":63,"data":"..."}`, exit}
			}
			for _, e := range events {
				_, _ = io.WriteString(w, e+"\n\n")
			}
		}))
		defer s.Close()
		t.Setenv(envServer, s.URL)
		t.Setenv(envDataDir, t.TempDir())
		return evertty(t, "", append([]string{"logs", "t1", "--follow"}, args...)...)
	}
	if o := run(append(script, exit)); o.code != 0 || o.stdout != "first\nold\n$ ls\nred\nbye\n" ||
		!strings.Contains(o.stderr, "30 bytes") {
		t.Errorf("%+v", o)
	}
	if o := run(append(script, exit), "--raw"); o.code != 0 || o.stdout != "xabls\r\n\x1b[31mred\x1b[m\x1bcy\r\nbye" {
		t.Errorf("%+v", o)
	}
	if o := run(append(script[:1:1], exit), "--json"); o.code != 0 ||
		o.stdout != `{"event":"snapshot","seq":10,"data":"x","cols":80,"rows":2}`+"\n"+
			`{"event":"exit","seq":60,"reason":"exit","code":0,"signal":""}`+"\n" {
		t.Errorf("%+v", o)
	}
	if o := run(script); o.code != 0 || !strings.HasSuffix(o.stdout, "red\nbye...\n") {
		t.Errorf("%+v", o)
	}
}

func TestAge(t *testing.T) {
	for d, want := range map[time.Duration]string{-time.Second: "0s", 59 * time.Second: "59s", 90 * time.Second: "1m",
		25 * time.Hour: "1d", 23 * time.Hour: "23h"} {
		if got := age(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}
