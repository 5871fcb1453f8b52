// Package asciicast writes and reads recordings in the formats of asciinema,
// versions 2 and 3. A Writer makes one from the entries of a journal.
package asciicast

import (
	"errors"
	"time"
)

// The versions of asciicast that are written and read
// (https://docs.asciinema.org/manual/asciicast/v3 and …/v2).
const (
	V2 = 2
	V3 = 3
)

// ContentType is the media type of both (asciicast v2, "suggested media type").
const ContentType = "application/x-asciicast"

// The codes of events. Readers skip other codes.
const (
	Output = 'o' // Data was written to the terminal
	Input  = 'i' // Data was typed
	Marker = 'm' // a place with the label Data
	Resize = 'r' // the terminal has Cols and Rows from here on
	Exit   = 'x' // the program ended with the status Data; v3 only
)

// ErrFormat is returned, wrapped with the line, for a recording that is not
// asciicast v2 or v3 or is larger in some way than a reader takes.
var ErrFormat = errors.New("not a recording in the form asciicast v2 or v3")

// Bounds of a reader.
const (
	// maxLine bounds one line, in bytes: 64 KiB of output take at most
	// 384 KiB when they are all escaped, and others may write larger events.
	maxLine = 16 << 20
	// maxSize bounds columns and rows: asciinema keeps them in 16 bits.
	maxSize = 1<<16 - 1
	// maxTime bounds the time since the beginning: no recording is so long,
	// and in microseconds it is exact in JSON's numbers.
	maxTime = 100 * 365 * 24 * time.Hour
)

// Header is the first line of a recording. Members of the formats that it
// does not have are left out when writing and skipped when reading.
type Header struct {
	Version    int       // V2 or V3
	Cols, Rows int       // at the beginning; 1..65535
	Time       time.Time // of the beginning, in seconds; zero when not known
	Type       string    // of the terminal, as in TERM; "" when not known
	Command    string    // what was recorded, "" when not known
	Title      string
	Env        map[string]string // few variables: recordings are passed on
	// IdleLimit is the longest pause a player should make; 0 for no limit.
	IdleLimit time.Duration
}

// Event is one event of a recording.
type Event struct {
	At         time.Duration // since the beginning, in both versions; never less than before
	Code       rune          // Output …
	Data       string        // valid UTF-8
	Cols, Rows int           // of a Resize; 1..65535
}

// castHeader is a header in JSON, of both versions.
type castHeader struct {
	Version   int               `json:"version"`
	Width     int               `json:"width,omitempty"`
	Height    int               `json:"height,omitempty"`
	Term      *castTerm         `json:"term,omitempty"`
	Timestamp int64             `json:"timestamp,omitempty"`
	IdleLimit float64           `json:"idle_time_limit,omitempty"`
	Command   string            `json:"command,omitempty"`
	Title     string            `json:"title,omitempty"`
	Env       map[string]string `json:"env,omitempty"`
}

type castTerm struct {
	Cols int    `json:"cols"`
	Rows int    `json:"rows"`
	Type string `json:"type,omitempty"`
}
