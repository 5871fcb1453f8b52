package proc

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// Child is a process of this program that is not known to have ended. No tree of another one takes it in. It is safe
// for concurrent use.
type Child struct {
	self   Process
	parent Process       // the process that started it, see NewChild
	tag    atomic.Uint64 // that it was started with, 0 when nobody has said it, see Tagged
}

// children are the processes of this program, by process id and by session.
var children = struct {
	mu        sync.Mutex
	byPID     map[int]*Child
	bySession map[int][]*Child
}{byPID: map[int]*Child{}, bySession: map[int][]*Child{}}

// NewChild notes a child of this program until its Remove. self is the process as it was read after it had become what
// it stays, and parent the one that started it; the zero value of either is unknown. A look for other processes then
// reads nothing of it. At least self.PID is known.
func NewChild(self, parent Process) *Child {
	c := &Child{self: self, parent: parent}
	children.mu.Lock()
	defer children.mu.Unlock()
	children.byPID[self.PID] = c
	children.bySession[self.Session] = append(children.bySession[self.Session], c)
	return c
}

// Tagged says that the child was started with a tag. Where that is wrong it is noticed before it matters.
func (c *Child) Tagged(tag uint64) { c.tag.Store(tag) }

// Remove forgets the child.
func (c *Child) Remove() {
	children.mu.Lock()
	defer children.mu.Unlock()
	if children.byPID[c.self.PID] == c { // else another one has the number
		delete(children.byPID, c.self.PID)
	}
	sid := c.self.Session
	left := slices.DeleteFunc(children.bySession[sid], func(o *Child) bool { return o == c })
	if children.bySession[sid] = left; len(left) == 0 {
		delete(children.bySession, sid)
	}
}

// childStart is the start time of the child with a process id; ok is false when none has it.
func childStart(pid int) (start uint64, ok bool) {
	children.mu.Lock()
	defer children.mu.Unlock()
	if c := children.byPID[pid]; c != nil {
		return c.self.Start, true
	}
	return 0, false
}

// childrenIn are the process ids of the children in a session.
func childrenIn(sid int) (list []int) {
	children.mu.Lock()
	defer children.mu.Unlock()
	for _, c := range children.bySession[sid] {
		list = append(list, c.self.PID)
	}
	return list
}

// starts are the start times of children.
func starts(list map[int]*Child) map[int]uint64 {
	all := make(map[int]uint64, len(list))
	for pid, c := range list {
		all[pid] = c.self.Start
	}
	return all
}

// allChildren are all children, by process id.
func allChildren() map[int]*Child {
	children.mu.Lock()
	defer children.mu.Unlock()
	return maps.Clone(children.byPID)
}

// row is what a scan would read of the child; nil when it has to be read. Its session never changes when it leads one,
// its parent only when that ends.
func (c *Child) row(e entry, inodes map[int]uint64, runs func(Process) bool) *row {
	if c == nil || c.self.Start == 0 || c.self.Session != c.self.PID || c.self.Parent != c.parent.PID ||
		!runs(c.parent) {
		return nil
	}
	r := &row{Process: c.self, inode: e.inode, parent: inodes[c.self.Parent], leader: e.inode, given: true}
	if tag := c.tag.Load(); tag != 0 {
		r.tag = kept[uint64]{value: tag, known: true}
	}
	return r
}
