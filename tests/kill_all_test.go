package tests

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

// TestKillAllEndsWhatPermissionsAskAbout: --all is the owner's own will. What they deny
// stays, and is named.
func TestKillAllEndsWhatPermissionsAskAbout(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token"})
	for _, session := range []string{"free", "asks", "denies"} {
		_, err := s.Create(s.ctx(), session, wire.CreateTerminal{Cmd: []string{"cat"}, Name: "cat-" + session})
		s.must(err)
		_, err = s.Exec(s.ctx(), session, "", client.ExecRequest{Command: "true"})
		s.must(err)
	}
	s.says("thread", "permissions", "asks", "--mode", "prompt")
	s.says("thread", "permissions", "denies", "--mode", "read-only")
	e := run(t, s.cli("kill", "--all"))
	if e.code != 1 || !strings.Contains(e.stderr, "terminal cat-denies of session denies") ||
		!strings.Contains(e.stderr, "exec shells of session denies") ||
		strings.Contains(e.stderr, "asks") || strings.Count(e.stderr, "\n") != 1 {
		t.Errorf("%+v", e)
	}
	list, err := s.List(s.ctx(), "")
	s.must(err)
	shells, err := s.Shells(s.ctx(), "")
	s.must(err)
	if len(list) != 1 || list[0].Session != "denies" || len(shells) != 1 || shells[0].Session != "denies" {
		t.Errorf("left are %v and %v", list, shells)
	}
	s.says("thread", "permissions", "denies", "--mode", "allow")
	s.says("kill", "--all")
	if list, err := s.List(s.ctx(), ""); err != nil || len(list) != 0 {
		t.Errorf("left are %v, %v", list, err)
	}
}

// TestThreadVerbs: a thread's life from the command line, and that a wrong name makes
// nothing.
func TestThreadVerbs(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token"})
	if out := s.says("thread", "new", "work", "--idle", "2h"); out != "work\n" {
		t.Errorf("new prints %q", out)
	}
	run(t, s.cli("thread", "new", "work")).refuses(t, 1, "exists already")
	run(t, s.cli("thread", "new", "no/slash")).refuses(t, 2, "no/slash")
	run(t, s.cli("new", "-d", "-s", "no/slash", "--", "cat")).refuses(t, 2, `session "no/slash"`)
	for _, args := range []string{"thread resume TYPO", "thread pause TYPO", "thread rm TYPO",
		"thread policy TYPO --idle 1h", "thread permissions TYPO --mode prompt",
		"thread approvals TYPO", "thread approve TYPO x", "thread steer TYPO x", "thread show a/b"} {
		run(t, s.cli(strings.Fields(args)...)).refuses(t, 4, "not found")
	}
	if threads, err := s.Threads(s.ctx()); err != nil || len(threads) != 1 {
		t.Errorf("there are %v, %v", threads, err)
	}
	if out := s.says("thread", "policy", "work", "--max", "3h", "--budget-commands", "9"); !strings.Contains(out,
		"2h0m0s") || !strings.Contains(out, "3h0m0s") || !strings.Contains(out, "9\n") {
		t.Errorf("policy is\n%s", out)
	}
	s.says("thread", "permissions", "work", "--mode", "prompt")
	run(t, s.cli("exec", "-s", "work", "--", "echo", "hi")).refuses(t, 1, "evertty thread approve SESSION apr_")
	var waiting []client.Approval
	s.must(json.Unmarshal([]byte(s.says("thread", "approvals", "work", "--json")), &waiting))
	if len(waiting) != 1 {
		t.Fatalf("%v wait", waiting)
	}
	run(t, s.cli("thread", "approve", "work", waiting[0].ID)).refuses(t, 2, "--yes")
	if out := s.says("thread", "approve", "--yes", "work", waiting[0].ID); !strings.Contains(out,
		"command: echo hi\n") {
		t.Errorf("approve prints %q", out)
	}
	if out := s.says("exec", "-s", "work", "--", "echo", "hi"); out != "hi\n" {
		t.Errorf("once approved it prints %q", out)
	}
	run(t, s.cli("thread", "deny", "work", waiting[0].ID)).refuses(t, 1, "decided already")
	s.says("thread", "permissions", "work", "--mode", "allow", "--no-rules")
	s.says("thread", "steer", "work", "look at the tests")
	if out := s.says("thread", "steer", "work", "--drain"); out != "look at the tests\n" {
		t.Errorf("drained was %q", out)
	}
	if out := s.says("thread", "pause", "work"); out != "paused\n" {
		t.Errorf("pause prints %q", out)
	}
	s.says("thread", "resume", "work")
	s.says("thread", "rm", "work")
	run(t, s.cli("thread", "show", "work")).refuses(t, 4, "not found")
}
