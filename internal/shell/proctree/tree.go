// Package proctree finds the processes that belong to a shell or to one of its commands, and ends
// them: by their parents, by the files that they have open, and by the tag of their shell.
package proctree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
)

// Starts are the start times of processes by their ids. Both together identify a process: ids are
// reused.
type Starts map[int]uint64

// Has reports whether a process is among them.
func (s Starts) Has(p proc.Process) bool { return s[p.PID] == p.Start && p.Start != 0 }

// FormatStarts is a list of processes as text for a record; ParseStarts reads it.
func FormatStarts(list []proc.Process) string {
	words := make([]string, len(list))
	for i, p := range list {
		words[i] = fmt.Sprintf("%d:%d", p.PID, p.Start)
	}
	return strings.Join(words, " ")
}

// ParseStarts reads the text of FormatStarts, without invalid parts.
func ParseStarts(text string) Starts {
	found := Starts{}
	for _, word := range strings.Fields(text) {
		var pid int
		var start uint64
		if _, err := fmt.Sscanf(word, "%d:%d", &pid, &start); err == nil {
			found[pid] = start
		}
	}
	return found
}

// Members returns the descendants of a process, each after its parent, without the children in
// except and their descendants; and other processes with a standard file in dir ("" is none). It
// includes ended descendants that were not reaped, and never this process.
func Members(root proc.Process, dir string, except Starts) []proc.Process {
	list, _ := proc.Select(func(all []proc.Process) []proc.Process {
		return members(all, []proc.Process{root}, dir, except)
	})
	return list
}

func members(list, roots []proc.Process, dir string, except Starts) []proc.Process {
	byParent := map[int][]proc.Process{}
	for _, p := range list {
		byParent[p.Parent] = append(byParent[p.Parent], p)
	}
	// 0 is an unknown root, and as a parent the kernel or a process outside of the container.
	seen := map[int]bool{0: true, os.Getpid(): true}
	var found []proc.Process
	for next := slices.Clone(roots); len(next) > 0; next = next[1:] {
		if next[0].PID == 0 {
			continue
		}
		seen[next[0].PID] = true
		for _, p := range byParent[next[0].PID] {
			if !seen[p.PID] && !except.Has(p) {
				seen[p.PID] = true
				found = append(found, p)
				next = append(next, p)
			}
		}
	}
	if dir == "" {
		return found
	}
	own := uint64(0)
	if len(roots) > 0 && roots[0].PID > 0 {
		own = roots[0].Tag()
	}
	for _, p := range list {
		// A shell moves its standard files from command to command.
		if seen[p.PID] || p.Ended {
			continue
		}
		files := p.Files
		if own == 0 || p.Tag() == own {
			files = func() []string { return proc.FilesOf(p.PID) }
		}
		if isIn(dir, files()) {
			found = append(found, p)
		}
	}
	return found
}

// LivingTree is a process and its Members that have not ended, parents first: a shell whose child
// ends first goes on.
func LivingTree(root proc.Process, dir string) []proc.Process {
	list := Members(root, dir, nil)
	if root.PID > 0 && root.Alive() {
		list = slices.Insert(list, 0, root)
	}
	return living(list)
}

// killRounds is how often KillAll looks for new processes: no program forks faster than that for
// long.
const killRounds = 8

// KillAll kills processes, and the descendants that they fork meanwhile, and those with a standard
// file in dir. It waits for their end up to limit, because they hold their files open.
func KillAll(ctx context.Context, victims []proc.Process, dir string, limit time.Duration) {
	gone, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for range killRounds {
		if len(victims) == 0 {
			return
		}
		for _, p := range victims {
			_ = p.Signal(unix.SIGKILL)
		}
		next := Successors(victims, dir) // before their children get other parents
		for _, p := range victims {
			_ = p.Wait(gone)
		}
		victims = next
	}
}

// Successors are the living processes of a list, their descendants, and processes with a standard
// file in dir.
func Successors(parents []proc.Process, dir string) []proc.Process {
	list, _ := proc.Select(func(all []proc.Process) []proc.Process { return withMembers(all, parents, dir) })
	return living(list)
}

// withMembers is the processes of a list that are roots, descend from them or have a standard file
// in dir, in the order of the list.
func withMembers(list, roots []proc.Process, dir string) []proc.Process {
	found := map[int]bool{}
	for _, p := range append(members(list, roots, dir, nil), roots...) {
		found[p.PID] = p.PID > 0 && p.PID != os.Getpid()
	}
	return slices.DeleteFunc(list, func(p proc.Process) bool { return !found[p.PID] })
}

func living(list []proc.Process) []proc.Process {
	return slices.DeleteFunc(list, func(p proc.Process) bool { return p.Ended })
}

// HasFileIn reports whether a process has a standard file in a directory.
func HasFileIn(p proc.Process, dir string) bool { return isIn(dir, p.Files()) }

// isIn reports whether one of files is in a directory.
func isIn(dir string, files []string) bool {
	return slices.ContainsFunc(files, func(name string) bool {
		return strings.HasPrefix(name, dir+string(filepath.Separator))
	})
}

// Children are the processes that a process has started and that run.
func Children(pid int) []proc.Process {
	number := strconv.Itoa(pid)
	text, err := os.ReadFile("/proc/" + number + "/task/" + number + "/children")
	if err != nil { // a kernel without CONFIG_PROC_CHILDREN
		list, _ := proc.List()
		return slices.DeleteFunc(list, func(p proc.Process) bool { return p.Parent != pid })
	}
	var found []proc.Process
	for _, field := range strings.Fields(string(text)) {
		if n, err := strconv.Atoi(field); err == nil {
			if p, ok := proc.Find(n); ok {
				found = append(found, p)
			}
		}
	}
	return found
}
