package tests

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

// cli is a call of the command line that finds this server by its data directory.
func (s *server) cli(args ...string) *exec.Cmd {
	return call(s.t, []string{"EVERTTY_DATA_DIR=" + s.how.dir}, args...)
}

// says carries out a call that must succeed and returns what it prints.
func (s *server) says(args ...string) string {
	s.t.Helper()
	e := run(s.t, s.cli(args...))
	if e.code != 0 || e.stderr != "" {
		s.t.Fatalf("evertty %s: exit code %d, %s", strings.Join(args, " "), e.code, e.stderr)
	}
	return e.stdout
}

// link is what evertty url prints.
func (s *server) link() string {
	s.t.Helper()
	e := run(s.t, s.cli("url"))
	local := strings.Contains(e.stdout, "://127.0.0.1:")
	if e.code != 0 || local != strings.Contains(e.stderr, "--listen") {
		s.t.Fatalf("evertty url: %+v", e)
	}
	return strings.TrimSpace(e.stdout)
}

// TestCommandLine: a day with new, ls, send, wait, logs, snapshot and kill.
func TestCommandLine(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token"})
	dir := t.TempDir()
	id := strings.TrimSuffix(s.says("new", "-d", "--name", "build", "--session", "work", "--cwd", dir, "--env", "A=b c",
		"--cols", "90", "--rows", "30", "--", "bash", "--norc"), "\n")
	if i := s.info(id); i.Name != "build" || i.Session != "work" || i.Cwd != dir || i.Env["A"] != "b c" ||
		i.Cols != 90 || i.Rows != 30 || len(i.Cmd) != 2 {
		t.Fatalf("%+v", i)
	}
	s.await(id, `[$#]$`)
	if out := s.says("send", "build", `echo "got '$A'"`, "--enter"); out != "" {
		t.Errorf("send says %q", out)
	}
	s.says("wait", "build", "--for", "regex", "--pattern", `(?m)^got 'b c'$`, "--timeout", patience.String())
	if out := s.says("logs", "build"); !strings.Contains(out, "\ngot 'b c'\n") || strings.HasSuffix(out, "\n\n") {
		t.Errorf("logs: %q", out)
	}
	if out := s.says("snapshot", "build", "--format", "text"); !strings.Contains(out, "\ngot 'b c'\n") ||
		strings.Count(out, "\n") > 30 {
		t.Errorf("snapshot: %q", out)
	}
	if ansi := s.says("snapshot", "build"); !strings.Contains(render(t, ansi, "text"), "\ngot 'b c'\n") {
		t.Errorf("snapshot as ansi: %q", ansi)
	}
	var screen screenJSON
	s.must(json.Unmarshal([]byte(s.says("snapshot", "build", "--format", "json")), &screen))
	if screen.Cols != 90 || len(screen.Lines) != 30 {
		t.Errorf("snapshot as json: %+v", screen)
	}
	table := s.says("ls")
	if lines := strings.Split(table, "\n"); len(lines) != 3 || !strings.HasPrefix(lines[0], "ID ") ||
		!strings.HasPrefix(lines[1], id+" ") || !strings.Contains(lines[1], " running ") ||
		!strings.Contains(lines[1], "90x30") {
		t.Errorf("ls:\n%s", table)
	}
	var list []client.Terminal
	s.must(json.Unmarshal([]byte(s.says("ls", "--json")), &list))
	if len(list) != 1 || list[0].ID != id || list[0].State != "running" {
		t.Errorf("ls --json: %+v", list)
	}
	if out := s.says("ls", "--json", "--session", "other"); strings.TrimSpace(out) != "[]" {
		t.Errorf("ls of another session: %s", out)
	}
	s.says("send", "build", "echo be''gun; cat -v", "--enter")
	s.await(id, `^begun$`) // before it bash reads single keys: an Enter that came then is no end of a line
	s.says("send", "build", "--keys", "Up", "text:typed", "C-a", "Enter")
	s.await(id, `^\^\[\[Atyped\^A$`)
	s.says("kill", "build", "--signal", "INT")
	s.await(id, `typed\^A\n(.*\n)*?.*[$#]$`)
	s.says("send", "build", "exit 7\r")
	if e := run(t, s.cli("wait", "build")); e.code != 7 {
		t.Errorf("wait: %+v", e)
	}
	var made client.Terminal
	s.must(json.Unmarshal([]byte(s.says("new", "-d", "--json", "--", "sleep", "1000")), &made))
	s.says("kill", made.ID)
	s.get("/pty/" + made.ID).wants(200)
	s.says("kill", made.ID, "--purge")
	s.get("/pty/"+made.ID).refused(404, "NOT_FOUND")
	if out := s.says("version"); !strings.HasPrefix(out, "evertty ") {
		t.Errorf("version: %q", out)
	}
}

// TestLogsFollow: the output of a program from its begin to its end, each line once.
func TestLogsFollow(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token"})
	id := s.create("bash", "-c", "stty -echo; seq 100; read -r; seq 101 300; read -r; echo over; exit 3").ID
	s.await(id, "^100$")
	c := s.cli("logs", id, "--follow")
	out, errs := &output{}, &output{}
	c.Stdout, c.Stderr = out, errs
	s.must(c.Start())
	eventually(t, "the beginning", func() bool { return strings.HasSuffix(out.String(), "\n100\n") })
	s.input(id, "\n")
	eventually(t, "the middle", func() bool { return strings.HasSuffix(out.String(), "\n300\n") })
	s.input(id, "\n")
	if err := c.Wait(); err != nil || errs.String() != "" {
		t.Errorf("%v %s", err, errs)
	}
	var want strings.Builder
	for i := range 300 {
		fmt.Fprintln(&want, i+1)
	}
	if want.WriteString("over\n"); out.String() != want.String() {
		t.Errorf("it printed\n%s", out)
	}
	if all := s.says("logs", id); all != want.String() {
		t.Errorf("logs prints\n%s", all)
	}
}

// TestExitCodes: 2 usage, 3 no server, 4 no such terminal, 124 timeout, and the
// child's own.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token"})
	s.says("new", "-d", "--name", "cat", "--", "cat")
	s.says("new", "-d", "--name", "five", "--", "bash", "-c", "exit 5")
	s.says("new", "-d", "--name", "killed", "--", "bash", "-c", "kill -KILL $$")
	for args, code := range map[string]int{
		"wait five": 5, "wait killed": 137, "wait cat --timeout 50ms": 124,
		"wait cat --for text --pattern no --timeout 50ms": 124,
		"wait nothere": 4, "attach nothere": 2, "send nothere x": 4, "logs nothere": 4, "snapshot nothere": 4,
		"kill nothere": 4,
		"send five x":  1, "send cat": 2, "send cat --keys NoKey": 2, "send": 2, "wait cat --for luck": 2,
		"wait cat --for text": 2, "kill cat --signal NOPE": 2,
		"new -d --cols 5000 -- cat": 2, "new -d -- no-such-command-here": 2, "new -d --cwd /no/such/dir -- cat": 2,
		"new -d --env X -- cat": 2,
		"attach cat":            2, "ls more": 2, "ls --nope": 2, "nope": 2, "snapshot cat --format gif": 2,
		"logs cat --text --raw": 2,
	} {
		e := run(t, s.cli(strings.Fields(args)...))
		if e.code != code || (e.stderr == "") != strings.HasPrefix(args, "wait five") &&
			(e.stderr == "") != strings.HasPrefix(args, "wait killed") || strings.Count(e.stderr, "\n") > 1 {
			t.Errorf("evertty %s: exit code %d, want %d: %q", args, e.code, code, e.stderr)
		}
	}
	if list, err := s.List(s.ctx(), ""); err != nil || len(list) != 3 {
		t.Errorf("%d terminals, %v", len(list), err)
	}
	s.stop()
	none := filepath.Join(t.TempDir(), "none")
	for _, args := range []string{"ls", "new -d -- cat", "send x y", "logs x", "wait x", "kill x", "snapshot x",
		"url"} {
		verb, rest, _ := strings.Cut(args, " ")
		words := append([]string{verb, "--no-start"}, strings.Fields(rest)...)
		run(t, s.cli(words...)).refuses(t, 3, "no server")
		run(t, s.cli(append([]string{"--data-dir", none}, words...)...)).refuses(t, 3, "no server", none)
	}
	s.launch() // a server of another address, whose token nobody may be shown
	run(t, s.cli("ls", "--server", "http://127.0.0.1:1")).refuses(t, 3, "no server", "127.0.0.1:1")
	run(t, call(t, []string{"EVERTTY_SERVER=" + s.url}, "ls")).refuses(t, 1, "token")
	if out := run(t, call(t, []string{"EVERTTY_SERVER=" + s.url,
		"EVERTTY_TOKEN_FILE=" + filepath.Join(s.how.dir, "token")}, "ls")); out.code != 0 {
		t.Errorf("%+v", out)
	}
}

// TestSendReadsStandardInput: text of any size and any bytes, exactly.
func TestSendReadsStandardInput(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token"})
	text := strings.Repeat("\x00\xff line\n", 150_000) // 1.2 MB: more than one request
	id := s.create("bash", "-c", fmt.Sprintf("stty raw -echo; echo ready; head -c %d | sha256sum", len(text))).ID
	s.await(id, "^ready")
	c := s.cli("send", id, "-")
	c.Stdin = strings.NewReader(text)
	if e := run(t, c); e.code != 0 {
		t.Fatalf("%+v", e)
	}
	if got := s.await(id, `^\s*[0-9a-f]{64}  -$`); !strings.Contains(got, sha256Of(text)) {
		t.Errorf("the program read something else:\n%s", got)
	}
}

// TestAttach looks at `evertty attach` in a terminal of another server: what a
// person sees is that terminal's screen.
func TestAttach(t *testing.T) {
	t.Parallel()
	inner, outer := start(t, launch{auth: "token"}), start(t, launch{})
	id := inner.create("bash", "--norc").ID
	inner.input(id, "seq 40; printf '\\033]2;inner title\\007\\033[1;31mred\\033[0m\\n'\n")
	inner.await(id, "^red$")

	// A shell of the person's; what it says about its terminal goes to files.
	dir := t.TempDir()
	me := outer.createWith(wire.CreateTerminal{Cmd: []string{"bash", "--norc"}, Cols: new(100), Rows: new(20), Cwd: dir,
		Env: map[string]string{"PS1": "me> ", "EVERTTY_DATA_DIR": inner.how.dir, "EVERTTY": binary}}).ID
	outer.await(me, "^me>$")
	screen := func() screenJSON {
		var v screenJSON
		outer.get("/pty/" + me + "/snapshot?format=json").into(&v)
		return v
	}
	mine := func() string {
		shot, err := outer.Snapshot(outer.ctx(), me, client.Text, 0)
		outer.must(err)
		return shot.Text
	}
	outer.input(me, "echo 'before' attach; stty -a > stty.before; $EVERTTY attach --nested "+id+
		"; echo \"code $?\"; stty -a > stty.after\n")
	eventually(t, "the inner screen is shown", func() bool {
		return strings.Contains(mine(), "\nred\n") && screen().Title == "inner title"
	})
	if lines := screen().Lines; !strings.Contains(fmt.Sprint(lines), "{red 3 1 <nil> [bold]}") {
		t.Errorf("the colours are lost: %v", lines)
	}
	if i := inner.info(id); i.Cols != 100 || i.Rows != 20 {
		t.Errorf("the inner terminal is %dx%d", i.Cols, i.Rows)
	}

	outer.input(me, "echo 'typed' here\r")
	inner.await(id, "^typed here$")
	outer.await(me, "^typed here$")
	before := inner.fetched()
	outer.must(outer.Resize(outer.ctx(), me, 70, 15))
	eventually(t, "the size follows", func() bool { i := inner.info(id); return i.Cols == 70 && i.Rows == 15 })
	// The person's terminal rearranges its lines in its own way, so attach connects again.
	eventually(t, "the screen was fetched anew", func() bool {
		return inner.fetched() > before && inner.info(id).Viewers == 1
	})
	outer.input(me, "stty size; printf '\\033[?1002;1006;2004h\\033[?25l'\r")
	inner.await(id, "^15 70$")
	eventually(t, "the modes reach the person's terminal", func() bool {
		v := screen()
		return v.Modes["mouse"] == "button" && v.Modes["mouse_encoding"] == "sgr" && !v.Cursor.Visible
	})
	before = inner.fetched()
	inner.must(inner.Resize(inner.ctx(), id, 60, 12)) // somebody else does
	eventually(t, "the screen was fetched anew", func() bool {
		return inner.fetched() > before && inner.info(id).Viewers == 1
	})
	outer.input(me, "echo 'smaller' now\r")
	outer.await(me, "^smaller now$")

	outer.input(me, "\x1c\x1c") // the detach keys
	outer.await(me, "^code 0$")
	outer.await(me, `^\[detached from `)
	v := screen()
	// Bracketed paste is set again by the person's own shell.
	for mode, want := range map[string]any{"mouse": "none", "mouse_encoding": "default", "focus_events": false,
		"application_cursor": false, "autowrap": true, "origin": false} {
		if v.Modes[mode] != want {
			t.Errorf("after the detach %s is %v, want %v", mode, v.Modes[mode], want)
		}
	}
	if v.Alt || !v.Cursor.Visible {
		t.Errorf("after the detach: alt %v, cursor %+v", v.Alt, v.Cursor)
	}
	for _, what := range []string{"before attach", "red", "smaller now"} { // it is in the person's history
		if !strings.Contains(outer.text(me), what) {
			t.Errorf("the person's terminal has lost %q", what)
		}
	}
	eventually(t, "stty.after", func() bool {
		i, err := os.Stat(filepath.Join(dir, "stty.after"))
		return err == nil && i.Size() > 0
	})
	settings := func(file string) string {
		b, err := os.ReadFile(filepath.Join(dir, file))
		inner.must(err)
		_, rest, _ := strings.Cut(string(b), "\n") // the first line has the size
		return rest
	}
	if was, is := settings("stty.before"), settings("stty.after"); was != is {
		t.Errorf("the terminal's settings were\n%s\nand are\n%s", was, is)
	}
	if i := inner.info(id); i.State != "running" || i.Viewers != 0 {
		t.Errorf("after the detach: %+v", i)
	}
	// A detached session goes on; the end of the program is the end of attach.
	outer.input(me, "clear; $EVERTTY attach --nested "+id+" --detach-keys C-x; echo \"code $?\"\n")
	eventually(t, "attached again", func() bool { return inner.info(id).Viewers == 1 })
	inner.input(id, "echo 'once' more\r")
	outer.await(me, "^once more$") // what is typed before the screen is there is dropped
	outer.input(me, "exit 7\r")
	outer.await(me, "^code 7$")
	outer.await(me, `^\[exited: 7\]$`)
}

// fetched is how many snapshots viewers were given.
func (s *server) fetched() (n int) {
	s.t.Helper()
	for line := range strings.Lines(s.get("/metrics").wants(200).body) {
		if strings.HasPrefix(line, "evertty_viewer_snapshots_total{") {
			v, err := strconv.Atoi(strings.TrimSpace(line[strings.LastIndex(line, " "):]))
			s.must(err)
			n += v
		}
	}
	return n
}

// TestAttachKeepsWhatIsTyped: while the person's window changes its size, no key
// is lost and none changes its place.
func TestAttachKeepsWhatIsTyped(t *testing.T) {
	t.Parallel()
	inner, outer := start(t, launch{auth: "token"}), start(t, launch{})
	id := inner.create("bash", "-c", "stty -echo; echo ready; while read -r line; do echo \"got $line\"; done").ID
	inner.await(id, "^ready$")
	me := outer.createWith(wire.CreateTerminal{Cmd: []string{binary, "attach", id, "--nested", "--data-dir",
		inner.how.dir}, Cols: new(80), Rows: new(24)}).ID
	outer.await(me, "^ready$")
	var want strings.Builder
	typed := 0
	for n := range 4 {
		before, end := inner.fetched(), time.Now().Add(patience)
		outer.must(outer.Resize(outer.ctx(), me, 90+n, 30+n))
		for more := 10; more > 0; { // until the screen was fetched anew, and a little longer
			if time.Now().After(end) {
				i := inner.info(id)
				t.Fatalf("resize %d never reached the terminal: it is %dx%d", n, i.Cols, i.Rows)
			}
			outer.input(me, fmt.Sprintf("%04d\r", typed))
			fmt.Fprintf(&want, "got %04d\n", typed)
			if typed++; inner.fetched() > before {
				more--
			}
		}
	}
	outer.input(me, "end\r")
	_, got, _ := strings.Cut(inner.await(id, "^got end$"), "ready\n")
	if got, _, _ = strings.Cut(got, "got end"); got != want.String() {
		t.Errorf("of %d lines that were typed arrived\n%s", typed, got)
	}
}

// TestAttachReadOnly: nothing that is typed arrives, and the size stays.
func TestAttachReadOnly(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token"})
	id := s.create("cat").ID
	me := s.createWith(wire.CreateTerminal{Cmd: []string{binary, "attach", id, "--nested", "--read-only", "--data-dir",
		s.how.dir}, Cols: new(60), Rows: new(10)}).ID
	eventually(t, "attached", func() bool { return s.info(id).Viewers == 1 })
	s.input(id, "from elsewhere\n")
	s.await(me, "^from elsewhere$")
	s.input(me, "typed\r")
	s.must(s.Resize(s.ctx(), me, 50, 12))
	s.input(id, "still alive\n")
	s.await(me, "^still alive$")
	if i := s.info(id); i.Cols != 80 || strings.Contains(s.text(id), "typed") {
		t.Errorf("the reader acted: %d columns\n%s", i.Cols, s.text(id))
	}
	s.input(me, "\x1c\x1c")
	if exit := s.exit(me); *exit.Code != 0 {
		t.Errorf("%+v\n%s", exit, s.text(me))
	}
}

// TestAttachOutlivesTheServer: the viewer says that the connection is lost, and
// goes on when the server is back, as does the program.
func TestAttachOutlivesTheServer(t *testing.T) {
	t.Parallel()
	inner, outer := start(t, launch{auth: "token", listen: freePort(t), flags: often}), start(t, launch{})
	id := inner.create("bash", "--norc").ID
	inner.input(id, "echo 'last' words\n")
	inner.await(id, "^last words$")
	me := outer.createWith(wire.CreateTerminal{Cmd: []string{binary, "attach", id, "--nested", "--data-dir",
		inner.how.dir}, Cols: new(80), Rows: new(24)}).ID
	outer.await(me, "^last words$")
	inner.settled(id)
	inner.kill()
	outer.await(me, "lost, trying again")
	inner.again()
	eventually(t, "it is back", func() bool { return inner.info(id).Viewers == 1 })
	inner.input(id, "echo 'back' again\n")
	outer.await(me, "^back again$") // what is typed before goes nowhere
	outer.input(me, "echo 'new' words; exit 7\r")
	if exit := outer.exit(me); *exit.Code != 7 {
		t.Errorf("%+v", exit)
	}
	if text := outer.text(me); !strings.Contains(text, "\nlast words\n") || !strings.Contains(text, "\nnew words\n") {
		t.Errorf("the person sees\n%s", text)
	}
}

// TestNewShowsTheTerminal: without -d the person is in it at once.
func TestNewShowsTheTerminal(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token"})
	me := s.createWith(wire.CreateTerminal{Cmd: []string{binary, "new", "--name", "fresh", "--data-dir", s.how.dir,
		"--", "bash", "-c", "stty size; read; exit 6"}, Cols: new(77), Rows: new(11)}).ID
	s.await(me, "^11 77$")
	if i := s.info("fresh"); i.Cols != 77 || i.Rows != 11 || i.Viewers != 1 {
		t.Errorf("%+v", i)
	}
	s.input(me, "\r")
	if exit := s.exit(me); *exit.Code != 6 {
		t.Errorf("%+v", exit)
	}
}
