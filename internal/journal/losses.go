package journal

import (
	"errors"
	"fmt"
	"sync"
)

// maxLosses bounds how many gaps, and how many damaged stretches, a journal lists one by one. For more it says only
// that they exist.
const maxLosses = 8

// losses has the gaps of a journal, and the damage that readers found, since it was opened. The zero value is none. Its
// lock is a leaf.
type losses struct {
	mu     sync.Mutex
	gaps   []stretch // ascending; the last one may grow
	bad    []uint64  // positions before which output is damaged, in the order they were found
	others bool      // there were more
}

type stretch struct{ from, to uint64 }

// gap notes that the output between two positions is not kept.
func (w *losses) gap(from, to uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch n := len(w.gaps); {
	case n > 0 && w.gaps[n-1].to == from:
		w.gaps[n-1].to = to
	case n == maxLosses:
		w.others = true
	default:
		w.gaps = append(w.gaps, stretch{from, to})
	}
}

// damaged notes that a reader found the output before a position damaged.
func (w *losses) damaged(before uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, b := range w.bad {
		if b == before {
			return
		}
	}
	if len(w.bad) == maxLosses {
		w.others = true
		return
	}
	w.bad = append(w.bad, before)
}

// err has one line for each, for a person; nil for none.
func (w *losses) err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []error
	for _, g := range w.gaps {
		all = append(all, fmt.Errorf("%d bytes of output before position %d are missing", g.to-g.from, g.to))
	}
	for _, b := range w.bad {
		all = append(all, fmt.Errorf("output before position %d is damaged", b))
	}
	if w.others {
		all = append(all, errors.New("and more"))
	}
	return errors.Join(all...)
}
