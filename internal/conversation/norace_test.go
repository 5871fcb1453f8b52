//go:build !race

package conversation

// randomRuns is how many seeds the random tests have. One that fails is named in the message.
const randomRuns = 150
