package service

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/thread"
)

func TestBatchWritesWhatHasHappened(t *testing.T) {
	r := newRig(t)
	l, err := r.lifecycle.open(context.Background(), "t", thread.Use{})
	r.ok(err)
	id, code := l.Terminal.ID, 3
	p := process{PID: 7, PIDStart: 9, Boot: "b"}
	done := thread.Command{ID: "c1", Terminal: id, Line: "x", Cwd: "/", Status: thread.CommandDone, ExitCode: &code,
		StartedAt: noon, FinishedAt: noon.Add(time.Second)}
	running := done
	running.ID, running.Status, running.ExitCode = "c2", thread.CommandRunning, nil
	all := func(c *change) error {
		return errors.Join(c.began(id, p), c.command(done), c.command(running), c.command(done),
			c.saved(id, inDir("/x")),
			c.began("nobody", p), c.ended("nobody", runtimeEnd{}), c.saved("nobody", inDir("/")), c.removed("nobody"),
			c.command(thread.Command{ID: "c9", Terminal: "nobody"}))
	}
	before, err := r.ListEvents("t", 0, 0)
	r.ok(err)
	r.ok(r.update(all))
	r.ok(r.update(all)) // says nothing new
	running.Status = thread.CommandCancelled
	r.ok(r.update(func(c *change) error {
		return errors.Join(c.command(running), c.ended(id, runtimeEnd{code: &code}))
	}))
	events, err := r.ListEvents("t", int64(len(before)), 0)
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
	k, err := r.commandRow("c1")
	if run, _ := r.lastRuntime(id); err != nil || k.Status != thread.CommandDone || *k.ExitCode != 3 ||
		k.Runtime != run.ID || run.State != thread.Exited {
		t.Errorf("%+v of %+v, %v", k, run, err)
	}
	r.ok(r.update(func(c *change) error { return errors.Join(c.began(id, p), c.removed(id)) }))
	if _, err := r.terminal(id); !errors.Is(err, thread.ErrNotFound) {
		t.Errorf("the deleted one: %v", err)
	}
	if err := r.update(func(c *change) error {
		return errors.Join(c.began(id, p),
			errors.New("no"))
	}); err == nil {
		t.Error("a batch that failed has no error")
	}
}

func TestAdmit(t *testing.T) {
	r := newRig(t)
	if err := r.memory.authorizeCommand("t"); !errors.Is(err, thread.ErrExpired) {
		t.Errorf("no thread: %v", err)
	}
	_, err := r.lifecycle.open(context.Background(), "t",
		thread.Use{Policy: &thread.Policy{Idle: time.Minute, Max: time.Hour, Budget: thread.Usage{Commands: 2}}})
	r.ok(err)
	r.clock.pass(50 * time.Second)
	r.ok(r.memory.authorizeCommand("t"))
	r.clock.pass(50 * time.Second)
	r.ok(r.touchInput("t"))
	r.clock.pass(50 * time.Second)
	r.ok(r.memory.authorizeCommand("t")) // both were activity
	if err := r.memory.authorizeCommand("t"); !errors.Is(err, thread.ErrBudget) {
		t.Errorf("one too many: %v", err)
	}
	if err := r.touchInput("t"); !errors.Is(err, thread.ErrExpired) {
		t.Errorf("after the budget: %v", err)
	}
	swept := r.sweep()
	if s, err := r.expiry.sessionsOf("t"); err != nil || swept.Closed != 1 || s[0].CloseReason != thread.ReasonBudget {
		t.Errorf("%+v, %+v, %v", swept, s, err)
	}
	_, err = r.lifecycle.open(context.Background(), "t", thread.Use{})
	r.ok(err)
	r.ok(r.lifecycle.pause(context.Background(), "t"))
	for what, do := range map[string]func(string) error{"admit": r.memory.authorizeCommand, "attend": r.touchInput} {
		if err := do("t"); !errors.Is(err, thread.ErrExpired) {
			t.Errorf("%s of a paused one: %v", what, err)
		}
	}
}

// TestChosenPolicies: what the server gives to all was chosen by nobody, unless somebody set it.
func TestChosenPolicies(t *testing.T) {
	chosen := func(r *rig, id string, u thread.Use) bool {
		l, err := r.lifecycle.open(context.Background(), id, u)
		r.ok(err)
		th, err := r.thread(l.Thread.ID)
		r.ok(err)
		return th.Chosen
	}
	p := thread.DefaultPolicy()
	r := newRig(t)
	if chosen(r, "a", thread.Use{}) || !chosen(r, "b", thread.Use{Policy: &p}) {
		t.Error("a policy counts as chosen exactly when it is given")
	}
	r.ok(r.lifecycle.setPolicy("a", p))
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
	r.chosen = true
	r.restart()
	return r
}
