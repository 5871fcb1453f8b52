package pty_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/evertty/evertty/pty"
)

// What 1000 idle terminals may cost. What counts is that a terminal needs no thread
// of its own; how few there are (6 or 7) is asked of a quiet machine alone, for Go
// makes one for each system call that is kept waiting by other programs.
const (
	idleThreads  = 60
	quietThreads = 12
	idleStarters = 100 // start at the same time
	idleCores    = 4   // Go keeps about a thread for each core it may use, whatever it does
)

// idleMode starts the terminals, counts threads and kills all of them at once.
func idleMode() error {
	idleTerminals, idleThreads := few(1000, 200), idleThreads
	if !raceEnabled && os.Getenv("EVERTTY_TORTURE") != "" {
		idleThreads = quietThreads
	}
	runtime.GOMAXPROCS(min(idleCores, runtime.GOMAXPROCS(0)))
	goroutines, fds := runtime.NumGoroutine(), openFDs()
	began := time.Now()
	var starters, readers sync.WaitGroup
	all := make([]*pty.Process, idleTerminals)
	errs, readErrs := make([]error, idleTerminals), make([]error, idleTerminals)
	for first := range idleStarters {
		starters.Go(func() {
			for i := first; i < idleTerminals; i += idleStarters {
				p, err := pty.Start(pty.Spec{Argv: []string{"cat"}, Cols: 80, Rows: 24})
				if errs[i] = err; err != nil {
					return
				}
				all[i] = p
				readers.Go(func() { _, readErrs[i] = io.Copy(io.Discard, p) })
			}
		})
	}
	starters.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	started := time.Since(began)
	idle := threads()
	began = time.Now()
	for i, p := range all {
		starters.Go(func() { errs[i] = p.Kill(context.Background()) })
	}
	starters.Wait()
	readers.Wait()
	for i, p := range all {
		if _, err := p.Wait(context.Background()); err != nil || errs[i] != nil || readErrs[i] != nil {
			return fmt.Errorf("%w, %w, %w", err, errs[i], readErrs[i])
		}
		p.Close()
	}
	fmt.Printf("%d terminals: started in %v, %d threads when idle, killed in %v, %d threads then\n",
		idleTerminals, started, idle, time.Since(began), threads())
	if idle > idleThreads {
		return fmt.Errorf("%d threads", idle)
	}
	return leftovers(goroutines, fds)
}

func threads() int {
	entries, _ := os.ReadDir("/proc/self/task")
	return len(entries)
}

func TestIdleThreads(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for programs that do not end when they are told")
	}
	t.Log(reexec(t, "idle", nil))
}
