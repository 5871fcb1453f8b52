package registry

import "github.com/prometheus/client_golang/prometheus"

// Gauges of what there is now, counted on demand.
var (
	allShells  = prometheus.NewDesc("evertty_exec_shells", "Exec shells, by state.", []string{"state"}, nil)
	busyShells = prometheus.NewDesc("evertty_exec_busy", "Exec shells that run a command.", nil, nil)
	queued     = prometheus.NewDesc("evertty_exec_queued", "Commands that wait for their turn in a shell.", nil, nil)
)

// Describe sends the descriptions of the metrics of shells.
func Describe(c chan<- *prometheus.Desc) {
	c <- allShells
	c <- busyShells
	c <- queued
}

// Collect counts the shells and their commands.
func (ss *Shells) Collect(c chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v int, labels ...string) {
		c <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(v), labels...)
	}
	states := map[string]int{"running": 0, "ended": 0}
	busy, waiting := 0, 0
	for _, s := range ss.List("") {
		f := s.Stats()
		states[f.State]++
		waiting += f.Queued
		if f.Busy {
			busy++
		}
	}
	for state, n := range states {
		gauge(allShells, n, state)
	}
	gauge(busyShells, busy)
	gauge(queued, waiting)
}
