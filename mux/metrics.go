package mux

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/evertty/evertty/stream"
)

// Metrics are the counters of a Mux. They carry no ids, so their number does
// not grow with the terminals.
type Metrics struct {
	Registry *prometheus.Registry

	snapshotBytes    prometheus.Histogram
	snapshotSeconds  prometheus.Histogram
	recovery         prometheus.Histogram
	resyncs          *prometheus.CounterVec
	reconnects       prometheus.Counter
	failedRecoveries prometheus.Counter
	badSnapshots     prometheus.Counter
	cleaned          *prometheus.CounterVec
}

// NewMetrics makes the counters in a registry of their own, with those of the
// process: goroutines, descriptors and memory tell whether anything is left behind.
func NewMetrics() *Metrics {
	m := &Metrics{Registry: prometheus.NewRegistry()}
	m.snapshotBytes = prometheus.NewHistogram(prometheus.HistogramOpts{Name: "evertty_snapshot_bytes",
		Help: "Size of the snapshots sent to viewers, in bytes.", Buckets: prometheus.ExponentialBuckets(1<<10, 4, 8)})
	m.snapshotSeconds = prometheus.NewHistogram(prometheus.HistogramOpts{Name: "evertty_snapshot_seconds",
		Help: "Time to encode a snapshot.", Buckets: prometheus.ExponentialBuckets(50e-6, 4, 8)})
	m.recovery = prometheus.NewHistogram(prometheus.HistogramOpts{Name: "evertty_recovery_seconds",
		Help: "Time to bring a terminal's screen back from disk.", Buckets: prometheus.ExponentialBuckets(100e-6, 4, 8)})
	m.resyncs = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "evertty_viewer_snapshots_total",
		Help: "Snapshots given to viewers, by reason."}, []string{"reason"})
	m.reconnects = prometheus.NewCounter(prometheus.CounterOpts{Name: "evertty_reconnects_total",
		Help: "Connects to a terminal that was watched before."})
	m.failedRecoveries = prometheus.NewCounter(prometheus.CounterOpts{Name: "evertty_failed_recoveries_total",
		Help: "Terminals or snapshots on disk that could not be read."})
	m.badSnapshots = prometheus.NewCounter(prometheus.CounterOpts{Name: "evertty_snapshot_differences_total",
		Help: "Snapshots that did not make the screen again they were made of; counted with --verify only."})
	m.cleaned = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "evertty_cleaned_total",
		Help: "Terminals ended or freed without anybody asking, by reason."}, []string{"reason"})
	m.Registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.Registry.MustRegister(m.snapshotBytes, m.snapshotSeconds, m.recovery, m.resyncs, m.reconnects, m.failedRecoveries, m.badSnapshots, m.cleaned)
	return m
}

func (m *Metrics) snapshot(bytes int, took time.Duration) {
	m.snapshotBytes.Observe(float64(bytes))
	m.snapshotSeconds.Observe(took.Seconds())
}

func (m *Metrics) resync(r stream.Reason, again bool) {
	m.resyncs.WithLabelValues(string(r)).Inc()
	if r == stream.ReasonConnect && again {
		m.reconnects.Inc()
	}
}

// gauges of what there is now, counted when somebody asks.
var (
	activePTYs = prometheus.NewDesc("evertty_active_ptys", "Terminals whose program runs.", nil, nil)
	allPTYs    = prometheus.NewDesc("evertty_terminals", "Terminals in memory, by state.", []string{"state"}, nil)
	viewers    = prometheus.NewDesc("evertty_viewers", "Viewers of all terminals.", nil, nil)
)

var _ prometheus.Collector = (*Mux)(nil)

// Describe implements prometheus.Collector.
func (m *Mux) Describe(c chan<- *prometheus.Desc) {
	c <- activePTYs
	c <- allPTYs
	c <- viewers
}

// Collect implements prometheus.Collector.
func (m *Mux) Collect(c chan<- prometheus.Metric) {
	states := map[State]int{StateRunning: 0, StateExited: 0, StateLost: 0}
	watching := 0
	for _, t := range m.all() {
		t.mu.Lock()
		states[t.state]++
		t.mu.Unlock()
		watching += t.screen.viewers()
	}
	gauge := func(d *prometheus.Desc, v int, labels ...string) {
		c <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(v), labels...)
	}
	gauge(activePTYs, states[StateRunning])
	for s, n := range states {
		gauge(allPTYs, n, string(s))
	}
	gauge(viewers, watching)
}
