package terminal

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Gauges, counted when they are read.
var (
	activePTYs = prometheus.NewDesc("evertty_active_ptys", "Terminals whose program runs.", nil, nil)
	allPTYs    = prometheus.NewDesc("evertty_terminals", "Terminals in memory, by state.", []string{"state"}, nil)
	parkedPTYs = prometheus.NewDesc("evertty_parked_ptys", "Terminals whose screens are on the disk only.", nil, nil)
	viewers    = prometheus.NewDesc("evertty_viewers", "Viewers of all terminals.", nil, nil)
	lagBytes   = prometheus.NewDesc("evertty_viewer_lag_bytes", "Output that waits for the slowest viewer.", nil, nil)
	lagSeconds = prometheus.NewDesc("evertty_viewer_lag_seconds",
		"How long output has waited for the viewer that waits longest.", nil, nil)
	journals = prometheus.NewDesc("evertty_journal_bytes", "Size of all journals on disk.", nil, nil)
	screens  = prometheus.NewDesc("evertty_screens_bytes", "Memory of all screens with their history.", nil, nil)
)

// Describe sends the gauges of Collect.
func Describe(c chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{activePTYs, allPTYs, parkedPTYs, viewers, lagBytes, lagSeconds,
		journals, screens} {
		c <- d
	}
}

// Collect sends the number of terminals and viewers.
func (r *Registry) Collect(c chan<- prometheus.Metric) {
	states := map[string]int{StateRunning: 0, StateExited: 0, StateLost: 0}
	watching, memory, waiting, parked := 0, 0, 0, 0
	kept, age := int64(0), time.Duration(0)
	for _, t := range r.All() {
		t.mu.Lock()
		states[t.state]++
		t.mu.Unlock()
		f := t.facts()
		if t.Parked() {
			parked++
		}
		watching, memory = watching+f.Viewers, memory+f.Memory
		if f.Attached > 0 {
			b, a := t.Hub().Lag()
			waiting, age = max(waiting, b), max(age, a)
		}
		if t.journal != nil {
			kept += t.journal.Bytes()
		}
	}
	gauge(c, activePTYs, states[StateRunning])
	for s, n := range states {
		gauge(c, allPTYs, n, s)
	}
	gauge(c, parkedPTYs, parked)
	gauge(c, viewers, watching)
	gauge(c, lagBytes, waiting)
	gauge(c, screens, memory)
	gauge(c, journals, kept)
	gauge(c, lagSeconds, age.Seconds())
}

func gauge[N int | int64 | float64](c chan<- prometheus.Metric, d *prometheus.Desc, v N, labels ...string) {
	c <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(v), labels...)
}
