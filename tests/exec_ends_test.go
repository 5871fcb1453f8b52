package tests

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func rowTimeout(w *work) {
	dir := w.dir()
	w.run("cd " + quote(dir))
	if r := w.spared("x=kept", "echo first; sleep 1000; echo NOT >marker; echo NOT", "first\n"); r.out() != "first\n" {
		w.t.Errorf("%+v", r)
	}
	w.run("ls; echo $x; pwd").is(0, "kept\n"+dir+"\n")
	w.run("true", body{"timeout_ms": patience.Milliseconds()}).is(0, "")
	w.spared("", "sleep 1000 | cat | cat; echo NOT", "")
	w.run("cat", body{"timeout_ms": shortTimeout, "stdin_open": true}).timedOut()
	w.spared("", "wait $(sleep 1000)", "")
	own, _ := w.newShell(w.session, body{"command_timeout_ms": shortTimeout})
	own.run("sleep 1000; echo NOT").timedOut()
	own.run("sleep 0.3; echo longer", body{"timeout_ms": patience.Milliseconds()}).is(0, "longer\n")
}

// shortTimeout is the first that a command gets whose end by it is tried, in milliseconds.
const shortTimeout = 200

// cutOff runs a command with a timeout and checks that it came. It must not come before the command has printed
// something: where it did, the command gets more time.
func (w *work) cutOff(command, printed string) (r result) {
	w.t.Helper()
	for timeout := int64(shortTimeout); timeout < patience.Milliseconds(); timeout *= 4 {
		if r = w.run(command, body{"timeout_ms": timeout}).timedOut(); strings.HasPrefix(r.out(), printed) {
			return r
		}
	}
	w.t.Fatalf("%s: it prints %q and never %q", clip(command), clip(r.out()), printed)
	return r
}

// sparedOf is how many attempts a shell has to outlive a timeout. One that gets no processor for the time that a
// command has to end after SIGINT is taken for one that does not heed it; that does not happen again and again.
const sparedOf = 5

// spared is cutOff of a command that heeds SIGINT: its shell goes on. before is what the shell is told first, each
// time.
func (w *work) spared(before, command, printed string) (r result) {
	w.t.Helper()
	ended, timeout := 0, int64(shortTimeout)
	for ended < sparedOf && timeout < patience.Milliseconds() {
		pid := w.number(before + "\necho $$")
		r = w.run(command, body{"timeout_ms": timeout}).timedOut()
		if now := w.shellPID(); (now != pid) != r.ShellEnded {
			w.t.Errorf("%s: the shell was %d and is %d: %+v", clip(command), pid, now, r)
		}
		switch {
		case !strings.HasPrefix(r.out(), printed):
			timeout *= 4
		case r.ShellEnded:
			ended++
		default:
			return r
		}
	}
	w.t.Errorf("%s: after %d timeouts the shell had ended, in the last one of %d ms: %+v", clip(command), ended,
		timeout, r)
	return r
}

func rowBusyLoops(w *work) {
	for _, loop := range []string{"while :; do :; done",
		"f() { while :; do g; done; }; g() { for ((i = 0; i < 100; i++)); do h $i; done; }; h() { local x=$(($1 * " +
			"2)); }; f",
		"for ((;;)); do for i in 1 2 3; do echo $i >/dev/null; done; done", "until false; do true; done | cat",
		"( while :; do :; done )", "while :; do true & wait $!; done",
		"x=$(while :; do :; done)", "while :; do echo flood; done"} {
		w.spared("", loop+"; echo NOT", "")
	}
}

// stubborn checks that a command that does not heed SIGINT is ended all the same. It says "deaf" when it does not.
func (w *work) stubborn(command string) {
	w.t.Helper()
	check := w.state()
	file := filepath.Join(w.dir(), "pids")
	r := w.cutOff("echo $BASHPID >"+quote(file)+"; PIDS="+quote(file)+"; "+command+"; echo NOT; echo 0 >>"+quote(file),
		"deaf\n")
	if !r.ShellEnded {
		w.t.Errorf("%+v", r)
	}
	list := pids(w.t, file)
	if len(list) == 0 || slices.Contains(list, 0) {
		w.t.Errorf("the processes are %v, the shell first", list)
	}
	die(w.t, "after the timeout", list...)
	w.backAgain(check)
}

func rowStubbornChild(w *work) {
	w.stubborn(`bash -c 'trap "" INT TERM; echo $$ >>'"$PIDS"'; echo deaf; while :; do sleep 1000; done'`)
	w.stubborn(`bash -c 'trap "" INT TERM HUP QUIT; echo $$ >>'"$PIDS"'; echo deaf; while :; do :; done' | cat`)
}

func rowStubbornShell(w *work) {
	w.stubborn("trap '' INT; echo deaf; while :; do :; done")
	w.stubborn("trap '' INT TERM; echo deaf; while :; do sleep 1000; done")
}

func rowIntTrap(w *work) {
	const set = "trap 'echo trapped' INT"
	r := w.spared(set, "cd /usr; echo begun; sleep 1000; echo like Ctrl-C", "begun\n")
	if out := r.out(); !strings.HasPrefix(out, "begun\ntrapped\n") ||
		!strings.HasSuffix(out, "trapped\nlike Ctrl-C\n") || r.Cwd != "/usr" {
		w.t.Errorf("%+v", r)
	}
	if r := w.cutOff(set+"; echo begun; while :; do sleep 1000; done; echo NOT", "begun\n"); !strings.HasPrefix(r.out(),
		"begun\ntrapped\n") || !r.ShellEnded {
		w.t.Errorf("%+v", r)
	}
	if r := w.run("trap -p INT").is(0, ""); !r.Recreated {
		w.t.Errorf("%+v", r)
	}
}

func rowExit(w *work) {
	check := w.state()
	for _, code := range []int{3, 0, 255} {
		if r := w.run("echo bye; exit "+strconv.Itoa(code)+"; echo NOT").is(code, "bye\n"); !r.ShellEnded {
			w.t.Errorf("%+v", r)
		}
		w.backAgain(check)
	}
	w.run("f() { exit 7; }; f").is(7, "")
	w.run("sleep 1000 &")
	w.run("exit 0").is2(0, "")
	r := w.run("true").is(0, "")
	if !r.Recreated || !slices.ContainsFunc(r.Lost, func(s string) bool { return strings.Contains(s, "job") }) {
		w.t.Errorf("a job is lost: %+v", r)
	}
	// What is changed in the command that ends the shell is kept as far as it can be seen from outside.
	if r := w.run("true"); r.Recreated || len(r.Lost) != 0 {
		w.t.Errorf("%+v", r)
	}
}

func rowExecProgram(w *work) {
	check := w.state()
	if r := w.run("exec echo replaced").is(0, "replaced\n"); !r.ShellEnded {
		w.t.Errorf("%+v", r)
	}
	w.backAgain(check)
	w.run("exec bash -c 'exit 44'").is(44, "")
	w.run("exec /no/such").fails(127, "", "/no/such")
	w.run("exec /").fails(126, "", "/")
	w.run("exec cat", body{"stdin": "given"}).is(0, "given")
	check()
}

func rowErrexit(w *work) {
	check := w.state()
	if r := w.run("set -e; echo before; false; echo NOT").is(1, "before\n"); !r.ShellEnded {
		w.t.Errorf("%+v", r)
	}
	w.backAgain(check)
	w.run("set -e").is(0, "")
	w.run("(exit 6); echo NOT").is(6, "")
	w.alive()
	w.run("set +e").is(0, "")
	w.run("false; echo goes on").is(0, "goes on\n")
	w.alive()
	check()
}

func rowKillNine(w *work) {
	check := w.state()
	if r := w.run("echo last; kill -9 $$; echo NOT").is(137, "last\n"); !r.ShellEnded {
		w.t.Errorf("%+v", r)
	}
	w.backAgain(check)
	// From outside, while nothing runs.
	pid := w.shellPID()
	w.must(syscall.Kill(pid, syscall.SIGKILL))
	die(w.t, "the shell", pid)
	w.backAgain(check)
	w.run("kill -TERM $$; kill -HUP $$; echo on")
	w.run("kill -SEGV $$")
	check()
}

func rowStop(w *work) {
	check := w.state()
	// A timeout is kept, the watchdog is for commands without.
	for timeout, code := range map[int]int{300: 124, 2000: 124, 0: 137} {
		pid := w.shellPID()
		r := w.run("kill -STOP $$; echo NOT", body{"timeout_ms": timeout})
		if r.ExitCode != code || r.TimedOut != (timeout > 0) || !r.ShellEnded || r.out() != "" ||
			r.took < time.Duration(timeout)*time.Millisecond {
			w.t.Errorf("%+v", r)
		}
		die(w.t, "the stopped shell", pid)
		w.backAgain(check)
	}
	if r := w.run("bash -c 'kill -STOP $$'", body{"timeout_ms": 300}).timedOut(); r.ShellEnded {
		w.t.Errorf("%+v", r)
	}
}
