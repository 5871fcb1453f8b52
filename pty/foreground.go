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
	Zombie   bool // it has ended, and nobody has waited for it yet
	Parent   bool // it has children; false when that is not known
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
	f.Name, f.Sleeping, f.Zombie = string(line[begin+1:end]), line[end+2] == 'S', line[end+2] == 'Z'
	children, err := os.ReadFile("/proc/" + strconv.Itoa(group) + "/task/" + strconv.Itoa(group) + "/children")
	f.Parent = err == nil && len(children) > 0
	return f, nil
}
