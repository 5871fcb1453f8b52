package pty

import (
	"bytes"
	"os"
	"strconv"
)

// Foreground is who has a terminal's foreground.
type Foreground struct {
	Group int
	// Name of the group's first process, at most 15 bytes (proc_pid_comm(5)); "" when
	// it has ended.
	Name string
	// Sleeping: it waits for something, as a program does that reads.
	Sleeping bool
}

// ForegroundProgram is Master.Foreground with what /proc tells of it. Errors: ErrClosed.
func (m *Master) ForegroundProgram() (Foreground, error) {
	group, err := m.Foreground()
	f := Foreground{Group: group}
	if err != nil || group <= 0 {
		return f, err
	}
	line, err := os.ReadFile("/proc/" + strconv.Itoa(group) + "/stat")
	if err != nil {
		return f, nil //nolint:nilerr // it has ended, which is no error
	}
	begin, end := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if begin < 0 || end < begin || end+2 >= len(line) {
		return f, nil
	}
	f.Name, f.Sleeping = string(line[begin+1:end]), line[end+2] == 'S'
	return f, nil
}
