package service

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/evertty/evertty/internal/notify"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/internal/thread"
)

// ThreadEvents is somebody who reads the events of a thread. Nothing is queued for them: whoever is
// slow reads from the records later. One goroutine at a time uses it.
type ThreadEvents struct {
	records *Service
	thread  string
	after   int64
	changed <-chan struct{}
	stop    func()
}

// eventPage is how many events one Next returns at most.
const eventPage = 256

// ThreadEvents reads the events of a thread after a number, which may be of before this server. The
// caller closes it. Errors: thread.ErrNotFound, ErrInvalid.
func (d *Service) ThreadEvents(thread string, after int64) (*ThreadEvents, error) {
	if err := d.available(); err != nil {
		return nil, err
	}
	if _, err := d.Manager.Events(thread, after, 1); err != nil {
		return nil, err
	}
	e := &ThreadEvents{records: d, thread: thread, after: after}
	e.changed, e.stop = d.watchers.watch(thread)
	return e, nil
}

// ListEvents are those of a thread after a number, at most limit; 0 is thread.MaxPage. Errors:
// thread.ErrNotFound, ErrInvalid.
func (d *Service) ListEvents(thread string, after int64, limit int) ([]thread.Event, error) {
	if err := d.available(); err != nil {
		return nil, err
	}
	return d.Manager.Events(thread, after, limit)
}

// Next returns events in the order of their numbers, at least one, as soon as there are some. After
// session.ThreadDeleted, whose number is 0, comes io.EOF. Errors: io.EOF, ErrClosing, the reason of
// ctx, those of the records.
func (e *ThreadEvents) Next(ctx context.Context) ([]thread.Event, error) {
	for {
		if e.after < 0 {
			return nil, io.EOF
		}
		list, err := e.records.Manager.Events(e.thread, e.after, eventPage)
		switch {
		case isMissing(err):
			e.after = -1
			return []thread.Event{{Thread: e.thread, Type: thread.ThreadDeleted, At: time.Now().UTC()}}, nil
		case err != nil:
			return nil, err
		case len(list) > 0:
			e.after = list[len(list)-1].Seq
			return list, nil
		}
		select {
		case <-e.changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-e.records.ctx.Done():
			return nil, terminal.ErrClosing
		}
	}
}

// Close ends the reading.
func (e *ThreadEvents) Close() { e.stop() }

// watchers are notifiers by thread. The zero value is ready; its lock is a leaf.
type watchers struct {
	mu       sync.Mutex
	byThread map[string]*watched
}

type watched struct {
	notify.Notifier
	users int
}

func (w *watchers) watch(thread string) (changed <-chan struct{}, stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.byThread == nil {
		w.byThread = map[string]*watched{}
	}
	n := w.byThread[thread]
	if n == nil {
		n = &watched{}
		w.byThread[thread] = n
	}
	n.users++
	changed, end := n.Watch()
	return changed, sync.OnceFunc(func() {
		end()
		w.mu.Lock()
		defer w.mu.Unlock()
		if n.users--; n.users == 0 {
			delete(w.byThread, thread)
		}
	})
}

func (w *watchers) notify(thread string) {
	w.mu.Lock()
	n := w.byThread[thread]
	w.mu.Unlock()
	if n != nil {
		n.Notify()
	}
}
