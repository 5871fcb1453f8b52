package tests

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

// createBody starts a terminal as a body says.
func (s *server) createBody(body string) (i wire.Terminal) {
	s.t.Helper()
	s.post("/session/r/pty", body).wants(201).into(&i)
	return i
}

// afterCrash is a terminal after nothing is about to start in it any more.
func (s *server) afterCrash(id string, is func(i client.Terminal) bool) (i client.Terminal) {
	s.t.Helper()
	eventually(s.t, "what starts after a crash is there", func() bool { i = s.info(id); return is(i) })
	return i
}

func runs(generation int) func(client.Terminal) bool {
	return func(i client.Terminal) bool { return i.State == "running" && i.Generation == generation }
}

// TestRestore: after a crash the command starts again below the old screen, once a crash, or another one, or none;
// nothing where the program had ended or was deleted.
func TestRestore(t *testing.T) {
	t.Parallel()
	s := start(t, launch{errors: true})
	const script = `["bash", "-c",
		"echo $NAME is here in $(pwd); cd /usr; printf '\\033]7;file:///usr\\033\\\\'; read -r x; exit 3"]`
	own := s.createBody(`{"restore": "command", "env": {"NAME": "zoe"}, "cwd": "/tmp", "cmd": ` + script + `}`).ID
	other := s.createBody(`{"restore": {"cmd": ["bash", "-c", "echo resumed; read -r x"]}, "cmd": ` + script + `}`).ID
	none := s.createBody(`{"cmd": ` + script + `}`).ID
	ended := s.createBody(`{"restore": "command", "cmd": ["bash", "-c", "exit 4"]}`).ID
	gone := s.createBody(`{"restore": "command", "cmd": ["bash", "-c", "read -r x"]}`).ID
	bad := s.createBody(`{"restore": {"cmd": ["/no/such/program"]}, "cmd": ` + script + `}`).ID
	for _, id := range []string{own, other, none, bad} {
		s.await(id, "is here in")
	}
	s.awaitRecord(own, "/usr") // a crash costs what is younger
	s.exit(ended)
	s.must(s.Delete(s.ctx(), gone, false))
	seq := s.info(own).Seq

	s.reboot()
	s.again()
	i := s.afterCrash(own, runs(2))
	s.await(own, `zoe is here in /usr`)
	if shown := s.text(own); strings.Count(shown, "zoe is here") != 2 || !strings.Contains(shown, "lost") || i.Seq < seq {
		t.Errorf("seq %d after %d, the screen is\n%s", i.Seq, seq, shown)
	}
	s.afterCrash(other, runs(2))
	s.await(other, "resumed")
	if i := s.afterCrash(bad, func(i client.Terminal) bool { return i.Damage != "" }); i.State != "lost" ||
		i.Generation != 1 || !strings.Contains(i.Damage, "/no/such/program") {
		t.Errorf("a program that cannot start: %+v", i)
	}
	if i := s.info(none); i.State != "lost" || i.Generation != 1 {
		t.Errorf("without restore: %+v", i)
	}
	if i := s.info(ended); i.State != "exited" || i.Generation != 1 || *i.Exit.Code != 4 {
		t.Errorf("it had ended: %+v", i)
	}
	if i := s.info(gone); i.State == "running" || i.Generation != 1 {
		t.Errorf("it was deleted: %+v", i)
	}

	s.reboot() // a second crash, and what ended by itself in between stays so
	s.again()
	s.afterCrash(own, runs(3))
	s.await(own, `lost(?s:.*)lost(?s:.*)zoe is here in /usr`)
	s.input(own, "\n")
	if exit := s.exit(own); exit.Code == nil || *exit.Code != 3 {
		t.Errorf("the restored program ended with %+v", exit)
	}
	if i := s.info(bad); i.State != "lost" || i.Generation != 1 || i.Damage == "" {
		t.Errorf("it is tried again, or forgotten why not: %+v", i)
	}
	s.reboot()
	s.again()
	s.afterCrash(other, runs(4))
	if i := s.info(own); i.State != "exited" || i.Generation != 3 {
		t.Errorf("it is started although it had ended: %+v", i)
	}
}

// TestRestoreOnce: a server that is killed while it starts what is due leaves nothing started twice.
func TestRestoreOnce(t *testing.T) {
	t.Parallel()
	s := start(t, launch{errors: true})
	var ids []string
	for n := range 12 {
		id := s.createBody(fmt.Sprintf(`{"restore": "command", "cmd": ["bash", "-c", "echo run%d; read -r x"]}`, n)).ID
		s.await(id, fmt.Sprintf("run%d", n))
		ids = append(ids, id)
	}
	s.kill()
	s.killKeeper()
	for range 4 {
		s.again() // it is ready before all have started
		s.kill()
	}
	s.again()
	for n, id := range ids {
		// A start that a server did not see to its end counts as a generation, whether there was a process or none.
		s.afterCrash(id, func(i client.Terminal) bool { return i.State == "running" && i.Generation > 1 })
		s.await(id, fmt.Sprintf("run%d(?s:.*)run%d", n, n))
		if got := strings.Count(s.text(id), fmt.Sprintf("run%d", n)); got != 2 {
			t.Errorf("%d ran %d times", n, got)
		}
		if got := strings.Count(s.text(id), "its process was lost · restarted"); got != 1 {
			t.Errorf("%d says %d times that it was restarted:\n%s", n, got, s.text(id))
		}
	}
}

// TestRestoreOfACopy: nothing starts by itself in a copy of a data directory.
func TestRestoreOfACopy(t *testing.T) {
	t.Parallel()
	first := start(t, launch{})
	id := first.createBody(`{"restore": "command", "cmd": ["bash", "-c", "echo here; read -r x"]}`).ID
	first.await(id, "here")
	dir := t.TempDir() + "/copy"
	if out, err := exec.Command("cp", "-a", first.how.dir, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s := start(t, launch{dir: dir})
	i := s.afterCrash(id, func(i client.Terminal) bool { return i.Damage != "" })
	if i.State != "lost" || !strings.Contains(i.Damage, "copy") {
		t.Errorf("in the copy: %+v", i)
	}
	if i := first.info(id); i.State != "running" || i.Generation != 1 {
		t.Errorf("the first: %+v", i)
	}
}

// TestRestoreValues: what a request may say, what infos show, and the flag.
func TestRestoreValues(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.createBody(`{"cmd": ["cat"]}`).ID
	for _, want := range []string{`"none"`, `"command"`, `{"cmd":["claude","--resume","a b"]}`} {
		s.call("PATCH", "/pty/"+id, `{"restore": `+want+`}`).wants(200)
		var i struct{ Restore json.RawMessage }
		s.get("/pty/" + id).wants(200).into(&i)
		var got bytes.Buffer
		s.must(json.Compact(&got, i.Restore))
		if got.String() != want {
			t.Errorf("%s is shown as %s", want, &got)
		}
	}
	for bad, says := range map[string]string{
		`"always"`: `got "always", allowed is "none", "command" or`, `true`: "got true",
		"{\"cmd\":\n []}": `got {"cmd":[]}`, `{"cmd": [""]}`: `got {"cmd":[""]}`, `{"cmd": "ls"}`: `got {"cmd":"ls"}`,
		`{}`: "got {}", `{"cmd": ["a"], "cwd": "/"}`: `got the field "cwd"`, `["ls"]`: `got ["ls"]`,
		`{"cmd": ["a\u0000"]}`: "NUL", `"` + strings.Repeat("é", 1000) + `"`: "é…, allowed is",
	} {
		for _, r := range []reply{s.post("/session/r/pty", `{"restore": `+bad+`}`),
			s.call("PATCH", "/pty/"+id, `{"restore": `+bad+`}`)} {
			if r.refused(400, "VALIDATION", says); !strings.Contains(r.body, `"field":"restore`) {
				t.Errorf("%s: %s", bad, r.body)
			}
		}
	}
	out, err := s.cli("new", "-d", "--restore", `claude --resume 'a "b'`, "--", "cat").Output()
	s.must(err)
	if i := s.info(strings.TrimSpace(string(out))); strings.Join(i.Restore, "|") != `claude|--resume|a "b` {
		t.Errorf("by the flag: %q", i.Restore)
	}
}

// TestRestoreIsRefused: what a rule denies, what a paused thread has and what a limit has no room for does not start
// after a crash. The terminal says why, and a later server does not try again.
func TestRestoreIsRefused(t *testing.T) {
	t.Parallel()
	s := start(t, launch{errors: true})
	create := func(session, restore string) string {
		body := `{"restore": ` + restore + `, "cmd": ["bash", "-c", "echo here; read -r x"]}`
		var i wire.Terminal
		s.post("/session/"+session+"/pty", body).wants(201).into(&i)
		s.await(i.ID, "here")
		return i.ID
	}
	denied, paused := create("denied", `{"cmd": ["echo", "forbidden"]}`), create("paused", `"command"`)
	full := []string{create("full", `"command"`), create("full", `"command"`)}
	s.thread("paused").change("/pause").wants(200)

	s.reboot()
	rules := t.TempDir() + "/rules.json"
	s.must(os.WriteFile(rules, []byte(`{"deny":[{"contains":"forbidden"}]}`), 0o600))
	s.how.flags = append(s.how.flags, "--permission-rules", rules, "--max-ptys-per-session", "1")
	s.again()
	refused := func(id, why string) {
		t.Helper()
		i := s.afterCrash(id, func(i client.Terminal) bool { return i.Damage != "" })
		if i.State != "lost" || i.Generation != 1 || !strings.Contains(i.Damage, why) {
			t.Errorf("want it refused for %q: %+v", why, i)
		}
	}
	refused(denied, "forbidden")
	refused(paused, "paused")
	running := func() (n int) {
		for _, id := range full {
			if s.info(id).State == "running" {
				n++
			}
		}
		return n
	}
	eventually(t, "one of the two runs, and the other says why not", func() bool {
		return running() == 1 && (s.info(full[0]).Damage != "") != (s.info(full[1]).Damage != "")
	})

	s.how.flags = nil
	s.thread("paused").change("/resume").wants(200)
	s.kill()
	s.again()
	refused(denied, "forbidden")
	refused(paused, "paused")
	if n := running(); n != 1 {
		t.Errorf("%d of the two run", n)
	}
}
