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
func (r *Registry) Problems() (lossy, other []string, damaged int) {
	if err := r.cfg.SpliceErr; err != nil {
		lossy = append(lossy,
			fmt.Sprintf("output passes through the server's memory on its way to the journal: %v", err))
	}
	if err := r.cfg.Keeper.Err(); err != nil {
		lossy = append(lossy, fmt.Sprintf("no keeper holds the programs: %v", err))
	}
	list := r.All()
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
func (c *cleaner) CleanProblem() string {
	if text := c.problem.Load(); text != nil {
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
func (f *files) failed(kind failure, err error) {
	if errors.Is(err, datadir.ErrNotFound) && f.t.Deleted() {
		return // its files were removed meanwhile
	}
	text := datadir.Describe(failureText[kind], err)
	f.t.registry.upkeep.due.add(f.t)
	if old := f.failures[kind].Swap(&text); old == nil || *old != text {
		f.t.registry.cfg.Log.Error("cannot "+failureText[kind], "id", f.t.ID, "error", err)
	}
}

// worked notes that it works again.
func (f *files) worked(kind failure) {
	if old := f.failures[kind].Swap(nil); old != nil {
		f.t.registry.cfg.Log.Info("works again", "id", f.t.ID, "was", *old)
	}
}

// failing reports whether a failure lasts.
func (f *files) failing(kind failure) bool { return f.failures[kind].Load() != nil }

// NoteCleanup notes that space cannot be freed; nil means that it can.
func (c *cleaner) NoteCleanup(err error) {
	if err == nil {
		c.problem.Store(nil)
		return
	}
	text := datadir.Describe("free space", err)
	if old := c.problem.Swap(&text); old == nil || *old != text {
		c.registry.cfg.Log.Error("cannot free space", "error", err)
	}
}
