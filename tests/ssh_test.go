package tests

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/evertty/evertty/wire"
)

// sshServer is a server that OpenSSH's client reaches.
type sshServer struct {
	*server
	home string // of the client: its keys and what it knows of hosts
}

// startSSH starts a server with the key "own" in its file of authorized keys.
func startSSH(t *testing.T, how launch) *sshServer {
	t.Helper()
	if _, err := exec.LookPath("ssh"); err != nil {
		t.Skip("needs the client of OpenSSH (ssh)")
	}
	if how.auth == "" {
		how.auth = "token"
	}
	how.flags = append(how.flags, "--ssh", "127.0.0.1:0")
	return withKeys(start(t, how))
}

// withKeys lets the key "own" in.
func withKeys(s *server) *sshServer {
	s.t.Helper()
	ssh := &sshServer{s, s.t.(*testing.T).TempDir()}
	ssh.authorize("authorized_keys", ssh.key("own"))
	return ssh
}

// key makes a key pair in a file of the client, and returns the line of its public half.
func (s *sshServer) key(name string) string {
	s.t.Helper()
	file := filepath.Join(s.home, name)
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", file).
		CombinedOutput(); err != nil {
		s.t.Fatalf("%v: %s", err, out)
	}
	b, err := os.ReadFile(file + ".pub")
	s.must(err)
	return string(b)
}

// authorize writes a file of authorized keys in the data directory.
func (s *sshServer) authorize(file string, lines ...string) {
	s.t.Helper()
	s.must(os.WriteFile(s.file(file), []byte(strings.Join(lines, "")), 0o600))
}

var sshAddress = regexp.MustCompile(`msg=ssh address=127\.0\.0\.1:(\d+)`)

// sshPort is the port of a server that has found a free one.
func (s *server) sshPort() (port string) {
	s.t.Helper()
	eventually(s.t, "the log has the port", func() bool {
		found := sshAddress.FindStringSubmatch(s.stderr.String())
		if found != nil {
			port = found[1]
		}
		return found != nil
	})
	return port
}

// args are those of ssh with a key; where is [TERMINAL@]host and more.
func (s *sshServer) args(key string, where ...string) []string {
	args := []string{"ssh", "-F", "/dev/null", "-p", s.sshPort(), "-i", filepath.Join(s.home, key),
		"-o", "UserKnownHostsFile=" + filepath.Join(s.home, "known"), "-o", "IdentitiesOnly=yes",
		"-o", "StrictHostKeyChecking=accept-new", "-o", "SetEnv=LC_MARK=" + s.mark, "-o", "LogLevel=ERROR",
		"-o", "NumberOfPasswordPrompts=1", "-o", "HostName=127.0.0.1", "-o", "HostKeyAlias=evertty"}
	return append(args, where...)
}

// ssh is a call of the client.
func (s *sshServer) ssh(key string, where ...string) *exec.Cmd {
	args := s.args(key, where...)
	c := exec.Command(args[0], args[1:]...)
	c.Env = cleanEnv(s.t)
	return c
}

// replies carries out a call that must end so.
func (s *sshServer) replies(code int, key string, where ...string) ended {
	s.t.Helper()
	e := run(s.t, s.ssh(key, where...))
	if e.code != code {
		s.t.Fatalf("ssh %q as %s: %+v, want code %d", where, key, e, code)
	}
	return e
}

// person is the terminal of a person, in another server, in which ssh runs.
func (s *sshServer) person(outer *server, cols, rows int, key string, where ...string) string {
	s.t.Helper()
	cmd := append([]string{"sh", "-c", `"$@"; echo "code $?"; exec cat`, "sh"}, s.args(key, where...)...)
	return outer.createWith(wire.CreateTerminal{Cmd: cmd, Cols: &cols, Rows: &rows}).ID
}

// TestSSHShowsATerminal: its name is the user's. Keys, sizes and modes pass, the user's terminal is clean behind it.
func TestSSHShowsATerminal(t *testing.T) {
	t.Parallel()
	s, outer := startSSH(t, launch{}), start(t, launch{})
	id := s.createWith(wire.CreateTerminal{Name: "build", Cmd: []string{"bash", "--norc"}}).ID
	s.input(id, "seq 40; printf '\\033[1;31mred\\033[0m\\n'\n")
	s.await(id, "^red$")
	me := s.person(outer, 90, 20, "own", "build@host")
	outer.await(me, "^red$")
	if i := s.info(id); i.Cols != 90 || i.Rows != 20 || i.Viewers != 1 {
		t.Errorf("the terminal is %dx%d with %d viewers", i.Cols, i.Rows, i.Viewers)
	}
	r := s.get("/pty/" + id + "/viewers").wants(200)
	for _, want := range []string{`"client":"ssh"`, `"name":"own"`, `"role":"admin"`, `"cols":90,"rows":20`} {
		if !strings.Contains(r.body, want) {
			t.Errorf("the viewers are %s, without %s", r.body, want)
		}
	}
	outer.input(me, "echo 'typed' here\r")
	outer.await(me, "^typed here$")
	outer.must(outer.Resize(outer.ctx(), me, 70, 15))
	eventually(t, "the size follows", func() bool { i := s.info(id); return i.Cols == 70 && i.Rows == 15 })
	outer.input(me, "stty size; printf '\\033[?1002;1006;2004h\\033[?25l'\r")
	s.await(id, "^15 70$")
	shown := func() (v screenJSON) {
		outer.get("/pty/" + me + "/snapshot?format=json").into(&v)
		return v
	}
	eventually(t, "the modes pass", func() bool {
		v := shown()
		return v.Modes["mouse"] == "button" && !v.Cursor.Visible
	})
	outer.input(me, "\x1c\x1c")
	outer.await(me, `^\[detached from build\]$`)
	outer.await(me, "^code 0$")
	if v := shown(); v.Modes["mouse"] != "none" || !v.Cursor.Visible {
		t.Errorf("the terminal is left with %v", v.Modes)
	}
	for _, name := range []string{"test/build@host", id[:8] + "@host"} {
		again := s.person(outer, 70, 15, "own", name)
		outer.await(again, "^red$")
		s.input(id, "\x15")
		outer.input(again, "\x1c\x1c")
		outer.await(again, "^code 0$")
	}
	last := s.person(outer, 70, 15, "own", "build@host")
	outer.await(last, "^red$")
	outer.input(last, "exit 7\r")
	outer.await(last, "^code 7$")
}

// TestSSHVerbs: the verbs of the command line and no others, with what they print, read and end with.
func TestSSHVerbs(t *testing.T) {
	t.Parallel()
	s := startSSH(t, launch{})
	id := strings.TrimSpace(s.replies(0, "own", "host", "new --name 'my''build' -- cat").stdout)
	list := s.replies(0, "own", "host", "ls").stdout
	if !strings.Contains(list, id) || !strings.Contains(list, " mybuild ") {
		t.Errorf("ls says\n%s", list)
	}
	s.replies(0, "own", "host", "send", id, "hello")
	s.await(id, "hello")
	s.replies(0, "own", "host", "wait", id, "--for", "text", "--pattern", "hello")
	e := s.replies(0, "own", "host", "snapshot", id, "--format", "text")
	if !strings.Contains(e.stdout, "hello") {
		t.Errorf("snapshot: %+v", e)
	}
	e = s.replies(7, "own", "host", "exec", "(echo out | tr a-z A-Z; echo \"a  $((6*7))\" >&2; exit 7)")
	if e.stdout != "OUT\n" || e.stderr != "a  42\n" {
		t.Errorf("exec: %+v", e)
	}
	for _, session := range []string{"main", "other"} {
		s.in(session) // the test ends its shell
	}
	s.replies(0, "own", "host", "exec -s other -- cd /usr")
	if e := s.replies(0, "own", "host", "exec", "-s", "other", "pwd"); e.stdout != "/usr\n" {
		t.Errorf("the shell is in %q", e.stdout)
	}
	random := make([]byte, 3<<20)
	_, _ = rand.Read(random)
	c := s.ssh("own", "host", "exec", "tee /dev/stderr")
	var errs bytes.Buffer
	c.Stdin, c.Stderr = bytes.NewReader(random), &errs
	if out, err := c.Output(); err != nil || !bytes.Equal(out, random) || !bytes.Equal(errs.Bytes(), random) {
		t.Errorf("%v: %d and %d of %d bytes", err, len(out), errs.Len(), len(random))
	}
	s.replies(0, "own", "host", "kill", id)
	for _, tc := range []struct {
		code  int
		where []string
		says  string
	}{
		{4, []string{"snapshot", "nobody"}, `no such terminal: "nobody"`},
		{2, []string{"frobnicate"}, `unknown verb "frobnicate"`},
		{2, []string{"record", "x", "/tmp/x"}, "unknown verb"},
		{2, []string{"serve"}, "unknown verb"},
		{2, []string{"ls", "--data-dir", "/"}, "--data-dir"},
		{2, []string{"ls", "--server=http://127.0.0.1:1"}, "--server"},
		{2, []string{"ls --context x"}, "--context"},
		{2, []string{"ls 'x"}, "a quote is not closed"},
		{2, []string{"attach", id}, "not a terminal"},
	} {
		e := s.replies(tc.code, "own", append([]string{"host"}, tc.where...)...)
		if !strings.Contains(e.stderr, tc.says) || e.stdout != "" {
			t.Errorf("%q: %+v", tc.where, e)
		}
	}
	if help := s.replies(0, "own", "host", "help").stdout; !strings.Contains(help, "snapshot") ||
		strings.Contains(help, "\n  serve ") {
		t.Errorf("help says\n%s", help)
	}
}

// TestSSHWithoutATerminal: a name that is none gets the list. new makes one and shows it.
func TestSSHWithoutATerminal(t *testing.T) {
	t.Parallel()
	s, outer := startSSH(t, launch{}), start(t, launch{})
	s.createWith(wire.CreateTerminal{Name: "there", Cmd: []string{"cat"}})
	me := s.person(outer, 100, 20, "own", "nobody@host")
	outer.await(me, `no such terminal: "nobody"`)
	outer.await(me, " there ")
	outer.await(me, "^code 4$")
	fresh := s.person(outer, 77, 11, "own", "-t", "host", "new --name fresh -- bash -c 'stty size; read; exit 6'")
	outer.await(fresh, "^11 77$")
	outer.input(fresh, "\r")
	outer.await(fresh, "^code 6$")
}

// TestSSHKeys: who has no key of the file, as it is now, is refused. A key may only look, or be a user's.
func TestSSHKeys(t *testing.T) {
	t.Parallel()
	base, _ := startUsers(t, launch{flags: []string{"--ssh", "127.0.0.1:0"}}, "alice", "bob")
	s := withKeys(base)
	own := s.createWith(wire.CreateTerminal{Name: "mine", Cmd: []string{"cat"}}).ID
	hers := s.cat("alice", "main", "hers")
	keys := map[string]string{}
	for _, name := range []string{"stranger", "looks", "alice", "nobody", "restricted"} {
		keys[name] = s.key(name)
	}
	ownKey, err := os.ReadFile(filepath.Join(s.home, "own.pub"))
	s.must(err)
	s.authorize("authorized_keys", "# people\n\nnonsense\n", "read-only "+keys["looks"],
		`user="alice",no-port-forwarding `+keys["alice"], `user="carol" `+keys["nobody"],
		"restrict "+keys["restricted"], string(ownKey))
	for _, name := range []string{"stranger", "nobody", "restricted"} {
		if e := s.replies(255, name, "host", "ls"); !strings.Contains(e.stderr, "Permission denied (publickey)") {
			t.Errorf("%s: %+v", name, e)
		}
	}
	eventually(t, "the refusals are written down", func() bool { return len(s.audited("audit.refused.log")) == 3 })
	refused := s.audited("audit.refused.log")
	if refused[0].Target != "ssh" || refused[0].Result != "UNAUTHORIZED" ||
		refused[0].Who != "nobody" {
		t.Errorf("the refusals are %+v", refused)
	}
	list := s.replies(0, "alice", "host", "ls").stdout
	if !strings.Contains(list, hers) || strings.Contains(list, own) {
		t.Errorf("alice sees\n%s", list)
	}
	s.replies(4, "alice", "host", "snapshot", own)
	s.replies(4, "alice", "host", "snapshot", "mine")
	list = s.replies(0, "own", "host", "ls").stdout
	if !strings.Contains(list, hers) || !strings.Contains(list, own) {
		t.Errorf("the administrator sees\n%s", list)
	}
	s.replies(0, "looks", "host", "snapshot", own)
	for _, do := range []string{"new -- true", "kill " + own, "exec true", "send " + own + " x",
		"resize " + own + " 10x10"} {
		if e := s.replies(1, "looks", "host", do); !strings.Contains(e.stderr, "may only look") {
			t.Errorf("%s with a key that looks: %+v", do, e)
		}
	}
	outer := start(t, launch{})
	me := s.person(outer, 60, 10, "looks", "mine@host")
	s.input(own, "seen\n")
	outer.await(me, "^seen$")
	outer.input(me, "not typed\r\x1c\x1c")
	outer.await(me, "^code 0$")
	if text := s.text(own); strings.Contains(text, "typed") {
		t.Errorf("a key that looks has typed: %s", text)
	}
	s.authorize("authorized_keys")
	s.replies(255, "own", "host", "ls")
	s.authorize("authorized_keys", string(ownKey))
	s.replies(0, "own", "host", "ls")
	s.must(os.Chmod(s.file("authorized_keys"), 0o666))
	s.replies(255, "own", "host", "ls")
	s.polls("what the log says", func() bool {
		log := s.stderr.String()
		return strings.Contains(log, "chmod go-w") && strings.Contains(log, "authorized_keys:3: ")
	})
}

// TestSSHEndsWithTheUser: who is no user any more is sent away, in the middle of a session.
func TestSSHEndsWithTheUser(t *testing.T) {
	t.Parallel()
	base, file := startUsers(t, launch{flags: []string{"--ssh", "127.0.0.1:0"}}, "alice", "bob")
	s := withKeys(base)
	s.authorize("authorized_keys", `user="alice" `+s.key("alice"))
	outer := start(t, launch{})
	id := s.cat("alice", "main", "hers")
	me := s.person(outer, 60, 10, "alice", "hers@host")
	eventually(t, "it is shown", func() bool { return s.info(id).Viewers == 1 })
	outer.input(me, "hello\r")
	outer.await(me, "^hello$")
	usersFile(t, file, "bob")
	s.must(s.cmd.Process.Signal(syscall.SIGHUP))
	outer.await(me, "^code 255$")
	s.replies(255, "alice", "host", "ls")
}

// TestSSHPasswords: none without the flag, with it the token and those of users.
func TestSSHPasswords(t *testing.T) {
	t.Parallel()
	base, _ := startUsers(t, launch{flags: []string{"--ssh", "127.0.0.1:0"}}, "alice")
	s := withKeys(base)
	id := s.create("cat").ID
	as := func(password string) ended {
		c := s.ssh("none", "-o", "PreferredAuthentications=password", "host", "ls")
		ask := filepath.Join(s.home, "ask")
		s.must(os.WriteFile(ask, []byte("#!/bin/sh\necho '"+password+"'\n"), 0o700))
		c.Env = append(c.Env, "SSH_ASKPASS="+ask, "SSH_ASKPASS_REQUIRE=force", "DISPLAY=:0")
		return run(t, c)
	}
	if e := as(s.token()); e.code != 255 || !strings.Contains(e.stderr, "(publickey)") {
		t.Errorf("a password without the flag: %+v", e)
	}
	s.stop()
	s.how.flags = append(s.how.flags, "--ssh-token-password")
	s.again()
	if e := as(s.token()); e.code != 0 || !strings.Contains(e.stdout, id) {
		t.Errorf("the token: %+v", e)
	}
	if e := as(userToken("alice")); e.code != 0 || strings.Contains(e.stdout, id) {
		t.Errorf("the token of a user: %+v", e)
	}
	if e := as("wrong"); e.code != 255 {
		t.Errorf("a wrong password: %+v", e)
	}
	if log := s.stderr.String(); strings.Contains(log, s.token()) || strings.Contains(log, userToken("alice")) {
		t.Errorf("the log has a token\n%s", log)
	}
}

// TestSSHAfterAKill: the program outlives the server, the next connection sees the true screen, and two at once do. The
// host is the same.
func TestSSHAfterAKill(t *testing.T) {
	t.Parallel()
	s, outer := startSSH(t, launch{}), start(t, launch{})
	id := s.createWith(wire.CreateTerminal{Name: "job", Cmd: []string{"bash", "-c",
		`echo 'rea'dy; while read -r l; do echo "got $l"; done`}}).ID
	first := s.person(outer, 80, 24, "own", "job@host")
	outer.await(first, "^ready$")
	outer.input(first, "one\r")
	outer.await(first, "^got one$")
	known, err := os.ReadFile(filepath.Join(s.home, "known"))
	s.must(err)
	s.kill()
	outer.await(first, "^code 255$")
	eventually(t, "nothing of the session is left", func() bool {
		return !strings.Contains(fmt.Sprint(marked(s.mark)), "ssh-session")
	})
	s.again()
	s.input(id, "two\n")
	second, third := s.person(outer, 80, 24, "own", "job@host"), s.person(outer, 80, 24, "own", "job@host")
	for _, me := range []string{second, third} {
		outer.await(me, "^got one$")
		outer.await(me, "^got two$")
	}
	outer.input(second, "three\r")
	outer.await(third, "^got three$")
	if i := s.info(id); i.Viewers != 2 {
		t.Errorf("%d viewers", i.Viewers)
	}
	if now, err := os.ReadFile(filepath.Join(s.home, "known")); err != nil || !bytes.Equal(now, known) {
		t.Errorf("the host is another one: %v", err)
	}
	info, err := os.Stat(s.file("ssh_host_ed25519_key"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key of the host: %v, %v", info, err)
	}
	s.stop()
	for _, me := range []string{second, third} {
		outer.await(me, "^evertty: the server ends; programs go on$")
		outer.await(me, "^code 129$")
	}
	s.again()
}

// TestSSHConnectionGone: what ran for it is cancelled, and its process ends.
func TestSSHConnectionGone(t *testing.T) {
	t.Parallel()
	s := startSSH(t, launch{})
	s.in("main") // the test ends its shell
	c := s.ssh("own", "host", "exec", "echo begun; sleep 1000")
	out, err := c.StdoutPipe()
	s.must(err)
	s.must(c.Start())
	_, err = io.ReadFull(out, make([]byte, len("begun\n")))
	s.must(err)
	s.must(c.Process.Kill())
	_ = c.Wait()
	eventually(t, "the command is cancelled", func() bool { return strings.Contains(s.says("commands"), "cancelled") })
	eventually(t, "the process ends", func() bool {
		return !strings.Contains(fmt.Sprint(marked(s.mark)), "ssh-session")
	})
}

// TestSSHForwardsNothing: neither ports nor agents, X11 or files.
func TestSSHForwardsNothing(t *testing.T) {
	t.Parallel()
	s := startSSH(t, launch{})
	e := s.replies(255, "own", "-N", "-o", "ExitOnForwardFailure=yes", "-R", "0:127.0.0.1:1", "host")
	if !strings.Contains(e.stderr, "forward") {
		t.Errorf("-R: %+v", e)
	}
	s.replies(255, "own", "-W", "127.0.0.1:"+s.port(), "host")
	s.replies(255, "own", "-s", "host", "sftp")
	id := s.create("env").ID
	s.exit(id)
	if text := s.text(id); strings.Contains(text, "LC_MARK") || strings.Contains(text, "SSH_") {
		t.Errorf("programs have\n%s", text)
	}
}

// TestSSHStrangers: connections that never log in are ended, and keep nobody out.
func TestSSHStrangers(t *testing.T) {
	t.Parallel()
	s := startSSH(t, launch{})
	const many = 100
	address := "127.0.0.1:" + s.sshPort()
	before := len(openFiles(s.pid()))
	ended := make(chan error, many)
	for range many {
		c, err := net.Dial("tcp", address)
		s.must(err)
		go func() {
			defer c.Close()
			_ = c.SetReadDeadline(time.Now().Add(patience))
			_, err := io.Copy(io.Discard, c)
			ended <- err
		}()
	}
	eventually(t, "they are there", func() bool { return len(openFiles(s.pid())) >= before+60 })
	s.replies(0, "own", "host", "ls")
	for range many {
		if err := <-ended; err != nil && !strings.Contains(err.Error(), "reset") {
			t.Fatal(err)
		}
	}
}

// TestSSHSessionsOfOneConnection: a connection has at most ten sessions at once, and another one when one has ended.
func TestSSHSessionsOfOneConnection(t *testing.T) {
	t.Parallel()
	s := startSSH(t, launch{})
	id := s.create("sh", "-c", "echo begun; exec cat").ID
	socket := filepath.Join(s.home, "mux")
	master := s.ssh("own", "-M", "-S", socket, "-N", "host")
	s.must(master.Start())
	defer master.Wait()         //nolint:errcheck // it was killed
	defer master.Process.Kill() //nolint:errcheck // it may have ended
	eventually(t, "the connection", func() bool {
		return run(t, s.ssh("own", "-S", socket, "-O", "check", "host")).code == 0
	})
	var sessions []*exec.Cmd
	for range 10 {
		c := s.ssh("own", "-S", socket, "host", "logs -f "+id)
		out, err := c.StdoutPipe()
		s.must(err)
		s.must(c.Start())
		defer c.Wait()         //nolint:errcheck // it was killed
		defer c.Process.Kill() //nolint:errcheck // it may have ended
		_, err = io.ReadFull(out, make([]byte, len("begun")))
		s.must(err)
		sessions = append(sessions, c)
	}
	// The client then makes a connection of its own.
	refused := func() bool {
		e := s.replies(0, "own", "-S", socket, "host", "ls")
		return strings.Contains(e.stderr, "refused by peer")
	}
	if !refused() {
		t.Error("it has an eleventh session")
	}
	s.must(sessions[0].Process.Kill())
	eventually(t, "another session", func() bool { return !refused() })
}
