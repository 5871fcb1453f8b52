package tests

import (
	"slices"
	"strings"
	"testing"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/tests/fakeprov"
	"github.com/evertty/evertty/wire"
)

// sandboxes are the providers of sandboxes, served here.
var sandboxes = []string{"e2b", "daytona", "agentbay"}

func atRented(t *testing.T, do func(t *testing.T, at *site)) {
	for _, name := range sandboxes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			do(t, fakeSite(t, name, launch{}))
		})
	}
}

// TestRemotePauseAndResume: a paused thread goes on with its next command, with its state.
func TestRemotePauseAndResume(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, at *site) {
		if at.name == "ssh" {
			t.Skip("a machine is not paused")
		}
		w := at.rent("nap", nil)
		w.run("mkdir here; cd here; export A=1; echo kept >file").is(0, "")
		before := w.instance()
		at.post(w.path+"/pause", "").wants(200)
		if l := w.lease(); l.Instance == nil || l.Instance.State != "paused" {
			t.Errorf("the lease is %s", asJSON(l))
		}
		w.run(`echo $A $(basename "$PWD") $(cat file)`).is(0, "1 here kept\n")
		if l := w.lease(); l.Instance == nil || l.Instance.State != "running" || l.Instance.InstanceID != before {
			t.Errorf("the lease is %s, the instance was %s", asJSON(l), before)
		}
		at.post(w.path+"/pause", "").wants(200)
		at.post(w.path+"/resume", "").wants(200)
		w.run("echo on").is(0, "on\n")
	})
}

// TestRemoteInstanceIsReplaced: compute that is gone is made anew with the next command, which has the state of the
// terminal (F-085; R-066 tests/test_lease.py::test_recovery). The command runs once although the server believed that
// the instance was there.
func TestRemoteInstanceIsReplaced(t *testing.T) {
	t.Parallel()
	atRented(t, func(t *testing.T, at *site) {
		w := at.rent("phoenix", nil)
		w.run("cd /tmp; export A='x y'; unset HOME").is(0, "")
		old, lease := w.instance(), w.lease().LeaseID
		at.fake.Kill(old)
		r := w.run(`echo "$A" "$PWD" "${HOME-none}"`).is(0, "x y /tmp none\n")
		if !r.Recreated {
			t.Error("nobody was told")
		}
		if now := w.lease(); now.LeaseID != lease || now.Instance == nil || now.Instance.InstanceID == old {
			t.Errorf("the lease is %s; it was %s with %s", asJSON(now), lease, old)
		}
		if n := at.fake.Calls(at.name + ".create"); n != 2 {
			t.Errorf("%d instances were made", n)
		}
		if alive := at.fake.Alive(); len(alive) != 1 {
			t.Errorf("alive are %v", alive)
		}
		if events := at.get("/api/leases/" + lease + "/events").wants(200).body; !strings.Contains(events, old) {
			t.Errorf("the old instance is in no event: %s", events)
		}
		w.run("echo $A").is(0, "x y\n")
	})
}

// TestRemoteLeaseIsMadeOnce: many first uses at once make one instance.
func TestRemoteLeaseIsMadeOnce(t *testing.T) {
	t.Parallel()
	atRented(t, func(t *testing.T, at *site) {
		w := at.rent("once", nil)
		var all []*came
		for range 6 {
			all = append(all, w.later(body{"command": "echo $((40+2))"}))
		}
		for _, c := range all {
			c.result().is(0, "42\n")
		}
		if n := at.fake.Calls(at.name + ".create"); n != 1 {
			t.Errorf("%d instances were made", n)
		}
	})
}

// TestRemoteSessionPausesItsLease: at the end of an idle session the compute is paused before the session is closed
// (R-…, upstream 3.1.3); the next command resumes it.
func TestRemoteSessionPausesItsLease(t *testing.T) {
	t.Parallel()
	atRented(t, func(t *testing.T, at *site) {
		w := at.rent("idle", nil)
		w.run("cd /tmp; export A=1").is(0, "")
		id := w.instance()
		w.limited(wire.SetPolicy{IdleSeconds: new(1.0)})
		w.closes("idle_timeout")
		list := w.happened()
		index := func(kind string) int {
			return slices.IndexFunc(list, func(e client.ThreadEvent) bool { return e.Type == kind })
		}
		if paused, closed := index("lease.paused"), index("session.closed"); paused < 0 || closed < paused {
			t.Errorf("paused is event %d, closed %d of %s", paused, closed, asJSON(list))
		}
		w.run("echo $A $PWD").is(0, "1 /tmp\n")
		if w.instance() != id {
			t.Errorf("the instance is %s, it was %s", w.instance(), id)
		}
	})
}

// TestRemoteSharedLeaseIsNotPaused: two threads on one lease have one instance and a terminal each; the end of one's
// session leaves it running (F-088; ).
func TestRemoteSharedLeaseIsNotPaused(t *testing.T) {
	t.Parallel()
	at := fakeSite(t, "e2b", launch{})
	a := at.rent("a", nil)
	b := at.rent("b", body{"sandbox": "", "lease_id": a.lease().LeaseID})
	a.run("cd /tmp; echo shared >/tmp/shared-of-"+a.instance()).is(0, "")
	b.run("cat /tmp/shared-of-"+a.instance()+"; rm /tmp/shared-of-"+a.instance()).is(0, "shared\n")
	if a.instance() != b.instance() || a.terminal().TerminalID == b.terminal().TerminalID ||
		b.terminal().Cwd == "/tmp" {
		t.Errorf("a has %s and %+v, b has %s and %+v", a.instance(), a.terminal(), b.instance(), b.terminal())
	}
	a.limited(wire.SetPolicy{IdleSeconds: new(1.0)})
	a.closes("idle_timeout")
	if l := b.lease(); l.Instance == nil || l.Instance.State != "running" || at.fake.Calls("e2b.pause") != 0 {
		t.Errorf("the lease is %s, paused %d times", asJSON(l), at.fake.Calls("e2b.pause"))
	}
}

// TestRemoteCommandIsNotRepeated: a command whose connection broke in the middle is failed and runs once (F-085; the
// retry rule of upstream 3.1.6).
func TestRemoteCommandIsNotRepeated(t *testing.T) {
	t.Parallel()
	at := fakeSite(t, "e2b", launch{errors: true})
	w := at.rent("torn", nil)
	w.run("true").is(0, "")
	file := at.fake.Dir(w.instance()) + "/ran"
	// More than all that is said before the command prints, and less than what it prints: at the cut it has written the
	// file and is not at its end.
	at.fake.Fault(fakeprov.Fault{Op: "e2b.start", Cut: 100 << 10})
	command := "echo once >>" + file + "; head -c 400000 /dev/zero; sleep 30.375; echo NOT >>" + file
	got := w.send(body{"command": command})
	if cuts := at.fake.Cuts(); !slices.Equal(cuts, []string{"e2b.start"}) {
		t.Fatalf("what was cut is %v, the answer %d %s", cuts, got.status, clip(got.body))
	}
	got.refused(503, "PROVIDER", "connection")
	if list := w.commands(""); len(list) != 2 || list[1].Command != command || list[1].Status != "failed" {
		t.Errorf("the history is %v", list)
	}
	w.endsThere("sleep 30.375")
	w.run("cat "+file).is(0, "once\n")
	if n := at.fake.Calls("e2b.create"); n != 1 {
		t.Errorf("%d instances were made", n)
	}
}

// TestRemoteCommandIsFoundAgain: where a command runs on its own and its output is fetched, a reply that is lost is
// asked for again, and the command still runs once: its true result is the answer.
func TestRemoteCommandIsFoundAgain(t *testing.T) {
	t.Parallel()
	for name, op := range map[string]string{"daytona": "daytona.execute", "agentbay": "agentbay.shell"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := fakeSite(t, name, launch{})
			w := at.rent("found", nil)
			w.run("true").is(0, "")
			dir := at.fake.Dir(w.instance())
			// The call that begins the command is carried out, and its reply lost; the next one is held up, so what is
			// seen meanwhile is of the first.
			seen := make(chan struct{})
			at.fake.Fault(fakeprov.Fault{Op: op, Cut: fakeprov.CutReply})
			at.fake.Fault(fakeprov.Fault{Op: op, Until: seen})
			c := w.later(body{"command": "echo once >>" + dir + "/ran; echo begun; until [ -e " + dir +
				"/go ]; do sleep 0.05; done; echo ended; (exit 7)"})
			eventually(t, "the reply is lost", func() bool { return len(at.fake.Cuts()) > 0 })
			eventually(t, "the command has begun", func() bool { return sizeOf(dir+"/ran") == int64(len("once\n")) })
			close(seen)
			place(t, dir+"/go", "")
			c.result().is(7, "begun\nended\n")
			w.run("cat "+dir+"/ran").is(0, "once\n")
			if cuts := at.fake.Cuts(); !slices.Equal(cuts, []string{op}) {
				t.Errorf("what was cut is %v", cuts)
			}
		})
	}
}

// TestUnknownProvider: a provider that the server does not have is a mistake of who asks, and the reply says which
// there are.
func TestUnknownProvider(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	for _, provider := range []string{"nowhere", "e2b"} {
		r := s.post("/api/threads", `{"id":"x","sandbox":"`+provider+`"}`).wants(400)
		if !strings.Contains(r.body, `"code":"VALIDATION"`) || !strings.Contains(r.body, `"providers":["local"]`) {
			t.Errorf("%s: %s", provider, r.body)
		}
	}
}

// TestProviderOfTheEnvironment: a key in the environment is enough, and a file's key comes before it.
func TestProviderOfTheEnvironment(t *testing.T) {
	t.Parallel()
	fake, err := fakeprov.Start(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = fake.Close() })
	env := []string{"E2B_API_KEY=" + fakeprov.Key, "E2B_API_URL=" + fake.E2BURL(),
		"E2B_SANDBOX_URL=" + fake.E2BSandboxURL(), "E2B_CWD=/tmp"}
	at := &site{server: start(t, launch{env: env}), name: "e2b", fake: fake}
	at.rent("env", nil).run("echo hello").is(0, "hello\n")

	other := &site{server: start(t, withProvider(t, launch{env: env, errors: true}, "e2b",
		body{"api_key": "of the file", "cwd": "/tmp"})), name: "e2b"}
	other.post("/api/threads", `{"id":"x","sandbox":"e2b"}`).wants(503)
}
