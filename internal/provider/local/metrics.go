package local

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/wait"
)

const (
	// cpuSample is the time between two looks at what the processes have used.
	cpuSample = 100 * time.Millisecond
	// ticksPerSecond is the unit of processor time in /proc/PID/stat: USER_HZ, 100 on every Linux
	// of Go.
	ticksPerSecond = 100
	mebi           = 1 << 20
	gibi           = 1 << 30
)

// Metrics measures the trees: processor time over cpuSample in percent of one processor, and
// resident memory; and the machine: its memory, and the disk of Config.Dir.
func (l *Provider) Metrics(ctx context.Context, id string) (provider.Metrics, error) {
	if _, err := l.at(id); err != nil {
		return provider.Metrics{}, err
	}
	trees := l.trees(id)
	before, _, err := usage(trees)
	if err != nil {
		return provider.Metrics{}, err
	}
	began := time.Now()
	if !wait.Sleep(ctx, cpuSample) {
		return provider.Metrics{}, fmt.Errorf("local: %w", context.Cause(ctx))
	}
	after, memory, err := usage(trees)
	if err != nil {
		return provider.Metrics{}, err
	}
	used := uint64(0)
	for p, ticks := range after {
		used += ticks - min(before[p], ticks)
	}
	m := provider.Metrics{CPUPercent: new(float64(used) / ticksPerSecond / time.Since(began).Seconds() * 100),
		MemoryUsedMB: new(float64(memory) / mebi), MemoryTotalMB: memoryTotal()}
	m.DiskUsedGB, m.DiskTotalGB = disk(l.cfg.Dir)
	return m, nil
}

// process identifies a process: ids are reused, start times are not.
type process struct {
	pid   int
	start uint64
}

// usage is the processor time of the living processes of trees, in ticks, and their memory in
// bytes.
func usage(trees []proc.Tree) (ticks map[process]uint64, memory int64, err error) {
	members, err := proc.Members(trees)
	if err != nil {
		return nil, 0, fmt.Errorf("local: %w: %w", provider.ErrProvider, err)
	}
	ticks = map[process]uint64{}
	for _, p := range members {
		t, pages, ok := statOf(p.PID)
		if ok {
			ticks[process{p.PID, p.Start}] = t
			memory += pages * int64(os.Getpagesize())
		}
	}
	return ticks, memory, nil
}

// Fields of /proc/PID/stat, counted from the one after the name (proc_pid_stat(5): 14, 15 and 24).
const (
	fieldUser   = 11
	fieldSystem = 12
	fieldRSS    = 21
)

// statOf is the processor time in ticks and the resident pages of a process.
func statOf(pid int) (ticks uint64, pages int64, ok bool) {
	line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, 0, false
	}
	fields := bytes.Fields(line[bytes.LastIndexByte(line, ')')+1:])
	if len(fields) <= fieldRSS {
		return 0, 0, false
	}
	user, err1 := strconv.ParseUint(string(fields[fieldUser]), 10, 64)
	system, err2 := strconv.ParseUint(string(fields[fieldSystem]), 10, 64)
	pages, err3 := strconv.ParseInt(string(fields[fieldRSS]), 10, 64)
	return user + system, pages, err1 == nil && err2 == nil && err3 == nil
}

// memoryTotal is the memory of the machine in MiB; nil where the kernel does not tell (sysinfo(2)).
func memoryTotal() *float64 {
	var info syscall.Sysinfo_t
	if syscall.Sysinfo(&info) != nil {
		return nil
	}
	return new(float64(info.Totalram) * float64(info.Unit) / mebi)
}

// disk is the used and the total space of a path's file system, in GiB.
func disk(path string) (used, total *float64) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(path, &st); err != nil {
		return nil, nil
	}
	size := float64(st.Bsize) / gibi
	return new(float64(st.Blocks-st.Bfree) * size), new(float64(st.Blocks) * size)
}
