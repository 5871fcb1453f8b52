package proctree

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/shell/shelldir"
)

// TagVariable is the environment variable with the directory of the shell that started a process:
// for people who look, and where a number tag cannot be given. It is no part of a shell's state.
const TagVariable = proc.ShellVariable

// Tag makes what a plan starts, and all that this starts, processes of the shell of a directory:
// see Tagged.
func Tag(p *proc.Plan, dir string) {
	tagged := func(pair string) bool { return strings.HasPrefix(pair, TagVariable+"=") }
	p.Env = append(slices.DeleteFunc(slices.Clone(p.Env), tagged), TagVariable+"="+dir)
	p.Tag = tagOf(dir)
}

// maxTag bounds the file of a tag, in bytes.
const maxTag = 64

// NewTag gives the shell of a new directory a tag that no copy of the directory has for long.
func NewTag(dir string) error {
	return shelldir.WriteFile(filepath.Join(dir, shelldir.TagFile), []byte(rand.Text()))
}

// tagOf is the number tag of a shell (see [proc.Tag]).
func tagOf(dir string) uint64 {
	text, err := os.ReadFile(filepath.Join(dir, shelldir.TagFile))
	if err != nil || len(text) == 0 || len(text) > maxTag {
		return proc.TagOf(dir) // a shell of an older release
	}
	return proc.TagOf("shell " + string(text))
}

// Tagged reports whether a process was started by the shell of a directory or by what that has
// started: by its number tag, the same for every server and every process of the shell, or without
// any by its environment.
func Tagged(dir string, pid int) bool {
	return tagged(dir, tagOf(dir), proc.Tag(pid), func() string { return proc.ShellOf(pid) })
}

// tagged is Tagged of a process with the tag found, whose environment names shell.
func tagged(dir string, tag, found uint64, shell func() string) bool {
	if proc.IsTag(found) {
		return found == tag
	}
	return shell() == dir
}
