package service

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/internal/thread/sqlite"
)

// ErrNoStore is the error of everything durable when the database could not be opened. Terminals
// and shells work without it.
var ErrNoStore = errors.New("there are no records of threads")

// Store is *sqlite.Store; a test puts one that fails in its place. The contract of both methods is
// theirs.
type Store interface {
	View(fn func(*sqlite.Tx) error) error
	Update(fn func(*sqlite.Tx) error) error
}

// database changes the rows of threads, and the memory beside them. Safe for concurrent use.
//
// Locks: a thread's own, then a lease's own, both held over calls to providers; then writing, then
// the mutex of memory, under which nothing waits.
type database struct {
	store Store // nil without a database. Constant after Threads.Open
	why   error // why there is no store

	// The defaults of a new thread. Constant.
	policy   thread.Policy
	chosen   bool // somebody asked for policy: see thread.Thread.Chosen
	provider string
	// providers are where processes can run, by name; an instance has the name of its lease. setup
	// says how to set up those that a server can have. Constant.
	providers map[string]provider.Lifecycle
	setup     map[string]string

	// notify gets every event after it is kept, of one thread in the order of their numbers. It
	// returns at once and does not call the database.
	notify func(thread.Event)

	threadLocks locks
	leaseLocks  locks
	writing     sync.Mutex // one change at a time, so that events are notified in their order
	memory
}

// isOpen reports whether there is a database.
func (d *database) isOpen() bool { return d.store != nil }

// available says why there is no database, nil when there is one. Errors: ErrNoStore.
func (d *database) available() error {
	if !d.isOpen() {
		return fmt.Errorf("%w: %w", ErrNoStore, d.why)
	}
	return nil
}

// load takes the live sessions into memory. One that began in the future, because the clock was set
// back while no server ran, begins now: else it would not end for as long as the clock was wrong.
func (d *database) load() error {
	return d.update(func(c *change) error {
		list, err := c.LiveSessions()
		if err != nil {
			return err
		}
		for _, s := range list {
			if s.StartedAt.After(c.now) || s.LastActiveAt.After(c.now) {
				s.StartedAt, s.LastActiveAt = earlier(s.StartedAt, c.now), earlier(s.LastActiveAt, c.now)
				c.PutSession(s)
			}
			d.live[s.Thread] = &window{Session: s}
		}
		return nil
	})
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// change is one transaction with what follows it.
type change struct {
	*sqlite.Tx
	db      *database
	now     time.Time
	events  []thread.Event
	after   []func() // with the mutex of memory, when the change is kept
	refused error    // for the caller, although what says so is kept
}

// update makes a change, then what follows it. Errors: ErrNoStore, any of the store and of fn.
func (d *database) update(fn func(*change) error) error {
	if err := d.available(); err != nil {
		return err
	}
	d.writing.Lock()
	defer d.writing.Unlock()
	c := &change{db: d, now: d.clock.now()}
	err := d.store.Update(func(tx *sqlite.Tx) error {
		c.Tx = tx
		return fn(c)
	})
	if err != nil {
		return err
	}
	d.mu.Lock()
	for _, f := range c.after {
		f()
	}
	d.mu.Unlock()
	for _, e := range c.events {
		d.notify(e)
	}
	return c.refused
}

// view reads rows as of one instant. Errors: ErrNoStore, any of the store and of fn.
func (d *database) view(fn func(*sqlite.Tx) error) error {
	if err := d.available(); err != nil {
		return err
	}
	return d.store.View(fn)
}

// read is what a query finds.
func read[T any](d *database, query func(*sqlite.Tx) (T, error)) (v T, err error) {
	return v, d.view(func(tx *sqlite.Tx) error { v, err = query(tx); return err })
}

// readOf is read for rows of a thread. Errors: also thread.ErrNotFound.
func readOf[T any](d *database, threadID string, query func(*sqlite.Tx) (T, error)) (v T, err error) {
	return v, d.view(func(tx *sqlite.Tx) error {
		if _, err := tx.Thread(threadID); err != nil {
			return err
		}
		v, err = query(tx)
		return err
	})
}

// thread finds a thread. Errors: thread.ErrNotFound.
func (d *database) thread(id string) (thread.Thread, error) {
	return read(d, func(tx *sqlite.Tx) (thread.Thread, error) { return tx.Thread(id) })
}

// terminal finds a terminal. Errors: thread.ErrNotFound.
func (d *database) terminal(id string) (thread.Terminal, error) {
	return read(d, func(tx *sqlite.Tx) (thread.Terminal, error) { return tx.Terminal(id) })
}

// lease finds a lease. Errors: thread.ErrNotFound.
func (d *database) lease(id string) (thread.Lease, error) {
	return read(d, func(tx *sqlite.Tx) (thread.Lease, error) { return tx.Lease(id) })
}

// emit adds an event to a thread's own, and returns Err.
func (c *change) emit(threadID, kind string, d thread.Detail) error {
	e := thread.Event{ThreadID: threadID, Type: kind, At: c.now, Data: d}
	e.Seq = c.AddEvent(e)
	c.events = append(c.events, e)
	return c.Err()
}

// putSession writes a session, here and in memory.
func (c *change) putSession(s thread.Session) {
	c.PutSession(s)
	c.after = append(c.after, func() { c.db.remember(s) })
}

// outcome is the error of one of several changes, which came with err. The others are kept all the
// same.
func (c *change) outcome(err error) error { return cmp.Or(err, c.TakeErr()) }

// count changes the stats when the change is kept.
func (c *change) count(f func(*Stats)) {
	c.after = append(c.after, func() { f(&c.db.stats) })
}

func missing(err error) bool { return errors.Is(err, thread.ErrNotFound) }

// gone is err unless it says that there is nothing to change.
func gone(err error) error {
	if missing(err) {
		return nil
	}
	return err
}

// noProvider says that a provider is not set up, and which are.
func (d *database) noProvider(given string) error {
	return &thread.NoProvider{Given: given, Known: slices.Sorted(maps.Keys(d.providers)), Setup: d.setup[given]}
}
