package shell

import (
	"time"

	"github.com/evertty/evertty/internal/shell/proctree"
	"github.com/evertty/evertty/internal/shell/shelldir"
)

// Retire ends the process of an idle shell: no command has its turn, waits or runs beside it, no background process
// is left, and its state is captured. The next command starts the shell again (Result.Recreated). It reports whether
// the process has ended.
func (s *Shell) Retire(idle time.Duration) bool {
	s.submitting.Lock() // nobody gets a turn meanwhile
	defer s.submitting.Unlock()
	waiting, beside, busy := s.queue.counts() // before the look at the capture: a turn begins with one
	s.mu.Lock()
	proc := s.proc
	unused := shelldir.Closed(s.captured) && !s.deleted && !s.detached() && !busy && waiting == 0 && beside == 0 &&
		time.Since(s.active) >= idle
	s.mu.Unlock()
	if !unused || proc == nil || shelldir.Closed(proc.Ended) {
		return false
	}
	list, err := proctree.Belonging(s.spec.Dir, s.config.Keeper.LastPID())
	if err != nil {
		return false
	}
	for _, p := range list {
		if p.PID != proc.Proc().PID && p.PID != proc.Launcher() {
			return false
		}
	}
	proc.Kill()
	select {
	case <-proc.Ended:
		return true
	case <-time.After(endGrace):
		return false
	}
}
