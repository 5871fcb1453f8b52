package wait

import (
	"errors"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/terminal"
)

// TestDuration: both limits are allowed, and nothing beyond them.
func TestDuration(t *testing.T) {
	most := maxTimeout.Milliseconds()
	for ms, want := range map[int64]time.Duration{0: time.Hour, 1: time.Millisecond, most: maxTimeout, -1: 0, most + 1: 0} {
		got, err := duration("timeout_ms", ms, time.Hour)
		if got != want || errors.Is(err, terminal.ErrInvalid) != (want == 0) {
			t.Errorf("%d: %v, %v", ms, got, err)
		}
	}
}
