// Package state captures the state of a bash and restores it in the next one: directory,
// environment, variables, functions, aliases, options, umask, directory stack, completions. It
// names the parts that cannot be restored.
package state

import (
	"slices"
	"strconv"
	"strings"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/shell/proctree"
	"github.com/evertty/evertty/pty"
)

// Snapshot is the part of a capture that is kept in memory. Variables that are not exported,
// functions and arguments are in the file alone. It is immutable; all methods may be called from
// several goroutines.
//
// A capture lacks key bindings, history and hash table.
type Snapshot struct {
	directory string // without links
	pwd       string // PWD, "" when it is not an absolute path
	last      string // $_
	traceFD   int    // of BASH_XTRACEFD, 0 without one
	umask     string
	variables []variable // exported ones of at most longestKept, and POSIXLY_CORRECT
	functions []function
	aliases   []element
	shopts    []option
	sets      []option // without posix when that came from the capture itself
	jobs      []string // process id and text
	traps     []string
	limits    map[string]string // of /proc/PID/limits: the soft and the hard limit by name
	files     []string          // numbers of inherited descriptors above 2
	disabled  []string          // builtins, by enable -n
}

// function is one of a shell's, as bash prints it.
type function struct {
	name  string
	flags string // x, r, t
	text  string // of one named builtin, which is not with the others in the file
}

// longestKept bounds the value of a variable in memory, in bytes: execve takes no longer one
// (MAX_ARG_STRLEN of Linux).
const longestKept = 128 << 10

// option is one of shopt or set -o.
type option struct {
	name string
	on   bool
}

// bashVariables are the variables that bash makes itself or that are meaningless in another
// process, besides those that begin with BASH.
var bashVariables = map[string]bool{
	"COLUMNS": true, "COMP_WORDBREAKS": true, "DIRSTACK": true, "EPOCHREALTIME": true, "EPOCHSECONDS": true,
	"EUID": true, "FUNCNAME": true, "GROUPS": true, "HISTCMD": true, "LINENO": true, "LINES": true, "PIPESTATUS": true,
	"PPID": true, "RANDOM": true, "SECONDS": true, "SHELLOPTS": true, "SRANDOM": true, "UID": true,
	"POSIXLY_CORRECT": true, "OLDPWD": true, "PWD": true, "SHLVL": true, "_": true, proctree.TagVariable: true,
	pty.EnvTerminal: true, pty.EnvSession: true, pty.EnvURL: true, pty.EnvSocket: true,
}

// userBashVariables are the variables that begin with BASH and are the user's.
var userBashVariables = map[string]bool{"BASH_ENV": true, "BASH_COMPAT": true, "BASH_LOADABLES_PATH": true}

// isKept reports whether a variable is part of the state.
func isKept(name string) bool {
	if strings.HasPrefix(name, "BASH") &&
		(len(name) == len("BASH") || name[4] == '_' || name == "BASHOPTS" || name == "BASHPID") {
		return userBashVariables[name]
	}
	return !bashVariables[name]
}

// parseOptions reads the options that are on, from before the capture, and the names of all
// options.
func (s *Snapshot) parseOptions(parts []string) {
	sets, rest, _ := strings.Cut(parts[sectionOptions], "/")
	shopts, posix, _ := strings.Cut(rest, "/")
	s.sets = options(sets, parts[sectionSets])
	s.shopts = options(shopts, parts[sectionShopts])
	if value, set := strings.CutPrefix(posix, "="); set {
		flags := strings.Trim(parts[sectionPosix], "\n")
		s.variables = append(s.variables, variable{name: "POSIXLY_CORRECT", flags: flags, assigned: true, value: value})
	}
}

// options are the options of a listing, on when they are in the colon-separated list.
func options(on, all string) []option {
	set := strings.Split(on, ":")
	var list []option
	for line := range strings.Lines(all) {
		fields := strings.Fields(line)
		if len(fields) == 3 && validOption(fields[2]) {
			list = append(list, option{fields[2], slices.Contains(set, fields[2])})
		}
	}
	return list
}

// validOption reports whether a name is one of an option.
func validOption(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") == "" && name[0] != '-'
}

// parseFiles reads the numbers of open descriptors and the output of enable -n, and returns the
// output of complete -p, of which a word may have several lines.
func (s *Snapshot) parseFiles(text string) (completes []string) {
	for whole := range strings.Lines(text) {
		line := strings.TrimSpace(whole)
		if name, is := strings.CutPrefix(line, "enable -n "); is {
			s.disabled = append(s.disabled, name)
		} else if strings.HasPrefix(whole, "complete ") {
			completes = append(completes, whole)
		} else if n := len(completes); n > 0 {
			completes[n-1] += whole
		} else if line != "" {
			s.files = append(s.files, line)
		}
	}
	return completes
}

// parseAliases reads alias -p.
func (s *Snapshot) parseAliases(text string) {
	in := &scanner{text: text}
	for in.at < len(in.text) {
		if in.skip("alias ") {
			in.skip("-- ")
			name := in.upTo("=\n")
			if in.skip("=") && name != "" {
				if value, err := in.word("\n"); err == nil {
					s.aliases = append(s.aliases, element{name, value})
				}
			}
		}
		in.upTo("\n")
		in.skip("\n")
	}
}

// parseFunctions reads declare -F. One named builtin comes separately.
func (s *Snapshot) parseFunctions(names, builtin string) {
	if strings.HasPrefix(builtin, "builtin () ") {
		s.functions = append(s.functions, function{name: "builtin", text: builtin})
	}
	for line := range strings.Lines(names) {
		if f, ok := functionOf(line); ok {
			s.functions = append(s.functions, f)
		}
	}
}

// functionOf reads a line of declare -F.
func functionOf(line string) (f function, ok bool) {
	fields := strings.Fields(line)
	if len(fields) != 3 || !strings.HasPrefix(fields[1], "-") {
		return f, false
	}
	return function{name: fields[2], flags: strings.Trim(fields[1], "-f")}, true
}

// Cwd is the directory of the shell, which may not exist any more; "" when unknown. It is PWD while
// that names the directory (POSIX, pwd -L). While the shell lives, /proc/PID/cwd is better.
func (s *Snapshot) Cwd() string { return proc.LogicalDir(s.pwd, s.directory) }

// PWD is the variable PWD, "" when it is not an absolute path.
func (s *Snapshot) PWD() string {
	if s == nil {
		return ""
	}
	return s.pwd
}

// longestLast bounds $_, in bytes; a longer one counts as empty.
const longestLast = 4 << 10

// parseLast reads the values of lastWord: the number of a descriptor, a space, $_ and a newline.
func (s *Snapshot) parseLast(text string) {
	number, last, _ := strings.Cut(strings.TrimSuffix(text, "\n"), " ")
	if n, err := strconv.Atoi(number); err == nil {
		s.traceFD = n
	}
	if len(last) <= longestLast {
		s.last = last
	}
}

// LastArgument is $_, the last argument of the last command.
func (s *Snapshot) LastArgument() string {
	if s == nil {
		return ""
	}
	return s.last
}

// TraceFD is the number of the descriptor that gets the trace of set -x instead of standard error;
// 0 for none.
func (s *Snapshot) TraceFD() int {
	if s == nil {
		return 0
	}
	return s.traceFD
}

// exported are the exported variables.
func (s *Snapshot) exported() map[string]string {
	env := map[string]string{}
	for _, v := range s.variables {
		if v.has("x") && v.assigned && !v.array() && !v.has("n") {
			env[v.name] = v.value
		}
	}
	return env
}

// Environment compares with the environment of the first start (KEY=value; the same for all
// processes of a shell), which a nil Snapshot has.
func (s *Snapshot) Environment(cwd string, first []string) Environment {
	e := Environment{Cwd: cwd, Delta: map[string]string{}}
	before := map[string]string{}
	for _, pair := range first {
		if name, value, ok := strings.Cut(pair, "="); ok && ValidName(name) &&
			(isKept(name) || name == "POSIXLY_CORRECT") {
			before[name] = value
		}
	}
	if s == nil {
		e.Env = before
		return e
	}
	e.Env = s.exported()
	for name, value := range e.Env {
		if old, had := before[name]; !had || old != value {
			e.Delta[name] = value
		}
	}
	for name := range before {
		if _, has := e.Env[name]; !has {
			e.Unset = append(e.Unset, name)
		}
	}
	slices.Sort(e.Unset)
	return e
}
