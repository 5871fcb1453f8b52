package lifecycle_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/internal/thread/lifecycle"
)

func TestRuntimes(t *testing.T) {
	r := newRig(t)
	id := r.open("t1", thread.Use{}).Terminal.ID
	a, err := r.BeginRuntime(id, lifecycle.Process{})
	r.ok(err)
	if a.State != thread.Starting {
		t.Fatalf("%+v", a)
	}
	r.ok(r.StartedRuntime(a.ID, lifecycle.Process{PID: 7, PIDStart: 100, Boot: "b"}))
	b, err := r.BeginRuntime(id, lifecycle.Process{PID: 8}) // the first was never ended
	r.ok(err)
	code := 3
	r.ok(r.EndRuntime(b.ID, lifecycle.RuntimeEnd{Code: &code}))
	r.ok(r.EndRuntime(b.ID, lifecycle.RuntimeEnd{Lost: true})) // ignored
	got, err := r.LastRuntime(id)
	r.ok(err)
	if got.State != thread.Exited || *got.ExitCode != 3 || got.Generation != 2 || got.EndedAt.IsZero() {
		t.Fatalf("%+v", got)
	}
	r.refused(r.StartedRuntime(b.ID, lifecycle.Process{PID: 9}), thread.ErrTransition)
	types := r.types("t1")
	if want := []string{"runtime.started", "runtime.lost", "runtime.started",
		"runtime.exited"}; !slices.Equal(types[len(types)-4:], want) {
		t.Fatalf("events %v", types)
	}
}

// TestAnEndSeesWhatHasJustBegun: a process that is not in the store yet when its session is over ends with it.
func TestAnEndSeesWhatHasJustBegun(t *testing.T) {
	var r *rig
	var ended []thread.Runtime
	terminal := ""
	r = newRig(t, func(c *lifecycle.Config) {
		c.Settle = func(context.Context) {
			_, err := r.BeginRuntime(terminal, lifecycle.Process{PID: 7})
			r.ok(err)
		}
		c.End = func(_ context.Context, _ string, list []thread.Runtime, _ string) error { ended = list; return nil }
	})
	terminal = r.open("t1", thread.Use{}).Terminal.ID
	r.ok(r.Destroy(t.Context(), "t1"))
	if len(ended) != 1 || ended[0].PID != 7 {
		t.Errorf("ended were %+v", ended)
	}
}

func TestRuntimeAndCommandTransitions(t *testing.T) {
	for name, c := range map[string]struct {
		all     []string
		allowed string
		arrow   func(from, to string) error
	}{
		"runtime": {[]string{"starting", "running", "adopted", "exited", "lost"},
			"starting>running starting>adopted starting>exited starting>lost running>adopted running>exited " +
				"running>lost adopted>exited adopted>lost ",
			func(a, b string) error { return lifecycle.RuntimeArrow(thread.RuntimeState(a), thread.RuntimeState(b)) }},
		"command": {[]string{"queued", "running", "done", "cancelled", "failed"},
			"queued>running queued>done queued>cancelled queued>failed running>done running>cancelled running>failed ",
			func(a, b string) error {
				return lifecycle.CommandArrow(thread.CommandStatus(a), thread.CommandStatus(b))
			}},
	} {
		table := map[string]bool{}
		for _, from := range c.all {
			for _, to := range c.all {
				if c.arrow(from, to) == nil && from != to {
					table[from+">"+to] = true
				}
			}
		}
		got := ""
		for _, from := range c.all {
			for _, to := range c.all {
				if table[from+">"+to] {
					got += from + ">" + to + " "
				}
			}
		}
		if got != c.allowed {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestCommands(t *testing.T) {
	r := newRig(t)
	id := r.open("t1", thread.Use{}).Terminal.ID
	run, err := r.BeginRuntime(id, lifecycle.Process{PID: 7})
	r.ok(err)
	k, err := r.BeginCommand(thread.Command{ID: "cmd_1", Terminal: id, Line: "make", Cwd: "/a",
		Status: thread.CommandQueued, Env: map[string]string{"SECRET": "x"}})
	r.ok(err)
	if k.Runtime != run.ID {
		t.Fatalf("%+v", k)
	}
	r.clock.pass(time.Second)
	_, err = r.BeginCommand(thread.Command{ID: "cmd_1", Terminal: id, Cwd: "/b", PID: 9, Status: thread.CommandRunning})
	r.ok(err)
	r.clock.pass(time.Second)
	code := 2
	r.ok(r.EndCommand("cmd_1", lifecycle.CommandEnd{Status: thread.CommandDone, ExitCode: &code, StdoutBytes: 10}))
	r.ok(r.EndCommand("cmd_1", lifecycle.CommandEnd{Status: thread.CommandFailed})) // ignored
	got, err := r.Command("cmd_1")
	r.ok(err)
	if got.Status != thread.CommandDone || *got.ExitCode != 2 || got.Line != "make" || got.Cwd != "/b" ||
		got.StdoutBytes != 10 || !maps.Equal(got.Env, k.Env) ||
		got.FinishedAt.Sub(got.StartedAt) != time.Second {
		t.Fatalf("%+v", got)
	}
	r.refused(second(r.BeginCommand(thread.Command{ID: "cmd_1", Terminal: id, Status: thread.CommandRunning})),
		thread.ErrTransition)
	r.refused(second(r.BeginCommand(thread.Command{Terminal: id, Status: thread.CommandDone})), thread.ErrInvalid)
	r.refused(r.EndCommand("cmd_1", lifecycle.CommandEnd{Status: thread.CommandRunning}), thread.ErrInvalid)
	r.refused(r.EndCommand("cmd_0", lifecycle.CommandEnd{Status: thread.CommandDone}), thread.ErrNotFound)
	if st := r.status("t1").Session; st.Used.Commands != 1 || !st.LastActiveAt.Equal(noon.Add(2*time.Second)) {
		t.Fatalf("session %+v", st)
	}
	r.ok(r.Destroy(t.Context(), "t1"))
	r.refused(second(r.BeginCommand(thread.Command{Terminal: id, Status: thread.CommandRunning})), thread.ErrExpired)
}

func TestCommandPages(t *testing.T) {
	r := newRig(t)
	a, b := r.open("t1", thread.Use{Terminal: "a"}).Terminal.ID, r.open("t1", thread.Use{Terminal: "b"}).Terminal.ID
	for i := range 6 {
		_, err := r.BeginCommand(thread.Command{ID: fmt.Sprint("c", i), Terminal: []string{a, b}[i%2],
			Status: thread.CommandRunning})
		r.ok(err)
	}
	for _, c := range []struct {
		q    thread.CommandQuery
		want []string
	}{
		{thread.CommandQuery{}, []string{"c0", "c1", "c2", "c3", "c4", "c5"}},
		{thread.CommandQuery{Limit: 2}, []string{"c4", "c5"}},
		{thread.CommandQuery{Limit: 2, Before: "c4"}, []string{"c2", "c3"}},
		{thread.CommandQuery{Terminal: b, Limit: 2}, []string{"c3", "c5"}},
	} {
		c.q.Thread = "t1"
		list, err := r.Commands(c.q)
		r.ok(err)
		var ids []string
		for _, k := range list {
			ids = append(ids, k.ID)
		}
		if !slices.Equal(ids, c.want) {
			t.Errorf("%+v: %v, want %v", c.q, ids, c.want)
		}
	}
	r.refused(second(r.Commands(thread.CommandQuery{Thread: "t2"})), thread.ErrNotFound)
	r.refused(second(r.Commands(thread.CommandQuery{Thread: "t1", Before: "c9"})), thread.ErrNotFound)
}

func TestRecover(t *testing.T) {
	r := newRig(t)
	for _, id := range []string{"lives", "gone", "other", "fast"} {
		r.open("t1", thread.Use{Terminal: id})
	}
	begin := func(id string, p lifecycle.Process) thread.Runtime {
		run, err := r.BeginRuntime(id, p)
		r.ok(err)
		return run
	}
	lives := begin("lives", lifecycle.Process{PID: 1, PIDStart: 5, Boot: "b"})
	gone := begin("gone", lifecycle.Process{PID: 2})
	other := begin("other", lifecycle.Process{PID: 3})
	fast := begin("fast", lifecycle.Process{}) // the server died before it knew the PID
	k1, k2 := r.command("lives"), r.command("gone")
	r.restart()
	done, err := r.Recover(lifecycle.Alive{
		Processes: map[string]lifecycle.Process{"lives": {PID: 1, PIDStart: 5, Boot: "b"},
			"other": {PID: 3, PIDStart: 9}, "fast": {PID: 4}, "new": {PID: 5}},
		Commands: []string{k1.ID},
	})
	r.ok(err)
	if done.Adopted != 3 || done.Lost != 2 || done.Failed != 1 || !slices.Equal(done.Unknown, []string{"new"}) {
		t.Fatalf("%+v", done)
	}
	for id, want := range map[string]thread.RuntimeState{lives.ID: thread.Adopted, gone.ID: thread.Lost,
		other.ID: thread.Lost, fast.ID: thread.Adopted} {
		list, err := r.runtime(id)
		r.ok(err)
		if list.State != want || want == thread.Lost && (list.ExitCode != nil || list.EndedAt.IsZero()) {
			t.Errorf("%+v, want %s", list, want)
		}
	}
	if run, err := r.LastRuntime("other"); err != nil || run.Generation != 2 || run.PIDStart != 9 {
		t.Errorf("%+v %v", run, err)
	}
	if k, err := r.Command(k2.ID); err != nil || k.Status != thread.CommandFailed || k.ExitCode != nil {
		t.Errorf("%+v %v", k, err)
	}
	if k, err := r.Command(k1.ID); err != nil || k.Status != thread.CommandRunning {
		t.Errorf("%+v %v", k, err)
	}
	// The provider is asked before anybody believes that compute still runs.
	r.cloud.set(r.status("t1").Instance.Session, thread.Dead)
	if l := r.open("t1", thread.Use{}); r.cloud.count("create") != 2 || l.Lease.Observed != thread.Running {
		t.Fatalf("%+v", l.Lease)
	}
	// Nor is what a dead instance was told to do believed to have been done.
	r.restart()
	_, err = r.Recover(lifecycle.Alive{Processes: map[string]lifecycle.Process{"lives": {PID: 1, PIDStart: 5,
		Boot: "b"}}, Commands: []string{k1.ID}})
	r.ok(err)
	r.cloud.set(r.status("t1").Instance.Session, thread.Dead)
	r.refused(r.Pause(t.Context(), "t1"), thread.ErrTransition)
	if r.cloud.count("pause") != 0 {
		t.Fatal("a dead instance was paused")
	}
	again, err := r.Recover(lifecycle.Alive{Processes: map[string]lifecycle.Process{"lives": {PID: 1, PIDStart: 5,
		Boot: "b"}}, Commands: []string{k1.ID}})
	r.ok(err)
	if again.Adopted != 1 {
		t.Fatalf("%+v", again)
	}
}

func (r *rig) runtime(id string) (run thread.Runtime, err error) {
	return run, r.store.View(func(tx thread.Tx) error { run, err = tx.Runtime(id); return err })
}

func TestEventPages(t *testing.T) {
	r := newRig(t)
	id := r.open("t1", thread.Use{}).Terminal.ID
	for i := range 20 {
		r.save(id, fmt.Sprint("/", i), nil)
	}
	all := r.types("t1")
	at := int64(0)
	var got []string
	for {
		list, err := r.Events("t1", at, 7)
		r.ok(err)
		if len(list) == 0 {
			break
		}
		for _, e := range list {
			got = append(got, e.Type)
		}
		at = list[len(list)-1].Seq
	}
	if !slices.Equal(got, all) {
		t.Fatalf("%v\n%v", got, all)
	}
	r.refused(second(r.Events("t1", -1, 0)), thread.ErrInvalid)
	r.refused(second(r.Events("t2", 0, 0)), thread.ErrNotFound)
	r.restart()
	r.save(id, "/new", nil)
	list, err := r.Events("t1", at, 0)
	r.ok(err)
	if len(list) != 1 || list[0].Seq != at+1 || list[0].Data.Cwd != "/new" || list[0].Data.Version != 21 ||
		!list[0].At.Equal(r.clock.now()) {
		t.Fatalf("%+v", list)
	}
}

// The clock under the manager may do what it likes.
func TestClockIsSteady(t *testing.T) {
	c := &handClock{at: noon}
	now := lifecycle.Steady(c.now)
	last := now()
	for _, d := range []time.Duration{time.Second, -time.Hour, time.Millisecond, -1, 0, -300 * 24 * time.Hour,
		time.Minute} {
		c.pass(d)
		t1 := now()
		if t1.Before(last) || d > 0 && t1.Sub(last) != d || d < 0 && !t1.Equal(last) && d < -time.Microsecond {
			t.Fatalf("after a step of %s: %s, was %s", d, t1, last)
		}
		last = t1
	}
}

func TestClockSetBack(t *testing.T) {
	r := newRig(t)
	r.open("t1", thread.Use{Policy: policy(time.Minute, time.Hour)})
	r.clock.pass(-24 * time.Hour) // under a running server: time goes on from where it was
	r.ok(r.Touch("t1"))
	r.clock.pass(59 * time.Second)
	if s := r.sweep(); s.Closed != 0 {
		t.Fatal("closed early")
	}
	r.clock.pass(2 * time.Second)
	if s := r.sweep(); s.Closed != 1 {
		t.Fatal("the clock has stopped")
	}
	r.open("t1", thread.Use{})
	r.clock.pass(-24 * time.Hour)
	r.restart() // under a new one: what began in the future begins now
	if s := r.status("t1").Session; !s.Live() || s.LastActiveAt.After(r.clock.now()) ||
		s.StartedAt.After(r.clock.now()) {
		t.Fatalf("%+v at %s", s, r.clock.now())
	}
	r.clock.pass(61 * time.Second)
	if s := r.sweep(); s.Closed != 1 {
		t.Fatal("it lives for as long as the clock was wrong")
	}
}
