package tests

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// execRounds is how many random cancels TestExecRandomCancels does; 0 is the
// short or the long form's number.
var execRounds = flag.Int("exec-rounds", 0, "random cancels and timeouts of TestExecRandomCancels")

// cancelled are commands of every temper; none ends by itself within the test but
// the last.
var cancelled = []string{
	"sleep 1000; echo NOT",
	"while :; do :; done; echo NOT",
	"sleep 1000 | sleep 1000 | cat; echo NOT",
	"yes; echo NOT",
	"while :; do echo flood; echo flood >&2; done",
	"x=$(sleep 1000); echo NOT",
	"sleep 1000 & sleep 1000 & wait; echo NOT",
	"f() { while :; do sleep 0.01; done; }; f; echo NOT",
	"bash -c 'trap \"\" INT TERM; while :; do sleep 1; done'; echo NOT",
	"trap '' INT; while :; do sleep 0.05; done",
	"(trap '' INT; sleep 1000); echo NOT",
	"setsid sleep 1000 & nohup sleep 1000 & wait; echo NOT",
	"bash -c 'kill -STOP $$; echo NOT'",
	"kill -STOP $$; echo NOT",
	"cat <(sleep 1000) >(sleep 1000); echo NOT",
	"trap 'echo caught' INT; while :; do sleep 0.05; done",
	"exec sleep 1000",
	"read -r x </dev/zero; echo NOT",
	"true",
}

// TestExecRandomCancels: commands of every temper are timed out, cancelled and
// hung up on at random instants. No shell is wedged, no process and no FIFO is left.
func TestExecRandomCancels(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	rounds := times(20, 1000)
	if *execRounds > 0 {
		rounds = *execRounds
	}
	const shells = 4 // at once
	var done, recreated atomic.Int64
	list := rand.Perm(max(rounds, len(cancelled)))[:rounds]
	inParallel(shells, func(n int) {
		w := s.in(fmt.Sprintf("random-%d", n))
		for i := n; i < len(list) && !t.Failed(); i += shells {
			command := cancelled[list[i]%len(cancelled)]
			w.cancelAtRandom(command)
			if r := w.alive(); r.Recreated {
				recreated.Add(1)
			}
			done.Add(1)
		}
	})
	s.endShells()
	if left := marked(s.mark); len(left) > 2 { // the server and its keeper
		eventually(t, "only server and keeper are left", func() bool { return len(marked(s.mark)) <= 2 })
	}
	figure(t, "%d commands of %d kinds cancelled at random: 0 wedged, %d shells started again, 0 processes and 0 "+
		"FIFOs left", done.Load(), len(cancelled), recreated.Load())
}

// cancelAtRandom ends a command in one of the ways a client has, and waits until
// the shell is free.
func (w *work) cancelAtRandom(command string) {
	w.t.Helper()
	after := time.Duration(rand.IntN(200)) * time.Millisecond
	mark := fmt.Sprintf(" # %d", rand.Uint64())
	command += mark
	switch rand.IntN(3) {
	case 0:
		r := w.run(command, body{"timeout_ms": 1 + after.Milliseconds()})
		if strings.Contains(r.out(), "NOT") || r.TimedOut != (r.ExitCode == 124) &&
			!strings.HasPrefix(command, "true") {
			w.t.Errorf("%s: %+v", command, r)
		}
	case 1:
		c := w.later(body{"command": command})
		id := ""
		eventually(w.t, "the command is there", func() bool {
			list := w.commands("?limit=5")
			i := slices.IndexFunc(list, func(p past) bool { return p.Command == command })
			if i >= 0 {
				id = list[i].CommandID
			}
			return i >= 0
		})
		instant(after)
		if r := w.cancel(id); r.status/100 != 2 && r.status != http.StatusConflict && r.status != http.StatusGone {
			w.t.Errorf("cancel: %d %s", r.status, r.body)
		}
		if r := c.result(); strings.Contains(r.out(), "NOT") || r.ExitCode == 0 && !strings.HasPrefix(command, "true") {
			w.t.Errorf("%s: %+v", command, r)
		}
	case 2:
		ctx, hangUp := context.WithTimeout(w.t.Context(), after)
		defer hangUp()
		headers := map[string]string{"Content-Type": "application/json"}
		_, _ = rawPost(ctx, w.t, w.url+w.at+"/exec", asJSON(body{"command": command, "cancel_on_disconnect": true}),
			headers)
	}
}

// TestExecTimeoutAccuracy: a timeout never comes before it was asked for. How late it may be is for a machine that does
// nothing else.
func TestExecTimeoutAccuracy(t *testing.T) {
	t.Parallel()
	const (
		asked = 200 * time.Millisecond
		goal  = 100 * time.Millisecond // of the specification
	)
	s := start(t, launch{})
	w := s.in("own")
	w.run("true")
	var late []time.Duration
	for i := range times(10, 100) {
		command := []string{"sleep 1000", "while :; do :; done"}[i%2]
		r := w.run(command, body{"timeout_ms": asked.Milliseconds()}).timedOut()
		late = append(late, r.took-asked)
	}
	slices.Sort(late)
	if late[0] < 0 {
		t.Errorf("%v early", -late[0])
	}
	median, worst := late[len(late)/2], late[len(late)-1]
	if full() && median > goal {
		t.Errorf("%v late at the median", median)
	}
	figure(t, "timeouts of %v are %v late at the median, %v at worst (goal %v)", asked,
		median.Round(time.Millisecond/10), worst.Round(time.Millisecond/10), goal)
}

// TestExecManySessions: fifty sessions at once, and nobody's output or state is
// another's.
func TestExecManySessions(t *testing.T) {
	t.Parallel()
	const sessions = 50
	s := start(t, launch{})
	dirs := make([]string, sessions)
	for i := range dirs {
		dirs[i] = t.TempDir()
	}
	inParallel(sessions, func(i int) {
		w := s.in(fmt.Sprintf("many-%d", i))
		w.run(fmt.Sprintf("cd %s; export ME=%d; me() { echo f%d; }", quote(dirs[i]), i, i)).is(0, "")
		var out, errs strings.Builder
		for n := range 300 {
			fmt.Fprintf(&out, "%d out %d\n", i, n)
			fmt.Fprintf(&errs, "%d err %d\n", i, n)
		}
		for range 3 {
			r := w.run(fmt.Sprintf(`for ((n = 0; n < 300; n++)); do echo "$ME out $n"; echo "%d err $n" >&2; done; `+
				`(exit $ME)`, i))
			if r.ExitCode != i || r.out() != out.String() || r.err() != errs.String() || r.Cwd != dirs[i] {
				t.Errorf("session %d: code %d, cwd %s, %d and %d bytes", i, r.ExitCode, r.Cwd, len(r.out()),
					len(r.err()))
			}
		}
		w.run("me; pwd").is(0, fmt.Sprintf("f%d\n%s\n", i, dirs[i]))
	})
}

// TestExecDeleteMidCommand: R-222, whatever instant it is: no FIFO, no process, and
// the caller is told.
func TestExecDeleteMidCommand(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	for i := range times(10, 200) {
		w, id := s.newShell("own", body{})
		c := w.later(body{"command": cancelled[i%(len(cancelled)-1)]})
		if i%2 == 0 {
			w.find(c.text, "running")
		}
		instant(time.Duration(rand.IntN(50)) * time.Millisecond)
		if r := s.call(http.MethodDelete, "/session/own/shell/"+id, ""); r.status/100 != 2 {
			t.Fatalf("%d %s", r.status, r.body)
		}
		if r := c.reply(); r.status != 410 && r.status != 404 {
			t.Errorf("%s: the caller is told %d %s", c.text, r.status, r.body)
		}
		if left := marked(s.mark); len(left) > 2 {
			t.Errorf("%s: %v", c.text, left)
		}
		if left := append(fifos(s.how.dir), s.shellDirs()...); len(left) > 0 {
			t.Errorf("%s: %v", c.text, left)
		}
	}
}
