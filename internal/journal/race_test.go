//go:build race

package journal

// damageStep: the race detector cannot find anything in TestJournalDamage, which starts no goroutine, and makes it four
// times as long. make test has it at every place without the detector.
const damageStep = 7
