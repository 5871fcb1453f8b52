package tests

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/evertty/evertty/wire"
)

// sandboxed are the directories of a test of sandboxes.
type sandboxed struct {
	*server
	in, out, temporary string
}

// sandbox starts a server, as another user unless uid is 0, and makes directories of its user. All of them are below
// the system's temporary directory, so programs get one of their own.
func sandbox(t *testing.T, uid uint32) sandboxed {
	t.Helper()
	b := sandboxed{}
	if uid == 0 {
		b.server = start(t, launch{auth: "token"})
	} else {
		b.server = account(t, uid, "")
	}
	top := t.TempDir()
	b.must(os.Chmod(top, 0o755))
	b.must(os.Chmod(filepath.Dir(top), 0o755))
	for path, name := range map[*string]string{&b.in: "in", &b.out: "out", &b.temporary: "tmp"} {
		*path = filepath.Join(top, name)
		b.must(os.Mkdir(*path, 0o755))
		b.must(os.Chown(*path, int(uid), int(uid)))
	}
	for _, dir := range []string{b.in, b.out} {
		b.must(os.WriteFile(filepath.Join(dir, "kept"), []byte("kept"), 0o666))
		b.must(os.Chmod(filepath.Join(dir, "kept"), 0o666))
	}
	return b
}

// env is what the attempts need to know.
func (b sandboxed) env() map[string]string {
	return map[string]string{"IN": b.in, "OUT": b.out, "TMPDIR": b.temporary, "DATA": b.how.dir, "EVERTTY": binary,
		"SERVER": strconv.Itoa(b.pid())}
}

// attempts are what a program tries, in bash.
var attempts = map[string]string{
	"write in":         `echo x >"$IN/a"`,
	"move in":          `mv "$IN/a" "$IN/b"`,
	"write temporary":  `f=$(mktemp) && echo x >"$f" && rm "$f"`,
	"write out":        `echo x >"$OUT/a"`,
	"append out":       `echo x >>"$OUT/kept"`,
	"truncate out":     `perl -e 'exit !truncate(shift, 0)' "$OUT/kept"`,
	"remove out":       `rm -f "$OUT/kept"`,
	"make dir out":     `mkdir "$OUT/dir"`,
	"move out":         `mv "$IN/kept" "$OUT/moved"`,
	"write by a link":  `ln -sfn "$OUT" "$TMPDIR/link" && echo x >"$TMPDIR/link/a"`,
	"write in a child": `(exec setsid -w sh -c 'echo x >"$OUT/b"') & wait $!`,
	"list":             `ls "$OUT" /etc >/dev/null`,
	"read":             `head -c1 /etc/passwd && head -c1 "$OUT/kept"`,
	"read the token":   `head -c1 "$DATA/token"`,
	"reach the server": `"$EVERTTY" --data-dir "$DATA" ls`,
	"be told why not":  `"$EVERTTY" ls || "$EVERTTY" ls 2>&1 | grep 'no server: a program in a sandbox'`,
	"signal":           `kill -0 "$SERVER"`,
	"read its secrets": `head -c1 "/proc/$SERVER/environ"`,
	"null":             `echo x >/dev/null`,
	"own terminal":     `echo x >/dev/tty && { ! tty || echo x >"$(tty)"; }`,
	"new terminal":     `script -qec true /dev/null`,
	"gain rights":      `! grep -q "NoNewPrivs:.1" /proc/self/status`,
}

// allowed are the attempts that must work; the others must fail.
var allowed = map[wire.Sandbox][]string{
	wire.SandboxNone: nil, // all
	wire.SandboxWorkspace: {"write in", "move in", "write temporary", "list", "read", "null", "own terminal",
		"new terminal", "be told why not"},
	wire.SandboxReadOnly: {"list", "read", "null", "own terminal", "be told why not"},
}

// order is that of the attempts: an earlier one must not make a later one fail.
var order = []string{"write in", "move in", "write temporary", "list", "read", "write out", "append out",
	"truncate out", "write by a link", "write in a child", "make dir out", "remove out", "move out", "null", "own terminal",
	"new terminal", "read the token", "reach the server", "be told why not", "signal",
	"read its secrets", "gain rights"}

// script tries everything and prints a line for each attempt that worked.
func script() string {
	var b strings.Builder
	for _, name := range order {
		fmt.Fprintf(&b, "if { %s; } >/dev/null 2>&1; then echo 'did: %s.'; fi\n", attempts[name], name)
	}
	return b.String() + "echo over\n"
}

// check compares what worked with what may.
func (b sandboxed) check(mode wire.Sandbox, printed string) {
	b.t.Helper()
	for _, name := range order {
		did := strings.Contains(printed, "did: "+name+".")
		if mode == wire.SandboxNone && name == "read its secrets" {
			continue // root may
		}
		may := mode == wire.SandboxNone || strings.Contains(strings.Join(allowed[mode], ","), name)
		if did != may {
			b.t.Errorf("%s: %q worked: %v, want %v", mode, name, did, may)
		}
	}
	if b.t.Failed() {
		b.t.Logf("%s", printed)
	}
}

// needsLandlock skips a test on a kernel without sandboxes.
func (b sandboxed) needsLandlock() {
	b.t.Helper()
	r := b.post("/session/test/pty", asJSON(wire.CreateTerminal{Cmd: []string{"true"}, Cwd: b.in, Env: b.env(),
		Sandbox: wire.SandboxReadOnly}))
	if r.status == 501 {
		b.t.Skipf("this kernel has no sandboxes: %s", r.body)
	}
	r.wants(201)
}

// TestSandboxModes: what a program on a terminal may do in each mode, as root and as another user.
func TestSandboxModes(t *testing.T) {
	t.Parallel()
	for _, uid := range []uint32{0, alice} {
		for _, mode := range []wire.Sandbox{wire.SandboxNone, wire.SandboxWorkspace, wire.SandboxReadOnly} {
			t.Run(fmt.Sprintf("%s/%d", mode, uid), func(t *testing.T) {
				t.Parallel()
				if uid != 0 && os.Geteuid() != 0 {
					t.Skip("only root can start the server of another user")
				}
				b := sandbox(t, uid)
				b.needsLandlock()
				i := b.createWith(wire.CreateTerminal{Cmd: []string{"bash", "-c", script()}, Cwd: b.in, Env: b.env(),
					Sandbox: mode, Rows: new(60)})
				if i.Sandbox != mode {
					t.Errorf("the terminal says %q", i.Sandbox)
				}
				b.exit(i.ID)
				b.check(mode, b.text(i.ID))
			})
		}
	}
}

// TestSandboxRestarts: a restart begins in another directory and in the same sandbox, also under the next server.
func TestSandboxRestarts(t *testing.T) {
	t.Parallel()
	b := sandbox(t, 0)
	b.needsLandlock()
	const tries = `{ echo x >"$IN/$1"; } 2>/dev/null; { echo x >"$OUT/$1"; } 2>/dev/null; cd "$OUT"
		echo x >"$TMPDIR/tried"; exec sleep 1000`
	tried := func() bool { return os.Remove(filepath.Join(b.temporary, "tried")) == nil }
	i := b.createWith(wire.CreateTerminal{Cmd: []string{"bash", "-c", tries, "bash", "file"}, Cwd: b.in, Env: b.env(),
		Sandbox: wire.SandboxWorkspace})
	for round, between := range []func(){func() {}, func() { b.kill(); b.again() }} {
		eventually(t, "it has tried", tried)
		eventually(t, "it has gone out", func() bool { return b.info(i.ID).Cwd == b.out })
		if _, err := os.Stat(filepath.Join(b.in, "file")); err != nil {
			t.Errorf("round %d: %v", round, err)
		}
		if _, err := os.Stat(filepath.Join(b.out, "file")); err == nil {
			t.Errorf("round %d: it wrote outside", round)
		}
		b.must(os.Remove(filepath.Join(b.in, "file")))
		// A link in the place of its directory must lead it nowhere.
		if round == 1 {
			b.must(os.RemoveAll(b.in))
			b.must(os.Symlink(b.out, b.in))
		}
		between()
		if i := b.info(i.ID); i.Sandbox != wire.SandboxWorkspace {
			t.Errorf("round %d: sandbox %q", round, i.Sandbox)
		}
		b.post("/pty/"+i.ID+"/signal", `{"signal":"KILL"}`).wants(200)
		b.exit(i.ID)
		b.post("/pty/"+i.ID+"/restart", "{}").wants(200)
	}
	eventually(t, "it has tried", tried)
	if _, err := os.Stat(filepath.Join(b.out, "file")); err == nil {
		t.Error("it wrote outside by a link")
	}
}

// TestSandboxOfAShell: commands of a sandboxed shell, those beside it, on a terminal and in the background, and after
// every end of the shell and of the server.
func TestSandboxOfAShell(t *testing.T) {
	t.Parallel()
	b := sandbox(t, 0)
	b.needsLandlock()
	w, id := b.newShell("test", body{"cwd": b.in, "env": b.env(), "sandbox": "workspace"})
	b.check(wire.SandboxWorkspace, strings.ReplaceAll(w.with(body{"command": script(), "tty": true}).out(), "\r", ""))
	writes := func(when string) {
		t.Helper()
		for _, more := range []body{{}, {"isolated": true}, {"background": true}} {
			request := body{"command": `echo x >"$OUT/a"; echo y >"$IN/y"`}
			maps.Copy(request, more)
			w.post(w.at+"/exec", asJSON(request))
			eventually(t, when+": it wrote inside", func() bool { return os.Remove(filepath.Join(b.in, "y")) == nil })
			if os.Remove(filepath.Join(b.out, "a")) == nil {
				t.Errorf("%s: %v wrote outside", when, more)
			}
		}
	}
	writes("at first")
	w.with(body{"command": "cd /; exit 3"})
	writes("after exit")
	w.with(body{"command": fmt.Sprintf("rm -f %s/shells/*/shell.json*", b.how.dir)})
	b.kill()
	b.again()
	writes("after kill -9")
	w.with(body{"command": "kill -9 $$"})
	writes("after its record was removed")
	var info wire.Shell
	b.get("/session/test/shell/" + id).wants(200).into(&info)
	if info.Sandbox != wire.SandboxWorkspace {
		t.Errorf("the shell says %q", info.Sandbox)
	}
	free := b.server.in("test").with(body{"command": fmt.Sprintf("echo x >%s/free && echo free", b.out)})
	if free.out() != "free\n" {
		t.Errorf("another shell of the session says %q", free.out())
	}
}

// TestSandboxRefusals: what is refused, with which words, and that a program that cannot run is refused as without one.
func TestSandboxRefusals(t *testing.T) {
	t.Parallel()
	b := sandbox(t, 0)
	b.needsLandlock()
	broken := filepath.Join(b.in, "broken")
	b.must(os.WriteFile(broken, []byte("\x7fELF"), 0o755))
	for _, c := range []struct {
		body, code string
		status     int
	}{
		{`{"sandbox":"all"}`, "VALIDATION", 400},
		{`{"sandbox":"workspace","cwd":"/"}`, "VALIDATION", 400},
		{`{"sandbox":"read-only","cwd":"` + b.how.dir + `"}`, "VALIDATION", 400},
		{`{"sandbox":"workspace","cwd":"/nowhere"}`, "NO_DIRECTORY", 400},
		{`{"sandbox":"workspace","cwd":"` + b.in + `","cmd":["nothing-like-that"]}`, "NO_COMMAND", 400},
		{`{"sandbox":"workspace","cwd":"` + b.in + `","cmd":["` + broken + `"]}`, "NO_COMMAND", 400},
	} {
		if r := b.post("/session/test/pty", c.body).wants(c.status); !strings.Contains(r.body, `"`+c.code+`"`) {
			t.Errorf("%s: %s", c.body, r.body)
		}
	}
	if r := b.post("/session/test/shell", `{"sandbox":"all"}`).wants(400); !strings.Contains(r.body, `"sandbox"`) {
		t.Errorf("%s", r.body)
	}
	if list, err := b.List(b.ctx(), "test"); err != nil || len(list) != 1 { // needsLandlock's
		t.Errorf("%d terminals, %v", len(list), err)
	}
}

// TestSandboxOnCommandLine: new and exec take --sandbox; a shell that exec makes ends with the command.
func TestSandboxOnCommandLine(t *testing.T) {
	t.Parallel()
	b := sandbox(t, 0)
	b.needsLandlock()
	id := strings.TrimSpace(b.says("new", "-d", "-s", "test", "--sandbox", "read-only", "--nofile", "64", "--memory",
		"64MiB", "--cwd", b.in, "--", "bash", "-c", "ulimit -n; touch a"))
	b.exit(id)
	if text := b.text(id); !strings.Contains(text, "64\n") || !strings.Contains(text, "Permission denied") {
		t.Errorf("%q", text)
	}
	in := func(args ...string) ended {
		c := b.cli(append([]string{"exec", "-s", "test", "--sandbox", "workspace"}, args...)...)
		c.Dir = b.in
		return run(t, c)
	}
	if e := in("-c", "echo x >here && touch "+b.how.dir+"/there"); e.code != 1 {
		t.Errorf("%+v", e)
	}
	if _, err := os.Stat(filepath.Join(b.in, "here")); err != nil {
		t.Error(err)
	}
	if list := b.shells("test"); len(list) != 0 {
		t.Errorf("left: %+v", list)
	}
	b.book.add("test")
	in("--shell", "kept", "--", "true")
	if e := in("--shell", "kept", "--", "pwd"); e.stdout != b.in+"\n" {
		t.Errorf("%+v", e)
	}
}
