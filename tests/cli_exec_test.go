package tests

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/tests/polling"
)

// startForExec starts a server whose exec shells end with the test.
func startForExec(t *testing.T, how launch) *server {
	t.Helper()
	s := start(t, how)
	t.Cleanup(func() {
		if !s.running() {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		list, err := s.Shells(ctx, "")
		if err != nil {
			t.Errorf("at the end of the test: %v", err)
		}
		for _, i := range list {
			if err := s.DeleteShell(ctx, i.Session, i.ID); err != nil {
				t.Errorf("at the end of the test: %v", err)
			}
		}
	})
	return s
}

// ending is a call of the command line that runs.
type ending struct {
	*exec.Cmd
	t              testing.TB
	stdout, stderr *output
	over           chan struct{}
}

// begin starts a call in a process group of its own, as a shell with job control does.
func (s *server) begins(stdin io.Reader, args ...string) *ending {
	s.t.Helper()
	e := &ending{Cmd: s.cli(args...), t: s.t, stdout: &output{}, stderr: &output{}, over: make(chan struct{})}
	e.Stdin, e.Stdout, e.Stderr = stdin, e.stdout, e.stderr
	e.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	s.must(e.Start())
	go func() {
		_ = e.Wait()
		close(e.over)
	}()
	s.t.Cleanup(func() { _ = e.Process.Kill(); <-e.over })
	return e
}

// ends waits for the end and checks the exit code.
func (e *ending) ends(code int) {
	e.t.Helper()
	select {
	case <-e.over:
	case <-time.After(patience):
		e.t.Fatalf("%v does not end\n%s%s", e.Args, clip(e.stdout.String()), e.stderr)
	}
	if got := e.ProcessState.ExitCode(); got != code {
		e.t.Errorf("%v: exit code %d, want %d\n%s%s", e.Args, got, code, clip(e.stdout.String()), e.stderr)
	}
}

// lastCommand waits until the newest command of the session main has that status.
func (s *server) lastCommand(status string) (last client.Command) {
	s.t.Helper()
	if !polling.Until(patience, func() bool {
		list, err := s.Commands(s.ctx(), "main", 1, "")
		s.must(err)
		if len(list) == 0 {
			return false
		}
		last = list[0]
		return string(last.Status) == status
	}) {
		s.t.Fatalf("the last command is never %s: %s", status, last.Raw)
	}
	return last
}

// everyByte is all bytes, a few times and in no even pieces.
func everyByte(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i>>8)
	}
	return b
}

// TestExecLikeTheCommand: outputs, codes, words and state.
func TestExecLikeTheCommand(t *testing.T) {
	t.Parallel()
	s := startForExec(t, launch{auth: "token"})
	dir := t.TempDir()
	for _, tc := range []struct {
		name   string
		args   []string
		code   int
		stdout string
		stderr string
	}{
		{"both outputs", []string{"-c", "echo out; echo err >&2; exit_code() { return $1; }; exit_code 7"}, 7, "out\n",
			"err\n"},
		{"words stay words", []string{"--", "printf", "<%s>", "a b", "$HOME", "it's", "", "*", "-n"}, 0,
			"<a b><$HOME><it's><><*><-n>", ""},
		{"flags behind the command are its own", []string{"printf", "%s", "--json"}, 0, "--json", ""},
		{"text is text", []string{"-c", "x='a  b'; printf '%s|' $x \"$x\""}, 0, "a|b|a  b|", ""},
		{"cd and export stay", []string{"--", "cd", dir}, 0, "", ""},
		{"they did", []string{"-c", "pwd; export KEPT=yes; f() { echo f $1; }"}, 0, dir + "\n", ""},
		{"functions too", []string{"f", "$KEPT"}, 0, "f $KEPT\n", ""},
		{"for one command", []string{"--cwd", "/", "--env", "KEPT=once", "-c", "pwd; echo $KEPT"}, 0, "/\nonce\n", ""},
		{"and then not", []string{"-c", "pwd; echo $KEPT"}, 0, dir + "\nyes\n", ""},
		{"no such program", []string{"--", "/no/such"}, 127, "", "/no/such"},
		{"bytes", []string{"-c", `printf '\377\000\n\001'`}, 0, "\xff\x00\n\x01", ""},
		{"isolated", []string{"--isolated", "--", "sh", "-c", "echo $KEPT-$0", "x y"}, 0, "yes-x y\n", ""},
		{"without input", []string{"-n", "--", "cat"}, 0, "", ""},
		{"timeout", []string{"--timeout", "300ms", "-c", "echo before; sleep 60; echo NOT"}, 124, "before\n", ""},
		{"as if nothing had been", []string{"-c", "pwd"}, 0, dir + "\n", ""},
		{"the shell ends", []string{"-c", "exit 3"}, 3, "", ""},
		{"and is there again", []string{"-c", "pwd"}, 0, dir + "\n",
			"evertty: the shell had ended and was started again before this command; lost: "},
		{"ends again", []string{"-c", "exit 4"}, 4, "", ""},
		{"quietly", []string{"--quiet", "-c", "echo $KEPT"}, 0, "yes\n", ""},
		{"another shell", []string{"--shell", "nosuch", "--", "true"}, 4, "", "evertty: "},
	} {
		e := run(t, s.cli(append([]string{"exec"}, tc.args...)...))
		if e.code != tc.code || e.stdout != tc.stdout || !strings.Contains(e.stderr, tc.stderr) ||
			(tc.stderr == "") != (e.stderr == "") {
			t.Errorf("%s: %d %q %q", tc.name, e.code, e.stdout, e.stderr)
		}
	}
	var reply client.ExecResult
	e := run(t, s.cli("exec", "--json", "-c", `printf 'a\377'; exit_code 5`))
	if err := json.Unmarshal([]byte(e.stdout), &reply); err != nil || e.code != 5 ||
		string(reply.StdoutB64) != "a\xff" || reply.Cwd != dir || reply.CommandID == "" {
		t.Errorf("--json: %v %+v", err, e)
	}
	if out := s.says("commands", "-n", "2"); strings.Count(out, "\n") != 3 || !strings.Contains(out, reply.CommandID) {
		t.Errorf("commands:\n%s", out)
	}
	if e := run(t, s.cli("commands", reply.CommandID)); e.code != reply.ExitCode || e.stdout != "a\xff" {
		t.Errorf("commands ID: %+v", e)
	}
	if out := s.says("shells"); strings.Count(out, "\n") != 2 || !strings.Contains(out, dir) {
		t.Errorf("shells:\n%s", out)
	}
}

// TestExecInput: bytes of any size go in exactly and come out exactly, and an
// input without an end does not keep a command that has one.
func TestExecInput(t *testing.T) {
	t.Parallel()
	s := startForExec(t, launch{})
	big := everyByte(10 << 20)
	e := s.begins(bytes.NewReader(big), "exec", "--", "sha256sum")
	e.ends(0)
	if want := fmt.Sprintf("%x  -\n", sha256.Sum256(big)); e.stdout.String() != want {
		t.Errorf("%q, want %q", e.stdout, want)
	}
	e = s.begins(bytes.NewReader(big[:3<<20]), "exec", "--", "cat")
	e.ends(0)
	if e.stdout.String() != string(big[:3<<20]) || e.stderr.String() != "" {
		t.Errorf("%d bytes came back, %s", len(e.stdout.String()), e.stderr)
	}
	r, w, err := os.Pipe()
	s.must(err)
	defer r.Close()
	defer w.Close()
	e = s.begins(r, "exec", "-c", "read -r line; echo got $line; true")
	_, _ = w.WriteString("one\n")
	e.ends(0)
	if e.stdout.String() != "got one\n" {
		t.Errorf("%q", e.stdout)
	}
	e = s.begins(bytes.NewReader(big), "exec", "--", "head", "-c", "5")
	e.ends(0)
	if e.stdout.String() != string(big[:5]) {
		t.Errorf("%q", e.stdout)
	}
}

// TestExecSignal: a signal cancels the command, which then is the reason of the end,
// also while the command waits for another one.
func TestExecSignal(t *testing.T) {
	t.Parallel()
	s := startForExec(t, launch{})
	for sig, code := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143, syscall.SIGHUP: 129} {
		if signal.Ignored(sig) {
			continue // by whoever runs the tests (nohup), and what is ignored stays so in the program
		}
		e := s.begins(nil, "exec", "-c", "echo begun; sleep 600; echo NOT")
		eventually(t, "the command runs", func() bool { return e.stdout.String() == "begun\n" })
		queued := s.begins(nil, "exec", "--", "echo", "NOT")
		last := s.lastCommand("queued")
		s.must(syscall.Kill(-queued.Process.Pid, sig))
		queued.ends(code)
		if i, err := s.Command(s.ctx(), "main", last.CommandID); err != nil || i.Status != "cancelled" {
			t.Errorf("%v of one that waits: %s, %v", sig, i.Raw, err)
		}
		s.must(syscall.Kill(-e.Process.Pid, sig))
		e.ends(code)
		list, err := s.Commands(s.ctx(), "main", 0, "")
		s.must(err)
		if i := slices.IndexFunc(list, func(i client.Command) bool { return i.Status == "running" }); i >= 0 ||
			e.stdout.String() != "begun\n" {
			t.Errorf("after %v: %q, %v", sig, e.stdout, list)
		}
	}
}

// TestExecClosedPipe: a reader that has enough ends the command.
func TestExecClosedPipe(t *testing.T) {
	t.Parallel()
	s := startForExec(t, launch{})
	r, w, err := os.Pipe()
	s.must(err)
	e := s.cli("exec", "--", "yes")
	errs := &output{}
	e.Stdout, e.Stderr = w, errs
	s.must(e.Start())
	_ = w.Close()
	some := make([]byte, 4)
	_, err = io.ReadFull(r, some)
	_ = r.Close()
	_ = e.Wait()
	if err != nil || string(some) != "y\ny\n" || e.ProcessState.ExitCode() != 141 || errs.String() != "" {
		t.Errorf("%q %v, code %d, %s", some, err, e.ProcessState.ExitCode(), errs)
	}
	s.lastCommand("cancelled")
}

// TestExecOutlivesTheServer: the server is killed in the middle, twice, and not one
// byte of the two outputs is missing or comes twice.
func TestExecOutlivesTheServer(t *testing.T) {
	t.Parallel()
	s := startForExec(t, launch{listen: freePort(t)})
	gate := filepath.Join(t.TempDir(), "gate")
	e := s.begins(nil, "exec", "--quiet", "-c", `for i in 1 2 3; do
		for j in {1..2000}; do echo "out $i $j"; echo "err $i $j" >&2; done
		until [ -e "`+gate+`$i" ]; do sleep 0.02; done
	done; exit_code() { return 9; }; exit_code`)
	for i := 1; i <= 3; i++ {
		mark := fmt.Sprintf("out %d 2000\n", i)
		eventually(t, mark+" is here", func() bool { return strings.HasSuffix(e.stdout.String(), mark) })
		if i < 3 {
			s.kill()
		}
		s.must(os.WriteFile(fmt.Sprintf("%s%d", gate, i), nil, 0o600))
		if i < 3 {
			s.again()
		}
	}
	e.ends(9)
	var out, errs strings.Builder
	for i := 1; i <= 3; i++ {
		for j := 1; j <= 2000; j++ {
			fmt.Fprintf(&out, "out %d %d\n", i, j)
			fmt.Fprintf(&errs, "err %d %d\n", i, j)
		}
	}
	if e.stdout.String() != out.String() || e.stderr.String() != errs.String() {
		t.Errorf("%d and %d bytes came, want %d and %d", len(e.stdout.String()), len(e.stderr.String()), out.Len(),
			errs.Len())
	}
}

// TestExecBackground: it is not waited for, and can be looked at and ended later.
func TestExecBackground(t *testing.T) {
	t.Parallel()
	s := startForExec(t, launch{})
	id := strings.TrimSpace(s.says("exec", "--background", "-c", "echo soon; sleep 600"))
	if out := s.says("exec", "--", "echo", "beside"); out != "beside\n" {
		t.Errorf("%q", out)
	}
	e := s.begins(nil, "commands", id)
	eventually(t, "its output is here", func() bool { return e.stdout.String() == "soon\n" })
	s.must(syscall.Kill(e.Process.Pid, syscall.SIGINT))
	e.ends(130)
	if i, err := s.Command(s.ctx(), "main", id); err != nil || i.Status != "running" {
		t.Errorf("%s, %v", i.Raw, err)
	}
	s.says("commands", "--cancel", id)
	eventually(t, "it is cancelled", func() bool {
		i, err := s.Command(s.ctx(), "main", id)
		s.must(err)
		return i.Status == "cancelled"
	})
}
