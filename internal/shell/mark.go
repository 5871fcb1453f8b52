package shell

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/evertty/evertty/pty"
)

// marker is the variable that marks the processes of a shell with its directory, for people who look and where a brand cannot be given; it is no part of the shell's state.
const marker = "EVERTTY_SHELL"

// mark makes what a plan starts, and all that this starts, a process of the shell: see marked.
func (s *Shell) mark(p *pty.Plan) {
	isMarker := func(pair string) bool { return strings.HasPrefix(pair, marker+"=") }
	p.Env = append(slices.DeleteFunc(slices.Clone(p.Env), isMarker), marker+"="+s.spec.Dir)
	p.Env = pty.WithIdentity(p.Env, s.config.Identity)
	p.Brand = brand(s.spec.Dir)
}

// brand is the number for the shell of a directory, the same for every server and every incarnation: no other shell has the directory, now or later.
func brand(dir string) uint64 { return pty.BrandOf(dir) }

// marked tells whether a process was started by the shell of a directory or by what that has started, by its brand or its environment.
func marked(dir string, pid int) bool {
	if pty.Brand(pid) == brand(dir) {
		return true
	}
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil || !strings.Contains(string(env), marker) {
		return false
	}
	want := []byte(marker + "=" + dir)
	for pair := range bytes.SplitSeq(env, []byte{0}) {
		if bytes.Equal(pair, want) {
			return true
		}
	}
	return false
}
