package terminal

import (
	"context"
	"runtime"
	"testing"
	"time"
)

// TestReleasesAreBounded: memory that is freed all the time does not make the server collect garbage all the time.
func TestReleasesAreBounded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := &Registry{parking: newParking(), ctx: ctx}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.releaseParked()
	}()
	forced := func() uint32 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.NumForcedGC
	}
	before := forced()
	for range 100 {
		r.parking.free(releaseAtOnce)
		time.Sleep(2 * time.Millisecond) // in which an unbounded one would begin again
	}
	cancel()
	<-ended
	if n := forced() - before; n < 1 || n > 2 {
		t.Errorf("%d collections of garbage, want one", n)
	}
}
