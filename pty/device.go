package pty

import (
	"bytes"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
)

// maxAncestors bounds the walk from a process to its ancestors: deeper trees of
// shells are made by accident only.
const maxAncestors = 64

// bootID is the kernel's number for this boot (random(4)), "" when it cannot be read.
var bootID = sync.OnceValue(func() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return string(bytes.TrimSpace(b))
})

// deviceName names a terminal device: boot, file system and device number. Equal
// names are the same device also where machines or containers have a /dev/pts each.
func deviceName(st *unix.Stat_t) (name string, ok bool) {
	if st.Mode&unix.S_IFMT != unix.S_IFCHR || bootID() == "" {
		return "", false
	}
	return fmt.Sprintf("%s:%x:%x", bootID(), st.Dev, st.Rdev), true
}

// FileDevice names the device of an open terminal. ok is false for any other file.
func FileDevice(f *os.File) (name string, ok bool) {
	if f == nil {
		return "", false
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return "", false
	}
	var st unix.Stat_t
	if proc.Control(conn, func(fd int) error { return unix.Fstat(fd, &st) }) != nil {
		return "", false
	}
	return deviceName(&st)
}

// pathDevice names the device at a path.
func pathDevice(path string) (name string, ok bool) {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return "", false
	}
	return deviceName(&st)
}

// Device names the far end of the pseudo-terminal as FileDevice does. ok is false
// when it cannot be looked at.
func (m *Master) Device() (name string, ok bool) { return pathDevice(m.path) }

// Surroundings is in which terminals a process runs, as far as it can be seen.
type Surroundings struct {
	Terminals []string // values of EnvTerminal of the process and its ancestors
	Devices   []string // their controlling terminals, named as FileDevice does
}

// SurroundingsOf looks at a process and its ancestors. Environments are those with
// which programs were started, so a program that a shell without the variables
// started is found through the shell. What may not be read is left out.
func SurroundingsOf(pid int) Surroundings {
	var s Surroundings
	seen := map[string]bool{}
	add := func(list *[]string, word string) {
		if word != "" && !seen[word] {
			seen[word] = true
			*list = append(*list, word)
		}
	}
	for range maxAncestors {
		p, ok := proc.Find(pid)
		if !ok {
			break
		}
		add(&s.Terminals, proc.StartedWith(pid, EnvTerminal))
		add(&s.Devices, controlling(p.TTY))
		if pid = p.Parent; pid <= 1 {
			break
		}
	}
	return s
}

// controlling names the pseudo-terminal with a device number of proc_pid_stat(5),
// "" for other devices.
func controlling(number int) string {
	path, ok := proc.PTYPath(uint64(number))
	var st unix.Stat_t
	if !ok || unix.Stat(path, &st) != nil || st.Rdev != uint64(number) {
		return ""
	}
	name, _ := deviceName(&st)
	return name
}
