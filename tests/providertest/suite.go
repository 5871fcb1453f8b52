package providertest

import (
	"errors"
	"io"
	"os"
	"testing"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/catalog"
)

// Opener makes a provider for a test. It skips the test where that cannot be.
type Opener = func(t *testing.T) provider.Provider

// Opened fails the test on an error of New, and closes the provider at the end of the test.
func Opened[P provider.Lifecycle](t *testing.T) func(p P, err error) P {
	return func(p P, err error) P {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if c, ok := any(p).(io.Closer); ok {
			t.Cleanup(func() { _ = c.Close() })
		}
		return p
	}
}

// Real opens a provider of the service itself, with the settings of the environment. It skips the test without the
// variable of its key, and names it.
func Real(name, key string) Opener {
	return func(t *testing.T) provider.Provider {
		t.Helper()
		if os.Getenv(key) == "" {
			t.Skip(key + " is not set")
		}
		s, err := catalog.ParseSettings([]byte(`{"provider":"`+name+`"}`), os.LookupEnv)
		if err != nil {
			t.Fatal(err)
		}
		return Opened[provider.Provider](t)(s.Open())
	}
}

// Part is a part of the suite: what a provider does with one instance.
type Part func(t *testing.T, s Instance)

// Suite is what every provider does.
func Suite(t *testing.T, open Opener) {
	t.Run("instance", func(t *testing.T) {
		t.Parallel()
		s := Create(t, open(t))
		for name, part := range map[string]Part{
			"exit codes": ExitCodes, "output": Output, "input": Input, "big output": bigOutput, "streams": streams,
			"environment": environment, "directory": directory, "words": words, "timeout": timeout,
			"cancel": cancelled, "background": background, "at the same time": concurrent,
			"a writer that fails": writerFails, "state": StatePersistence, "files": Files, "file errors": fileErrors,
			"list": List, "metrics": Metrics, "terminal": terminal, "terminal of a program": terminalProgram,
			"terminal closed": terminalClosed,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel() // most of it is waiting
				part(t, s)
			})
		}
	})
	for name, part := range map[string]func(*testing.T, provider.Provider){
		"status": status, "pause and resume": PauseResume, "destroy": destroy,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			part(t, open(t))
		})
	}
}

// Parts runs parts of the suite on one instance.
func Parts(t *testing.T, p provider.Provider, parts ...Part) {
	t.Helper()
	s := Create(t, p)
	for _, part := range parts {
		part(t, s)
	}
}

func status(t *testing.T, p provider.Provider) {
	s := Create(t, p)
	if !p.Capabilities().Status {
		t.Skip("no status probe")
	}
	if st, err := s.Status(Within(t), s.ID); st != provider.Running || err != nil {
		t.Errorf("of a new one: %s, %v", st, err)
	}
	if st, err := s.Status(Within(t), "no-such-instance"); st != provider.Dead || err != nil {
		t.Errorf("of none: %s, %v", st, err)
	}
}

// PauseResume pauses an instance and resumes it.
func PauseResume(t *testing.T, p provider.Provider) {
	s := Create(t, p)
	if !p.Capabilities().Pause {
		if err := p.Pause(Within(t), s.ID); !errors.Is(err, provider.ErrUnsupported) {
			t.Errorf("pause: %v", err)
		}
		return
	}
	file := s.Dir + "/kept"
	if err := s.WriteFile(Within(t), s.ID, file, []byte("kept")); err != nil {
		t.Fatal(err)
	}
	is := func(want provider.State) {
		t.Helper()
		if st, err := s.Status(Within(t), s.ID); st != want || err != nil {
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
		before = s.Output(t, "sleep 300 >/dev/null 2>&1 & echo -n $!")
	}
	must("pause", s.Pause(Within(t), s.ID))
	is(provider.Paused)
	if err := s.Pause(Within(t), s.ID); !errors.Is(err, provider.ErrState) {
		t.Errorf("pause of a paused one: %v", err)
	}
	_, err := s.Exec(Within(t), s.ID, provider.ExecRequest{Command: "true"}, io.Discard, io.Discard)
	if !errors.Is(err, provider.ErrNotRunning) || !errors.Is(err, provider.ErrNotStarted) {
		t.Errorf("exec in a paused one: %v", err)
	}
	must("resume", s.Resume(Within(t), s.ID))
	is(provider.Running)
	if err := s.Resume(Within(t), s.ID); !errors.Is(err, provider.ErrState) {
		t.Errorf("resume of a running one: %v", err)
	}
	if data, err := s.ReadFile(Within(t), s.ID, file, 100); string(data) != "kept" || err != nil {
		t.Errorf("the file after: %q, %v", data, err)
	}
	s.Check(t, "echo after", "after\n", 0)
	if before != "" {
		s.Check(t, "kill "+before, "", 0) // its process is still there
	}
}

func destroy(t *testing.T, p provider.Provider) {
	s := Create(t, p)
	if err := p.Destroy(Within(t), s.ID); err != nil {
		t.Fatal(err)
	}
	if st, err := p.Status(Within(t), s.ID); p.Capabilities().Status && (st != provider.Dead || err != nil) {
		t.Errorf("state after: %s, %v", st, err)
	}
	if err := p.Destroy(Within(t), s.ID); err != nil {
		t.Errorf("again: %v", err)
	}
	_, err := s.Exec(Within(t), s.ID, provider.ExecRequest{Command: "true"}, io.Discard, io.Discard)
	if !errors.Is(err, provider.ErrNotFound) || !errors.Is(err, provider.ErrNotStarted) {
		t.Errorf("exec after: %v", err)
	}
	if _, err := s.ReadFile(Within(t), s.ID, "/etc/passwd", 1<<20); !errors.Is(err, provider.ErrNotFound) {
		t.Errorf("read after: %v", err)
	}
	if err := s.Pause(Within(t), s.ID); p.Capabilities().Pause && !errors.Is(err, provider.ErrNotFound) {
		t.Errorf("pause after: %v", err)
	}
	if err := s.Resume(Within(t), s.ID); p.Capabilities().Resume && !errors.Is(err, provider.ErrNotFound) {
		t.Errorf("resume after: %v", err)
	}
}
