package supervisor_test

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/local"
	"github.com/evertty/evertty/internal/supervisor"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/internal/thread/service"
	"github.com/evertty/evertty/wire"
)

// TestJobsAreNotLeftBehind: what is left for the relay of a terminal has secrets in it and goes
// when the relay does not start, and when it has ended.
func TestJobsAreNotLeftBehind(t *testing.T) {
	parallel(t)
	for name, c := range map[string]struct {
		relay  []string
		starts bool
	}{
		"no relay":                    {[]string{"/nonexistent/relay"}, false},
		"a relay that takes no job":   {[]string{"true"}, true},
		"a relay that leaves a trace": {[]string{"sh", "-c", `rm "$2"/job; touch "$2"/outcome`, "relay"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			jobs := filepath.Join(dir, "relay")
			m := openRecorded(t, dir, func(config *supervisor.Config) {
				there := service.RemoteProvider{Provider: elsewhere{Lifecycle: local.New(local.Config{})},
					Settings: []byte("{}")}
				config.Threads.Providers = map[string]service.RemoteProvider{"there": there}
				config.Threads.Relay = service.Relay{Program: c.relay, Dir: jobs}
			})
			if _, err := m.Threads.CreateThread(background(t), "t", thread.Use{Provider: "there"}); err != nil {
				t.Fatal(err)
			}
			term, err := m.Terminals.Create("t", wire.CreateTerminal{Cmd: []string{"sh"}})
			if (err == nil) != c.starts {
				t.Fatalf("create: %v", err)
			}
			if term != nil {
				waitFor(t, term, wire.WaitCondition{For: "exit"})
			}
			until(t, "no job", func() bool {
				left, err := os.ReadDir(jobs)
				if err != nil {
					t.Fatal(err)
				}
				return len(left) == 0
			})
		})
	}
}

// elsewhere is a remote provider whose instances nobody looks into: the relays of these tests are
// other programs.
type elsewhere struct {
	provider.Lifecycle
	provider.Access
}

// stuck is a provider that, once it is, makes no instance before its caller gives up.
type stuck struct {
	elsewhere
	is    atomic.Bool
	asked chan struct{}
}

func (s *stuck) Create(ctx context.Context, r provider.CreateRequest) (provider.Instance, error) {
	if !s.is.Load() {
		return s.Lifecycle.Create(ctx, r)
	}
	s.asked <- struct{}{}
	<-ctx.Done()
	return provider.Instance{}, context.Cause(ctx)
}

// TestCloseDoesNotWaitForAProvider: what starts at a provider that does not answer must not keep a
// server from its end.
func TestCloseDoesNotWaitForAProvider(t *testing.T) {
	parallel(t)
	there := &stuck{elsewhere: elsewhere{Lifecycle: local.New(local.Config{})}, asked: make(chan struct{}, 2)}
	dir := t.TempDir()
	m := openRecorded(t, dir, func(c *supervisor.Config) {
		c.Threads.Providers = map[string]service.RemoteProvider{"there": {Provider: there, Settings: []byte("{}")}}
		c.Threads.Relay = service.Relay{Program: []string{"true"}, Dir: filepath.Join(dir, "relay")}
	})
	for _, id := range []string{"a", "b"} {
		if _, err := m.Threads.CreateThread(background(t), id, thread.Use{Provider: "there"}); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Threads.DestroyThread(background(t), id); err != nil {
			t.Fatal(err)
		}
	}
	there.is.Store(true)
	failed := make(chan error, 2)
	go func() {
		_, err := m.Terminals.Create("a", wire.CreateTerminal{Cmd: []string{"sh"}})
		failed <- err
	}()
	go func() {
		_, err := m.Shells.Default("b")
		failed <- err
	}()
	<-there.asked
	<-there.asked
	began := time.Now()
	leave(t, m)
	if took := time.Since(began); took > 30*time.Second { // it would be a minute
		t.Errorf("the end took %v", took)
	}
	for range 2 {
		if err := <-failed; err == nil {
			t.Error("something has started in a server that was closing")
		}
	}
}
