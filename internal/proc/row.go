package proc

import (
	"bytes"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// row is a process as one scan has read it, and what was read of it since. Later scans use it again as long as nobody
// who could have changed it has come or gone: see holds. What they cannot know is whether the process opened a session
// of its own meanwhile, so those who act on a process have it read again: see tables.current.
type row struct {
	Process
	inode          uint64 // see entry
	parent, leader uint64 // inodes of its parent and of the leader of its session; 0 when these were not listed
	scan           uint64 // number of the scan that read it
	settled        bool   // it had been running for settleAge
	given          bool   // nobody has read it: it is a child's, see Child.row
	stale          atomic.Bool

	mu    sync.Mutex // held while one of these is read
	tag   kept[uint64]
	ptys  kept[[3]Device] // behind its standard files
	files kept[[]string]
	shell kept[string]
}

// kept is something of a process that is read once, when the process has settled.
type kept[T any] struct {
	value T
	known bool
}

// noteRead hears of everything that is read of a process that is not looked for, for tests.
var noteRead = func(int) {}

// newRow reads a process; ok is false when there is none.
func newRow(e entry, inode func(pid int) uint64, buf []byte) (r *row, ok bool) {
	noteRead(e.pid)
	p, ok := read(strconv.Itoa(e.pid), buf)
	if !ok {
		return nil, false
	}
	return &row{Process: p, inode: e.inode, parent: inode(p.Parent), leader: inode(p.Session),
		settled: p.Age() >= settleAge}, true
}

// holds reports whether the row is still true in a new listing: number and inode are the same, so it is the same
// process. Its parent changes only when that ends, its terminal without its doing only with the leader of its session.
func (r *row) holds(e entry, inodes map[int]uint64) bool {
	return r != nil && (r.settled || r.given) && r.inode == e.inode && !r.stale.Load() &&
		r.parent == inodes[r.Parent] && r.leader == inodes[r.Session]
}

// unsettled reports whether the process may become another without a process that comes or goes.
func (r *row) unsettled() bool { return !r.settled && !r.given || r.stale.Load() }

// settleAge is how long a process may take to become what it stays: started processes open sessions, move their
// standard files, execute another program and tag themselves within milliseconds.
const settleAge = time.Second

// get returns what is kept, or reads it.
func get[T any](r *row, k *kept[T], read func(pid int) T) T {
	r.mu.Lock()
	defer r.mu.Unlock()
	if k.known {
		return k.value
	}
	noteRead(r.PID)
	value := read(r.PID)
	k.value, k.known = value, r.settled || r.given && r.Age() >= settleAge
	return value
}

// knownTag is the tag of the process, 0 for none.
func (r *row) knownTag() uint64 {
	return get(r, &r.tag, func(pid int) uint64 {
		tag := Tag(pid)
		if !IsTag(tag) {
			return 0
		}
		if now, ok := Find(pid); !ok || !now.is(r.Process) {
			return 0 // another's: the next listing shows it
		}
		return tag
	})
}

// tagIn is the tag of the process in a new listing, as far as it was read; r may be nil.
func (r *row) tagIn(e entry) (tag uint64, ok bool) {
	if r == nil || r.inode != e.inode {
		return 0, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tag.value, r.tag.known
}

// retagged reports whether the process has another tag than is known, and forgets that one.
func (r *row) retagged() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.tag.known || r.tag.value == 0 || Tag(r.PID) == r.tag.value {
		return false
	}
	r.tag.known = false
	return true
}

// knownPTYs are the pseudo-terminals behind its standard files.
func (r *row) knownPTYs() [3]Device {
	list := get(r, &r.ptys, stdPTYs)
	if list != ([3]Device{}) {
		return stdPTYs(r.PID) // it may have closed them since
	}
	return list
}

func stdPTYs(pid int) (list [3]Device) {
	for fd := range list {
		list[fd], _ = PTYAt("/proc/" + strconv.Itoa(pid) + "/fd/" + strconv.Itoa(fd))
	}
	return list
}

// known is the row of a process, of the last scan or else a new one.
func (p Process) known() *row {
	if r := cache.known(p.PID); r != nil && r.is(p) {
		return r
	}
	return &row{Process: p}
}

// Tag is the tag of the process, 0 for none. It is read once, when the process has settled.
func (p Process) Tag() uint64 { return p.known().knownTag() }

// Files is FilesOf the process. They are read once, when the process has settled.
func (p Process) Files() []string {
	r := p.known()
	return get(r, &r.files, FilesOf)
}

// FilesOf are the names of the standard files of the process that has the number now, as /proc shows them; those behind
// one that is closed or may not be looked at are left out.
func FilesOf(pid int) (list []string) {
	for fd := range 3 {
		name, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/fd/" + strconv.Itoa(fd))
		if err != nil {
			break
		}
		list = append(list, name)
	}
	return list
}

// ShellVariable is the variable that ShellOf looks for.
const ShellVariable = "EVERTTY_SHELL"

// Shell is ShellOf of the process. It is read once, when the process has settled.
func (p Process) Shell() string {
	r := p.known()
	return get(r, &r.shell, ShellOf)
}

// ShellOf is StartedWith for ShellVariable.
func ShellOf(pid int) string { return StartedWith(pid, ShellVariable) }

// StartedWith is the value of a variable in the environment that the process which has the number now was started with,
// "" for none.
func StartedWith(pid int, name string) string {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	for pair := range bytes.SplitSeq(text, []byte{0}) {
		if value, ok := bytes.CutPrefix(pair, []byte(name+"=")); ok {
			return string(value)
		}
	}
	return ""
}
