package terminal

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/internal/journal"
	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/stream"
)

// openJournal opens the terminal's journal for writing. cols and rows are the
// size at its start.
func (t *Terminal) openJournal(cols, rows int) (err error) {
	c := t.registry.cfg
	t.journal, err = journal.Open(c.Store, t.ID, journal.Options{Sync: c.Sync, Segment: segmentOf(c.Clean.TerminalQuota), Cols: cols, Rows: rows, Input: c.RecordInput})
	return err
}

const (
	// segmentsInQuota is how many files a journal's quota is spread over at least: what is dropped goes file by file.
	segmentsInQuota = 8
	// minSegment bounds a file from below, in bytes: a flood into a tiny quota must not make files all the time.
	minSegment = 256 << 10
)

// segmentOf is the size of a journal's files, in bytes, for a quota.
func segmentOf(quota int64) int64 {
	return min(max(quota/segmentsInQuota, minSegment), journal.DefaultSegment)
}

// enforceQuota sees to it that a flood does not outgrow the quota of one terminal's journal. What may be dropped is older than a
// snapshot, so one is written, at most once for each quarter of the quota: beside the flood when the quota is reached, and
// before more output is taken when that comes too late. It is called by who appends.
func (t *Terminal) enforceQuota() {
	quota := t.registry.cfg.Clean.TerminalQuota
	n := t.journal.Bytes()
	if n <= quota || t.failing(screenFailure) {
		return
	}
	t.mu.Lock()
	since := int64(t.journal.End() - min(t.savedSeq, t.journal.End()))
	t.mu.Unlock()
	switch {
	case since < max(quota/4, segmentOf(quota)):
	case n > quota+quota/2:
		t.checkpoint()
	case t.checkpointing.CompareAndSwap(false, true):
		t.registry.life.Go(func() {
			defer t.checkpointing.Store(false)
			t.checkpoint()
		})
	}
}

// JournalQuota bounds the journal, in bytes.
func (t *Terminal) JournalQuota() int64 { return t.registry.cfg.Clean.TerminalQuota }

// endedJournal is the journal of a terminal that had ended when this server came.
type endedJournal struct {
	once    sync.Once
	journal *journal.Journal
	err     error
	opened  atomic.Pointer[journal.Journal] // journal, for who does not want to open it
}

// Journal is the terminal's output on disk. Errors: ErrJournal when nothing was kept of it.
func (t *Terminal) Journal() (*journal.Journal, error) {
	if t.journal != nil {
		return t.journal, nil
	}
	p := &t.endedJournal
	p.once.Do(func() {
		p.journal, p.err = journal.Read(t.registry.cfg.Store, t.ID)
		if errors.Is(p.err, snapshot.ErrCorrupt) {
			t.noteDamage(p.err)
		}
		if errors.Is(p.err, datadir.ErrNotFound) {
			p.err = fmt.Errorf("%w: of terminal %s nothing is kept but the screen", ErrJournal, t.ID)
		}
		p.opened.Store(p.journal)
	})
	return p.journal, p.err
}

// endOf is an exit as the journal keeps it.
func endOf(e stream.Exit, at time.Time) journal.End {
	return journal.End{Code: e.Code, Signal: e.Signal, Reason: e.Reason, Time: at}
}
