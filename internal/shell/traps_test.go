package shell

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestErrTrap: an ERR trap fires as often as for somebody who types the command, with the options that pass it on too,
// and statuses stay exact.
func TestErrTrap(t *testing.T) {
	if testing.Short() {
		t.Skip("stops and kills shells again and again, for seconds")
	}
	t.Parallel()
	for _, options := range []string{"", "set -E", "set -T", "set -ET", "set -o pipefail", "set -u", "IFS=0123456789",
		"set -f; shopt -s failglob", "set -o posix"} {
		s := start(t)
		run(t, s, "trap 'echo err' ERR; "+options)
		list := run(t, s, "trap -p").out
		for _, c := range []struct {
			text string
			code int
			out  string
		}{
			{"true", 0, ""},
			{"false", 1, "err\n"},
			{"echo a; (exit 4); echo b", 0, "a\nerr\nb\n"},
			{"(exit 4)", 4, "err\n"},
			{"false; (exit 255)", 255, "err\nerr\n"},
			{"false && true", 1, ""},
			{"if false; then :; fi", 0, ""},
			{"! true", 1, ""},
			{"false || false", 1, "err\n"},
			{"return 6", 6, ""},
			{"nosuchcommand", 127, "err\n"},
			{"sleep 100 & kill -9 \"$!\"; wait \"$!\"", 137, "err\n"},
		} {
			if r := run(t, s, c.text); r.ExitCode != c.code || r.out != c.out || r.Recreated || r.ShellEnded {
				t.Errorf("%q: %q: %+v, want %d, %q", options, c.text, r, c.code, c.out)
			}
		}
		for _, c := range []Command{{Text: "(exit 3)", Cwd: "/usr"},
			{Text: "(exit 3)", Env: map[string]string{"V": "1"}}} {
			if r := do(t, s, c); r.ExitCode != 3 || r.out != "err\n" {
				t.Errorf("%q: with %q, %v: %+v", options, c.Cwd, c.Env, r)
			}
		}
		late := do(t, s, Command{Text: "echo a; sleep 100; echo NOT", Timeout: 100 * time.Millisecond})
		if late.ExitCode != 124 || strings.Contains(late.out, "NOT") {
			t.Errorf("%q: %+v", options, late)
		}
		if late.ShellEnded { // on a busy machine a cancel may end a shell, and with it the traps
			continue
		}
		if r := run(t, s, "trap -p"); r.out != list || !strings.Contains(list, "ERR") {
			t.Errorf("%q: the traps were %q and are %q", options, list, r.out)
		}
	}
}

// TestErrTrapNoLie: whatever becomes of PIPESTATUS, a failure is one.
func TestErrTrapNoLie(t *testing.T) {
	t.Parallel()
	for _, harm := range []string{"unset PIPESTATUS; PIPESTATUS=0",
		"unset PIPESTATUS; declare -gA PIPESTATUS=([0]=0) || :", "unset PIPESTATUS; PIPESTATUS=x/y",
		"readonly PIPESTATUS", "unset PIPESTATUS"} {
		s := start(t)
		run(t, s, "trap : ERR")
		run(t, s, harm)
		if r := run(t, s, "(exit 4)"); r.ExitCode != 4 && r.ExitCode != 1 {
			t.Errorf("%s: %+v", harm, r)
		}
		expect(t, run(t, s, "echo on"), 0, "on\n")
	}
}

// TestErrTrapErrexit: under set -e a failure ends the shell, after one ERR.
func TestErrTrapErrexit(t *testing.T) {
	t.Parallel()
	s := start(t)
	run(t, s, "trap 'echo err' ERR; set -e")
	if r := run(t, s, "echo a; (exit 4); echo NOT"); r.ExitCode != 4 || r.out != "a\nerr\n" || !r.ShellEnded {
		t.Errorf("%+v", r)
	}
	run(t, s, "set +e; trap 'echo err' ERR")
	if r := run(t, s, "set -e; echo a; (exit 4); echo NOT"); r.ExitCode != 4 || r.out != "a\nerr\n" || !r.ShellEnded {
		t.Errorf("%+v", r)
	}
}

// TestDebugTrap: a DEBUG trap sees our lines as well, but what it does there reaches neither another command nor the
// control lines.
func TestDebugTrap(t *testing.T) {
	t.Parallel()
	for _, options := range []string{"", "set -T; ", "set -ET; "} {
		s := start(t)
		run(t, s, options+"trap 'echo debug; read -r stolen' DEBUG; trap 'echo return' RETURN")
		// Without -T there is no DEBUG trap in a file that is sourced, and so in a command.
		list := run(t, s, "trap -p DEBUG RETURN").out
		for range 3 {
			r := run(t, s, "echo out; (exit 7)")
			left := strings.NewReplacer("debug\n", "", "return\n", "").Replace(r.out)
			if r.ExitCode != 7 || left != "out\n" || r.err != "" || r.Recreated {
				t.Errorf("%s: %+v", options, r)
			}
		}
		if r := run(t, s, "trap -p DEBUG RETURN"); r.out != list || !strings.Contains(list, "RETURN") {
			t.Errorf("%s: the traps were %q and are %q", options, list, r.out)
		}
	}
	// With extdebug it may have every command skipped, as at a terminal. Nothing hangs of that.
	s := start(t)
	run(t, s, "shopt -s extdebug; trap false DEBUG")
	if r := run(t, s, "echo NOT"); strings.Contains(r.out, "NOT") {
		t.Errorf("%+v", r)
	}
}

// TestVariablesComeBack: what a command has a value of its own for is after it what it was, arrays too.
func TestVariablesComeBack(t *testing.T) {
	t.Parallel()
	for _, before := range []string{"set +u", "set -u", "set -x", "set -e", "declare() { :; }"} {
		s := start(t)
		const show = `\builtin declare -p list keys far empty number scalar OLDPWD`
		run(t, s, "list=(a 'b c'); declare -A keys=([k]='v \"q\"'); far[7]=x; declare -a empty=(); "+
			"declare -i number=4; scalar=$'1\\n2'; cd /tmp; cd /usr")
		want := run(t, s, show)
		run(t, s, before)
		own := map[string]string{"none": "1"}
		for _, name := range []string{"list", "keys", "far", "empty", "number", "scalar"} {
			own[name] = "9"
		}
		if r := do(t, s, Command{Text: "echo $list $keys $number $none", Env: own, Cwd: "/"}); r.out != "9 9 9 1\n" {
			t.Errorf("%s: %+v", before, r)
		}
		if r := run(t, s, show+"; echo ${none-}"); r.out != want.out+"\n" || want.ExitCode != 0 {
			t.Errorf("%s: %+v, want %q", before, r, want.out)
		}
	}
}

// TestTrapsStay: whatever traps there are, they are listed byte for byte as they were set, over commands of all kinds,
// and fire when they should.
func TestTrapsStay(t *testing.T) {
	t.Parallel()
	s := start(t)
	run(t, s, "for n in {1..64}; do trap \"echo \\\"it's $n\\\"\" $n 2>/dev/null; done; "+
		"trap 'echo bye' EXIT; trap 'echo err' ERR")
	list := run(t, s, "trap -p").out
	if strings.Count(list, "trap -- ") < 60 {
		t.Fatalf("only %q", list)
	}
	for _, text := range []string{"true", "cd /usr", "sleep 0 & wait", "x=$(true)", "export A=1", "f() { :; }; f",
		"echo ${nope:?}", "if", "ls /nowhere", "sleep 0.01 | cat"} {
		run(t, s, text)
		if r := run(t, s, "trap -p"); r.out != list {
			t.Errorf("after %q the traps are %q", text, r.out)
		}
	}
	r := run(t, s, "kill -USR1 $$; :")
	expect(t, r, 0, "it's 10\n")
	if r := run(t, s, "echo last; exit 3"); r.ExitCode != 3 || r.out != "last\nbye\n" || !r.ShellEnded {
		t.Errorf("%+v", r)
	}
	if r := run(t, s, "trap -p"); r.out != "" || !r.Recreated || len(r.Lost) < 60 {
		t.Errorf("%+v", r)
	}
}

// TestIntTrap: a cancel is one Ctrl-C for a user's INT trap, and the command goes on after it or not, for a second.
func TestIntTrap(t *testing.T) {
	if testing.Short() {
		t.Skip("stops and kills shells again and again, for seconds")
	}
	t.Parallel()
	for _, c := range []struct {
		text  string
		out   string
		ended bool
		cwd   string // after it; "" is where it began
	}{
		{"trap 'echo got' INT; sh -c 'echo ready; exec sleep 100'; echo AFTER", "got\nAFTER\n", false, ""},
		{"trap 'echo got' INT; while :; do ${begun:-echo ready}; begun=:; done; echo NOT", "got\n", true, ""},
		{"trap 'echo got; exit 5' INT; while :; do ${begun:-echo ready}; begun=:; done; echo NOT", "got\n", true, ""},
		{"trap 'echo got; break' INT; while :; do ${begun:-echo ready}; begun=:; done; echo AFTER", "got\nAFTER\n",
			false, ""},
		{"trap 'echo got; while :; do :; done' INT; sh -c 'echo ready; exec sleep 100'; echo NOT", "got\n", true, ""},
		{"trap 'cd /usr' INT; sh -c 'echo ready; exec sleep 100'; pwd", "/usr\n", false, "/usr"},
		{"trap 'sleep 0.2; echo got' INT; sh -c 'echo ready; exec sleep 100'; echo AFTER", "got\nAFTER\n", false, ""},
		{"trap 'echo got; trap - INT' INT; sh -c 'echo ready; exec sleep 100'; echo AFTER", "got\nAFTER\n", false, ""},
		{"f() { trap 'echo got; return 3' INT; sh -c 'echo ready; exec sleep 100'; echo NOT; }; f; echo $?", "got\n3\n",
			false, ""},
	} {
		for _, earlier := range []bool{false, true} {
			text := c.text
			s := start(t)
			run(t, s, "kept=kept; export KEPT=kept")
			if first, rest, ok := strings.Cut(c.text, " INT; "); ok && earlier && !strings.HasPrefix(c.text, "f()") {
				run(t, s, first+" INT")
				text = rest
			}
			e, err := s.Submit(Command{Text: text})
			if err != nil {
				t.Fatal(err)
			}
			if !poll(func() bool { return e.Size(Stdout) > 0 }) {
				t.Fatalf("%q does not begin", text)
			}
			cwd := s.spec.Cwd
			if c.cwd != "" {
				cwd = c.cwd
			}
			e.Cancel()
			r := result(t, e)
			// A trap that goes on and on sees one more, as the key is pressed again.
			out := r.out
			if c.ended {
				out = strings.Replace(out, "got\ngot\n", "got\n", 1)
			}
			if out != "ready\n"+c.out || r.ExitCode != cancelCode || r.ShellEnded != c.ended || r.Cwd != cwd {
				t.Errorf("%q: %+v, want %q", text, r, c.out)
			}
			expect(t, run(t, s, "pwd; echo $kept $KEPT"), 0, cwd+"\nkept kept\n")
		}
	}
}

// TestStopped: who stops the shell for good loses it, at the timeout or, without one, soon; who stops a program of its
// only waits for that.
func TestStopped(t *testing.T) {
	if testing.Short() {
		t.Skip("stops and kills shells again and again, for seconds")
	}
	t.Parallel()
	const timeout = 300 * time.Millisecond
	s := start(t)
	run(t, s, "export KEPT=kept; cd /usr; f() { echo f; }")
	back := func() {
		t.Helper()
		if r := run(t, s, "pwd; echo $KEPT; f"); r.out != "/usr\nkept\nf\n" || !r.Recreated {
			t.Errorf("%+v", r)
		}
	}
	for range 3 {
		began := time.Now()
		r := do(t, s, Command{Text: "echo a; kill -STOP $$; echo NOT", Timeout: timeout})
		if r.ExitCode != timeoutCode || !r.TimedOut || !r.ShellEnded || r.out != "a\n" || time.Since(began) < timeout {
			t.Errorf("%+v", r)
		}
		back()
		began = time.Now()
		r = run(t, s, "echo a; kill -STOP $$; echo NOT")
		t.Logf("found after %v", time.Since(began))
		if r.ExitCode != 128+int(unix.SIGKILL) || r.TimedOut || !r.ShellEnded || r.out != "a\n" {
			t.Errorf("%+v", r)
		}
		back()
	}
	pid := s.Stats().PID
	for _, name := range []string{"TSTP", "TTIN", "TTOU"} { // an interactive shell ignores these
		expect(t, run(t, s, "kill -"+name+" $$; echo on"), 0, "on\n")
	}
	for _, name := range []string{"STOP", "TSTP", "TTIN", "TTOU"} {
		text := "sh -c 'echo ready; kill -" + name + " $$; exec sleep 100'; echo NOT"
		r := do(t, s, Command{Text: text, Timeout: timeout})
		if r.ExitCode != timeoutCode || !r.TimedOut || r.ShellEnded || strings.Contains(r.out, "NOT") {
			t.Errorf("%q: %+v", text, r)
		}
		e, err := s.Submit(Command{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		if !poll(func() bool { return e.Size(Stdout) > 0 }) {
			t.Fatalf("%q does not begin", text)
		}
		moment, over := context.WithTimeout(t.Context(), 2*stoppedLook) // it is left alone, however long
		if r, err := e.Wait(moment); err == nil {
			t.Errorf("%q ended by itself: %+v", text, r)
		}
		over()
		e.Cancel()
		if r := result(t, e); r.ExitCode != cancelCode || !r.Cancelled || r.ShellEnded || r.out != "ready\n" {
			t.Errorf("%q: %+v", text, r)
		}
	}
	if now := s.Stats().PID; now != pid {
		t.Errorf("the shell was %d and is %d", pid, now)
	}
	if _, err := os.Stat(s.procs.interruptMarker()); err == nil {
		t.Error("the shell still counts as stopped")
	}
}
