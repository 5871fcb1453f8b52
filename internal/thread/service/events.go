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

// ThreadEvents follows the events of a thread. Nothing is queued for a slow reader: it reads from the
// database later. One goroutine at a time uses it.
type ThreadEvents struct {
	threads *Threads
	thread  string
	after   int64
	changed <-chan struct{}
	stop    func()
}

// eventPage is how many events one Next returns at most.
const eventPage = 256

// ThreadEvents follows the events of a thread after a number, also of earlier servers. The
// caller closes it. Errors: thread.ErrNotFound, ErrInvalid.
func (t *Threads) ThreadEvents(threadID string, after int64) (*ThreadEvents, error) {
	if _, err := t.ListEvents(threadID, after, 1); err != nil {
		return nil, err
	}
	e := &ThreadEvents{threads: t, thread: threadID, after: after}
	e.changed, e.stop = t.watchers.watch(threadID)
	return e, nil
}

// Next returns events in the order of their numbers, at least one, as soon as there are some. After
// thread.ThreadDeleted, whose number is 0, comes io.EOF. Errors: io.EOF, terminal.ErrClosing,
// ctx.Err(), any of the database.
func (e *ThreadEvents) Next(ctx context.Context) ([]thread.Event, error) {
	for {
		if e.after < 0 {
			return nil, io.EOF
		}
		list, err := e.threads.ListEvents(e.thread, e.after, eventPage)
		switch {
		case missing(err):
			e.after = -1
			return []thread.Event{{ThreadID: e.thread, Type: thread.ThreadDeleted, At: time.Now().UTC()}}, nil
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
		case <-e.threads.ctx.Done():
			return nil, terminal.ErrClosing
		}
	}
}

// Close ends the reading.
func (e *ThreadEvents) Close() { e.stop() }

// watchers are notifiers by thread. The zero value is ready; its lock is a leaf.
type watchers struct {
	keyed[*notify.Notifier]
}

func (w *watchers) watch(thread string) (changed <-chan struct{}, stop func()) {
	n, done := w.use(thread, &notify.Notifier{})
	changed, end := n.Watch()
	return changed, sync.OnceFunc(func() { end(); done() })
}

func (w *watchers) notify(thread string) {
	w.mu.Lock()
	u := w.used[thread]
	w.mu.Unlock()
	if u != nil {
		u.value.Notify()
	}
}
