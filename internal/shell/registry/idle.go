package registry

import (
	"time"

	"github.com/evertty/evertty/internal/terminal"
)

// DefaultIdle is how long an exec shell may be of no use before its process ends: no conversation with a person or an
// agent pauses for longer and still counts on its traps and limits, which do not come back.
const DefaultIdle = 24 * time.Hour

// retireEvery is the time between two looks for idle shells. Each idle one costs a look at all processes.
const retireEvery = time.Minute

// RetireIdle ends the processes of shells that nobody has used for Clean.ShellIdle, until the server closes. They come
// back with their next command.
func (m *Registry) RetireIdle() {
	idle := m.cfg.Idle
	tick := time.NewTicker(min(retireEvery, idle))
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			for _, s := range m.List("") {
				if f := s.Stats(); f.PID != 0 && now.Sub(f.LastActivity) >= idle && s.Retire(idle) {
					m.cfg.Metrics.Cleaned.WithLabelValues(terminal.CleanedShell).Inc()
					m.cfg.Log.Info("cleaned up", "reason", terminal.CleanedShell, "session", s.Session, "shell", s.ID)
				}
			}
		case <-m.ctx.Done():
			return
		}
	}
}
