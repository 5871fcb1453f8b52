package terminal

import (
	"sync"
	"sync/atomic"

	"github.com/evertty/evertty/internal/notify"
)

// due are terminals with work of one kind, so that nobody looks at those without. It is safe for concurrent use; its
// lock is a leaf.
type due struct {
	some notify.Signal // there is one

	mu   sync.Mutex
	list map[*Terminal]struct{}
}

func newDue() *due { return &due{some: notify.NewSignal(), list: map[*Terminal]struct{}{}} }

// add adds a terminal, once.
func (d *due) add(t *Terminal) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.list[t] = struct{}{}
	d.some.Set()
}

// keep adds terminals for when another one becomes due.
func (d *due) keep(list []*Terminal) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, t := range list {
		d.list[t] = struct{}{}
	}
}

// forget takes a terminal that cannot be found any more out of what rounds look at, else it would stay in memory: some
// of them may not come for long.
func (r *Registry) forget(t *Terminal) {
	for _, d := range []*due{r.syncs.due, r.upkeep.due, r.printed, r.open, r.loose} {
		d.drop(t)
	}
}

// drop takes a terminal out.
func (d *due) drop(t *Terminal) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.list, t)
}

// take returns the terminals, in no order, and forgets them.
func (d *due) take() []*Terminal {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := make([]*Terminal, 0, len(d.list))
	for t := range d.list {
		list = append(list, t)
	}
	clear(d.list)
	select {
	case <-d.some:
	default:
	}
	return list
}

// becomeDue has the first rounds look at a terminal that can be found from now on: its journal is new, or much output
// follows the snapshot of the previous server.
func (t *Terminal) becomeDue() {
	for _, d := range []*due{t.registry.syncs.due, t.registry.upkeep.due} {
		d.add(t)
	}
}

// raise sets a flag of the terminal, and adds it to d if the flag was not set. Who takes it from d clears the flag, and
// then looks. In a flood it costs one load.
func (f *files) raise(flag *atomic.Bool, d *due) {
	if !flag.Load() && !flag.Swap(true) {
		d.add(f.t)
	}
}
