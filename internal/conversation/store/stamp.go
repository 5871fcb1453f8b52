package store

import (
	"crypto/rand"
	"encoding/hex"
	"time"
)

// timeForm is how a conversation writes times itself. It has one length, so times sort as text.
const timeForm = "2006-01-02T15:04:05.000000Z"

func stamp(t time.Time) string { return t.UTC().Format(timeForm) }

// newID is the time and 8 hex digits, as Loader names its records.
func newID(now time.Time) string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	return now.UTC().Format("20060102T150405Z") + "-" + hex.EncodeToString(b[:])
}
