package ssh_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	xssh "golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/ssh"
	"github.com/evertty/evertty/tests/providertest"
)

// one is the server of the tests that leave it as it is.
var one struct {
	sync.Mutex
	server *sshd
}

func TestMain(m *testing.M) {
	providertest.Main(m, func() {
		if one.server != nil {
			one.server.stop()
			_ = os.RemoveAll(one.server.dir)
		}
	})
}

func shared(t *testing.T) *sshd {
	t.Helper()
	one.Lock()
	defer one.Unlock()
	if one.server == nil {
		sshdPath(t)
		dir, err := os.MkdirTemp("", "evertty-sshd-")
		if err != nil {
			t.Fatal(err)
		}
		one.server = serve(t, dir)
	}
	return one.server
}

// TestSuite has one instance do all at the same time, which is more than a server allows a connection by default.
func TestSuite(t *testing.T) {
	s := server(t)
	s.reconfigure(t, "MaxStartups 100\n", "MaxStartups 100\nMaxSessions 100\n")
	providertest.Suite(t, func(t *testing.T) provider.Provider { return s.open(t, "") })
}

// sshd is an OpenSSH server on the loopback interface, with keys of its own. It lets in the current user, but not their
// ~/.bashrc: that may take long.
type sshd struct {
	dir, user, address string
	key, known         string // files
	cmd                *exec.Cmd
	said               bytes.Buffer
}

// sshdPath finds the program; scripts/sshd.sh installs it.
func sshdPath(t *testing.T) string {
	t.Helper()
	for _, p := range []string{os.Getenv("SSHD"), "/usr/sbin/sshd", "/usr/local/sbin/sshd"} {
		if p != "" {
			if _, err := os.Stat(p); err == nil {
				return p
			}
		}
	}
	t.Skip("no OpenSSH server (sshd): scripts/sshd.sh installs it")
	return ""
}

// newKey writes a private key to a file and returns its public one.
func newKey(t *testing.T, path string) xssh.PublicKey {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := xssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	key, err := xssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// server is one of the test's own.
func server(t *testing.T) *sshd {
	t.Helper()
	s := serve(t, t.TempDir())
	t.Cleanup(s.stop)
	return s
}

func serve(t *testing.T, dir string) *sshd {
	t.Helper()
	program := sshdPath(t)
	u, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &sshd{dir: dir, user: u.Username, address: listener.Addr().String()}
	listener.Close()
	s.key, s.known = s.dir+"/user", s.dir+"/known"
	host := newKey(t, s.dir+"/host")
	write(t, s.dir+"/authorized", string(xssh.MarshalAuthorizedKey(newKey(t, s.key))))
	write(t, s.known, knownhosts.Line([]string{s.address}, host)+"\n")
	_, port, _ := net.SplitHostPort(s.address)
	write(t, s.dir+"/config", fmt.Sprintf(`ListenAddress 127.0.0.1:%s
HostKey %[2]s/host
AuthorizedKeysFile %[2]s/authorized
PidFile none
UsePAM no
StrictModes no
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
PrintMotd no
PrintLastLog no
Subsystem sftp internal-sftp
MaxStartups 100
SetEnv HOME=%[2]s
`, port, s.dir))
	s.start(t, program)
	return s
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// start runs the server until stop, and returns when it answers.
func (s *sshd) start(t *testing.T, program string) {
	t.Helper()
	s.cmd = exec.Command(program, "-D", "-e", "-f", s.dir+"/config")
	s.cmd.Stderr = &s.said
	s.cmd.WaitDelay = time.Second
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	providertest.Becomes(t, "the server answers", func() bool {
		c, err := net.Dial("tcp", s.address)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
}

// stop ends the server and the processes of its connections, which lead no sessions of their own until somebody has
// logged in.
func (s *sshd) stop() {
	if s.cmd.ProcessState == nil {
		s.drop()
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	}
}

// drop ends the processes of all connections.
func (s *sshd) drop() {
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", s.cmd.Process.Pid))
	for _, pid := range strings.Fields(string(children)) {
		var n int
		_, _ = fmt.Sscan(pid, &n)
		_ = syscall.Kill(n, syscall.SIGKILL)
	}
}

// open is a provider of this server; known is another file of known hosts.
func (s *sshd) open(t *testing.T, known string) *ssh.Provider {
	t.Helper()
	if known == "" {
		known = s.known
	}
	return providertest.Opened[*ssh.Provider](t)(ssh.New(ssh.Config{Hosts: []string{s.user + "@" + s.address},
		KnownHosts: []string{known}, Keys: []string{s.key}, Dir: t.TempDir()}))
}

// A host that is not known, or is another than the known one, gets no byte of ours; neither does one that refuses our
// key get a second try.
func TestHostsAreChecked(t *testing.T) {
	s := server(t)
	none, other := s.dir+"/none", s.dir+"/other"
	write(t, none, "")
	write(t, other, knownhosts.Line([]string{s.address}, newKey(t, s.dir+"/otherhost"))+"\n")
	for _, known := range []string{none, other} {
		_, err := s.open(t, known).Create(providertest.Within(t), provider.CreateRequest{})
		if !errors.Is(err, provider.ErrRefused) || !errors.Is(err, provider.ErrNotStarted) {
			t.Errorf("%s: %v", filepath.Base(known), err)
		}
	}
	newKey(t, s.key) // which the server does not know
	if _, err := s.open(t, "").Create(providertest.Within(t), provider.CreateRequest{}); !errors.Is(err,
		provider.ErrRefused) {
		t.Errorf("another key: %v", err)
	}
	if _, err := ssh.New(ssh.Config{Hosts: []string{"x"}, KnownHosts: []string{s.dir + "/absent"},
		Keys: []string{s.key}}); err == nil {
		t.Error("without known hosts")
	}
}

// A connection that breaks takes its command along and says that it had begun; the next call makes another.
func TestReconnects(t *testing.T) {
	s := server(t)
	p := providertest.Create(t, s.open(t, ""))
	word := providertest.Seconds()
	broken := make(chan error, 1)
	begun := providertest.NewExpect("begun")
	go func() {
		_, err := p.Exec(providertest.Within(t), p.ID, provider.ExecRequest{Command: "echo begun; sleep " + word},
			begun, io.Discard)
		broken <- err
	}()
	begun.Wait(t)
	s.drop()
	if err := <-broken; !errors.Is(err, provider.ErrUnreachable) || errors.Is(err, provider.ErrNotStarted) {
		t.Errorf("the command: %v", err)
	}
	p.Check(t, "echo again", "again\n", 0)
	providertest.KillSleep(t, word)
	// A server that is not there: certainly nothing was started.
	s.stop()
	_, err := p.Exec(providertest.Within(t), p.ID, provider.ExecRequest{Command: "true"}, io.Discard, io.Discard)
	if !errors.Is(err, provider.ErrUnreachable) || !errors.Is(err, provider.ErrNotStarted) {
		t.Errorf("without a server: %v", err)
	}
	s.start(t, sshdPath(t))
	p.Check(t, "echo back", "back\n", 0)
}

// More commands at a time than one connection has channels.
func TestManyAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("runs it at every provider")
	}
	p := providertest.Create(t, shared(t).open(t, ""))
	done := make(chan string, 24)
	for n := range cap(done) {
		go func() {
			var out bytes.Buffer
			_, err := p.Exec(providertest.Within(t), p.ID,
				provider.ExecRequest{Command: fmt.Sprintf("sleep 0.2; echo %d", n)}, &out,
				io.Discard)
			done <- fmt.Sprint(strings.TrimSpace(out.String()) == fmt.Sprint(n), err)
		}()
	}
	for range cap(done) {
		if got := <-done; got != "true <nil>" {
			t.Error(got)
		}
	}
}

// What has hidden in a session of its own ends with its command, its terminal and its instance.
func TestEndsTheWholeTree(t *testing.T) {
	p := providertest.Create(t, shared(t).open(t, ""))
	word := providertest.Seconds()
	ctx, cancel := context.WithCancel(providertest.Within(t))
	begun := providertest.NewExpect("begun")
	ended := make(chan error, 1)
	go func() {
		_, err := p.Exec(ctx, p.ID, provider.ExecRequest{Command: "(setsid nohup sleep " + word +
			" >/dev/null 2>&1 &); sleep " + word + " & echo begun; wait"}, begun, io.Discard)
		ended <- err
	}()
	begun.Wait(t)
	providertest.Becomes(t, "two sleep", func() bool { return len(providertest.Sleeping(t, word)) == 2 })
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if s := providertest.Sleeping(t, word); s != "" {
		t.Errorf("left after the command: %q", s)
	}
	p.Check(t, "(setsid nohup sleep "+word+" >/dev/null 2>&1 &)", "", 0)
	providertest.Becomes(t, "one sleeps", func() bool { return providertest.Sleeping(t, word) == "S" })
	if err := p.Destroy(providertest.Within(t), p.ID); err != nil {
		t.Fatal(err)
	}
	if s := providertest.Sleeping(t, word); s != "" {
		t.Errorf("left after the instance: %q", s)
	}
}

// Commands that are cancelled at the same time are all ended, though that takes a channel for each and a connection has
// few: also where it has fewer than others, or one more and the end of another has not been noticed.
func TestEndsManyAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("runs it at every provider")
	}
	t.Run("usual", func(t *testing.T) { endsManyAtOnce(t, shared(t)) })
	t.Run("nine channels", func(t *testing.T) {
		s := server(t)
		s.reconfigure(t, "MaxStartups 100\n", "MaxStartups 100\nMaxSessions 9\n")
		endsManyAtOnce(t, s)
	})
}

func endsManyAtOnce(t *testing.T, s *sshd) {
	t.Helper()
	p := providertest.Create(t, s.open(t, ""))
	word := providertest.Seconds()
	defer providertest.KillSleep(t, word)
	ctx, cancel := context.WithCancel(providertest.Within(t))
	defer cancel()
	ended := make(chan error, 8)
	for range cap(ended) {
		begun := providertest.NewExpect("begun")
		go func() {
			_, err := p.Exec(ctx, p.ID, provider.ExecRequest{Command: "(setsid nohup sleep " + word +
				" >/dev/null 2>&1 &); echo begun; exec sleep " + word}, begun, io.Discard)
			ended <- err
		}()
		begun.Wait(t)
	}
	providertest.Becomes(t, "they sleep", func() bool { return len(providertest.Sleeping(t, word)) == 2*cap(ended) })
	cancel()
	for range cap(ended) {
		if err := <-ended; !errors.Is(err, context.Canceled) || errors.Is(err, provider.ErrNotStarted) {
			t.Error(err)
		}
	}
	providertest.Becomes(t, "none sleeps", func() bool { return providertest.Sleeping(t, word) == "" })
}

// reconfigure starts the server again with other words in its configuration.
func (s *sshd) reconfigure(t *testing.T, old, with string) {
	t.Helper()
	s.stop()
	text, err := os.ReadFile(s.dir + "/config")
	if err != nil || !strings.Contains(string(text), old) {
		t.Fatalf("no %q in the configuration: %v", old, err)
	}
	write(t, s.dir+"/config", strings.Replace(string(text), old, with, 1))
	s.start(t, sshdPath(t))
}

// A server that does not do files says so as often as it is asked, and goes on with commands: nothing of a try stays.
func TestWithoutFiles(t *testing.T) {
	s := server(t)
	s.reconfigure(t, "Subsystem sftp internal-sftp\n", "")
	p := providertest.Create(t, s.open(t, ""))
	for range 12 { // more than a server allows channels
		if _, err := p.ReadFile(providertest.Within(t), p.ID, "/etc/passwd", 1<<20); !errors.Is(err,
			provider.ErrProvider) {
			t.Fatal(err)
		}
	}
	p.Check(t, "echo here", "here\n", 0)
}

// State goes along, also where every command is a login of its own, and a command of any length.
func TestState(t *testing.T) {
	s := providertest.Shell{Instance: providertest.Create(t, shared(t).open(t, ""))}
	s.Says(t, "mkdir sub; cd sub; export A=$'it\\'s\\n✓'; unset OF_INSTANCE", "")
	s.Says(t, `echo "${PWD##*/}|$A|${OF_INSTANCE-none}"`, "sub|it's\n✓|none\n")
	long := strings.Repeat("y", 400_000)
	s.Says(t, "v='"+long+"'; echo ${#v}", "400000\n")
}
