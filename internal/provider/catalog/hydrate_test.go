package catalog_test

import (
	"bytes"
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
	"testing"

	"github.com/evertty/evertty/internal/provider"

	"github.com/evertty/evertty/internal/provider/bash"
)

// shell runs commands one after the other on an instance, with the state carried along.
type shell struct {
	spot
	state bash.ShellState
}

// run returns what a command printed to both, and its exit code.
func (s *shell) run(t *testing.T, command string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	res, state, err := bash.ExecIn(within(t), s.Provider, s.id, s.state, provider.ExecRequest{Command: command}, &out, &errs)
	if err != nil {
		t.Fatalf("%q: %v; stderr %q", command, err, errs.String())
	}
	s.state = state
	return out.String(), errs.String(), res.ExitCode
}

// says fails unless a command prints exactly this, nothing to stderr, and succeeds.
func (s *shell) says(t *testing.T, command, want string) {
	t.Helper()
	if out, errs, code := s.run(t, command); out != want || errs != "" || code != 0 {
		t.Errorf("%q: %q, %q, %d; want %q", command, out, errs, code, want)
	}
}

// captures are the files in /tmp that hydration leaves when it does not clean up.
func captures() []string {
	list, _ := filepath.Glob("/tmp/.evertty-*")
	return list
}

// cleanedUp fails when a file that was not there before stays. Other runs of these tests have theirs in the same folder, for a while.
func cleanedUp(t *testing.T, before []string) {
	t.Helper()
	added := slices.DeleteFunc(captures(), func(name string) bool { return slices.Contains(before, name) })
	becomes(t, fmt.Sprintf("that nothing of %q is left", added), func() bool {
		now := captures()
		return !slices.ContainsFunc(added, func(name string) bool { return slices.Contains(now, name) })
	})
}

func TestStateThroughCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("runs it at every provider")
	}
	before := captures()
	s := shell{spot: rent(t, onThisMachine(t))}
	s.says(t, "mkdir -p 'a dir/with $x'; cd 'a dir/with $x'; export A='it'\\''s'; B=not", "")
	s.says(t, `echo "${PWD##*/}|$A|$B|$OF_INSTANCE"`, "with $x|it's||it's set\n")
	s.says(t, "unset OF_INSTANCE; export A=2 E=", "")
	s.says(t, `echo "${OF_INSTANCE-none}|$A|${E-none}"`, "none|2|\n")
	if !slices.Equal(s.state.Unset, []string{"OF_INSTANCE"}) || !maps.Equal(s.state.Env, map[string]string{"A": "2", "E": ""}) {
		t.Errorf("%+v", s.state)
	}
	s.says(t, "export OF_INSTANCE='it'\\''s set'; unset A", "")
	if len(s.state.Unset) != 0 || s.state.Env["E"] != "" || len(s.state.Env) != 1 {
		t.Errorf("%+v", s.state)
	}
	s.says(t, "cd ..; rmdir with*; cd ..", "")
	s.state.Cwd += "/a dir/with $x/and/more"
	out, errs, code := s.run(t, "echo ${PWD##*/}")
	if out != "a dir\n" || code != 0 || !strings.Contains(errs, "is gone, going on in ") || strings.Count(errs, "\n") != 1 {
		t.Errorf("%q %q %d", out, errs, code)
	}
	if !strings.HasSuffix(s.state.Cwd, "/a dir") {
		t.Errorf("in %q", s.state.Cwd)
	}
	cleanedUp(t, before)
}

// failed is any exit code but 0: that of errors of its own differs between versions of bash.
const failed = -1

// What a command may be: nothing of it reaches the wrapper, and every way to an end tells the state but those of ErrNoState.
func TestAnyCommand(t *testing.T) {
	if testing.Short() {
		t.Skip("runs it at every provider")
	}
	s := shell{spot: rent(t, onThisMachine(t))}
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
		{command: "builtin() { echo no; }; printf() { echo no; }; pwd() { echo no; }; cd() { echo no; }; unset() { echo no; }; set() { echo no; }; trap() { echo no; }; exit() { echo no; }; true"},
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
		s.state = bash.ShellState{}
		mark := "export MARK='" + strings.ReplaceAll(c.command, "'", `'\''`) + "'\n"
		out, errs, code := s.run(t, mark+c.command)
		if out != c.out || (errs != "") != c.errs || code != c.code && (c.code != failed || code == 0) {
			t.Errorf("%q: %q, %q, %d", c.command, out, errs, code)
		}
		if s.state.Env["MARK"] != c.command {
			t.Errorf("%q: the state has MARK=%q", c.command, s.state.Env["MARK"])
		}
	}
}

// What leaves no state leaves the one before, and its own exit code.
func TestNoState(t *testing.T) {
	before := captures()
	p := rent(t, onThisMachine(t))
	state := bash.ShellState{Env: map[string]string{"A": "1"}}
	for command, code := range map[string]int{
		"export A=2; exec false":                   1,
		"export A=2; trap : EXIT; exit 3":          3,
		"export A=2; kill -9 $$":                   137,
		"export A=2; exec bash -c 'kill -TERM $$'": 143,
	} {
		res, after, err := bash.ExecIn(within(t), p.Provider, p.id, state, provider.ExecRequest{Command: command}, io.Discard, io.Discard)
		if !errors.Is(err, bash.ErrNoState) || res.ExitCode != code || after.Env["A"] != "1" {
			t.Errorf("%q: %+v, %+v, %v", command, res, after, err)
		}
	}
	cleanedUp(t, before)
}

// A variable for one command is none of the state, and comes before the state's own.
func TestStateAndVariablesOfOneCommand(t *testing.T) {
	p := rent(t, onThisMachine(t))
	state := bash.ShellState{Env: map[string]string{"A": "state", "B": "state", "C": "state"}, Unset: []string{"OF_INSTANCE"}}
	var out bytes.Buffer
	_, after, err := bash.ExecIn(within(t), p.Provider, p.id, state, provider.ExecRequest{
		Command: `echo $A $B ${C-none} $OF_INSTANCE; export B=changed; unset C`,
		Env:     map[string]string{"A": "once", "B": "once", "OF_INSTANCE": "once", "C": "once"},
	}, &out, io.Discard)
	if err != nil || out.String() != "once once once once\n" {
		t.Fatalf("%q, %v", out.String(), err)
	}
	if !maps.Equal(after.Env, map[string]string{"A": "state", "B": "changed"}) || !slices.Equal(after.Unset, []string{"C", "OF_INSTANCE"}) {
		t.Errorf("%+v", after)
	}
}

// Any bytes but NUL are a value, byte for byte, and any directory is one.
func TestStateIsExact(t *testing.T) {
	if testing.Short() {
		t.Skip("runs it at every provider")
	}
	s := shell{spot: rent(t, onThisMachine(t))}
	r := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"\n", "'", `"`, "\\", "$", "`", "é", "👩‍👩‍👧", "\xff", "\x01", " ", "\t", "=", "#", "!", ";", "a", "%s", "-n", "\r", "*", "~"}
	text := func() string {
		var b strings.Builder
		for range r.IntN(40) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		return b.String()
	}
	base := s.dir
	for range 25 {
		want := map[string]string{}
		for n := range 20 {
			want[fmt.Sprintf("V%d", n)] = text()
		}
		dir := filepath.Join(base, "d"+strings.ReplaceAll(text(), "/", ""))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		s.state = bash.ShellState{Cwd: dir, Env: want}
		out, errs, code := s.run(t, `for n in {0..19}; do v=V$n; printf '%s\0' "${!v}"; done; pwd`)
		var all strings.Builder
		for n := range 20 {
			all.WriteString(want[fmt.Sprintf("V%d", n)] + "\x00")
		}
		if out != all.String()+dir+"\n" || errs != "" || code != 0 {
			t.Fatalf("%q, %q, %d; want %q", out, errs, code, all.String()+dir)
		}
		// A directory's last newlines are the one thing that pwd cannot tell.
		if !maps.Equal(s.state.Env, want) || s.state.Cwd != dir {
			t.Fatalf("%+v, want %+v in %q", s.state, want, dir)
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

// FuzzUnwrap: no text makes the parser fail otherwise than by ErrNoState, and what it takes makes a text that bash can be given.
func FuzzUnwrap(f *testing.F) {
	text, marker, err := bash.Wrap(bash.ShellState{}, "export A=b; cd /")
	if err != nil {
		f.Fatal(err)
	}
	if out, err := exec.Command("bash", "-c", text).CombinedOutput(); err != nil || len(out) > 0 {
		f.Fatalf("%q, %v", out, err)
	}
	real, err := exec.Command("bash", "-c", bash.Captured(marker)).Output()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(marker, real)
	f.Add("m", []byte("m\x00A=b\x00\x00/\n\x000\x00/\n\x00A=c\x00\x00m\x00"))
	f.Add("m", []byte("m\x00\x00\x00\x00\x00\x00m\x00"))
	f.Add("", []byte("\x00\x00"))
	if c, err := bash.Unwrap(bash.ShellState{}, marker, real); err != nil || c.State.Cwd != "/" || c.State.Env["A"] != "b" || c.Code != 0 {
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
		if _, _, err := bash.Wrap(c.State, "true"); err != nil {
			t.Fatalf("%+v cannot be wrapped: %v", c, err)
		}
		// A part of a capture is none.
		if _, err := bash.Unwrap(before, marker, text[:len(text)-1]); err == nil {
			t.Fatal("a text without its end was taken")
		}
	})
}
