package service

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/internal/thread/sqlite"
)

// test_default_policy
func TestDefaultPolicy(t *testing.T) {
	r := newRig(t)
	if p := r.open("t1", thread.Use{}).Session.Policy; p.Idle != 1800*time.Second || p.Max != 86400*time.Second {
		t.Fatalf("policy %+v", p)
	}
}

// test_custom_policy
func TestCustomPolicy(t *testing.T) {
	var p thread.Policy
	if err := json.Unmarshal([]byte(`{"idle_seconds":1800,"max_seconds":43200,"budget":{"cpu_seconds":1.5}}`),
		&p); err != nil {
		t.Fatal(err)
	}
	if p.Idle != 1800*time.Second || p.Max != 43200*time.Second || p.Budget.CPUSeconds != 1.5 {
		t.Fatalf("policy %+v", p)
	}
	for _, bad := range []string{`{"idle_seconds":-1}`, `{"max_seconds":1e300}`, `{"budget":{"commands":-1}}`,
		`{"idle_seconds":"x"}`, `[]`} {
		q := p
		if err := json.Unmarshal([]byte(bad), &q); err == nil || q != p {
			t.Errorf("%s: error %v, policy %+v", bad, err, q)
		}
	}
}

func sessionFrom(now time.Time, idle, most time.Duration) thread.Session {
	return thread.Session{Status: thread.Active, Policy: *policy(idle, most), StartedAt: now, LastActiveAt: now}
}

// test_is_expired_idle_timeout
func TestIsExpiredIdleTimeout(t *testing.T) {
	s := sessionFrom(noon, time.Minute, time.Hour)
	for after, want := range map[time.Duration]string{0: "", time.Minute: "", time.Minute + 1: thread.ReasonIdle} {
		if got := s.Expired(noon.Add(after)); got != want {
			t.Errorf("after %s: %q, want %q", after, got, want)
		}
	}
	if s := sessionFrom(noon, 0, time.Hour); s.Expired(noon) != "" || s.Expired(noon.Add(1)) != thread.ReasonIdle {
		t.Error("an idle time of 0 expires at once, and not before")
	}
}

// test_is_expired_max_duration
func TestIsExpiredMaxDuration(t *testing.T) {
	r := newRig(t)
	r.open("t1", thread.Use{Policy: policy(time.Minute, 2*time.Second)})
	for range 4 { // however much happens
		r.clock.pass(500 * time.Millisecond)
		r.ok(r.expiry.touchSession("t1"))
	}
	r.clock.pass(time.Millisecond)
	r.refused(r.expiry.touchSession("t1"), thread.ErrExpired)
	r.sweep()
	if s := r.status("t1").Session; s.CloseReason != thread.ReasonMax {
		t.Fatalf("session %+v", s)
	}
}

// test_not_expired
func TestNotExpired(t *testing.T) {
	s := sessionFrom(noon, time.Hour, 24*time.Hour)
	if got := s.Expired(noon.Add(59 * time.Minute)); got != "" {
		t.Fatal(got)
	}
	if got := s.ExpiresAt(); !got.Equal(noon.Add(time.Hour)) {
		t.Fatal(got)
	}
	s.LastActiveAt = noon.Add(23*time.Hour + 30*time.Minute)
	if got := s.ExpiresAt(); !got.Equal(noon.Add(24 * time.Hour)) {
		t.Fatal(got)
	}
}

// test_touch_updates_activity
func TestTouchUpdatesActivity(t *testing.T) {
	r := newRig(t)
	r.open("t1", thread.Use{Policy: policy(time.Minute, time.Hour)})
	for range 5 {
		r.clock.pass(50 * time.Second)
		r.ok(r.expiry.touchSession("t1"))
	}
	if s := r.status("t1").Session; s.Status != thread.Active || !s.ExpiresAt().Equal(r.clock.now().Add(time.Minute)) {
		t.Fatalf("session %+v", s)
	}
}

// test_close_calls_runtime_close
func TestCloseCallsRuntimeClose(t *testing.T) {
	r := newRig(t)
	l := r.open("t1", thread.Use{})
	_, err := r.began(l.Terminal.ID, process{PID: 7})
	r.ok(err)
	r.ok(r.lifecycle.destroy(t.Context(), "t1"))
	if got := r.notes(); !slices.Equal(got, []string{"create", "end destroyed", "destroy"}) {
		t.Fatalf("calls %v", got)
	}
}

// test_create_session
func TestCreateSession(t *testing.T) {
	r := newRig(t)
	l, err := r.CreateThread(t.Context(), "t1", thread.Use{Provider: "daytona"})
	r.ok(err)
	if !strings.HasPrefix(l.Session.ID, "sess-") || l.Session.Thread != "t1" || !l.Session.StartedAt.Equal(noon) ||
		l.Lease.Provider != "daytona" {
		t.Fatalf("session %+v", l)
	}
	_, err = r.CreateThread(t.Context(), "t1", thread.Use{})
	r.refused(err, thread.ErrConflict)
	_, err = r.CreateThread(t.Context(), "t2", thread.Use{Provider: "nowhere"})
	r.refused(err, thread.ErrNoProvider)
	for _, id := range []string{"a/b", "..", "x y", strings.Repeat("x", 65)} {
		_, err = r.lifecycle.open(t.Context(), id, thread.Use{})
		r.refused(err, thread.ErrInvalid)
	}
}

// test_get_session
func TestGetSession(t *testing.T) {
	r := newRig(t)
	l := r.open("t1", thread.Use{})
	s, err := r.live(t.Context(), "t1")
	r.ok(err)
	if s.ID != l.Session.ID {
		t.Fatalf("session %+v", s)
	}
}

// test_get_nonexistent_session
func TestGetNonexistentSession(t *testing.T) {
	r := newRig(t)
	_, err := r.live(t.Context(), "nobody")
	r.refused(err, thread.ErrNotFound)
	_, err = r.lifecycle.status(t.Context(), "nobody", thread.Use{})
	r.refused(err, thread.ErrNotFound)
	_, err = r.thread("nobody") // looking makes nothing
	r.refused(err, thread.ErrNotFound)
}

// test_get_expired_session_returns_none
func TestGetExpiredSessionReturnsNone(t *testing.T) {
	r := newRig(t)
	l := r.open("t1", thread.Use{Policy: policy(time.Second, time.Hour)})
	r.clock.pass(2 * time.Second)
	_, err := r.live(t.Context(), "t1")
	r.refused(err, thread.ErrExpired)
	list, err := r.expiry.sessionsOf("t1")
	r.ok(err)
	if len(list) != 1 || list[0].ID != l.Session.ID || list[0].Status != thread.Closed {
		t.Fatalf("closed, not deleted: %+v", list)
	}
}

// Who finds a session over and leaves at once does not leave it half closed.
func TestExpiryOutlivesWhoFoundIt(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	var left error
	r := newRig(t, func(r *rig) {
		r.end = func(ctx context.Context, _ []thread.Runtime) error {
			leave()
			left = ctx.Err()
			return left
		}
	})
	l := r.open("t1", thread.Use{Policy: policy(time.Second, time.Hour)})
	_, err := r.began(l.Terminal.ID, process{PID: 7})
	r.ok(err)
	r.clock.pass(2 * time.Second)
	_, err = r.live(ctx, "t1")
	r.refused(err, thread.ErrExpired)
	if s := r.status("t1").Session; left != nil || s.Status != thread.Closed {
		t.Fatalf("%v %+v", left, s)
	}
}

// test_touch_updates_db
func TestTouchUpdatesDB(t *testing.T) {
	r := newRig(t)
	r.open("t1", thread.Use{})
	r.clock.pass(time.Minute)
	r.ok(r.expiry.touchSession("t1"))
	r.restart()
	if got := r.status("t1").Session.LastActiveAt; !got.Equal(noon.Add(time.Minute)) {
		t.Fatalf("last active %s after a restart", got)
	}
}

func TestSweepKeepsActivity(t *testing.T) {
	r := newRig(t)
	r.open("t1", thread.Use{})
	r.clock.pass(time.Minute)
	r.ok(r.expiry.touchSession("t1"))
	r.ok(r.memory.charge("t1", thread.Usage{Bytes: 5}))
	r.sweep()
	r.ok(r.store.Close()) // a server that is killed flushes nothing
	r.start()
	if s := r.status("t1").Session; !s.LastActiveAt.Equal(noon.Add(time.Minute)) || s.Used.Bytes != 5 {
		t.Fatalf("session %+v", s)
	}
}

// test_delete_session
func TestDeleteSession(t *testing.T) {
	r := newRig(t)
	r.open("t1", thread.Use{})
	r.ok(r.lifecycle.destroy(t.Context(), "t1"))
	_, err := r.live(t.Context(), "t1")
	r.refused(err, thread.ErrExpired)
}

// test_list_all_sessions
func TestListAllSessions(t *testing.T) {
	r := newRig(t)
	for _, id := range []string{"a", "b", "c"} {
		r.open(id, thread.Use{})
	}
	r.ok(r.lifecycle.destroy(t.Context(), "b"))
	list := r.liveSessions(func(*window) bool { return true })
	var threads []string
	for _, s := range list {
		threads = append(threads, s.Thread)
	}
	slices.Sort(threads)
	if !slices.Equal(threads, []string{"a", "c"}) {
		t.Fatal(threads)
	}
	all, err := r.allThreads()
	r.ok(err)
	if len(all) != 3 {
		t.Fatal(all)
	}
}

// test_cleanup_expired
func TestCleanupExpired(t *testing.T) {
	r := newRig(t)
	r.open("old", thread.Use{Policy: policy(time.Second, time.Hour)})
	r.open("new", thread.Use{})
	r.clock.pass(2 * time.Second)
	if s := r.sweep(); s.Closed != 1 {
		t.Fatalf("swept %+v", s)
	}
	if st := r.counts(); st.SessionsLive != 1 || st.SessionsClosed[thread.ReasonIdle] != 1 || st.SessionSeconds != 2 ||
		st.SessionsCreated != 2 {
		t.Fatalf("stats %+v", st)
	}
	if types := r.types("old"); types[len(types)-1] != thread.SessionClosed {
		t.Fatalf("events %v", types)
	}
}

// test_full_lifecycle
func TestFullLifecycleSession(t *testing.T) {
	r := newRig(t)
	l := r.open("t1", thread.Use{})
	r.ok(r.expiry.touchSession("t1"))
	r.ok(r.lifecycle.pause(t.Context(), "t1"))
	r.ok(r.lifecycle.resume(t.Context(), "t1"))
	r.ok(r.lifecycle.destroy(t.Context(), "t1"))
	want := []string{"thread.created", "lease.created", "terminal.created", "session.created", "lease.running",
		"lease.paused", "session.paused",
		"lease.running", "session.resumed", "session.closed", "lease.dead"}
	if got := r.types("t1"); !slices.Equal(got, want) {
		t.Fatalf("events %v\nwant   %v", got, want)
	}
	if s, err := r.session(l.Session.ID); err != nil || s.Status != thread.Closed {
		t.Fatalf("%+v %v", s, err)
	}
}

// test_session_with_custom_policy
func TestSessionWithCustomPolicy(t *testing.T) {
	r := newRig(t)
	want := thread.Policy{Idle: 1800 * time.Second, Max: 43200 * time.Second,
		Budget: thread.Usage{CPUSeconds: 2, Commands: 3, Bytes: 4}}
	r.open("t1", thread.Use{Policy: &want})
	r.restart()
	l := r.status("t1")
	if l.Session.Policy != want || l.Thread.Policy != want {
		t.Fatalf("policy %+v", l.Session.Policy)
	}
	r.ok(r.lifecycle.setPolicy("t1", *policy(200*time.Millisecond, time.Hour)))
	r.clock.pass(201 * time.Millisecond)
	if s := r.sweep(); s.Closed != 1 {
		t.Fatal("less than a second is a policy too")
	}
}

// An hour idle and a day in all, as somebody's production runs.
func TestProductionPolicy(t *testing.T) {
	r := newRig(t)
	r.open("t1", thread.Use{Policy: policy(3600*time.Second, 86400*time.Second)})
	for range 24 {
		r.clock.pass(3600 * time.Second)
		r.ok(r.expiry.touchSession("t1"))
		r.sweep()
	}
	if s := r.status("t1").Session; !s.Live() {
		t.Fatalf("session %+v", s)
	}
	r.clock.pass(time.Second)
	if s := r.sweep(); s.Closed != 1 {
		t.Fatalf("swept %+v", s)
	}
}

func TestExpiryIsAnnouncedOnce(t *testing.T) {
	r := newRig(t)
	r.open("t1", thread.Use{Policy: policy(6*time.Second, time.Hour)})
	r.clock.pass(3 * time.Second)
	if s := r.sweep(); s.Warned != 0 {
		t.Fatal("too early")
	}
	r.clock.pass(time.Second)
	if s := r.sweep(); s.Warned != 1 || r.status("t1").Session.Status != thread.Idle {
		t.Fatalf("swept %+v", s)
	}
	r.restart()
	if s := r.sweep(); s.Warned != 0 {
		t.Fatal("twice")
	}
	r.ok(r.expiry.touchSession("t1"))
	if s := r.status("t1").Session; s.Status != thread.Active {
		t.Fatalf("session %+v", s)
	}
	r.clock.pass(5 * time.Second)
	if s := r.sweep(); s.Warned != 1 {
		t.Fatal("not again after new activity")
	}
	r.clock.pass(2 * time.Second)
	r.sweep()
	list, err := r.ListEvents("t1", 5, 0)
	r.ok(err)
	var types []string
	for _, e := range list {
		types = append(types, e.Type)
	}
	if want := []string{"session.expiring", "session.active", "session.expiring", "lease.paused",
		"session.closed"}; !slices.Equal(types, want) {
		t.Fatalf("events %v, want %v", types, want)
	}
	if d := list[0].Data; d.Reason != thread.ReasonIdle || !d.ExpiresAt.Equal(noon.Add(6*time.Second)) {
		t.Fatalf("announced %+v", d)
	}
}

func TestWhatKeepsASessionFromBeingIdle(t *testing.T) {
	r := newRig(t)
	l := r.open("t1", thread.Use{Policy: policy(time.Second, time.Hour)})
	step := func(closed int) {
		t.Helper()
		r.clock.pass(2 * time.Second)
		if s := r.sweep(); s.Closed != closed {
			t.Fatalf("swept %+v, want %d closed", s, closed)
		}
	}
	k := r.command(l.Terminal.ID)
	step(0)
	r.ok(r.expiry.touchSession("t1"))
	r.ok(r.finish(k.ID, thread.CommandDone))
	r.mu.Lock()
	r.looks = 1
	r.mu.Unlock()
	step(0)
	r.mu.Lock()
	r.looks = 0
	r.mu.Unlock()
	step(1)
	if n := r.cloud.count("pause"); n != 1 {
		t.Fatalf("%d pauses", n)
	}
}

// Compute on which a command runs is not paused under it; what the end of the session itself has
// ended is no command any more.
func TestCommandsKeepComputeFromBeingPaused(t *testing.T) {
	for name, ends := range map[string]bool{"of another": false, "of the session": true} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			l := r.open("t1", thread.Use{Policy: policy(time.Hour, time.Second)})
			k := r.command(l.Terminal.ID)
			if ends {
				_, err := r.began(l.Terminal.ID, process{PID: 7})
				r.ok(err)
				r.after = func() { r.ok(r.finish(k.ID, thread.CommandCancelled)) }
			}
			r.clock.pass(2 * time.Second)
			if s := r.sweep(); s.Closed != 1 {
				t.Fatalf("swept %+v", s)
			}
			want := []string{"create"}
			if ends {
				want = []string{"create", "end max_duration", "pause"}
			}
			if got := r.notes(); !slices.Equal(got, want) {
				t.Fatalf("calls %v, want %v", got, want)
			}
		})
	}
}

// lateStore lets something happen between a commit and what follows it.
type lateStore struct {
	Store
	after func()
}

func (s *lateStore) Update(fn func(*sqlite.Tx) error) error {
	err := s.Store.Update(fn)
	if s.after != nil {
		s.after()
	}
	return err
}

func TestActivityDuringAChangeIsKept(t *testing.T) {
	r := newRig(t)
	r.open("t1", thread.Use{})
	late := &lateStore{Store: r.store}
	m := r.threads(late)
	r.ok(m.load())
	late.after = func() {
		late.after = nil
		r.clock.pass(time.Minute)
		r.ok(m.expiry.touchSession("t1"))
		r.ok(m.memory.charge("t1", thread.Usage{Bytes: 7}))
	}
	r.ok(m.lifecycle.setPolicy("t1", *policy(time.Hour, 2*time.Hour)))
	r.ok(m.expiry.flush())
	r.ok(r.store.Close())
	r.start()
	if s := r.status("t1").Session; !s.LastActiveAt.Equal(noon.Add(time.Minute)) || s.Used.Bytes != 7 ||
		s.Policy.Idle != time.Hour {
		t.Fatalf("session %+v", s)
	}
}

func TestLocalComputeIsNotPausedByExpiry(t *testing.T) {
	r := newRig(t)
	r.open("t1", thread.Use{Provider: thread.Local, Policy: policy(time.Second, time.Hour)})
	r.clock.pass(2 * time.Second)
	if s := r.sweep(); s.Closed != 1 || r.cloud.count("pause") != 0 {
		t.Fatalf("swept %+v, %d pauses", s, r.cloud.count("pause"))
	}
}

func TestAPauseStopsTheIdleTimeOnly(t *testing.T) {
	r := newRig(t)
	r.open("t1", thread.Use{Policy: policy(time.Second, time.Hour)})
	r.ok(r.lifecycle.pause(t.Context(), "t1"))
	r.clock.pass(time.Hour)
	if s := r.sweep(); s.Closed != 0 {
		t.Fatal("what was paused on purpose ended for want of activity")
	}
	r.clock.pass(time.Second)
	if s := r.sweep(); s.Closed != 1 {
		t.Fatal("a paused session lives for ever")
	}
}

func TestBudgets(t *testing.T) {
	for name, b := range map[string]thread.Usage{"cpu": {CPUSeconds: 1}, "bytes": {Bytes: 100}} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			p := thread.DefaultPolicy()
			p.Budget = b
			r.open("t1", thread.Use{Policy: &p})
			r.ok(r.memory.charge("t1", b)) // all of it is allowed
			r.refused(r.memory.charge("t1", thread.Usage{CPUSeconds: 0.1, Bytes: 1}), thread.ErrBudget)
			r.restart() // and is not forgotten
			if s := r.sweep(); s.Closed != 1 {
				t.Fatalf("swept %+v", s)
			}
			if s := r.status("t1").Session; s.CloseReason != thread.ReasonBudget || s.Used.Bytes != b.Bytes+1 {
				t.Fatalf("session %+v", s)
			}
		})
	}
	t.Run("commands", func(t *testing.T) {
		r := newRig(t)
		p := thread.DefaultPolicy()
		p.Budget = thread.Usage{Commands: 2}
		a := r.open("t1", thread.Use{Policy: &p})
		for range 2 {
			k := r.command(a.Terminal.ID)
			r.ok(r.finish(k.ID, thread.CommandDone))
		}
		if b := r.open("t1", thread.Use{}); b.Session.ID != a.Session.ID {
			t.Fatal("two commands were allowed")
		}
		r.refused(r.memory.authorizeCommand("t1"), thread.ErrBudget)
		if b := r.open("t1", thread.Use{}); b.Session.ID == a.Session.ID {
			t.Fatal("the budget of the window was used up")
		}
		r.command(a.Terminal.ID)
	})
}

// The whole table: what is not in it is refused, what is refused changes nothing.
func TestSessionTransitions(t *testing.T) {
	all := []thread.Status{thread.Active, thread.Idle, thread.Paused, thread.Closed, thread.Failed}
	allowed := map[string]bool{}
	for _, a := range []string{"active idle", "active paused", "active closed", "active failed", "idle active",
		"idle paused", "idle closed", "idle failed",
		"paused active", "paused closed", "paused failed", "failed closed"} {
		allowed[a] = true
	}
	for _, from := range all {
		for _, to := range all {
			_, err := thread.Session{Status: from}.To(to)
			if want := from == to || allowed[string(from)+" "+string(to)]; (err == nil) != want {
				t.Errorf("%s to %s: %v", from, to, err)
			}
		}
	}
}

func TestFailedSessionGivesWayToAnother(t *testing.T) {
	r := newRig(t)
	r.cloud.breaks(errTest, "create")
	_, err := r.lifecycle.open(t.Context(), "t1", thread.Use{})
	r.refused(err, thread.ErrProvider)
	r.refused(err, errTest)
	l := r.status("t1")
	if l.Session.Status != thread.Failed || l.Lease.LastError == "" || l.Lease.Observed != thread.Dead {
		t.Fatalf("layers %+v", l)
	}
	r.cloud.breaks(nil, "")
	if again := r.open("t1", thread.Use{}); again.Session.ID == l.Session.ID || again.Lease.ID != l.Lease.ID ||
		again.Lease.LastError != "" {
		t.Fatalf("layers %+v", again)
	}
	if st := r.counts(); st.InstanceErrors != 1 || st.Instances != 1 || st.SessionsClosed[thread.ReasonProvider] != 1 {
		t.Fatalf("stats %+v", st)
	}
}
