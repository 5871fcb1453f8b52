package mux

import (
	"errors"
	"fmt"

	"github.com/evertty/evertty/internal/datadir"
)

// Health is what a server tells of itself.
type Health struct {
	Lossless bool     // no output is lost when this server is killed
	Reasons  []string // why it is degraded, one sentence each; nil when it is well
	Damaged  int      // terminals with a gap or damage in what is kept of them, which Info tells of; no reason to be degraded
}

// trouble is a kind of failure that a terminal survives. It lasts until the same
// works again.
type trouble int

// The kinds of trouble, in the order they are told.
const (
	troubleJournal trouble = iota // output is not written down: what comes now could be lost
	troubleScreen
	troubleRecord
	troubleKinds
)

// troubleWhat is what cannot be done.
var troubleWhat = [troubleKinds]string{"write a journal", "write a snapshot", "write a terminal's record"}

// Health returns the state of the server.
func (m *Mux) Health() Health {
	h := Health{Lossless: true}
	lossy := func(reason string) {
		h.Lossless = false
		h.Reasons = append(h.Reasons, reason)
	}
	if err := m.cfg.Unspliced; err != nil {
		lossy(fmt.Sprintf("output passes through the server's memory on its way to the journal: %v", err))
	}
	if err := m.cfg.Keeper.Trouble(); err != nil {
		lossy(fmt.Sprintf("no keeper holds the programs: %v", err))
	}
	list := m.all()
	for _, t := range list {
		if t.isDamaged() {
			h.Damaged++
		}
	}
	for kind := range troubleKinds {
		switch n, last := troubled(list, kind); {
		case n == 0:
		case kind == troubleJournal:
			lossy(fmt.Sprintf("%s (terminals: %d)", last, n))
		default:
			h.Reasons = append(h.Reasons, fmt.Sprintf("%s (terminals: %d)", last, n))
		}
	}
	if n, why := m.damagedShells(); n > 0 {
		h.Reasons = append(h.Reasons, fmt.Sprintf("shells could not be brought back, deleting those of their session removes them: %v (shells: %d)", why, n))
	}
	if n, what := m.mendedShells(); n > 0 {
		h.Reasons = append(h.Reasons, fmt.Sprintf("shells came back without a part of their files: %s (shells: %d)", what, n))
	}
	if err := m.cfg.NoRecords; err != nil {
		h.Reasons = append(h.Reasons, fmt.Sprintf("there are no records of threads: %v", err))
	}
	if err := m.guard.Blindness(); err != nil {
		h.Reasons = append(h.Reasons, fmt.Sprintf("the permissions of threads cannot be read, and everything is denied: %v", err))
	}
	if text := m.records.trouble.Load(); text != nil {
		h.Reasons = append(h.Reasons, *text)
	}
	if b := m.records.books; b != nil && b.Trouble() != nil {
		h.Reasons = append(h.Reasons, fmt.Sprintf("a record file cannot be saved: %v", b.Trouble()))
	}
	if text := m.space.trouble.Load(); text != nil {
		h.Reasons = append(h.Reasons, *text)
	}
	if text := m.uncleaned.Load(); text != nil {
		h.Reasons = append(h.Reasons, *text)
	}
	return h
}

// troubled counts the terminals in trouble, and tells one of the reasons.
func troubled(list []*Terminal, kind trouble) (n int, last string) {
	for _, t := range list {
		if text := t.trouble[kind].Load(); text != nil {
			n, last = n+1, *text
		}
	}
	return n, last
}

// failed notes what the terminal survives, and logs the first of a series: a flood
// onto a full disk fails with every piece.
func (t *Terminal) failed(kind trouble, err error) {
	if errors.Is(err, datadir.ErrNotFound) && t.isDeleted() {
		return // its files went between the look and the write
	}
	text := describe(troubleWhat[kind], err)
	if old := t.trouble[kind].Swap(&text); old == nil || *old != text {
		t.mux.cfg.Log.Error("cannot "+troubleWhat[kind], "id", t.ID, "error", err)
	}
}

// fine notes that it works.
func (t *Terminal) fine(kind trouble) {
	if old := t.trouble[kind].Swap(nil); old != nil {
		t.mux.cfg.Log.Info("works again", "id", t.ID, "was", *old)
	}
}

// inTrouble tells whether something of the terminal could not be written.
func (t *Terminal) inTrouble(kind trouble) bool { return t.trouble[kind].Load() != nil }

// cannotClean notes that space could not be freed; nil that it could.
func (m *Mux) cannotClean(err error) {
	if err == nil {
		m.uncleaned.Store(nil)
		return
	}
	text := describe("free space", err)
	if old := m.uncleaned.Swap(&text); old == nil || *old != text {
		m.cfg.Log.Error("cannot free space", "error", err)
	}
}

// describe is a failure in one sentence.
func describe(what string, err error) string {
	if errors.Is(err, datadir.ErrNoSpace) {
		return "the disk is full: cannot " + what
	}
	return fmt.Sprintf("cannot %s: %v", what, err)
}
