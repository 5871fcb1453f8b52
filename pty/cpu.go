package pty

import (
	"bytes"
	"os"
	"strconv"
	"time"
)

// CPUTime is the processor time that the living processes of trees have used, with that of the children they have waited for. It grows as long as nobody leaves
// the trees. Errors: those of Members.
func CPUTime(trees []Tree) (time.Duration, error) {
	list, err := Members(trees)
	if err != nil {
		return 0, err
	}
	var used time.Duration
	for _, p := range list {
		used += cpuTime(p.PID)
	}
	return used, nil
}

// cpuTime is that of one process, 0 when it has ended: then it is its parent's.
func cpuTime(pid int) time.Duration {
	line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(line[max(bytes.LastIndexByte(line, ')'), 0):], []byte(" "))
	fields := bytes.Fields(rest)
	const utime = 11 // of those behind the name, with stime, cutime and cstime after it (proc_pid_stat(5))
	if len(fields) < utime+4 {
		return 0
	}
	var n int64
	for _, f := range fields[utime : utime+4] {
		v, _ := strconv.ParseInt(string(f), 10, 64)
		n += v
	}
	return time.Duration(n) * clockTick
}
