package permission

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/wire"
)

func rulesOf(t testing.TB, text string) Rules {
	t.Helper()
	if text == "" {
		text = "{}"
	}
	r, err := ParseRules([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestPrecedence is the order in which permissions decide: deny rule, ask rule, allow rule, mode
// prompt, mode allow, level, and deny.
func TestPrecedence(t *testing.T) {
	const (
		all   = `[{"tool":"exec"}]`
		other = `[{"tool":"write"}]`
	)
	for _, test := range []struct {
		mode, thread, server string
		call                 string
		want                 string
		reason               string
	}{
		// Levels.
		{"read-only", "", "", "read", Allow, "enough"},
		{"read-only", "", "", "snapshot", Allow, "enough"},
		{"read-only", "", "", "exec", Deny, "needs the mode workspace-write"},
		{"read-only", "", "", "input", Deny, "workspace-write"},
		{"read-only", "", "", "lease.destroy", Deny, "danger-full-access"},
		{"", "", "", "exec", Allow, "workspace-write"},
		{"", "", "", "mystery", Deny, "danger-full-access"},
		{"workspace-write", "", "", "exec", Allow, "enough"},
		{"workspace-write", "", "", "lease.create", Deny, "danger-full-access"},
		{"workspace-write", "", "", "mystery", Deny, "danger-full-access"},
		{"danger-full-access", "", "", "mystery", Allow, "enough"},
		{"danger-full-access", "", "", "lease.create", Allow, "enough"},
		// Modes that are no level.
		{"prompt", "", "", "exec", Ask, "mode prompt"},
		{"prompt", "", "", "read", Ask, "mode prompt"},
		{"prompt", "", "", "mystery", Ask, "mode prompt"},
		{"allow", "", "", "exec", Allow, "mode allow"},
		{"allow", "", "", "mystery", Allow, "mode allow"},
		{"nonsense", "", "", "read", Deny, "nonsense"},
		// A deny rule beats everything.
		{"allow", `{"deny":` + all + `}`, "", "exec", Deny, "deny rule"},
		{"danger-full-access", `{"deny":` + all + `}`, "", "exec", Deny, "deny rule"},
		{"prompt", `{"deny":` + all + `,"ask":` + all + `,"allow":` + all + `}`, "", "exec", Deny,
			"the thread's deny rule"},
		{"allow", `{"ask":` + all + `,"allow":` + all + `}`, `{"deny":` + all + `}`, "exec", Deny,
			"the server's deny rule"},
		{"allow", `{"deny":` + all + `}`, `{"ask":` + all + `,"allow":` + all + `}`, "exec", Deny,
			"the thread's deny rule"},
		// An ask rule beats allow rules and modes.
		{"allow", `{"ask":` + all + `}`, "", "exec", Ask, "ask rule"},
		{"danger-full-access", `{"ask":` + all + `,"allow":` + all + `}`, "", "exec", Ask, "ask rule"},
		{"read-only", `{"ask":` + all + `}`, "", "exec", Ask, "ask rule"},
		{"allow", `{"allow":` + all + `}`, `{"ask":` + all + `}`, "exec", Ask, "the server's ask rule"},
		// An allow rule beats modes and levels.
		{"read-only", `{"allow":` + all + `}`, "", "exec", Allow, "allow rule"},
		{"prompt", `{"allow":` + all + `}`, "", "exec", Allow, "allow rule"},
		{"read-only", `{"allow":[{"tool":"mystery"}]}`, "", "mystery", Allow, "allow rule"},
		{"read-only", "", `{"allow":` + all + `}`, "exec", Allow, "the server's allow rule"},
		// Rules that do not match leave it to the mode.
		{"read-only", `{"allow":` + other + `}`, "", "exec", Deny, "read-only"},
		{"workspace-write", `{"deny":` + other + `,"ask":` + other + `}`, "", "exec", Allow, "enough"},
		{"prompt", `{"deny":` + other + `}`, "", "exec", Ask, "mode prompt"},
	} {
		p := Permissions{Mode: test.mode, Rules: rulesOf(t, test.thread)}
		d, err := p.decide(rulesOf(t, test.server), Call{Tool: test.call})
		if err != nil || d.Decision != test.want || !strings.Contains(d.Reason, test.reason) ||
			(d.Rule != nil) != strings.Contains(test.reason, "rule") {
			t.Errorf("mode %q, thread %s, server %s: %s is %+v (%v), want %s because %q", test.mode, test.thread,
				test.server, test.call, d, err, test.want, test.reason)
		}
	}
}

// TestUnreadablePermissions deny everything: a rule that nobody can read may have denied what
// another allows. What cannot be read cannot be kept either.
func TestUnreadablePermissions(t *testing.T) {
	all := rulesOf(t, `{"allow":[{"tool":"exec"}],"ask":[{"tool":"read"}]}`)
	for _, p := range []Permissions{{Mode: ModeUnreadable}, {Mode: ModeUnreadable, Rules: all}} {
		for _, tool := range []string{ToolExec, ToolRead, ToolInput} {
			if d, err := p.decide(all, Call{Tool: tool}); err != nil || d.Decision != Deny {
				t.Errorf("%s with %+v: %+v (%v)", tool, p, d, err)
			}
		}
		mode := ModeReadOnly
		for _, half := range []struct {
			mode  *string
			rules *Rules
		}{{&mode, nil}, {nil, &all}, {nil, nil}} {
			if _, err := p.With(half.mode, half.rules); !errors.Is(err, ErrInvalid) {
				t.Errorf("%+v: %v", half, err)
			}
		}
		if q, err := p.With(&mode, &all); err != nil || q.Mode != mode {
			t.Errorf("%+v (%v)", q, err)
		}
	}
}

// TestBroaderTools: who denies a tool means the other ways to the same end; the other way round a
// rule is for one way only.
func TestBroaderTools(t *testing.T) {
	for narrow, broad := range broader {
		if LevelOf(narrow) < LevelOf(broad) {
			t.Errorf("%s needs less than %s, which has its rules", narrow, broad)
		}
		for _, test := range []struct{ rule, call, want string }{{broad, narrow, Deny}, {narrow, narrow, Deny},
			{narrow, broad, Allow}} {
			p := Permissions{Mode: ModeAllow, Rules: Rules{Deny: []Rule{{Tool: test.rule}}}}
			if d, err := p.decide(Rules{}, Call{Tool: test.call}); err != nil || d.Decision != test.want {
				t.Errorf("%s with a rule that denies %s is %+v (%v), want %s", test.call, test.rule, d, err, test.want)
			}
		}
		if _, known := levels[narrow]; !known || broader[broad] != "" {
			t.Errorf("%s to %s is no arrow between tools of ours, one step long", narrow, broad)
		}
	}
}

// TestRuleMatching: what a rule that denies sees, and what one that allows sees.
func TestRuleMatching(t *testing.T) {
	long := strings.Repeat("x", 500)
	for _, test := range []struct {
		rule, args  string
		deny, allow bool
	}{
		{`{"contains":"rm -rf"}`, `{"command":"rm -rf /"}`, true, true},
		{`{"contains":"rm -rf"}`, `{"command":"rm \t\n -rf /"}`, true, false},
		{`{"contains":"rm  -rf"}`, `{"command":"rm -rf /"}`, true, false},
		{`{"contains":"rm -rf"}`, `{"command":"RM -RF /"}`, false, false},
		{`{"contains":"rm -rf"}`, `{"command":"` + long + `; rm -rf /"}`, true, false},
		{`{"contains":"rm -rf"}`, `{"argv":["rm","-rf","/"]}`, true, false},
		{`{"contains":"rm -rf"}`, `{"env":{"A":"rm -rf /"}}`, true, false},
		{`{"contains":"a=1 b=2"}`, `{"b":2,"a":1}`, true, false},
		{`{"contains":"exec a=1"}`, `{"a":1}`, true, false},
		{`{"contains":"n=1e400"}`, `{"n":1e400}`, true, false},
		{`{"contains":"git status"}`, `{"command":"git status -s"}`, true, true},
		{`{"contains":"git status"}`, `{"command":"rm x; git status"}`, true, false},
		{`{"contains":"git status"}`, `{"command":"rm x","stdin":"git status"}`, true, false},
		{`{"contains":"command=git status"}`, `{"command":"git status -s"}`, true, true},
		{`{"contains":"command=git status"}`, `{"command":"rm x","stdin":"command=git status"}`, true, false},
		{`{"contains":"command=git status"}`, `{"command":"rm x","env":{"A":"command=git status"}}`, true, false},
		{`{"contains":"command=git status"}`, `{"command":"rm x # command=git status"}`, true, false},
		{`{"contains":"command="}`, `{"command":"rm x"}`, true, false},
		{`{"prefix":"git status"}`, `{"command":"git status -s"}`, true, true},
		{`{"prefix":"git status"}`, `{"command":" git\tstatus"}`, true, false},
		{`{"prefix":"git status"}`, `{"command":"git\nstatus"}`, true, false},
		{`{"prefix":"git status"}`, `{"command":"git status","env":{"GIT_PAGER":"rm x"}}`, true, false},
		{`{"prefix":"git status"}`, `{"command":"git status","env":{}}`, true, true},
		{`{"prefix":"git status"}`, `{"stdin":"git status"}`, false, false},
		{`{"contains":"KEY=a b","key":"command"}`, `{"command":"KEY=a b"}`, true, true},
		{`{"contains":"cwd=a","key":"command"}`, `{"command":"x","cwd":"a"}`, false, false},
		{`{"contains":"A=git","key":"command"}`, `{"command":"A=git x"}`, true, true},
		{`{"contains":"A=git"}`, `{"command":"A=git x"}`, true, true},
		{`{"equals":"git status"}`, `{"command":"git status"}`, true, true},
		{`{"equals":"git status"}`, `{"command":"git status; rm x"}`, false, false},
		{`{"key":"cwd","equals":"/work"}`, `{"command":"ls","cwd":"/work"}`, true, true},
		{`{"key":"cwd","equals":"/work"}`, `{"command":"ls","cwd":"/work/x"}`, false, false},
		{`{"key":"cwd","contains":"null"}`, `{"command":"ls"}`, false, false},
		{`{"key":"stdin","contains":"key"}`, `{"command":"cat","stdin":"a key"}`, true, false},
		{`{"key":"stdin","contains":"key"}`, `{"command":"a key","stdin":"x"}`, false, false},
		{`{"key":"env","contains":"A=1"}`, `{"command":"x","env":{"A":"1"}}`, true, false},
		{`{"contains":"x=\"<&>\""}`, `{"x":"\"<&>\""}`, true, true},
		{`{"tool":"exec","contains":"ls"}`, `{"command":"pwd"}`, false, false},
		{`{"tool":"write","contains":"ls"}`, `{"command":"ls"}`, false, false},
		{`{"path_contains":"/etc/"}`, `{"path":"/etc/passwd"}`, true, true},
		{`{"path_contains":"/etc/"}`, `{"file_path":"/etc/passwd"}`, true, true},
		{`{"path_contains":"/etc/"}`, `{"cwd":"/etc/x"}`, true, true},
		{`{"path_contains":"/.ssh/"}`, `{"path":"/home/u/.ssh"}`, true, false},
		{`{"path_contains":"/.ssh/"}`, `{"path":".ssh/id"}`, true, false},
		{`{"path_contains":"/.ssh/"}`, `{"path":"/home/u/x/../.ssh"}`, true, false},
		{`{"path_contains":"/.ssh/"}`, `{"path":"/home/u/x","new_path":"/home/u/.ssh"}`, true, false},
		{`{"path_contains":"/.ssh/"}`, `{"cwd":"/home/u/.ssh"}`, true, false},
		{`{"path_contains":"/.ssh/"}`, `{"path":"/home/u/.ssh2"}`, false, false},
		{`{"path_contains":"/etc/"}`, `{"directory":"/etc/x"}`, true, true},
		{`{"path_contains":"/etc/"}`, `{"path":"/tmp/../etc/passwd"}`, true, true},
		{`{"path_contains":"/work/"}`, `{"path":"/work/../etc/passwd"}`, true, false},
		{`{"path_contains":"/work/"}`, `{"path":"/work/a","new_path":"/etc/a"}`, true, false},
		{`{"path_contains":"/work/"}`, `{"path":"/etc/a","new_path":"/work/a"}`, true, false},
		{`{"path_contains":"/work/"}`, `{"path":"/work/a","new_path":"/work/b"}`, true, true},
		{`{"path_contains":"/etc/"}`, `{"command":"cat /etc/passwd"}`, false, false},
		{`{"path_contains":"/etc/"}`, `{"path":7}`, false, false},
		{`{"path_contains":"/etc/"}`, ``, false, false},
		{`{"path_contains":"/tmp","contains":"secret"}`, `{"path":"/tmp/x","content":"secret"}`, true, false},
		{`{"path_contains":"/tmp","contains":"content=secret"}`, `{"path":"/tmp/x","content":"secret"}`, true, true},
		{`{"path_contains":"/tmp","contains":"secret"}`, `{"path":"/tmp/x","content":"other"}`, false, false},
	} {
		for _, side := range []struct {
			word, otherwise, mode string
			want                  bool
		}{{Deny, Allow, ModeAllow, test.deny}, {Ask, Allow, ModeAllow, test.deny}, {Allow, Deny, ModeReadOnly,
			test.allow}} {
			p := Permissions{Mode: side.mode, Rules: rulesOf(t, fmt.Sprintf(`{%q:[%s]}`, side.word, test.rule))}
			want := side.otherwise
			if side.want {
				want = side.word
			}
			d, err := p.decide(Rules{}, Call{"exec", []byte(test.args)})
			if err != nil || d.Decision != want {
				t.Errorf("%s rule %s, arguments %.100s: %+v (%v), want %s", side.word, test.rule, test.args, d, err,
					want)
			}
		}
	}
}

// TestMovesTakeAlong: a directory that is moved takes along what a rule protects in it, from either
// end.
func TestMovesTakeAlong(t *testing.T) {
	for _, test := range []struct {
		rule, tool, from, to, want string
	}{
		{"/home/u/.ssh/", ToolRename, "/home/u", "/home/v", Deny},
		{"/home/u/.ssh/", ToolRename, "/home", "/x", Deny},
		{"/home/u/.ssh/", ToolRename, "/x", "/home/u", Deny},
		{"/home/u/.ssh/id", ToolRename, "/home/u/.ssh", "/x", Deny},
		{"/.ssh/id", ToolRename, "/home/u/.ssh", "/x", Deny},
		{"/.ssh/", ToolRename, "/home/u/.ssh/", "/x", Deny},
		{"/.ssh/", ToolRename, "/home/u", "/home/v", Allow}, // what is in it still has the part in its path
		{"/home/u/.ssh/", ToolRename, "/home/uu", "/x", Allow},
		{"/home/u/.ssh/", ToolRead, "/home/u", "", Allow},
	} {
		args := fmt.Appendf(nil, `{"path":%q,"new_path":%q}`, test.from, test.to)
		p := Permissions{Mode: ModeAllow, Rules: Rules{Deny: []Rule{{PathContains: test.rule}}}}
		if d, err := p.decide(Rules{}, Call{test.tool, args}); err != nil || d.Decision != test.want {
			t.Errorf("%+v: %+v (%v)", test, d, err)
		}
	}
}

func TestBadCalls(t *testing.T) {
	for _, args := range []string{`[]`, `"x"`, `1`, `{`, `{} {}`, `{"a":1}x`, "nul"} {
		if _, err := (Permissions{}).decide(Rules{}, Call{"exec", []byte(args)}); !errors.Is(err, ErrInvalid) {
			t.Errorf("arguments %s: %v", args, err)
		}
		if _, err := (Call{"exec", []byte(args)}).Canonical(); !errors.Is(err, ErrInvalid) {
			t.Errorf("arguments %s: %v", args, err)
		}
	}
	for _, tool := range []string{"", strings.Repeat("x", maxTool+1)} {
		if _, err := (Call{Tool: tool}).Canonical(); !errors.Is(err, ErrInvalid) {
			t.Errorf("tool %.10q: %v", tool, err)
		}
	}
}

// TestIdenticalCalls: an approval is for a call, in whatever way its JSON is written, and for no
// other.
func TestIdenticalCalls(t *testing.T) {
	key := func(tool, args string) string {
		c, err := Call{tool, []byte(args)}.Canonical()
		if err != nil {
			t.Fatal(err)
		}
		return c.Key()
	}
	one := key("exec", `{"command":"ls","n":1}`)
	for _, same := range []string{` {"n": 1, "command":"\u006cs"} `, `{"n":2,"n":1,"command":"ls"}`} {
		if key("exec", same) != one {
			t.Errorf("%s is another call", same)
		}
	}
	if key("exec", "") != key("exec", "{}") || key("exec", "null") != key("exec", "{}") {
		t.Error("no arguments are not {}")
	}
	for _, other := range []string{`{"command":"ls"}`, `{"command":"ls","n":1.0}`, `{"command":"ls","n":"1"}`,
		`{"command":"ls ","n":1}`} {
		if key("exec", other) == one {
			t.Errorf("%s is the same call", other)
		}
	}
	if key("exe", `{"command":"ls","n":1}`) == one {
		t.Error("another tool is the same call")
	}
}

func TestModes(t *testing.T) {
	for i, mode := range Modes {
		if err := CheckMode(mode); err != nil {
			t.Error(err)
		}
		if l := levelOfMode(mode); i < int(LevelDanger) && l.String() != mode || i >= int(LevelDanger) && l != 0 {
			t.Errorf("%s is level %v", mode, l)
		}
	}
	for _, mode := range []string{"", "Allow", "read_only", "full"} {
		if err := CheckMode(mode); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), ModePrompt) {
			t.Errorf("%q: %v", mode, err)
		}
	}
}

// TestCheck: the mode and the rules of a thread are for its calls, the server's also for calls of no thread, in which
// nobody can be asked; after FailClosed every call is denied.
func TestCheck(t *testing.T) {
	e := NewEnforcer(Rules{Deny: []Rule{{Tool: ToolWrite}}, Ask: []Rule{{Tool: ToolKill}}})
	e.Set(Permissions{Thread: "one", Mode: ModeReadOnly})
	check := func(thread, tool, want string) {
		t.Helper()
		if d, err := e.Check(thread, Call{Tool: tool}); err != nil || d.Decision != want {
			t.Errorf("%s in %q: %+v (%v), want %s", tool, thread, d, err, want)
		}
	}
	check("one", ToolExec, Deny)
	check("one", ToolRead, Allow)
	check("one", ToolKill, Ask)
	check("two", ToolExec, Allow)
	check("two", ToolWrite, Deny)
	check("", ToolExec, Allow)
	check("", ToolLeaseCreate, Allow)
	check("", ToolWrite, Deny)
	check("", ToolKill, Deny)
	e.FailClosed(ErrDamaged)
	check("one", ToolRead, Deny)
	check("", ToolExec, Deny)
}

// TestBegins: a call may create its thread unless its tool ends or resumes something, or is unknown.
func TestBegins(t *testing.T) {
	for tool, want := range map[string]bool{ToolExec: true, ToolPTY: true, ToolWrite: true, ToolLeaseCreate: true,
		ToolKill: false, ToolSignal: false, ToolCancel: false, ToolPause: false, ToolPolicy: false,
		ToolLeaseDestroy: false, ToolResume: false, "": false, "unknown": false} {
		if got := Begins(tool); got != want {
			t.Errorf("%q: %v", tool, got)
		}
	}
}

// TestPrompting: a person may be asked in the mode prompt, and by a rule of the thread or of the server.
func TestPrompting(t *testing.T) {
	ask := Rules{Ask: []Rule{{Tool: ToolKill}}}
	other := Rules{Allow: []Rule{{Tool: ToolKill}}, Deny: []Rule{{Tool: ToolExec}}}
	for _, tc := range []struct {
		server, own Rules
		mode        string
		want        bool
	}{{other, other, ModePrompt, true}, {ask, other, ModeReadOnly, true}, {other, ask, ModeReadOnly, true},
		{other, other, ModeReadOnly, false}, {Rules{}, Rules{}, ModeAllow, false}} {
		e := NewEnforcer(tc.server)
		p := Permissions{Thread: "one", Mode: tc.mode, Rules: tc.own}
		if got := e.Prompting(p); got != tc.want {
			t.Errorf("%+v: %v", tc, got)
		}
		got := e.Counts(p)
		if got.Allow != len(tc.server.Allow)+len(tc.own.Allow) || got.Ask != len(tc.server.Ask)+len(tc.own.Ask) ||
			got.Deny != len(tc.server.Deny)+len(tc.own.Deny) {
			t.Errorf("%+v: %+v", tc, got)
		}
	}
}

// TestApprovalInTime: an approval expires exactly at its bound, a denial stays denied, and one that was used is over.
func TestApprovalInTime(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	call, err := Call{Tool: ToolExec, Arguments: []byte(`{"command":"ls"}`)}.Canonical()
	if err != nil {
		t.Fatal(err)
	}
	pending := NewApproval("one", call, "why", now)
	for _, tc := range []struct {
		status string
		life   time.Duration
		after  string
	}{{Pending, PendingFor, Expired}, {Approved, ApprovedFor, Expired}, {Denied, ApprovedFor, Denied}} {
		a := pending
		a.Status, a.DecidedAt = tc.status, now
		for _, at := range []struct {
			when time.Time
			want string
		}{{now, tc.status}, {now.Add(tc.life - 1), tc.status}, {now.Add(tc.life), tc.after},
			{now.Add(tc.life + 1), tc.after}} {
			if got := a.At(at.when); got.Status != at.want || !got.ExpiresAt.Equal(now.Add(tc.life)) {
				t.Errorf("%s at %v: %s, %v", tc.status, at.when, got.Status, got.ExpiresAt)
			}
			if valid := a.Valid(at.when); valid != at.when.Before(now.Add(tc.life)) {
				t.Errorf("%s at %v: valid %v", tc.status, at.when, valid)
			}
		}
		d, next := a.Apply(Decision{Decision: Ask, Reason: "why"}, now)
		used := next.Status == Used
		want := map[string]string{Pending: Ask, Approved: Allow, Denied: Deny}[tc.status]
		if d.Decision != want || d.ApprovalID != a.ID || used != (tc.status == Approved) ||
			used && (next.Status != Used || !next.UsedAt.Equal(now)) || !used && next.Status != tc.status {
			t.Errorf("%s: %+v, %s, %v", tc.status, d, next.Status, used)
		}
	}
	over := pending
	over.Status = Used
	if got := over.At(now.Add(100 * PendingFor)); got.Status != Used || !got.ExpiresAt.IsZero() || over.Valid(now) {
		t.Errorf("%+v", got)
	}
}

// TestWirePermissions: clients see the thread's rules and the server's, and how many apply.
func TestWirePermissions(t *testing.T) {
	const rules = `{"allow":[{"tool":"exec"}],"ask":[{"tool":"exec"},{"tool":"resize"}],"deny":[{"tool":"input"}]}`
	e := NewEnforcer(rulesOf(t, `{"allow":[{"tool":"exec"}],"ask":[{"tool":"exec"}]}`))
	p := Permissions{Thread: "one", Mode: ModeAllow, Rules: rulesOf(t, rules)}
	if w := NewEnforcer(Rules{}).Wire(Permissions{Mode: ModeAllow}); w.Active || w.UpdatedAt != nil ||
		w.PromptingEnabled {
		t.Errorf("of a thread without any: %+v", w)
	}
	p.UpdatedAt = "2026-05-01T12:00:00Z"
	e.Set(p)
	w := e.Wire(p)
	if w.ThreadID != "one" || w.Mode != wire.PermissionMode(ModeAllow) || !w.Active || w.UpdatedAt == nil ||
		*w.UpdatedAt != p.UpdatedAt || w.RuleCounts != (wire.RuleCountsOf{Allow: 2, Ask: 3, Deny: 1}) ||
		len(w.Rules.Ask) != 2 || len(w.ServerRules.Allow) != 1 || w.ServerRules.Deny == nil {
		t.Errorf("%+v", w)
	}
}
