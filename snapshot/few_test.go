package snapshot

import "os"

// few is how many cases a test tries: all, or only some under the race detector,
// which makes each about ten times as slow and finds nothing in more of them, and
// with EVERTTY_TEST_FEW=1. EVERTTY_TORTURE=1 means all.
func few(all, some int) int {
	fewer := raceEnabled || os.Getenv("EVERTTY_TEST_FEW") != ""
	if fewer && os.Getenv("EVERTTY_TORTURE") == "" {
		return some
	}
	return all
}
