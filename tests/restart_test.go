package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

// restart starts a new generation and returns what is said of it.
func (s *server) restart(id string) client.Terminal {
	s.t.Helper()
	var i client.Terminal
	s.post("/pty/"+id+"/restart", `{}`).wants(200).into(&i)
	return i
}

// TestTheServerRestarts: programs outlive their server, by SIGTERM and by SIGKILL,
// with their state; who watched sees the same again.
func TestTheServerRestarts(t *testing.T) {
	t.Parallel()
	for _, by := range []string{"SIGTERM", "SIGKILL"} {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			s := start(t, launch{listen: freePort(t)})
			outer := start(t, launch{})
			quiet := s.still()
			id := s.createWith(wire.CreateTerminal{Cmd: []string{"bash", "--norc"},
				Cols: new(100), Rows: new(30), Name: "mine",
				Env: map[string]string{"A": "b"}}).ID
			s.input(id, "echo 'one' $A\n")
			s.await(id, "^one b$")
			s.must(s.Resize(s.ctx(), id, 90, 25))
			me := outer.createWith(wire.CreateTerminal{Cmd: []string{binary, "attach", "mine", "--nested",
				"--data-dir", s.how.dir}, Cols: new(90), Rows: new(25)}).ID
			outer.await(me, "^one b$")
			s.resting(id)
			was := s.info(id)
			for round := range 3 {
				before := s.screenOf(id)
				if by == "SIGTERM" {
					s.stop()
				} else {
					s.kill()
				}
				if !alive(was.PID) || !alive(quiet.pid) {
					t.Fatal("a program died with the server")
				}
				outer.await(me, "lost, trying again")
				s.again()
				reconnected(outer, me)
				is := s.info(id)
				if is.State != "running" || is.PID != was.PID || is.Exit != nil || is.Cols != 90 || is.Rows != 25 ||
					is.Generation != was.Generation ||
					is.Name != "mine" || is.Env["A"] != "b" || !is.CreatedAt.Equal(was.CreatedAt) ||
					is.LastOutputAt.Before(is.CreatedAt) {
					t.Errorf("it was %+v, is %+v", was, is)
				}
				if got := s.screenOf(id); got != before {
					t.Errorf("it showed\n%s\nand shows\n%s", before, got)
				}
				s.checkStill(quiet)
				outer.input(me, fmt.Sprintf("echo 'typed' %d\r", round))
				outer.await(me, fmt.Sprintf("^typed %d$", round))
				s.await(id, fmt.Sprintf("^typed %d$", round))
				s.resting(id)
			}
			for _, kind := range transports {
				if v := s.watch(kind, id); !strings.Contains(v.all(), "\none b\n") || v.cols != 90 {
					t.Errorf("%s: %d columns\n%s", kind, v.cols, v.all())
				}
			}
			s.input(id, "exit 3\n")
			if exit := outer.exit(me); *exit.Code != 3 {
				t.Errorf("the viewer ended with %+v", exit)
			}
			s.honest(s.exit(id), 3, "")
		})
	}
}

// reconnected waits until `evertty attach` in a terminal of another server, which
// has said that the connection is lost, shows the screen again.
func reconnected(outer *server, me string) {
	outer.t.Helper()
	eventually(outer.t, "the viewer is back", func() bool { return !strings.Contains(outer.text(me), "trying again") })
}

// resting waits until a shell has written its prompt and the kernel has no more.
func (s *server) resting(id string) {
	s.t.Helper()
	s.await(id, `[$#] ?$`)
	rests(s.t, "the shell rests", func() uint64 { return s.info(id).Seq })
}

// TestRestartOfATerminal: a new generation in the last directory with the last
// environment, the old screen above a dim line that says when and why.
func TestRestartOfATerminal(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"exit", "signal", "reboot"} {
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			s := start(t, launch{listen: freePort(t), flags: often})
			dir := t.TempDir()
			id := s.createWith(wire.CreateTerminal{Cmd: []string{"bash", "--norc"}, Cwd: "/",
				Env: map[string]string{"A": "b", "PS1": `\$ `}, Cols: new(80), Rows: new(24)}).ID
			s.input(id, "cd "+dir+"; printf '\\033[?1000;1006h\\033[?2004h\\033]7;file://'$HOSTNAME$PWD'\\007'; "+
				"echo 'old' screen\n")
			s.await(id, "^old screen$")
			eventually(t, "the new directory is known", func() bool { return s.info(id).Cwd == dir })
			s.post("/pty/"+id+"/restart", `{}`).refused(409, "RUNNING")
			s.resting(id)
			s.settled(id)
			was := s.info(id)
			switch end {
			case "exit":
				s.input(id, "exit 3\n")
				s.exit(id)
			case "signal":
				s.post("/pty/"+id+"/signal", `{"signal":"KILL"}`).wants(200)
				s.exit(id)
			case "reboot":
				eventually(t, "the directory is on disk", func() bool { return strings.Contains(s.record(id), dir) })
				s.reboot()
				s.again()
			}
			ended := s.info(id)
			is := s.restart(id)
			if is.ID != id || is.State != "running" || is.Exit != nil || is.PID == was.PID || !alive(is.PID) ||
				is.Generation != was.Generation+1 || is.Seq <= ended.Seq-1 ||
				is.Cwd != dir || is.Env["A"] != "b" || !slices.Equal(is.Cmd, was.Cmd) {
				t.Errorf("it was %+v, is %+v", was, is)
			}
			s.input(id, "echo \"now $A $PWD\"\n")
			text := s.await(id, "^now b "+regexp.QuoteMeta(dir)+"$")
			old, now := strings.Index(text, "\nold screen\n"), strings.Index(text, "\nnow b ")
			if old < 0 || old > now {
				t.Fatalf("the old screen is not above the new:\n%s", text)
			}
			reason := map[string]string{"exit": "3", "signal": "KILL", "reboot": "lost"}[end]
			s.dimLine(id, reason)
			raw := string(s.raw(id))
			if !strings.Contains(raw, "old screen\r\n") || !strings.Contains(raw, "now b "+dir) ||
				uint64(len(raw)) > s.info(id).Seq {
				t.Errorf("the recording: %q", raw)
			}
			if modes := s.modes(id); modes["mouse"] != "none" {
				t.Errorf("the dead program still has the mouse: %v", modes)
			}
			s.resting(id)
			before := s.screenOf(id)
			s.kill()
			s.again() // the new generation outlives a server as the first did
			if i := s.info(id); i.State != "running" || i.PID != is.PID || i.Generation != is.Generation ||
				s.screenOf(id) != before {
				t.Errorf("after a restart of the server: %+v\n%s\nwant\n%s", i, s.screenOf(id), before)
			}
		})
	}
}

// record is what is on disk of a terminal besides its screen.
func (s *server) record(id string) string {
	s.t.Helper()
	return string(s.readFile("terminals", id, "meta"))
}

// modes are the modes of a terminal by name.
func (s *server) modes(id string) map[string]any {
	s.t.Helper()
	var screen screenJSON
	s.get("/pty/" + id + "/snapshot?format=json").wants(200).into(&screen)
	return screen.Modes
}

// dimLine checks that one line is dim and tells when and why the program ended.
func (s *server) dimLine(id, reason string) {
	s.t.Helper()
	var screen screenJSON
	s.get("/pty/" + id + "/snapshot?format=json").wants(200).into(&screen)
	var dim []string
	for _, l := range screen.Lines {
		for _, r := range l.Runs {
			if slices.Contains(r.Attrs, "dim") || slices.Contains(r.Attrs, "faint") {
				dim = append(dim, r.Text)
			}
		}
	}
	if len(dim) != 1 || !strings.Contains(dim[0], reason) || !regexp.MustCompile(`\d\d:\d\d`).MatchString(dim[0]) {
		s.t.Errorf("dim is %q, want one line with a time and %q\n%s", dim, reason, s.text(id))
	}
}

// TestTakeover: the server that is there is asked to leave, and its programs go on
// under the new one.
func TestTakeover(t *testing.T) {
	t.Parallel()
	old := start(t, launch{listen: freePort(t)})
	quiet := old.still()
	f := old.numbered("plain")
	v := old.watch(sse, f.id)
	v.blind = true
	v.until("output", func() bool { return v.seq > 1<<20 })
	listen := strings.TrimPrefix(old.url, "http://")
	run(t, call(t, nil, "serve", "--listen", listen, "--data-dir", old.how.dir)).refuses(t, 1, old.how.dir,
		fmt.Sprintf("process %d", old.pid()))
	s := start(t, launch{dir: old.how.dir, listen: listen, flags: []string{"--takeover"}})
	<-old.exited
	if code := old.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("the old server ended with %d\n%s", code, old.stderr)
	}
	f.s = s
	s.checkStill(quiet)
	f.checkScreen(v.seq)
	f.checkRecording()
	if i := s.info(f.id); i.PID != f.pid || i.State != "running" {
		t.Errorf("%+v", i)
	}
	s.checkEndOfFlood(f)
	// Without a server there is nobody to take over from.
	dir := filepath.Join(t.TempDir(), "data")
	start(t, launch{dir: dir, flags: []string{"--takeover"}}).shell()
}

// TestUpgradeUnderAViewer: SIGTERM, a newer binary, and a person who watches all
// the time.
func TestUpgradeUnderAViewer(t *testing.T) {
	t.Parallel()
	s := start(t, launch{listen: freePort(t)})
	outer := start(t, launch{})
	f := s.numbered("plain")
	id := s.shell().ID
	me := outer.createWith(wire.CreateTerminal{Cmd: []string{binary, "attach", id, "--nested", "--data-dir",
		s.how.dir}, Cols: new(80), Rows: new(24)}).ID
	outer.await(me, `[$#]$`)
	outer.input(me, "echo 'before' the upgrade\r")
	outer.await(me, "^before the upgrade$")
	pid := s.info(id).PID
	v := s.watch(wsJSON, f.id)
	v.blind = true
	v.until("output", func() bool { return v.seq > 1<<20 })
	s.stop()
	outer.await(me, "lost, trying again")
	s.how.binary = buildRelease(t, "v9.0.1")
	s.again()
	var version struct{ Version string }
	if s.get("/version").wants(200).into(&version); !strings.Contains(version.Version, "v9.0.1") {
		t.Errorf("the version is %q", version.Version)
	}
	reconnected(outer, me)
	outer.input(me, "echo 'after' it\r")
	outer.await(me, "^after it$")
	if text := outer.text(me); !strings.Contains(text, "before the upgrade") {
		t.Errorf("the viewer lost what it showed:\n%s", text)
	}
	if i := s.info(id); i.PID != pid || i.State != "running" {
		t.Errorf("%+v", i)
	}
	w := &follower{f: f, seq: v.seq}
	follow := s.followAll([]*follower{w})
	eventually(t, "the flood goes on", func() bool { return s.info(f.id).Seq > v.seq+1<<20 })
	s.kill()
	s.must(follow())
	s.again()
	f.checkRecording()
	s.checkEndOfFlood(f)
}

// TestResizesSurvive: the journal knows at which byte the size changed, so the
// screen after a replay is that of the same bytes and the same sizes.
func TestResizesSurvive(t *testing.T) {
	t.Parallel()
	s := start(t, launch{listen: freePort(t), flags: []string{"--snapshot-interval", "1h"}})
	id := s.createWith(wire.CreateTerminal{Cmd: []string{"bash", "--norc"}, Env: map[string]string{"PS1": `\$ `},
		Cols: new(80), Rows: new(24)}).ID
	s.resting(id)
	flags := []string{"render", "--cols", "80", "--rows", "24", "--format", "ansi"}
	for i, size := range [][2]int{{40, 10}, {100, 30}, {33, 7}, {80, 24}} {
		s.input(id, fmt.Sprintf("seq -s ' ' 300; echo 'done' %d\n", i))
		s.await(id, fmt.Sprintf("done %d$", i))
		s.resting(id)
		at := s.info(id).Seq
		s.must(s.Resize(s.ctx(), id, size[0], size[1]))
		flags = append(flags, "--resize-at", fmt.Sprintf("%d:%dx%d", at, size[0], size[1]))
		s.resting(id)
	}
	for _, end := range []func(){s.kill, s.reboot} {
		end()
		s.again()
		shot, err := s.Snapshot(s.ctx(), id, client.ANSI, client.AllHistory)
		s.must(err)
		c := call(t, nil, append(flags, "-")...)
		c.Stdin = strings.NewReader(string(s.raw(id)))
		want := run(t, c).stdout
		if text, rendered := s.text(id), render(t, want, "text"); strings.TrimRight(text, "\n") == "" ||
			s.info(id).State == "running" && shot.Data != want {
			t.Errorf("the screen\n%s\nand what the recording makes\n%s\n%.300q\n%.300q", text, rendered, shot.Data,
				want)
		}
	}
}

// TestAKillBetweenSnapshotAndRecord: the screen on disk is newer than the record
// beside it. When there was output last is known all the same.
func TestAKillBetweenSnapshotAndRecord(t *testing.T) {
	t.Parallel()
	s := start(t, launch{listen: freePort(t), flags: []string{"--snapshot-interval", "1h"}})
	id := s.create("cat").ID
	record := s.file("terminals", id, "meta")
	old, err := os.ReadFile(record)
	s.must(err)
	s.input(id, "words\n")
	const all = uint64(len("words\r\nwords\r\n")) // the echo of the terminal, then cat's
	eventually(t, "what cat prints", func() bool { return s.info(id).Seq == all })
	printed := s.info(id).LastOutputAt
	s.stop()
	s.must(os.WriteFile(record, old, 0o600))
	s.again()
	if i := s.info(id); i.State != "running" || i.LastOutputAt.Before(i.CreatedAt) ||
		i.LastOutputAt.After(printed.Add(time.Second)) {
		t.Errorf("%+v, printed at %v", i, printed)
	}
}
