// Package descriptors keeps a part of the process's file descriptors for running things: new ones
// are refused before the system refuses everything.
package descriptors

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/evertty/evertty/internal/memory"
	"github.com/evertty/evertty/internal/proc"
)

// ErrExhausted refuses new things because the server has few file descriptors left, which the
// running ones may need.
var ErrExhausted = errors.New("the server has too few file descriptors left for this")

// What a new thing may need here while it starts, in descriptors; afterwards most have fewer.
const (
	Terminal = 12 // master, far end, pipe, plan, pidfd, journal with its index, a snapshot being written
	Shell    = 16 // FIFOs, their duplicates for another keeper, pidfd, record, state
	Command  = 10 // three FIFOs with duplicates, two logs, its record
	viewer   = 1  // besides its connection, which is there already: a journal that it catches up from
)

// The reserve that new things leave alone: what runs needs it for the next segment of a journal,
// snapshots, the database, looks at /proc, and requests that end something.
const (
	reservePart            = 8 // of the limit: one in so many
	minReserve, maxReserve = 32, 512
)

// writing is what a write of a terminal's files has open: its directory, the file, one more of the
// journal.
const writing = 3

// WritesAtOnce is how many terminals may have their files written side by side, at most most: they
// take a quarter of the reserve, and at least one goes on.
func WritesAtOnce(most int) int {
	_, limit, err := proc.Descriptors()
	if err != nil {
		return most
	}
	return max(min(most, reserveOf(limit)/4/writing), 1)
}

// asleep are the descriptors of this process that were closed for a while.
var asleep atomic.Int64

// Sleep notes n descriptors that what runs has closed for a while and will open again: new things leave them alone.
// With a negative n they are open again, or not needed any more.
func Sleep(n int) { asleep.Add(int64(n)) }

// inUse is proc.Descriptors with those that sleep.
func inUse() (open, limit int, err error) {
	open, limit, err = proc.Descriptors()
	return open + int(asleep.Load()), limit, err
}

// Budget decides whether there is room for something new. The zero value is ready.
type Budget struct {
	Memory *memory.Bound // asked first; nil is none

	mu       sync.Mutex
	promised int // to things that start
}

// reserveOf is how many of a limit are left alone.
func reserveOf(limit int) int { return min(max(limit/reservePart, minReserve), maxReserve) }

// Take promises n descriptors for something new until release is called. Errors: ErrExhausted, memory.ErrFull.
func (d *Budget) Take(n int) (release func(), err error) {
	if err := d.Memory.Room(); err != nil {
		return nil, err
	}
	return d.TakeHere(n)
}

// TakeHere is Take for something that is there, as a command in a shell. Errors: ErrExhausted.
func (d *Budget) TakeHere(n int) (release func(), err error) {
	open, limit, err := inUse()
	if err != nil {
		return func() {}, nil //nolint:nilerr // no /proc: the start fails by itself
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if reserve := reserveOf(limit); open+d.promised+n > limit-reserve {
		return nil, fmt.Errorf("%w: %d of %d are open, and %d are kept for what runs; end something, or start the "+
			"server with a higher limit (ulimit -n, LimitNOFILE)", ErrExhausted, open, limit, reserve)
	}
	d.promised += n
	return func() {
		d.mu.Lock()
		d.promised -= n
		d.mu.Unlock()
	}, nil
}

// RoomForViewer reports whether there is room for one more viewer. Errors: as Take.
func (d *Budget) RoomForViewer() error {
	release, err := d.Take(viewer)
	if err == nil {
		release()
	}
	return err
}

// RoomForConnection reports whether there is room for one more connection: until half of the
// reserve is used up, so that requests that end something get through.
func RoomForConnection() bool {
	open, limit, err := inUse()
	return err != nil || open <= limit-reserveOf(limit)/2
}
