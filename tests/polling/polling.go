// Package polling waits for facts that no channel tells of: a process that ends, a file that appears. Every test that
// waits for one does it here.
package polling

import "time"

// pace is the time between two looks: short beside what a program takes to start, and no load on the machine.
const pace = 3 * time.Millisecond

// Until looks until fact is true, and reports whether it came to that within limit. It looks at least once, and once
// more at the end.
func Until(limit time.Duration, fact func() bool) bool {
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for end := time.Now().Add(limit); ; <-tick.C {
		over := time.Now().After(end)
		if fact() {
			return true
		}
		if over {
			return false
		}
	}
}
