package tests

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/tests/polling"
	"github.com/evertty/evertty/wire"
)

const (
	// patience is how long a test waits for a fact before it fails: far longer than
	// anything takes on a slow and busy machine. It is the only limit of the tests.
	patience = 3 * time.Minute
	// politeExit is what the contract gives a server for its end by SIGTERM on a
	// machine that does nothing else.
	politeExit = 5 * time.Second
	// keeperIdle is how long a test's keeper outlives its last program and
	// server: long enough for a server that starts on a busy machine. The end of a
	// test does not wait for it, see dismissKeeper.
	keeperIdle = 30 * time.Second
	// endings is how many programs the end of a test ends at once.
	endings = 32
	// maxShown is how much of a server's log a failed test shows, in bytes.
	maxShown = 4 << 10
)

// launch says how a server is started. The zero value is a server without
// authentication on a free port of 127.0.0.1 with a data directory of its own.
type launch struct {
	binary string     // "" means the one under test
	dir    string     // data directory
	listen string     // "" means 127.0.0.1:0
	auth   string     // "" means none
	flags  []string   // more flags of serve
	env    []string   // more variables
	shell  string     // runs before the server in its process, as "umask 000"
	extra  []*os.File // open in the server from descriptor 3 on
	cwd    string     // the server's working directory
	errors bool       // the test makes failures that the log may tell of
	uid    uint32     // whose server it is, 0 for the test's user
}

// server is one running evertty. Its methods fail the test.
type server struct {
	*client.Client
	t       testing.TB
	how     launch
	url     string // http://127.0.0.1:PORT
	printed string // the URL of the line it printed
	mark    string // names this test's server in the environment of everything it starts
	book    *book  // the sessions with shells
	cmd     *exec.Cmd
	exited  chan struct{} // closed when the process was reaped
	stdout  *output
	stderr  *output
}

// start starts a server and waits until it is ready. At the end of the test its
// programs are ended and it is stopped; it must have done no wrong until then, and
// nothing of it may be left.
func start(t testing.TB, how launch) *server {
	t.Helper()
	if how.dir == "" {
		how.dir = filepath.Join(t.TempDir(), "data")
	}
	s := &server{t: t, how: how, book: &book{},
		mark: fmt.Sprintf("%s-%016x", strings.ReplaceAll(t.Name(), "/", "-"), rand.Uint64())}
	t.Cleanup(s.finish)
	s.launch()
	return s
}

// launch starts the process and reads the line that says that it is ready.
func (s *server) launch() {
	s.t.Helper()
	s.startWith(s.serveFlags())
}

func (s *server) startWith(flags []string) {
	s.t.Helper()
	s.begin(flags)
	s.ready()
}

// begin starts the process and does not wait for anything.
func (s *server) begin(flags []string) {
	s.t.Helper()
	s.stdout, s.stderr = &output{}, &output{}
	s.cmd = s.command("serve", flags...)
	s.cmd.Stderr = s.stderr
	s.cmd.ExtraFiles = s.how.extra
	r, w, err := os.Pipe()
	s.must(err)
	s.cmd.Stdout = w
	s.must(s.cmd.Start())
	_ = w.Close()
	exited := make(chan struct{})
	s.exited = exited
	cmd, stdout := s.cmd, s.stdout
	go func() {
		_, _ = io.Copy(stdout, r)
		_ = r.Close()
		_ = cmd.Wait()
		close(exited)
	}()
}

func (s *server) serveFlags() []string {
	listen, auth := s.how.listen, s.how.auth
	if listen == "" {
		listen = "127.0.0.1:0"
	}
	if auth == "" {
		auth = "none"
	}
	return append([]string{"--listen", listen, "--auth", auth, "--data-dir", s.how.dir}, s.how.flags...)
}

// ready waits for the line and makes the client.
func (s *server) ready() {
	s.t.Helper()
	eventually(s.t, "the server is ready", func() bool {
		select {
		case <-s.exited:
			s.t.Fatalf("the server ended: %v\n%s", s.cmd.ProcessState, s.stderr)
		default:
		}
		return strings.Contains(s.stdout.String(), "\n")
	})
	line, _, _ := strings.Cut(s.stdout.String(), "\n")
	printed, ok := strings.CutPrefix(line, "listening on ")
	if !ok {
		s.t.Fatalf("the server said %q", line)
	}
	s.printed = printed
	s.url, _, _ = strings.Cut(printed, "/?")
	s.url = strings.TrimSuffix(s.url, "/")
	token := ""
	if b, err := os.ReadFile(s.file("token")); err == nil { // there is none with --auth none
		token = strings.TrimSpace(string(b))
	}
	if s.Client != nil {
		s.Client.Close()
	}
	var err error
	s.Client, err = client.New(s.url, token)
	s.must(err)
}

// command is a call of the binary in an environment of its own, with this
// server's mark. It is not started.
func (s *server) command(verb string, args ...string) *exec.Cmd {
	program := s.how.binary
	if program == "" {
		program = binary
	}
	c := exec.Command(program, append([]string{verb}, args...)...)
	if s.how.shell != "" {
		c = exec.Command("sh", append([]string{"-c", s.how.shell + `; exec "$0" "$@"`, program, verb}, args...)...)
	}
	c.Dir = s.how.cwd
	if s.how.uid != 0 {
		c.SysProcAttr = asUser(s.how.uid)
	}
	c.Env = append(cleanEnv(s.t), "XDG_TESTMARK_HOME="+s.mark, "EVERTTY_KEEPER_IDLE="+keeperIdle.String())
	c.Env = append(c.Env, s.how.env...)
	return c
}

// cleanEnv is an environment without anything of the user's: no profile, no
// EVERTTY_ variable.
func cleanEnv(t testing.TB) []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "LANG=C.UTF-8", "TMPDIR=" + os.TempDir(),
		"SHELL=/bin/bash",
		"GORACE=halt_on_error=0"}
}

func (s *server) pid() int { return s.cmd.Process.Pid }

// port is the number of the port.
func (s *server) port() string {
	_, port, err := net.SplitHostPort(strings.TrimPrefix(s.url, "http://"))
	s.must(err)
	return port
}

// stop ends the server with SIGTERM, which it must obey in time. Its programs go
// on without it.
func (s *server) stop() {
	s.t.Helper()
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	given := patience
	if full() {
		given = politeExit
	}
	limit := time.NewTimer(given)
	defer limit.Stop()
	select {
	case <-s.exited:
	case <-limit.C:
		_ = s.cmd.Process.Signal(syscall.SIGQUIT) // tells what it was doing
		<-s.exited
		s.t.Errorf("the server did not end within %v of SIGTERM\n%s", given, s.stderr)
		return
	}
	if code := s.cmd.ProcessState.ExitCode(); code != 0 {
		s.t.Errorf("exit code %d after SIGTERM, want 0\n%s", code, s.stderr)
	}
	s.audit()
	if _, err := os.Stat(filepath.Join(s.how.dir, "server.json")); err == nil {
		s.t.Error("server.json is still there after the end")
	}
}

// kill ends the server with SIGKILL and waits until it is gone. Its programs go on.
func (s *server) kill() {
	s.t.Helper()
	s.must(s.cmd.Process.Kill())
	<-s.exited
	s.audit()
}

// again starts a server on the same data directory and the same port.
func (s *server) again() {
	s.t.Helper()
	s.how.listen = strings.TrimPrefix(s.url, "http://")
	s.launch()
}

// running reports whether the server's process is there.
func (s *server) running() bool {
	select {
	case <-s.exited:
		return false
	default:
		return true
	}
}

// wrongs are what a server must never say.
var wrongs = regexp.MustCompile(`panic|DATA RACE|invariant violation|fatal error|goroutine \d+ \[`)

// audit looks at what the process said.
func (s *server) audit() {
	s.t.Helper()
	log := s.stderr.String()
	if at := wrongs.FindStringIndex(log); at != nil {
		s.t.Errorf("the server's log:\n%s", log)
	}
	if !s.how.errors && strings.Contains(log, "level=ERROR") {
		s.t.Errorf("the server failed at something:\n%s", log)
	}
	if out := s.stdout.String(); strings.Count(out, "\n") != 1 {
		s.t.Errorf("the server printed more than one line:\n%s", out)
	}
}

// finish is the end of every server, of its programs and of its keeper.
func (s *server) finish() {
	if s.cmd == nil || s.cmd.Process == nil {
		return
	}
	held := !s.running() // the test left the keeper with the programs
	if !held && s.Client != nil {
		s.endPrograms()
		s.endShells()
	}
	if !held {
		s.stop()
	}
	if s.Client != nil {
		s.Client.Close()
	}
	if held || s.t.Failed() {
		killMarked(s.mark)
	}
	s.dismissKeeper()
	s.nothingIsLeft()
	if s.t.Failed() {
		log := s.stderr.String()
		s.t.Logf("the end of the server's log:\n%s", log[max(0, len(log)-maxShown):])
		s.t.Logf("the keeper's log:\n%s", s.keeperLog())
	}
}

// endPrograms ends every program by the server's own means.
func (s *server) endPrograms() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	list, err := s.List(ctx, "")
	if err != nil {
		s.t.Errorf("at the end of the test: %v", err)
	}
	var wg sync.WaitGroup
	slots := make(chan struct{}, endings)
	for _, i := range list {
		if i.State != "running" {
			continue
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			if err := s.Delete(ctx, i.ID, false); err != nil {
				s.t.Errorf("ending %s %q: %v", i.ID, i.Cmd, err)
			}
		})
	}
	wg.Wait()
}

// dismissKeeper tells the keeper that no server will come: it ends as soon as it
// holds nothing.
func (s *server) dismissKeeper() {
	for _, p := range marked(s.mark) {
		number, line, _ := strings.Cut(p, ":")
		if pid, err := strconv.Atoi(number); err == nil && strings.Contains(line, " keeper --data-dir ") {
			_ = syscall.Kill(pid, syscall.SIGTERM)
		}
	}
}

// nothingIsLeft checks that no process of the server's is there any more.
func (s *server) nothingIsLeft() {
	var left []string
	if !polling.Until(patience, func() bool { left = marked(s.mark); return len(left) == 0 }) {
		s.t.Errorf("processes are left: %v", left)
		killMarked(s.mark)
	}
	if log := s.keeperLog(); wrongs.MatchString(log) {
		s.t.Errorf("the keeper's log:\n%s", log)
	}
}

func (s *server) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// ctx is a context that ends when patience does, also at the end of the test, when
// the test's own is over.
func (s *server) ctx() context.Context {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.t.Context()), patience)
	s.t.Cleanup(cancel)
	return ctx
}

// create starts a terminal of 80x24 in the session "test"; no command is bash -l.
func (s *server) create(cmd ...string) client.Terminal {
	s.t.Helper()
	return s.createWith(wire.CreateTerminal{Cmd: cmd, Cols: new(80), Rows: new(24)})
}

func (s *server) createWith(r wire.CreateTerminal) client.Terminal {
	s.t.Helper()
	i, err := s.Create(s.ctx(), "test", r)
	s.must(err)
	i.Raw = nil
	return i
}

// shell starts bash -l and waits for its prompt.
func (s *server) shell() client.Terminal {
	s.t.Helper()
	i := s.create("bash", "-l")
	s.await(i.ID, `[$#]$`)
	return i
}

// input types text.
func (s *server) input(id, text string) {
	s.t.Helper()
	n, err := s.Input(s.ctx(), id, []byte(text))
	s.must(err)
	if n.Bytes != len(text) {
		s.t.Fatalf("%d of %d bytes were taken", n.Bytes, len(text))
	}
}

// await waits until history and screen match the pattern, in which ^ and $ are
// those of a line, and returns the text.
func (s *server) await(id, pattern string) string {
	s.t.Helper()
	w, err := s.Wait(s.ctx(), id, client.WaitRequest{For: "regex", Pattern: `(?m)` + pattern,
		Timeout: patience - time.Second})
	if err != nil {
		s.t.Fatalf("waiting for %q: %v; there is:\n%s", pattern, err, s.text(id))
	}
	return w.Text
}

// exit waits for the program's end.
func (s *server) exit(id string) *wire.Exit {
	s.t.Helper()
	w, err := s.Wait(s.ctx(), id, client.WaitRequest{For: "exit", Timeout: patience - time.Second})
	s.must(err)
	return w.Exit
}

// text is history and screen as plain lines.
func (s *server) text(id string) string {
	s.t.Helper()
	shot, err := s.Snapshot(s.ctx(), id, client.Text, client.AllHistory)
	s.must(err)
	return shot.Text
}

// info is what the server tells of a terminal.
func (s *server) info(id string) client.Terminal {
	s.t.Helper()
	i, err := s.Get(s.ctx(), id)
	s.must(err)
	i.Raw = nil // nobody can read it in a failure
	return i
}

// metric is the value of a metric without labels.
func (s *server) metric(name string) float64 {
	s.t.Helper()
	body := s.get("/metrics").wants(200).body
	for line := range strings.Lines(body) {
		if v, ok := strings.CutPrefix(line, name+" "); ok {
			f, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
			s.must(err)
			return f
		}
	}
	s.t.Fatalf("there is no metric %s in\n%s", name, body)
	return 0
}
