package tests

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evertty/evertty/tests/polling"
)

func rowJob(w *work) {
	r := w.run("sleep 1000 & echo started")
	if r.ExitCode != 0 || r.out() != "started\n" || !r.Background {
		w.t.Errorf("%+v", r)
	}
	job := w.number("echo $!")
	live(w.t, "the job", job)
	if r := w.run("jobs"); !strings.Contains(r.out(), "sleep 1000") || !strings.Contains(r.out(), "Running") {
		w.t.Errorf("jobs: %+v", r)
	}
	// What bash forked holds the outputs of the command until it has opened those of the job.
	if r := w.run("sleep 1000 >/dev/null 2>&1 & until [[ /proc/$!/fd/2 -ef /dev/null ]]; do :; done"); r.Background {
		w.t.Errorf("nobody holds its output: %+v", r)
	}
	// Twenty jobs more do not slow it down, and wait with no argument is the user's.
	w.run("for i in {1..20}; do sleep 1000 & done")
	w.run("true").is(0, "")
	w.run("kill $(jobs -p); wait; echo $?").is2(0, "0\n")
	die(w.t, "the job", job)
	if r := w.run("jobs; trap -p; jobs -p; set | grep __evt"); r.out() != "" {
		w.t.Errorf("what is not the user's shows: %q", r.out())
	}
	w.run("sleep 0.05 & wait $!; echo waited $?").is(0, "waited 0\n")
	w.run("(exit 12) & wait $!").is(12, "")
	// As a request: beside those that follow.
	g := newGate(w.t)
	reply := w.send(body{"command": "x=inner; " + g.wait() + "; echo done; exit 21", "background": true}).wants(202)
	var begun struct {
		CommandID string `json:"command_id"`
		PID       int
	}
	reply.into(&begun)
	live(w.t, "the background command", begun.PID)
	w.run("echo beside ${x-none}").is(0, "beside none\n")
	if p := w.command(begun.CommandID); p.Status != "running" || !p.Background {
		w.t.Errorf("%v", p)
	}
	g.open()
	if p := w.finished(begun.CommandID); !p.ended("done", 21) {
		w.t.Errorf("%v", p)
	}
	w.logged(begun.CommandID, "done\n")
}

// is2 checks code and stdout; what bash says of jobs on stderr is not looked at.
func (r result) is2(code int, stdout string) result {
	r.t.Helper()
	if r.ExitCode != code || r.out() != stdout {
		r.t.Errorf("%s: code %d, stdout %q, stderr %q; want code %d, stdout %q", clip(r.Command), r.ExitCode,
			clip(r.out()), clip(r.err()), code, clip(stdout))
	}
	return r
}

// strays starts a process in each way that programs leave a shell, and returns
// what tells their numbers. None of them holds the command's outputs open.
func (w *work) strays() (file string) {
	w.t.Helper()
	file = filepath.Join(w.dir(), "pids")
	me := "bash -c " + quote("echo $$ >>"+quote(file)+"; exec sleep 1000") + " >/dev/null 2>&1"
	for _, how := range []string{
		"nohup %s &", "setsid %s &", "%s & disown", "( (%s &) & )", "( (setsid %s &) & )",
		"( (env -i PATH=\"$PATH\" %s &) & )", "( (trap '' HUP INT TERM; setsid nohup %s &) & )",
		"( (env -i PATH=\"$PATH\" setsid %s &) & )",
		"( (trap '' HUP INT TERM; cd /; exec env -i PATH=\"$PATH\" setsid setsid -f %s <&-) & )",
	} {
		before := len(pids(w.t, file))
		if r := w.run(fmt.Sprintf(how, me)); r.ExitCode != 0 {
			w.t.Errorf("%s: %+v", how, r)
		}
		eventually(w.t, how+" has written its number", func() bool {
			b, _ := os.ReadFile(file)
			return len(pids(w.t, file)) == before+1 && strings.HasSuffix(string(b), "\n")
		})
	}
	return file
}

func rowNohup(w *work) {
	list := pids(w.t, w.strays())
	live(w.t, "in the background", list...)
	r := w.run("nohup sleep 1000 & setsid sleep 1000 & sleep 1000 & disown; echo back")
	if r.ExitCode != 0 || r.out() != "back\n" || !r.Background {
		w.t.Errorf("%+v", r)
	}
	w.run("sleep 1000; echo NOT", body{"timeout_ms": 100}).timedOut()
	live(w.t, "after a timeout of another exec", list...)
	w.deleteShells()
	die(w.t, "after the end of the shell", list...)
}

func rowEarlierJobs(w *work) {
	file := w.strays()
	w.run("sleep 1000 & echo $! >>" + quote(file) + "; (while :; do sleep 1000; done) & echo $! >>" + quote(file))
	list := pids(w.t, file)
	for range 3 {
		w.run("sleep 1000; echo NOT", body{"timeout_ms": 100}).timedOut()
		w.run("while :; do :; done", body{"timeout_ms": 100}).timedOut()
		live(w.t, "after a timeout", list...)
	}
	e := w.stream(body{"command": "echo begun; sleep 1000 | sleep 1000; echo NOT"})
	id := e.until("start").CommandID
	e.until("stdout")
	if r := w.cancel(id); r.status/100 != 2 {
		w.t.Errorf("cancel: %d %s", r.status, r.body)
	}
	if p := w.finished(id); !p.ended("cancelled", 130) {
		w.t.Errorf("%v", p)
	}
	live(w.t, "after a cancel", list...)
	// The hard way too: the shell goes, and what it has started before does not.
	w.cutOff("trap '' INT; echo deaf; while :; do :; done", "deaf\n")
	live(w.t, "after a cancel that ended the shell", list...)
	if r := w.run("true"); !r.Recreated {
		w.t.Errorf("%+v", r)
	}
	w.deleteShells()
	die(w.t, "after the end of the shell", list...)
}

func rowTraps(w *work) {
	w.run("trap -p").is(0, "")
	w.run("trap 'echo bye' EXIT; trap 'echo usr' USR1; trap 'echo err' ERR; trap '' QUIT").is(0, "")
	const want = "trap -- 'echo bye' EXIT\ntrap -- '' SIGQUIT\ntrap -- 'echo usr' SIGUSR1\ntrap -- 'echo err' ERR\n"
	w.run("trap -p").is(0, want)
	w.run("kill -USR1 $$; echo after").is(0, "usr\nafter\n")
	w.run("false; (exit 4)").is(4, "err\nerr\n") // as when typed
	w.run("trap -p").is(0, want)
	w.run("exit 2").is(2, "bye\n")
	if r := w.run("trap -p").is(0, ""); !r.Recreated || !slices.ContainsFunc(r.Lost, func(s string) bool {
		return strings.Contains(s, "trap")
	}) {
		w.t.Errorf("%+v", r)
	}
}

func rowJobControl(w *work) {
	w.run("fg").fails(1, "", "job control")
	w.run("bg").fails(1, "", "job control")
	w.run("[[ $- == *m* ]]").is(1, "")
	w.run("set -m").is(0, "")
	w.run("(exit 4)").is(4, "")
	w.run("bash -c 'echo child'").is(0, "child\n")
	w.run("cd /; sleep 1000; echo NOT", body{"timeout_ms": 200}).timedOut()
	w.run("sleep 1000 | sleep 1000", body{"timeout_ms": 200}).timedOut()
	if r := w.run("sleep 1000 & echo on"); r.out() != "on\n" {
		w.t.Errorf("%+v", r)
	}
	w.run("kill %%; wait").is2(0, "")
	w.run("set +m").is2(0, "")
}

func rowTerminal(w *work) {
	w.run("cat </dev/tty; echo $?").fails(0, "1\n", "/dev/tty")
	w.run("tty").is(1, "not a tty\n")
	w.run("bash -c 'read -rs -p Password: x </dev/tty'; echo asked").fails(0, "asked\n", "/dev/tty")
	r := w.run("tty; cat </dev/null; test -t 0 && test -t 1 && test -t 2 && echo all; echo x >/dev/tty; (exit 8)",
		body{"tty": true})
	if out := strings.ReplaceAll(r.out(), "\r", ""); r.ExitCode != 8 || !strings.HasPrefix(out, "/dev/pts/") ||
		!strings.HasSuffix(out, "\nall\nx\n") {
		w.t.Errorf("%+v", r)
	}
	w.run("sleep 1000", body{"tty": true, "timeout_ms": 200}).timedOut()
}

func rowDescriptors(w *work) {
	r := w.run("sleep 1000 & echo $!; sleep 1000 </dev/null >/dev/null 2>&1 & echo $!")
	for field := range strings.FieldsSeq(r.out()) {
		var pid int
		_, err := fmt.Sscan(field, &pid)
		w.must(err)
		var files []string
		if !polling.Until(patience, func() bool { files = openFiles(pid); return len(files) == 3 && alive(pid) }) {
			w.t.Errorf("a child has %v", files)
			continue
		}
		for i, f := range files {
			if !strings.HasPrefix(f, fmt.Sprintf("%d=", i)) {
				w.t.Errorf("a child has %v", files)
			}
		}
	}
	w.run("bash -c 'ls /proc/$$/fd; :'").is(0, "0\n1\n2\n")
	w.run("bash -c 'grep -c . /proc/$$/cmdline >/dev/null; "+
		"tr \"\\0\" \"\\n\" </proc/$$/environ | grep -E \"^(EVERTTY_KEEPER|EVERTTY_DATA|LISTEN_|NOTIFY_)\"'").is(1, "")
	w.run("bash -c 'trap -p; kill -INT $$; echo NOT'").is2(130, "")
}

// TestDeleteLetsGoOfInputs: the keeper holds nothing of a shell that was deleted while commands of it had an open
// standard input.
func TestDeleteLetsGoOfInputs(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	w := s.in("one")
	w.send(body{"command": "cat", "background": true, "stdin_open": true}).wants(202)
	front := w.later(body{"command": "cat; echo NOT", "stdin_open": true})
	w.find(front.text, "running")
	held := func() (list []string) {
		fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", s.keeperPID()))
		for _, fd := range fds {
			if to, _ := os.Readlink(fd); strings.Contains(to, s.how.dir+"/shells/") {
				list = append(list, to)
			}
		}
		return list
	}
	if len(held()) == 0 {
		t.Fatal("the keeper holds nothing while they run")
	}
	s.call(http.MethodDelete, "/session/one/shell", "").wants(200)
	front.reply().refused(410, "SESSION_DESTROYED")
	eventually(t, "the keeper holds nothing of the shell", func() bool { return len(held()) == 0 })
}
