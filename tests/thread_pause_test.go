package tests

import (
	"strconv"
	"testing"
	"time"
)

// longerThanACapture is longer than the server gives the capture of a shell's state, after which it takes the shell for
// stuck.
const longerThanACapture = 11 * time.Second

// quickly is less than the server waits for what hangs when somebody looks at a thread.
const quickly = 4 * time.Second

// TestPauseOutlivesTheServer: what is paused is there as it was after the server was replaced or killed: the idle
// shell, its jobs and its commands.
func TestPauseOutlivesTheServer(t *testing.T) {
	t.Parallel()
	for name, replace := range map[string]func(*server){
		"stopped": func(s *server) { s.stop(); s.launch() },
		"killed":  func(s *server) { s.kill(); s.launch() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, launch{})
			idle, busy := s.thread("idle"), s.thread("busy")
			idle.run("local=kept; sleep 100000 & trap : USR1")
			shell, job := idle.number("echo $$"), idle.number("echo $!")
			behind := busy.begun(body{"command": "sleep 100000", "background": true})
			busy.unanswered("sleep 1; echo done", 0)
			running := busy.find("sleep 1; echo done", "running")
			idle.change("/pause").wants(200)
			busy.change("/pause").wants(200)
			replace(s)
			began := time.Now()
			for _, o := range []*owner{idle, busy} {
				if o.record(); o.window().Status != "paused" {
					t.Errorf("session %s is %+v", o.session, o.window())
				}
			}
			if took := time.Since(began); took > quickly {
				t.Errorf("a look at two paused threads took %v", took)
			}
			instant(longerThanACapture) // that nothing is ended can only be seen after that time
			live(t, "what is paused", shell, job)
			idle.change("/resume").wants(200)
			busy.change("/resume").wants(200)
			if r := idle.run("echo $local; jobs -p; trap").is(0,
				"kept\n"+strconv.Itoa(job)+"\ntrap -- ':' SIGUSR1\n"); r.Recreated {
				t.Errorf("%+v", r)
			}
			if p := busy.finished(running.CommandID); !p.ended("done", 0) {
				t.Errorf("the command that ran is %v", p)
			}
			busy.logged(running.CommandID, "done\n")
			if p := busy.command(behind); p.Status != "running" {
				t.Errorf("the command in the background is %v", p)
			}
		})
	}
}

// TestTimeoutStandsStill: the time of a command does not run while its thread is paused, and goes on from where it was.
func TestTimeoutStandsStill(t *testing.T) {
	t.Parallel()
	const limit = 1500 * time.Millisecond
	for name, between := range map[string]func(*server){
		"in one server":  func(*server) {},
		"over a restart": func(s *server) { s.stop(); s.launch() },
		"over a kill":    func(s *server) { s.kill(); s.launch() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, launch{})
			o := s.thread("t")
			o.run(":")
			var ids []string
			for _, more := range []body{{"background": true},
				{"background": true, "isolated": true, "argv": []string{"sleep", "1000"}}} {
				b := body{"timeout_ms": limit.Milliseconds()}
				for k, v := range more {
					b[k] = v
				}
				if b["argv"] == nil {
					b["command"] = "sleep 1000"
				}
				ids = append(ids, o.begun(b))
			}
			o.unanswered("sleep 2000", limit)
			ids = append(ids, o.find("sleep 2000", "running").CommandID)
			o.change("/pause").wants(200)
			between(s)
			instant(2 * limit) // what would have ended it
			o.change("/resume").wants(200)
			resumed := time.Now()
			for _, id := range ids {
				if p := o.command(id); p.Status != "running" && time.Since(resumed) < limit/5 {
					t.Errorf("right after the pause %v", p)
				}
			}
			for _, id := range ids {
				if p := o.finished(id); !p.TimedOut || !p.ended("done", 124) {
					t.Errorf("%v", p)
				}
			}
			if rest := time.Since(resumed); rest < limit/4 {
				t.Errorf("all of %v was over %v after the pause", limit, rest)
			}
		})
	}
}

// unanswered runs a command in the foreground whose reply may go with the server.
func (w *work) unanswered(command string, timeout time.Duration) {
	ctx := w.ctx()
	text := asJSON(body{"command": command, "timeout_ms": timeout.Milliseconds()})
	go func() {
		_, _ = rawPost(ctx, w.t, w.url+w.at+"/exec", text, map[string]string{"Content-Type": "application/json"})
	}()
}

// begun is the id of a command in the background.
func (w *work) begun(b body) string {
	w.t.Helper()
	var r result
	w.send(b).wants(202).into(&r)
	return r.CommandID
}
