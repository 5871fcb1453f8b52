package catalog_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/tests/fakeprov"

	"github.com/evertty/evertty/internal/provider/agentbay"
	"github.com/evertty/evertty/internal/provider/daytona"
	"github.com/evertty/evertty/internal/provider/e2b"
)

// limit is for anything that is waited for; real services start machines in it.
const limit = 2 * time.Minute

// places is every kind of place that the suite runs against. A new kind adds a line; what cannot be tried here skips and says why.
func places(t *testing.T) map[string]func(t *testing.T) provider.Provider {
	t.Helper()
	return map[string]func(t *testing.T) provider.Provider{
		"agentbay":      func(t *testing.T) provider.Provider { return fakeAgentBay(t, fake(t)) },
		"agentbay-real": realPlace("agentbay", "AGENTBAY_API_KEY"),
		"daytona":       func(t *testing.T) provider.Provider { return fakeDaytona(t, fake(t)) },
		"daytona-real":  realPlace("daytona", "DAYTONA_API_KEY"),
		"e2b":           func(t *testing.T) provider.Provider { return fakeE2B(t, fake(t)) },
		"e2b-real":      realPlace("e2b", "E2B_API_KEY"),
		"ssh":           func(t *testing.T) provider.Provider { return server(t).open(t, "") },
		"docker":        fakeDocker,
		"docker-real":   realDocker,
		"local":         onThisMachine,
	}
}

// fake starts the three services.
func fake(t *testing.T) *fakeprov.Server {
	t.Helper()
	s, err := fakeprov.Start(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// opened fails on an error and closes the provider at the end of the test.
func opened[P provider.Provider](t *testing.T) func(p P, err error) P {
	return func(p P, err error) P {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if c, ok := any(p).(io.Closer); ok {
			t.Cleanup(func() { c.Close() })
		}
		return p
	}
}

func fakeDaytona(t *testing.T, s *fakeprov.Server) *daytona.Provider {
	return opened[*daytona.Provider](t)(daytona.New(daytona.Config{APIKey: fakeprov.Key, APIURL: s.DaytonaURL(), Cwd: t.TempDir()}))
}

func fakeE2B(t *testing.T, s *fakeprov.Server) *e2b.Provider {
	return opened[*e2b.Provider](t)(e2b.New(e2b.Config{APIKey: fakeprov.Key, APIURL: s.E2BURL(), SandboxURL: s.E2BSandboxURL(), Cwd: t.TempDir()}))
}

func fakeAgentBay(t *testing.T, s *fakeprov.Server) *agentbay.Provider {
	return opened[*agentbay.Provider](t)(agentbay.New(agentbay.Config{APIKey: fakeprov.Key, Endpoint: s.AgentBayURL(), Cwd: t.TempDir()}))
}

// realPlace is the service itself, with the settings of the environment.
func realPlace(name, variable string) func(*testing.T) provider.Provider {
	return func(t *testing.T) provider.Provider {
		key(t, variable)
		return opened[provider.Provider](t)(fromEnv(t, name, os.LookupEnv))
	}
}

// key skips the test by the name of the variable that it needs.
func key(t *testing.T, variable string) {
	t.Helper()
	if os.Getenv(variable) == "" {
		t.Skip(variable + " is not set")
	}
}

// each runs a test against every place.
func each(t *testing.T, do func(t *testing.T, p provider.Provider)) {
	t.Parallel()
	all := places(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // most of it is waiting
			do(t, all[name](t))
		})
	}
}

// ctx ends after the limit, or with the test.
func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	return ctx
}

// spot is one instance and a directory of its own in it.
type spot struct {
	provider.Provider
	id, dir string
}

// rent creates an instance that is destroyed at the end of the test.
func rent(t *testing.T, p provider.Provider) spot {
	t.Helper()
	i, err := p.Create(within(t), provider.CreateRequest{Name: "lease-of-" + t.Name(), Env: map[string]string{"OF_INSTANCE": "it's set"}})
	if err != nil {
		t.Fatal("create:", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		if err := p.Destroy(ctx, i.ID); err != nil {
			t.Error("destroy:", err)
		}
	})
	if i.ID == "" || i.State != provider.Running || i.Cwd == "" {
		t.Fatalf("created %+v", i)
	}
	return spot{p, i.ID, i.Cwd}
}

// TestSuite is what every place can do with one instance; see also TestPauseAndResume and TestDestroy.
func TestSuite(t *testing.T) {
	each(t, func(t *testing.T, p provider.Provider) {
		s := rent(t, p)
		for _, c := range []struct {
			name string
			do   func(*testing.T, spot)
		}{
			{"exit codes", exitCodes}, {"output", output}, {"input", input}, {"big output", bigOutput}, {"streams", streams},
			{"environment", environment}, {"directory", directory}, {"words", words}, {"timeout", timeout}, {"cancel", cancelled},
			{"background", background}, {"at the same time", concurrent}, {"a writer that fails", writerFails}, {"state", statePersistence},
			{"files", files}, {"file errors", fileErrors}, {"list", list}, {"metrics", metrics},
			{"terminal", terminal}, {"terminal of a program", terminalProgram}, {"terminal closed", terminalClosed},
		} {
			t.Run(c.name, func(t *testing.T) { c.do(t, s) })
		}
	})
}

func TestStatus(t *testing.T) {
	each(t, func(t *testing.T, p provider.Provider) {
		s := rent(t, p)
		if !p.Capabilities().Status {
			t.Skip("no status probe")
		}
		if st, err := s.Status(within(t), s.id); st != provider.Running || err != nil {
			t.Errorf("of a new one: %s, %v", st, err)
		}
		if st, err := s.Status(within(t), "no-such-instance"); st != provider.Dead || err != nil {
			t.Errorf("of none: %s, %v", st, err)
		}
	})
}

func TestPauseAndResume(t *testing.T) { each(t, pauseResume) }

func pauseResume(t *testing.T, p provider.Provider) {
	s := rent(t, p)
	if !p.Capabilities().Pause {
		if err := p.Pause(within(t), s.id); !errors.Is(err, provider.ErrUnsupported) {
			t.Errorf("pause: %v", err)
		}
		return
	}
	file := s.dir + "/kept"
	if err := s.WriteFile(within(t), s.id, file, []byte("kept")); err != nil {
		t.Fatal(err)
	}
	is := func(want provider.State) {
		t.Helper()
		if st, err := s.Status(within(t), s.id); st != want || err != nil {
			t.Fatalf("state %s, %v; want %s", st, err, want)
		}
	}
	must := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	var before string
	if p.Capabilities().MemoryKept {
		before = s.do1(t, "sleep 300 >/dev/null 2>&1 & echo -n $!")
	}
	must("pause", s.Pause(within(t), s.id))
	is(provider.Paused)
	if err := s.Pause(within(t), s.id); !errors.Is(err, provider.ErrState) {
		t.Errorf("pause of a paused one: %v", err)
	}
	if _, err := s.Exec(within(t), s.id, provider.ExecRequest{Command: "true"}, io.Discard, io.Discard); !errors.Is(err, provider.ErrNotRunning) || !errors.Is(err, provider.ErrNotStarted) {
		t.Errorf("exec in a paused one: %v", err)
	}
	must("resume", s.Resume(within(t), s.id))
	is(provider.Running)
	if err := s.Resume(within(t), s.id); !errors.Is(err, provider.ErrState) {
		t.Errorf("resume of a running one: %v", err)
	}
	if data, err := s.ReadFile(within(t), s.id, file, 100); string(data) != "kept" || err != nil {
		t.Errorf("the file after: %q, %v", data, err)
	}
	s.sh(t, "echo after", "after\n", 0)
	if before != "" {
		s.sh(t, "kill "+before, "", 0) // its process is still there
	}
}

func TestDestroy(t *testing.T) {
	each(t, func(t *testing.T, p provider.Provider) {
		s := rent(t, p)
		if err := p.Destroy(within(t), s.id); err != nil {
			t.Fatal(err)
		}
		if st, err := p.Status(within(t), s.id); p.Capabilities().Status && (st != provider.Dead || err != nil) {
			t.Errorf("state after: %s, %v", st, err)
		}
		if err := p.Destroy(within(t), s.id); err != nil {
			t.Errorf("again: %v", err)
		}
		_, err := s.Exec(within(t), s.id, provider.ExecRequest{Command: "true"}, io.Discard, io.Discard)
		if !errors.Is(err, provider.ErrNotFound) || !errors.Is(err, provider.ErrNotStarted) {
			t.Errorf("exec after: %v", err)
		}
		if _, err := s.ReadFile(within(t), s.id, "/etc/passwd", 1<<20); !errors.Is(err, provider.ErrNotFound) {
			t.Errorf("read after: %v", err)
		}
		if err := s.Pause(within(t), s.id); p.Capabilities().Pause && !errors.Is(err, provider.ErrNotFound) {
			t.Errorf("pause after: %v", err)
		}
		if err := s.Resume(within(t), s.id); p.Capabilities().Resume && !errors.Is(err, provider.ErrNotFound) {
			t.Errorf("resume after: %v", err)
		}
	})
}
