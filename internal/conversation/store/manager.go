package store

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/thread"
)

// Config is what a Manager needs. Store must be given.
type Config struct {
	Store Store
	// Files are the conversation files; nil is none, and NoFiles why. The Manager closes them.
	Files    *Files
	NoFiles  error
	Clock    thread.Clock         // nil is time.Now
	Enforcer *permission.Enforcer // decides what permissions allow; nil is one without rules of the server
	// Notify tells that a thread has a new event, which is kept. nil does nothing. It must return
	// at once and must not call the Manager.
	Notify func(thread string)
	// Failed is told why a conversation's file cannot be saved, once until one can be saved again,
	// and what else goes wrong where nobody can be told; nil does nothing. The record itself is
	// kept.
	Failed func(error)
}

// Manager joins the conversations of all threads, and their permissions. Safe for concurrent use;
// one change of a conversation runs at a time, and what somebody has been told of survives a kill
// of this process.
//
// Methods take the thread's id. Those that write, write to the thread's current conversation and
// make it when there is none; those that read take the id of one of the thread's records, "" is the
// current one. Errors of all: ErrNotFound (the thread, or its record), thread.ErrNoSpace,
// thread.ErrDamaged. What is wrong with a value is ErrInvalid, ErrTooLarge, ErrTooMany.
type Manager struct {
	cfg   Config
	saver *saver

	permissionsMu sync.Mutex // held over a change of permissions; before everything else
	// held over an import, and over a purge, which would take its rows for those of a deleted
	// thread; before everything else
	importing sync.Mutex

	mu       sync.Mutex
	deleting map[string]bool // threads
}

// NewManager begins with what the store has. Who calls it, calls Run and Close.
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
	m := &Manager{cfg: cfg, deleting: map[string]bool{}}
	m.saver = newSaver(m)
	m.saver.trouble = cfg.NoFiles
	return m
}

// mapError gives an error of the Store the name that the package has for it.
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

// view reads a conversation of a thread. Of a thread that has none yet the current one is a Head
// without an ID, of which there is nothing.
func (m *Manager) view(thread, rid string, fn func(Tx, conversation.Head) error) error {
	return mapError(m.cfg.Store.View(func(tx Tx) error {
		h, err := find(tx, thread, rid)
		if err != nil {
			return err
		}
		return fn(tx, h)
	}))
}

// find is a conversation of a thread, "" is the current one.
func find(tx Tx, threadID, rid string) (conversation.Head, error) {
	if rid == "" {
		h, err := tx.CurrentConversation(threadID)
		if missing(err) {
			_, err = tx.Thread(threadID)
			h = conversation.Head{}
			h.ThreadID = threadID
		}
		return h, err
	}
	h, err := tx.Conversation(rid)
	if err == nil && h.ThreadID != threadID {
		err = fmt.Errorf("record %s of thread %s: %w", rid, threadID, thread.ErrNotFound)
	}
	return h, err
}
