package service

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/thread"
)

// lease makes one by itself.
func (r *rig) newLease(provider string) thread.Lease {
	r.t.Helper()
	reply, err := r.CreateLease("", provider, "")
	r.ok(err)
	l, err := r.database.lease(reply.LeaseID)
	r.ok(err)
	return l
}

func (r *rig) ensure(id string) (thread.Lease, thread.Instance) {
	r.t.Helper()
	l, i, err := r.Leases.ensure(r.t.Context(), id)
	r.ok(err)
	return l, i
}

// book is the lease's events as "type from>to source", with "!" for those that did not happen.
func (r *rig) book(lease string) []string {
	r.t.Helper()
	list, err := r.LeaseEvents(lease, 0, 0)
	r.ok(err)
	var out []string
	for i, e := range list {
		if i > 0 && e.Seq <= list[i-1].Seq {
			r.t.Fatal("the book is not in order")
		}
		bad := ""
		if e.Error != "" {
			bad = "!"
		}
		out = append(out, fmt.Sprintf("%s%s %s>%s %s", bad, e.Type, e.From, e.To, e.Source))
	}
	return out
}

// test_create_instance
func TestCreateInstance(t *testing.T) {
	r := newRig(t)
	l, i := r.ensure(r.newLease("e2b").ID)
	if i.Session != "e2b-i1" || i.State != thread.Running || i.Lease != l.ID || !i.CreatedAt.Equal(noon) ||
		!i.EndedAt.IsZero() || l.Instance != i.ID {
		t.Fatalf("lease %+v instance %+v", l, i)
	}
}

// test_create_lease
func TestCreateLease(t *testing.T) {
	r := newRig(t)
	_, err := r.CreateLease("mine", "daytona", `{"target":"eu"}`)
	r.ok(err)
	l, err := r.database.lease("mine")
	r.ok(err)
	if l.ID != "mine" || l.Provider != "daytona" || l.Observed != thread.Dead || l.Desired != thread.WantRunning ||
		l.Config != `{"target":"eu"}` || l.Instance != "" {
		t.Fatalf("lease %+v", l)
	}
	_, err = r.CreateLease("mine", "daytona", "")
	r.refused(err, thread.ErrConflict)
	_, err = r.CreateLease("", "nowhere", "")
	r.refused(err, thread.ErrNoProvider)
	_, err = r.CreateLease("", "e2b", "{")
	r.refused(err, thread.ErrInvalid)
}

// test_get_lease
func TestGetLease(t *testing.T) {
	r := newRig(t)
	want := r.newLease("e2b")
	got, err := r.database.lease(want.ID)
	r.ok(err)
	if got != want {
		t.Fatalf("%+v\n%+v", got, want)
	}
}

// test_get_nonexistent_lease
func TestGetNonexistentLease(t *testing.T) {
	r := newRig(t)
	for name, err := range map[string]error{
		"Lease":   second(r.database.lease("lease-0")),
		"Events":  second(r.LeaseEvents("lease-0", 0, 0)),
		"Pause":   second(r.Leases.pause(t.Context(), "lease-0", "api")),
		"Refresh": second(r.Leases.refresh(t.Context(), "lease-0", "api")),
		"Delete":  r.DeleteLease(t.Context(), "lease-0"),
		"Use":     second(r.lifecycle.open(t.Context(), "t1", thread.Use{Lease: "lease-0"})),
	} {
		if !errors.Is(err, thread.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := r.thread("t1") // the refused use left nothing
	r.refused(err, thread.ErrNotFound)
}

func second[T any](_ T, err error) error { return err }

// test_delete_lease
func TestDeleteLease(t *testing.T) {
	r := newRig(t)
	l := r.newLease("e2b")
	r.ensure(l.ID)
	r.refused(r.DeleteLease(t.Context(), l.ID), thread.ErrInUse) // its compute runs
	_, err := r.Leases.destroy(t.Context(), l.ID, "api")
	r.ok(err)
	r.ok(r.DeleteLease(t.Context(), l.ID))
	_, err = r.database.lease(l.ID)
	r.refused(err, thread.ErrNotFound)
}

// test_list_all_leases
func TestListAllLeases(t *testing.T) {
	r := newRig(t)
	want := []string{r.newLease("e2b").ID, "", ""}
	r.clock.pass(time.Second)
	want[1] = r.newLease("daytona").ID
	r.clock.pass(time.Second)
	want[2] = r.newLease("e2b").ID
	if got := r.listed(""); !slices.Equal(got, want) {
		t.Fatalf("%v, want %v", got, want)
	}
}

func (r *rig) listed(provider string) (ids []string) {
	list, _, err := r.ListLeases(thread.LeaseQuery{Provider: provider})
	r.ok(err)
	for _, l := range list {
		ids = append(ids, l.LeaseID)
	}
	return ids
}

// test_list_by_provider
func TestListByProvider(t *testing.T) {
	r := newRig(t)
	r.newLease("e2b")
	want := r.newLease("daytona").ID
	if got := r.listed("daytona"); !slices.Equal(got, []string{want}) {
		t.Fatal(got)
	}
	if got := r.listed("local"); len(got) != 0 {
		t.Fatal(got)
	}
}

// test_ensure_active_instance_creates_new
func TestEnsureActiveInstanceCreatesNew(t *testing.T) {
	r := newRig(t)
	l, _ := r.ensure(r.newLease("e2b").ID)
	if l.Observed != thread.Running || r.cloud.count("create") != 1 {
		t.Fatalf("lease %+v", l)
	}
}

// test_ensure_active_instance_reuses_running
func TestEnsureActiveInstanceReusesRunning(t *testing.T) {
	r := newRig(t)
	id := r.newLease("e2b").ID
	_, a := r.ensure(id)
	r.ensure(id)
	if r.cloud.count("status") != 0 {
		t.Fatal("the provider was asked for what it has just said")
	}
	r.clock.pass(4 * time.Second)
	_, b := r.ensure(id)
	if a.ID != b.ID || r.cloud.count("create") != 1 || r.cloud.count("status") != 1 {
		t.Fatalf("calls %v", r.cloud.calls)
	}
	if got := r.book(id); !slices.Equal(got, []string{"intent.ensure_running dead>running use"}) {
		t.Fatalf("book %v", got)
	}
}

// test_ensure_active_instance_resumes_paused
func TestEnsureActiveInstanceResumesPaused(t *testing.T) {
	r := newRig(t)
	id := r.newLease("e2b").ID
	_, a := r.ensure(id)
	_, err := r.Leases.pause(t.Context(), id, "api")
	r.ok(err)
	l, b := r.ensure(id)
	if a.ID != b.ID || l.Observed != thread.Running || l.Desired != thread.WantRunning || r.cloud.count("resume") != 1 {
		t.Fatalf("lease %+v, calls %v", l, r.cloud.calls)
	}
}

// test_ensure_active_instance_recreates_dead
func TestEnsureActiveInstanceRecreatesDead(t *testing.T) {
	r := newRig(t)
	id := r.newLease("e2b").ID
	_, a := r.ensure(id)
	r.cloud.set(a.Session, thread.Dead)
	r.clock.pass(4 * time.Second)
	l, b := r.ensure(id)
	if a.ID == b.ID || l.Observed != thread.Running || l.Status != thread.LeaseActive {
		t.Fatalf("lease %+v", l)
	}
	list, err := r.instances(id)
	r.ok(err)
	if len(list) != 2 || list[0].ID != b.ID || list[1].State != thread.Dead || list[1].EndedAt.IsZero() {
		t.Fatalf("instances %+v", list)
	}
	want := []string{"intent.ensure_running dead>running use", "observe.status running>dead use",
		"intent.ensure_running dead>running use"}
	if got := r.book(id); !slices.Equal(got, want) {
		t.Fatalf("book %v", got)
	}
}

// test_destroy_instance
func TestDestroyInstance(t *testing.T) {
	r := newRig(t)
	id := r.newLease("e2b").ID
	r.ensure(id)
	for range 2 {
		l, err := r.Leases.destroy(t.Context(), id, "api")
		r.ok(err)
		if l.Observed != thread.Dead || l.Desired != thread.WantDestroyed || l.Status != thread.LeaseExpired {
			t.Fatalf("lease %+v", l)
		}
	}
	if n := r.cloud.count("destroy"); n != 1 {
		t.Fatalf("%d calls", n)
	}
}

// test_pause_instance
func TestPauseInstance(t *testing.T) {
	r := newRig(t)
	id := r.newLease("e2b").ID
	_, err := r.Leases.pause(t.Context(), id, "api") // there is nothing to pause
	r.refused(err, thread.ErrTransition)
	r.ensure(id)
	for range 2 {
		l, err := r.Leases.pause(t.Context(), id, "api")
		r.ok(err)
		if l.Observed != thread.Frozen || l.Desired != thread.WantPaused {
			t.Fatalf("lease %+v", l)
		}
	}
	want := []string{"!intent.pause dead>paused api", "intent.ensure_running dead>running use",
		"intent.pause running>paused api"}
	if got := r.book(id); !slices.Equal(got, want) {
		t.Fatalf("book %v", got)
	}
}

// test_resume_instance
func TestResumeInstance(t *testing.T) {
	r := newRig(t)
	id := r.newLease("e2b").ID
	r.ensure(id)
	_, err := r.Leases.pause(t.Context(), id, "api")
	r.ok(err)
	for range 2 {
		l, err := r.Leases.resume(t.Context(), id, "api")
		r.ok(err)
		if l.Observed != thread.Running || l.Desired != thread.WantRunning {
			t.Fatalf("lease %+v", l)
		}
	}
	_, err = r.Leases.destroy(t.Context(), id, "api")
	r.ok(err)
	_, err = r.Leases.resume(t.Context(), id, "api")
	r.refused(err, thread.ErrTransition)
	if got := r.book(id); got[len(got)-1] != "!intent.resume dead>running api" {
		t.Fatalf("book %v", got)
	}
}

// test_instance_persists_to_db
func TestInstancePersistsToDB(t *testing.T) {
	r := newRig(t)
	id := r.newLease("e2b").ID
	r.ensure(id)
	n := 0
	r.restart(func() {
		n = r.countRows(`SELECT count(*) FROM sandbox_leases WHERE current_instance_id = 'e2b-i1' AND ` +
			`instance_status = 'running'`)
	})
	if n != 1 {
		t.Fatal("it is not in the file")
	}
}

// test_instance_persists_across_retrieval
func TestInstancePersistsAcrossRetrieval(t *testing.T) {
	r := newRig(t)
	id := r.newLease("e2b").ID
	a, i := r.ensure(id)
	r.restart()
	b, err := r.database.lease(id)
	r.ok(err)
	list, err := r.instances(id)
	r.ok(err)
	if a != b || len(list) != 1 || list[0] != i {
		t.Fatalf("%+v\n%+v", a, b)
	}
}

// test_full_lifecycle
func TestFullLifecycleLease(t *testing.T) {
	r := newRig(t)
	id := r.newLease("e2b").ID
	r.ensure(id)
	for _, f := range []func() error{
		func() error { return second(r.Leases.pause(t.Context(), id, "api")) },
		func() error { return second(r.Leases.resume(t.Context(), id, "api")) },
		func() error { return second(r.Leases.destroy(t.Context(), id, "api")) },
	} {
		r.ok(f())
	}
	r.ensure(id)
	l, err := r.database.lease(id)
	r.ok(err)
	want := []string{"intent.ensure_running dead>running use", "intent.pause running>paused api",
		"intent.resume paused>running api",
		"intent.destroy running>dead api", "intent.ensure_running dead>running use"}
	if got := r.book(id); !slices.Equal(got, want) || l.Version != int64(len(want)) {
		t.Fatalf("version %d, book %v", l.Version, got)
	}
}

// test_multiple_leases_different_providers
func TestMultipleLeasesDifferentProviders(t *testing.T) {
	r := newRig(t)
	_, a := r.ensure(r.newLease("e2b").ID)
	_, b := r.ensure(r.newLease("daytona").ID)
	if a.Session != "e2b-i1" || b.Session != "daytona-i2" {
		t.Fatalf("%+v %+v", a, b)
	}
}

// A provider that does not answer replaces nothing, and what fails says so.
func TestProviderFailures(t *testing.T) {
	r := newRig(t)
	id := r.newLease("e2b").ID
	_, i := r.ensure(id)
	r.clock.pass(4 * time.Second)
	r.cloud.breaks(errTest, "")
	_, _, err := r.Leases.ensure(t.Context(), id)
	r.refused(err, thread.ErrProvider)
	r.refused(second(r.Leases.pause(t.Context(), id, "api")), errTest)
	l, err := r.database.lease(id)
	r.ok(err)
	if l.LastError == "" || !l.NeedsRefresh || l.Observed != thread.Running || r.cloud.count("create") != 1 {
		t.Fatalf("lease %+v", l)
	}
	r.cloud.breaks(nil, "")
	l, again := r.ensure(id)
	if again.ID != i.ID || l.LastError != "" || l.NeedsRefresh {
		t.Fatalf("lease %+v", l)
	}
}

// What was made and cannot be written down is destroyed: nobody would find it again.
func TestInstanceThatCannotBeKeptIsDestroyed(t *testing.T) {
	r := newRig(t)
	id := r.newLease("e2b").ID
	r.cloud.order = func(what string) {
		r.note(what)
		if what == "create" { // somebody removes the lease meanwhile
			r.raw(`DELETE FROM leases`)
		}
	}
	_, _, err := r.Leases.ensure(t.Context(), id)
	r.refused(err, thread.ErrNotFound)
	if got := r.notes(); !slices.Equal(got, []string{"create", "destroy"}) {
		t.Fatalf("calls %v", got)
	}
}

func TestWebhooks(t *testing.T) {
	r := newRig(t)
	l := r.open("t1", thread.Use{})
	hook := func(instance, state string) bool {
		t.Helper()
		matched, err := r.Observe("e2b", instance, "sandbox.lifecycle."+state, state, `{}`)
		r.ok(err)
		return matched
	}
	if hook("nobody", "paused") || !hook(l.Instance.Session, "paused") {
		t.Fatal("matched")
	}
	if s := r.status("t1").Lease; s.Observed != thread.Frozen {
		t.Fatalf("lease %+v", s)
	}
	hook(l.Instance.Session, "strange")
	if s := r.status("t1").Lease; s.Observed != thread.Frozen || !s.NeedsRefresh {
		t.Fatalf("lease %+v", s)
	}
	r.cloud.set(l.Instance.Session, thread.Dead)
	hook(l.Instance.Session, "killed")
	hook(l.Instance.Session, "deleted")
	if s := r.status("t1").Lease; s.Observed != thread.Dead {
		t.Fatalf("lease %+v", s)
	}
	list, err := r.ProviderEvents(0)
	r.ok(err)
	if len(list) != 5 || list[4].Lease != "" || list[0].Lease != l.Lease.ID {
		t.Fatalf("events %+v", list)
	}
	if again := r.open("t1", thread.Use{}); again.Instance.ID == l.Instance.ID {
		t.Fatal("a dead instance is used")
	}
}

func TestLeaseTransitions(t *testing.T) {
	allowed := map[[2]thread.Observed]bool{
		{thread.Dead, thread.Running}: true, {thread.Dead, thread.Unknown}: true,
		{thread.Running, thread.Frozen}: true, {thread.Running, thread.Dead}: true,
		{thread.Running, thread.Unknown}: true,
		{thread.Frozen, thread.Running}:  true, {thread.Frozen, thread.Dead}: true,
		{thread.Frozen, thread.Unknown}:  true,
		{thread.Unknown, thread.Running}: true, {thread.Unknown, thread.Frozen}: true,
		{thread.Unknown, thread.Dead}: true,
	}
	all := []thread.Observed{thread.Dead, thread.Running, thread.Frozen, thread.Unknown}
	for _, from := range all {
		for _, to := range all {
			if err := (thread.Lease{Observed: from}).Allowed(to); (err == nil) != (from == to ||
				allowed[[2]thread.Observed{from, to}]) {
				t.Errorf("%s to %s: %v", from, to, err)
			}
		}
	}
}

// Whatever is done to a lease in whatever order, with a provider that fails at random: the book is
// a walk along the table's arrows that ends where the lease is, the version counts it, one instance
// at most has not ended, and what the book says did not happen changed nothing.
func TestLeaseBookIsAWalk(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := newRig(t)
			rnd := rand.New(rand.NewPCG(seed, 0))
			id := r.open("t1", thread.Use{}).Lease.ID
			for range 40 {
				r.anything(rnd, id)
			}
			r.cloud.breaks(nil, "")
			r.checkWalk(id)
		})
	}
}

func (r *rig) anything(rnd *rand.Rand, id string) {
	ctx := r.t.Context()
	r.cloud.breaks(nil, "")
	if rnd.IntN(5) == 0 {
		r.cloud.breaks(errTest, "")
	}
	instance := ""
	if list, err := r.instances(id); err == nil && len(list) > 0 {
		instance = list[0].Session
	}
	words := []thread.Observed{thread.Dead, thread.Running, thread.Frozen, thread.Unknown}
	word := words[rnd.IntN(len(words))]
	var err error
	switch rnd.IntN(9) {
	case 0:
		_, _, err = r.Leases.ensure(ctx, id)
	case 1:
		_, err = r.Leases.pause(ctx, id, "api")
	case 2:
		_, err = r.Leases.resume(ctx, id, "api")
	case 3:
		_, err = r.Leases.destroy(ctx, id, "api")
	case 4:
		_, err = r.Leases.refresh(ctx, id, "api")
	case 5:
		_, err = r.Observe("e2b", instance, "x", string(word), "")
	case 6:
		err = r.lifecycle.pause(ctx, "t1")
	case 7:
		_, err = r.lifecycle.open(ctx, "t1", thread.Use{})
	case 8:
		if instance != "" {
			r.cloud.set(instance, word)
		}
	}
	if err != nil && !errors.Is(err, thread.ErrProvider) && !errors.Is(err, thread.ErrTransition) {
		r.t.Error(err)
	}
	r.clock.pass(time.Duration(rnd.IntN(4)) * time.Second)
}

func (r *rig) checkWalk(id string) {
	r.t.Helper()
	l, err := r.database.lease(id)
	r.ok(err)
	events, err := r.LeaseEvents(id, 0, 0)
	r.ok(err)
	at, steps := thread.Dead, int64(0)
	for _, e := range events {
		if e.From != at {
			r.t.Fatalf("event %+v does not begin at %s", e, at)
		}
		switch {
		case e.Type == thread.ProviderError:
			steps++
		case e.Error == "":
			if err := (thread.Lease{Observed: e.From}).Allowed(e.To); err != nil {
				r.t.Error(err)
			}
			at = e.To
			steps++
		}
	}
	if at != l.Observed || steps != l.Version {
		r.t.Errorf("the book ends at %s after %d steps, the lease is %+v", at, steps, l)
	}
	list, err := r.instances(id)
	r.ok(err)
	for i, inst := range list {
		if (i > 0 || l.Observed == thread.Dead) && inst.EndedAt.IsZero() {
			r.t.Errorf("instance %+v has not ended", inst)
		}
	}
}
