package terminal

import (
	"errors"
	"fmt"

	"github.com/evertty/evertty/internal/datadir"
)

// failure is a kind of failure that a terminal survives. It lasts until the same
// works again.
type failure int

// The kinds of trouble, in the order they are told.
const (
	journalFailure failure = iota // output is not written down: what comes now could be lost
	screenFailure
	recordFailure
	failureKinds
)

// failureText is what cannot be done.
var failureText = [failureKinds]string{"write a journal", "write a snapshot", "write a terminal's record"}

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
	for kind := range failureKinds {
		n, last := countFailing(list, kind)
		text := fmt.Sprintf("%s (terminals: %d)", last, n)
		switch {
		case n == 0:
		case kind == journalFailure:
			lossy = append(lossy, text)
		default:
			other = append(other, text)
		}
	}
	return lossy, other, damaged
}

// CleanProblem says why space could not be freed, "" when it could.
func (m *Registry) CleanProblem() string {
	if text := m.cleanProblem.Load(); text != nil {
		return *text
	}
	return ""
}

// countFailing counts the terminals in trouble, and tells one of the reasons.
func countFailing(list []*Terminal, kind failure) (n int, last string) {
	for _, t := range list {
		if text := t.failures[kind].Load(); text != nil {
			n, last = n+1, *text
		}
	}
	return n, last
}

// failed notes what the terminal survives, and logs the first of a series: a flood
// onto a full disk fails with every piece.
func (t *Terminal) failed(kind failure, err error) {
	if errors.Is(err, datadir.ErrNotFound) && t.Deleted() {
		return // its files went between the look and the write
	}
	text := datadir.Describe(failureText[kind], err)
	if old := t.failures[kind].Swap(&text); old == nil || *old != text {
		t.registry.cfg.Log.Error("cannot "+failureText[kind], "id", t.ID, "error", err)
	}
}

// worked notes that it works.
func (t *Terminal) worked(kind failure) {
	if old := t.failures[kind].Swap(nil); old != nil {
		t.registry.cfg.Log.Info("works again", "id", t.ID, "was", *old)
	}
}

// failing tells whether something of the terminal could not be written.
func (t *Terminal) failing(kind failure) bool { return t.failures[kind].Load() != nil }

// NoteCleanup notes that space could not be freed; nil that it could.
func (m *Registry) NoteCleanup(err error) {
	if err == nil {
		m.cleanProblem.Store(nil)
		return
	}
	text := datadir.Describe("free space", err)
	if old := m.cleanProblem.Swap(&text); old == nil || *old != text {
		m.cfg.Log.Error("cannot free space", "error", err)
	}
}
