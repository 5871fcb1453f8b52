package service

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/thread"
)

// test_get_sandbox_creates_all_layers
func TestGetSandboxCreatesAllLayers(t *testing.T) {
	r := newRig(t)
	l := r.open("t1", thread.Use{Kind: thread.Shell})
	if !l.NewThread || !l.NewSession || !l.NewTerminal || !l.NewLease {
		t.Fatalf("made %+v", l)
	}
	if l.Session.Status != thread.Active || l.Terminal.Thread != "t1" || l.Terminal.Lease != l.Lease.ID ||
		l.Lease.Observed != thread.Running || l.Instance.State != thread.Running {
		t.Fatalf("layers %+v", l)
	}
	run, err := r.began(l.Terminal.ID, process{PID: 42})
	r.ok(err)
	if run.Generation != 1 || run.Session != l.Session.ID || run.State != thread.Up {
		t.Fatalf("runtime %+v", run)
	}
	want := []string{"thread.created", "lease.created", "terminal.created", "session.created", "lease.running",
		"runtime.started"}
	if got := r.types("t1"); !slices.Equal(got, want) {
		t.Fatalf("events %v, want %v", got, want)
	}
}

// test_get_sandbox_reuses_existing_session
func TestGetSandboxReusesExistingSession(t *testing.T) {
	r := newRig(t)
	a, b := r.open("t1", thread.Use{}), r.open("t1", thread.Use{})
	if a.Session.ID != b.Session.ID || a.Terminal.ID != b.Terminal.ID || a.Lease.ID != b.Lease.ID ||
		a.Instance.ID != b.Instance.ID || b.NewSession {
		t.Fatalf("first %+v\nthen %+v", a, b)
	}
	if n := r.cloud.count("create"); n != 1 {
		t.Fatalf("%d instances were made", n)
	}
}

// test_terminal_state_persists_across_sessions
func TestTerminalStatePersistsAcrossSessions(t *testing.T) {
	r := newRig(t)
	a := r.open("t1", thread.Use{Policy: policy(time.Second, time.Hour)})
	r.save(a.Terminal.ID, "/tmp", map[string]string{"X": "1"}, "Y")
	r.clock.pass(2 * time.Second)
	b := r.open("t1", thread.Use{})
	if b.Session.ID == a.Session.ID || b.Terminal.ID != a.Terminal.ID || b.Lease.ID != a.Lease.ID {
		t.Fatalf("first %+v\nthen %+v", a, b)
	}
	if s := b.Terminal.State; s.Cwd != "/tmp" || s.Env["X"] != "1" || !slices.Equal(s.Unset, []string{"Y"}) ||
		s.Version != 1 {
		t.Fatalf("state %+v", s)
	}
	old, err := r.session(a.Session.ID)
	r.ok(err)
	if old.Status != thread.Closed || old.CloseReason != thread.ReasonIdle || old.EndedAt.IsZero() {
		t.Fatalf("closed session %+v", old)
	}
}

// test_lease_shared_across_terminals
func TestLeaseSharedAcrossTerminals(t *testing.T) {
	r := newRig(t)
	a := r.open("t1", thread.Use{Policy: policy(time.Second, time.Hour)})
	b := r.open("t2", thread.Use{Lease: a.Lease.ID})
	if b.Lease.ID != a.Lease.ID || b.Instance.ID != a.Instance.ID || b.Terminal.ID == a.Terminal.ID ||
		b.Terminal.Lease != a.Lease.ID {
		t.Fatalf("first %+v\nsecond %+v", a, b)
	}
	// The end of one does not pause what the other uses, and nobody pauses it under the other.
	r.clock.pass(2 * time.Second)
	if s := r.sweep(); s.Closed != 1 || r.cloud.count("pause") != 0 {
		t.Fatalf("swept %+v, %d pauses", s, r.cloud.count("pause"))
	}
	r.open("t1", thread.Use{})
	r.refused(r.lifecycle.pause(t.Context(), "t1"), thread.ErrInUse)
	r.refused(r.DeleteLease(t.Context(), a.Lease.ID), thread.ErrInUse)
	// With the last of them it is paused.
	r.clock.pass(2 * time.Hour)
	r.sweep()
	if n := r.cloud.count("pause"); n != 1 {
		t.Fatalf("%d pauses after the last session", n)
	}
}

// test_session_touch_updates_activity
func TestSessionTouchUpdatesActivity(t *testing.T) {
	r := newRig(t)
	a := r.open("t1", thread.Use{})
	r.clock.pass(time.Minute)
	r.ok(r.expiry.touchSession("t1"))
	if got := r.status("t1").Session.LastActiveAt; !got.Equal(a.Session.LastActiveAt.Add(time.Minute)) {
		t.Fatalf("last active %s", got)
	}
	r.refused(r.expiry.touchSession("nobody"), thread.ErrNotFound)
}

// test_session_expiry_cleanup
func TestSessionExpiryCleanup(t *testing.T) {
	r := newRig(t)
	a := r.open("t1", thread.Use{Policy: policy(time.Second, time.Hour)})
	_, err := r.began(a.Terminal.ID, process{PID: 7})
	r.ok(err)
	r.clock.pass(2 * time.Second)
	if s := r.sweep(); s.Closed != 1 {
		t.Fatalf("swept %+v", s)
	}
	if got := r.notes(); !slices.Equal(got, []string{"create", "pause", "end idle_timeout"}) {
		t.Fatalf("order %v", got)
	}
	_, err = r.live(t.Context(), "t1")
	r.refused(err, thread.ErrExpired)
	l := r.status("t1")
	if l.Session.Status != thread.Closed || l.Lease.Observed != thread.Frozen {
		t.Fatalf("after expiry %+v", l)
	}
	if back := r.open("t1", thread.Use{}); back.Lease.Observed != thread.Running || back.Instance.ID != a.Instance.ID {
		t.Fatalf("next use %+v", back)
	}
}

// test_pause_and_resume_session
func TestPauseAndResumeSession(t *testing.T) {
	r := newRig(t)
	a := r.open("t1", thread.Use{})
	r.save(a.Terminal.ID, "/tmp", map[string]string{"A": "b"})
	for range 2 { // the second changes nothing
		r.ok(r.lifecycle.pause(t.Context(), "t1"))
		if l := r.status("t1"); l.Session.Status != thread.Paused || l.Lease.Observed != thread.Frozen ||
			l.Lease.Desired != thread.WantPaused || l.Terminal.State.Cwd != "/tmp" {
			t.Fatalf("paused %+v", l)
		}
	}
	r.clock.pass(time.Second)
	r.ok(r.expiry.touchSession("t1"))
	if l := r.status("t1"); l.Session.Status != thread.Paused {
		t.Fatal("a touch woke a paused session")
	}
	for range 2 {
		r.ok(r.lifecycle.resume(t.Context(), "t1"))
		if l := r.status("t1"); l.Session.Status != thread.Active || l.Session.ID != a.Session.ID ||
			l.Lease.Observed != thread.Running || l.Instance.ID != a.Instance.ID {
			t.Fatalf("resumed %+v", l)
		}
	}
	if r.cloud.count("pause") != 1 || r.cloud.count("resume") != 1 {
		t.Fatalf("calls %v", r.cloud.calls)
	}
	// A use resumes by itself.
	r.ok(r.lifecycle.pause(t.Context(), "t1"))
	if l := r.open("t1", thread.Use{}); l.Session.Status != thread.Active || l.Lease.Observed != thread.Running ||
		l.Session.ID != a.Session.ID {
		t.Fatalf("used %+v", l)
	}
}

// test_destroy_session
func TestDestroySession(t *testing.T) {
	r := newRig(t)
	a := r.open("t1", thread.Use{})
	r.save(a.Terminal.ID, "/tmp", nil)
	r.ok(r.lifecycle.destroy(t.Context(), "t1"))
	l := r.status("t1")
	if l.Session.Status != thread.Closed || l.Session.CloseReason != thread.ReasonDestroyed ||
		l.Lease.Observed != thread.Dead || l.Lease.Status != thread.LeaseExpired || l.Terminal.ID != a.Terminal.ID {
		t.Fatalf("destroyed %+v", l)
	}
	r.refused(r.lifecycle.resume(t.Context(), "t1"), thread.ErrTransition)
	b := r.open("t1", thread.Use{})
	if b.Instance.ID == a.Instance.ID || b.Session.ID == a.Session.ID || b.Terminal.State.Cwd != "/tmp" ||
		b.Lease.ID != a.Lease.ID || b.Lease.Status != thread.LeaseActive {
		t.Fatalf("next use %+v", b)
	}
	list, err := r.instances(a.Lease.ID)
	r.ok(err)
	if len(list) != 2 || list[1].State != thread.Dead || list[1].EndedAt.IsZero() {
		t.Fatalf("instances %+v", list)
	}
}

// test_multiple_threads_independent_sessions
func TestMultipleThreadsIndependentSessions(t *testing.T) {
	r := newRig(t)
	seen := map[string]bool{}
	for i := range 3 {
		l := r.open(fmt.Sprintf("t%d", i), thread.Use{})
		for _, id := range []string{l.Session.ID, l.Terminal.ID, l.Lease.ID, l.Instance.ID} {
			if seen[id] {
				t.Fatalf("%s twice", id)
			}
			seen[id] = true
		}
	}
	r.ok(r.lifecycle.destroy(t.Context(), "t1"))
	if r.status("t0").Session.Status != thread.Active || r.status("t1").Session.Status != thread.Closed {
		t.Fatal("one thread's end is another's")
	}
}

// test_thread_switch_preserves_state
func TestThreadSwitchPreservesState(t *testing.T) {
	r := newRig(t)
	for i := range 6 {
		threadID := []string{"a", "b"}[i%2]
		l := r.open(threadID, thread.Use{})
		if want := fmt.Sprintf("/%s/%d", threadID, i-2); i >= 2 && l.Terminal.State.Cwd != want {
			t.Fatalf("%s is in %s, want %s", threadID, l.Terminal.State.Cwd, want)
		}
		r.save(l.Terminal.ID, fmt.Sprintf("/%s/%d", threadID, i), nil)
	}
}

// test_missing_terminal_recreates_with_same_id
func TestMissingTerminalRecreatesWithSameID(t *testing.T) {
	for _, by := range []string{"use", "look"} {
		t.Run(by, func(t *testing.T) {
			r := newRig(t)
			a := r.open("t1", thread.Use{})
			r.save(a.Terminal.ID, "/tmp", map[string]string{"X": "1"})
			r.restart(func() { r.raw(`DELETE FROM terminals`) })
			l := thread.Layers{}
			if by == "use" {
				l = r.open("t1", thread.Use{})
			} else {
				l = r.status("t1")
			}
			if l.Terminal.ID != a.Terminal.ID || l.Terminal.State.Cwd != "/tmp" || l.Terminal.State.Env["X"] != "1" ||
				l.Terminal.State.Version != 1 || l.Session.ID != a.Session.ID {
				t.Fatalf("back %+v", l)
			}
			if types := r.types("t1"); types[len(types)-1] != thread.TerminalRecreated && by == "look" {
				t.Fatalf("events %v", types)
			}
			r.intact()
		})
	}
}

// test_missing_lease_recreates_with_same_id
func TestMissingLeaseRecreatesWithSameID(t *testing.T) {
	for _, by := range []string{"use", "look"} {
		t.Run(by, func(t *testing.T) {
			r := newRig(t)
			a := r.open("t1", thread.Use{})
			r.restart(func() { r.raw(`DELETE FROM leases`) })
			if by == "look" {
				if l := r.status("t1"); l.Lease.ID != a.Lease.ID || l.Instance.ID != a.Instance.ID ||
					l.Lease.Observed != thread.Unknown {
					t.Fatalf("back %+v", l)
				}
			}
			l := r.open("t1", thread.Use{})
			if l.Lease.ID != a.Lease.ID || l.Instance.ID != a.Instance.ID || l.Lease.Observed != thread.Running ||
				r.cloud.count("create") != 1 {
				t.Fatalf("used %+v", l)
			}
			r.intact()
		})
	}
}

// intact checks that every reference of the file points at a row.
func (r *rig) intact() {
	r.t.Helper()
	r.restart(func() { checkFile(r.t, r.path) })
}

func TestSeveralTerminalsOneActive(t *testing.T) {
	r := newRig(t)
	a := r.open("t1", thread.Use{Kind: thread.PTY, Terminal: "p1", Cwd: "/one"})
	b := r.open("t1", thread.Use{Kind: thread.Shell, Cwd: "/two"})
	if a.Terminal.ID == b.Terminal.ID || b.Lease.ID != a.Lease.ID || b.Session.ID != a.Session.ID {
		t.Fatalf("%+v\n%+v", a, b)
	}
	if c := r.open("t1", thread.Use{Kind: thread.Shell}); c.Terminal.ID != b.Terminal.ID {
		t.Fatal("a second shell was made")
	}
	if got := r.status("t1").Terminal; got.ID != "p1" || got.State.Cwd != "/one" {
		t.Fatalf("active %+v", got)
	}
	r.ok(r.activate("t1", b.Terminal.ID))
	if got := r.status("t1").Terminal; got.ID != b.Terminal.ID {
		t.Fatalf("active %+v", got)
	}
	r.open("t2", thread.Use{})
	r.refused(r.activate("t2", "p1"), thread.ErrNotFound)
	_, err := r.lifecycle.open(t.Context(), "t2", thread.Use{Terminal: "p1"})
	r.refused(err, thread.ErrConflict)
	r.ok(r.deleteTerminal(b.Terminal.ID))
	if got := r.status("t1").Terminal; got.ID != "p1" {
		t.Fatalf("active after its deletion %+v", got)
	}
	list, err := r.page("t1", "", 0)
	r.ok(err)
	if len(list) != 1 {
		t.Fatalf("terminals %+v", list)
	}
}

func TestDeleteThread(t *testing.T) {
	r := newRig(t)
	a := r.open("t1", thread.Use{})
	b := r.open("t2", thread.Use{Lease: a.Lease.ID})
	r.command(a.Terminal.ID)
	r.ok(r.lifecycle.delete(t.Context(), "t1"))
	if _, err := r.lifecycle.status(t.Context(), "t1", thread.Use{}); err == nil {
		t.Fatal("it is there")
	}
	if _, err := r.database.lease(a.Lease.ID); err != nil {
		t.Fatal("the lease of another thread went with it")
	}
	r.ok(r.lifecycle.delete(t.Context(), "t2"))
	_, err := r.terminal(b.Terminal.ID)
	r.refused(err, thread.ErrNotFound)
	r.refused(r.lifecycle.delete(t.Context(), "t2"), thread.ErrNotFound)
	r.intact()
}
