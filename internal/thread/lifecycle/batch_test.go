package lifecycle_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/internal/thread/lifecycle"
)

func TestBatchWritesWhatHasHappened(t *testing.T) {
	r := newRig(t)
	l, err := r.Open(context.Background(), "t", thread.Use{})
	r.ok(err)
	id, code := l.Terminal.ID, 3
	p := lifecycle.Process{PID: 7, PIDStart: 9, Boot: "b"}
	done := thread.Command{ID: "c1", Terminal: id, Line: "x", Cwd: "/", Status: thread.CommandDone, ExitCode: &code,
		StartedAt: noon, FinishedAt: noon.Add(time.Second)}
	running := done
	running.ID, running.Status, running.ExitCode = "c2", thread.CommandRunning, nil
	all := func(b *lifecycle.Batch) error {
		return errors.Join(b.Begin(id, p), b.Command(done), b.Command(running), b.Command(done), b.SaveCwd(id, "/x"),
			b.Begin("nobody", p), b.End("nobody", lifecycle.RuntimeEnd{}), b.SaveCwd("nobody",
				"/"), b.DeleteTerminal("nobody"), b.Command(thread.Command{ID: "c9", Terminal: "nobody"}))
	}
	before, err := r.Events("t", 0, 0)
	r.ok(err)
	r.ok(r.Batch(all))
	r.ok(r.Batch(all)) // says nothing new
	running.Status = thread.CommandCancelled
	r.ok(r.Batch(func(b *lifecycle.Batch) error {
		return errors.Join(b.Command(running), b.End(id, lifecycle.RuntimeEnd{Code: &code}))
	}))
	events, err := r.Events("t", int64(len(before)), 0)
	r.ok(err)
	var kinds []string
	for _, e := range events {
		kinds = append(kinds, e.Type)
	}
	want := []string{thread.RuntimeStarted, thread.CommandStarted, thread.CommandFinished, thread.CommandStarted,
		thread.TerminalState, thread.CommandFinished, thread.RuntimeExited}
	if !slices.Equal(kinds, want) {
		t.Errorf("events %v, want %v", kinds, want)
	}
	k, err := r.Command("c1")
	if run, _ := r.LastRuntime(id); err != nil || k.Status != thread.CommandDone || *k.ExitCode != 3 ||
		k.Runtime != run.ID || run.State != thread.Exited {
		t.Errorf("%+v of %+v, %v", k, run, err)
	}
	r.ok(r.Batch(func(b *lifecycle.Batch) error { return errors.Join(b.Begin(id, p), b.DeleteTerminal(id)) }))
	if _, err := r.Terminal(id); !errors.Is(err, thread.ErrNotFound) {
		t.Errorf("the deleted one: %v", err)
	}
	if err := r.Batch(func(b *lifecycle.Batch) error {
		return errors.Join(b.Begin(id, p),
			errors.New("no"))
	}); err == nil {
		t.Error("a batch that failed has no error")
	}
}

func TestAdmit(t *testing.T) {
	r := newRig(t)
	if err := r.AuthorizeCommand("t"); !errors.Is(err, thread.ErrExpired) {
		t.Errorf("no thread: %v", err)
	}
	_, err := r.Open(context.Background(), "t",
		thread.Use{Policy: &thread.Policy{Idle: time.Minute, Max: time.Hour, Budget: thread.Usage{Commands: 2}}})
	r.ok(err)
	r.clock.pass(50 * time.Second)
	r.ok(r.AuthorizeCommand("t"))
	r.clock.pass(50 * time.Second)
	r.ok(r.TouchInput("t"))
	r.clock.pass(50 * time.Second)
	r.ok(r.AuthorizeCommand("t")) // both were activity
	if err := r.AuthorizeCommand("t"); !errors.Is(err, thread.ErrBudget) {
		t.Errorf("one too many: %v", err)
	}
	if err := r.TouchInput("t"); !errors.Is(err, thread.ErrExpired) {
		t.Errorf("after the budget: %v", err)
	}
	swept, err := r.Sweep(context.Background())
	r.ok(err)
	if s, err := r.Sessions("t"); err != nil || swept.Closed != 1 || s[0].CloseReason != thread.ReasonBudget {
		t.Errorf("%+v, %+v, %v", swept, s, err)
	}
	_, err = r.Open(context.Background(), "t", thread.Use{})
	r.ok(err)
	r.ok(r.Pause(context.Background(), "t"))
	for what, do := range map[string]func(string) error{"admit": r.AuthorizeCommand, "attend": r.TouchInput} {
		if err := do("t"); !errors.Is(err, thread.ErrExpired) {
			t.Errorf("%s of a paused one: %v", what, err)
		}
	}
}

// TestChosenPolicies: what the server gives to all was chosen by nobody, unless somebody set it.
func TestChosenPolicies(t *testing.T) {
	chosen := func(r *rig, id string, u thread.Use) bool {
		l, err := r.Open(context.Background(), id, u)
		r.ok(err)
		th, err := r.Thread(l.Thread.ID)
		r.ok(err)
		return th.Chosen
	}
	p := thread.DefaultPolicy()
	r := newRig(t)
	if chosen(r, "a", thread.Use{}) || !chosen(r, "b", thread.Use{Policy: &p}) {
		t.Error("a policy counts as chosen exactly when it is given")
	}
	r.ok(r.SetPolicy("a", p))
	if !chosen(r, "a", thread.Use{}) {
		t.Error("a policy that was set, the same as before, was chosen")
	}
	set := newSetRig(r)
	if !chosen(set, "c", thread.Use{}) {
		t.Error("a default that somebody set was chosen")
	}
}

// newSetRig is a rig of the same database whose default policy was set by somebody.
func newSetRig(r *rig) *rig {
	r.cfg.Chosen = true
	r.restart()
	return r
}
