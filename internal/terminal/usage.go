package terminal

import (
	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/wire"
)

// Usages are what terminals use, in their order; nil for one that does not run. atPrompt reports whether a shell waits
// for a command there. It reads /proc once for all. Errors: the kernel's.
func Usages(list []*Terminal, atPrompt func(*Terminal) bool) ([]*wire.TerminalUsage, error) {
	usages := make([]*wire.TerminalUsage, len(list))
	var roots, at []int
	for i, t := range list {
		if t.Running() && t.process != nil {
			roots, at = append(roots, t.process.PID()), append(at, i)
		}
	}
	used, err := proc.UsageOf(roots)
	if err != nil {
		return nil, err
	}
	for n, i := range at {
		t, u := list[i], used[n]
		w := &wire.TerminalUsage{CPUSeconds: u.CPU.Seconds(), RSSBytes: u.Memory, Processes: u.Processes, WaitsFor: "none"}
		if t.facts().Attached > 0 { // else nobody may be behind, and a parked one stays so
			lag, age := t.Hub().Lag()
			w.LagBytes, w.LagSeconds = lag, age.Seconds()
		}
		if atPrompt(t) {
			w.WaitsFor = "command"
		}
		usages[i] = w
	}
	return usages, nil
}
