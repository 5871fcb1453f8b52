// Package confine starts programs that may touch less of the machine (sandboxes, by Landlock) or use less of it
// (limits, by cgroup v2 and setrlimit(2)).
//
// Nothing can run between fork and exec in a Go program. So the keeper executes its own binary with the verb `confine`
// ([Main]), which confines itself and then executes the program in its place: process id, terminal, session, tag and
// the error of a program that cannot be executed are the same as without it.
package confine

import (
	"encoding/json"
	"fmt"

	"github.com/evertty/evertty/internal/proc"
)

// Verb is the first argument of a binary that is to call [Main].
const Verb = "confine"

// ErrUnsupported means that the kernel, or the rights of this user, cannot confine a program as it is wanted.
var ErrUnsupported = proc.ErrUnsupported

// Spec says how a program is confined. It travels as JSON; Main refuses fields that it does not know.
type Spec struct {
	Sandbox *Sandbox `json:"sandbox,omitempty"`
	Limits  *Limits  `json:"limits,omitempty"`
}

// Sandbox says what a program may touch. All paths are absolute, without symbolic links.
type Sandbox struct {
	// Write are the directories in which it may change everything. One that does not exist is left out, and so is one
	// that is a symbolic link by now.
	Write []string `json:"write,omitempty"`
	// Terminals lets it make terminals of its own, and use all of its user.
	Terminals bool `json:"terminals,omitempty"`
	// Hide is the data directory of the server, which it cannot read, but for Keep, a directory in there in which it
	// may make, change and remove files and FIFOs; "" is none. It makes no links and directories there, which could
	// lead the server elsewhere.
	Hide string `json:"hide"`
	Keep string `json:"keep,omitempty"`
}

// Limits say what a program may use; 0 is no limit.
type Limits struct {
	Data  uint64 `json:"data,omitempty"`  // bytes of private writable memory of each process: RLIMIT_DATA
	Files uint64 `json:"files,omitempty"` // descriptors of each process: RLIMIT_NOFILE
	Tasks uint64 `json:"tasks,omitempty"` // processes and threads beyond those that the user has now: RLIMIT_NPROC
	Group string `json:"group,omitempty"` // directory of the cgroup that it enters; "" is none
}

// Plan is the plan of the confined program, which the keeper executes by its own binary. Arguments may be added to it.
func (s Spec) Plan(p proc.Plan) proc.Plan {
	text, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("invariant violation: %v", err)) // strings, numbers
	}
	p.Argv = append([]string{"evertty", Verb, string(text), p.Path}, p.Argv...)
	p.Path, p.Reports = "/proc/self/exe", true // whatever the name of the binary means by now
	return p
}
