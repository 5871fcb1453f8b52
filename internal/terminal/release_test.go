package terminal

import (
	"context"
	"runtime"
	"runtime/debug"
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
	release := func() time.Duration {
		began := time.Now()
		for r.parking.free(releaseAtOnce); r.parking.freed.Load() > 0; {
			runtime.Gosched()
		}
		return time.Since(began)
	}
	release()
	began := time.Now()
	debug.FreeOSMemory()
	one := time.Since(began)
	if took := release(); took < releaseShare/10*one {
		t.Errorf("the second release came after %v, one takes %v", took, one)
	}
	cancel()
	<-ended
}
