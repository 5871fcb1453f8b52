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

// Config is what a Manager needs. Store must be given.
type Config struct {
	Store Store
	// Files has the conversation files, and the Manager closes it; nil is none, and NoFiles says why.
	Files    *Files
	NoFiles  error
	Clock    thread.Clock         // nil is time.Now
	Enforcer *permission.Enforcer // decides what permissions allow; nil is one without rules of the server
	// Notify is called after a thread's new event was committed. nil does nothing. It must return
	// at once and must not call the Manager.
	Notify func(thread string)
	// Failed reports errors of work without a caller, and why a conversation's file cannot be saved:
	// once until a save succeeds. nil does nothing. The database has the record all the same.
	Failed func(error)
}

// Manager keeps the conversations of all threads, and their permissions. Safe for concurrent use;
// one change of a conversation runs at a time. What a method returned survives a kill of this
// process.
//
// Methods take the thread's id. Writing methods write to the thread's current conversation and
// make it when there is none; reading ones take the id of one of its records, "" is the current
// one. Errors of all: ErrNotFound (the thread, or its record), thread.ErrNoSpace,
// thread.ErrDamaged. Invalid values are ErrInvalid, ErrTooLarge, ErrTooMany.
type Manager struct {
	*Reader
	*Permissions
	*writer
	*eraser
	*saver
	failed func(error)
}

// NewManager returns the one Manager of a store: the purge of a second would delete the rows of an
// import by the first. The caller calls Run and Close.
func NewManager(cfg Config) *Manager {
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.Enforcer == nil {
		cfg.Enforcer = permission.NewEnforcer(permission.Rules{})
	}
	if cfg.Notify == nil {
		cfg.Notify = func(string) {}
	}
	if cfg.Failed == nil {
		cfg.Failed = func(error) {}
	}
	r := &Reader{cfg.Store}
	files := newSaver(r, cfg)
	w := &writer{Reader: r, clock: cfg.Clock, notify: cfg.Notify, saver: files}
	return &Manager{Reader: r, writer: w, saver: files, failed: cfg.Failed,
		Permissions: &Permissions{writer: w, enforcer: cfg.Enforcer, failed: cfg.Failed},
		eraser:      &eraser{writer: w, failed: cfg.Failed}}
}

// Run deletes what an earlier server has left of deleted threads, then saves the files that are
// not saved at once and syncs the others, until ctx ends.
func (m *Manager) Run(ctx context.Context) {
	if err := m.purge(); err != nil {
		m.failed(err)
	}
	if m.files != nil {
		m.saver.run(ctx)
	}
}

// mapError wraps an error of the Store in the sentinel of package conversation for it.
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
