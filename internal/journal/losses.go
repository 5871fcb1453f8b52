package journal

import (
	"errors"
	"fmt"
	"slices"
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
func (l *losses) gap(from, to uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch n := len(l.gaps); {
	case n > 0 && l.gaps[n-1].to == from:
		l.gaps[n-1].to = to
	case n == maxLosses:
		l.others = true
	default:
		l.gaps = append(l.gaps, stretch{from, to})
	}
}

// damaged notes that a reader found the output before a position damaged.
func (l *losses) damaged(before uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case slices.Contains(l.bad, before):
	case len(l.bad) == maxLosses:
		l.others = true
	default:
		l.bad = append(l.bad, before)
	}
}

// err has one line for each, for a person; nil for none.
func (l *losses) err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []error
	for _, g := range l.gaps {
		all = append(all, fmt.Errorf("%d bytes of output before position %d are missing", g.to-g.from, g.to))
	}
	for _, b := range l.bad {
		all = append(all, fmt.Errorf("output before position %d is damaged", b))
	}
	if l.others {
		all = append(all, errors.New("and more"))
	}
	return errors.Join(all...)
}
