package local_test

import (
	"errors"
	"os/exec"
	"syscall"
	"testing"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/local"
	"github.com/evertty/evertty/tests/providertest"
)

func TestMain(m *testing.M) { providertest.Main(m, nil) }

// What others have started belongs to an instance as Lookup tells, also to a server that did not create it.
func TestLocalMembers(t *testing.T) {
	word := providertest.Seconds()
	c := exec.Command("bash", "-c", "sleep "+word+" & (setsid sleep "+word+" & wait) & wait")
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	waited := make(chan error, 1)
	go func() { waited <- c.Wait() }()
	lookup := func(id string) (local.Known, bool) {
		return local.Known{PIDs: []int{c.Process.Pid}, State: provider.Unknown}, id == "lease"
	}
	ctx := providertest.Within(t)
	open := func() *local.Provider {
		return local.New(local.Config{Lookup: lookup, Dir: t.TempDir()})
	}
	one := open()
	is := func(l *local.Provider, want provider.State) {
		t.Helper()
		if st, err := l.Status(ctx, "lease"); st != want || err != nil {
			t.Fatalf("%s, %v; want %s", st, err, want)
		}
	}
	providertest.Becomes(t, "two sleep", func() bool { return providertest.Sleeping(t, word) == "SS" })
	is(one, provider.Running)
	if err := one.Pause(ctx, "lease"); err != nil {
		t.Fatal(err)
	}
	if s := providertest.Sleeping(t, word); s != "TT" {
		t.Fatalf("states after pause: %q", s)
	}
	two := open() // as after a restart of the server
	is(two, provider.Paused)
	if err := two.Resume(ctx, "lease"); err != nil {
		t.Fatal(err)
	}
	providertest.Becomes(t, "two sleep again", func() bool { return providertest.Sleeping(t, word) == "SS" })
	is(two, provider.Running)
	// While everything stands still it can be destroyed all the same.
	if err := two.Pause(ctx, "lease"); err != nil {
		t.Fatal(err)
	}
	if err := two.Destroy(ctx, "lease"); err != nil {
		t.Fatal(err)
	}
	if s := providertest.Sleeping(t, word); s != "" {
		t.Fatalf("states after destroy: %q", s)
	}
	<-waited
}

// What the suite asks of every provider's instances, for one that has none of the rest.
func TestLifecycle(t *testing.T) {
	ctx, p := providertest.Within(t), local.New(local.Config{Dir: t.TempDir()})
	i, err := p.Create(ctx, provider.CreateRequest{})
	if err != nil || i.ID == "" || i.State != provider.Running || i.Cwd == "" {
		t.Fatalf("%+v, %v", i, err)
	}
	is := func(id string, want provider.State) {
		t.Helper()
		if st, err := p.Status(ctx, id); st != want || err != nil {
			t.Errorf("%s, %v; want %s", st, err, want)
		}
	}
	errorIs := func(what string, err, want error) {
		t.Helper()
		if !errors.Is(err, want) {
			t.Errorf("%s: %v; want %v", what, err, want)
		}
	}
	is(i.ID, provider.Running)
	is("no-such-instance", provider.Dead)
	errorIs("pause", p.Pause(ctx, i.ID), nil)
	is(i.ID, provider.Paused)
	errorIs("pause of a paused one", p.Pause(ctx, i.ID), provider.ErrState)
	errorIs("resume", p.Resume(ctx, i.ID), nil)
	errorIs("resume of a running one", p.Resume(ctx, i.ID), provider.ErrState)
	m, err := p.Metrics(ctx, i.ID)
	if err != nil || m.CPUPercent == nil || m.MemoryTotalMB == nil || *m.MemoryTotalMB < 16 || m.DiskTotalGB == nil ||
		*m.DiskUsedGB > *m.DiskTotalGB {
		t.Errorf("%+v, %v", m, err)
	}
	errorIs("destroy", p.Destroy(ctx, i.ID), nil)
	errorIs("destroy again", p.Destroy(ctx, i.ID), nil)
	is(i.ID, provider.Dead)
	errorIs("pause after", p.Pause(ctx, i.ID), provider.ErrNotFound)
	errorIs("resume after", p.Resume(ctx, i.ID), provider.ErrNotFound)
}
