package tests

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// passing is what a service manager adds to the environment of a server that gets the sockets from descriptor 3 on.
const passing = "export LISTEN_PID=$$ LISTEN_FDNAMES=web"

// socketFile is a listening socket to pass, which is open in this process no more when the test ends.
func socketFile(t *testing.T, network, address string) (*os.File, net.Addr) {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	f, err := l.(interface{ File() (*os.File, error) }).File()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f, l.Addr()
}

// TestSocketsOfTheServiceManager: they stand for --listen, over kill -9 too, and no program gets them or their names.
func TestSocketsOfTheServiceManager(t *testing.T) {
	t.Parallel()
	f, at := socketFile(t, "tcp", "127.0.0.1:0")
	s := start(t, launch{listen: "127.0.0.1:1", auth: "token", shell: passing, extra: []*os.File{f},
		env: []string{"LISTEN_FDS=1"}})
	if want := "http://" + at.String(); s.url != want {
		t.Errorf("printed %s, the socket is %s", s.url, want)
	}
	info := s.create("sh", "-c", "sleep 1000; :")
	if env := readProc(t, info.PID, "environ"); strings.Contains(env, "LISTEN_") {
		t.Errorf("the program has %q", env)
	}
	if files := openFiles(info.PID); len(files) != 3 {
		t.Errorf("the program has %q", files)
	}
	s.kill()
	connected, err := net.Dial("tcp", at.String()) // nobody is there, and nobody is refused
	s.must(err)
	_ = connected.Close()
	s.again()
	if s.info(info.ID).PID != info.PID {
		t.Error("the program is another one")
	}
}

// TestPassedSocketsAreChecked: as --listen is.
func TestPassedSocketsAreChecked(t *testing.T) {
	t.Parallel()
	everywhere, _ := socketFile(t, "tcp", "0.0.0.0:0")
	loose := filepath.Join(t.TempDir(), "loose.sock")
	open, _ := socketFile(t, "unix", loose)
	if err := os.Chmod(loose, 0o666); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for want, f := range map[string]*os.File{"add --insecure": everywhere, "SocketMode=0600": open,
		"not a listening socket": file} {
		s := &server{t: t, how: launch{dir: filepath.Join(t.TempDir(), "data"), auth: "none", shell: passing,
			extra: []*os.File{f}, env: []string{"LISTEN_FDS=1"}}}
		s.begin(s.serveFlags())
		<-s.exited
		if code := s.cmd.ProcessState.ExitCode(); code != 2 || !strings.Contains(s.stderr.String(), want) {
			t.Errorf("exit code %d, %s, want %q", code, s.stderr, want)
		}
	}
}

// TestTheServiceManagerIsTold: that the server is ready, lives and stops; over a socket that no program knows.
func TestTheServiceManagerIsTold(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "notify")
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = manager.Close() })
	s := start(t, launch{shell: "export WATCHDOG_PID=$$",
		env: []string{"NOTIFY_SOCKET=" + path, "WATCHDOG_USEC=200000"}})
	var told []string
	hear := func(want string) {
		t.Helper()
		buffer := make([]byte, 100)
		for !slices.Contains(told, want) {
			n, err := manager.Read(buffer)
			s.must(err)
			told = append(told, string(buffer[:n]))
		}
	}
	hear("READY=1")
	reply, err := http.Get(s.url + "/readyz")
	s.must(err)
	_ = reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		t.Errorf("READY=1, and /readyz is %s", reply.Status)
	}
	told = nil
	hear("WATCHDOG=1")
	if env := readProc(t, s.create("sleep", "1000").PID, "environ"); strings.Contains(env, "NOTIFY_SOCKET") ||
		strings.Contains(env, "WATCHDOG_") {
		t.Errorf("the program has %q", env)
	}
	s.stop()
	hear("STOPPING=1")
}
