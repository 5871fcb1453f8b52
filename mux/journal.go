package mux

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/stream"
)

// openJournal opens the terminal's journal for writing. cols and rows are the
// size at its start.
func (t *Terminal) openJournal(cols, rows int) (err error) {
	c := t.mux.cfg
	t.journal, err = c.Store.OpenJournal(t.ID, snapshot.JournalOptions{Sync: c.Sync, Cols: cols, Rows: rows, Input: c.RecordInput})
	return err
}

// pastJournal is the journal of a terminal that had ended when this server came.
type pastJournal struct {
	once    sync.Once
	journal *snapshot.Journal
	err     error
	opened  atomic.Pointer[snapshot.Journal] // journal, for who does not want to open it
}

// Journal is the terminal's output on disk. Errors: ErrJournal when nothing was kept of it.
func (t *Terminal) Journal() (*snapshot.Journal, error) {
	if t.journal != nil {
		return t.journal, nil
	}
	p := &t.past
	p.once.Do(func() {
		p.journal, p.err = t.mux.cfg.Store.ReadJournal(t.ID)
		if errors.Is(p.err, snapshot.ErrCorrupt) {
			t.noteDamage(p.err)
		}
		if errors.Is(p.err, snapshot.ErrNotFound) {
			p.err = wrapf(ErrJournal, "of terminal %s nothing is kept but the screen", t.ID)
		}
		p.opened.Store(p.journal)
	})
	return p.journal, p.err
}

// endOf is an exit as the journal keeps it.
func endOf(e stream.Exit, at time.Time) snapshot.End {
	return snapshot.End{Code: e.Code, Signal: e.Signal, Reason: e.Reason, Time: at}
}
