package proc

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// Usage is what a process and all that it started use.
type Usage struct {
	// CPU is their processor time so far, with that of children that ended and were waited for. It becomes less when
	// a process ends that nobody waits for.
	CPU       time.Duration
	Memory    int64 // resident, in bytes; what processes share counts in each
	Processes int   // without zombies
}

// fieldResident is the field of the resident pages, as fieldState.
const fieldResident = 21

// UsageOf returns what the trees of processes use, in the order of roots, which are process ids. A process belongs to
// the nearest root above it, else to the one of its session's leader. It costs a listing of /proc and one read for each
// process of a tree. Errors: the kernel's, when /proc cannot be read.
func UsageOf(roots []int) ([]Usage, error) {
	t, err := cache.fresh()
	if err != nil {
		return nil, fmt.Errorf("proc: usage: %w", err)
	}
	owners := make(map[int]int, len(t.byPID))
	for i, pid := range roots {
		owners[pid] = i
	}
	list := make([]Usage, len(roots))
	for pid := range t.byPID {
		if i := t.owner(owners, pid); i >= 0 {
			list[i].add(line(pid))
		}
	}
	return list, nil
}

// owner is the index of the root that a process belongs to, -1 for none. owners is what is known of it.
func (t *table) owner(owners map[int]int, pid int) int {
	if i, known := owners[pid]; known {
		return i
	}
	owners[pid] = -1 // for the time of the search: a table is made over time, so that it may hold a circle
	p, ok := t.byPID[pid]
	if !ok {
		return -1
	}
	i := t.owner(owners, p.Parent)
	if i < 0 {
		i = t.owner(owners, p.Session)
	}
	owners[pid] = i
	return i
}

// add adds a process by its line of /proc/PID/stat, empty for one that is gone.
func (u *Usage) add(line []byte) {
	p, ok := parseStat(line)
	if !ok {
		return
	}
	times, timesOK := statFields(line, fieldTimes, 4)
	pages, pagesOK := statFields(line, fieldResident, 1)
	if !timesOK || !pagesOK {
		return
	}
	for _, ticks := range times {
		u.CPU += time.Duration(ticks) * Tick
	}
	u.Memory += int64(pages[0]) * int64(unix.Getpagesize())
	if !p.Ended {
		u.Processes++
	}
}
