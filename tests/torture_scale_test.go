package tests

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

// inParallel calls f with every number below n, some at a time.
func inParallel(n int, f func(i int)) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, endings)
	for i := range n {
		slots <- struct{}{}
		wg.Go(func() { defer func() { <-slots }(); f(i) })
	}
	wg.Wait()
}

// TestTortureExactScreensSoon: a hundred terminals with 8 MiB of output each are
// exact again soon after the start of a server whose forerunner was killed.
func TestTortureExactScreensSoon(t *testing.T) {
	onlyFull(t)
	const (
		terminals = 100
		output    = 8 << 20
		soon      = time.Second
	)
	for _, interval := range []string{"60s", "1h"} {
		t.Run("snapshots every "+interval, func(t *testing.T) {
			s := start(t, launch{listen: freePort(t),
				flags: append([]string{"--snapshot-interval", interval}, longJournal...)})
			k := kinds["plain"]
			count := output / k.size() // through cat: seq writes to a terminal line by line
			ids := make([]string, terminals)
			for i := range ids {
				history := floodHistory
				ids[i] = s.createWith(wire.CreateTerminal{Cols: new(80), Rows: new(24), Scrollback: &history,
					Cmd: []string{"bash", "-c", fmt.Sprintf("seq -f %%010.0f %d | cat; read", count)}}).ID
			}
			seq := count * k.size()
			for _, id := range ids {
				eventually(t, "all output is there", func() bool { return s.info(id).Seq == seq })
			}
			want := k.screen(seq, floodHistory)
			s.kill()
			begin := time.Now()
			s.again()
			ready := time.Since(begin)
			last := make([]time.Duration, terminals)
			inParallel(terminals, func(i int) {
				shot, err := s.Snapshot(t.Context(), ids[i], client.Text, client.AllHistory)
				if got := strings.TrimRight(shot.Text, "\n"); err != nil || shot.Seq != seq || got != want {
					t.Errorf("%s: at %d of %d: %v", ids[i], shot.Seq, seq, err)
				}
				last[i] = time.Since(begin)
			})
			slowest := time.Duration(0)
			for _, d := range last {
				slowest = max(slowest, d)
			}
			figure(t, "%d terminals with %d MiB of output each, snapshots every %s, kill -9: ready after %v, the "+
				"last screen exact after %v",
				terminals, output>>20, interval, ready.Round(time.Millisecond), slowest.Round(time.Millisecond))
			if slowest > soon && interval == "60s" {
				t.Errorf("the last screen took %v, want at most %v", slowest, soon)
			}
		})
	}
}

// TestTortureKeeperIsSmall: what a thousand terminals cost the keeper.
func TestTortureKeeperIsSmall(t *testing.T) {
	onlyFull(t)
	const (
		terminals  = 1000
		maxRSS     = 10 << 10 // kB
		maxThreads = 12
	)
	s := start(t, launch{listen: freePort(t)})
	pids := make([]int, terminals)
	inParallel(terminals, func(i int) { pids[i] = s.create("cat").PID })
	keeper := s.keeperPID()
	look := func(when string) {
		burst := status(t, keeper, "VmRSS")
		eventually(t, "the keeper has given back what the burst took", func() bool {
			return status(t, keeper, "VmRSS") <= maxRSS
		})
		rss, n := status(t, keeper, "VmRSS"), threads(keeper)
		figure(t, "keeper of %d terminals, %s: %d kB RSS (at once: %d), %d threads, %d descriptors; the server: %d "+
			"kB, %d threads, %d descriptors", terminals, when, rss, burst, n, len(openFiles(keeper)),
			status(t, s.pid(), "VmRSS"), threads(s.pid()), len(openFiles(s.pid())))
		if n > maxThreads {
			t.Errorf("%s: %d threads, allowed are %d", when, n, maxThreads)
		}
	}
	look("just started")
	for range 2 {
		s.kill()
		begin := time.Now()
		s.again()
		figure(t, "start with %d running terminals: %v", terminals, time.Since(begin).Round(time.Millisecond))
	}
	look("after two servers were killed")
	list, err := s.List(s.ctx(), "")
	s.must(err)
	for _, i := range list {
		if i.State != "running" || !alive(i.PID) {
			t.Errorf("%+v", i)
		}
	}
	begin := time.Now()
	s.endPrograms()
	figure(t, "the end of %d terminals: %v", terminals, time.Since(begin).Round(time.Millisecond))
	eventually(t, "the keeper has let go of them", func() bool { return len(openFiles(keeper)) < 20 })
	if n := threads(keeper); n > maxThreads {
		t.Errorf("%d threads at the end", n)
	}
}
