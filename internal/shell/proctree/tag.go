package proctree

import (
	"slices"
	"strings"

	"github.com/evertty/evertty/internal/proc"
)

// TagVariable is the environment variable with the directory of the shell that started a process: for people who look,
// and where a number tag cannot be given. It is no part of a shell's state.
const TagVariable = proc.ShellVariable

// Tag makes what a plan starts, and all that this starts, processes of the shell of a directory: see Tagged.
func Tag(p *proc.Plan, dir string) {
	tagged := func(pair string) bool { return strings.HasPrefix(pair, TagVariable+"=") }
	p.Env = append(slices.DeleteFunc(slices.Clone(p.Env), tagged), TagVariable+"="+dir)
	p.Tag = proc.TagOf(dir)
}

// Tagged reports whether a process was started by the shell of a directory or by what that has started: by its number
// tag (see [proc.Tag]), the same for every server and every process of the shell, or by its environment.
func Tagged(dir string, pid int) bool {
	return proc.Tag(pid) == proc.TagOf(dir) || proc.ShellOf(pid) == dir
}
