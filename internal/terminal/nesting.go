package terminal

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/evertty/evertty/wire"
)

var (
	// ErrCycle refuses a viewer that runs in the terminal it wants to show, directly or
	// through other terminals: the terminal would show itself without end.
	ErrCycle = errors.New("a terminal cannot be shown inside itself")
	// ErrNested refuses a viewer inside a terminal without wire.Nesting.Nested.
	ErrNested = errors.New("this viewer runs inside a terminal")
)

// nesting has the viewers that run inside terminals. The zero value is ready; mu is a leaf.
//
// One variable, as tmux has it, is not enough: sudo and env -i remove it, so the devices count too, and A that shows B
// that shows A repeats itself through two viewers of which each is harmless. So the server keeps who shows what.
type nesting struct {
	mu    sync.Mutex
	views []*nestedView
}

// nestedView is a viewer that runs inside the terminals around, and shows one.
type nestedView struct {
	around []string
	shown  string
}

// Nest notes that a viewer inside other terminals shows t, until release is called. A cycle is
// refused even if it is Nested. Only terminals of that session, all for "", are found by their devices.
// Errors: ErrCycle, ErrNested.
func (r *Registry) Nest(t *Terminal, session string, in wire.Nesting) (release func(), err error) {
	v := &nestedView{r.around(session, in), t.ID}
	if len(v.around) == 0 {
		return func() {}, nil
	}
	n := &r.nesting
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case slices.Contains(v.around, t.ID):
		return nil, fmt.Errorf("%w: this viewer runs in terminal %s", ErrCycle, t.ID)
	case n.shows(t.ID, v.around):
		return nil, fmt.Errorf("%w: terminal %s shows the terminal that this viewer runs in", ErrCycle, t.ID)
	case !in.Nested:
		return nil, fmt.Errorf("%w: in %s; it has to allow that to show another one there", ErrNested, v.around[0])
	}
	n.views = append(n.views, v)
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.views = slices.DeleteFunc(n.views, func(o *nestedView) bool { return o == v })
	}, nil
}

// around returns the ids of the terminals that a viewer runs in.
func (r *Registry) around(session string, in wire.Nesting) []string {
	ids := slices.Clone(in.Inside)
	for _, t := range r.Unsorted() {
		if len(in.TTY) == 0 || !t.In(session) || t.process == nil || !t.Running() {
			continue
		}
		if name, ok := t.process.Device(); ok && slices.Contains(in.TTY, name) {
			ids = append(ids, t.ID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// shows reports whether a terminal shows one of others, directly or through terminals that it shows. It visits each
// terminal once, however many viewers claim to be nested. The lock is held.
func (n *nesting) shows(id string, others []string) bool {
	reached := []string{id}
	for i := 0; i < len(reached); i++ { // it grows meanwhile
		for _, v := range n.views {
			if !slices.Contains(v.around, reached[i]) || slices.Contains(reached, v.shown) {
				continue
			}
			if slices.Contains(others, v.shown) {
				return true
			}
			reached = append(reached, v.shown)
		}
	}
	return false
}
