package holder

import (
	"fmt"
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// limitRuntime makes Go's runtime prefer memory to speed.
func limitRuntime() {
	debug.SetGCPercent(gcPercent)
	runtime.GOMAXPROCS(maxProcs)
}

// memory decides when memory is released.
type memory struct {
	quiet *time.Timer   // releases memory when nothing has happened for a while
	acts  atomic.Uint64 // packets and jobs so far
}

// busy notes a packet or a job: memory is released when there were many, or none for a while. Light ones are not
// counted: it would take more time than they do.
func (m *memory) busy() {
	if m.acts.Add(1)%releaseEvery == 0 {
		releaseMemory()
	}
	m.quiet.Reset(quietAfter)
}

// releaseMemory returns memory that is not needed while nothing happens: free heap, and the pages of the program's own
// file, most of which only its start has touched: 8 of 14 MB.
func releaseMemory() {
	debug.FreeOSMemory() // touches many of these pages
	releaseProgram()
}

// releaseProgram unmaps the pages of the program's text and constants. They are the page cache's and nobody writes to
// them: the kernel maps them again when they are touched (MADV_DONTNEED, madvise(2)).
func releaseProgram() {
	for _, m := range programMappings() {
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, m.start, m.end-m.start, unix.MADV_DONTNEED)
	}
}

// mapping is a range of addresses.
type mapping struct{ start, end uintptr }

// programMappings are the read-only mappings that a function and a constant of this package are in: they do not change
// while the program runs. What a dynamic linker has written to (RELRO) is in others.
var programMappings = sync.OnceValue(func() (list []mapping) {
	text := reflect.ValueOf(limitRuntime).Pointer()
	constants := uintptr(unsafe.Pointer(unsafe.StringData(aConstant)))
	maps, err := os.ReadFile("/proc/self/maps") // START-END PERMISSIONS … (proc_pid_maps(5))
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(maps)) {
		var m mapping
		var permissions string
		n, _ := fmt.Sscanf(line, "%x-%x %s", &m.start, &m.end, &permissions)
		has := func(address uintptr) bool { return m.start <= address && address < m.end }
		if n == 3 && (has(text) || has(constants)) && !strings.Contains(permissions, "w") {
			list = append(list, m)
		}
	}
	return list
})

// aConstant is in the memory of the program's constants.
const aConstant = "the keeper holds terminals"
