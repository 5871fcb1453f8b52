package vt

// meter counts the work of an engine, so that a call can stop after a bounded amount
// of it. One unit is a byte that is read or a cell that is touched: a few nanoseconds. It
// counts and does not look at a clock, so the same output always costs the same.
// The zero value is ready.
type meter struct {
	done  int // units so far
	limit int // of done: bounded work stops behind it
}

// Add counts n units.
func (m *meter) Add(n int) { m.done += n }

// What is counted for things that take longer than a unit for each of their bytes or cells.
const (
	costSequence = 8  // units: a control sequence, a string, a run of characters
	costRow      = 4  // a row that is moved, or looked at
	costHistory  = 16 // a row that goes to the history
	costCopy     = 16 // bytes that are copied at once, for a unit
)

// maxRun is how many bytes are printed at once while the work is bounded: every one
// of them may scroll the tallest screen.
const maxRun = 512
