package terminal

import (
	"errors"
	"fmt"

	"github.com/evertty/evertty/internal/datadir"
)

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

// Problems are what the terminals cannot do now, one sentence each. lossy are those because of which output could
// be lost; damaged counts the terminals with a gap or damage in what is kept of them.
func (m *Registry) Problems() (lossy, other []string, damaged int) {
	if err := m.cfg.Unspliced; err != nil {
		lossy = append(lossy, fmt.Sprintf("output passes through the server's memory on its way to the journal: %v", err))
	}
	if err := m.cfg.Keeper.Trouble(); err != nil {
		lossy = append(lossy, fmt.Sprintf("no keeper holds the programs: %v", err))
	}
	list := m.All()
	for _, t := range list {
		if t.isDamaged() {
			damaged++
		}
	}
	for kind := range troubleKinds {
		n, last := troubled(list, kind)
		text := fmt.Sprintf("%s (terminals: %d)", last, n)
		switch {
		case n == 0:
		case kind == troubleJournal:
			lossy = append(lossy, text)
		default:
			other = append(other, text)
		}
	}
	return lossy, other, damaged
}

// Uncleaned says why space could not be freed, "" when it could.
func (m *Registry) Uncleaned() string {
	if text := m.uncleaned.Load(); text != nil {
		return *text
	}
	return ""
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
	if errors.Is(err, datadir.ErrNotFound) && t.Deleted() {
		return // its files went between the look and the write
	}
	text := datadir.Describe(troubleWhat[kind], err)
	if old := t.trouble[kind].Swap(&text); old == nil || *old != text {
		t.registry.cfg.Log.Error("cannot "+troubleWhat[kind], "id", t.ID, "error", err)
	}
}

// fine notes that it works.
func (t *Terminal) fine(kind trouble) {
	if old := t.trouble[kind].Swap(nil); old != nil {
		t.registry.cfg.Log.Info("works again", "id", t.ID, "was", *old)
	}
}

// inTrouble tells whether something of the terminal could not be written.
func (t *Terminal) inTrouble(kind trouble) bool { return t.trouble[kind].Load() != nil }

// NoteCleanup notes that space could not be freed; nil that it could.
func (m *Registry) NoteCleanup(err error) {
	if err == nil {
		m.uncleaned.Store(nil)
		return
	}
	text := datadir.Describe("free space", err)
	if old := m.uncleaned.Swap(&text); old == nil || *old != text {
		m.cfg.Log.Error("cannot free space", "error", err)
	}
}
