package terminal

import (
	"sync"
	"sync/atomic"

	"github.com/evertty/evertty/internal/journal"
)

// files are what the disk has of a terminal: record, snapshots, journal. saving is held while they, and
// what goes into them, are read or written; the disk may be slow. Everything without a comment about
// saving is atomic.
type files struct {
	t *Terminal

	journal      *journal.Journal // of a program that this server has run; it has its own lock
	endedJournal endedJournal     // of any other

	saving sync.Mutex
	purged bool      // they are removed, or belong to the next generation; guarded by saving
	kept   [2]uint64 // positions of the snapshots on disk, the older first; guarded by saving

	// Which screen the newest snapshot has, to know when another is needed.
	changes   atomic.Uint64 // grows with each change worth a snapshot
	saved     atomic.Uint64 // changes at the newest snapshot
	savedSeq  atomic.Uint64 // position of that snapshot
	savedWork atomic.Int64  // stream.Stats.Worked then

	// What maintenance has to do. Who sets one of the flags raises it, see raise.
	active        atomic.Bool  // something happened since the last call of maintain
	unsynced      atomic.Bool  // the journal may have something that the disk need not keep
	grown         atomic.Bool  // sizes may have changed since they were read for the quotas
	synced        atomic.Int64 // when the journal was synced last, in ns since 1970
	printed       atomic.Bool  // see Registry.TakePrinted
	checkpointing atomic.Bool  // enforceQuota writes a snapshot
	diskBytes     atomic.Int64

	failures [failureKinds]atomic.Pointer[string] // what cannot be written, nil for what can
}

// resized writes a resize to the journal at its position in the output.
func (f *files) resized(seq uint64, cols, rows int) {
	if !f.t.replaying.Load() {
		f.journal.Resized(seq, cols, rows)
	}
}
