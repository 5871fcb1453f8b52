package tests

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/evertty/evertty/wire"
)

// Two users of the machine that own nothing else.
const (
	alice = 61234
	mallo = 61235
)

func asUser(uid uint32) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
}

// account starts a server of another user in a home of its own.
func account(t *testing.T, uid uint32, listen string) *server {
	t.Helper()
	home := filepath.Join(t.TempDir(), "home")
	top := filepath.Dir(home)
	for _, err := range []error{os.Mkdir(home, 0o700), os.Chown(home, int(uid), int(uid)), os.Chmod(top, 0o755),
		os.Chmod(filepath.Dir(top), 0o755)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return start(t, launch{auth: "token", listen: listen, uid: uid, cwd: "/", dir: filepath.Join(home, "data"),
		env: []string{"HOME=" + home}})
}

// targets is what an intruder tries.
type targets struct {
	Paths   []string
	PIDs    []int
	Address string
	Program string // evertty
	Dir     string
}

// intruderProgram tries everything that a user of the machine can try, and prints a line for each thing that worked.
func intruderProgram(arguments string) {
	var all targets
	if err := json.Unmarshal([]byte(arguments), &all); err != nil {
		fmt.Println(err)
	}
	worked := func(what, where string, err error) {
		if err == nil {
			fmt.Println(what, where)
		}
	}
	for _, path := range all.Paths {
		for what, flag := range map[string]int{"reads": os.O_RDONLY, "writes": os.O_WRONLY, "appends to": os.O_APPEND |
			os.O_WRONLY} {
			f, err := os.OpenFile(path, flag|syscall.O_NONBLOCK, 0)
			if err == nil && flag == os.O_RDONLY { // marks of a shell are empty, and the test opens directories itself
				info, e := f.Stat()
				if e == nil && (info.IsDir() || info.Mode().IsRegular() && info.Size() == 0) {
					err = fs.ErrInvalid
				}
			}
			worked(what, path, err)
		}
		worked("makes a file in", path, os.WriteFile(filepath.Join(path, "planted"), nil, 0o600))
		worked("removes", path, os.Remove(path))
		worked("changes the mode of", path, os.Chmod(path, 0o777))
		for _, kind := range []string{"unix", "unixpacket"} {
			worked("gets an answer of", path, answers(kind, path))
		}
	}
	for _, pid := range all.PIDs {
		dir := "/proc/" + strconv.Itoa(pid) + "/"
		for _, name := range []string{"environ", "mem", "maps"} {
			b, err := os.ReadFile(dir + name)
			if err == nil && len(b) > 0 {
				worked("reads", dir+name, nil)
			}
		}
		_, err := os.ReadDir(dir + "fd")
		worked("lists", dir+"fd", err)
		_, err = os.Readlink(dir + "cwd")
		worked("follows", dir+"cwd", err)
		for _, signal := range []syscall.Signal{0, syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL} {
			worked("signals "+signal.String(), dir, syscall.Kill(pid, signal))
		}
		worked("traces", dir, syscall.PtraceAttach(pid))
		line, _ := os.ReadFile(dir + "cmdline")
		fmt.Printf("sees %q\n", line)
	}
	for _, request := range []string{"GET /pty", "GET /", "POST /tickets", "DELETE /pty/x", "GET /metrics", "GET /ws"} {
		method, path, _ := strings.Cut(request, " ")
		r, err := http.NewRequestWithContext(context.Background(), method, "http://"+all.Address+path, nil)
		if err != nil {
			fmt.Println(err)
			continue
		}
		if resp, err := http.DefaultClient.Do(r); err != nil || resp.StatusCode != http.StatusUnauthorized {
			fmt.Println(request, "is answered with", resp, err)
		}
	}
	for _, verb := range []string{"ls", "url", "kill --all", "doctor", "serve --listen 127.0.0.1:0", "keeper"} {
		c := exec.Command(all.Program, append(strings.Fields(verb), "--data-dir", all.Dir)...)
		c.Env = []string{"HOME=/"}
		if out, _ := c.CombinedOutput(); c.ProcessState.ExitCode() != 2 {
			fmt.Printf("evertty %s: %v %s\n", verb, c.ProcessState, out)
		}
	}
	fmt.Println("tried all")
	os.Exit(0)
}

// answers is nil when somebody at a socket says something.
func answers(kind, path string) error {
	c, err := net.DialTimeout(kind, path, time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Minute)) // it is hung up on before that
	_, _ = io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if n, err := c.Read(make([]byte, 1)); n == 0 {
		return err
	}
	return nil
}

// impostorProgram serves a socket that everybody may connect to, and prints what comes.
func impostorProgram(path string) {
	l, err := net.Listen("unix", path)
	if err == nil {
		err = os.Chmod(path, 0o666) //nolint:gosec // for everybody
	}
	fmt.Println("listening", err)
	for err == nil {
		var c net.Conn
		if c, err = l.Accept(); err == nil {
			b := make([]byte, 1<<10)
			n, _ := c.Read(b)
			fmt.Printf("got %q\n", b[:n])
			_ = c.Close()
		}
	}
	os.Exit(1)
}

// asIntruder runs one of the programs above as another user. Its binary is a copy: the test's own may be where that
// user may not look.
func asIntruder(t *testing.T, uid uint32, args ...string) *exec.Cmd {
	t.Helper()
	words := program(t, args...)
	b, err := os.ReadFile(words[0])
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	words[0] = filepath.Join(dir, "test")
	for _, err := range []error{os.WriteFile(words[0], b, 0o755), os.Chmod(filepath.Dir(dir), 0o755)} { //nolint:gosec
		if err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command(words[0], words[1:]...)
	c.Dir, c.Env, c.SysProcAttr = "/", []string{"PATH=" + os.Getenv("PATH")}, asUser(uid)
	return c
}

// needsAccounts skips where a test cannot be another user.
func needsAccounts(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root, to be two users")
	}
	c := exec.Command("/bin/true")
	c.SysProcAttr = asUser(alice)
	if err := c.Run(); err != nil {
		t.Skip("may not be another user:", err)
	}
}

// TestTwoAccounts: security row D2. Of a server nothing is readable, usable or killable by another user of the
// machine, who has one too.
func TestTwoAccounts(t *testing.T) {
	t.Parallel()
	needsAccounts(t)
	s, other := account(t, alice, "127.0.0.1:0"), account(t, mallo, "127.0.0.1:0")
	id := s.shell().ID
	other.shell()
	// A command that runs has FIFOs.
	s.book.add("work")
	s.post("/session/work/exec", `{"command":"sleep 1007","background":true}`).wants(202)
	eventually(t, "FIFOs are there", func() bool { return slices.ContainsFunc(s.allFiles(), isFIFO) })
	pids := []int{s.pid(), s.keeperPID(), s.info(id).PID}
	eventually(t, "the command runs", func() bool {
		for _, p := range marked(s.mark) {
			if number, line, _ := strings.Cut(p, ":"); line == "sleep 1007 " {
				pid, err := strconv.Atoi(number)
				s.must(err)
				pids = append(pids, pid)
				return true
			}
		}
		return false
	})
	for _, closed := range []bool{true, false} {
		paths := s.allFiles()
		for _, path := range paths {
			info, err := os.Lstat(path)
			switch {
			case err != nil || closed: // it was replaced meanwhile
			case info.IsDir():
				s.must(os.Chmod(path, 0o755))
			case info.Mode().Type() == fs.ModeSocket: // who connects is seen
				s.must(os.Chmod(path, 0o666))
			}
		}
		s.must(os.Chmod(filepath.Dir(s.how.dir), map[bool]fs.FileMode{true: 0o700, false: 0o755}[closed]))
		s.intrude(paths, pids)
	}
	if i := s.info(id); i.State != "running" {
		t.Errorf("%+v", i)
	}
	s.input(id, "echo 'still' here\r")
	s.await(id, "^still here$")
	var list []wire.Terminal
	s.must(json.Unmarshal([]byte(s.accountSays("ls", "--json")), &list))
	if len(list) != 1 || list[0].ID != id {
		t.Errorf("its owner sees %+v", list)
	}
}

// TestRootsDirectoryIsNotAnybodys: security row D6. Root may read what is everybody's, and so root's data directory
// is safe from others; but it is no other user's either.
func TestRootsDirectoryIsNotAnybodys(t *testing.T) {
	t.Parallel()
	needsAccounts(t)
	top := t.TempDir()
	s := start(t, launch{auth: "token", dir: filepath.Join(top, "data")})
	for _, err := range []error{os.Chmod(top, 0o755), os.Chmod(filepath.Dir(top),
		0o755)} { //nolint:gosec // for everybody
		s.must(err)
	}
	for _, mode := range []fs.FileMode{0o700, 0o755} {
		s.must(os.Chmod(s.how.dir, mode))
		for _, verb := range []string{"ls", "url", "kill --all", "doctor", "serve --listen 127.0.0.1:0", "keeper"} {
			c := exec.Command(binary, append(strings.Fields(verb), "--data-dir", s.how.dir)...)
			c.Dir, c.Env, c.SysProcAttr = "/", []string{"HOME=/"}, asUser(mallo)
			run(t, c).refuses(t, 2, s.how.dir, "belongs to another user")
		}
	}
}

// intrude has the other user try everything.
func (s *server) intrude(paths []string, pids []int) {
	s.t.Helper()
	t, ok := s.t.(*testing.T)
	if !ok {
		s.t.Fatal("not a test")
	}
	all := targets{paths, pids, strings.TrimPrefix(s.url, "http://"), binary, s.how.dir}
	if len(paths) < 10 {
		t.Errorf("there is only %v", paths)
	}
	said := run(t, asIntruder(t, mallo, "intruder", asJSON(all)))
	if said.code != 0 || !strings.HasSuffix(said.stdout, "tried all\n") {
		t.Fatalf("%+v", said)
	}
	for line := range strings.Lines(said.stdout) {
		if strings.HasPrefix(line, "sees ") && !strings.Contains(line, s.token()) || line == "tried all\n" {
			continue
		}
		t.Errorf("another user %s", line)
	}
	for _, pid := range all.PIDs {
		if !alive(pid) {
			t.Errorf("process %d is gone", pid)
		}
	}
}

// allFiles is everything in the data directory.
func (s *server) allFiles() (list []string) {
	_ = filepath.WalkDir(s.how.dir, func(path string, _ fs.DirEntry, _ error) error {
		list = append(list, path)
		return nil
	})
	return list
}

func isFIFO(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().Type() == fs.ModeNamedPipe
}

// accountCall is a call of its user's, of the command line.
func (s *server) accountCall(args ...string) *exec.Cmd {
	c := s.command(args[0], append(args[1:], "--data-dir", s.how.dir)...)
	c.Dir = "/"
	return c
}

func (s *server) accountSays(args ...string) string {
	s.t.Helper()
	e := run(s.t, s.accountCall(args...))
	if e.code != 0 || e.stderr != "" {
		s.t.Fatalf("%q: %+v", args, e)
	}
	return e.stdout
}

// TestAnotherAccountTakesThePort: security rows D2, D3. After kill -9 another user's server has the port, and later
// a socket in the place of the server's. The client asks neither.
func TestAnotherAccountTakesThePort(t *testing.T) {
	t.Parallel()
	needsAccounts(t)
	at := freePort(t)
	s := account(t, alice, at)
	s.kill()
	other := account(t, mallo, at)
	if e := run(t, s.accountCall("ls", "--no-start")); e.code != 3 || strings.Contains(e.stderr, "token") {
		t.Errorf("with another user's server at its port: %+v", e)
	}
	audit, err := os.ReadFile(other.file("audit.log"))
	if err != nil && !os.IsNotExist(err) || bytes.Contains(audit, []byte("refused")) {
		t.Errorf("the other server was asked: %s %v", audit, err)
	}

	socket := filepath.Join(filepath.Dir(other.how.dir), "impostor")
	c := asIntruder(t, mallo, "impostor", socket)
	got := &output{}
	c.Stdout = got
	s.must(c.Start())
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	eventually(t, "the impostor listens", func() bool { return strings.HasPrefix(got.String(), "listening <nil>\n") })
	s.must(os.Remove(s.file("server.sock")))
	s.must(os.Rename(socket, s.file("server.sock")))
	if e := run(t, s.accountCall("ls", "--no-start")); e.code != 3 || !strings.Contains(e.stderr, "another user's") {
		t.Errorf("with another user's socket: %+v", e)
	}
	eventually(t, "it was connected to", func() bool { return strings.Contains(got.String(), "got") })
	if said := got.String(); said != "listening <nil>\ngot \"\"\n" {
		t.Errorf("the impostor %s", said)
	}
	s.must(os.Remove(s.file("server.sock")))
}
