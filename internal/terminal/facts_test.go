package terminal_test

import (
	"encoding/json"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/evertty/evertty/internal/metrics"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/tests/supervisortest"
	"github.com/evertty/evertty/wire"
)

// collector has the gauges of a registry.
type collector struct{ of *terminal.Registry }

func (c collector) Describe(d chan<- *prometheus.Desc) { terminal.Describe(d) }
func (c collector) Collect(m chan<- prometheus.Metric) { c.of.Collect(m) }

// TestFactsOfAServer: its gauges and its list follow the terminals, and who watches for changes is told.
func TestFactsOfAServer(t *testing.T) {
	parallel(t)
	m := open(t, t.TempDir())
	set := &metrics.Set{Registry: prometheus.NewRegistry()}
	set.Registry.MustRegister(collector{m.Terminals})
	shows := func(what string, want map[string]float64) {
		t.Helper()
		got := supervisortest.Gather(t, set)
		for name, n := range want {
			if v, ok := got[name]; !ok || v != n {
				t.Errorf("%s: %s is %v, want %v", what, name, v, n)
			}
		}
	}
	listed := func() (ids []string) {
		t.Helper()
		var list []wire.Terminal
		if err := json.Unmarshal(m.Terminals.ListJSON("", "", nil), &list); err != nil {
			t.Fatal(err)
		}
		for _, w := range list {
			ids = append(ids, w.ID+" "+w.State)
		}
		return ids
	}
	if ids := listed(); string(m.Terminals.ListJSON("", "", nil)) != "[]" {
		t.Errorf("%q", ids)
	}
	changed, stop := m.Terminals.Changed()
	defer stop()
	stays, ends := start(t, m, "cat"), start(t, m, "cat")
	<-changed
	sub := stays.Hub().Subscribe(stream.SubscribeOptions{})
	shows("two", map[string]float64{"evertty_active_ptys": 2, "evertty_terminals/running": 2,
		"evertty_terminals/exited": 0, "evertty_terminals/lost": 0, "evertty_viewers": 1})
	stays.Detach(sub)
	typeIn(t, ends, "\x04")
	until(t, "the end", func() bool { return !ends.Running() })
	<-changed
	shows("one", map[string]float64{"evertty_active_ptys": 1, "evertty_terminals/running": 1,
		"evertty_terminals/exited": 1, "evertty_viewers": 0})
	if ids := listed(); len(ids) != 2 || ids[0] != stays.ID+" running" || ids[1] != ends.ID+" exited" {
		t.Errorf("%q", ids)
	}
	if err := m.Terminals.RoomForViewer(); err != nil {
		t.Error(err)
	}
}
