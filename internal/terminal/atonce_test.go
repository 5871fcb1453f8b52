package terminal_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/evertty/evertty/internal/metrics"
	"github.com/evertty/evertty/internal/supervisor"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/tests/supervisortest"
	"github.com/evertty/evertty/vt"
)

// TestEverythingAtOnce: terminals are made, used, looked at, ended, restarted and deleted by many, while they are saved
// and cut to quotas that are too small. The race detector watches.
func TestEverythingAtOnce(t *testing.T) {
	parallel(t)
	const rounds = 8
	m := openWith(t, t.TempDir(), supervisor.Config{Terminals: terminal.Config{Engine: vt.NewEngine,
		Interval: 20 * time.Millisecond,
		Clean:    terminal.CleanPolicy{TerminalQuota: 64 << 10, JournalQuota: 128 << 10, SnapshotQuota: 64 << 10}}})
	set := &metrics.Set{Registry: prometheus.NewRegistry()}
	set.Registry.MustRegister(collector{m.Terminals})
	stays := start(t, m, "bash", "--norc", "--noprofile")
	allowed := func(what string, err error) {
		for _, ok := range []error{nil, terminal.ErrExited, terminal.ErrNotFound, terminal.ErrRunning, pty.ErrExited} {
			if errors.Is(err, ok) {
				return
			}
		}
		t.Errorf("%s: %v", what, err)
	}
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() { // those that come and go
			for range rounds {
				term := start(t, m, "sh", "-c", "cd /usr; yes a line of output | head -c 200000; read x")
				typeIn(t, term, "\n")
				<-term.Done()
				next, err := m.Terminals.Restart(term)
				allowed("restart", err)
				if err == nil {
					allowed("delete", m.Terminals.Delete(t.Context(), next, true))
				}
			}
		})
		all.Go(func() { // those that type and watch
			for i := range rounds * 2 {
				typeIn(t, stays, "cd /; printf '\\033]2;x\\007\\033]7;file:///usr\\007'; seq 300\n")
				_, err := stays.Keys(t.Context(), []string{"Left"})
				allowed("keys", err)
				_, err = stays.Paste(t.Context(), "true")
				allowed("paste", err)
				allowed("resize", stays.Resize(80+i%3, 24))
				allowed("signal", stays.Signal("WINCH"))
				sub := stays.Hub().Subscribe(stream.SubscribeOptions{Scrollback: -1})
				allowed("size", stays.RequestSize(sub, 100, 30+i%2))
				stays.Hide(sub, true)
				stays.Detach(sub)
			}
		})
		all.Go(func() { // those that look
			for range rounds * 4 {
				for _, term := range m.Terminals.All() {
					term.Wire()
					term.Directory()
					term.Printed()
					term.PromptMark()
					term.Hub().Snapshot().ANSI()
					term.EndedAt()
					term.Exit()
					if _, err := term.Journal(); err != nil && !errors.Is(err, terminal.ErrJournal) {
						allowed("journal", err)
					}
				}
				m.Terminals.ListJSON("", "", nil)
				m.Terminals.Problems()
				supervisortest.Gather(t, set)
			}
		})
	}
	all.Wait()
	if _, err := m.Terminals.Find("", stays.ID); err != nil || !stays.Running() {
		t.Errorf("the one that stays: %v", err)
	}
}
