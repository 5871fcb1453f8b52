package tests

import (
	"strconv"
	"testing"
	"time"
)

// serverMemory is what a server takes, in bytes.
type serverMemory struct {
	heap, stacks int // in use after a collection
	resident     int // of the machine's memory, code included
}

// memory is what the server takes now; of several looks the least, because garbage is collected now and then.
func (s *server) memory() serverMemory {
	s.t.Helper()
	return serverMemory{heap: int(s.metric("go_memstats_heap_alloc_bytes")),
		stacks:   int(s.metric("go_memstats_stack_inuse_bytes")),
		resident: status(s.t, s.pid(), "VmRSS") << 10}
}

// less is the difference for each of n terminals.
func (m serverMemory) less(o serverMemory, n int) serverMemory {
	return serverMemory{(m.heap - o.heap) / n, (m.stacks - o.stacks) / n, (m.resident - o.resident) / n}
}

// printers creates terminals that have printed so many lines of 80 characters, each its number in the first, and wait.
func (s *server) printers(n, lines int) []string {
	s.t.Helper()
	ids := make([]string, n)
	inParallel(n, func(i int) {
		ids[i] = s.create("bash", "-c", "echo mine $0; seq -f '%079.0f' $1 | cat; echo al''l; exec cat",
			strconv.Itoa(i), strconv.Itoa(lines)).ID
	})
	inParallel(n, func(i int) { s.await(ids[i], "^all$") })
	return ids
}

// TestTortureParkedMemory: what terminals of 5000 lines cost the server, awake and parked. See
// docs/develop/benchmarks.md.
func TestTortureParkedMemory(t *testing.T) {
	onlyFull(t)
	const (
		terminals = 500
		lines     = 5000
		most      = 24 << 10 // of heap and stacks for each parked one, in bytes
	)
	s := start(t, launch{})
	empty := s.memory()
	ids := s.printers(terminals, lines)
	awake := s.memory().less(empty, terminals)
	inParallel(terminals, func(i int) { s.parks(ids[i]) })
	parked := s.memory().less(empty, terminals)
	eventually(t, "the memory is given back", func() bool {
		now := s.memory().less(empty, terminals)
		parked.heap, parked.stacks = min(parked.heap, now.heap), min(parked.stacks, now.stacks)
		parked.resident = min(parked.resident, now.resident)
		return parked.heap+parked.stacks <= most && parked.resident < awake.resident/4
	})
	figure(t, "%d terminals of %d lines, bytes for each: awake %+v, parked %+v", terminals, lines, awake, parked)
}

// TestTortureParkedRestart: a server that follows kill -9 is ready soon, with every terminal still parked, and each is
// exact when it is looked at. In the long form there are 2000.
func TestTortureParkedRestart(t *testing.T) {
	if !full() { // it measures
		t.Parallel()
	}
	n := times(12, 2000)
	s := start(t, launch{listen: freePort(t)})
	ids := s.printers(n, 30)
	want := make([]string, n)
	inParallel(n, func(i int) { want[i] = s.whole(ids[i]) })
	inParallel(n, func(i int) { s.parks(ids[i]) })
	s.kill()
	begin := time.Now()
	s.again()
	ready := time.Since(begin)
	parked, err := s.List(s.ctx(), "")
	s.must(err)
	for _, i := range parked {
		if !i.Parked || i.State != "running" {
			t.Errorf("%s is %s, parked: %v", i.ID, i.State, i.Parked)
		}
	}
	if begin = time.Now(); len(parked) != n {
		t.Errorf("%d of %d are listed", len(parked), n)
	}
	inParallel(n, func(i int) {
		if got := s.whole(ids[i]); got != want[i] {
			t.Errorf("%s:\n%s\nwant\n%s", ids[i], got, want[i])
		}
	})
	figure(t, "%d parked terminals, kill -9: ready after %v, all looked at and exact %v later", n,
		ready.Round(time.Millisecond), time.Since(begin).Round(time.Millisecond))
}
