package tests

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// nobody is a user that owns nothing.
const nobody = 65534

// ended is how a call of the binary ended.
type ended struct {
	code           int
	stdout, stderr string
}

// run carries out a call of the binary to its end.
func run(t testing.TB, c *exec.Cmd) ended {
	t.Helper()
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = c.Process.Kill() })
	err := c.Wait()
	if !stop() {
		t.Fatalf("%v did not end\n%s%s", c.Args, &out, &errs)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return ended{c.ProcessState.ExitCode(), out.String(), errs.String()}
}

// call is a call of the binary in an environment of its own.
func call(t testing.TB, env []string, args ...string) *exec.Cmd {
	c := exec.Command(quick, args...)
	c.Env = append(cleanEnv(t), env...)
	return c
}

// refuses checks that a call ends with that code and says one line on stderr
// with all the words, and nothing else.
func (e ended) refuses(t testing.TB, code int, words ...string) {
	t.Helper()
	if e.code != code || e.stdout != "" || strings.Count(e.stderr, "\n") != 1 || !strings.HasSuffix(e.stderr, "\n") {
		t.Errorf("exit code %d, want %d; stdout %q, stderr %q", e.code, code, e.stdout, e.stderr)
	}
	for _, w := range words {
		if !strings.Contains(e.stderr, w) {
			t.Errorf("%q does not say %q", e.stderr, w)
		}
	}
}

func TestABusyPortIsRefused(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dir := filepath.Join(t.TempDir(), "data")
	run(t, call(t, nil, "serve", "--listen", l.Addr().String(), "--data-dir", dir)).refuses(t, 1, l.Addr().String(),
		"another program")
	if _, err := os.Stat(filepath.Join(dir, "server.json")); err == nil {
		t.Error("server.json was written")
	}
}

func TestASecondServerIsRefused(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.shell().ID
	run(t, call(t, nil, "serve", "--listen", "127.0.0.1:0", "--data-dir", s.how.dir)).refuses(t, 1, s.how.dir,
		fmt.Sprintf("process %d", s.pid()))
	s.input(id, "echo 'first' goes on\n")
	s.await(id, "^first goes on$")
	if out := run(t, call(t, nil, "ls", "--data-dir", s.how.dir)); out.code != 0 || !strings.Contains(out.stdout, id) {
		t.Errorf("%+v", out)
	}
}

// TestAForeignDataDirIsRefused: security row D6.
func TestAForeignDataDirIsRefused(t *testing.T) {
	t.Parallel()
	dir := "/usr" // root's: safe, and not to be written
	if os.Geteuid() == 0 {
		dir = t.TempDir()
		if err := os.Chown(dir, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	run(t, call(t, nil, "serve", "--listen", "127.0.0.1:0", "--data-dir", dir)).refuses(t, 2, dir, "another user",
		"belongs to", "chown")
	if list, _ := os.ReadDir(dir); os.Geteuid() == 0 && len(list) != 0 {
		t.Errorf("something was written: %v", list)
	}
}

func TestAReadOnlyDataDirIsRefused(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	dir := filepath.Join(top, "data")
	if err := errors.Join(os.Mkdir(dir, 0o500), os.Chmod(top, 0o755)); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{dir, filepath.Join(dir, "new")} {
		c := call(t, nil, "serve", "--listen", "127.0.0.1:0", "--data-dir", d)
		if os.Geteuid() == 0 { // root can write everywhere
			if err := errors.Join(os.Chown(dir, nobody, nobody), os.Chmod(filepath.Dir(top), 0o755)); err != nil {
				t.Fatal(err)
			}
			c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
			c.Dir = "/"
		}
		run(t, c).refuses(t, 1, d, "cannot be written", "permission denied")
	}
}

func TestALooseDataDirIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	run(t, call(t, nil, "serve", "--listen", "127.0.0.1:0", "--data-dir", dir)).refuses(t, 2, dir, "others can write",
		"chmod go-w")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, call(t, nil, "serve", "--listen", "127.0.0.1:0", "--data-dir", file)).refuses(t, 1, file)
}

// TestWrongSettings: exit 2 and one line that names the key, what was given and
// what is allowed.
func TestWrongSettings(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "evertty.toml")
	for _, tc := range []struct {
		args, env, toml string
		words           []string
	}{
		{"serve --auth none --listen 0.0.0.0:0", "", "", []string{"auth none", "0.0.0.0:0", "--insecure"}},
		{"serve --auth none --listen :0", "", "", []string{"auth none", "--insecure"}},
		{"serve --auth none --listen [::]:0", "", "", []string{"auth none", "--insecure"}},
		{"serve --auth maybe", "", "", []string{"--auth", `"maybe"`, "token, none"}},
		{"serve --listen nonsense", "", "", []string{"listen", `"nonsense"`, "HOST:PORT", "unix:///PATH"}},
		{"serve --listen 127.0.0.1:99999", "", "", []string{"listen", "99999"}},
		{"serve --listen unix://relative", "", "", []string{"listen", "unix://relative"}},
		{"serve --ssh nonsense", "", "", []string{"ssh", `"nonsense"`, "HOST:PORT"}},
		{"serve --ssh 127.0.0.1:99999", "", "", []string{"ssh", "99999", "HOST:PORT"}},
		{"serve", "EVERTTY_SSH_AUTHORIZED_KEYS=/x", "", []string{"ssh_authorized_keys", "--ssh"}},
		{"serve --ssh 127.0.0.1:0 --auth none --ssh-token-password", "", "", []string{"ssh_token_password",
			"auth none"}},
		{"serve --engine steam", "", "", []string{"--engine", `"steam"`, "vt10x"}},
		{"serve --snapshot-interval soon", "", "", []string{"--snapshot-interval", `"soon"`, "90s"}},
		{"serve --snapshot-interval 0", "", "", []string{"snapshot_interval", "more than 0"}},
		{"serve --snapshot-interval=-5s", "", "", []string{"--snapshot-interval", `"-5s"`}},
		{"serve --log-level loud", "", "", []string{"--log-level", `"loud"`, "debug"}},
		{"serve --allowed-host a/b", "", "", []string{"allowed-host", `"a/b"`}},
		{"serve --no-such-flag", "", "", []string{"--no-such-flag"}},
		{"serve more", "", "", []string{`"more"`}},
		{"serve", "EVERTTY_AUTH=maybe", "", []string{"auth", "EVERTTY_AUTH", `"maybe"`, "token, none"}},
		{"serve", "EVERTTY_SNAPSHOT_INTERVAL=x", "", []string{"snapshot_interval", "EVERTTY_SNAPSHOT_INTERVAL", `"x"`}},
		{"serve --config FILE", "", "auth = 5", []string{"auth", file, `"5"`, "token, none"}},
		{"serve --config FILE", "", "snapshot-interval = 5", []string{"snapshot-interval", file, "snapshot_interval"}},
		{"serve --config FILE", "", "auth = ", []string{file, "line 1"}},
		{"serve --config /no/such/file", "", "", []string{"--config", "/no/such/file"}},
		{"sevre", "", "", []string{`"sevre"`, "serve"}},
		{"render --cols 0", "", "", []string{"--cols", `"0"`, "1 to 1000"}},
		{"render --resize-at 5", "", "", []string{"--resize-at", `"5"`, "OFFSET:COLSxROWS"}},
	} {
		if err := os.WriteFile(file, []byte(tc.toml), 0o600); err != nil {
			t.Fatal(err)
		}
		args := strings.Fields(strings.ReplaceAll(tc.args, "FILE", file))
		dir := filepath.Join(t.TempDir(), "data")
		c := call(t, []string{"EVERTTY_DATA_DIR=" + dir, tc.env}, args...)
		out := run(t, c)
		t.Log(tc.args, tc.env, tc.toml)
		out.refuses(t, 2, tc.words...)
		if _, err := os.Stat(filepath.Join(dir, "server.json")); err == nil {
			t.Errorf("%s: server.json was written", tc.args)
		}
	}
}

// TestPrecedenceOfSettings: flag before variable before file. A request without
// credentials shows whether they are asked for.
func TestPrecedenceOfSettings(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "evertty.toml")
	at := freePort(t)
	if err := os.WriteFile(file, fmt.Appendf(nil, "auth = \"none\"\nlisten = %q\nsnapshot_interval = 90\n", at),
		0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, env, flags string
		asks             bool
	}{
		{"default", "", "", true},
		{"file", "", "--config " + file, false},
		{"variable before file", "EVERTTY_AUTH=token", "--config " + file, true},
		{"flag before variable", "EVERTTY_AUTH=token", "--config " + file + " --auth none", false},
		{"empty variable", "EVERTTY_AUTH=", "--config " + file, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := &server{t: t, how: launch{dir: filepath.Join(t.TempDir(), "data")},
				mark: "precedence-" + strings.ReplaceAll(tc.name, " ", "-")}
			t.Cleanup(s.finish)
			flags := append(strings.Fields(tc.flags), "--data-dir", s.how.dir)
			if tc.name == "default" {
				flags = append(flags, "--listen", at)
			}
			s.how.env = []string{tc.env}
			s.startWith(flags)
			if got := s.with("GET", "/pty", "").status == 401; got != tc.asks {
				t.Errorf("it asks for credentials: %v", got)
			}
			if s.url != "http://"+at {
				t.Errorf("it listens on %s, want %s", s.url, at)
			}
		})
	}
}

// TestListensOnAUnixSocket: only this user can connect, and what a dead server
// left does not matter.
func TestListensOnAUnixSocket(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "s")
	s := start(t, launch{listen: "unix://" + socket})
	info, err := os.Stat(socket)
	s.must(err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the socket has mode %o", info.Mode().Perm())
	}
	id := s.shell().ID
	s.watch(wsBinary, id).close()
	s.kill()
	s.launch()
	if i := s.info(id); i.State != "running" {
		t.Errorf("%+v", i)
	}
}

// TestNoTemplateIsInTheBinary: code that finds methods by names that are made at run time has the linker keep the
// methods of all types. The binary is 7 MB larger then, and each start of it takes 2 ms more.
func TestNoTemplateIsInTheBinary(t *testing.T) {
	t.Parallel()
	program, err := os.ReadFile(quick)
	if err != nil || !bytes.Contains(program, []byte("github.com/spf13/cobra.(*Command).Find")) {
		t.Fatalf("the binary has no names of functions: %v", err)
	}
	if bytes.Contains(program, []byte("text/template.(*state).evalField")) {
		t.Error("a template is carried out: the linker keeps the methods of all types")
	}
}
