package sqlite

import (
	"context"
	"fmt"
	"time"
)

const (
	// vacuumLive is how much content a file may have, in bytes, to be written anew at the start:
	// about a second. It is once in its life, when it was made before files gave back what they do
	// not need.
	vacuumLive = 64 << 20
	// shrinkEvery is the time between two looks for pages that nothing is in.
	shrinkEvery = 10 * time.Second
	// spareFree is how many pages without content stay for what comes next: a quarter of a
	// megabyte.
	spareFree = 64
	// shrinkStep is how many pages are given back in one transaction, for which everybody else who
	// writes waits: some milliseconds.
	shrinkStep = 256
	// truncateWait is how long the end of a shrinking waits for readers before it leaves the WAL as
	// long as it is, in milliseconds.
	truncateWait = 100
	// incremental is SQLite's number for auto_vacuum = INCREMENTAL.
	incremental = 2
)

// makeShrinkable has the file give back pages. An existing one is written anew for that, unless
// that would take long; a failure, as of a full disk, leaves it as it was.
func (s *Store) makeShrinkable() error {
	mode, err := s.pragma("auto_vacuum")
	if err != nil || mode == incremental {
		return err
	}
	used, err := s.livePages()
	if err != nil {
		return err
	}
	size, err := s.pragma("page_size")
	if err != nil || used*size > vacuumLive {
		return err
	}
	ctx := context.Background()
	if _, err := s.writer.ExecContext(ctx, fmt.Sprintf("PRAGMA auto_vacuum = %d", incremental)); err != nil {
		return err
	}
	_, _ = s.writer.ExecContext(ctx, "VACUUM") // the next start tries again
	return nil
}

func (s *Store) livePages() (int64, error) {
	all, err := s.pragma("page_count")
	if err != nil {
		return 0, err
	}
	free, err := s.pragma("freelist_count")
	return all - free, err
}

// pragma is a number that the writer's connection tells.
func (s *Store) pragma(name string) (n int64, err error) {
	return n, s.writer.QueryRowContext(context.Background(), "PRAGMA "+name).Scan(&n)
}

// shrinkLoop gives back what the file does not need until Close.
func (s *Store) shrinkLoop() {
	defer close(s.shrunk)
	tick := time.NewTicker(shrinkEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.shrink()
			s.eraseRest()
		case <-s.closing:
			return
		}
	}
}

// shrink gives back the pages beyond spareFree, a step at a time. What fails is tried at the next
// look.
func (s *Store) shrink() {
	gave := false
	for s.shrinkOnce() {
		gave = true
		select {
		case <-s.closing:
			return
		default:
		}
	}
	if !gave {
		return
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	s.truncate() // with it the file itself becomes shorter
}

// erasing says whether deleted content is still in the WAL and in pages of the file that the WAL
// has newer ones of.
type erasing int

const (
	eraseNothing erasing = iota
	eraseLater           // at the next look of shrinkLoop, for what many delete at once
	eraseNow             // before the change returns, unless somebody reads for longer than truncateWait
)

// erased notes that the transaction deletes what nobody is to find in the files any more.
func (r *table) erased(when erasing) { r.store.erasing = max(r.store.erasing, when) }

// eraseRest erases deleted content. Pages that a reader still holds wait for the next look.
func (s *Store) eraseRest() {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.erasing != eraseNothing {
		s.truncate()
	}
}

// truncate brings the WAL into the file and empties it, and reports whether it did. s.writing is
// held, for truncateWait at most.
func (s *Store) truncate() bool {
	ctx := context.Background()
	_, _ = s.writer.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d", truncateWait))
	var busy, inWAL, moved int
	err := s.writer.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &inWAL, &moved)
	_, _ = s.writer.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d", busyTimeout.Milliseconds()))
	if err != nil || busy != 0 {
		s.erasing = min(s.erasing, eraseLater)
		return false
	}
	s.erasing = eraseNothing
	return true
}

// shrinkOnce gives back one step, and reports whether there was one to give.
func (s *Store) shrinkOnce() bool {
	s.writing.Lock()
	defer s.writing.Unlock()
	mode, err := s.pragma("auto_vacuum")
	if err != nil || mode != incremental {
		return false
	}
	free, err := s.pragma("freelist_count")
	if err != nil || free <= spareFree {
		return false
	}
	_, err = s.writer.ExecContext(context.Background(),
		fmt.Sprintf("PRAGMA incremental_vacuum(%d)", min(shrinkStep, free-spareFree)))
	if err != nil {
		return false
	}
	now, err := s.pragma("freelist_count")
	return err == nil && now < free
}
