package server

import (
	"fmt"
	"log/slog"
	"runtime/debug"
)

// panicked logs a recovered panic with its stack and returns it as an error
// without a row in the table, which is 500 INTERNAL.
func panicked(log *slog.Logger, p any) error {
	log.Error("invariant violation: a handler panicked", "panic", p, "stack", string(debug.Stack()))
	return fmt.Errorf("invariant violation: %v", p)
}
