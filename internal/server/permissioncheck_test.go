package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/evertty/evertty/internal/conversation/store"
	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/server/exec"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/wire"
)

// checked says which tool each route with an effect asks about, and with which body. Paths are
// filled in by rig.path.
var checked = map[string]struct{ tool, body string }{
	"POST /session/:sid/pty":           {permission.ToolPTY, `{"cmd":["cat"]}`},
	"DELETE /session/:sid/pty":         {permission.ToolKill, ""},
	"DELETE TERMINAL":                  {permission.ToolKill, ""},
	"PATCH TERMINAL":                   {permission.ToolChange, `{"name":"other","cols":100}`},
	"POST TERMINAL/input":              {permission.ToolInput, `{"data":"x"}`},
	"POST TERMINAL/keys":               {permission.ToolKeys, `{"keys":["a"]}`},
	"POST TERMINAL/paste":              {permission.ToolPaste, `{"data":"x"}`},
	"POST TERMINAL/resize":             {permission.ToolResize, `{"cols":100,"rows":30}`},
	"POST TERMINAL/signal":             {permission.ToolSignal, `{"signal":"WINCH"}`},
	"POST TERMINAL/restart":            {permission.ToolRestart, `{}`},
	"POST /session/:sid/shell":         {permission.ToolShell, `{"id":"two"}`},
	"DELETE /session/:sid/shell":       {permission.ToolKill, ""},
	"DELETE /session/:sid/shell/:shid": {permission.ToolKill, ""},
	"POST SHELL/exec":                  {permission.ToolExec, `{"command":"true"}`},
	"POST SHELL/exec/stream":           {permission.ToolExec, `{"command":"true"}`},
	"POST SHELL/env":                   {permission.ToolEnv, `{"env":{"A":"1"}}`},
	"DELETE SHELL/commands/:cid":       {permission.ToolCancel, ""},
	"POST SHELL/commands/:cid/input":   {permission.ToolCommandInput, `{"data":"x"}`},
	"POST /api/session/create":         {permission.ToolShell, `{"id":"dev"}`},
	"POST /api/session/delete":         {permission.ToolKill, `{"sessionId":"dev"}`},
	"POST /api/session/:id/env":        {permission.ToolEnv, `{"envVars":{"A":"1"}}`},
	"POST /api/env/set":                {permission.ToolEnv, `{"envVars":{"A":"1"}}`},
	"POST /api/execute":                {permission.ToolExec, `{"command":"true"}`},
	"POST /api/execute/stream":         {permission.ToolExec, `{"command":"true"}`},
	"POST /api/process/start":          {permission.ToolExec, `{"command":"true"}`},
	"DELETE /api/process/kill-all":     {permission.ToolKill, ""},
	"POST /api/process/kill-all":       {permission.ToolKill, ""},
	"DELETE /api/process/:id":          {permission.ToolCancel, ""},
	"POST /api/file/read":              {permission.ToolRead, `{"path":"FILE"}`},
	"POST /api/file/exists":            {permission.ToolRead, `{"path":"FILE"}`},
	"POST /api/file/list":              {permission.ToolList, `{"path":"DIR"}`},
	"POST /api/file/write":             {permission.ToolWrite, `{"path":"FILE","content":"spoilt"}`},
	"POST /api/file/mkdir":             {permission.ToolMkdir, `{"path":"made-by-nobody"}`},
	"POST /api/file/delete":            {permission.ToolRemove, `{"path":"FILE"}`},
	"DELETE /api/file/delete":          {permission.ToolRemove, `{"path":"FILE"}`},
	"POST /api/file/rename":            {permission.ToolRename, `{"oldPath":"FILE","newPath":"FILE2"}`},
	"POST /api/file/move": {permission.ToolRename,
		`{"sourcePath":"FILE","destinationPath":"FILE2"}`},
	"DELETE /compat/terminado/:id/api/terminals/:name": {permission.ToolKill, ""},
	"DELETE /api/threads/:id":                          {permission.ToolKill, ""},
	"PATCH /api/threads/:id/policy":                    {permission.ToolPolicy, `{"max_seconds":3600}`},
	"POST /api/threads/:id/pause":                      {permission.ToolPause, ""},
	"POST /api/threads/:id/resume":                     {permission.ToolResume, ""},
	"POST /api/threads/:id/sandbox/pause":              {permission.ToolPause, ""},
	"POST /api/threads/:id/sandbox/resume":             {permission.ToolResume, ""},
	"DELETE /api/threads/:id/sandbox":                  {permission.ToolKill, ""},
	"POST /api/threads/:id/terminals/:tid/rollback":    {permission.ToolRollback, `{"version":0}`},
	"DELETE /api/leases/:id":                           {permission.ToolKill, ""},
	"POST /api/leases/:id/pause":                       {permission.ToolPause, ""},
	"POST /api/leases/:id/resume":                      {permission.ToolResume, ""},
	"POST /api/leases/:id/destroy":                     {permission.ToolKill, ""},
	"POST /api/sandbox/sessions/:id/pause":             {permission.ToolPause, ""},
	"POST /api/sandbox/sessions/:id/resume":            {permission.ToolResume, ""},
	"DELETE /api/sandbox/sessions/:id":                 {permission.ToolKill, ""},
}

// unasked are the routes with an effect that ask nobody, and why.
var unasked = map[string]string{
	"POST /api/threads": "the thread is new and has no permissions; compute at a " +
		"provider asks the server's rules (TestComputeAsksTheServer)",
	"POST /api/leases": "belongs to no thread; compute at a provider asks the server's " +
		"rules",
	"POST /api/threads/:id/touch":                   "only lengthens the session",
	"POST /api/threads/:id/terminals/:tid/activate": "changes which terminal is shown, and nothing in it",
	"POST /api/leases/:id/refresh":                  "only asks the provider",
	"POST /tickets":                                 "what a ticket opens asks itself: TestSocketsAreChecked",
	"DELETE /tickets":                               "ends what a ticket opened, and no process",
	"POST /shares":                                  "as a ticket",
	"DELETE /shares/:share":                         "ends what a share opened, and no process",
	"POST TERMINAL/park":                            "the program does not notice, and a look shows the same screen",
	"POST TERMINAL/control":                         "says which viewer types; its input asks itself",
	"POST TERMINAL/viewers/:vid/kick":               "ends a viewer, and no process",
	"POST /backup":                                  "reads; it needs full access (auth.CheckSecrets)",
	"POST /logout":                                  "ends what a login opened, and no process",
	"PUT /api/threads/:id/permissions":              "else nobody could ever change them",
	"POST /api/threads/:id/authorize":               "is the question",
	"POST /api/threads/:id/approvals/:aid":          "is the answer",
}

// isConversation reports whether a route is about a thread's conversation, which has no
// effect on its processes.
func isConversation(r httpapi.Route) bool { return r.Group == "record" }

// checkedKey is the key in the tables; routes that are served below several paths have one.
func checkedKey(r httpapi.Route) string {
	path := r.Path
	for prefix, short := range map[string]string{"/session/:sid/pty/:id": "TERMINAL", "/pty/:id": "TERMINAL"} {
		if rest, ok := strings.CutPrefix(path, prefix); ok {
			path = short + rest
		}
	}
	for _, x := range new(exec.Service).Routes() {
		if r.Method == x.Method && (r.Path == "/session/:sid"+x.Path || r.Path == "/session/:sid/shell/:shid"+x.Path) {
			path = "SHELL" + x.Path
		}
	}
	return r.Method + " " + path
}

// checkRig is a server with the thread "dev" in which something of everything runs.
type checkRig struct {
	*contract
	t        *testing.T
	terminal *terminal.Terminal
	ids      map[string]string
	dir      string
}

func newCheckRig(t *testing.T, server permission.Rules) *checkRig {
	r := &checkRig{contract: newContract(t, startWithRules(t, server)), t: t, dir: t.TempDir()}
	r.ids = map[string]string{":sid": "dev", ":shid": "one", ":aid": "none"}
	term, err := r.parts.Terminals.Create(
		"dev",
		wire.CreateTerminal{Cmd: []string{"cat"}, Cols: new(80), Rows: new(24)},
	)
	if err != nil {
		t.Fatal(err)
	}
	r.terminal = term
	r.post("/session/dev/shell", `{"id":"one"}`, 201)
	r.post("/api/session/create", `{"id":"dev"}`, 200)
	r.post("/api/file/write", fmt.Sprintf(`{"path":%q,"content":"kept"}`, r.dir+"/file"), 200)
	var ran struct {
		ID string `json:"command_id"`
	}
	decode(t, r.post("/session/dev/shell/one/exec", `{"command":"cat","stdin_open":true,"background":true}`, 202), &ran)
	r.ids[":cid"] = ran.ID
	var process wire.CompatProcess
	decode(t, r.post("/api/process/start", `{"command":"exec sleep 1000","sessionId":"dev"}`, 200), &process)
	r.ids[":pid"] = process.ID
	var terminals wire.ThreadTerminals
	decode(t, r.do(t, exchange{method: "GET", target: "/api/threads/dev/terminals", status: 200}), &terminals)
	r.ids[":tid"] = terminals.Terminals[0].TerminalID
	var lease wire.Lease
	decode(t, r.do(t, exchange{method: "GET", target: "/api/threads/dev/lease", status: 200}), &lease)
	r.ids[":lease"] = lease.LeaseID
	t.Cleanup(func() { // while a command may still be given input, the keeper stays
		if e, err := r.parts.Shells.Command("dev", ran.ID); err == nil {
			e.Cancel()
			<-e.Done()
		}
	})
	return r
}

func (r *checkRig) post(target, body string, status int) []byte {
	r.t.Helper()
	return r.do(r.t, exchange{method: "POST", target: target, body: body, status: status})
}

func (r *checkRig) permissions(body string) {
	r.t.Helper()
	for _, thread := range []string{"dev", "default"} { // which the compatible routes use
		r.do(r.t, exchange{method: "PUT", target: "/api/threads/" + thread + "/permissions", body: body, status: 200})
	}
}

// path is a route's with the ids of what there is.
func (r *checkRig) path(route string) string {
	id := "dev"
	switch {
	case strings.Contains(route, "/pty/:id"), strings.HasPrefix(route, "/compat/"):
		id = r.terminal.ID
	case strings.HasPrefix(route, "/api/process"):
		id = r.ids[":pid"]
	case strings.HasPrefix(route, "/api/leases"), strings.HasPrefix(route, "/api/sandbox"):
		id = r.ids[":lease"]
	}
	parts := strings.Split(route, "/")
	for i, p := range parts {
		if p == ":id" || p == ":name" { // JupyterLab's name of a terminal is its id
			parts[i] = id
		} else if strings.HasPrefix(p, ":") {
			parts[i] = r.ids[p]
		}
	}
	return strings.Join(parts, "/")
}

func (r *checkRig) body(text string) string {
	return strings.NewReplacer("FILE", r.dir+"/file", "DIR", r.dir).Replace(text)
}

// alive wants everything to be as it was at the beginning.
func (r *checkRig) alive() {
	r.t.Helper()
	if i := r.terminal.Wire(); i.State != terminal.StateRunning || i.Generation != 1 || i.Cols != 80 {
		r.t.Errorf("the terminal is %+v", i)
	}
	for _, id := range []string{r.ids[":cid"], r.ids[":pid"]} {
		if e, err := r.parts.Shells.Command("dev", id); err != nil || e.Info().Result != nil {
			r.t.Errorf("command %s: %v %+v", id, err, e)
		}
	}
	if list := r.parts.Shells.List("dev"); len(list) != 2 {
		r.t.Errorf("%d shells", len(list))
	}
	if content := r.post("/api/file/read", r.body(`{"path":"FILE","sessionId":"dev"}`),
		200); !strings.Contains(string(content), `"kept"`) {
		r.t.Errorf("the file is %s", content)
	}
}

// TestEveryEffectIsChecked: each route that has an effect asks the permissions of the thread, about
// the tool that its table says, and has none when these deny it. A new route fails until a table
// says what it asks, or why it need not.
func TestEveryEffectIsChecked(t *testing.T) {
	if testing.Short() {
		t.Skip("drives every route of a server")
	}
	checkLeaks(t)
	r := newCheckRig(t, permission.Rules{})
	seen := map[string]bool{}
	for _, route := range routes() {
		if !route.Effect || isConversation(route) {
			continue
		}
		key := checkedKey(route)
		row, asks := checked[key]
		if _, free := unasked[key]; asks == free {
			t.Errorf("%s %s (%s): say in checked what it asks, or in unasked why it need not", route.Method, route.Path,
				key)
			continue
		}
		seen[key] = true
		if !asks {
			continue
		}
		e := exchange{method: route.Method, target: r.path(route.Path), body: r.body(row.body), status: 403,
			code: "DENIED"}
		r.permissions(fmt.Sprintf(`{"mode":"allow","rules":{"deny":[{"tool":%q}]}}`, row.tool))
		r.do(t, e)
		r.permissions(`{"mode":"read-only","rules":{}}`)
		if permission.LevelOf(row.tool) > permission.LevelRead {
			r.do(t, e)
		}
		r.permissions(`{"mode":"prompt"}`)
		e.status, e.code = 423, "NEEDS_APPROVAL"
		r.do(t, e)
		r.permissions(`{"mode":"allow"}`)
	}
	r.alive()
	for key := range checked {
		if !seen[key] {
			t.Errorf("there is no route %s", key)
		}
	}
	for key := range unasked {
		if !seen[key] {
			t.Errorf("there is no route %s", key)
		}
	}
}

// TestReadingIsNeverChecked: in a thread in which nothing may be done everything can be seen, and
// looking is told to nobody.
func TestReadingIsNeverChecked(t *testing.T) {
	if testing.Short() {
		t.Skip("drives every route of a server")
	}
	checkLeaks(t)
	r := newCheckRig(t, permission.Rules{})
	r.permissions(`{"mode":"read-only","rules":{"deny":[{"path_contains":"/"},{"contains":"e"}]}}`)
	for _, route := range routes() {
		if route.Effect || route.Stream || route.Method != http.MethodGet || isConversation(route) ||
			strings.HasPrefix(route.Path, "/assets") || strings.HasPrefix(route.Path, "/favicon") ||
			route.Path == "/api/leases/:id/metrics" || route.Path == "/t/:secret" {
			continue
		}
		status := 200
		switch route.Path {
		case "/ws":
			status = 426
		case "/share", "/api/threads/:id/approvals/:aid": // not let in by one; nobody is asked
			status = 404
		}
		r.do(t, exchange{method: "GET", target: r.path(route.Path), status: status})
	}
	r.do(t, exchange{method: "POST", target: "/pty/" + r.terminal.ID + "/wait", body: `{"for":"idle","idle_ms":1}`,
		status: 200})
	list, err := r.parts.Threads.ListEvents("dev", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if e.Type == store.PermissionDecided {
			t.Errorf("looking was told as %+v", e)
		}
	}
}

// TestComputeAsksTheServer: what belongs to no thread is held by the rules of the server.
func TestComputeAsksTheServer(t *testing.T) {
	checkLeaks(t)
	c := newContract(t, startWithRules(t,
		permission.Rules{Deny: []permission.Rule{{Tool: permission.ToolLeaseCreate}}}))
	c.do(t, exchange{method: "POST", target: "/api/threads", body: `{"id":"far","sandbox":"e2b"}`, status: 403,
		code: "DENIED"})
	c.do(t, exchange{method: "POST", target: "/api/leases", body: `{"provider_name":"e2b"}`, status: 403,
		code: "DENIED"})
	c.do(t, exchange{method: "POST", target: "/api/threads", body: `{"id":"near"}`, status: 201})
}

// TestADeniedUseMakesNothing: neither a shell nor, where there are no rules of the server, anything
// else.
func TestADeniedUseMakesNothing(t *testing.T) {
	checkLeaks(t)
	c := newContract(t, startWithRules(t,
		permission.Rules{Deny: []permission.Rule{{Tool: permission.ToolExec}, {Tool: permission.ToolWrite}}}))
	for _, e := range []exchange{
		{target: "/session/new/exec", body: `{"command":"true"}`},
		{target: "/session/new/exec", body: `{"argv":["true"],"isolated":true}`},
		{target: "/session/new/exec", body: `{"command":"true","tty":true}`},
		{target: "/session/new/env", body: `{"env":{"A":"1"}}`},
		{target: "/session/new/shell", body: `{}`},
		{target: "/session/new/pty", body: `{}`},
		{target: "/api/execute", body: `{"command":"true","sessionId":"new"}`},
		{target: "/api/file/write", body: `{"path":"relative","content":"x","sessionId":"new"}`},
	} {
		e.method, e.status, e.code = "POST", 403, "DENIED"
		c.do(t, e)
	}
	if shells, terminals := c.parts.Shells.List(""), c.parts.Terminals.List(""); len(shells) != 0 ||
		len(terminals) != 0 {
		t.Errorf("%d shells and %d terminals came into being", len(shells), len(terminals))
	}
	if list, err := c.parts.Threads.ListEvents("new", 0, 0); !errors.Is(err, thread.ErrNotFound) {
		t.Errorf("the thread came into being: %+v, %v", list, err)
	}
}

// TestApprovalsHaveTheWholeAction: what makes a difference to what a request does is in its
// approval, and what does not is not.
func TestApprovalsHaveTheWholeAction(t *testing.T) {
	checkLeaks(t)
	c := newContract(t, startWithRules(t, permission.Rules{Ask: []permission.Rule{{Tool: permission.ToolExec}}}))
	ask := func(target, body string) string {
		t.Helper()
		var refused wire.Error
		decode(t, c.do(t, exchange{method: "POST", target: target, body: body, status: 423, code: "NEEDS_APPROVAL"}),
			&refused)
		if refused.ApprovalID == "" || refused.Details.ApprovalID != refused.ApprovalID {
			t.Errorf("%s is refused with %+v", body, refused)
		}
		return refused.ApprovalID
	}
	const exec = "/session/dev/exec"
	one := ask(exec, `{"command":"cat"}`)
	for _, same := range [][2]string{{exec, `{"command":"cat","timeout_ms":5}`}, {exec, `{"argv":["cat"]}`},
		{exec + "/stream", `{"command":"cat"}`},
		{"/api/execute", `{"command":"cat","sessionId":"dev"}`}, {exec, `{"command":"cat","stdin":""}`}} {
		if id := ask(same[0], same[1]); id != one {
			t.Errorf("%s %s is another action", same[0], same[1])
		}
	}
	ids := map[string]string{one: ""}
	for _, other := range []string{`{"command":"cat","stdin":"rm"}`, `{"command":"cat","stdin_b64":"/w=="}`,
		`{"command":"cat","stdin_b64":"/g=="}`, `{"command":"cat","env":{"A":"1"}}`, `{"command":"cat","cwd":"/"}`,
		`{"command":"cat","isolated":true}`, `{"command":"cat","tty":true}`, `{"command":"cat","login":true}`,
		`{"command":"cat","background":true}`, `{"command":"cat","stdin_open":true}`} {
		id := ask(exec, other)
		if before, taken := ids[id]; taken {
			t.Errorf("%s is the same action as %s", other, before)
		}
		ids[id] = other
	}
	var d permission.Decision
	decode(t, c.do(t, exchange{method: "POST", target: "/api/threads/dev/authorize",
		body: `{"tool":"exec","arguments":{"command":"cat"}}`, status: 200}), &d)
	if d.Decision != permission.Ask || d.ApprovalID != one {
		t.Errorf("authorize says %+v, the exec asked for %s", d, one)
	}
}

// visitPermissions visits every route of permissions, its refusals too.
func (c *contract) visitPermissions(t *testing.T) {
	const base = "/api/threads/careful"
	for _, e := range []exchange{
		{method: "GET", target: base + "/permissions", status: 404, code: "NOT_FOUND"},
		{method: "GET", target: base + "/approvals", status: 404, code: "NOT_FOUND"},
		{method: "POST", target: base + "/approvals/x", body: `{"decision":"deny"}`, status: 404, code: "NOT_FOUND"},
		{method: "PUT", target: base + "/permissions", body: `{}`, status: 400, code: "VALIDATION"},
		{method: "PUT", target: base + "/permissions", body: `{"mode":"full"}`, status: 400, code: "VALIDATION"},
		{method: "PUT", target: base + "/permissions", body: `{"rules":{"deny":[{}]}}`, status: 400,
			code: "VALIDATION"},
		{method: "PUT", target: base + "/permissions", body: `{"rules":{"deny":[{"regex":"x"}]}}`, status: 400,
			code: "VALIDATION"},
		{method: "PUT", target: base + "/permissions", body: `{"rules":[]}`, status: 400, code: "VALIDATION"},
		{method: "PUT", target: base + "/permissions", body: `{"mode":"allow","rules":{"denied":[]}}`, status: 400,
			code: "VALIDATION"},
		// a request that is wrong makes no thread
		{method: "GET", target: base + "/permissions", status: 404, code: "NOT_FOUND"},
		{method: "PUT", target: base + "/permissions", body: `{"mode":"prompt","rules":{"allow":[{"tool":"exec",` +
			`"contains":"ls"}],"deny":[{"path_contains":"/etc"}],"ask":[{"contains":"push"}]}}`, status: 200},
		{method: "GET", target: base + "/permissions", status: 200},
		{method: "POST", target: base + "/authorize", body: `{"tool":"read","arguments":{"path":"/etc/passwd"}}`,
			status: 200},
		{method: "POST", target: base + "/authorize", body: `{"tool":"exec","arguments":{"command":"ls"}}`,
			status: 200},
		{method: "POST", target: base + "/authorize", body: `{"tool":"exec"}`, status: 200},
		{method: "POST", target: base + "/authorize", body: `{"arguments":{}}`, status: 400, code: "VALIDATION"},
		{method: "POST", target: base + "/authorize", body: `{"tool":"x","arguments":[]}`, status: 400,
			code: "VALIDATION"},
		{method: "GET", target: base + "/approvals", status: 200},
		{method: "GET", target: base + "/approvals?status=used&limit=1", status: 200},
		{method: "GET", target: base + "/approvals?limit=0", status: 400, code: "VALIDATION"},
	} {
		c.do(t, e)
	}
	var d permission.Decision
	decode(t, c.do(t, exchange{method: "POST", target: base + "/authorize",
		body: `{"tool":"exec","arguments":{"command":"ls; git push"}}`, status: 200}), &d)
	if d.Decision != permission.Ask || d.Rule == nil || d.Rule.Contains != "push" {
		t.Errorf("%+v", d)
	}
	answer := base + "/approvals/" + d.ApprovalID
	c.do(t, exchange{method: "GET", target: answer, status: 200})
	c.do(t, exchange{method: "GET", target: answer + "?reveal=1", status: 200})
	c.do(t, exchange{method: "GET", target: answer + "?reveal=maybe", status: 400, code: "VALIDATION"})
	c.do(t, exchange{method: "GET", target: base + "/approvals/none?reveal=1", status: 404, code: "NOT_FOUND"})
	c.do(t, exchange{method: "POST", target: answer, body: `{"decision":"maybe"}`, status: 400, code: "VALIDATION"})
	c.do(t, exchange{method: "POST", target: answer, body: `{"decision":"approve"}`, status: 200})
	c.do(t, exchange{method: "POST", target: answer, body: `{"decision":"approve"}`, status: 409, code: "DECIDED"})
	c.do(t, exchange{method: "GET", target: base + "/approvals?status=approved", status: 200})
	c.do(t, exchange{method: "GET", target: base + "/events?format=json", status: 200})
	c.do(t, exchange{method: "POST", target: "/session/careful/exec", body: `{"command":"ls; git push"}`, status: 200})
	c.do(t, exchange{method: "POST", target: "/session/careful/exec", body: `{"command":"ls; git push"}`, status: 423,
		code: "NEEDS_APPROVAL"})
	var p wire.Permissions
	decode(t, c.do(t, exchange{method: "PUT", target: base + "/permissions", body: `{"mode":"read-only"}`,
		status: 200}), &p)
	if string(p.Mode) != permission.ModeReadOnly || !p.Active || !p.PromptingEnabled || p.RuleCounts.Ask != 1 ||
		len(p.Rules.Deny) != 1 || p.UpdatedAt == nil {
		t.Errorf("what was not given of permissions has changed: %+v", p)
	}
	decode(t, c.do(t, exchange{method: "PUT", target: base + "/permissions",
		body: `{"mode":"workspace-write","rules":{}}`, status: 200}), &p)
	if p.Active || p.PromptingEnabled || len(p.Rules.Ask) != 0 {
		t.Errorf("%+v", p)
	}
}

// TestABlindServerDenies: permissions that are kept and cannot be understood allow nothing.
func TestABlindServerDenies(t *testing.T) {
	g := permission.NewEnforcer(permission.Rules{Allow: []permission.Rule{{Tool: permission.ToolExec}}})
	g.FailClosed(context.Canceled)
	d, err := g.Check("any", permission.Call{Tool: permission.ToolExec, Arguments: json.RawMessage(`{}`)})
	if err != nil || d.Decision != permission.Deny || !g.Applies("any") {
		t.Errorf("%+v (%v)", d, err)
	}
}
