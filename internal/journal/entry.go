package journal

import "time"

// EntryKind says what an Entry of a journal is.
type EntryKind uint8

// The kinds of an Entry.
const (
	EntryOutput  EntryKind = 1 + iota // Data was written by the program (or by Journal.Write)
	EntryResize                       // the terminal has Cols and Rows from here on
	EntryInput                        // Data was typed; only with Options.Input
	EntryExit                         // the program ended as End says
	EntryRestart                      // Generation began, with Cols and Rows
	EntryGap                          // Bytes of output are not in the journal
)

// Entry is what happened next in a journal.
type Entry struct {
	Kind EntryKind
	// Seq is the position after the entry: the number of output bytes of the
	// terminal, over all its generations. Of an output entry Data ends there,
	// a gap's lost bytes end there; all other entries stand at Seq.
	Seq uint64
	// Time is when it happened, as far as is known; it never goes backwards
	// from one entry to the next. The zero value when no time is known yet.
	Time time.Time
	// Data are at most 64 KiB, valid until the next call of Next.
	Data       []byte
	Cols, Rows int    // of a resize and of a restart
	End        *End   // of an exit
	Generation int    // of a restart
	Bytes      uint64 // lost in a gap
	// Damaged says that the bytes are not known to be what the program wrote:
	// their checksum does not match, or their index was damaged.
	Damaged bool
}

// End says how a program ended.
type End struct {
	Code   *int      `json:"code,omitempty"`   // nil when a signal ended it or it is unknown
	Signal string    `json:"signal,omitempty"` // name of the signal that ended it
	Reason string    `json:"reason,omitempty"` // the server's word for it
	Time   time.Time `json:"time"`
}
