package stream

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestSnapshotIsKept: viewers that come one after the other share what was encoded, also when garbage was collected in
// between; what does not fit is not kept.
func TestSnapshotIsKept(t *testing.T) {
	made := 0
	h := plainHub(Hooks{Snapshot: func(int, time.Duration) { made++ }})
	h.Write([]byte(strings.Repeat("a line of text\r\n", 2000)))
	look := func() {
		h.Snapshot().ANSI()
		runtime.GC()
	}
	for range 3 {
		look()
	}
	if made != 1 {
		t.Errorf("encoded %d times, want once", made)
	}
	h.large.kept.Store(maxKept)
	h.Write([]byte("more"))
	made = 0
	for range 3 {
		look()
	}
	if made != 3 || h.large.kept.Load() != maxKept {
		t.Errorf("encoded %d times with no room, %d bytes are kept", made, h.large.kept.Load())
	}
}
