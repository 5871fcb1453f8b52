package bash_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/bash"
	"github.com/evertty/evertty/tests/providertest"
)

// here runs commands on this machine. An instance is a directory.
type here struct {
	provider.Lifecycle
	provider.Access
	t   *testing.T
	env []string
}

func onThisMachine(t *testing.T) *here { return &here{t: t} }

func (h *here) Create(_ context.Context, r provider.CreateRequest) (provider.Instance, error) {
	for name, value := range r.Env {
		h.env = append(h.env, name+"="+value)
	}
	dir := h.t.TempDir()
	return provider.Instance{ID: dir, State: provider.Running, Cwd: dir}, nil
}

func (h *here) Destroy(context.Context, string) error { return nil }

func (h *here) Exec(ctx context.Context, dir string, r provider.ExecRequest, stdout, stderr io.Writer,
) (provider.ExecResult, error) {
	text, err := bash.Script(r)
	if err != nil {
		return provider.ExecResult{}, err
	}
	c := exec.CommandContext(ctx, "bash", "-c", text)
	c.Dir, c.Env, c.Stdout, c.Stderr = dir, append(os.Environ(), h.env...), stdout, stderr
	if err = c.Run(); c.ProcessState == nil {
		return provider.ExecResult{}, err
	}
	code := c.ProcessState.ExitCode()
	if status, _ := c.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
		code = bash.SignalBase + int(status.Signal())
	}
	return provider.ExecResult{ExitCode: code}, nil
}

// captures are the files in /tmp that a command leaves when nobody cleans up.
func captures() []string {
	list, _ := filepath.Glob("/tmp/.evertty-*")
	return list
}

// cleanedUp fails when a file that was not there before stays. Other runs of these tests have theirs in the same
// folder, for a while.
func cleanedUp(t *testing.T, before []string) {
	t.Helper()
	added := slices.DeleteFunc(captures(), func(name string) bool { return slices.Contains(before, name) })
	providertest.Becomes(t, fmt.Sprintf("that nothing of %q is left", added), func() bool {
		now := captures()
		return !slices.ContainsFunc(added, func(name string) bool { return slices.Contains(now, name) })
	})
}

func TestStateThroughCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("runs it at every provider")
	}
	before := captures()
	s := providertest.Shell{Instance: providertest.Create(t, onThisMachine(t))}
	s.Says(t, "mkdir -p 'a dir/with $x'; cd 'a dir/with $x'; export A='it'\\''s'; B=not", "")
	s.Says(t, `echo "${PWD##*/}|$A|$B|$OF_INSTANCE"`, "with $x|it's||it's set\n")
	s.Says(t, "unset OF_INSTANCE; export A=2 E=", "")
	s.Says(t, `echo "${OF_INSTANCE-none}|$A|${E-none}"`, "none|2|\n")
	if !slices.Equal(s.State.Unset, []string{"OF_INSTANCE"}) ||
		!maps.Equal(s.State.Env, map[string]string{"A": "2", "E": ""}) {
		t.Errorf("%+v", s.State)
	}
	s.Says(t, "export OF_INSTANCE='it'\\''s set'; unset A", "")
	if len(s.State.Unset) != 0 || s.State.Env["E"] != "" || len(s.State.Env) != 1 {
		t.Errorf("%+v", s.State)
	}
	s.Says(t, "cd ..; rmdir with*; cd ..", "")
	s.State.Cwd += "/a dir/with $x/and/more"
	out, errs, code := s.Do(t, "echo ${PWD##*/}")
	if out != "a dir\n" || code != 0 || !strings.Contains(errs, "is gone, going on in ") ||
		strings.Count(errs, "\n") != 1 {
		t.Errorf("%q %q %d", out, errs, code)
	}
	if !strings.HasSuffix(s.State.Cwd, "/a dir") {
		t.Errorf("in %q", s.State.Cwd)
	}
	cleanedUp(t, before)
}

// failed is any exit code but 0: that of errors of its own differs between versions of bash.
const failed = -1

// What a command may be: nothing of it reaches the wrapper, and every way to an end tells the state but those of
// ErrNoState.
func TestAnyCommand(t *testing.T) {
	if testing.Short() {
		t.Skip("runs it at every provider")
	}
	s := providertest.Shell{Instance: providertest.Create(t, onThisMachine(t))}
	for _, c := range []struct {
		command, out string
		code         int
		errs         bool
	}{
		{command: "", out: ""},
		{command: "# only a comment"},
		{command: "echo a # and a comment", out: "a\n"},
		{command: "cat <<X\n$((1+1))\nX", out: "2\n"},
		{command: "cat <<'X'\n$x'\"\nX\n", out: "$x'\"\n"},
		{command: "echo 'open", code: failed, errs: true},
		{command: "if true; then", code: failed, errs: true},
		{command: ")", code: failed, errs: true},
		{command: "}", code: failed, errs: true},
		{command: "cat <<X\nno end", out: "no end\n", errs: true},
		{command: "echo a\\", out: "a\\\n"},
		{command: "exit 7", code: 7},
		{command: "(exit 9)", code: 9},
		{command: "set -e; false; echo no", code: 1},
		{command: "set -u; echo $nothing; echo no", code: failed, errs: true},
		{command: "set -f; IFS=x; set -o noclobber"},
		{command: "set -o posix; export -p >/dev/null"},
		{command: "trap 'echo bye' EXIT; echo hi", out: "hi\nbye\n"},
		{command: "exec 3>&1; echo x >&3", out: "x\n"},
		{command: "exec >/dev/null; echo no"},
		{command: "builtin() { echo no; }; printf() { echo no; }; pwd() { echo no; }; cd() { echo no; }; unset() { " +
			"echo no; }; set() { echo no; }; trap() { echo no; }; exit() { echo no; }; true"},
		{command: "shopt -s expand_aliases; alias printf=false builtin=false\ntrue"},
		{command: "PATH=/nowhere; export PATH"},
		{command: "echo -n no newline", out: "no newline"},
		{command: "echo $#", out: "0\n"},
		{command: "cat", out: ""},
		{command: "kill -9 $BASHPID & wait $!", code: 137, errs: true},
		{command: "sleep 0.01 & disown; echo on", out: "on\n"},
		{command: "set -- a b; echo $2", out: "b\n"},
		{command: "return 4", code: failed, errs: true},
		{command: "readonly A=1; readonly -p >/dev/null"},
		{command: "set -x; cd / ; set +x", errs: true},
		{command: "umask 777; true"},
	} {
		s.State = bash.ShellState{}
		mark := "export MARK='" + strings.ReplaceAll(c.command, "'", `'\''`) + "'\n"
		out, errs, code := s.Do(t, mark+c.command)
		if out != c.out || (errs != "") != c.errs || code != c.code && (c.code != failed || code == 0) {
			t.Errorf("%q: %q, %q, %d", c.command, out, errs, code)
		}
		if s.State.Env["MARK"] != c.command {
			t.Errorf("%q: the state has MARK=%q", c.command, s.State.Env["MARK"])
		}
	}
}

// What leaves no state leaves the one before, and its own exit code.
func TestNoState(t *testing.T) {
	before := captures()
	p := providertest.Create(t, onThisMachine(t))
	state := bash.ShellState{Env: map[string]string{"A": "1"}}
	for command, code := range map[string]int{
		"export A=2; exec false":                   1,
		"export A=2; trap : EXIT; exit 3":          3,
		"export A=2; kill -9 $$":                   137,
		"export A=2; exec bash -c 'kill -TERM $$'": 143,
	} {
		res, after, err := bash.ExecIn(providertest.Within(t), p.Provider, p.ID, state,
			provider.ExecRequest{Command: command}, io.Discard, io.Discard)
		if !errors.Is(err, bash.ErrNoState) || res.ExitCode != code || after.Env["A"] != "1" {
			t.Errorf("%q: %+v, %+v, %v", command, res, after, err)
		}
	}
	cleanedUp(t, before)
}

// A variable for one command is none of the state, and comes before the state's own.
func TestStateAndVariablesOfOneCommand(t *testing.T) {
	p := providertest.Create(t, onThisMachine(t))
	state := bash.ShellState{Env: map[string]string{"A": "state", "B": "state", "C": "state"},
		Unset: []string{"OF_INSTANCE"}}
	var out bytes.Buffer
	_, after, err := bash.ExecIn(providertest.Within(t), p.Provider, p.ID, state, provider.ExecRequest{
		Command: `echo $A $B ${C-none} $OF_INSTANCE; export B=changed; unset C`,
		Env:     map[string]string{"A": "once", "B": "once", "OF_INSTANCE": "once", "C": "once"},
	}, &out, io.Discard)
	if err != nil || out.String() != "once once once once\n" {
		t.Fatalf("%q, %v", out.String(), err)
	}
	if !maps.Equal(after.Env, map[string]string{"A": "state", "B": "changed"}) ||
		!slices.Equal(after.Unset, []string{"C", "OF_INSTANCE"}) {
		t.Errorf("%+v", after)
	}
}

// Any bytes but NUL are a value, byte for byte, and any directory is one.
func TestStateIsExact(t *testing.T) {
	if testing.Short() {
		t.Skip("runs it at every provider")
	}
	s := providertest.Shell{Instance: providertest.Create(t, onThisMachine(t))}
	r := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"\n", "'", `"`, "\\", "$", "`", "é", "👩‍👩‍👧", "\xff", "\x01", " ", "\t", "=", "#", "!", ";", "a",
		"%s", "-n", "\r", "*", "~"}
	text := func() string {
		var b strings.Builder
		for range r.IntN(40) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		return b.String()
	}
	base := s.Dir
	for range 25 {
		want := map[string]string{}
		for n := range 20 {
			want[fmt.Sprintf("V%d", n)] = text()
		}
		dir := filepath.Join(base, "d"+strings.ReplaceAll(text(), "/", ""))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		s.State = bash.ShellState{Cwd: dir, Env: want}
		out, errs, code := s.Do(t, `for n in {0..19}; do v=V$n; printf '%s\0' "${!v}"; done; pwd`)
		var all strings.Builder
		for n := range 20 {
			all.WriteString(want[fmt.Sprintf("V%d", n)] + "\x00")
		}
		if out != all.String()+dir+"\n" || errs != "" || code != 0 {
			t.Fatalf("%q, %q, %d; want %q", out, errs, code, all.String()+dir)
		}
		// A directory's last newlines are the one thing that pwd cannot tell.
		if !maps.Equal(s.State.Env, want) || s.State.Cwd != dir {
			t.Fatalf("%+v, want %+v in %q", s.State, want, dir)
		}
	}
}

// What nobody can have is refused before anything runs.
func TestWrapRefuses(t *testing.T) {
	for _, c := range []struct {
		state   bash.ShellState
		command string
	}{
		{bash.ShellState{}, "echo \x00"},
		{bash.ShellState{Cwd: "relative"}, ""},
		{bash.ShellState{Cwd: "/a\x00b"}, ""},
		{bash.ShellState{Env: map[string]string{"A B": "1"}}, ""},
		{bash.ShellState{Env: map[string]string{"A": "1\x00"}}, ""},
		{bash.ShellState{Unset: []string{"x; rm -rf /"}}, ""},
	} {
		if _, _, err := bash.Wrap(c.state, c.command); !errors.Is(err, provider.ErrNotStarted) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// FuzzUnwrap: no text makes the parser fail otherwise than by ErrNoState, and what it takes makes a text that bash can
// be given.
func FuzzUnwrap(f *testing.F) {
	text, marker, err := bash.Wrap(bash.ShellState{}, "export A=b; cd /")
	if err != nil {
		f.Fatal(err)
	}
	if out, err := exec.Command("bash", "-c", text).CombinedOutput(); err != nil || len(out) > 0 {
		f.Fatalf("%q, %v", out, err)
	}
	real, err := exec.Command("bash", "-c", bash.FetchScript(marker)).Output()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(marker, real)
	f.Add("m", []byte("m\x00A=b\x00\x00/\n\x00A=c\x00\x00m\x00"))
	f.Add("m", []byte("m\x00\x00\x00\x00m\x00"))
	f.Add("", []byte("\x00\x00"))
	if c, err := bash.Unwrap(bash.ShellState{}, marker, real); err != nil || c.Cwd != "/" || c.Env["A"] != "b" {
		f.Fatalf("%+v, %v", c, err)
	}
	f.Fuzz(func(t *testing.T, marker string, text []byte) {
		before := bash.ShellState{Cwd: "/before", Env: map[string]string{"OLD": "1"}, Unset: []string{"GONE"}}
		c, err := bash.Unwrap(before, marker, text)
		if err != nil {
			if !errors.Is(err, bash.ErrNoState) {
				t.Fatal(err)
			}
			return
		}
		if _, _, err := bash.Wrap(c, "true"); err != nil {
			t.Fatalf("%+v cannot be wrapped: %v", c, err)
		}
		// A part of a capture is none.
		if _, err := bash.Unwrap(before, marker, text[:len(text)-1]); err == nil {
			t.Fatal("a text without its end was taken")
		}
	})
}
