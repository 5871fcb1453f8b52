package tests

import (
	"fmt"
	"strings"
	"testing"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

// atTerminals runs a test at the sites that have terminals.
func atTerminals(t *testing.T, do func(t *testing.T, at *site)) {
	everywhere(t, func(t *testing.T, at *site) {
		if !at.pty {
			t.Skip(at.name + " has no terminals: TestRemoteTerminalsThatAreNot")
		}
		do(t, at)
	})
}

// open starts a program on a terminal of a thread.
func (o *owner) open(r wire.CreateTerminal) string {
	o.t.Helper()
	r.Cols, r.Rows = new(80), new(24)
	i, err := o.Create(o.ctx(), o.session, r)
	o.must(err)
	return i.ID
}

// TestRemoteTerminal: a terminal elsewhere is like one here, byte for byte: screen, size, keys, environment, exit code
// (F-094).
func TestRemoteTerminal(t *testing.T) {
	t.Parallel()
	atTerminals(t, func(t *testing.T, at *site) {
		w := at.rent("screen", nil)
		id := w.open(wire.CreateTerminal{Cmd: []string{"bash", "-c",
			`printf '\033[1;31mred\033[0m %s\n' "$WHO it's"; stty size; read -r line; echo "got $line"; stty size; ` +
				`printf '\033]2;title\007'; exit 41`},
			Env: map[string]string{"WHO": "me & you"}})
		at.await(id, "^24 80$")
		at.must(at.Resize(at.ctx(), id, 100, 30))
		at.input(id, "ty ped é\r")
		if e := at.exit(id); e == nil || e.Code == nil || *e.Code != 41 {
			t.Errorf("the end is %s", asJSON(e))
		}
		text := at.text(id)
		for _, want := range []string{"red me & you it's", "got ty ped é", "30 100"} {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
		shot, err := at.Snapshot(at.ctx(), id, client.ANSI, client.AllHistory)
		at.must(err)
		if !strings.Contains(fmt.Sprint(shot), "31m") || at.info(id).Title != "title" {
			t.Errorf("no colour or title: %q, %q", shot.Text, at.info(id).Title)
		}
	})
}

// TestRemoteTerminalSurvivesTheServer: kill -9 of the server in the middle of a program elsewhere loses nothing
// (F-094).
func TestRemoteTerminalSurvivesTheServer(t *testing.T) {
	t.Parallel()
	atTerminals(t, func(t *testing.T, at *site) {
		w := at.rent("survivor", nil)
		id := w.open(wire.CreateTerminal{Cmd: []string{"bash", "-c",
			`i=0; while [ $i -lt 40 ]; do i=$((i+1)); echo "line $i."; sleep 0.05; done; read -r l; echo "after ` +
				`$l"; exit 3`}})
		at.await(id, `^line 3\.$`)
		at.kill()
		at.again()
		at.await(id, `^line 40\.$`)
		text := at.text(id)
		for i := 1; i <= 40; i++ {
			if n := strings.Count(text, fmt.Sprintf("line %d.\n", i)); n != 1 {
				t.Errorf("line %d is there %d times in\n%s", i, n, text)
			}
		}
		at.input(id, "all\r")
		at.await(id, "^after all$")
		if e := at.exit(id); e == nil || e.Code == nil || *e.Code != 3 {
			t.Errorf("the end is %s", asJSON(e))
		}
		w.run("echo shell too").is(0, "shell too\n")
	})
}

// TestRemoteCommandSurvivesTheServer: a command elsewhere goes on without the server, and its output, code and state
// are there for the next one.
func TestRemoteCommandSurvivesTheServer(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, at *site) {
		w := at.rent("steady", nil)
		w.run("true").is(0, "")
		g := newGate(t)
		wait := g.wait()
		if strings.HasSuffix(at.name, "-real") { // which has other files
			wait = "sleep 20"
		}
		_ = w.later(body{"command": "echo begun; " + wait + "; cd /tmp; export A=kept; echo ended; (exit 9)"})
		eventually(t, "the command prints", func() bool {
			list := w.commands("")
			return len(list) == 2 && list[1].Status == "running" && list[1].StdoutBytes > 0
		})
		at.kill()
		g.open()
		at.again()
		w.run("echo $A $PWD").is(0, "kept /tmp\n")
		if list := w.commands(""); len(list) != 3 || !list[1].ended("done", 9) ||
			list[1].StdoutBytes != int64(len("begun\nended\n")) {
			t.Errorf("the history is %v", list)
		}
	})
}

// TestRemoteCancel: a cancel reaches what runs elsewhere.
func TestRemoteCancel(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, at *site) {
		w := at.rent("cancel", nil)
		seconds := fmt.Sprint(77, ".", at.pid()) // no other place has it
		c := w.later(body{"command": "echo begun; sleep " + seconds + "; echo NOT"})
		var id string
		eventually(t, "the command prints", func() bool {
			list := w.commands("")
			if len(list) == 1 && list[0].StdoutBytes > 0 {
				id = list[0].CommandID
			}
			return id != ""
		})
		at.call("DELETE", "/session/cancel/commands/"+id, "").wants(200)
		if r := c.result(); !r.Cancelled || r.ExitCode != 130 || r.out() != "begun\n" {
			t.Errorf("the result is %+v", r)
		}
		w.endsThere("sleep " + seconds)
	})
}

// endsThere waits until no process where the thread runs has these arguments.
func (o *owner) endsThere(args string) {
	o.t.Helper()
	o.run("while ps -eo args 2>/dev/null | grep -qxF "+quote(args)+"; do sleep 0.05; done").is(0, "")
}

// TestRemoteTerminalsThatAreNot: a provider without terminals says so, and its commands work (F-095).
func TestRemoteTerminalsThatAreNot(t *testing.T) {
	t.Parallel()
	at := fakeSite(t, "agentbay", launch{errors: true})
	w := at.rent("plain", nil)
	r := at.post("/session/plain/pty", `{}`).wants(501)
	if !strings.Contains(r.body, "CAPABILITY") {
		t.Errorf("the answer is %s", r.body)
	}
	w.send(body{"command": "cat", "stdin_open": true}).wants(501)
	w.run("echo works").is(0, "works\n")
}

// TestRemoteTerminalIsLost: a terminal whose instance is gone ends as one of ssh(1) does, and says why on its screen.
func TestRemoteTerminalIsLost(t *testing.T) {
	t.Parallel()
	at := fakeSite(t, "e2b", launch{})
	w := at.rent("lost", nil)
	id := w.open(wire.CreateTerminal{Cmd: []string{"bash", "-c", "echo up; sleep 1000"}})
	at.await(id, "^up$")
	at.fake.Kill(w.instance())
	if e := at.exit(id); e == nil || e.Code == nil || *e.Code != 255 {
		t.Errorf("the end is %s", asJSON(e))
	}
	// Screens break lines: the reason may go on in the next one.
	if text := at.text(id); !strings.HasPrefix(text, "up\n") ||
		strings.Count(text, "\nevertty: the connection to the program is lost: ") != 1 {
		t.Errorf("nobody is told that the connection is lost:\n%s", text)
	}
}

// TestRemoteTerminalsHaveNoBounds: a sandbox and limits, which the kernel of this machine gives, are refused at a
// provider, for terminals and shells.
func TestRemoteTerminalsHaveNoBounds(t *testing.T) {
	t.Parallel()
	atTerminals(t, func(t *testing.T, at *site) {
		if at.name == "local" {
			t.Skip("this machine has them")
		}
		w := at.rent("bounds", nil)
		path := "/session/" + w.session
		at.post(path+"/pty", `{"cmd":["true"],"sandbox":"workspace"}`).refused(501, "CAPABILITY")
		at.post(path+"/pty", `{"cmd":["true"],"limits":{"pids":50}}`).refused(501, "CAPABILITY")
		at.post(path+"/shell", `{"sandbox":"read-only"}`).refused(501, "CAPABILITY")
	})
}

// TestRemoteTerminalsAreNotRestored: what shall start after a crash of this machine is refused at a provider, when a
// terminal is made and when it is changed; nothing is said in vain.
func TestRemoteTerminalsAreNotRestored(t *testing.T) {
	t.Parallel()
	atTerminals(t, func(t *testing.T, at *site) {
		if at.name == "local" {
			t.Skip("this machine restores")
		}
		w := at.rent("restored", nil)
		path := "/session/" + w.session + "/pty"
		for _, restore := range []string{`"command"`, `{"cmd":["true"]}`} {
			at.post(path, `{"cmd":["cat"],"restore":`+restore+`}`).refused(501, "CAPABILITY", "restore", "provider")
		}
		var made wire.Terminal
		at.post(path, `{"cmd":["cat"],"restore":"none"}`).wants(201).into(&made)
		at.call("PATCH", "/pty/"+made.ID, `{"restore":"command","title":"x"}`).refused(501, "CAPABILITY", "restore")
		at.call("PATCH", "/pty/"+made.ID, `{"restore":"none"}`).wants(200)
		if i := at.info(made.ID); i.State != "running" || i.Restore != nil || i.Title == "x" {
			t.Errorf("it is %+v", i)
		}
	})
}
