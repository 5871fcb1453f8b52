// Package metrics has the counters of a server (Prometheus).
package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/evertty/evertty/internal/shell"
	"github.com/evertty/evertty/stream"
)

// The reasons of evertty_cleaned_total.
const (
	CleanedIdle       = "idle"
	CleanedUnattached = "unattached"
	CleanedOldest     = "limit"
	CleanedJournal    = "journal_quota"
	CleanedSnapshot   = "snapshot_quota"
	CleanedAge        = "age"
	CleanedShell      = "shell_idle"
	CleanedExecLog    = "exec_log_quota"
)

// Set is the counters of a server. They carry no ids, so their number does
// not grow with the terminals.
type Set struct {
	Registry *prometheus.Registry

	snapshotBytes    prometheus.Histogram
	snapshotSeconds  prometheus.Histogram
	Recovery         prometheus.Histogram
	resyncs          *prometheus.CounterVec
	reconnects       prometheus.Counter
	FailedRecoveries prometheus.Counter
	BadSnapshots     prometheus.Counter
	Cleaned          *prometheus.CounterVec
	commands         *prometheus.CounterVec
	commandSeconds   prometheus.Histogram
	caughtSeconds    prometheus.Histogram
	JournalDropped   prometheus.Counter
	journalErrors    *prometheus.CounterVec
	appendSeconds    prometheus.Histogram
	syncSeconds      prometheus.Histogram
}

// New makes the counters in a registry of their own, with the process's: goroutines, descriptors
// and memory show a leak.
func New() *Set {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	with := promauto.With(registry)
	m := &Set{
		Registry: registry,
		snapshotBytes: with.NewHistogram(prometheus.HistogramOpts{Name: "evertty_snapshot_bytes",
			Help:    "Size of the snapshots sent to viewers, in bytes.",
			Buckets: prometheus.ExponentialBuckets(1<<10, 4, 8)}),
		snapshotSeconds: with.NewHistogram(prometheus.HistogramOpts{Name: "evertty_snapshot_seconds",
			Help: "Time to encode a snapshot.", Buckets: prometheus.ExponentialBuckets(50e-6, 4, 8)}),
		Recovery: with.NewHistogram(prometheus.HistogramOpts{Name: "evertty_recovery_seconds",
			Help:    "Time to bring a terminal's screen back from disk.",
			Buckets: prometheus.ExponentialBuckets(100e-6, 4, 8)}),
		resyncs: with.NewCounterVec(prometheus.CounterOpts{Name: "evertty_viewer_snapshots_total",
			Help: "Snapshots given to viewers, by reason."}, []string{"reason"}),
		reconnects: with.NewCounter(prometheus.CounterOpts{Name: "evertty_reconnects_total",
			Help: "Connects to a terminal that was watched before."}),
		FailedRecoveries: with.NewCounter(prometheus.CounterOpts{Name: "evertty_failed_recoveries_total",
			Help: "Terminals or snapshots on disk that could not be read."}),
		BadSnapshots: with.NewCounter(prometheus.CounterOpts{Name: "evertty_snapshot_differences_total",
			Help: "Snapshots that did not make the screen again they were made of; counted with --verify only."}),
		Cleaned: with.NewCounterVec(prometheus.CounterOpts{Name: "evertty_cleaned_total",
			Help: "Terminals ended or freed, and shells ended, without anybody asking, by reason."},
			[]string{"reason"}),
		commands: with.NewCounterVec(prometheus.CounterOpts{Name: "evertty_exec_commands_total",
			Help: "Commands of exec shells that have ended, by result: ok (exit code 0), failed, timeout or " +
				"cancelled."}, []string{"result"}),
		commandSeconds: with.NewHistogram(prometheus.HistogramOpts{Name: "evertty_exec_seconds",
			Help:    "Time from the start of a shell's command to its end.",
			Buckets: prometheus.ExponentialBuckets(500e-6, 4, 12)}),
		caughtSeconds: with.NewHistogram(prometheus.HistogramOpts{Name: "evertty_viewer_recovery_seconds",
			Help:    "Time from the connect of a viewer until it was sent the screen, or what it had missed.",
			Buckets: prometheus.ExponentialBuckets(250e-6, 2, 16)}),
		JournalDropped: with.NewCounter(prometheus.CounterOpts{Name: "evertty_journal_dropped_bytes_total",
			Help: "Bytes of journals that were removed to keep within a quota."}),
		journalErrors: with.NewCounterVec(prometheus.CounterOpts{Name: "evertty_journal_errors_total",
			Help: "Writes of journals that failed, by operation: append or sync."}, []string{"operation"}),
		appendSeconds: with.NewHistogram(prometheus.HistogramOpts{Name: "evertty_journal_append_seconds",
			Help:    "Time to move a piece of output into a journal.",
			Buckets: prometheus.ExponentialBuckets(10e-6, 4, 10)}),
		syncSeconds: with.NewHistogram(prometheus.HistogramOpts{Name: "evertty_journal_sync_seconds",
			Help: "Time to force a journal to the disk.", Buckets: prometheus.ExponentialBuckets(100e-6, 4, 9)}),
	}
	m.begin()
	return m
}

// begin shows the zeros: a rate needs the one before the first event.
func (m *Set) begin() {
	for _, operation := range []string{"append", "sync"} {
		m.journalErrors.WithLabelValues(operation)
	}
	for _, result := range []string{"ok", "failed", "timeout", "cancelled"} {
		m.commands.WithLabelValues(result)
	}
	for _, r := range []stream.Reason{stream.ReasonConnect, stream.ReasonLag, stream.ReasonResize,
		stream.ReasonRestore} {
		m.resyncs.WithLabelValues(string(r))
	}
	for _, reason := range []string{CleanedIdle, CleanedUnattached, CleanedOldest, CleanedJournal, CleanedSnapshot,
		CleanedAge, CleanedShell, CleanedExecLog} {
		m.Cleaned.WithLabelValues(reason)
	}
}

// Snapshot counts an encoded snapshot for viewers.
func (m *Set) Snapshot(bytes int, took time.Duration) {
	m.snapshotBytes.Observe(float64(bytes))
	m.snapshotSeconds.Observe(took.Seconds())
}

// Resync counts a snapshot by its reason. again says that the viewer was connected before.
func (m *Set) Resync(r stream.Reason, again bool) {
	m.resyncs.WithLabelValues(string(r)).Inc()
	if r == stream.ReasonConnect && again {
		m.reconnects.Inc()
	}
}

// ViewerCaught counts a viewer that was sent the screen, or what it had missed.
func (m *Set) ViewerCaught(took time.Duration) { m.caughtSeconds.Observe(took.Seconds()) }

// JournalAppend counts a piece of output that was written, or could not be.
func (m *Set) JournalAppend(took time.Duration, err error) {
	m.appendSeconds.Observe(took.Seconds())
	m.journalFailed("append", err)
}

// JournalSync counts a journal that was forced to the disk, or could not be.
func (m *Set) JournalSync(took time.Duration, err error) {
	m.syncSeconds.Observe(took.Seconds())
	m.journalFailed("sync", err)
}

func (m *Set) journalFailed(operation string, err error) {
	if err != nil {
		m.journalErrors.WithLabelValues(operation).Inc()
	}
}

// Command counts a command that has ended. It is called after every change.
func (m *Set) Command(i shell.Info) {
	result := resultOf(i)
	if result == "" {
		return
	}
	m.commands.WithLabelValues(result).Inc()
	if !i.StartedAt.IsZero() && !i.FinishedAt.IsZero() {
		m.commandSeconds.Observe(i.FinishedAt.Sub(i.StartedAt).Seconds())
	}
}

// resultOf is how a command ended in one word, "" while it has not.
func resultOf(i shell.Info) string {
	r := i.Result
	switch {
	case i.Status == shell.Queued || i.Status == shell.Running:
		return ""
	case r != nil && r.TimedOut:
		return "timeout"
	case i.Status == shell.Cancelled || r != nil && r.Cancelled:
		return "cancelled"
	case i.Status == shell.Failed || r == nil || r.ExitCode != 0:
		return "failed"
	}
	return "ok"
}
