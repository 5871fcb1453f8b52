package proc

import "sync"

// children are the processes of this program that are not known to have ended, by their entry. No tree takes in another
// child.
var children = struct {
	mu   sync.Mutex
	list map[*Process]struct{}
}{list: map[*Process]struct{}{}}

// AddChild notes a child of this program, so that no tree of another one takes it in, until remove is called. A start
// time of 0 is unknown.
func AddChild(pid int, start uint64) (remove func()) {
	entry := &Process{PID: pid, Start: start}
	children.mu.Lock()
	defer children.mu.Unlock()
	children.list[entry] = struct{}{}
	return func() {
		children.mu.Lock()
		defer children.mu.Unlock()
		delete(children.list, entry)
	}
}

// allChildren are the start times of all children, by process id.
func allChildren() map[int]uint64 {
	children.mu.Lock()
	defer children.mu.Unlock()
	all := make(map[int]uint64, len(children.list))
	for p := range children.list {
		all[p.PID] = p.Start
	}
	return all
}
