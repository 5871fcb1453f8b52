package tests

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

// The tests of this file and of thread_life_test.go are the rows F-063 to F-101 of the features, by number.

// TestF063FirstUseMakesAllLayers (R-023 test_get_sandbox_creates_all_layers): whatever is used first.
func TestF063FirstUseMakesAllLayers(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	for name, use := range map[string]func(session string){
		"exec": func(session string) { s.in(session).run("true").is(0, "") },
		"pty": func(session string) {
			_, err := s.Create(s.ctx(), session,
				wire.CreateTerminal{Cmd: []string{"cat"}, Cols: new(80), Rows: new(24)})
			s.must(err)
		},
		"shell":  func(session string) { s.newShell(session, body{}) },
		"thread": func(session string) { s.post("/api/threads", `{"id":"`+session+`"}`).wants(201) },
		"compat": func(session string) {
			s.book.add(session)
			s.post("/api/session/create", `{"id":"`+session+`"}`).wants(200)
		},
	} {
		o := s.thread(name)
		use(name)
		l, th := o.layers(), o.record()
		if th.ThreadID != name || th.Sandbox.SessionID != l[0] || th.Sandbox.TerminalID != l[1] || th.LeaseID != l[2] ||
			slices.Contains(l[:], "") {
			t.Errorf("%s: the layers are %v, the thread %+v", name, l, th)
		}
		for _, kind := range []string{"thread.created", "lease.created", "terminal.created", "session.created"} {
			if n := o.times(kind); n != 1 {
				t.Errorf("%s: %d times %s", name, n, kind)
			}
		}
	}
}

// TestF064Reuse (R-024 test_get_sandbox_reuses_existing_session).
func TestF064Reuse(t *testing.T) {
	t.Parallel()
	o := start(t, launch{}).thread("one")
	o.run("true")
	before := o.layers()
	o.run("true")
	if after := o.layers(); after != before {
		t.Errorf("the layers were %v and are %v", before, after)
	}
}

// hasKeys checks that a reply has the keys of the contract, that those that are times are in UTC, and returns the
// object.
func (r reply) hasKeys(keys ...string) map[string]json.RawMessage {
	r.t.Helper()
	var object map[string]json.RawMessage
	r.wants(200).into(&object)
	for _, k := range keys {
		v, ok := object[k]
		if !ok {
			r.t.Errorf("%s has no %q: %s", r.request.path, k, r.body)
		}
		if len(k) > 3 && k[len(k)-3:] == "_at" && !utc.Match(v) {
			r.t.Errorf("%s: %s is %s", r.request.path, k, v)
		}
	}
	return object
}

// TestF065SessionJSON (R-164, R-106 test_simulate_session_status_endpoints).
func TestF065SessionJSON(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	for id, policy := range map[string]string{"idle": `{"idle_seconds":300,"max_seconds":600}`,
		"max": `{"idle_seconds":600,"max_seconds":300}`} {
		o := s.made(id, policy)
		r := o.get(o.path + "/session")
		r.hasKeys("thread_id", "session_id", "terminal_id", "status", "created_at", "last_active_at", "expires_at")
		w := o.window()
		want := w.LastActiveAt.Add(300 * time.Second)
		if id == "max" {
			want = w.CreatedAt.Add(300 * time.Second)
		}
		if w.ThreadID != id || w.Status != "active" || w.TerminalID != o.terminal().TerminalID ||
			!w.ExpiresAt.Equal(want) {
			t.Errorf("%s: the session is %+v, it should expire at %v", id, w, want)
		}
	}
}

// TestF066TerminalJSON: what a shell changes is there, and what it removes stays away.
func TestF066TerminalJSON(t *testing.T) {
	t.Parallel()
	o := start(t, launch{}).thread("one")
	o.run("true")
	o.get(o.path+"/terminal").hasKeys("thread_id", "terminal_id", "lease_id", "cwd", "env_delta", "version",
		"created_at", "updated_at", "state_version")
	before := o.terminal()
	o.run("cd /tmp; export X=1")
	after := o.reaches("/tmp")
	if !maps.Equal(after.EnvDelta, map[string]string{"X": "1"}) || after.Version <= before.Version ||
		after.TerminalID != before.TerminalID || after.LeaseID != o.lease().LeaseID {
		t.Errorf("the terminal was %+v and is %+v", before, after)
	}
	o.run("unset X HOME")
	eventually(t, "X and HOME are removed", func() bool {
		after = o.terminal()
		return len(after.EnvDelta) == 0 && slices.Equal(after.EnvUnset, []string{"HOME"})
	})
	o.killShell()
	o.run(`echo "${X-no} ${HOME-no}"`).is(0, "no no\n")
}

// killShell ends the process of the default shell and waits until it is gone.
func (o *owner) killShell() {
	o.t.Helper()
	pid := o.number("echo $$")
	o.must(syscall.Kill(pid, syscall.SIGKILL))
	die(o.t, "the shell", pid)
	eventually(o.t, "the server has seen it", func() bool { return o.shells(o.session)[0].State == "ended" })
}

// TestF067LeaseJSON.
func TestF067LeaseJSON(t *testing.T) {
	t.Parallel()
	o := start(t, launch{}).thread("one")
	o.run("true")
	object := o.get(o.path+"/lease").hasKeys("thread_id", "lease_id", "provider_name", "instance", "created_at",
		"updated_at", "desired_state", "observed_state", "last_error")
	l := o.lease()
	if l.ThreadID != "one" || l.ProviderName != "local" || l.Instance == nil || l.Instance.InstanceID == "" ||
		l.Instance.State != "running" || l.DesiredState != "running" || l.ObservedState != "running" {
		t.Errorf("the lease is %s", asJSON(l))
	}
	var instance map[string]json.RawMessage
	o.must(json.Unmarshal(object["instance"], &instance))
	if keys := slices.Sorted(maps.Keys(instance)); !slices.Equal(keys,
		[]string{"instance_id", "started_at", "state"}) || !utc.Match(instance["started_at"]) {
		t.Errorf("the instance is %s", object["instance"])
	}
}

// TestF068ThreadJSON.
func TestF068ThreadJSON(t *testing.T) {
	t.Parallel()
	o := start(t, launch{}).thread("one")
	o.run("true")
	object := o.get(o.path).hasKeys("thread_id", "messages", "sandbox")
	var sandbox map[string]string
	o.must(json.Unmarshal(object["sandbox"], &sandbox))
	want := map[string]string{"type": "local", "status": "active", "session_id": o.window().SessionID,
		"terminal_id": o.terminal().TerminalID}
	if string(object["messages"]) != "[]" || !maps.Equal(sandbox, want) {
		t.Errorf("the thread is %v", object)
	}
	var list struct{ Threads []client.Thread }
	o.get("/api/threads").wants(200).into(&list)
	if len(list.Threads) != 1 || list.Threads[0].ThreadID != "one" {
		t.Errorf("the threads are %+v", list)
	}
	all, err := o.Threads(o.ctx())
	if err != nil || len(all) != 1 {
		t.Errorf("%v %+v", err, all)
	}
}

// TestF069UnknownThread: 404 wherever, and nothing comes into being by asking.
func TestF069UnknownThread(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	for _, path := range []string{"", "/session", "/terminal", "/lease", "/terminals", "/commands", "/events"} {
		s.get("/api/threads/absent"+path).refused(404, "NOT_FOUND")
	}
	for _, path := range []string{"/touch", "/pause", "/resume", "/sandbox/pause", "/sandbox/resume"} {
		s.call(http.MethodPost, "/api/threads/absent"+path, "").refused(404, "NOT_FOUND")
	}
	s.call(http.MethodDelete, "/api/threads/absent", "").refused(404, "NOT_FOUND")
	s.call(http.MethodDelete, "/api/threads/absent/sandbox", "").refused(404, "NOT_FOUND")
	if list, err := s.Threads(s.ctx()); err != nil || len(list) != 0 {
		t.Errorf("%v %+v", err, list)
	}
}

// TestF072Defaults (R-037 test_default_policy, R-038 test_custom_policy): 30 minutes and a day, unless flags or the
// thread say otherwise.
func TestF072Defaults(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		flags     []string
		idle, max float64
	}{{nil, 1800, 86400}, {[]string{"--session-idle", "90s", "--session-max", "2h"}, 90, 7200}} {
		s := start(t, launch{flags: test.flags})
		o := s.thread("one")
		o.run("true")
		if w := o.window(); w.IdleSeconds != test.idle || w.MaxSeconds != test.max {
			t.Errorf("%v: %+v", test.flags, w)
		}
		custom := s.made("custom", `{"idle_seconds":1800,"max_seconds":43200}`)
		if w := custom.window(); w.IdleSeconds != 1800 || w.MaxSeconds != 43200 {
			t.Errorf("%+v", w)
		}
	}
}

// TestF076RuntimeRestart (R-012, R-105 test_state_persists_across_runtime_instances).
func TestF076RuntimeRestart(t *testing.T) {
	t.Parallel()
	o := start(t, launch{}).thread("one")
	o.run("cd /usr; export KEPT='a b'")
	o.reaches("/usr")
	before := o.layers()
	o.killShell()
	if r := o.run(`pwd; echo "$KEPT"`).is(0, "/usr\na b\n"); !r.Recreated {
		t.Errorf("%+v", r)
	}
	if after := o.layers(); after != before {
		t.Errorf("the layers were %v and are %v", before, after)
	}
}

// TestF077ServerRestart: the state is the same, whatever ended the server, and versions go on.
func TestF077ServerRestart(t *testing.T) {
	t.Parallel()
	s := start(t, launch{listen: freePort(t)})
	o := s.thread("one")
	for n, end := range []func(){s.stop, s.kill} {
		o.run(fmt.Sprintf("cd /usr; export N=%d", n))
		eventually(t, "the state is written", func() bool { return o.terminal().EnvDelta["N"] == strconv.Itoa(n) })
		before, layers := o.terminal(), o.layers()
		end()
		s.again()
		after := o.terminal()
		if after.Cwd != "/usr" || !maps.Equal(after.EnvDelta, before.EnvDelta) || after.Version != before.Version ||
			o.layers() != layers {
			t.Errorf("the terminal was %+v and is %+v", before, after)
		}
		o.run("cd /").is(0, "")
		if next := o.reaches("/"); next.Version != before.Version+1 {
			t.Errorf("version %d follows on %d", next.Version, before.Version)
		}
	}
}

// TestF078ThreadSwitch (R-034 test_thread_switch_preserves_state, R-033 test_multiple_threads_independent_sessions).
func TestF078ThreadSwitch(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	a, b := s.thread("a"), s.thread("b")
	a.run("cd /usr; export WHO=a")
	b.run("cd /tmp; export WHO=b")
	for range 3 {
		a.run("pwd; echo $WHO").is(0, "/usr\na\n")
		b.run("pwd; echo $WHO").is(0, "/tmp\nb\n")
	}
	la, lb := a.layers(), b.layers()
	for i := range la {
		if la[i] == lb[i] {
			t.Errorf("both have %s", la[i])
		}
	}
}

// TestF079Versions (R-087 test_update_state_increments_version, R-099 test_state_version_increments): a change is one,
// no change is none, and of many at once none is lost.
func TestF079Versions(t *testing.T) {
	t.Parallel()
	o := start(t, launch{}).thread("one")
	o.run("cd /usr")
	v := o.reaches("/usr").Version
	for _, dir := range []string{"/", "/tmp"} {
		o.run("cd " + dir)
		if v++; o.reaches(dir).Version != v {
			t.Errorf("after cd %s: %+v, not version %d", dir, o.terminal(), v)
		}
		o.run("true; pwd >/dev/null")
	}
	if now := o.terminal().Version; now != v {
		t.Errorf("version %d came of nothing after %d", now, v)
	}
	const updates = 100
	var all sync.WaitGroup
	for n := range updates {
		all.Go(func() {
			for {
				r := o.send(body{"command": fmt.Sprintf("export V%d=%d", n, n)})
				if r.status != http.StatusTooManyRequests { // 64 wait at most
					r.wants(200)
					return
				}
				instant(20 * time.Millisecond) // as a client that was told Retry-After
			}
		})
	}
	all.Wait()
	eventually(t, "all updates are there", func() bool { return len(o.terminal().EnvDelta) == updates })
	if now := o.terminal().Version; now != v+updates {
		t.Errorf("version %d after %d and %d updates", now, v, updates)
	}
	states, err := o.TerminalHistory(o.ctx(), "one", o.terminal().TerminalID)
	o.must(err)
	for i, state := range states {
		if state.Version != v+updates-int64(i) {
			t.Fatalf("version %d is at place %d of the history", state.Version, i)
		}
	}
}

// TestF080HistoryAndRollback.
func TestF080HistoryAndRollback(t *testing.T) {
	t.Parallel()
	o := start(t, launch{}).thread("one")
	o.run("cd /usr; export X=1")
	then := o.reaches("/usr")
	o.run("cd /tmp; export X=2 Y=3; unset HOME")
	now := o.reaches("/tmp")
	states, err := o.TerminalHistory(o.ctx(), "one", now.TerminalID)
	o.must(err)
	if len(states) < 2 || states[0].Version != now.Version || states[1].Cwd != "/usr" ||
		states[1].EnvDelta["X"] != "1" ||
		states[0].At.IsZero() {
		t.Errorf("the history is %+v", states)
	}
	back, err := o.RollbackTerminal(o.ctx(), "one", now.TerminalID, then.Version)
	o.must(err)
	if back.Version != now.Version+1 || back.Cwd != "/usr" || !maps.Equal(back.EnvDelta, then.EnvDelta) ||
		len(back.EnvUnset) != 0 {
		t.Errorf("rolled back to %+v the terminal is %+v", then, back)
	}
	if got := o.says(`pwd; echo "$X ${Y-no} ${HOME+home}"`); got != "/usr\n1 no home" {
		t.Errorf("the shell says %q", got)
	}
	if after := o.terminal(); after.Version != back.Version || after.Cwd != "/usr" {
		t.Errorf("after a command the terminal is %+v", after)
	}
	o.post(o.path+"/terminals/"+now.TerminalID+"/rollback", `{"version":999}`).refused(404, "NOT_FOUND")
}

// TestF081DirectoryIsGone: the shell starts at the nearest place that is there, and says so.
func TestF081DirectoryIsGone(t *testing.T) {
	t.Parallel()
	s := start(t, launch{listen: freePort(t)})
	o := s.thread("one")
	dir := filepath.Join(t.TempDir(), "gone")
	o.run("mkdir " + quote(dir) + "; cd " + quote(dir))
	pid := o.number("echo $$")
	o.reaches(dir) // and nobody looks at the shell any more
	s.stop()
	s.must(syscall.Kill(pid, syscall.SIGKILL))
	die(t, "the shell", pid)
	s.must(os.Remove(dir))
	s.again()
	if r := o.run("pwd").is(0, filepath.Dir(dir)+"\n"); r.CwdFallback != dir {
		t.Errorf("%+v", r)
	}
}

// TestF089Terminals: several terminals, one of which is meant.
func TestF089Terminals(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	o := s.thread("one")
	o.run("cd /usr")
	o.reaches("/usr")
	pty, err := s.Create(s.ctx(), "one",
		wire.CreateTerminal{Cmd: []string{"cat"}, Cols: new(80), Rows: new(24), Cwd: "/tmp"})
	s.must(err)
	list, err := s.ThreadTerminals(s.ctx(), "one")
	s.must(err)
	if len(list) != 2 || list[0].Kind != "shell" || list[1].Kind != "pty" || list[1].TerminalID != pty.ID ||
		!list[0].Active ||
		list[1].Active {
		t.Fatalf("the terminals are %+v", list)
	}
	for _, want := range []wire.ThreadTerminal{list[1], list[0]} {
		got, err := s.ActivateTerminal(s.ctx(), "one", want.TerminalID)
		if err != nil || got.TerminalID != want.TerminalID || !got.Active {
			t.Errorf("%v %+v", err, got)
		}
		if got := o.terminal(); got.TerminalID != want.TerminalID || got.Kind != want.Kind || got.Cwd != want.Cwd {
			t.Errorf("the active terminal is %+v, not %+v", got, want)
		}
	}
	other := s.thread("other")
	other.run("true")
	s.call(http.MethodPost, o.path+"/terminals/"+other.terminal().TerminalID+"/activate", "").refused(404, "NOT_FOUND")
}
