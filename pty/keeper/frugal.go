package keeper

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// frugal makes Go's runtime prefer memory to speed.
func frugal() {
	debug.SetGCPercent(gcPercent)
	runtime.GOMAXPROCS(maxProcs)
}

// busy notes a packet or a job: memory is given back when there were many, or none for a while. Light ones are not counted: it would take more time than they do.
func (k *keeper) busy() {
	if k.acts.Add(1)%shrinkEvery == 0 {
		shrink()
	}
	k.calm.Reset(calmAfter)
}

// shrink gives back the memory that is not needed while nothing happens: free heap, and the pages of the program's own file, most of which only
// its start has touched.
func shrink() {
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer f.Close()
	list := idleMappings(bufio.NewScanner(f))
	debug.FreeOSMemory() // touches many of these pages
	dropped.Store(&list)
	dropAgain()
}

// dropped are the mappings that shrink has found last.
var dropped atomic.Pointer[[]mapping]

// dropAgain gives back pages that little work has touched since shrink, without a look for mappings.
func dropAgain() {
	if list := dropped.Load(); list != nil {
		for _, m := range *list {
			dropPages(m)
		}
	}
}

// mapping is a range of addresses.
type mapping struct{ start, end uintptr }

// idleMappings are the private, read-only mappings of files (program text and constants) without a page of their own. Pages of these are the page
// cache's: the kernel maps them again when they are touched. A mapping with pages of its own is what a dynamic linker has written
// into (RELRO), and must not be dropped.
func idleMappings(smaps *bufio.Scanner) []mapping {
	var list []mapping
	var now mapping
	var fits bool
	for smaps.Scan() {
		line := smaps.Text()
		var m mapping
		var perms, dev string
		var offset, inode uint64
		if n, _ := fmt.Sscanf(line, "%x-%x %s %x %s %d", &m.start, &m.end, &perms, &offset, &dev, &inode); n == 6 {
			now, fits = m, inode != 0 && (perms == "r-xp" || perms == "r--p")
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		own := name == "Anonymous" || name == "Swap"
		if own && strings.TrimSpace(value) != "0 kB" {
			fits = false
		}
		if name == "VmFlags" && fits { // the last line of a mapping
			list = append(list, now)
		}
	}
	return list
}

// dropPages unmaps the pages of a mapping; see idleMappings for why they come back as they were.
func dropPages(m mapping) {
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, m.start, m.end-m.start, unix.MADV_DONTNEED)
}
