package client

import (
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/strictmodes/strictmodestest"
	"github.com/evertty/evertty/tests/polling"
)

func TestMain(m *testing.M) { os.Exit(strictmodestest.Main(m)) }

// deadline bounds how long a test waits for a fact.
const deadline = time.Minute

// eventually waits until the fact holds.
func eventually(t *testing.T, what string, fact func() bool) {
	t.Helper()
	if !polling.Until(deadline, fact) {
		t.Fatalf("not within %v: %s", deadline, what)
	}
}

// noLeak fails the test when it leaves goroutines behind.
func noLeak(t *testing.T) {
	t.Helper()
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		eventually(t, "all goroutines of the test have ended", func() bool {
			return runtime.NumGoroutine() <= before
		})
	})
}
