package proc

import (
	"bytes"
	"maps"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Bounds of a table that is brought up to date.
const (
	// maxProbed is how many numbers are looked at for processes that are new: more cost as much as a listing.
	maxProbed = 256
	// lateForks is how many numbers before the newest one of a table are looked at too: a process gets its number some
	// microseconds before it is in /proc.
	lateForks = 64
	// maxNewer is how many processes are read for a table before a new one is listed: every look goes through them, and
	// for each of them once more.
	maxNewer = 64
	// keptFor is how long a table is kept: in a series of deletes one listing serves all.
	keptFor = 5 * time.Second
)

// keptTable is the last table, for update.
type keptTable struct {
	table   *table       // nil for none
	newest  int          // process id, as of before the table
	threads map[int]bool // numbers that are threads'
	again   map[int]bool // to be read again, by process id: they had not settled, or have moved
	until   time.Time
	drop    *time.Timer // frees the memory
}

// keep keeps a table that a listing has made. The lock of ts is held.
func (k *keptTable) keep(ts *tables, t *table, newest int) {
	k.table, k.newest, k.until, k.threads = t, newest, time.Now().Add(keptFor), map[int]bool{}
	k.again = map[int]bool{}
	for pid, r := range t.rows {
		if r.unsettled() {
			k.again[pid] = true
		}
	}
	if k.drop != nil {
		k.drop.Stop()
	}
	k.drop = time.AfterFunc(keptFor, func() {
		ts.mu.Lock()
		defer ts.mu.Unlock()
		if !time.Now().Before(k.until) {
			k.table, k.threads, k.again = nil, nil, nil
		}
	})
}

// newestPID is the process id that was given last. ok is false where the kernel does not tell (it was made without
// CONFIG_CHECKPOINT_RESTORE).
func newestPID() (pid int, ok bool) {
	text, err := os.ReadFile("/proc/sys/kernel/ns_last_pid")
	pid, err2 := strconv.Atoi(string(bytes.TrimSpace(text)))
	return pid, err == nil && err2 == nil && pid > 0
}

// update is the kept table with what was started since, and with what may have become another since. Linux gives
// numbers in ascending order, so these are the next ones. It returns nil when only a listing can tell. The lock is
// held.
func (ts *tables) update() *table {
	k := &ts.kept
	newest, ok := newestPID()
	if !ok || k.table == nil || !time.Now().Before(k.until) || newest < k.newest || newest-k.newest > maxProbed {
		return nil
	}
	if len(k.again) > maxNewer {
		return nil
	}
	ts.scans++
	if !ts.probe(k.newest-lateForks, newest) || len(ts.newer) > maxNewer {
		return nil
	}
	k.newest = newest
	return k.table.since(ts.newer, ts.scans)
}

// probe reads the processes that have the numbers after first up to last, and again those that had not settled or have
// moved. ok is false when a number that was known is another's.
func (ts *tables) probe(first, last int) (ok bool) {
	look := slices.Collect(maps.Keys(ts.kept.again))
	for pid := max(first, initPID) + 1; pid <= last; pid++ {
		if ts.row(pid) == nil && ts.kept.isProcess(pid) {
			look = append(look, pid)
		}
	}
	if len(look) == 0 {
		return true
	}
	newer := maps.Clone(ts.newer)
	if newer == nil {
		newer = map[int]*row{}
	}
	inode := func(pid int) uint64 {
		if r := ts.row(pid); r != nil {
			return r.inode
		}
		return 0
	}
	var buf [statSize]byte
	for _, pid := range look {
		e := entry{pid: pid}
		var there bool
		e.inode, there = inodeOf(pid)
		if r := ts.row(pid); r != nil && there && e.inode != r.inode {
			return false
		}
		delete(ts.kept.again, pid)
		newer[pid] = nil
		if r, found := newRow(e, inode, buf[:]); there && found {
			r.scan = ts.scans
			newer[pid] = r
			if r.unsettled() {
				ts.kept.again[pid] = true
			}
		}
	}
	ts.newer = newer
	return true
}

// isProcess reports whether a number is a process's now.
func (k *keptTable) isProcess(pid int) bool {
	if _, there := inodeOf(pid); !there || k.threads[pid] {
		return false
	}
	k.threads[pid] = !leadsThreads(pid)
	return !k.threads[pid]
}

// leadsThreads reports whether a number is a process's: threads have numbers of the same kind.
func leadsThreads(pid int) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	_, rest, _ := bytes.Cut(text, []byte("\nTgid:"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	return err == nil && string(bytes.TrimSpace(line)) == strconv.Itoa(pid)
}

// inodeOf is the inode that a listing has of a process.
func inodeOf(pid int) (inode uint64, ok bool) {
	var st unix.Stat_t
	err := unix.Stat("/proc/"+strconv.Itoa(pid), &st)
	return st.Ino, err == nil
}
