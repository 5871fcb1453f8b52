package stream

import (
	"time"

	"github.com/evertty/evertty/internal/journal"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

// Options of a new hub.
type Options struct {
	// ID is the terminal's; events carry it on a WebSocket.
	ID     string
	Config vt.Config
	Engine vt.EngineFunc
	// Policy decides the size of the terminal; "" means PolicyLatest.
	Policy Policy
	Hooks  Hooks
	// Journal has all output that was written; its owner appends before it calls Write. Viewers
	// that reconnect resume from it. nil: they get a snapshot.
	Journal *journal.Journal
	// OwnHost reports whether host, as a program reported it with a directory (OSC 7), is the
	// machine that the program runs on. Directories of other hosts are ignored. It is called with
	// the hub's lock held and must return at once. nil: every host is.
	OwnHost func(host string) bool
	// Large bounds the large snapshots of all hubs of a server. nil: this hub has its own bound.
	Large *Large
}

// Hooks are called when a hub does something; each may be nil. They must be safe for concurrent
// use. Those under "locked" are called with the hub's lock held: they must return at once and
// not call the hub.
type Hooks struct {
	// Snapshot: a snapshot of so many bytes was encoded.
	Snapshot func(bytes int, took time.Duration)
	// Resync: a viewer got a snapshot.
	Resync func(r Reason)
	// Caught: a viewer was sent its first events, a snapshot or what it missed, so long after it came.
	Caught func(took time.Duration)
	// Differs: the snapshot at seq did not make a fresh engine equal to the terminal; differences
	// are the result of snapshot.Differences. With this hook every snapshot is checked before it
	// is sent, which is for debugging.
	Differs func(seq uint64, differences []string)

	// InputMode is what the line discipline does with what is typed now; ok is false where that is unknown. It waits
	// for nothing.
	InputMode func() (m wire.InputMode, ok bool)

	// Locked.

	// Changed: something besides the screen changed (title, bell, viewers, end).
	Changed func()
	// Resized: the emulator has another size from position seq on. seq counts all output
	// that was written, with the bytes of an incomplete character.
	Resized func(seq uint64, cols, rows int)
	// Marked: the shell marked its prompt or a command (OSC 133, 633); seq is the position behind
	// the mark.
	Marked func(m vt.PromptMark, seq uint64)
	// Held: the viewer with this key types alone from now on; "" is anybody, or one without a key.
	Held func(key string)
	// Reply: p is a report for the program that no output asked for.
	Reply func(p []byte)
}
