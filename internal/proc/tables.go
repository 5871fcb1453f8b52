package proc

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// tables hands out process tables. Many trees killed at once share one scan of /proc: whoever asks gets a table begun
// after it asked.
type tables struct {
	asking atomic.Int64 // callers of get; the last one to leave drops the table
	mu     sync.Mutex
	last   *table
	began  time.Time
	scans  uint64       // how many there were
	rows   map[int]*row // of the last listing, so at most one for each process
	newer  map[int]*row // see table; of the last scan
	kept   keptTable
}

// cache is the one view of /proc.
var cache tables

// fresh returns a table of all processes that was begun after the call.
func (ts *tables) fresh() (*table, error) { return ts.get(false) }

// get returns a table that was begun after the call. With recent it may be a table of some seconds before and the
// processes that were started since: processes that have ended may be in it, and the parents of these.
func (ts *tables) get(recent bool) (*table, error) {
	ts.asking.Add(1)
	asked := time.Now()
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t, err := ts.last, error(nil)
	if t == nil || !ts.began.After(asked) || t.recent && !recent {
		ts.began = time.Now()
		if t = nil; recent {
			t = ts.update()
		}
		if t == nil {
			t, err = ts.scan()
		}
	}
	ts.last = t
	if ts.asking.Add(-1) == 0 {
		ts.last = nil
	}
	return t, err
}

// scan lists /proc and reads the processes that an earlier scan does not know. Processes that end meanwhile are left
// out; one that is started meanwhile may be missing.
func (ts *tables) scan() (*table, error) {
	newest, numbered := newestPID()
	list, err := listing()
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	ts.scans++
	inodes := make(map[int]uint64, len(list))
	for _, e := range list {
		inodes[e.pid] = e.inode
	}
	inode := func(pid int) uint64 { return inodes[pid] }
	var buf [statSize]byte
	rows := make(map[int]*row, len(list))
	children, runs := allChildren(), once(Process.Alive)
	for _, e := range list {
		r := ts.row(e.pid)
		known := r != nil && r.inode == e.inode
		if !r.holds(e, inodes) {
			var given *row
			if !known { // else something of what was given has changed
				given = children[e.pid].row(e, inodes, runs)
			}
			if r = given; r == nil {
				var ok bool
				if r, ok = newRow(e, inode, buf[:]); !ok {
					continue
				}
				r.scan = ts.scans
			}
		}
		rows[e.pid] = r
	}
	ts.rows, ts.newer = rows, nil
	t := newTable(rows, starts(children))
	t.number = ts.scans
	if ts.kept.table = nil; numbered {
		ts.kept.keep(ts, t, newest)
	}
	return t, nil
}

// once is f that is called once for each process.
func once(f func(Process) bool) func(Process) bool {
	known := map[Process]bool{}
	return func(p Process) bool {
		is, ok := known[p]
		if !ok {
			is = f(p)
			known[p] = is
		}
		return is
	}
}

// row is the row of a process, nil for none. The lock is held.
func (ts *tables) row(pid int) *row {
	if r, is := ts.newer[pid]; is {
		return r
	}
	return ts.rows[pid]
}

// known is the row that the last scan has of a process, nil for none.
func (ts *tables) known(pid int) *row {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return ts.row(pid)
}

// moved notes that processes are to be read again.
func (ts *tables) moved(list []*row) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for _, r := range list {
		r.stale.Store(true)
		if ts.kept.table != nil {
			ts.kept.again[r.PID] = true
		}
	}
}
