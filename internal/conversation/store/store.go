package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/thread"
)

// Config is what Conversations need. All is given but Files, NoFiles and Clock.
type Config struct {
	Store Database
	// Files has the conversation files, which Conversations.Close closes; nil is none, and NoFiles
	// says why.
	Files    *Files
	NoFiles  error
	Clock    thread.Clock         // nil is time.Now
	Enforcer *permission.Enforcer // decides in memory
	// Notify is called after a thread's new event was committed. It must return
	// at once and must not call Conversations.
	Notify func(thread string)
	// Failed reports errors of work without a caller, and why a conversation's file cannot be saved:
	// once until a save succeeds. The database has the record all the same.
	Failed func(error)
}

// Conversations keeps the conversations of all threads, and their permissions. Safe for concurrent
// use; one change of a conversation runs at a time. What a method returned survives a kill of this
// process.
//
// Methods take the thread's id. Writing methods write to the thread's current conversation and make
// it when there is none; reading ones take the id of one of its records, "" is the current one.
// Errors of all: ErrNotFound (the thread, or its record), thread.ErrNoSpace, thread.ErrDamaged.
// Invalid values are ErrInvalid, ErrTooLarge, ErrTooMany.
type Conversations struct {
	*Reader
	*Permissions
	*writer
	*eraser
	*saver
	failed func(error)
}

// New returns the one Conversations of a database: the purge of a second would delete the rows of an
// import by the first. The caller calls Run and Close.
func New(cfg Config) *Conversations {
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	r := &Reader{cfg.Store}
	files := newSaver(r, cfg)
	w := &writer{Reader: r, clock: cfg.Clock, notify: cfg.Notify, saver: files}
	return &Conversations{Reader: r, writer: w, saver: files, failed: cfg.Failed,
		Permissions: &Permissions{writer: w, enforcer: cfg.Enforcer, failed: cfg.Failed},
		eraser:      &eraser{writer: w, failed: cfg.Failed}}
}

// Run deletes what an earlier server has left of deleted threads, then saves the files that are
// not saved at once and syncs the others, until ctx ends.
func (cs *Conversations) Run(ctx context.Context) {
	if err := cs.purge(); err != nil {
		cs.failed(err)
	}
	if cs.files != nil {
		cs.saver.run(ctx)
	}
}

// mapError wraps an error of the Database in the sentinel of package conversation for it.
func mapError(err error) error {
	for _, pair := range [][2]error{{thread.ErrNotFound, conversation.ErrNotFound},
		{thread.ErrInvalid, conversation.ErrInvalid}, {thread.ErrConflict, conversation.ErrConflict}} {
		if errors.Is(err, pair[0]) && !errors.Is(err, pair[1]) {
			return fmt.Errorf("%w: %w", pair[1], err)
		}
	}
	return err
}

func missing(err error) bool { return errors.Is(err, thread.ErrNotFound) }
