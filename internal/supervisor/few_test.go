package supervisor_test

import "os"

// few is how many cases a test tries: all, or under the race detector, which makes
// each about ten times as slow and finds nothing in more of them, only some.
// EVERTTY_TORTURE=1 means all.
func few(all, some int) int {
	if raceEnabled && os.Getenv("EVERTTY_TORTURE") == "" {
		return some
	}
	return all
}
