//go:build race

package conversation

// randomRuns is how many seeds the random tests have; the race detector looks for races and not for
// cases. One that fails is named in the message.
const randomRuns = 30
