package terminal

import (
	"errors"
	"fmt"
	"slices"
	"sync"
)

var (
	// ErrCycle refuses a viewer that runs in the terminal it wants to show, directly or
	// through other terminals: the terminal would show itself without end.
	ErrCycle = errors.New("a terminal cannot be shown inside itself")
	// ErrNested refuses a viewer inside a terminal without Inside.Allowed.
	ErrNested = errors.New("this viewer runs inside a terminal")
)

// Inside says where the process of a viewer runs.
type Inside struct {
	Terminals []string // ids of terminals from its environment, of any server
	Devices   []string // names of its terminal devices, see pty.FileDevice
	Allowed   bool     // it may show a terminal inside another one
}

// nesting has which terminals are shown inside which. The zero value is ready; no other lock
// is taken with its lock held.
type nesting struct {
	mu    sync.Mutex
	shown map[string]map[string]int // terminal -> terminals shown in it -> viewers
}

// Nest notes that a viewer inside other terminals shows t, until release is called. A cycle is
// refused even if it is Allowed. Errors: ErrCycle, ErrNested.
func (r *Registry) Nest(t *Terminal, in Inside) (release func(), err error) {
	around := r.around(in)
	if len(around) == 0 {
		return func() {}, nil
	}
	n := &r.nesting
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case slices.Contains(around, t.ID):
		return nil, fmt.Errorf("%w: this viewer runs in terminal %s", ErrCycle, t.ID)
	case n.reaches(t.ID, around):
		return nil, fmt.Errorf("%w: terminal %s shows the terminal that this viewer runs in", ErrCycle, t.ID)
	case !in.Allowed:
		return nil, fmt.Errorf("%w: in %s; it has to allow that to show another one there", ErrNested, around[0])
	}
	n.add(around, t.ID, 1)
	return sync.OnceFunc(func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.add(around, t.ID, -1)
	}), nil
}

// around returns the ids of the terminals that a viewer runs in.
func (r *Registry) around(in Inside) []string {
	ids := slices.Clone(in.Terminals)
	if len(in.Devices) > 0 {
		for _, t := range r.List("") {
			if t.process == nil || !t.Running() {
				continue
			}
			if name, ok := t.process.Device(); ok && slices.Contains(in.Devices, name) {
				ids = append(ids, t.ID)
			}
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// reaches reports whether one of the wanted terminals is shown in from, directly or through
// others. The lock is held.
func (n *nesting) reaches(from string, wanted []string) bool {
	seen, next := map[string]bool{from: true}, []string{from}
	for len(next) > 0 {
		id := next[len(next)-1]
		next = next[:len(next)-1]
		for shown := range n.shown[id] {
			if slices.Contains(wanted, shown) {
				return true
			}
			if !seen[shown] {
				seen[shown] = true
				next = append(next, shown)
			}
		}
	}
	return false
}

// add changes the number of viewers in each of around that show id. The lock is held.
func (n *nesting) add(around []string, id string, by int) {
	if n.shown == nil {
		n.shown = map[string]map[string]int{}
	}
	for _, outer := range around {
		if n.shown[outer] == nil {
			n.shown[outer] = map[string]int{}
		}
		if n.shown[outer][id] += by; n.shown[outer][id] == 0 {
			delete(n.shown[outer], id)
		}
		if len(n.shown[outer]) == 0 {
			delete(n.shown, outer)
		}
	}
}
