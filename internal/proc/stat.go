package proc

import (
	"bytes"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// read reads /proc/PID/stat, using buf, which is not retained; ok is false when there is no such process.
func read(pid string, buf []byte) (p Process, ok bool) {
	fd, err := unix.Open("/proc/"+pid+"/stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return Process{}, false
	}
	n, err := unix.Read(fd, buf)
	_ = unix.Close(fd)
	if err != nil {
		return Process{}, false // it ended between open and read
	}
	return parseStat(buf[:n])
}

// Fields of a stat line, counted from the state, which is the first after the name.
const (
	fieldState   = 0
	fieldParent  = 1
	fieldSession = 3
	fieldTTY     = 4
	fieldFlags   = 6
	fieldTimes   = 11 // utime, stime, cutime, cstime
	fieldThreads = 17
	fieldStart   = 19
	fieldsNeeded = 20
	fieldPending = 28 // signals that wait for the first thread
	fieldEnviron = 47 // env_start, env_end
	fieldStatus  = 49 // exit_code
)

// parseStat reads a line of /proc/PID/stat (proc_pid_stat(5)). The name may hold spaces and parentheses: the last ')'
// ends it.
func parseStat(line []byte) (p Process, ok bool) {
	open, end := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 1 || end < open {
		return Process{}, false
	}
	var fields [fieldsNeeded][]byte
	rest := line[end+1:]
	for i := range fields {
		rest = bytes.TrimLeft(rest, " ")
		field, after, _ := bytes.Cut(rest, []byte(" "))
		if len(field) == 0 {
			return Process{}, false
		}
		fields[i], rest = field, after
	}
	numbers, ok := ints(line[:open-1], fields[fieldParent], fields[fieldSession], fields[fieldTTY],
		fields[fieldThreads])
	start, err := strconv.ParseUint(string(fields[fieldStart]), 10, 64)
	if !ok || err != nil {
		return Process{}, false
	}
	state := fields[fieldState][0]
	return Process{
		PID: numbers[0], Parent: numbers[1], Session: numbers[2], TTY: numbers[3], Start: start,
		// A process whose first thread has ended while others run is shown as a zombie too, but it lives.
		Ended:   (state == 'Z' || state == 'X') && numbers[4] <= 1,
		Stopped: state == 'T' || state == 't',
		delayed: state == 'R' || state == 'D',
	}, true
}

// ints reads decimal numbers.
func ints(texts ...[]byte) ([]int, bool) {
	numbers := make([]int, len(texts))
	for i, text := range texts {
		n, err := strconv.Atoi(string(text))
		if err != nil {
			return nil, false
		}
		numbers[i] = n
	}
	return numbers, true
}

// line is /proc/PID/stat of a process as a whole, nil when there is no such process.
func line(pid int) []byte {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return text
}

// statFields are count numbers of a line of /proc/PID/stat from a field on.
func statFields(line []byte, first, count int) ([]int, bool) {
	fields := bytes.Fields(line[bytes.LastIndexByte(line, ')')+1:])
	if len(fields) < first+count {
		return nil, false
	}
	return ints(fields[first : first+count]...)
}

// exiting is the flag of a thread at its end: PF_EXITING of include/linux/sched.h. killed is the bit of SIGKILL.
const (
	exiting = 0x4
	killed  = 1 << (syscall.SIGKILL - 1)
)

// IsEnding reports whether the process with a number has gone or been killed: its files are open until its last thread
// has gone.
func IsEnding(pid int) bool {
	text := line(pid)
	flags, ok := statFields(text, fieldFlags, 1)
	pending, known := statFields(text, fieldPending, 1)
	return !ok || !known || flags[0]&exiting != 0 || pending[0]&killed != 0
}

// Status is how exactly this process has ended, as long as it was not reaped; ok is false when it runs, is gone, or may
// not be looked at.
func (p Process) Status() (status syscall.WaitStatus, ok bool) {
	text := line(p.PID)
	now, ok := parseStat(text)
	if !ok || now.Start != p.Start || !now.Ended {
		return 0, false
	}
	// To those who may not look at the process the field is 0, as after success (proc_pid_stat(5)). The link takes the
	// same permission.
	if _, err := os.Readlink("/proc/" + strconv.Itoa(p.PID) + "/ns/pid"); err != nil {
		return 0, false
	}
	fields, ok := statFields(text, fieldStatus, 1)
	if !ok {
		return 0, false
	}
	return syscall.WaitStatus(fields[0]), true
}
