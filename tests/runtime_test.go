package tests

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// The tests of this file are tests of seed 000 that have no row of features of their own, under their names.

// together runs tests side by side on one server, each with a thread of its own, which is named after it.
func together(t *testing.T, tests map[string]func(*owner)) {
	t.Helper()
	t.Parallel()
	s := start(t, launch{})
	t.Run("on one server", func(t *testing.T) {
		for name, test := range tests {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(s.seenBy(t).thread(name))
			})
		}
	})
}

// TestLocalRuntime is TestLocalPersistentShellRuntime and the local half of TestRuntimeIntegration.
func TestLocalRuntime(t *testing.T) {
	together(t, map[string]func(*owner){
		"ExecuteSimpleCommand":                localRuntimeExecuteSimpleCommand,
		"ExecuteUpdatesCwd":                   localRuntimeExecuteUpdatesCwd,
		"StatePersistsAcrossCommands":         localRuntimeStatePersistsAcrossCommands,
		"ExecuteWithTimeout":                  localRuntimeExecuteWithTimeout,
		"CloseTerminatesSession":              localRuntimeCloseTerminatesSession,
		"StateVersionIncrements":              localRuntimeStateVersionIncrements,
		"FullLifecycle":                       localRuntimeFullLifecycle,
		"StatePersistsAcrossRuntimeInstances": localRuntimeStatePersistsAcrossInstances,
	})
}

// localRuntimeExecuteSimpleCommand is test_execute_simple_command of the local runtime.
func localRuntimeExecuteSimpleCommand(o *owner) {
	if r := o.run("echo hello").is(0, "hello\n"); !r.Success || r.TimedOut || r.Cancelled || r.Recreated {
		o.t.Errorf("%+v", r)
	}
	o.run("echo out; echo odd >&2; (exit 7)").fails(7, "out\n", "odd\n")
}

// localRuntimeExecuteUpdatesCwd is test_execute_updates_cwd of the local runtime: in the reply, in the
// terminal's record and for the next command.
func localRuntimeExecuteUpdatesCwd(o *owner) {
	dir := o.dir()
	if r := o.run("cd "+quote(dir)).is(0, ""); r.Cwd != dir {
		o.t.Errorf("after cd %s the reply has %s", dir, r.Cwd)
	}
	o.reaches(dir)
	o.run("pwd").is(0, dir+"\n")
}

// localRuntimeStatePersistsAcrossCommands is test_state_persists_across_commands: what is exported and what
// only this shell has.
func localRuntimeStatePersistsAcrossCommands(o *owner) {
	pid := o.number("cd /usr; export TEST_VAR='a b'; own=1; f() { echo \"f $1\"; }; echo $$")
	o.run(`pwd; echo "$TEST_VAR $own"; f x; echo $$`).is(0, fmt.Sprintf("/usr\na b 1\nf x\n%d\n", pid))
	if s := o.reaches("/usr"); !maps.Equal(s.EnvDelta, map[string]string{"TEST_VAR": "a b"}) {
		o.t.Errorf("the terminal is %+v", s)
	}
}

// localRuntimeExecuteWithTimeout is test_execute_with_timeout. The next command has its own output, in the same
// state.
func localRuntimeExecuteWithTimeout(o *owner) {
	o.run("cd /usr; export KEPT=1")
	r := o.spared("", "echo before; sleep 1000; echo NOT", "before\n")
	if r.out() != "before\n" || r.took < shortTimeout*time.Millisecond {
		o.t.Errorf("after %v stdout is %q", r.took, r.out())
	}
	o.run("pwd; echo $KEPT").is(0, "/usr\n1\n")
}

// localRuntimeCloseTerminatesSession is test_close_terminates_session: the shell, what it left and what runs
// end. A sandbox that is destroyed leaves its terminal, a shell that is deleted is a terminal that is deleted.
func localRuntimeCloseTerminatesSession(o *owner) {
	for _, way := range []struct {
		path    string
		deleted int // terminals
		running func(*came)
	}{
		{o.path + "/sandbox", 0, func(c *came) {
			if r := c.result(); r.Success || r.out() != "" {
				o.t.Errorf("%+v", r)
			}
		}},
		{o.at + "/shell", 1, func(c *came) { c.reply().refused(410, "SESSION_DESTROYED") }},
	} {
		shell, left := o.number("cd /usr; echo $$"), o.number("setsid sleep 1000 >/dev/null 2>&1 & echo $!")
		before := o.reaches("/usr")
		running := o.later(body{"command": "sleep 1000; echo NOT"})
		o.find(running.text, "running")
		live(o.t, "before the end", shell, left)
		o.call(http.MethodDelete, way.path, "").wants(200)
		die(o.t, "after DELETE "+way.path, shell, left)
		way.running(running)
		eventually(o.t, fmt.Sprintf("the records have %d deleted terminals after DELETE %s", way.deleted, way.path),
			func() bool {
				return o.times("terminal.deleted", before.TerminalID) == way.deleted
			})
		if after := o.terminal(); way.deleted == 0 &&
			(after.TerminalID != before.TerminalID || after.Cwd != "/usr" || after.Version != before.Version) {
			o.t.Errorf("DELETE %s: the terminal was %+v and is %+v", way.path, before, after)
		}
	}
}

// localRuntimeStateVersionIncrements is test_state_version_increments: two changes of the directory are two
// versions.
func localRuntimeStateVersionIncrements(o *owner) {
	o.run("cd /usr")
	v := o.reaches("/usr").Version
	for n, dir := range []string{"/", "/tmp"} {
		o.run("cd " + dir)
		if got, want := o.reaches(dir).Version, v+int64(n)+1; got != want {
			o.t.Errorf("after cd %s it is version %d, not %d", dir, got, want)
		}
	}
}

// localRuntimeFullLifecycle is test_local_runtime_full_lifecycle: made, used, paused, resumed, closed, used
// again, forgotten.
func localRuntimeFullLifecycle(o *owner) {
	o.post("/api/threads", asJSON(body{"id": o.session})).wants(201)
	pid := o.number("cd /usr; export STEP=used; echo $$")
	o.reaches("/usr")
	o.change("/pause").wants(200)
	stops(o.t, "the paused shell", pid)
	o.change("/resume").wants(200)
	o.run("echo $$ $STEP").is(0, fmt.Sprintf("%d used\n", pid))
	layers := o.layers()
	_, err := o.DestroySandbox(o.ctx(), o.session)
	o.must(err)
	die(o.t, "the shell of a sandbox that is destroyed", pid)
	if w := o.window(); w.Status != "closed" || w.SessionID != layers[0] {
		o.t.Errorf("the session is %+v", w)
	}
	o.run("pwd; echo $STEP").is(0, "/usr\nused\n")
	if after := o.layers(); after[0] == layers[0] || after[1] != layers[1] || after[2] != layers[2] {
		o.t.Errorf("the layers were %v and are %v", layers, after)
	}
	last := o.number("echo $$")
	o.must(o.DeleteThread(o.ctx(), o.session))
	die(o.t, "the shell of a thread that is deleted", last)
	o.get(o.path).refused(404, "NOT_FOUND")
}

// localRuntimeStatePersistsAcrossInstances is test_state_persists_across_runtime_instances: over another
// process and over other compute.
func localRuntimeStatePersistsAcrossInstances(o *owner) {
	pid := o.number("cd /usr; export KEPT='a\nb'; unset HOME; echo $$")
	before, instance := o.reaches("/usr"), o.instance()
	const show = `pwd; echo "$KEPT ${HOME-no}"`
	for _, next := range []struct {
		what string
		end  func()
	}{
		{"its process was killed", o.killShell},
		{"its sandbox was destroyed", func() { _, err := o.DestroySandbox(o.ctx(), o.session); o.must(err) }},
	} {
		next.end()
		o.run(show).is(0, "/usr\na\nb no\n")
		now := o.number("echo $$")
		after := o.terminal()
		if now == pid || after.TerminalID != before.TerminalID || !maps.Equal(after.EnvDelta, before.EnvDelta) ||
			!slices.Equal(after.EnvUnset, before.EnvUnset) {
			o.t.Errorf("after %s: process %d after %d, the terminal was %+v and is %+v", next.what, now, pid, before,
				after)
		}
		pid = now
	}
	if now := o.instance(); now == instance {
		o.t.Errorf("it is still in %s", now)
	}
}

// TestRemoteRuntime is TestRemoteWrappedRuntime: the same over a provider, where nothing of a shell stays between two
// commands. TestRemoteExec has more, at every place.
func TestRemoteRuntime(t *testing.T) {
	t.Parallel()
	at := fakeSite(t, "e2b", launch{})
	t.Run("on one server", func(t *testing.T) {
		for name, test := range map[string]func(*site, *owner){
			"ExecuteSimpleCommand":         remoteRuntimeExecuteSimpleCommand,
			"HydrateStateOnFirstExecution": remoteRuntimeHydrateState,
			"ExecuteUpdatesCwd":            remoteRuntimeExecuteUpdatesCwd,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				own := *at
				own.server = at.seenBy(t)
				test(&own, own.rent(name, nil))
			})
		}
	})
}

// remoteRuntimeExecuteSimpleCommand is test_execute_simple_command of the remote runtime. It runs in the
// instance that the lease names.
func remoteRuntimeExecuteSimpleCommand(at *site, o *owner) {
	o.run("echo hello").is(0, "hello\n")
	o.run("echo out; echo odd >&2; (exit 7)").fails(7, "out\n", "odd\n")
	if l := o.lease(); l.ProviderName != at.name || !slices.Contains(at.fake.Alive(), o.instance()) {
		o.t.Errorf("the lease is %s, alive are %v", asJSON(l), at.fake.Alive())
	}
	if got, want := o.says("echo $HOME"), at.fake.Dir(o.instance()); got != want {
		o.t.Errorf("it ran in %q, not in %q", got, want)
	}
}

// remoteRuntimeHydrateState is test_hydrate_state_on_first_execution: the first command of another instance
// finds directory and variables, and what was removed is not there.
func remoteRuntimeHydrateState(at *site, o *owner) {
	o.run("cd /usr; export KEPT='a\nb' QUOTE=\"it's\"; unset HOME").is(0, "")
	before, first := o.reaches("/usr"), o.instance()
	_, err := o.DestroySandbox(o.ctx(), o.session)
	o.must(err)
	if slices.Contains(at.fake.Alive(), first) {
		o.t.Errorf("%s is alive", first)
	}
	o.run(`pwd; echo "$KEPT $QUOTE ${HOME-no}"`).is(0, "/usr\na\nb it's no\n")
	after := o.terminal()
	if o.instance() == first || after.TerminalID != before.TerminalID || after.Version != before.Version ||
		!maps.Equal(after.EnvDelta, before.EnvDelta) || !slices.Equal(after.EnvUnset, before.EnvUnset) {
		o.t.Errorf("from %s to %s the terminal was %+v and is %+v", first, o.instance(), before, after)
	}
}

// remoteRuntimeExecuteUpdatesCwd is test_execute_updates_cwd of the remote runtime.
func remoteRuntimeExecuteUpdatesCwd(_ *site, o *owner) {
	dir := o.says("mkdir -p 'a dir' && cd 'a dir' && pwd")
	if !strings.HasSuffix(dir, "/a dir") {
		o.t.Errorf("it is in %q", dir)
	}
	v := o.reaches(dir).Version
	if r := o.run("cd /usr").is(0, ""); r.Cwd != "/usr" {
		o.t.Errorf("after cd /usr the reply has %s", r.Cwd)
	}
	if now := o.reaches("/usr").Version; now != v+1 {
		o.t.Errorf("version %d follows on %d", now, v)
	}
	o.run("pwd").is(0, "/usr\n")
}

// TestRemoteRuntimeCloseIsNoop is test_close_is_noop: neither the end of the server nor that of a shell touches
// the instance.
func TestRemoteRuntimeCloseIsNoop(t *testing.T) {
	t.Parallel()
	at := fakeSite(t, "e2b", launch{listen: freePort(t)})
	o := at.rent("one", nil)
	o.run("cd /usr; export KEPT=1").is(0, "")
	before, instance := o.reaches("/usr"), o.instance()
	at.stop()
	at.again()
	o.run("pwd; echo $KEPT").is(0, "/usr\n1\n")
	if after := o.terminal(); after.TerminalID != before.TerminalID || after.Version != before.Version {
		t.Errorf("the terminal was %+v and is %+v", before, after)
	}
	o.deleteShells()
	o.run("echo $HOME").is(0, at.fake.Dir(instance)+"\n")
	if now := o.instance(); now != instance || !slices.Equal(at.fake.Alive(), []string{instance}) {
		t.Errorf("it is in %s after %s; alive are %v", now, instance, at.fake.Alive())
	}
	for _, call := range []string{"e2b.destroy", "e2b.pause"} {
		if n := at.fake.Calls(call); n != 0 {
			t.Errorf("%d times %s", n, call)
		}
	}
}

// TestSandbox is what TestSandboxE2E and TestWebAPISimulation try over the web.
func TestSandbox(t *testing.T) {
	together(t, map[string]func(*owner){
		"CommandExecutionThroughCapability": sandboxCommandThroughCapability,
		"LegacyAPICompatibility":            sandboxLegacyAPICompatibility,
		"SimulateSessionStatusEndpoints":    simulateSessionStatusEndpoints,
		"SimulatePauseResumeFlow":           simulatePauseResumeFlow,
		"SimulateMultipleThreads":           simulateMultipleThreads,
	})
}

// sandboxCommandThroughCapability is test_command_execution_through_capability: what a command does is seen by
// the caller, in the files and in every record.
func sandboxCommandThroughCapability(o *owner) {
	o.post("/api/threads", asJSON(body{"id": o.session})).wants(201)
	before, file := o.window(), o.dir()+"/made"
	r := o.run("echo hello | tee "+quote(file)+"; cat; echo odd >&2; (exit 3)", body{"stdin": "input\n"}).fails(3,
		"hello\ninput\n", "odd\n")
	o.run("cat "+quote(file)).is(0, "hello\n")
	eventually(o.t, "the command is in the records", func() bool {
		var list struct{ Commands []past }
		o.get(o.path + "/commands").wants(200).into(&list)
		at := slices.IndexFunc(list.Commands, func(p past) bool { return p.CommandID == r.CommandID })
		return at >= 0 && list.Commands[at].ended("done", 3) &&
			list.Commands[at].StdoutBytes == int64(len("hello\ninput\n"))
	})
	if after := o.window(); after.SessionID != before.SessionID || after.Status != "active" ||
		!after.LastActiveAt.After(before.LastActiveAt) {
		o.t.Errorf("the session was %+v and is %+v", before, after)
	}
}

// sandboxLegacyAPICompatibility is test_legacy_api_compatibility: a session of the older calls is a thread with
// the same shell, and both see what either does.
func sandboxLegacyAPICompatibility(o *owner) {
	old := o.workerSession(body{"id": o.session, "env": body{"FIRST": "old"}})
	old.prints("cd /usr; export SECOND=old; echo $$", fmt.Sprintln(o.number("echo $$")))
	o.run(`pwd; echo "$FIRST $SECOND"`).is(0, "/usr\nold old\n")
	if s := o.reaches("/usr"); s.EnvDelta["SECOND"] != "old" { // FIRST is what the shell began with, no change of it
		o.t.Errorf("the terminal is %+v", s)
	}
	o.run("cd /tmp; export FIRST=new")
	old.prints(`pwd; echo "$FIRST $SECOND"`, "/tmp\nnew old\n")
	if th, l := o.record(), o.layers(); th.Sandbox.Type != "local" || th.Sandbox.Status != "active" ||
		slices.Contains(l[:], "") {
		o.t.Errorf("the thread is %+v, its layers %v", th, l)
	}
	o.post("/api/session/delete", asJSON(body{"sessionId": o.session})).wants(200)
	if list := o.shells(o.session); len(list) != 0 {
		o.t.Errorf("the shells are %+v", list)
	}
	old.api(http.MethodPost, "/api/execute", `{"command":"true"}`).refused(404, "SESSION_NOT_FOUND")
}

// simulateSessionStatusEndpoints is test_simulate_session_status_endpoints. The three replies name each other.
func simulateSessionStatusEndpoints(o *owner) {
	for _, path := range []string{"/session", "/terminal", "/lease"} {
		o.get(o.path+path).refused(404, "NOT_FOUND")
	}
	o.run("cd /usr").is(0, "")
	o.reaches("/usr")
	o.get(o.path+"/session").hasKeys("thread_id", "session_id", "terminal_id", "status", "created_at", "last_active_at",
		"expires_at")
	o.get(o.path+"/terminal").hasKeys("thread_id", "terminal_id", "lease_id", "cwd", "env_delta", "version",
		"created_at", "updated_at")
	o.get(o.path+"/lease").hasKeys("thread_id", "lease_id", "provider_name", "instance", "created_at", "updated_at")
	w, s, l := o.window(), o.terminal(), o.lease()
	if w.ThreadID != o.session || s.ThreadID != o.session || l.ThreadID != o.session || w.TerminalID != s.TerminalID ||
		s.LeaseID != l.LeaseID {
		o.t.Errorf("session %+v, terminal %+v, lease %s", w, s, asJSON(l))
	}
	if w.Status != "active" || s.Cwd != "/usr" || l.ProviderName != "local" || l.Instance == nil ||
		l.Instance.State != "running" {
		o.t.Errorf("session %+v, terminal %+v, lease %s", w, s, asJSON(l))
	}
}

// simulatePauseResumeFlow is test_simulate_pause_resume_flow: the three replies follow, and the state and the
// process stay.
func simulatePauseResumeFlow(o *owner) {
	pid := o.number("cd /usr; export X=1; echo $$")
	o.reaches("/usr")
	layers := o.layers()
	for _, step := range []struct{ path, session, instance, process string }{
		{"/pause", "paused", "paused", "T"}, {"/resume", "active", "running", "S"}, {"/pause", "paused", "paused", "T"},
	} {
		o.change(step.path).wants(200)
		eventually(o.t, "the shell is "+step.process+" after "+step.path, func() bool {
			return processState(pid) == step.process
		})
		if w, l := o.window(), o.lease(); w.Status != step.session || l.Instance == nil ||
			string(l.Instance.State) != step.instance || l.DesiredState != step.instance {
			o.t.Errorf("after %s: session %+v, lease %s", step.path, w, asJSON(l))
		}
	}
	o.run("pwd; echo $X $$").is(0, fmt.Sprintf("/usr\n1 %d\n", pid)) // activity resumes
	if w := o.window(); w.Status != "active" || o.layers() != layers {
		o.t.Errorf("the layers were %v and are %v; session %+v", layers, o.layers(), w)
	}
}

// simulateMultipleThreads is test_simulate_multiple_threads: nothing of one is another's, whatever happens to
// it.
func simulateMultipleThreads(o *owner) {
	var all []*owner
	for n := range 3 {
		all = append(all, o.thread(fmt.Sprintf("%s-%d", o.session, n)))
		all[n].run(fmt.Sprintf("mkdir -p %s/%d; cd %[1]s/%[2]d; export WHO=%[2]d", quote(o.dir()), n)).is(0, "")
	}
	seen := map[string]bool{}
	for _, one := range all {
		layers := one.layers()
		for _, id := range append(layers[:], one.instance()) {
			if seen[id] {
				o.t.Errorf("%s is in two threads", id)
			}
			seen[id] = true
		}
	}
	all[0].change("/pause").wants(200)
	_, err := o.DestroySandbox(o.ctx(), all[1].session)
	o.must(err)
	if got := all[2].says(`echo "$WHO ${PWD##*/}"`); got != "2 2" || all[2].window().Status != "active" ||
		all[0].window().Status != "paused" || all[1].window().Status != "closed" {
		o.t.Errorf("%q; the sessions are %s %s %s", got, all[0].window().Status, all[1].window().Status,
			all[2].window().Status)
	}
	for n, one := range all {
		one.run(`echo "$WHO ${PWD##*/}"`).is(0, fmt.Sprintf("%d %[1]d\n", n))
	}
	var listed []string
	list, err := o.Threads(o.ctx())
	o.must(err)
	for _, th := range list {
		if strings.HasPrefix(th.ThreadID, o.session+"-") {
			listed = append(listed, th.ThreadID)
		}
	}
	if len(listed) != len(all) {
		o.t.Errorf("the list has %v", listed)
	}
}
