package mux

// MaxWaitsOf is how many waits a terminal has at once.
const MaxWaitsOf = maxWaitsOf

// WaitsOf is how many waits for t go on.
func WaitsOf(t *Terminal) int { return int(t.waits.Load()) }
