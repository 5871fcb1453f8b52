package terminal

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/internal/descriptors"
	"github.com/evertty/evertty/internal/journal"
	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/stream"
)

// openJournal opens the terminal's journal for writing. cols and rows are the size at its
// start, unknown where it begins when all files are missing.
func (f *files) openJournal(cols, rows int, unknown uint64) (err error) {
	c := f.t.registry.cfg
	f.journal, err = journal.Open(c.Store, f.t.ID, journal.Options{Sync: c.Sync,
		Segment: segmentOf(c.Clean.TerminalQuota), Cols: cols, Rows: rows, Input: c.RecordInput, Unknown: unknown,
		Sleep: descriptors.Sleep})
	return err
}

const (
	// segmentsInQuota is over how many files at least a quota is spread: output is dropped file
	// by file.
	segmentsInQuota = 8
	// minSegment is the least size of a file, in bytes: a flood into a tiny quota must not
	// create files all the time.
	minSegment = 256 << 10
)

// segmentOf returns the size of a journal's files for a quota, in bytes.
func segmentOf(quota int64) int64 {
	return min(max(quota/segmentsInQuota, minSegment), journal.DefaultSegment)
}

// enforceQuota keeps a flood within the quota of the terminal's journal. Only output older than
// a snapshot may be dropped, so it writes one, at most once for each quarter of the quota: in
// the background, and above one and a half quotas before more output is read. Only the
// goroutine that appends to the journal calls it.
func (f *files) enforceQuota() {
	quota := f.t.registry.cfg.Clean.TerminalQuota
	n := f.journal.Bytes()
	if n <= quota || f.failing(screenFailure) {
		return
	}
	end := f.journal.End()
	since := int64(end - min(f.savedSeq.Load(), end))
	switch {
	case since < max(quota/4, segmentOf(quota)):
	case n > quota+quota/2:
		f.checkpoint()
	case f.checkpointing.CompareAndSwap(false, true):
		f.t.registry.life.Go(func() {
			defer f.checkpointing.Store(false)
			f.checkpoint()
		})
	}
}

// JournalQuota bounds the journal, in bytes.
func (f *files) JournalQuota() int64 { return f.t.registry.cfg.Clean.TerminalQuota }

// endedJournal is the journal of a terminal that had ended before this server started. It is
// opened with the first call of Journal.
type endedJournal struct {
	once   sync.Once
	opened atomic.Pointer[journal.Journal] // nil before that and with an error
	err    error
}

// Journal is the terminal's output on disk. Errors: ErrJournal when the disk has none of it.
func (f *files) Journal() (*journal.Journal, error) {
	if f.journal != nil {
		return f.journal, nil
	}
	p := &f.endedJournal
	p.once.Do(func() {
		j, err := journal.Read(f.t.registry.cfg.Store, f.t.ID)
		if errors.Is(err, snapshot.ErrCorrupt) {
			f.noteDamage(err)
		}
		if errors.Is(err, datadir.ErrNotFound) {
			err = fmt.Errorf("%w: of terminal %s nothing is kept but the screen", ErrJournal, f.t.ID)
		}
		p.err = err
		p.opened.Store(j)
	})
	return p.opened.Load(), p.err
}

// endOf is an exit as the journal has it.
func endOf(e stream.Exit, at time.Time) journal.End {
	return journal.End{Code: e.Code, Signal: e.Signal, Reason: e.Reason, Time: at}
}
