package shell

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/pty/keeper"
)

var servers = flag.Int("servers", 8, "servers that TestServerKilled kills")

func init() { modes["server"] = serverMode }

// serverMode is a server with one shell, DATA/shell, that is kept busy until it is killed: it prints the number of each
// command that was submitted.
func serverMode(args []string) error {
	data := args[0]
	client, err := connect(data)
	if err != nil {
		return err
	}
	s, err := bring(client, data, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	for n := len(s.Commands(0, "")); err == nil; n++ {
		var e *Exec
		text := fmt.Sprintf("echo %d >>order; sleep 0.00%d; echo out %d; echo err %d >&2; (exit %d)", n, n%7, n, n,
			n%200)
		if e, err = s.Submit(Command{Text: text, Background: n%5 == 4}); err == nil {
			fmt.Println(n)
			if n%3 == 0 {
				_, err = e.Wait(context.Background())
			}
		}
	}
	return err
}

// bring starts the shell of a data directory or recovers it.
func bring(client *keeper.Client, data string, log *slog.Logger) (*Shell, error) {
	dir := filepath.Join(data, "shell")
	held, err := client.TakePrograms(context.Background())
	if err != nil {
		return nil, err
	}
	c := Config{Keeper: client, Log: log}
	if _, err := os.Stat(filepath.Join(dir, shelldir.LauncherFile)); err == nil {
		return Recover(c, dir, held, Spec{ID: "kept"})
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return Start(c, Spec{ID: "kept", Dir: dir, Cwd: data})
}

// nextServer is the shell of a data directory for another server, when the connection of the one before is closed. The
// shell and the keeper end with the test.
func nextServer(t *testing.T, data string) *Shell {
	t.Helper()
	client, err := connect(data)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mustEndKeeper(t, client) })
	s, err := bring(client, data, slog.New(slog.NewTextHandler(t.Output(), nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { remove(t, s) })
	return s
}

// handOver leaves a shell, in which before has run, in good order while the command c runs, and brings it back with
// another server. The command ends with open. There is a directory of an internal command that a killed server left.
func handOver(t *testing.T, before string, c Command) (s *Shell, open func()) {
	t.Helper()
	data := t.TempDir()
	client, err := connect(data)
	if err != nil {
		t.Fatal(err)
	}
	if s, err = bring(client, data, slog.New(slog.NewTextHandler(t.Output(), nil))); err != nil {
		t.Fatal(err)
	}
	run(t, s, before)
	gate := filepath.Join(data, "gate")
	if err := unix.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	c.Text = "echo begun; read <" + gate
	e, err := s.Submit(c)
	if err != nil {
		t.Fatal(err)
	}
	if !poll(func() bool { return e.Size(Stdout) > 0 }) {
		t.Fatal("it does not begin")
	}
	s.Detach()
	_ = client.Close()
	if err := os.MkdirAll(filepath.Join(data, "shell", shelldir.InternalDir, "left"), 0o700); err != nil {
		t.Fatal(err)
	}
	return nextServer(t, data), func() {
		t.Helper()
		if err := os.WriteFile(gate, []byte("\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestValuesOverAnOrderlyEnd: a server leaves in good order while a command has variables and a directory of its own.
// After it they are what they were.
func TestValuesOverAnOrderlyEnd(t *testing.T) {
	t.Parallel()
	s, open := handOver(t, "export A=mine; cd /tmp; cd /usr",
		Command{Env: map[string]string{"A": "its own"}, Cwd: "/"})
	open()
	if r := run(t, s, "echo $A $PWD $OLDPWD"); r.out != "mine /usr /tmp\n" || r.Recreated {
		t.Errorf("%+v", r)
	}
}

// TestVariablesAskedWhileRecovering: an internal command that is queued while the next server still follows what ran
// keeps its files, and those that the server before has left are removed.
func TestVariablesAskedWhileRecovering(t *testing.T) {
	t.Parallel()
	s, open := handOver(t, "true", Command{})
	dir := filepath.Join(s.spec.Dir, shelldir.InternalDir)
	failed := make(chan error, 1)
	go func() { failed <- s.SetEnv(limited(t), map[string]string{"A": "new"}, nil) }()
	if !poll(func() bool { list, _ := os.ReadDir(dir); return len(list) > 1 }) {
		t.Error("nothing is queued")
	}
	open()
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
	if r := run(t, s, "echo $A"); r.out != "new\n" {
		t.Errorf("%+v", r)
	}
	if !poll(func() bool { list, err := os.ReadDir(dir); return err == nil && len(list) == 0 }) {
		t.Error("files of the change are left")
	}
}

// TestServerKilled is row 45: servers are killed at random times; every command runs exactly once, with all of its
// output and its own status.
func TestServerKilled(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	data := t.TempDir()
	said := 0
	for range *servers {
		said = max(said, victim(t, data, time.Duration(20+random.IntN(100))*time.Millisecond)+1)
	}
	client, err := connect(data)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { mustEndKeeper(t, client) }()
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	s, err := bring(client, data, log)
	if err != nil {
		t.Fatal(err)
	}
	s.Detach() // one that goes in good order, perhaps in the middle of a command
	_ = client.Close()
	if client, err = connect(data); err != nil {
		t.Fatal(err)
	}
	if s, err = bring(client, data, log); err != nil {
		t.Fatal(err)
	}
	defer remove(t, s)
	once := map[int]int{}
	for _, info := range s.Commands(0, "") {
		e, err := s.Command(info.ID)
		if err != nil {
			t.Fatal(err)
		}
		r := result(t, e)
		var n int
		if _, err := fmt.Sscanf(info.Command, "echo %d", &n); err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("out %d\n", n); r.out != want || r.err != "err"+want[3:] || r.ExitCode != n%200 {
			t.Errorf("%d (background %v): code %d, %q, %q, %+v", n, info.Background, r.ExitCode, r.out, r.err, r.Result)
		}
		once[n]++
	}
	text, err := os.ReadFile(filepath.Join(data, "order"))
	if err != nil {
		t.Fatal(err)
	}
	ran := map[int]int{}
	for line := range strings.Lines(string(text)) {
		n, _ := strconv.Atoi(strings.TrimSpace(line))
		ran[n]++
	}
	if len(once) < said {
		t.Errorf("%d commands are known, %d were taken", len(once), said)
	}
	for n := range len(once) {
		if once[n] != 1 || ran[n] != 1 {
			t.Errorf("command %d is known %d times and ran %d times", n, once[n], ran[n])
		}
	}
	t.Logf("%d commands, %d servers", len(once), *servers)
	if r := run(t, s, "echo on"); r.out != "on\n" || r.Recreated {
		t.Errorf("%+v", r)
	}
}

// victim runs a server that is killed after some time, and returns the last number it said.
func victim(t *testing.T, data string, life time.Duration) (last int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "server", data)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var words strings.Builder
	cmd.Stderr = &words
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	last = -1
	lines := bufio.NewScanner(out)
	for first := true; lines.Scan(); first = false {
		if first {
			defer time.AfterFunc(life, func() { _ = cmd.Process.Kill() }).Stop()
		}
		if last, err = strconv.Atoi(lines.Text()); err != nil {
			t.Fatal(err)
		}
	}
	_ = cmd.Wait()
	if words.Len() > 0 {
		t.Fatalf("the server ended: %s", words.String())
	}
	return last
}

// TestShellKilledWhileAway: the shell ends while no server is there; the next one tells how, and goes on.
func TestShellKilledWhileAway(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	client, err := connect(data)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	s, err := bring(client, data, log)
	if err != nil {
		t.Fatal(err)
	}
	run(t, s, "cd /usr; export V=1; f() { echo f; }")
	e, err := s.Submit(Command{Text: "echo before; while [ ! -e " + data +
		"/go ]; do sleep 0.01; done; echo after; exit 9"})
	if err != nil {
		t.Fatal(err)
	}
	queued, err := s.Submit(Command{Text: "pwd; echo $V; f"})
	if err != nil {
		t.Fatal(err)
	}
	<-e.Started()
	s.Detach()
	_ = client.Close()
	if err := os.WriteFile(filepath.Join(data, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if !poll(func() bool { return len(fifos(t, data)) == 0 }) {
		t.Errorf("FIFOs %v", fifos(t, data))
	}
	s = nextServer(t, data)
	if e, err = s.Command(e.ID()); err != nil {
		t.Fatal(err)
	}
	r := result(t, e)
	if r.ExitCode != 9 || !r.ShellEnded || r.out != "before\nafter\n" {
		t.Errorf("%+v", r)
	}
	if queued, err = s.Command(queued.ID()); err != nil {
		t.Fatal(err)
	}
	if r := result(t, queued); r.out != "/usr\n1\nf\n" || !r.Recreated {
		t.Errorf("%+v", r)
	}
}
