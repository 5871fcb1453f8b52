package registry

import (
	"time"

	"github.com/evertty/evertty/internal/metrics"
)

// DefaultIdle is the idle time after which the process of an exec shell ends: pauses in a conversation are shorter,
// and traps and limits, which are not restored, matter no longer then.
const DefaultIdle = 24 * time.Hour

// retireEvery is the time between two looks for idle shells. Each idle one costs a scan of all processes.
const retireEvery = time.Minute

// RetireIdle ends the processes of shells that were idle for Config.Idle, until the server closes. The next command
// of such a shell starts it again.
func (ss *Shells) RetireIdle() {
	idle := ss.cfg.Idle
	tick := time.NewTicker(min(retireEvery, idle))
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			for _, s := range ss.List("") {
				if f := s.Stats(); f.PID != 0 && now.Sub(f.LastActivity) >= idle && s.Retire(idle) {
					ss.cfg.Metrics.Cleaned.WithLabelValues(metrics.CleanedShell).Inc()
					ss.cfg.Log.Info("cleaned up", "reason", metrics.CleanedShell, "session", s.Session, "shell", s.ID)
				}
			}
		case <-ss.ctx.Done():
			return
		}
	}
}
