package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evertty/evertty/tests/polling"
)

// secret is a value that only the program of a command may have.
const secret = "s3cret-value"

// seen runs a command with a variable and a directory of its own, and checks what is seen of it.
func (w *work) seen(command string, code int, stdout, stderr string) {
	w.t.Helper()
	for name, more := range map[string]body{
		"alone": {}, "with a variable": {"env": body{"API_TOKEN": secret}},
		"with both": {"env": body{"API_TOKEN": secret}, "cwd": "/usr"}, "with a directory": {"cwd": "/usr"},
	} {
		r := w.run(command, more)
		if r.ExitCode != code || r.out() != stdout || r.err() != stderr {
			w.t.Errorf("%q %s: code %d, stdout %q, stderr %q; want %d, %q, %q", command, name, r.ExitCode, r.out(),
				r.err(), code, stdout, stderr)
		}
		out, err := w.logs(r.CommandID)
		if out != stdout || err != stderr {
			w.t.Errorf("%q %s: the logs are %q and %q", command, name, out, err)
		}
	}
}

// TestExecTraceIsTheUsers: a trace (set -x, set -v) has the command as somebody typed it, and nothing of what runs it.
func TestExecTraceIsTheUsers(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	for name, options := range map[string]string{"": "set -x", "posix": "set -o posix; set -x", "traced": "set -xT",
		"strict": "set -xu"} {
		w := s.in("trace" + name)
		w.run(options)
		w.seen("true", 0, "", "+ true\n")
		w.seen("f() { return 3; }; f", 3, "", "+ f\n+ return 3\n")
		w.seen("for i in 1 2\ndo : $i\ndone", 0, "", "+ for i in 1 2\n+ : 1\n+ for i in 1 2\n+ : 2\n")
		w.seen("(exit 4)", 4, "", "+ exit 4\n")
		w.seen("true\n# a word\n\nfalse", 1, "", "+ true\n+ false\n")
		w.seen("if then", 2, "", "bash: eval: line 1: syntax error near unexpected token `then'\n"+
			"bash: eval: line 1: `if then'\n")
		w.run("PS4='[$LINENO:${BASH_SOURCE-}:${FUNCNAME[*]-}] '")
		w.seen("true\n\ntrue", 0, "", "[1::] true\n[3::] true\n")
		w.run("PS4='+ '; set +x; set -v")
		w.seen("true", 0, "", "true\n")
		w.seen("true # x\n:", 0, "", "true # x\n:\n")
		w.seen("if then", 2, "", "if then\nbash: eval: line 1: syntax error near unexpected token `then'\n"+
			"bash: eval: line 1: `if then'\n")
		w.run("set -x")
		w.seen("true", 0, "", "true\n+ true\n")
	}
}

// TestExecTraceElsewhere: a trace that goes to a descriptor of the user's has the commands and nothing else.
func TestExecTraceElsewhere(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	w := s.in("elsewhere")
	w.run("BASH_XTRACEFD=1; set -x")
	w.seen("true", 0, "+ true\n", "")
	w.run("set +x; sleep 1000 &")
	trace := filepath.Join(t.TempDir(), "trace")
	w.run("exec 7>" + trace + "; BASH_XTRACEFD=7; set -x")
	w.seen("true", 0, "", "")
	w.run("readonly BASH_XTRACEFD")
	w.run("set +x", body{"env": body{"API_TOKEN": secret}})
	w.run("true")
	got, err := os.ReadFile(trace)
	s.must(err)
	if want := strings.Repeat("+ true\n", 4) + "+ readonly BASH_XTRACEFD\n+ set +x\n"; string(got) != want {
		t.Errorf("the trace is %q, want %q", got, want)
	}
}

// TestExecDebugTrapSeesTheCommand: a DEBUG trap fires for what the user has given, and for nothing else.
func TestExecDebugTrapSeesTheCommand(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	for name, options := range map[string]string{"plain": "", "functrace": "set -T; ", "errtrace": "set -E; "} {
		w := s.in("debug" + name)
		w.run(options + `trap 'echo "D:$BASH_COMMAND"' DEBUG`)
		w.seen("true", 0, "D:true\n", "")
		w.seen("false", 1, "D:false\n", "")
		w.run("trap - DEBUG; trap 'echo R' RETURN")
		w.seen("true", 0, "", "")
		w.run("trap - RETURN; trap 'echo E' ERR")
		w.seen("false", 1, "E\n", "")
		w.seen("true", 0, "", "")
	}
	w := s.in("debug")
	list := filepath.Join(t.TempDir(), "list")
	w.run(`trap 'echo "$BASH_COMMAND" >>` + list + `' DEBUG`)
	for _, command := range []string{"true", "false", "false | true", "true"} {
		w.run(command)
	}
	got, err := os.ReadFile(list)
	s.must(err)
	if string(got) != "true\nfalse\nfalse\ntrue\ntrue\n" {
		t.Errorf("the trap has seen %q", got)
	}
}

// TestExecHasNoFile: nothing that a command can ask for names a file of ours.
func TestExecHasNoFile(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	w := s.in("nofile")
	w.run("trap 'echo \"${BASH_SOURCE[@]}\" >&2' USR1; set -E; " +
		"f() { echo \"${BASH_SOURCE[@]}\"; caller 0; caller; nosuch; }")
	for _, text := range []string{`echo "$BASH_SOURCE" "${FUNCNAME[@]}" "$0"; caller; caller 0; nosuch`, "f", "echo $_",
		"f\nf\necho ${BASH_SOURCE[@]}; declare -p BASH_SOURCE; shopt -s extdebug; declare -F f; shopt -u extdebug",
		"g() {\necho ${BASH_SOURCE[@]} $BASH_COMMAND\nnosuch\n}\ng; return 3", "g; kill -USR1 $$", "echo ${x:?gone}; g",
		"if then", "echo 'x", "g", "PS4='${BASH_SOURCE[*]} '; set -x", "g", "return 3", "set -v", "return 3\ng",
		"((1/0))",
		"readonly r; r=1", "history", "fc -l", "trap", "jobs", "echo $_",
		strings.Repeat("true\n", 4000) + "g; return 3"} {
		for name, more := range map[string]body{"": {}, " isolated": {"isolated": true},
			" in the background": {"background": true},
			" with a variable":   {"env": body{"K": "v"}}} {
			if name == " isolated" {
				more = body{"isolated": true, "argv": []string{"bash", "-c", text}}
			}
			var id string
			switch {
			case more["background"] != nil:
				var started past
				w.send(body{"command": text, "background": true}).wants(202).into(&started)
				id = w.finished(started.CommandID).CommandID
			case more["isolated"] != nil:
				id = w.with(more).CommandID
			default:
				id = w.run(text, more).CommandID
			}
			if out, err := w.logs(id); strings.Contains(out+err, s.how.dir) {
				t.Errorf("%.80q%s: %.300q, %.300q", text, name, out, err)
			}
		}
	}
}

// TestExecStatusStays: $?, PIPESTATUS and $_ are those of the command before, as for a bash that reads its commands
// from a pipe.
func TestExecStatusStays(t *testing.T) {
	t.Parallel()
	s := start(t, launch{listen: freePort(t)})
	const ask = `echo $? "${PIPESTATUS[*]}"`
	for name, options := range map[string]string{"plain": "", "trace": "set -x", "debug": "trap : DEBUG",
		"posix": "set -o posix", "strict": "set -u; set -o pipefail; set +o pipefail",
		"err": "trap : ERR", "taken": "readonly status=7 rc=5 last=1; exit_() { :; }"} {
		w := s.in("status" + name)
		w.run(options)
		for _, c := range []struct{ text, want string }{
			{"false", "1 1"}, {"true", "0 0"}, {"(exit 42)", "42 42"}, {"false | true", "0 1 0"}, {"return 7", "7 7"},
			{"(exit 3) | (exit 4) | false", "1 3 4 1"}, {"! true", "1 0"}, {"if then", "2 2"}, {"sh -c 'kill -9 $$'",
				"137 137"},
			{"nosuch", "127 127"}, {"f() { return 9; }; f", "9 9"}, {"x=1", "0 0"}, {"sleep 0.01 & wait $!", "0 0"},
			{"false | true\n", "0 1 0"}, {"# before\n\nfalse | true # behind", "0 1 0"}, {"true\n(exit 3) | false",
				"1 3 1"},
			{"if true; then\n\tfalse | true\nfi", "0 1 0"}, {"for x in a b; do (exit 4) | true; done", "0 4 0"},
			{"cat <<X | (cat; exit 6)\nx\nX\n", "6 0 6"}, {"{ false | true; }", "0 1 0"},
			{"f() {\n(exit 5) | true\n}\nf", "0 0"},
		} {
			w.run(c.text)
			if got := strings.TrimSuffix(w.run(ask).out(), "\n"); got != c.want {
				t.Errorf("%s: after %q: %q, want %q", name, c.text, got, c.want)
			}
		}
		w.run("sleep 100", body{"timeout_ms": 50})
		if got := w.run("echo $?").out(); got != "124\n" {
			t.Errorf("%s: after a timeout: %q", name, got)
		}
		c := w.later(body{"command": "sleep 100 | sleep 101"})
		w.cancel(w.find("sleep 100 | sleep 101", "running").CommandID)
		if r := c.result(); !r.Cancelled {
			t.Errorf("%s: a cancel: %+v", name, r)
		}
		if got := w.run(ask).out(); got != "130 130\n" {
			t.Errorf("%s: after a cancel: %q", name, got)
		}
		w.run("false", body{"env": body{"K": "v"}, "cwd": "/usr"})
		if got := w.run(ask).out(); got != "1 1\n" {
			t.Errorf("%s: after a command with a variable of its own: %q", name, got)
		}
		w.run("false")
		if got := w.run(ask, body{"env": body{"K": "v"}, "cwd": "/usr"}).out(); got != "1 1\n" {
			t.Errorf("%s: in a command with a variable of its own: %q", name, got)
		}
		w.run("(exit 42)")
		if r := w.run("exit"); r.ExitCode != 42 {
			t.Errorf("%s: exit: %+v", name, r)
		}
		if got := w.run("echo $?").out(); got != "42\n" {
			t.Errorf("%s: in the next bash: %q", name, got)
		}
	}
	w := s.in("status")
	for _, arg := range []string{"b", "a/b c", "漢\n\"$x\"", strings.Repeat("long/é ", 500)} {
		for _, text := range []string{": a %s", ": a %s\n", "true\n# one\n: %s # two", "if true; then\n: %s\nfi",
			"{ : %s; }"} {
			text = fmt.Sprintf(text, "'"+arg+"'")
			w.run(text)
			if got := w.run(`printf %s "$_"`).out(); got != arg {
				t.Errorf("after %.80q: $_ is %.80q, want %.80q", text, got, arg)
			}
		}
	}
	w.run(": a 'it'\\''s'")
	w.run("echo $_", body{"cwd": "/usr", "env": body{"K": "v"}}).is(0, "it's\n")
	w.run("true 'the last'")
	pid := w.number("echo $$")
	w.run("true 'the last'; false")
	w.run("(exit 9) | (exit 8)")
	s.kill()
	s.again()
	w.run(ask).is(0, "8 9 8\n")
	w.run("true 'the last'")
	s.kill()
	s.again()
	w.run("echo $_").is(0, "the last\n")
	w.run("false x")
	s.post(w.at+"/env", `{"env":{"A":"b"}}`).wants(200) // in its turn, after the state was read
	w.run("echo $? $_").is(0, "1 x\n")
	w.run("false x")
	w.with(body{"isolated": true, "argv": []string{"true"}}) // waits until the state was read
	mustKill(t, pid)
	r := w.run(`echo $? $_`)
	if r.out() != "1 x\n" {
		t.Errorf("in a bash after a killed one: %+v", r)
	}
	w.send(body{"command": "sleep 0.1; false", "background": true}).wants(202)
	w.run("echo $?").is(0, "0\n")
}

// TestExecSaysNothingOfItsOwn: what an interactive bash tells of jobs and signals does not come into the output.
func TestExecSaysNothingOfItsOwn(t *testing.T) {
	t.Parallel()
	w := start(t, launch{}).in("silent")
	for _, text := range []string{"sh -c 'kill -9 $$'", "sh -c 'kill -9 $$' | cat", "yes | head -1",
		"(kill -TERM $BASHPID)",
		"timeout -s KILL 0.1 sleep 5", "sh -c 'kill -SEGV $$'; true", "sleep 0 & wait", "sleep 5 & kill %1; wait",
		"exit 3",
		"if true; then\n\tsh -c 'kill -9 $$'\nfi", "f() { yes | head -1; }; f", ": $(sh -c 'kill -9 $$')",
		"cat <<X | head -c 1\nx\nX", "sh -c 'kill -9 $$' || return 3", "set -eo pipefail; yes | head -1 || true",
		"set -e; exit 3", "set +e; sleep 5 & kill $!; wait", "trap 'echo bye' EXIT; sleep 0 &\nexit 4",
		"shopt -s checkjobs; sleep 1 & exit 5"} {
		for _, more := range []body{{}, {"env": body{"K": "v"}}} {
			if r := w.run(text, more); r.err() != "" {
				t.Errorf("%q with %v: %q", text, more, r.err())
			}
		}
	}
}

// TestExecStatusWhateverPWDIs: the status, PIPESTATUS and the directory are told whatever the user has made of the
// variables that they are in.
func TestExecStatusWhateverPWDIs(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	base, err := filepath.EvalSymlinks(t.TempDir())
	s.must(err)
	long := filepath.Join(base, strings.Repeat("long/", 60)+"end")
	odd := filepath.Join(base, "it's \"$x\" {a} *")
	for _, dir := range []string{long, odd, filepath.Join(base, "work"), filepath.Join(base, "work1")} {
		s.must(os.MkdirAll(dir, 0o700))
	}
	for name, options := range map[string]string{"plain": "", "strict": "set -uf; set -o posix", "digits": "IFS=01234/",
		"glob": "shopt -s extglob nullglob"} {
		w := s.in("pwd" + name)
		w.run(options)
		for _, dir := range []string{long, "/", odd, base + "/work", base + "/work1", base + "/work1", base} {
			r := w.run("cd '" + strings.ReplaceAll(dir, "'", `'\''`) + "' && false | true | (exit 3)")
			if r.ExitCode != 3 || r.Cwd != dir {
				t.Errorf("%s: in %q: %+v", name, dir, r)
			}
			if got := w.run(`echo "${PIPESTATUS[@]}"`).out(); got != "1 0 3\n" {
				t.Errorf("%s: in %q: PIPESTATUS is %q", name, dir, got)
			}
		}
		w.run(strings.Repeat("false | ", 15) + "true")
		w.run(`echo "${PIPESTATUS[@]}"`).is(0, strings.Repeat("1 ", 15)+"0\n")
		for _, text := range []string{"PWD=junk", "PWD='/*'", "unset PWD", "unset PIPESTATUS", "PIPESTATUS=a/b"} {
			w.run(text)
			if r := w.run("(exit 4)"); r.ExitCode != 4 || r.ShellEnded || r.Cwd != base {
				t.Errorf("%s: after %q: %+v", name, text, r)
			}
		}
		if r := w.run("true"); r.Recreated {
			t.Errorf("%s: the shell was started again: %+v", name, r)
		}
	}
}

// mustKill ends a process and waits for that.
func mustKill(t *testing.T, pid int) {
	t.Helper()
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Kill()
	}
	if err != nil || !polling.Until(patience, func() bool { return !alive(pid) }) {
		t.Fatalf("process %d does not end: %v", pid, err)
	}
}
