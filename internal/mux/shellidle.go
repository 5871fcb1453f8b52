package mux

import "time"

// DefaultShellIdle is how long an exec shell may be of no use before its process ends: no conversation with a person or an agent pauses for longer and still
// counts on its traps and limits, which do not come back.
const DefaultShellIdle = 24 * time.Hour

// retireEvery is the time between two looks for idle shells. Each idle one costs a look at all processes.
const retireEvery = time.Minute

// retireShells ends the processes of shells that nobody has used for Clean.ShellIdle, until the Mux closes. They come back with their next command.
func (m *Shells) retireShells() {
	idle := m.cfg.Idle
	tick := time.NewTicker(min(retireEvery, idle))
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			for _, s := range m.Shells("") {
				if f := s.Stats(); f.PID != 0 && now.Sub(f.LastActivity) >= idle && s.Retire(idle) {
					m.cfg.Metrics.cleaned.WithLabelValues(cleanedShell).Inc()
					m.cfg.Log.Info("cleaned up", "reason", cleanedShell, "session", s.Session, "shell", s.ID)
				}
			}
		case <-m.ctx.Done():
			return
		}
	}
}
