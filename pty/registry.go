package pty

import "sync"

// registry is the children of this process that are not known to have ended, adopted ones too: no tree of one may take in another.
type registry struct {
	mu   sync.Mutex
	list map[*Child]struct{}
}

// children is the one registry.
var children = registry{list: map[*Child]struct{}{}}

func (r *registry) add(c *Child) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list[c] = struct{}{}
}

func (r *registry) remove(c *Child) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.list, c)
}

// others returns the process ids, with start times, of all but those that are the process of c.
func (r *registry) others(c *Child) map[int]uint64 { return r.except(c.pid) }

// except is others for a process that may be no child.
func (r *registry) except(pid int) map[int]uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	others := make(map[int]uint64, len(r.list))
	for child := range r.list {
		if child.pid != pid {
			others[child.pid] = child.birth
		}
	}
	return others
}
