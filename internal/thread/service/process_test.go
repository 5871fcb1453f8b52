package service

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/thread"
)

func TestRuntimes(t *testing.T) {
	r := newRig(t)
	id := r.open("t1", thread.Use{}).Terminal.ID
	_, err := r.began(id, process{PID: 7, PIDStart: 100, Boot: "b"})
	r.ok(err)
	b, err := r.began(id, process{PID: 8}) // the first never ended
	r.ok(err)
	code := 3
	r.ok(r.endRuntime(b, runtimeEnd{code: &code}))
	r.ok(r.endRuntime(b, runtimeEnd{lost: true})) // ignored
	got, err := r.lastRuntime(id)
	r.ok(err)
	if got.State != thread.Exited || *got.ExitCode != 3 || got.Generation != 2 || got.EndedAt.IsZero() {
		t.Fatalf("%+v", got)
	}
	types := r.types("t1")
	if want := []string{"runtime.started", "runtime.lost", "runtime.started",
		"runtime.exited"}; !slices.Equal(types[len(types)-4:], want) {
		t.Fatalf("events %v", types)
	}
}

// TestARowWithItsProcess: a terminal that runs gets its row and its process at once, in a new session too; one that has
// a row already keeps the process that it has.
func TestARowWithItsProcess(t *testing.T) {
	r := newRig(t)
	use := thread.Use{Kind: thread.PTY, Terminal: "p1", New: true, Process: &thread.Runtime{PID: 7, Boot: "b"}}
	l := r.open("t1", use)
	got, err := r.lastRuntime("p1")
	r.ok(err)
	if got.PID != 7 || !got.Live() || got.Session != l.Session.ID || got.Generation != 1 {
		t.Errorf("%+v in session %s", got, l.Session.ID)
	}
	use.Process = &thread.Runtime{PID: 8}
	r.open("t1", use)
	if got, err = r.lastRuntime("p1"); err != nil || got.PID != 7 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestAnEndSeesWhatHasJustBegun: a process that is not in the store yet when its session is over ends with it.
func TestAnEndSeesWhatHasJustBegun(t *testing.T) {
	var r *rig
	var ended []thread.Runtime
	terminal := ""
	r = newRig(t, func(r *rig) {
		r.settle = func(context.Context) {
			_, err := r.began(terminal, process{PID: 7})
			r.ok(err)
		}
		r.end = func(_ context.Context, list []thread.Runtime) error { ended = list; return nil }
	})
	terminal = r.open("t1", thread.Use{}).Terminal.ID
	r.ok(r.lifecycle.destroy(t.Context(), "t1"))
	if len(ended) != 1 || ended[0].PID != 7 {
		t.Errorf("ended were %+v", ended)
	}
}

func TestRuntimeTransitions(t *testing.T) {
	all := []thread.RuntimeState{thread.Starting, thread.Up, thread.Adopted, thread.Exited, thread.Lost}
	got := ""
	for _, from := range all {
		for _, to := range all {
			if _, err := (thread.Runtime{State: from}).To(to); err == nil && from != to {
				got += string(from + ">" + to + " ")
			}
		}
	}
	if got != "starting>running starting>adopted starting>exited starting>lost running>adopted running>exited "+
		"running>lost adopted>exited adopted>lost " {
		t.Error(got)
	}
}

func TestCommands(t *testing.T) {
	r := newRig(t)
	id := r.open("t1", thread.Use{}).Terminal.ID
	run, err := r.began(id, process{PID: 7})
	r.ok(err)
	k := thread.Command{ID: "cmd_1", Terminal: id, Line: "make", Cwd: "/a", Status: thread.CommandQueued,
		Env: map[string]string{"SECRET": "x"}}
	if got := r.begin(k); got.Runtime != run.ID || got.Status != thread.CommandQueued {
		t.Fatalf("%+v", got)
	}
	r.clock.pass(time.Second)
	r.begin(thread.Command{ID: "cmd_1", Terminal: id, Cwd: "/b", PID: 9, Status: thread.CommandRunning,
		StartedAt: r.clock.now()})
	r.clock.pass(time.Second)
	code := 2
	r.begin(thread.Command{ID: "cmd_1", Terminal: id, Cwd: "/b", Status: thread.CommandDone, ExitCode: &code,
		StdoutBytes: 10, StartedAt: noon.Add(time.Second), FinishedAt: r.clock.now()})
	r.ok(r.finish("cmd_1", thread.CommandFailed)) // ignored, as is everything after the end
	r.begin(thread.Command{ID: "cmd_1", Terminal: id, Status: thread.CommandRunning})
	got, err := r.commandRow("cmd_1")
	r.ok(err)
	if got.Status != thread.CommandDone || *got.ExitCode != 2 || got.Line != "make" || got.Cwd != "/b" ||
		got.StdoutBytes != 10 || !maps.Equal(got.Env, k.Env) ||
		got.FinishedAt.Sub(got.StartedAt) != time.Second {
		t.Fatalf("%+v", got)
	}
	other := r.open("t1", thread.Use{Terminal: "other"}).Terminal.ID
	for name, c := range map[string]struct {
		k    thread.Command
		want error
	}{
		"of another terminal": {thread.Command{ID: "cmd_1", Terminal: other}, thread.ErrConflict},
		"a bad id":            {thread.Command{ID: "a/b", Terminal: id}, thread.ErrInvalid},
	} {
		if err := r.update(func(w *change) error { return w.command(c.k) }); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCommandPages(t *testing.T) {
	r := newRig(t)
	a, b := r.open("t1", thread.Use{Terminal: "a"}).Terminal.ID, r.open("t1", thread.Use{Terminal: "b"}).Terminal.ID
	for i := range 6 {
		r.begin(thread.Command{ID: fmt.Sprint("c", i), Terminal: []string{a, b}[i%2], Status: thread.CommandRunning})
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
		list, err := r.commands(c.q)
		r.ok(err)
		var ids []string
		for _, k := range list {
			ids = append(ids, k.ID)
		}
		if !slices.Equal(ids, c.want) {
			t.Errorf("%+v: %v, want %v", c.q, ids, c.want)
		}
	}
	r.refused(second(r.commands(thread.CommandQuery{Thread: "t2"})), thread.ErrNotFound)
	r.refused(second(r.commands(thread.CommandQuery{Thread: "t1", Before: "c9"})), thread.ErrNotFound)
}

func TestRecover(t *testing.T) {
	r := newRig(t)
	for _, id := range []string{"lives", "gone", "other", "fast"} {
		r.open("t1", thread.Use{Terminal: id})
	}
	begin := func(id string, p process) thread.Runtime {
		run, err := r.began(id, p)
		r.ok(err)
		return run
	}
	lives := begin("lives", process{PID: 1, PIDStart: 5, Boot: "b"})
	gone := begin("gone", process{PID: 2})
	other := begin("other", process{PID: 3})
	fast := begin("fast", process{PID: 4})
	k1, k2 := r.command("lives"), r.command("gone")
	r.restart(func() { // as an old server left it
		r.raw(`UPDATE runtimes SET state = 'starting', pid = 0 WHERE id = ?`, fast.ID)
	})
	recover := func(a alive) { t.Helper(); r.ok(r.update(func(c *change) error { return c.recover(a) })) }
	recover(alive{
		processes: map[string]process{"lives": {PID: 1, PIDStart: 5, Boot: "b"},
			"other": {PID: 3, PIDStart: 9}, "fast": {PID: 4}, "new": {PID: 5}},
		commands: map[string]bool{k1.ID: true},
	})
	if _, err := r.lastRuntime("new"); !errors.Is(err, thread.ErrNotFound) {
		t.Errorf("a process without a terminal: %v", err)
	}
	for id, want := range map[string]thread.RuntimeState{lives.ID: thread.Adopted, gone.ID: thread.Lost,
		other.ID: thread.Lost, fast.ID: thread.Adopted} {
		list, err := r.runtime(id)
		r.ok(err)
		if list.State != want || want == thread.Lost && (list.ExitCode != nil || list.EndedAt.IsZero()) {
			t.Errorf("%+v, want %s", list, want)
		}
	}
	if run, err := r.lastRuntime("other"); err != nil || run.Generation != 2 || run.PIDStart != 9 {
		t.Errorf("%+v %v", run, err)
	}
	if k, err := r.commandRow(k2.ID); err != nil || k.Status != thread.CommandFailed || k.ExitCode != nil {
		t.Errorf("%+v %v", k, err)
	}
	if k, err := r.commandRow(k1.ID); err != nil || k.Status != thread.CommandRunning {
		t.Errorf("%+v %v", k, err)
	}
	// The provider is asked before anybody believes that compute still runs.
	r.cloud.set(r.status("t1").Instance.Session, thread.Dead)
	if l := r.open("t1", thread.Use{}); r.cloud.count("create") != 2 || l.Lease.Observed != thread.Running {
		t.Fatalf("%+v", l.Lease)
	}
	// Nor is what a dead instance was told to do believed to have been done.
	r.restart()
	recover(alive{processes: map[string]process{"lives": {PID: 1, PIDStart: 5, Boot: "b"}},
		commands: map[string]bool{k1.ID: true}})
	r.cloud.set(r.status("t1").Instance.Session, thread.Dead)
	r.refused(r.lifecycle.pause(t.Context(), "t1"), thread.ErrTransition)
	if r.cloud.count("pause") != 0 {
		t.Fatal("a dead instance was paused")
	}
	before := len(r.types("t1"))
	recover(alive{processes: map[string]process{"lives": {PID: 1, PIDStart: 5, Boot: "b"}},
		commands: map[string]bool{k1.ID: true}})
	if run, err := r.lastRuntime("lives"); err != nil || run.State != thread.Adopted || len(r.types("t1")) != before {
		t.Fatalf("%+v %v", run, err)
	}
}

func (r *rig) runtime(id string) (run thread.Runtime, err error) {
	db, err := sql.Open("sqlite", r.path)
	r.ok(err)
	defer db.Close()
	var ended sql.NullString
	err = db.QueryRow(`SELECT state, exit_code, ended_at FROM runtimes WHERE id = ?`, id).Scan(&run.State,
		&run.ExitCode, &ended)
	if ended.Valid {
		run.EndedAt = noon
	}
	return run, err
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
		list, err := r.ListEvents("t1", at, 7)
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
	r.refused(second(r.ListEvents("t1", -1, 0)), thread.ErrInvalid)
	r.refused(second(r.ListEvents("t2", 0, 0)), thread.ErrNotFound)
	r.restart()
	r.save(id, "/new", nil)
	list, err := r.ListEvents("t1", at, 0)
	r.ok(err)
	if len(list) != 1 || list[0].Seq != at+1 || list[0].Data.Cwd != "/new" || list[0].Data.Version != 21 ||
		!list[0].At.Equal(r.clock.now()) {
		t.Fatalf("%+v", list)
	}
}

// The clock under the manager may do what it likes.
func TestClockIsSteady(t *testing.T) {
	c := &handClock{at: noon}
	now := (&steady{clock: c.now}).now
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
	r.ok(r.expiry.touchSession("t1"))
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
