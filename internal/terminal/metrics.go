package terminal

import (
	"github.com/prometheus/client_golang/prometheus"
)

// Gauges, counted when they are read.
var (
	activePTYs = prometheus.NewDesc("evertty_active_ptys", "Terminals whose program runs.", nil, nil)
	allPTYs    = prometheus.NewDesc("evertty_terminals", "Terminals in memory, by state.", []string{"state"}, nil)
	viewers    = prometheus.NewDesc("evertty_viewers", "Viewers of all terminals.", nil, nil)
)

// Describe sends the gauges of Collect.
func Describe(c chan<- *prometheus.Desc) {
	c <- activePTYs
	c <- allPTYs
	c <- viewers
}

// Collect sends the number of terminals and viewers.
func (r *Registry) Collect(c chan<- prometheus.Metric) {
	states := map[string]int{StateRunning: 0, StateExited: 0, StateLost: 0}
	watching := 0
	for _, t := range r.All() {
		t.mu.Lock()
		states[t.state]++
		t.mu.Unlock()
		watching += t.facts().Viewers
	}
	gauge(c, activePTYs, states[StateRunning])
	for s, n := range states {
		gauge(c, allPTYs, n, s)
	}
	gauge(c, viewers, watching)
}

func gauge(c chan<- prometheus.Metric, d *prometheus.Desc, v int, labels ...string) {
	c <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(v), labels...)
}
