package store_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/conversation/store"
	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/internal/thread/sqlite"
)

// permissionRig is Conversations with the thread "one", on a real database and a clock that stands
// still.
type permissionRig struct {
	*store.Conversations
	t     *testing.T
	store *sqlite.Store
	path  string
	clock atomic.Pointer[time.Time]
}

func newPermissionRig(t *testing.T, server string) *permissionRig {
	t.Helper()
	g := &permissionRig{t: t, path: filepath.Join(t.TempDir(), "db")}
	now := time.Date(2026, 4, 7, 12, 0, 0, 0, time.UTC)
	g.clock.Store(&now)
	g.open(server)
	err := g.store.Update(func(tx *sqlite.Tx) error {
		at := g.now()
		tx.PutThread(thread.Thread{ID: "one", Provider: thread.Local, CreatedAt: at, UpdatedAt: at})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.store.Close() })
	return g
}

// open begins with what the database has.
func (g *permissionRig) open(server string) {
	g.t.Helper()
	rules, err := permission.ParseRules([]byte(server))
	if err == nil {
		g.store, err = sqlite.Open(g.path)
	}
	if err != nil {
		g.t.Fatal(err)
	}
	g.Conversations = store.New(store.Config{Store: g.store.Conversations(), Clock: g.now,
		Enforcer: permission.NewEnforcer(rules), Notify: func(string) {}, Failed: func(error) {}})
	if err := g.LoadPermissions(); err != nil {
		g.t.Fatal(err)
	}
}

// again is another server on the same database.
func (g *permissionRig) again(server string) {
	g.t.Helper()
	if err := g.store.Close(); err != nil {
		g.t.Fatal(err)
	}
	g.open(server)
}

func (g *permissionRig) now() time.Time { return *g.clock.Load() }

func (g *permissionRig) pass(d time.Duration) {
	now := g.now().Add(d)
	g.clock.Store(&now)
}

// set changes the permissions; "" keeps.
func (g *permissionRig) set(mode, rules string) permission.Permissions {
	g.t.Helper()
	var m *string
	if mode != "" {
		m = &mode
	}
	var r *permission.Rules
	if rules != "" {
		parsed, err := permission.ParseRules([]byte(rules))
		if err != nil {
			g.t.Fatal(err)
		}
		r = &parsed
	}
	p, err := g.SetPermissions("one", m, r)
	if err != nil {
		g.t.Fatal(err)
	}
	return p
}

func call(tool, command string) permission.Call {
	b, _ := json.Marshal(map[string]string{"command": command})
	return permission.Call{Tool: tool, Arguments: b}
}

// events are the types of the thread's events with what they say of decisions.
func (g *permissionRig) events() (list []string) {
	g.t.Helper()
	err := g.store.View(func(tx *sqlite.Tx) error {
		events, err := tx.Events("one", 0, 1000)
		for _, e := range events {
			if strings.HasPrefix(e.Type, "permission.") || strings.HasPrefix(e.Type, "approval.") {
				list = append(list, strings.TrimSpace(strings.Join([]string{e.Type, e.Data.To, e.Data.Source,
					e.Data.Command}, " ")))
			}
		}
		return err
	})
	if err != nil {
		g.t.Fatal(err)
	}
	return list
}

// asks wants the call to need an approval, and returns its id.
func (g *permissionRig) asks(c permission.Call) string {
	g.t.Helper()
	var need *permission.NeedsApproval
	if _, err := g.Check("one", c); !errors.As(err, &need) || !errors.Is(err, permission.ErrNeedsApproval) ||
		need.ID == "" {
		g.t.Fatalf("%s %s: %v", c.Tool, c.Arguments, err)
	}
	return need.ID
}

func (g *permissionRig) answer(id, word, status string) {
	g.t.Helper()
	if a, err := g.Answer("one", id, word); err != nil || a.Status != status {
		g.t.Fatalf("%+v (%v), want %s", a, err, status)
	}
}

// TestWithoutPermissions: where nobody has set anything nothing is decided, and nothing is
// told.
func TestWithoutPermissions(t *testing.T) {
	g := newPermissionRig(t, "{}")
	for _, c := range []permission.Call{call("exec", "rm -rf /"), call("mystery", ""), {Tool: ""}} {
		if _, err := g.Check("one", c); err != nil {
			t.Error(err)
		}
	}
	if list := g.events(); len(list) != 0 || g.Enforcer().Applies("one") {
		t.Errorf("the events are %q", list)
	}
	g.set(permission.ModeReadOnly, "")
	g.set(permission.DefaultMode, "")
	if g.Enforcer().Applies("one") {
		t.Error("the default mode without rules applies")
	}
	if p, err := g.Permissions.Of("one"); err != nil || p.Mode != permission.DefaultMode || p.Rules.Deny == nil {
		t.Errorf("%+v (%v)", p, err)
	}
}

// TestEveryDecisionIsTold: with the tool and the command, in the order in which they were made.
func TestEveryDecisionIsTold(t *testing.T) {
	g := newPermissionRig(t, "{}")
	g.set("", `{"deny":[{"contains":"rm -rf"}],"ask":[{"contains":"push"}]}`)
	if _, err := g.Check("one", call("exec", "rm  -rf /")); !errors.Is(err, permission.ErrDenied) ||
		!strings.Contains(err.Error(), "rm -rf") {
		t.Error(err)
	}
	if _, err := g.Check("one", call("exec", "ls")); err != nil {
		t.Error(err)
	}
	id := g.asks(call("exec", "git push"))
	g.answer(id, permission.AnswerApprove, permission.Approved)
	if _, err := g.Check("one", call("exec", "git push")); err != nil {
		t.Error(err)
	}
	typed, _ := json.Marshal(map[string]string{"terminal": "t1", "data": "a password"})
	if _, err := g.Check("one", permission.Call{Tool: "input", Arguments: typed}); err != nil {
		t.Error(err)
	}
	want := []string{"permission.changed workspace-write", "permission.decided deny exec rm  -rf /",
		"permission.decided allow exec ls", "permission.decided ask exec git push",
		"approval.decided approved exec", "permission.decided allow exec git push", "permission.decided allow input"}
	for i, e := range want {
		if got := g.events(); len(got) != len(want) || !strings.HasPrefix(got[i], e) {
			t.Fatalf("the events are %q, want %q", got, want)
		}
	}
}

// TestApprovalIsForOnce: the identical call once, within its time, also after a restart; who calls
// again has to ask again.
func TestApprovalIsForOnce(t *testing.T) {
	g := newPermissionRig(t, "{}")
	g.set(permission.ModePrompt, "")
	c := call("exec", "make")
	id := g.asks(c)
	if again := g.asks(permission.Call{Tool: "exec", Arguments: []byte(` {"command" : "make"}`)}); again != id {
		t.Errorf("the same question is asked as %s and %s", id, again)
	}
	if other := g.asks(call("exec", "make all")); other == id {
		t.Error("another call has the same approval")
	}
	g.answer(id, permission.AnswerApprove, permission.Approved)
	g.again("{}")
	if _, err := g.Check("one", call("exec", "make ")); !errors.Is(err, permission.ErrNeedsApproval) {
		t.Errorf("a call that is not identical: %v", err)
	}
	var passed, asked atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			switch _, err := g.Check("one", c); {
			case err == nil:
				passed.Add(1)
			case errors.Is(err, permission.ErrNeedsApproval):
				asked.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	if passed.Load() != 1 || asked.Load() != 7 {
		t.Errorf("%d calls were let through and %d have to ask", passed.Load(), asked.Load())
	}
	if next := g.asks(c); next == id {
		t.Error("a used approval is asked for again")
	}
	if _, err := g.Answer("one", id, permission.AnswerApprove); !errors.Is(err, conversation.ErrDecided) {
		t.Errorf("a used approval can be approved again: %v", err)
	}
}

func TestApprovalsExpire(t *testing.T) {
	g := newPermissionRig(t, "{}")
	g.set("", `{"ask":[{"tool":"exec"}]}`)
	c := call("exec", "make")
	id := g.asks(c)
	g.answer(id, permission.AnswerApprove, permission.Approved)
	g.pass(permission.ApprovedFor)
	second := g.asks(c)
	if second == id {
		t.Error("an approval holds for longer than its time")
	}
	g.pass(permission.PendingFor)
	if _, err := g.Answer("one", second, permission.AnswerApprove); !errors.Is(err, conversation.ErrDecided) {
		t.Errorf("a question of yesterday can be answered: %v", err)
	}
	third := g.asks(c)
	g.answer(third, permission.AnswerDeny, permission.Denied)
	if _, err := g.Check("one", c); !errors.Is(err, permission.ErrDenied) {
		t.Errorf("denied, and %v", err)
	}
	g.pass(permission.ApprovedFor)
	fourth := g.asks(c)
	list, err := g.Approvals("one", 0)
	var status []string
	for _, a := range list {
		status = append(status, a.ID+" "+a.Status)
	}
	want := []string{fourth + " pending", third + " denied", second + " expired", id + " expired"}
	if err != nil || !slices.Equal(status, want) {
		t.Errorf("%q (%v), want %q", status, err, want)
	}
}

// TestRulesComeBeforeApprovals: what is denied after it was approved stays denied.
func TestRulesComeBeforeApprovals(t *testing.T) {
	g := newPermissionRig(t, "{}")
	g.set(permission.ModePrompt, "")
	c := call("exec", "make")
	g.answer(g.asks(c), permission.AnswerApprove, permission.Approved)
	g.set("", `{"deny":[{"contains":"make"}]}`)
	if _, err := g.Check("one", c); !errors.Is(err, permission.ErrDenied) {
		t.Error(err)
	}
}

func TestAnswersAreChecked(t *testing.T) {
	g := newPermissionRig(t, "{}")
	g.set(permission.ModePrompt, "")
	id := g.asks(call("exec", "x"))
	for _, test := range []struct {
		thread, id, word string
		want             error
	}{{"one", id, "maybe", conversation.ErrInvalid}, {"one", id, "", conversation.ErrInvalid}, {"one", "apr_none",
		"approve", conversation.ErrNotFound}, {"two", id, "approve", conversation.ErrNotFound}} {
		if _, err := g.Answer(test.thread, test.id, test.word); !errors.Is(err, test.want) {
			t.Errorf("%+v: %v", test, err)
		}
	}
	g.answer(id, "deny", permission.Denied)
	if _, err := g.Answer("one", id, "approve"); !errors.Is(err, conversation.ErrDecided) {
		t.Error(err)
	}
}

func TestApprovalsAreBounded(t *testing.T) {
	g := newPermissionRig(t, "{}")
	g.set(permission.ModePrompt, "")
	var err error
	pending := 0
	for ; err == nil || errors.Is(err, permission.ErrNeedsApproval); pending++ {
		if _, err = g.Check("one", call("exec", fmt.Sprint(pending))); pending > 1000 {
			t.Fatal("there is no end")
		}
	}
	if !errors.Is(err, conversation.ErrTooMany) {
		t.Error(err)
	}
	if _, err := g.Check("one", call("exec", "0")); !errors.Is(err, permission.ErrNeedsApproval) {
		t.Errorf("a question that waits already: %v", err)
	}
	g.pass(permission.PendingFor)
	g.asks(call("exec", "more"))
	if _, err := g.Check("one", call("exec", strings.Repeat("x", 1<<20))); !errors.Is(err, conversation.ErrTooLarge) {
		t.Error(err)
	}
	for i := range 400 {
		g.answer(g.asks(call("exec", fmt.Sprint("n", i))), "deny", permission.Denied)
	}
	if list, err := g.Approvals("one", 0); err != nil || len(list) > 300 {
		t.Errorf("%d approvals are kept (%v)", len(list), err)
	}
}

// TestPermissionsLast: over a restart, and in the conversation, which tells them.
func TestPermissionsLast(t *testing.T) {
	g := newPermissionRig(t, "{}")
	g.set(permission.ModeReadOnly,
		`{"allow":[{"tool":"read"},{"tool":"list"}],"deny":[{"contains":"x"}],"ask":[{"tool":"exec"}]}`)
	p := g.set(permission.ModeAllow, "")
	if len(p.Rules.Deny) != 1 {
		t.Errorf("another mode has changed the rules: %+v", p)
	}
	g.again(`{"deny":[{"contains":"server"}]}`)
	if q, err := g.Permissions.Of("one"); err != nil || q.Mode != permission.ModeAllow ||
		fmt.Sprint(q.Rules) != fmt.Sprint(p.Rules) || q.UpdatedAt == "" {
		t.Errorf("%+v was %+v (%v)", q, p, err)
	}
	d, err := g.Document("one", "", -1)
	if err != nil || d.PermissionMode != permission.ModeAllow || !d.PermissionPromptingEnabled ||
		fmt.Sprint(d.PermissionRuleCounts) != "{2 1 1}" {
		t.Errorf("%+v (%v)", d.State, err)
	}
	if _, err := g.SetPermissions("one", new(string), nil); !errors.Is(err, conversation.ErrInvalid) {
		t.Error(err)
	}
	if _, err := g.SetPermissions("two", nil, &permission.Rules{}); !errors.Is(err, conversation.ErrNotFound) {
		t.Error(err)
	}
	if _, err := g.Permissions.Of("two"); !errors.Is(err, conversation.ErrNotFound) {
		t.Error(err)
	}
}

// TestServerRules are for every thread, and for what belongs to none.
func TestServerRules(t *testing.T) {
	g := newPermissionRig(t, `{"deny":[{"contains":"rm -rf"}],"ask":[{"tool":"lease.create"}]}`)
	if _, err := g.Check("one", call("exec", "rm -rf /")); !errors.Is(err, permission.ErrDenied) {
		t.Error(err)
	}
	if _, err := g.Check("one", call("exec", "ls")); err != nil {
		t.Error(err)
	}
	if _, err := g.Check("", call("lease.destroy", "x")); err != nil {
		t.Error(err)
	}
	if _, err := g.Check("", call("lease.create", "x")); !errors.Is(err, permission.ErrDenied) ||
		!strings.Contains(err.Error(), "no thread") {
		t.Error(err)
	}
	g.set(permission.ModeAllow, `{"allow":[{"tool":"exec"}]}`)
	if _, err := g.Check("one", call("exec", "rm -rf /")); !errors.Is(err, permission.ErrDenied) {
		t.Error(err)
	}
}

// TestAuthorize decides also where nothing is set, and uses approvals up.
func TestAuthorize(t *testing.T) {
	g := newPermissionRig(t, "{}")
	if d, err := g.Authorize("one", call("exec", "ls")); err != nil || d.Decision != permission.Allow || d.Rule != nil {
		t.Errorf("%+v (%v)", d, err)
	}
	if d, err := g.Authorize("one", call("mystery", "ls")); err != nil || d.Decision != permission.Deny {
		t.Errorf("%+v (%v)", d, err)
	}
	g.set("", `{"ask":[{"tool":"mystery"}]}`)
	d, err := g.Authorize("one", call("mystery", "ls"))
	if err != nil || d.Decision != permission.Ask || d.ApprovalID == "" || d.Rule == nil || d.Rule.Tool != "mystery" {
		t.Errorf("%+v (%v)", d, err)
	}
	g.answer(d.ApprovalID, "approve", permission.Approved)
	if d, err = g.Authorize("one", call("mystery", "ls")); err != nil || d.Decision != permission.Allow {
		t.Errorf("%+v (%v)", d, err)
	}
	if d, err = g.Authorize("one", call("mystery", "ls")); err != nil || d.Decision != permission.Ask {
		t.Errorf("%+v (%v)", d, err)
	}
	if _, err := g.Authorize("one", permission.Call{}); !errors.Is(err, conversation.ErrInvalid) {
		t.Error(err)
	}
	if _, err := g.Authorize("two", call("exec", "ls")); !errors.Is(err, conversation.ErrNotFound) {
		t.Error(err)
	}
	want := []string{"permission.decided allow exec ls", "permission.decided deny mystery ls"}
	if list := g.events(); !slices.Equal(list[:2], want) {
		t.Errorf("%q", list)
	}
}
