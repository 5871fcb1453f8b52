package store

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"sync"
	"time"

	"github.com/evertty/evertty/internal/conversation"
)

const (
	// saveAtOnce is the size of a file, in bytes, up to which the writer of a change
	// saves it: some milliseconds of work.
	saveAtOnce = 64 << 10
	// syncEvery is how often the files that were saved at once are forced to the disk, for a crash
	// of the machine.
	syncEvery = time.Second
	// saveRetry is the least time between two saves while they fail.
	saveRetry = 5 * time.Second
	// saveShare is what part of the time the saver may spend on larger files, one in so many, and
	// savePause the longest time between two of them.
	saveShare = 32
	savePause = time.Minute
	// saveLocks is how many files can be saved at the same time, about.
	saveLocks = 64
)

// saver keeps the conversation files in line with the store. A file's time of modification is the
// conversation's UpdatedAt: so the next server knows which are not of now, without reading them.
// Locks: first the lock of a conversation's files, which is held over reading the store and writing
// the disk, then mu.
type saver struct {
	reader *Reader
	files  *Files // nil: nothing is saved
	failed func(error)
	locks  [saveLocks]sync.Mutex
	seed   maphash.Seed
	wake   chan struct{} // has a value when there is something to do
	quicks chan struct{} // has a value when quick has something

	mu      sync.Mutex
	saved   map[string]state             // what the files have, by record
	waiting map[string]conversation.Head // to be saved by run
	quick   map[string]bool              // to be synced, syncEvery after the first
	trouble error                        // of the last save, nil when it went well
}

// state describes a saved file.
type state struct {
	updated string // the conversation's UpdatedAt
	bytes   int64
}

func newSaver(r *Reader, cfg Config) *saver {
	return &saver{reader: r, files: cfg.Files, failed: cfg.Failed, trouble: cfg.NoFiles, seed: maphash.MakeSeed(),
		wake: make(chan struct{}, 1), quicks: make(chan struct{}, 1), saved: map[string]state{},
		waiting: map[string]conversation.Head{}, quick: map[string]bool{}}
}

func (s *saver) lock(id string) *sync.Mutex {
	return &s.locks[maphash.String(s.seed, id)%saveLocks]
}

// changed has the file of a conversation saved that was changed: now when it is small, else soon.
func (s *saver) changed(h conversation.Head) {
	if s.files == nil {
		return
	}
	s.mu.Lock()
	large := max(h.Bytes, s.saved[h.SessionID].bytes) > saveAtOnce
	if large {
		s.waiting[h.SessionID] = h
	}
	s.mu.Unlock()
	if !large {
		s.save(h)
		return
	}
	set(s.wake)
}

// set gives a channel its value.
func set(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// save writes the file of a conversation as it is now, unless that was done since h.
func (s *saver) save(h conversation.Head) {
	l := s.lock(h.SessionID)
	l.Lock()
	defer l.Unlock()
	s.mu.Lock()
	done := s.saved[h.SessionID].updated >= h.UpdatedAt
	s.mu.Unlock()
	if done {
		return
	}
	now, err := s.write(h)
	if errors.Is(err, conversation.ErrNotFound) {
		return // deleted meanwhile
	}
	s.mu.Lock()
	first := s.trouble == nil
	s.trouble = err
	if err == nil {
		s.saved[h.SessionID] = now
	} else {
		s.waiting[h.SessionID] = h // it is tried again with the others
	}
	s.mu.Unlock()
	if err != nil {
		set(s.wake)
		if first {
			s.failed(err)
		}
	}
}

// write replaces the file. The writer of a small record does not wait for the disk: a file that is
// lost in a crash of the machine is written again from the store.
func (s *saver) write(h conversation.Head) (now state, err error) {
	d, err := s.reader.Document(h.ThreadID, h.SessionID, -1)
	if err != nil {
		return now, err
	}
	b, err := d.Encode()
	if err != nil {
		return now, err
	}
	at, err := time.Parse(timeForm, d.UpdatedAt)
	if err != nil {
		return now, err
	}
	durable := len(b) > saveAtOnce
	aside, err := s.files.Save(h.SessionID, b, at, durable)
	if err != nil {
		return now, err
	}
	if !durable {
		s.noteQuick(h.SessionID)
	}
	if aside != "" {
		s.failed(fmt.Errorf("%w: what was in the place of that of record %s is now %s", conversation.ErrDamaged,
			h.SessionID, aside))
	}
	return state{d.UpdatedAt, int64(len(b))}, nil
}

// noteQuick has a file synced that was saved at once.
func (s *saver) noteQuick(id string) {
	s.mu.Lock()
	s.quick[id] = true
	s.mu.Unlock()
	set(s.quicks)
}

// sync makes the small files durable that were written since the last time.
func (s *saver) sync() {
	s.mu.Lock()
	list := s.quick
	s.quick = map[string]bool{}
	s.mu.Unlock()
	for id := range list {
		if err := s.files.Sync(id); err != nil {
			s.failed(err)
		}
	}
}

// remove deletes the files of a conversation whose rows are gone. A save that waits for the lock
// will not find it.
func (s *saver) remove(id string) {
	if s.files == nil {
		return
	}
	l := s.lock(id)
	l.Lock()
	defer l.Unlock()
	s.mu.Lock()
	delete(s.saved, id)
	delete(s.waiting, id)
	s.mu.Unlock()
	if err := s.files.Remove(id); err != nil {
		s.failed(err)
	}
}

// next takes one of those that wait.
func (s *saver) next() (conversation.Head, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, h := range s.waiting {
		delete(s.waiting, id)
		return h, true
	}
	return conversation.Head{}, false
}

// run saves the waiting files, at the pace of saveShare, until ctx ends. It begins with the files
// that an earlier server did not save.
func (s *saver) run(ctx context.Context) {
	var syncing sync.WaitGroup
	syncing.Go(func() {
		for s.awaitQuick(ctx) {
			s.sync()
		}
	})
	defer syncing.Wait()
	if err := s.catchUp(ctx); err != nil && ctx.Err() == nil {
		s.failed(err)
	}
	for {
		began := time.Now()
		h, ok := s.next()
		if !ok {
			select {
			case <-s.wake:
				continue
			case <-ctx.Done():
				return
			}
		}
		s.save(h)
		rest := min(saveShare*time.Since(began), savePause)
		if s.Trouble() != nil {
			rest = max(rest, saveRetry)
		}
		if !pause(ctx, rest) {
			return
		}
	}
}

// awaitQuick waits until files are to be synced; false is that ctx has ended. While none is, nobody wakes up.
func (s *saver) awaitQuick(ctx context.Context) bool {
	select {
	case <-s.quicks:
	case <-ctx.Done():
		return false
	}
	more := pause(ctx, syncEvery)
	select {
	case <-s.quicks: // of others meanwhile
	default:
	}
	return more
}

// pause waits; false is that ctx has ended.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// catchUp saves the files that are missing or not of the time of their records.
func (s *saver) catchUp(ctx context.Context) error {
	files, err := s.files.List()
	if err != nil {
		return err
	}
	for after := ""; ctx.Err() == nil; {
		var page []conversation.Head
		if err := s.reader.store.View(func(tx Tx) (err error) {
			page, err = tx.AllConversations(after, conversation.MaxPage)
			return err
		}); err != nil || len(page) == 0 {
			return err
		}
		for _, h := range page {
			s.compare(h, files[h.SessionID])
			after = h.SessionID
		}
	}
	return context.Cause(ctx)
}

// compare notes what a file of an earlier server has, and has it saved when that is not what the
// conversation is.
func (s *saver) compare(h conversation.Head, f Stored) {
	at, err := time.Parse(timeForm, h.UpdatedAt)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.saved[h.SessionID]; known {
		return // saved since
	}
	if err == nil && f.Bytes > 0 && f.Changed == at.UnixNano() {
		s.saved[h.SessionID] = state{h.UpdatedAt, f.Bytes}
		return
	}
	s.waiting[h.SessionID] = h
}

// Flush saves all files that wait and syncs them. Errors: of ctx; Trouble has
// the error of a save.
func (s *saver) Flush(ctx context.Context) error {
	for ctx.Err() == nil {
		h, ok := s.next()
		if ok {
			s.save(h)
		}
		if !ok || s.Trouble() != nil { // then it waits again
			s.sync()
			return nil //nolint:nilerr // Trouble returns it
		}
	}
	return context.Cause(ctx)
}

// Trouble is why the last file could not be saved; nil when it could.
func (s *saver) Trouble() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.trouble
}

// Close saves what waits, as far as ctx allows. Run has ended.
func (s *saver) Close(ctx context.Context) error {
	err := s.Flush(ctx)
	if s.files != nil {
		err = errors.Join(err, s.files.Close())
	}
	return err
}
