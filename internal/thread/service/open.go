package service

import (
	"cmp"
	"context"
	"fmt"
	"path"

	"github.com/evertty/evertty/internal/owner"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/internal/thread/sqlite"
)

// lifecycle opens, pauses, resumes, destroys and deletes threads with their layers. It holds the
// lock of a thread in each of them; the state is database's.
type lifecycle struct {
	*database
	expiry *expiry
	leases *Leases
}

// open readies a thread for a use: it makes the layers that are missing, closes an expired session
// and begins another, resumes a paused one, replaces compute that is gone, and notes the activity.
// It is cheap when all is there. ctx ends waiting for providers.
//
// Errors, of package thread: ErrInvalid, ErrNotFound (Use.Lease), ErrConflict (Use.Terminal of
// another thread, Use.Name taken), ErrNoProvider, ErrProvider, ErrNoSpace; ctx.Err().
func (lc *lifecycle) open(ctx context.Context, threadID string, u thread.Use) (l thread.Layers, err error) {
	if err := checkUse(u, threadID); err != nil {
		return l, err
	}
	return l, lc.threadLocks.do(ctx, threadID, func() error {
		l, err = lc.openLocked(ctx, threadID, u)
		return err
	})
}

func (lc *lifecycle) openLocked(ctx context.Context, threadID string, u thread.Use) (thread.Layers, error) {
	if err := lc.expiry.closeOverdue(ctx, threadID); err != nil {
		return thread.Layers{}, err
	}
	var l thread.Layers
	err := error(thread.ErrNotFound)
	if !u.New {
		l, err = lc.readLayers(threadID, u, true)
	}
	if missing(err) {
		l, err = lc.buildLayers(threadID, u, true)
	}
	if err != nil {
		return l, err
	}
	if err := lc.ready(ctx, &l); err != nil {
		return l, lc.failed(l, err)
	}
	return l, lc.used(&l)
}

// create is open of a thread that must not be there yet; "" lets the server choose its id. Errors:
// thread.ErrConflict, any of open.
func (lc *lifecycle) create(ctx context.Context, threadID string, u thread.Use) (l thread.Layers, err error) {
	if owner.IsSpace(threadID) {
		threadID += newID(ofThread)
	}
	if err := checkUse(u, threadID); err != nil {
		return l, err
	}
	return l, lc.threadLocks.do(ctx, threadID, func() error {
		if _, err := lc.thread(threadID); !missing(err) {
			return cmp.Or(err, fmt.Errorf("%w: thread %s", thread.ErrConflict, threadID))
		}
		l, err = lc.openLocked(ctx, threadID, u)
		return err
	})
}

// checkUse refuses a use that no thread can have. Errors: thread.ErrInvalid.
func checkUse(u thread.Use, threadID string) error {
	if err := checkID("thread", threadID); err != nil {
		return err
	}
	if u.Terminal != "" {
		if err := checkID("terminal", u.Terminal); err != nil {
			return err
		}
	}
	if u.Name != "" {
		if err := checkID("terminal name", u.Name); err != nil {
			return err
		}
	}
	if u.Kind != "" && u.Kind != thread.PTY && u.Kind != thread.Shell {
		return fmt.Errorf("%w: kind %.20q", thread.ErrInvalid, u.Kind)
	}
	if u.Cwd != "" && (!path.IsAbs(u.Cwd) || len(u.Cwd) > thread.MaxCwd) {
		return fmt.Errorf("%w: directory %.80q", thread.ErrInvalid, u.Cwd)
	}
	if u.Policy != nil {
		return u.Policy.Check()
	}
	return nil
}

// readLayers finds all layers. Without alive, a session that is over will do, or none. Errors:
// thread.ErrNotFound when at least one is missing.
func (lc *lifecycle) readLayers(threadID string, u thread.Use, alive bool) (l thread.Layers, err error) {
	return l, lc.view(func(tx *sqlite.Tx) error {
		if l.Thread, err = tx.Thread(threadID); err != nil {
			return err
		}
		if l.Session, err = lc.sessionOf(tx, threadID, alive); err != nil {
			return err
		}
		if l.Terminal, _, err = choose(tx, l.Thread, u); err != nil {
			return err
		}
		if l.Lease, err = tx.Lease(l.Terminal.Lease); err != nil {
			return err
		}
		return instance(tx, &l)
	})
}

// sessionOf returns the live session of a thread; without alive the newest, or the zero one.
func (d *database) sessionOf(tx *sqlite.Tx, threadID string, alive bool) (thread.Session, error) {
	if s, ok := d.window(threadID); ok {
		return s, nil
	}
	if alive {
		return thread.Session{}, fmt.Errorf("live session of thread %s: %w", threadID, thread.ErrNotFound)
	}
	s, err := tx.LastSession(threadID)
	return s, gone(err)
}

// instance finds the newest instance of the lease, if it has one.
func instance(tx *sqlite.Tx, l *thread.Layers) (err error) {
	if l.Lease.Instance != "" {
		l.Instance, err = tx.Instance(l.Lease.Instance)
	}
	return gone(err)
}

// choose finds the terminal that a use means. With thread.ErrNotFound, id names the one to make; ""
// is a new one.
func choose(tx *sqlite.Tx, th thread.Thread, u thread.Use) (t thread.Terminal, id string, err error) {
	if u.Terminal != "" {
		t, err = tx.Terminal(u.Terminal)
		if err == nil && t.Thread != th.ID {
			err = fmt.Errorf("%w: terminal %s belongs to another thread", thread.ErrConflict, t.ID)
		}
		if err == nil && u.Kind != "" && u.Kind != t.Kind {
			err = fmt.Errorf("%w: terminal %s is a %s", thread.ErrConflict, t.ID, t.Kind)
		}
		return t, u.Terminal, err
	}
	for _, id := range []string{th.Active, th.Default} {
		if id == "" {
			continue
		}
		if t, err = tx.Terminal(id); err != nil || u.Kind == "" || t.Kind == u.Kind {
			return t, id, err
		}
	}
	t, err = tx.FindTerminal(th.ID, u.Kind)
	return t, t.ID, err
}

// ready gets the compute of a thread running.
func (lc *lifecycle) ready(ctx context.Context, l *thread.Layers) (err error) {
	if l.Session.Status == thread.Paused { // everything of the thread was paused
		leases, err := lc.leases.ofThread(l.Thread.ID)
		if err != nil {
			return err
		}
		for _, other := range leases {
			if other.ID == l.Lease.ID || other.Observed != thread.Frozen {
				continue
			}
			if _, _, err := lc.leases.ensure(ctx, other.ID); err != nil {
				return err
			}
		}
	}
	l.Lease, l.Instance, err = lc.leases.ensure(ctx, l.Lease.ID)
	return err
}

// failed ends a session that never had compute. The next open makes another one.
func (lc *lifecycle) failed(l thread.Layers, cause error) error {
	if !l.NewSession {
		return cause
	}
	err := lc.update(func(c *change) error {
		s, ok := lc.window(l.Thread.ID)
		if !ok {
			return nil
		}
		return c.endSession(s, thread.Failed, thread.ReasonProvider, cause)
	})
	return cmp.Or(err, cause)
}

// used notes the activity of an open, which ends a pause and idleness.
func (lc *lifecycle) used(l *thread.Layers) error {
	if l.Session.Status == thread.Paused || l.Session.Status == thread.Idle {
		if err := lc.expiry.activate(l.Thread.ID, true); err != nil {
			return err
		}
	}
	lc.touch(l.Thread.ID)
	if s, ok := lc.window(l.Thread.ID); ok {
		l.Session = s
	}
	return nil
}

// status returns the layers of a thread's active terminal, or of the terminal that u names. A
// terminal or lease whose row is missing is made again under its id; a session that is over is
// closed first. It is no activity. Errors: thread.ErrNotFound (no such thread or terminal), any of
// the store, ctx.Err().
func (lc *lifecycle) status(ctx context.Context, threadID string, u thread.Use) (thread.Layers, error) {
	if err := lc.expiry.expireOnRead(ctx, threadID); err != nil {
		return thread.Layers{}, err
	}
	l, err := lc.readLayers(threadID, u, false)
	if !missing(err) {
		return l, err
	}
	th, err := lc.thread(threadID)
	if err != nil {
		return l, err
	}
	if u.Terminal != "" && u.Terminal != th.Active && u.Terminal != th.Default {
		if _, err := lc.terminal(u.Terminal); err != nil {
			return l, err
		}
	}
	return lc.buildLayers(threadID, u, false)
}
