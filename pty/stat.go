package pty

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// stat is what /proc tells of one process (proc_pid_stat(5)). A process id and its start time together are never used
// twice.
type stat struct {
	pid, ppid, sid int
	tty            int    // device number of its controlling terminal, 0 for none
	start          uint64 // in clock ticks since boot
	dead           bool   // a zombie: only its parent can do something about it
	stopped        bool   // by a signal, or by a debugger
	delayed        bool   // on a processor, or waiting for one or for the disk
}

// readStat reads the stat of one process; ok is false when there is none.
func readStat(pid int) (s stat, ok bool) {
	var buf [statSize]byte
	return readStatAt(unix.AT_FDCWD, "/proc/"+strconv.Itoa(pid)+"/stat", buf[:])
}

// readStatAt reads a stat file by its name below the directory dir, using buf, which is not retained.
func readStatAt(dir int, name string, buf []byte) (s stat, ok bool) {
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return stat{}, false
	}
	n, err := unix.Read(fd, buf)
	_ = unix.Close(fd)
	if err != nil {
		return stat{}, false // it ended between open and read
	}
	return parseStat(buf[:n])
}

// Fields of a stat line, counted from the state, which is the first after the name.
const (
	fieldState   = 0
	fieldParent  = 1
	fieldSession = 3
	fieldTTY     = 4
	fieldThreads = 17
	fieldStart   = 19
	fieldsNeeded = 20
	fieldStatus  = 49 // "exit_code", field 52 of the manual
)

// parseStat reads a line of /proc/PID/stat. The name may hold spaces and parentheses: the last ')' ends it.
func parseStat(line []byte) (s stat, ok bool) {
	open, end := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 1 || end < open {
		return stat{}, false
	}
	var fields [fieldsNeeded][]byte
	rest := line[end+1:]
	for i := range fields {
		rest = bytes.TrimLeft(rest, " ")
		field, after, _ := bytes.Cut(rest, []byte(" "))
		if len(field) == 0 {
			return stat{}, false
		}
		fields[i], rest = field, after
	}
	pid, ok1 := number(line[:open-1])
	ppid, ok2 := number(fields[fieldParent])
	sid, ok3 := number(fields[fieldSession])
	tty, ok4 := number(fields[fieldTTY])
	threads, ok5 := number(fields[fieldThreads])
	start, err := strconv.ParseUint(string(fields[fieldStart]), 10, 64)
	if !ok1 || !ok2 || !ok3 || !ok4 || !ok5 || err != nil {
		return stat{}, false
	}
	// A process whose first thread has ended while others run is shown as a zombie too, but it lives.
	state := fields[fieldState][0]
	dead := (state == 'Z' || state == 'X') && threads <= 1
	stopped := state == 'T' || state == 't'
	delayed := state == 'R' || state == 'D'
	return stat{pid: pid, ppid: ppid, sid: sid, tty: tty, start: start, dead: dead, stopped: stopped, delayed: delayed},
		true
}

// zombieStatus is the wait status of a process that has ended and was not reaped, if there is one that started at birth
// and may be looked at.
func zombieStatus(pid int, birth uint64) (unix.WaitStatus, bool) {
	dir := "/proc/" + strconv.Itoa(pid)
	line, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return 0, false
	}
	s, ok := parseStat(line)
	if !ok || s.start != birth || !s.dead {
		return 0, false
	}
	// To those who may not look at the process the field is 0, as if all was well (proc_pid_stat(5)). The link takes
	// the same permission.
	if _, err := os.Readlink(dir + "/ns/pid"); err != nil {
		return 0, false
	}
	fields := bytes.Fields(line[bytes.LastIndexByte(line, ')')+1:])
	if len(fields) <= fieldStatus {
		return 0, false
	}
	status, ok := number(fields[fieldStatus])
	return unix.WaitStatus(status), ok
}

// number reads a decimal number.
func number(b []byte) (int, bool) {
	n, err := strconv.Atoi(string(b))
	return n, err == nil
}

// alive tells whether exactly this process still runs.
func (s stat) alive() bool {
	now, ok := readStat(s.pid)
	return ok && now.start == s.start && !now.dead
}

// signal sends the signals in turn to exactly this process. No process is no error.
func (s stat) signal(list ...unix.Signal) error {
	// A pidfd keeps naming the process that had the number when it was opened, so the check of the start time stays
	// true.
	fd, err := unix.PidfdOpen(s.pid, 0)
	if err == unix.ESRCH {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	if !s.alive() {
		return nil
	}
	for _, sig := range list {
		if err := unix.PidfdSendSignal(fd, sig, nil, 0); err != nil && err != unix.ESRCH {
			return err
		}
	}
	return nil
}
