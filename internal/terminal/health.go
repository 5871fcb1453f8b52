package terminal

import (
	"errors"
	"fmt"

	"github.com/evertty/evertty/internal/datadir"
)

// failure is a kind of failure that a terminal survives. It lasts until the same works again.
type failure int

// The failures, in the order of Problems.
const (
	journalFailure failure = iota // output is not on disk and could be lost
	screenFailure
	recordFailure
	failureKinds
)

// failureText says what cannot be done.
var failureText = [failureKinds]string{"write a journal", "write a snapshot", "write a terminal's record"}

// Problems returns the current failures, one sentence each. lossy are those that could lose
// output; damaged counts the terminals with gaps or damage in their files.
func (m *Registry) Problems() (lossy, other []string, damaged int) {
	if err := m.cfg.Unspliced; err != nil {
		lossy = append(lossy,
			fmt.Sprintf("output passes through the server's memory on its way to the journal: %v", err))
	}
	if err := m.cfg.Keeper.Err(); err != nil {
		lossy = append(lossy, fmt.Sprintf("no keeper holds the programs: %v", err))
	}
	list := m.All()
	for _, t := range list {
		if t.allDamage() != "" {
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

// CleanProblem says why space cannot be freed, "" when it can.
func (m *Registry) CleanProblem() string {
	if text := m.cleanProblem.Load(); text != nil {
		return *text
	}
	return ""
}

// countFailing counts the terminals with a failure, and returns one of the reasons.
func countFailing(list []*Terminal, kind failure) (n int, last string) {
	for _, t := range list {
		if text := t.failures[kind].Load(); text != nil {
			n, last = n+1, *text
		}
	}
	return n, last
}

// failed notes a failure and logs the first of a series: a flood onto a full disk fails
// with every piece.
func (t *Terminal) failed(kind failure, err error) {
	if errors.Is(err, datadir.ErrNotFound) && t.Deleted() {
		return // its files were removed meanwhile
	}
	text := datadir.Describe(failureText[kind], err)
	if old := t.failures[kind].Swap(&text); old == nil || *old != text {
		t.registry.cfg.Log.Error("cannot "+failureText[kind], "id", t.ID, "error", err)
	}
}

// worked notes that it works again.
func (t *Terminal) worked(kind failure) {
	if old := t.failures[kind].Swap(nil); old != nil {
		t.registry.cfg.Log.Info("works again", "id", t.ID, "was", *old)
	}
}

// failing reports whether a failure lasts.
func (t *Terminal) failing(kind failure) bool { return t.failures[kind].Load() != nil }

// NoteCleanup notes that space cannot be freed; nil means that it can.
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
