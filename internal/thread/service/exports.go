package service

import (
	"bytes"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/pty"
)

// maxEnviron is the largest environment that is looked at, in bytes: a quarter of what a state may
// have. A larger one is left out, because a part of one would unset the rest.
const maxEnviron = 256 << 10

// untold are the variables that say nothing of what was exported: those that a shell and a terminal
// keep themselves.
var untold = map[string]bool{"PWD": true, "OLDPWD": true, "SHLVL": true, "_": true, "TERM": true, "COLUMNS": true,
	"LINES":         true,
	pty.EnvTerminal: true, pty.EnvSession: true, pty.EnvURL: true, pty.EnvSocket: true}

// exports is what a program that a shell started shows of the shell's variables. What /proc has of
// the shell itself is as it was at its start. An exports is never changed.
type exports struct {
	set   map[string]string // what the program has and the shell had not at its start, or otherwise
	unset []string          // what the program has not and the shell had, ascending
}

// environ is an environment as the system shows it.
type environ struct {
	raw  []byte
	vars map[string]string
	user uint32
}

func (e *exports) same(o *exports) bool {
	return o != nil && maps.Equal(e.set, o.set) && slices.Equal(e.unset, o.unset)
}

// shown is what the program in the foreground shows of the exports of the terminal's own process,
// and what that began with. ok is false when there is none to be seen: nothing runs, it is no child
// of that process, it is another user's, it has not begun yet, or has written over its environment.
func shown(t *terminal.Terminal) (e *exports, began map[string]string, ok bool) {
	if t.Spec().Provider != "" || t.Process() == nil {
		return nil, nil, false // there the relay is the process
	}
	group, err := t.Process().Foreground()
	own := t.Process().PID()
	if err != nil || group <= 0 || group == own {
		return nil, nil, false
	}
	leader, ok := proc.Find(group)
	if !ok || leader.Parent != own {
		return nil, nil, false
	}
	shell, ok := readEnviron(own)
	if !ok {
		return nil, nil, false
	}
	program, ok := readEnviron(group)
	// A child that has forked and not executed anything, as a subshell, shows what the shell began
	// with.
	if !ok || program.user != shell.user || bytes.Equal(program.raw, shell.raw) {
		return nil, nil, false
	}
	// That it is still that child proves that neither number was given to another process
	// meanwhile.
	if now, ok := proc.Find(group); !ok || now.Start != leader.Start || now.Parent != own {
		return nil, nil, false
	}
	return difference(shell.vars, program.vars), shell.vars, true
}

// readEnviron is /proc/PID/environ. ok is false when it may not be read, is too large, or is no
// environment: it is empty while a program begins and after it has ended, and programs that change
// their title write it over.
func readEnviron(pid int) (e environ, ok bool) {
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return e, false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return e, false
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return e, false
	}
	e.user = owner.Uid
	if e.raw, err = io.ReadAll(io.LimitReader(f, maxEnviron+1)); err != nil || len(e.raw) > maxEnviron {
		return e, false
	}
	e.vars, ok = parseEnviron(e.raw)
	return e, ok
}

// parseEnviron reads NAME=VALUE, each ended by NUL. ok is false when there is anything else. Of a
// name that is there twice the last counts, as for bash.
func parseEnviron(raw []byte) (vars map[string]string, ok bool) {
	text, ended := strings.CutSuffix(string(raw), "\x00")
	if !ended {
		return nil, false
	}
	vars = map[string]string{}
	for pair := range strings.SplitSeq(text, "\x00") {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, false
		}
		vars[name] = value
	}
	return vars, true
}

func difference(shell, program map[string]string) *exports {
	e := &exports{set: map[string]string{}}
	for name, value := range program {
		if was, ok := shell[name]; !untold[name] && (!ok || was != value) {
			e.set[name] = value
		}
	}
	for name := range shell {
		if _, ok := program[name]; !untold[name] && !ok {
			e.unset = append(e.unset, name)
		}
	}
	slices.Sort(e.unset)
	return e
}

// applied is a state with the exports of a shell that began with some variables. What the state had
// and the shell began with stays a part of it: it was given.
func (e *exports) applied(s thread.State, began map[string]string) thread.State {
	env := map[string]string{}
	for name, value := range s.Env {
		was, had := began[name]
		switch {
		case untold[name]:
			env[name] = value
		case had && !slices.Contains(e.unset, name):
			env[name] = was
		}
	}
	maps.Copy(env, e.set)
	unset := slices.Clone(e.unset)
	for _, name := range s.Unset {
		if _, had := began[name]; untold[name] || !had {
			unset = append(unset, name) // the state drops those that are set
		}
	}
	s.Env, s.Unset = env, unset
	return s
}
