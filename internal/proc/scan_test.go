package proc

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/tests/polling"
)

// patience is how long a test waits for a fact.
const patience = time.Minute

// sleepers starts processes that sleep, outside of any tree that is looked for, and waits until they have settled.
func sleepers(t *testing.T, count int) map[int]bool {
	t.Helper()
	list := make([]*exec.Cmd, count)
	for i := range list {
		list[i] = exec.Command("sleep", "1000")
		list[i].SysProcAttr = &syscall.SysProcAttr{Setsid: i%2 == 0} // looked at for open terminals
		if err := list[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		for _, c := range list {
			_ = c.Process.Kill()
			_ = c.Wait()
		}
	})
	settle(t, list[count-1].Process.Pid)
	pids := map[int]bool{}
	for _, c := range list {
		pids[c.Process.Pid] = true
	}
	return pids
}

func settle(t *testing.T, pid int) {
	t.Helper()
	if !polling.Until(patience, func() bool { p, ok := Find(pid); return ok && p.Age() >= settleAge }) {
		t.Fatalf("%d does not grow old", pid)
	}
}

// tagged starts bash with a tag in a session of its own.
func tagged(t *testing.T, tag uint64, line string) *exec.Cmd {
	t.Helper()
	c := exec.Command("bash", "-c", fmt.Sprintf("ulimit -S -x %d && %s", tag, line))
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	if !polling.Until(patience, func() bool { return Tag(c.Process.Pid) == tag }) {
		t.Fatal("it has no tag")
	}
	return c
}

// TestScanReadsWhatIsNew: what ends one program reads nothing of the processes that were there before.
func TestScanReadsWhatIsNew(t *testing.T) {
	const others = 200
	pids := sleepers(t, others)
	var reads atomic.Int64
	noteRead = func(pid int) {
		if pids[pid] {
			reads.Add(1)
		}
	}
	defer func() { noteRead = func(int) {} }()
	for _, c := range []struct {
		name string
		end  func(pid int, start, tag uint64) error
	}{
		{"at once", func(_ int, _, tag uint64) error {
			_, err := KillTagged(context.Background(), 0, tag)
			return err
		}},
		{"a target", func(pid int, start, tag uint64) error {
			return Target{PID: pid, Start: start, Tag: tag}.Kill(context.Background())
		}},
		{"what has a tag", func(_ int, _, tag uint64) error {
			return HangUpTagged(context.Background(), tag, 0)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for round := range uint64(3) {
				tag := TagOf(t.Name() + fmt.Sprint(round))
				program := tagged(t, tag, "exec sleep 1000")
				p, _ := Find(program.Process.Pid)
				done := make(chan struct{})
				go func() { _ = program.Wait(); close(done) }()
				before := reads.Load()
				if err := c.end(p.PID, p.Start, tag); err != nil {
					t.Fatal(err)
				}
				<-done
				if n := reads.Load() - before; round > 0 && n > others/10 {
					t.Errorf("round %d reads %d times of %d processes that are not looked for", round, n, others)
				}
			}
		})
	}
}

// TestManyShareScans: who asks while a scan runs gets the next one, and all of them the same.
func TestManyShareScans(t *testing.T) {
	var ts tables
	const many = 100
	var all sync.WaitGroup
	ts.mu.Lock() // as during a scan
	for range many {
		all.Go(func() { _, _ = ts.fresh() })
	}
	waiting := polling.Until(patience, func() bool { return ts.asking.Load() == many })
	ts.mu.Unlock()
	all.Wait()
	if !waiting || ts.scans != 1 {
		t.Errorf("%d scans for %d callers", ts.scans, many)
	}
}

// TestManyTreesAtOnce: the cost of ending trees grows with their number, not with its square.
func TestManyTreesAtOnce(t *testing.T) {
	const trees = 200
	table, children := world(), map[int]uint64{}
	for i := range trees {
		pid := 1000 + i
		table.rows[pid] = &row{Process: Process{PID: pid, Parent: 10, Session: pid, Start: 50}}
		children[pid] = 50
	}
	table = newTable(table.rows, children)
	table.holders = func() map[Device][]Process { return nil }
	one := testing.AllocsPerRun(10, func() { newFamily(1000, 50, 0, 10).members(table, TTY{}) })
	if one > 30 {
		t.Errorf("the search for one of %d trees allocates %v times", trees, one)
	}
	for pid := range children {
		if got := newFamily(pid, 50, 0, 10).members(table, TTY{}); len(got) != 1 || got[0].PID != pid {
			t.Fatalf("the tree of %d is %v", pid, got)
		}
	}
}

// TestRowHolds: a row is good as long as neither its process nor its parent nor the leader of its session has another
// inode.
func TestRowHolds(t *testing.T) {
	fresh := func() *row {
		return &row{Process: Process{PID: 5, Parent: 4, Session: 3}, inode: 50, parent: 40, leader: 30, settled: true}
	}
	for _, c := range []struct {
		name   string
		change func(r *row)
		inodes map[int]uint64
		want   bool
	}{
		{"nothing changed", func(*row) {}, map[int]uint64{3: 30, 4: 40}, true},
		{"another process", func(r *row) { r.inode = 51 }, map[int]uint64{3: 30, 4: 40}, false},
		{"young", func(r *row) { r.settled = false }, map[int]uint64{3: 30, 4: 40}, false},
		{"its parent ended", func(*row) {}, map[int]uint64{3: 30}, false},
		{"its parent's number is another's", func(*row) {}, map[int]uint64{3: 30, 4: 41}, false},
		{"the leader ended", func(*row) {}, map[int]uint64{4: 40}, false},
		{"it moved", func(r *row) { r.stale.Store(true) }, map[int]uint64{3: 30, 4: 40}, false},
	} {
		r := fresh()
		c.change(r)
		if got := r.holds(entry{5, 50}, c.inodes); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	if (*row)(nil).holds(entry{5, 50}, nil) {
		t.Error("nothing holds")
	}
}

// TestMovedIsRead: a process that opens a session of its own long after it was read is not found in the old one, though
// its parent and the leader of that are the same.
func TestMovedIsRead(t *testing.T) {
	c := exec.Command("bash", "-c", "( (read x; exec setsid sleep 1000) <&3 & echo $! ); exec sleep 1000")
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c.ExtraFiles = []*os.File{in}
	stdout, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	_ = in.Close()
	var pid int
	if _, err := fmt.Fscan(stdout, &pid); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Kill(pid, unix.SIGKILL); _ = c.Process.Kill(); _ = c.Wait() })
	settle(t, pid)
	tree, _ := TreeOf(c.Process.Pid)
	list, err := Members([]Tree{tree})
	if err != nil || len(list) != 2 || !slices.ContainsFunc(list, func(p Process) bool { return p.PID == pid }) {
		t.Fatalf("the tree is %v, %v", list, err)
	}
	if _, err := out.WriteString("x\n"); err != nil {
		t.Fatal(err)
	}
	if !polling.Until(patience, func() bool { p, _ := Find(pid); return p.Session == pid }) {
		t.Fatal("it opens no session")
	}
	if list, err := Members([]Tree{tree}); err != nil || len(list) != 1 || list[0].PID == pid {
		t.Errorf("left of the tree are %v, %v", list, err)
	}
}

func TestLevels(t *testing.T) {
	list := []Process{{PID: 1}, {PID: 2}, {PID: 3, Parent: 1}, {PID: 4, Parent: 2}, {PID: 5, Parent: 4}}
	var got [][]int
	for level := range levels(list) {
		var pids []int
		for _, p := range level {
			pids = append(pids, p.PID)
		}
		got = append(got, pids)
	}
	if fmt.Sprint(got) != "[[1 2] [3 4] [5]]" {
		t.Error(got)
	}
	for range levels(nil) {
		t.Error("a level of nothing")
	}
}

// TestEndsOneOfMany: what ends one program neither lists /proc again in a series of them nor ever reads anything of the
// other children of this process, whose tags are known.
func TestEndsOneOfMany(t *testing.T) {
	const others = 100
	pids := sleepers(t, others)
	self, _ := Find(os.Getpid())
	for pid := range pids {
		p, _ := Find(pid)
		c := NewChild(p, self)
		c.Tagged(TagOf(fmt.Sprint("other ", pid)))
		t.Cleanup(c.Remove)
	}
	var reads, listings atomic.Int64
	noteRead = func(pid int) {
		if p, _ := Find(pid); pids[pid] && p.Session == pid {
			reads.Add(1)
		}
	}
	noteListing = func() { listings.Add(1) }
	defer func() { noteRead, noteListing = func(int) {}, func() {} }()
	if _, ok := newestPID(); !ok {
		t.Skip("the kernel does not tell the newest process id")
	}
	cache.mu.Lock()
	cache.kept.table, cache.rows = nil, nil // as of a server that has ended none yet
	cache.mu.Unlock()
	const rounds = 5
	for round := range rounds {
		tag := TagOf(t.Name() + fmt.Sprint(round))
		program := tagged(t, tag, "exec sleep 1000")
		p, _ := Find(program.Process.Pid)
		done := make(chan struct{})
		go func() { _ = program.Wait(); close(done) }()
		if err := (Target{PID: p.PID, Start: p.Start, Tag: tag}).Kill(context.Background()); err != nil {
			t.Fatal(err)
		}
		<-done
	}
	if n := reads.Load(); n > 0 {
		t.Errorf("others are read %d times", n)
	}
	if n := listings.Load(); n > rounds { // two in each without the kept table
		t.Errorf("%d listings for %d programs", n, rounds)
	}
}

// TestNewOnesAreFound: a table that is brought up to date has the processes that were started since, and no threads.
func TestNewOnesAreFound(t *testing.T) {
	var ts tables
	if _, err := ts.fresh(); err != nil {
		t.Fatal(err)
	}
	if ts.kept.table == nil {
		t.Skip("the kernel does not tell the newest process id")
	}
	tag := TagOf(t.Name())
	c := tagged(t, tag, "exec sleep 1000")
	defer func() { _ = c.Process.Kill(); _ = c.Wait() }()
	table, err := ts.get(true)
	if err != nil {
		t.Fatal(err)
	}
	if table.index != ts.kept.table.index {
		t.Error("all are indexed again")
	}
	if p, _ := table.process(c.Process.Pid); p.PID == 0 || len(table.withTag(tag)) != 1 {
		t.Errorf("it is not found: %+v", p)
	}
	for pid := range table.newer {
		if _, there := inodeOf(pid); there && !leadsThreads(pid) {
			t.Errorf("%d is a thread", pid)
		}
	}
}

// TestNewerRows: a table with what was read since its listing is as one that was listed then.
func TestNewerRows(t *testing.T) {
	const tag = 7
	made := func(pid, parent, session int) *row {
		return &row{Process: Process{PID: pid, Parent: parent, Session: session, Start: 5}, settled: true,
			tag: kept[uint64]{value: tag, known: true}}
	}
	before := map[int]*row{1: made(1, 0, 1), 5: made(5, 1, 5), 6: made(6, 5, 5), 8: made(8, 5, 8), 9: made(9, 1, 9)}
	newer := map[int]*row{5: nil, 8: made(8, 1, 8), 9: made(9, 8, 8), 12: made(12, 8, 8)}
	after := maps.Clone(before)
	maps.Copy(after, newer)
	delete(after, 5)
	got, want := newTable(before, nil).since(newer, 2), newTable(after, nil)
	ids := func(list []Process) (pids []int) {
		for _, p := range list {
			pids = append(pids, p.PID)
		}
		slices.Sort(pids)
		return pids
	}
	compare := func(what string, got, want []Process) {
		t.Helper()
		if !slices.Equal(ids(got), ids(want)) {
			t.Errorf("%s: %v, want %v", what, ids(got), ids(want))
		}
	}
	for pid := range 15 {
		a, is := got.process(pid)
		b, there := want.process(pid)
		if a != b || is != there || got.row(pid) != want.row(pid) || got.tagOf(pid) != want.tagOf(pid) {
			t.Errorf("process %d: %+v %v, want %+v %v", pid, a, is, b, there)
		}
		compare(fmt.Sprint("children of ", pid), got.childrenOf(pid), want.childrenOf(pid))
		compare(fmt.Sprint("session ", pid), got.session(pid), want.session(pid))
	}
	compare("with the tag", got.withTag(tag), want.withTag(tag))
	compare("that may hold a terminal", got.mayHold(), want.mayHold())
}
