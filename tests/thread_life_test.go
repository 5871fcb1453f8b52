package tests

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

// TestF070IdleExpiry (R-039, R-048, R-157, R-026 test_terminal_state_persists_across_sessions): the session ends, the
// state does not.
func TestF070IdleExpiry(t *testing.T) {
	t.Parallel()
	const idle = 1.0 // seconds
	o := start(t, launch{}).thread("one")
	o.run("cd /tmp; export X=1; sleep 1000 >/dev/null 2>&1 &")
	o.run("cd /tmp; export X=1")
	o.reaches("/tmp")
	before, pid := o.layers(), o.shells("one")[0].PID
	o.limited(wire.SetPolicy{IdleSeconds: new(idle)})
	w := o.closes("idle_timeout")
	if after := w.EndedAt.Sub(w.LastActiveAt); after.Seconds() < idle {
		t.Errorf("it ended %v after the last activity", after)
	}
	die(t, "the shell of a session that is over", pid)
	o.run("pwd; echo $X").is(0, "/tmp\n1\n")
	if after := o.layers(); after[0] == before[0] || after[1] != before[1] || after[2] != before[2] {
		t.Errorf("the layers were %v and are %v", before, after)
	}
}

// TestF071MaxDuration: no activity puts it off.
func TestF071MaxDuration(t *testing.T) {
	t.Parallel()
	o := start(t, launch{}).made("one", `{"max_seconds":2}`)
	touched := 0
	for {
		r := o.change("/touch")
		if r.status != http.StatusOK {
			r.refused(409, "SESSION_EXPIRED")
			break
		}
		touched++
	}
	w := o.closes("max_duration")
	if age := w.EndedAt.Sub(w.CreatedAt); age < 2*time.Second || touched == 0 {
		t.Errorf("it ended after %v and %d touches", age, touched)
	}
}

// TestF073Touch (R-028, R-042, R-049 test_touch_updates_db).
func TestF073Touch(t *testing.T) {
	t.Parallel()
	s := start(t, launch{listen: freePort(t)})
	o := s.made("one", `{}`)
	before := o.window()
	after := before
	eventually(t, "a touch is seen", func() bool { // clocks have steps
		o.change("/touch").wants(200)
		after = o.window()
		return after.LastActiveAt.After(before.LastActiveAt)
	})
	if after.SessionID != before.SessionID {
		t.Errorf("it was %+v and is %+v", before, after)
	}
	s.stop()
	s.again()
	if again := o.window(); again.LastActiveAt.Before(after.LastActiveAt) || again.SessionID != before.SessionID {
		t.Errorf("after a restart it is %+v, before it %+v", again, after)
	}
}

// TestF074Cleanup (R-052 test_cleanup_expired, R-030 test_session_expiry_cleanup): nobody has to look.
func TestF074Cleanup(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	old, fresh := s.made("old", `{"idle_seconds":0.5}`), s.made("fresh", `{"idle_seconds":600}`)
	eventually(t, "the reaper closes it", func() bool { return old.times("session.closed") == 1 })
	if w := fresh.window(); w.Status != "active" || fresh.times("session.closed") != 0 {
		t.Errorf("the other is %+v", w)
	}
	if n := s.labelled("evertty_sessions_closed_total", `reason="idle_timeout"`); n != 1 {
		t.Errorf("the metric counts %v", n)
	}
}

// labelled is the value of a metric with a label.
func (s *server) labelled(name, label string) float64 {
	s.t.Helper()
	return s.metric(name + "{" + label + "}")
}

// TestF075BusyGuard: what runs is not taken for idle.
func TestF075BusyGuard(t *testing.T) {
	t.Parallel()
	const idle = 0.4 // seconds
	o, g := start(t, launch{}).thread("one"), newGate(t)
	o.run("true")
	o.limited(wire.SetPolicy{IdleSeconds: new(idle)})
	long := o.later(body{"command": "for i in 1 2 3 4 5; do echo $i; sleep 0.3; done; " + g.wait()})
	id := o.find(long.text, "running").CommandID
	first := o.window().SessionID
	o.logged(id, "1\n2\n3\n4\n5\n")
	if w := o.window(); w.SessionID != first || w.Status == "closed" || o.times("session.closed", first) != 0 {
		t.Errorf("under a command the session %s came to %+v", first, w)
	}
	g.open()
	long.result().is(0, "1\n2\n3\n4\n5\n")
	o.closes("idle_timeout")
}

// TestF082PauseAndResume (R-126, R-127, R-031, R-107 test_simulate_pause_resume_flow): in both spellings; a second time
// changes nothing.
func TestF082PauseAndResume(t *testing.T) {
	t.Parallel()
	o := start(t, launch{}).thread("one")
	file := filepath.Join(t.TempDir(), "ticks")
	o.run("cd /tmp; export X=1; while :; do echo tick; sleep 0.02; done >" + quote(file) + " &")
	pid := o.number("echo $!")
	for _, spelling := range []string{"/pause /resume", "/sandbox/pause /sandbox/resume"} {
		pause, resume, _ := strings.Cut(spelling, " ")
		eventually(t, "it runs", func() bool { return sizeOf(file) > 0 && processState(pid) != "T" })
		for range 2 {
			o.change(pause).wants(200)
		}
		stops(t, "what a paused thread runs", pid)
		if o.window().Status != "paused" || o.lease().ObservedState != "paused" {
			t.Errorf("%s: session %+v, lease %s", pause, o.window(), asJSON(o.lease()))
		}
		size := sizeOf(file)
		instant(100 * time.Millisecond) // that nothing comes can only be seen after some time
		if now := sizeOf(file); now != size {
			t.Errorf("%s: %d bytes came", pause, now-size)
		}
		for range 2 {
			o.change(resume).wants(200)
		}
		eventually(t, "it goes on", func() bool { return sizeOf(file) > size })
		if w, l := o.window(), o.lease(); w.Status != "active" || l.ObservedState != "running" {
			t.Errorf("%s: session %+v, lease %s", resume, w, asJSON(l))
		}
	}
	o.run(`pwd; echo $X; kill %1`).is(0, "/tmp\n1\n")
}

// TestF083AutoResume: who uses a paused thread need not resume it.
func TestF083AutoResume(t *testing.T) {
	t.Parallel()
	o := start(t, launch{}).thread("one")
	o.run("cd /tmp")
	o.change("/pause").wants(200)
	if r := o.run("pwd").is(0, "/tmp\n"); r.Recreated {
		t.Errorf("%+v", r)
	}
	if w, l := o.window(), o.lease(); w.Status != "active" || l.ObservedState != "running" ||
		o.times("session.resumed") != 1 {
		t.Errorf("session %+v, lease %s", w, asJSON(l))
	}
}

// TestF084Destroy (R-032 test_destroy_session): the processes go, the records stay.
func TestF084Destroy(t *testing.T) {
	t.Parallel()
	o := start(t, launch{}).thread("one")
	o.run("cd /tmp; export X=1")
	o.reaches("/tmp")
	before, instance, pid := o.layers(), o.instance(), o.number("echo $$")
	o.call(http.MethodDelete, o.path+"/sandbox", "").wants(200)
	die(t, "the shell of a sandbox that was destroyed", pid)
	if w, l := o.window(), o.lease(); w.CloseReason != "destroyed" || l.ObservedState != "dead" ||
		l.DesiredState != "destroyed" || o.terminal().Cwd != "/tmp" {
		t.Errorf("session %+v, lease %s, terminal %+v", w, asJSON(l), o.terminal())
	}
	o.run("pwd; echo $X").is(0, "/tmp\n1\n")
	after := o.layers()
	if after[0] == before[0] || after[1] != before[1] || after[2] != before[2] || o.instance() == instance {
		t.Errorf("the layers were %v and are %v, the instance %s and %s", before, after, instance, o.instance())
	}
}

// TestF085LeaseRecovery (R-066 test_ensure_active_instance_recreates_dead): other compute, and the old one stays on
// record.
func TestF085LeaseRecovery(t *testing.T) {
	t.Parallel()
	o := start(t, launch{}).thread("one")
	o.run("cd /tmp")
	o.reaches("/tmp")
	l, first := o.lease(), o.instance()
	_, err := o.DestroyLease(o.ctx(), l.LeaseID)
	o.must(err)
	o.run("pwd").is(0, "/tmp\n")
	second := o.instance()
	var seen []string
	for _, e := range o.leaseEvents(l.LeaseID) {
		if e.Type == "intent.ensure_running" {
			seen = append(seen, e.Instance)
		}
	}
	if first == second || !slices.Equal(seen, []string{first, second}) {
		t.Errorf("the instances are %s and %s, those of the book %v", first, second, seen)
	}
}

// TestF086IllegalTransition: refused, and in the book.
func TestF086IllegalTransition(t *testing.T) {
	t.Parallel()
	o := start(t, launch{}).thread("one")
	o.run("true")
	l := o.lease()
	_, err := o.DestroyLease(o.ctx(), l.LeaseID)
	o.must(err)
	o.call(http.MethodPost, "/api/leases/"+l.LeaseID+"/resume", "").refused(409, "ILLEGAL_TRANSITION")
	o.call(http.MethodPost, "/api/leases/"+l.LeaseID+"/pause", "").refused(409, "ILLEGAL_TRANSITION")
	list := o.leaseEvents(l.LeaseID)
	for i, want := range []string{"intent.resume", "intent.pause"} {
		if e := list[len(list)-2+i]; e.Type != want || e.Error == "" || e.From != "dead" || e.Source != "api" {
			t.Errorf("the book says %+v", e)
		}
	}
	if now := o.lease(); now.ObservedState != "dead" {
		t.Errorf("the lease is %s", asJSON(now))
	}
}

// TestF087LeaseEvents: every arrow once, in order, with its source.
func TestF087LeaseEvents(t *testing.T) {
	t.Parallel()
	o := start(t, launch{}).thread("one")
	o.run("true")
	id := o.lease().LeaseID
	type call func(context.Context, string) (client.Lease, error)
	for _, do := range []call{o.PauseLease, o.PauseLease, o.ResumeLease, o.RefreshLease, o.DestroyLease} {
		_, err := do(o.ctx(), id)
		o.must(err)
	}
	o.run("true")
	list := o.leaseEvents(id)
	want := []string{"dead running intent.ensure_running use", "running paused intent.pause api",
		"paused running intent.resume api",
		"running dead intent.destroy api", "dead running intent.ensure_running use"}
	if len(list) != len(want) {
		t.Fatalf("the book is %+v", list)
	}
	for i, e := range list {
		if got := strings.Join([]string{e.From, e.To, e.Type, e.Source}, " "); got != want[i] || e.Error != "" ||
			e.Instance == "" || i > 0 && e.Seq <= list[i-1].Seq {
			t.Errorf("entry %d is %+v, not %s", i, e, want[i])
		}
	}
	if n := o.times("lease.running"); n != 3 {
		t.Errorf("the thread was told of %d starts", n)
	}
}

// TestF088SharedLease (R-027 test_lease_shared_across_terminals, R-187).
func TestF088SharedLease(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	a := s.made("a", `{}`)
	lease := a.lease()
	b := s.thread("b")
	s.post("/api/threads", fmt.Sprintf(`{"id":"b","lease_id":%q}`, lease.LeaseID)).wants(201)
	b.run("cd /tmp; sleep 1000 & true")
	pid := b.number("echo $!")
	if b.lease().LeaseID != lease.LeaseID || b.instance() != a.instance() ||
		b.terminal().TerminalID == a.terminal().TerminalID {
		t.Errorf("%s and %s, terminals %s and %s", asJSON(a.lease()), asJSON(b.lease()), a.terminal().TerminalID,
			b.terminal().TerminalID)
	}
	a.change("/pause").refused(409, "IN_USE") // it would stop b, too
	a.limited(wire.SetPolicy{IdleSeconds: new(1.0)})
	a.closes("idle_timeout")
	if l := b.lease(); l.ObservedState != "running" || b.times("lease.paused") != 0 || processState(pid) == "T" ||
		b.window().Status != "active" {
		t.Errorf("after the end of the other session: %s, process %q", asJSON(l), processState(pid))
	}
	b.run("pwd").is(0, "/tmp\n")
	s.call(http.MethodDelete, "/api/leases/"+lease.LeaseID, "").refused(409, "IN_USE")
}

// database is the server's, which must not run.
func (s *server) database() *sql.DB {
	s.t.Helper()
	db, err := sql.Open("sqlite", s.file("evertty.db"))
	s.must(err)
	s.t.Cleanup(func() { _ = db.Close() })
	return db
}

// TestF090MissingRows (R-035 test_missing_terminal_recreates_with_same_id, R-036
// test_missing_lease_recreates_with_same_id).
func TestF090MissingRows(t *testing.T) {
	t.Parallel()
	for _, table := range []string{"terminals", "leases"} {
		s := start(t, launch{listen: freePort(t)})
		o := s.thread("one")
		o.run("cd /tmp; export X=1")
		o.reaches("/tmp")
		before := o.layers()
		s.stop()
		db := s.database()
		_, err := db.Exec("PRAGMA foreign_keys=OFF; DELETE FROM " + table)
		s.must(err)
		s.must(db.Close())
		s.again()
		if after := o.layers(); after[1] != before[1] || after[2] != before[2] {
			t.Errorf("without %s the layers were %v and are %v", table, before, after)
		}
		o.run("pwd; echo $X").is(0, "/tmp\n1\n")
		if after := o.layers(); after[1] != before[1] || after[2] != before[2] || o.terminal().Cwd != "/tmp" {
			t.Errorf("without %s the layers were %v and are %v", table, before, after)
		}
	}
}

// TestF091Database: write-ahead log, foreign keys that hold, the three tables of the seed.
func TestF091Database(t *testing.T) {
	t.Parallel()
	s := start(t, launch{listen: freePort(t)})
	o := s.thread("one")
	o.run("cd /tmp; export X=1")
	o.reaches("/tmp")
	l := o.layers()
	s.call(http.MethodDelete, "/api/leases/"+l[2], "").refused(409, "IN_USE")
	s.stop()
	db := s.database()
	mode := ""
	s.must(db.QueryRow("PRAGMA journal_mode").Scan(&mode))
	broken, err := db.Query("PRAGMA foreign_key_check")
	s.must(err)
	if mode != "wal" || broken.Next() {
		t.Errorf("the journal mode is %s; or a foreign key points nowhere", mode)
	}
	s.must(broken.Close())
	for view, id := range map[string]string{"chat_sessions": l[0], "abstract_terminals": l[1], "sandbox_leases": l[2]} {
		column := map[string]string{"chat_sessions": "session_id", "abstract_terminals": "terminal_id",
			"sandbox_leases": "lease_id"}[view]
		n := 0
		if err := db.QueryRow("SELECT count(*) FROM "+view+" WHERE "+column+" = ?", id).Scan(&n); err != nil || n != 1 {
			t.Errorf("%s has %s %d times: %v", view, id, n, err)
		}
	}
	_, err = db.Exec("PRAGMA foreign_keys=ON; DELETE FROM leases")
	if err == nil || !strings.Contains(err.Error(), "FOREIGN KEY") {
		t.Errorf("deleting a lease in use: %v", err)
	}
	s.again()
}

// manyThreads is how many threads TestF092Concurrency uses.
var manyThreads = flag.Int("threads", 20,
	"threads that are used at once in TestF092Concurrency; 100 is the requirement")

// TestF092Concurrency: threads at once do not disturb each other, and the database is never locked.
func TestF092Concurrency(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	const execs = 20
	var all sync.WaitGroup
	seen := make([]wire.ThreadTerminal, *manyThreads)
	for n := range *manyThreads {
		all.Go(func() {
			o := s.thread(fmt.Sprintf("t%d", n))
			for i := range execs {
				r := o.send(body{"command": fmt.Sprintf("export N=%d; cd /proc/self; cd /; echo %d.%d", i, n, i)})
				if r.status != 200 || !strings.Contains(r.body, fmt.Sprintf(`"stdout":"%d.%d\n"`, n, i)) {
					t.Errorf("thread %d, command %d: %d %s", n, i, r.status, clip(r.body))
				}
			}
			eventually(t, "the last state is there", func() bool {
				seen[n] = o.terminal()
				return seen[n].EnvDelta["N"] == fmt.Sprint(execs-1)
			})
		})
	}
	all.Wait()
	ids := map[string]bool{}
	for n, one := range seen {
		if ids[one.TerminalID] = true; one.Version != execs {
			t.Errorf("thread %d has version %d", n, one.Version)
		}
	}
	if log := s.stderr.String(); len(ids) != *manyThreads || strings.Contains(log, "locked") ||
		strings.Contains(log, "SQLITE_BUSY") {
		t.Errorf("%d terminals\n%s", len(ids), clip(log))
	}
}

// TestOutputWithoutAServer: a program that prints while no server runs is not taken for idle by the next one.
func TestOutputWithoutAServer(t *testing.T) {
	t.Parallel()
	o := start(t, launch{}).made("test", `{"idle_seconds":2}`) // create's session
	id := o.create("bash", "-c", "while :; do echo tick; sleep 0.1; done").ID
	o.await(id, "tick")
	before, seq := o.window(), o.info(id).Seq
	o.kill()
	eventually(t, "the session's time is over", func() bool {
		return time.Since(before.ExpiresAt) > before.ExpiresAt.Sub(before.LastActiveAt)
	})
	o.again()
	eventually(t, "the output is there", func() bool { return o.info(id).Seq > seq })
	w := o.window()
	if w.SessionID != before.SessionID || w.Status != "active" || !w.ExpiresAt.After(before.ExpiresAt) {
		t.Errorf("the session %+v came to %+v", before, w)
	}
	if i := o.info(id); i.State != "running" {
		t.Errorf("the program came to %s, %+v", i.State, i.Exit)
	}
}

// TestF098ExpiryNotice: who watches is told before.
func TestF098ExpiryNotice(t *testing.T) {
	t.Parallel()
	o := start(t, launch{}).made("one", `{"idle_seconds":6}`) // of which a third is left for the notice
	events, err := o.WatchThread(o.ctx(), "one", 0)
	o.must(err)
	defer events.Close()
	var warned client.ThreadEvent
	for {
		e, err := events.Next()
		o.must(err)
		switch e.Type {
		case "session.expiring":
			warned = e
		case "session.closed":
			var data struct {
				ExpiresAt time.Time `json:"expires_at"`
			}
			o.must(json.Unmarshal(dataOf(warned), &data))
			if warned.Seq == 0 || !warned.At.Before(data.ExpiresAt) || !data.ExpiresAt.Before(e.At) {
				t.Errorf("it was announced by %s and closed by %s", asJSON(warned), asJSON(e))
			}
			return
		}
	}
}

// TestF099Budget: a session that has used up what it may is closed, whatever it does.
func TestF099Budget(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	cpu := s.made("cpu", `{"budget":{"cpu_seconds":0.3}}`)
	c := cpu.later(body{"command": "while :; do :; done"})
	w := cpu.closes("budget")
	<-c.done
	if w.Used == nil || w.Used.CPUSeconds < 0.3 || cpu.times("session.closed", `"budget"`) != 1 {
		t.Errorf("the session is %s", asJSON(w))
	}
	count := s.made("count", `{"budget":{"commands":2}}`)
	first := count.window().SessionID
	count.run("true")
	count.run("true")
	if r := count.send(body{"command": "true"}); r.status != 200 { // of another session already
		r.refused(429, "BUDGET")
	}
	eventually(t, "the session is closed", func() bool { return count.times("session.closed", first, `"budget"`) == 1 })
	bytes := s.made("bytes", `{"budget":{"bytes":1000}}`)
	bytes.run("head -c 5000 /dev/zero | tr '\\0' x")
	bytes.closes("budget")
}

// TestBytesWhileRunning: a budget counts what commands print before they have ended, and what no log keeps of it.
func TestBytesWhileRunning(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	for name, c := range map[string]body{
		"shell":      {"command": "echo $$; while :; do printf %01000d 1; sleep 0.01; done"},
		"background": {"command": "while :; do printf %01000d 1; sleep 0.01; done", "background": true},
		"isolated":   {"isolated": true, "argv": []string{"yes"}, "max_output_bytes": 10},
		"not kept":   {"command": "while :; do printf %01000d 1 >&2; sleep 0.01; done", "max_output_bytes": 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := s.seenBy(t).made("bytes-"+name[:3], `{"idle_seconds":3600,"budget":{"bytes":20000}}`)
			c := o.later(c)
			if w := o.closes("budget"); w.Used == nil || w.Used.Bytes <= 20_000 {
				t.Errorf("the session is %s", asJSON(w))
			}
			<-c.done
			for _, p := range o.commands("") {
				o.finished(p.CommandID)
			}
		})
	}
}

// TestF100Metrics: the counts move as things happen.
func TestF100Metrics(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	o := s.made("one", `{"idle_seconds":600}`)
	names := []string{"evertty_sessions", "evertty_sessions_created_total", "evertty_state_updates_total",
		"evertty_instances_created_total", "evertty_session_seconds_total"}
	before := map[string]float64{}
	for _, n := range names {
		before[n] = s.metric(n)
	}
	o.run("cd /tmp")
	o.reaches("/tmp")
	o.call(http.MethodDelete, o.path+"/sandbox", "").wants(200)
	o.run("true")
	for i, grows := range []float64{0, 1, 1, 1} {
		if now := s.metric(names[i]); now != before[names[i]]+grows {
			t.Errorf("%s was %v and is %v", names[i], before[names[i]], now)
		}
	}
	if s.metric(names[4]) <= before[names[4]] ||
		s.labelled("evertty_sessions_closed_total", `reason="destroyed"`) != 1 {
		t.Errorf("lifetimes and ends are not counted")
	}
	// More than 120 versions in a minute are told.
	o.run("true")
	told := 0
	for i := 0; told == 0 && i < 5000; i++ { // a slow machine does not do all of the first 130 in a minute
		o.run(fmt.Sprintf("export N=%d", i))
		if i%10 == 0 && i >= 120 {
			told = o.times("terminal.state_too_often")
		}
	}
	if told != 1 {
		t.Errorf("it is told %d times that the state changes too often", told)
	}
}

// TestF101Webhooks: with the secret, without the token; what is known is matched, everything is listed.
func TestF101Webhooks(t *testing.T) {
	t.Parallel()
	file, right := filepath.Join(t.TempDir(), "secret"), strings.Repeat("s3cret-", 5)
	if err := os.WriteFile(file, []byte(right+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, launch{auth: "token", flags: []string{"--webhook-secret-file", file}})
	o := s.thread("one")
	o.run("true")
	send := func(provider, body, secret string) reply {
		return s.do(request{http.MethodPost, "/api/webhooks/" + provider, body,
			map[string]string{"Content-Type": "application/json", "X-Webhook-Secret": secret}})
	}
	known := fmt.Sprintf(`{"event_type":"sandbox.state.updated","sandbox_id":%q,"state":"running"}`, o.instance())
	for _, test := range []struct {
		provider, body string
		matched        string
	}{{"local", known, "true"}, {"e2b", known, "false"}, {"e2b",
		`{"sandboxId":"nobody","type":"sandbox.lifecycle.killed"}`, "false"}} {
		r := send(test.provider, test.body, right).wants(202)
		if strings.TrimSpace(r.body) != `{"matched":`+test.matched+`}` {
			t.Errorf("%s %s: %s", test.provider, test.body, r.body)
		}
	}
	send("local", known, "other").refused(401, "UNAUTHORIZED")
	send("local", known, "").refused(401, "UNAUTHORIZED")
	var list struct {
		Events []struct {
			Provider string `json:"provider_name"`
			Instance string `json:"instance_id"`
			Lease    string `json:"matched_lease_id"`
		}
	}
	s.get("/api/webhooks/events").wants(200).into(&list)
	if len(list.Events) != 3 || list.Events[0].Instance != "nobody" || list.Events[2].Lease != o.lease().LeaseID ||
		list.Events[1].Lease != "" {
		t.Errorf("the list is %+v", list)
	}
}

// TestThreadEventsGoOn: a watcher misses nothing over a restart of the server, and is told of the thread's end.
func TestThreadEventsGoOn(t *testing.T) {
	t.Parallel()
	s := start(t, launch{listen: freePort(t)})
	o := s.thread("one")
	o.run("true")
	last := int64(0)
	watch := func(until string) {
		t.Helper()
		events, err := s.WatchThread(s.ctx(), "one", last)
		s.must(err)
		defer events.Close()
		for {
			e, err := events.Next()
			s.must(err)
			if e.Type == client.ThreadDeleted {
				if _, err := events.Next(); until != e.Type || !errors.Is(err, io.EOF) {
					t.Errorf("after the end: %v", err)
				}
				return
			}
			if e.Seq != last+1 {
				t.Fatalf("%s follows on %d", asJSON(e), last)
			}
			if last = e.Seq; e.Type == until {
				return
			}
		}
	}
	watch("command.finished")
	s.kill()
	s.again()
	o.run("cd /tmp")
	watch("command.finished")
	deleted := make(chan struct{})
	go func() {
		defer close(deleted)
		s.call(http.MethodDelete, o.path, "").wants(200)
	}()
	watch(client.ThreadDeleted)
	<-deleted
	s.get(o.path).refused(404, "NOT_FOUND")
	if list := s.shells("one"); len(list) != 0 {
		t.Errorf("shells are left: %+v", list)
	}
}
