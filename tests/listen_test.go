package tests

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/evertty/evertty/wire"
)

// TestWhatIsAtThePathOfASocketStays: anything but the socket of a dead server is left as it is, and wrong usage.
func TestWhatIsAtThePathOfASocketStays(t *testing.T) {
	t.Parallel()
	live := func(path string) error {
		l, err := net.Listen("unix", path)
		if err == nil {
			t.Cleanup(func() { _ = l.Close() })
		}
		return err
	}
	packets := func(path string) error {
		c, err := net.ListenPacket("unixgram", path)
		if err == nil {
			t.Cleanup(func() { _ = c.Close() })
		}
		return err
	}
	for name, make := range map[string]func(path string) error{
		"file":          func(path string) error { return os.WriteFile(path, []byte("precious"), 0o640) },
		"empty file":    func(path string) error { return os.WriteFile(path, nil, 0o644) },
		"directory":     func(path string) error { return os.Mkdir(path, 0o755) },
		"FIFO":          func(path string) error { return syscall.Mkfifo(path, 0o644) },
		"dangling link": func(path string) error { return os.Symlink(path+".absent", path) },
		"link to a dead socket": func(path string) error {
			deadSocket(t, path+".dead")
			return os.Symlink(path+".dead", path)
		},
		"live socket":     live,
		"datagram socket": packets,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s")
			if err := make(path); err != nil {
				t.Fatal(err)
			}
			before, err := os.Lstat(path)
			if err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(t.TempDir(), "data")
			run(t, call(t, nil, "serve", "--listen", "unix://"+path, "--data-dir", dir)).refuses(t, 2, path, "stays")
			after, err := os.Lstat(path)
			if err != nil || !os.SameFile(before, after) || before.Mode() != after.Mode() ||
				before.Size() != after.Size() ||
				!before.ModTime().Equal(after.ModTime()) {
				t.Errorf("there was %v, there is %v (%v)", before, after, err)
			}
		})
	}
}

// deadSocket makes a socket that nobody listens on.
func deadSocket(t *testing.T, path string) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	_ = l.Close()
}

// TestTwoServersForOneSocket: of servers that start at once for the path of a dead one exactly one gets it, and the
// others leave it alone.
func TestTwoServersForOneSocket(t *testing.T) {
	t.Parallel()
	for range 5 {
		path := filepath.Join(t.TempDir(), "s")
		deadSocket(t, path)
		const servers = 4
		var work sync.WaitGroup
		var mu sync.Mutex
		var ready []*os.Process
		refused := 0
		for i := range servers {
			dir := filepath.Join(t.TempDir(), "data")
			c := call(t, []string{"EVERTTY_KEEPER_IDLE=1s"}, "serve", "--auth", "none", "--listen", "unix://"+path,
				"--data-dir",
				dir)
			out, err := c.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			var errs bytes.Buffer
			c.Stderr = &errs
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			work.Go(func() {
				line := make([]byte, 200)
				n, _ := out.Read(line)
				if strings.HasPrefix(string(line[:n]), "listening on ") {
					mu.Lock()
					ready = append(ready, c.Process)
					mu.Unlock()
					t.Cleanup(func() { _ = c.Process.Signal(syscall.SIGTERM); _ = c.Wait() })
					return
				}
				if _ = c.Wait(); c.ProcessState.ExitCode() != 2 || !strings.Contains(errs.String(), path) {
					t.Errorf("server %d: %v %s", i, c.ProcessState, errs.String())
				}
				mu.Lock()
				refused++
				mu.Unlock()
			})
		}
		work.Wait()
		if len(ready) != 1 || refused != servers-1 {
			t.Fatalf("%d servers are ready, %d were refused", len(ready), refused)
		}
		info, err := os.Lstat(path)
		if err != nil || info.Mode().Type() != os.ModeSocket || info.Mode().Perm() != 0o600 {
			t.Errorf("%v %v", info, err)
		}
		if c, err := net.Dial("unix", path); err != nil {
			t.Error(err)
		} else {
			_ = c.Close()
		}
	}
}

// TestAServerRemovesItsOwnSocketOnly: what has its name by now is another's.
func TestAServerRemovesItsOwnSocketOnly(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	s := start(t, launch{listen: "unix://" + path})
	s.stop()
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("after its end: %v", err)
	}
	s.launch()
	s.must(os.Remove(path))
	s.must(os.WriteFile(path, []byte("mine"), 0o600))
	s.Client.Close()
	s.Client = nil
	s.stop()
	if b, err := os.ReadFile(path); err != nil || string(b) != "mine" {
		t.Errorf("%q %v", b, err)
	}
}

// TestTakeoverOfAStoppedServer: afterwards there is exactly one server, also when the old one was stopped, or stopped
// again and again.
func TestTakeoverOfAStoppedServer(t *testing.T) {
	t.Parallel()
	for name, hung := range map[string]bool{"stopped": false, "stopped for ever": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old := start(t, launch{})
			id := old.shell().ID
			s := &server{t: t, how: old.how, mark: old.mark, book: old.book}
			s.how.flags = append(s.how.flags, "--takeover")
			old.must(old.cmd.Process.Signal(syscall.SIGSTOP))
			over := make(chan struct{})
			if hung {
				go func() { // whoever wakes it up
					for old.running() {
						_ = old.cmd.Process.Signal(syscall.SIGSTOP)
						select {
						case <-over:
							return
						default:
						}
					}
				}()
			}
			t.Cleanup(s.finish)
			s.launch()
			close(over)
			eventually(t, "the old server is gone", func() bool { return !old.running() })
			said := s.stderr.String()
			killed := strings.Contains(said, "did not leave in time") &&
				strings.Contains(said, fmt.Sprintf(" pid=%d ", old.pid()))
			switch {
			case killed && !hung:
				t.Errorf("it said %q", said)
			// Between two stops it can have time enough to leave by itself.
			case !killed && old.cmd.ProcessState.ExitCode() != 0:
				t.Errorf("it said %q, and the old server ended with %v", said, old.cmd.ProcessState)
			}
			s.input(id, "echo 'go'es on\n")
			s.await(id, "^goes on$")
		})
	}
}

// TestLinkForOthers: a server of all addresses offers a link that other machines open, with the same ticket; one of
// loopback, or with a public URL, does not.
func TestLinkForOthers(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token", listen: "0.0.0.0:0"})
	var made wire.Ticket
	s.must(json.Unmarshal([]byte(s.says("url", "--json")), &made))
	e := run(t, s.cli("url", "--qr"))
	offered := regexp.MustCompile(`browsers of other machines open (http://\S+)\n`).FindStringSubmatch(e.stderr)
	address := addressOfANetwork(t)
	if !strings.HasPrefix(e.stdout, s.url+"/?ticket=") || (offered == nil) != (address == "") {
		t.Fatalf("evertty url: %+v", e)
	}
	if address == "" {
		t.Skip("this machine is in no network")
	}
	at := "http://" + address + ":" + s.port()
	if made.NetworkURL != at+"/?ticket="+made.Ticket || made.URL != s.url+"/?ticket="+made.Ticket ||
		!strings.HasPrefix(offered[1], at+"/?ticket=") {
		t.Errorf("%+v, and %q", made, offered)
	}
	in, err := plain.Get(offered[1])
	s.must(err)
	_ = in.Body.Close()
	if in.StatusCode != 303 {
		t.Errorf("the link for others: %s", in.Status)
	}
	r, err := http.NewRequestWithContext(s.ctx(), http.MethodGet, at+"/pty", nil)
	s.must(err)
	r.Header = http.Header{"Origin": {at}, "Cookie": {strings.Split(in.Header.Get("Set-Cookie"), ";")[0]},
		"Evertty-Page": {strings.TrimPrefix(in.Header.Get("Location"), "/#page=")}}
	list, err := plain.Do(r)
	s.must(err)
	_ = list.Body.Close()
	if list.StatusCode != 200 {
		t.Errorf("its page: %s", list.Status)
	}
	id := s.create("cat").ID
	if r := s.post("/tickets", `{"pty":"`+id+`"}`).wants(201); !strings.Contains(r.body, at+"/pty/"+id+"/ws?ticket=") {
		t.Errorf("the ticket of a terminal: %s", r.body)
	}
	for _, flags := range [][]string{{"--listen", "127.0.0.1:0"},
		{"--listen", "0.0.0.0:0", "--public-url", "https://x.test"}} {
		o := startAt(t, flags...)
		if e := run(t, o.cli("url")); e.code != 0 || strings.Contains(e.stderr, "other machines") {
			t.Errorf("with %s evertty url: %+v", flags, e)
		}
	}
}

// addressOfANetwork is the address that other machines reach this one at, as the kernel lists them: "" for none.
func addressOfANetwork(t *testing.T) string {
	t.Helper()
	list, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range list {
		if ip, _, err := net.ParseCIDR(a.String()); err == nil && ip.To4() != nil && ip.IsGlobalUnicast() {
			return ip.String()
		}
	}
	return ""
}
