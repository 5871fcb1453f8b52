// Package memory bounds the memory of the server: new things are refused before what runs has too little.
package memory

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// ErrFull refuses new things because the server has little of its memory left.
var ErrFull = errors.New("the server has too little memory left for this")

const (
	// MinLimit is the least bound, in bytes: a server without terminals takes half of it.
	MinLimit = 64 << 20
	// fullAt and freeAt are the percents of the bound at which new things are refused, and let in again: between them
	// it stays as it is.
	fullAt, freeAt = 90, 85
	// collectAt is the percent at which the garbage collector begins to work harder, before anything is refused.
	collectAt = 80
	// garbage is how much garbage there may be before it is collected, in percent of what is in use. Most memory is
	// history, which the collector does not look at: half of Go's default costs no time that can be measured.
	garbage = 50
	// interval is the least time between two measurements.
	interval = time.Second
	// share is what a thing that was let in since the last measurement counts, in bytes: a terminal with little output.
	share = 256 << 10
)

// Bound is the bound of this process; nil is none. Safe for concurrent use.
type Bound struct {
	limit int64 // bytes

	mu      sync.Mutex
	at      time.Time // of the last measurement
	used    int64     // bytes
	let     int64     // bytes for what was let in since then
	full    bool
	refused uint64
}

// New makes the bound of limit bytes and tells the garbage collector, which GOGC tells otherwise. 0 is no bound: nil.
func New(limit int64) *Bound {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
	if limit == 0 {
		return nil
	}
	debug.SetMemoryLimit(limit / 100 * collectAt)
	return &Bound{limit: limit}
}

// Room reports whether there is room for something new. Errors: ErrFull.
func (b *Bound) Room() error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.measure()
	if !b.full {
		b.let += share
		return nil
	}
	b.refused++
	return fmt.Errorf("%w: it uses %d MiB of %d; end something, or start it with a higher --memory", ErrFull,
		b.used>>20, b.limit>>20)
}

// measure brings used and full up to date, at most once each interval.
func (b *Bound) measure() {
	if now := time.Now(); now.Sub(b.at) >= interval {
		b.at, b.used, b.let = now, resident(), 0
	}
	if percent := (b.used + b.let) / (b.limit / 100); percent >= fullAt {
		b.full = true
	} else if percent < freeAt {
		b.full = false
	}
}

// Problem says that new things are refused; "" while they are not.
func (b *Bound) Problem() string {
	if b == nil {
		return ""
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.measure(); !b.full {
		return ""
	}
	return fmt.Sprintf("memory: %d MiB of %d are used; new terminals, shells and viewers are refused", b.used>>20,
		b.limit>>20)
}

// resident is the memory that only this process uses, in bytes: proc_pid_statm(5), or what the runtime has of the
// system. Garbage that was given back does not count, nor do files.
func resident() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if f := bytes.Fields(text); err == nil && len(f) > 2 {
		all, err := strconv.ParseInt(string(f[1]), 10, 64)
		shared, e := strconv.ParseInt(string(f[2]), 10, 64)
		if err == nil && e == nil {
			return (all - shared) * int64(os.Getpagesize())
		}
	}
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64() - s[1].Value.Uint64()) //nolint:gosec // far below
}

var (
	usedBytes  = prometheus.NewDesc("evertty_memory_bytes", "Memory of the server, without files.", nil, nil)
	limitBytes = prometheus.NewDesc("evertty_memory_limit_bytes", "The bound of --memory; 0 is none.", nil, nil)
	isFull     = prometheus.NewDesc("evertty_memory_full",
		"Whether new terminals, shells and viewers are refused for lack of memory: 1 or 0.", nil, nil)
	refusals = prometheus.NewDesc("evertty_memory_refused_total", "What was refused for lack of memory.", nil, nil)
)

// Describe sends the descriptions of the metrics.
func Describe(c chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{usedBytes, limitBytes, isFull, refusals} {
		c <- d
	}
}

// Collect sends the state of the bound.
func (b *Bound) Collect(c chan<- prometheus.Metric) {
	state := Bound{used: resident()}
	if b != nil {
		b.mu.Lock()
		b.measure()
		state.used, state.limit, state.full, state.refused = b.used, b.limit, b.full, b.refused
		b.mu.Unlock()
	}
	full := 0.0
	if state.full {
		full = 1
	}
	c <- prometheus.MustNewConstMetric(usedBytes, prometheus.GaugeValue, float64(state.used))
	c <- prometheus.MustNewConstMetric(limitBytes, prometheus.GaugeValue, float64(state.limit))
	c <- prometheus.MustNewConstMetric(isFull, prometheus.GaugeValue, full)
	c <- prometheus.MustNewConstMetric(refusals, prometheus.CounterValue, float64(state.refused))
}
