package service

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/internal/thread/sqlite"
)

// The metrics of threads. The average lifetime of a session is evertty_session_seconds_total
// over the closed ones; rates are left to the reader.
var (
	liveSessions    = prometheus.NewDesc("evertty_sessions", "Sessions of threads that are live.", nil, nil)
	createdSessions = prometheus.NewDesc("evertty_sessions_created_total", "Sessions of threads that began.", nil, nil)
	closedSessions  = prometheus.NewDesc("evertty_sessions_closed_total", "Sessions of threads that ended, by reason.",
		[]string{"reason"}, nil)
	sessionSeconds = prometheus.NewDesc("evertty_session_seconds_total", "Lifetimes of the sessions that ended.", nil,
		nil)
	stateUpdates = prometheus.NewDesc("evertty_state_updates_total", "New versions of terminals' states.", nil, nil)
	stateSame    = prometheus.NewDesc("evertty_state_unchanged_total",
		"Looks at terminals' states that found nothing new.", nil, nil)
	stateTooOften = prometheus.NewDesc("evertty_state_too_often_total",
		"Minutes in which a terminal's state changed suspiciously often.", nil, nil)
	instances      = prometheus.NewDesc("evertty_instances_created_total", "Instances made for leases.", nil, nil)
	instanceErrors = prometheus.NewDesc("evertty_instance_errors_total", "Instances for leases that could not be made.",
		nil, nil)
	threadCommands = prometheus.NewDesc("evertty_thread_commands_total",
		"Commands that were let begin in threads, or refused for their budget.", nil, nil)
	recordsWaiting = prometheus.NewDesc("evertty_records_waiting",
		"Notes that wait to be written into the records of threads.", nil, nil)
)

var approvalsWaiting = prometheus.NewDesc("evertty_approvals_waiting", "Approvals that nobody has decided yet.", nil,
	nil)

// Describe sends the descriptions of the metrics of threads.
func Describe(c chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{liveSessions, createdSessions, closedSessions, sessionSeconds, stateUpdates,
		stateSame, stateTooOften, instances,
		instanceErrors, threadCommands, recordsWaiting, approvalsWaiting} {
		c <- d
	}
}

// Collect sends the counts since this server began.
func (t *Threads) Collect(c chan<- prometheus.Metric) {
	if !t.isOpen() {
		return
	}
	s := t.counts()
	put := func(desc *prometheus.Desc, kind prometheus.ValueType, v float64, labels ...string) {
		c <- prometheus.MustNewConstMetric(desc, kind, v, labels...)
	}
	put(liveSessions, prometheus.GaugeValue, float64(s.SessionsLive))
	put(recordsWaiting, prometheus.GaugeValue, float64(len(t.recorder.queue)))
	var asked int64
	if err := t.store.View(func(tx *sqlite.Tx) (err error) {
		asked, err = tx.PendingApprovals(t.clock.now().Add(-permission.PendingFor))
		return err
	}); err == nil {
		put(approvalsWaiting, prometheus.GaugeValue, float64(asked))
	}
	put(sessionSeconds, prometheus.CounterValue, s.SessionSeconds)
	for _, reason := range thread.Reasons { // also without one yet: a rate misses the first otherwise
		put(closedSessions, prometheus.CounterValue, float64(s.SessionsClosed[reason]), reason)
	}
	for desc, n := range map[*prometheus.Desc]int64{createdSessions: s.SessionsCreated, stateUpdates: s.StateUpdates,
		stateSame:     s.StateUnchanged,
		stateTooOften: s.StateTooOften, instances: s.Instances, instanceErrors: s.InstanceErrors,
		threadCommands: s.Commands} {
		put(desc, prometheus.CounterValue, float64(n))
	}
}
