package state

import (
	"bufio"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evertty/evertty/internal/shell/shelldir"
)

const (
	// longestEntry bounds one KEY=value of an environment, in bytes: execve refuses 32 pages, with
	// the closing NUL (MAX_ARG_STRLEN).
	longestEntry = 96 << 10
	// longestEnv bounds an environment, in bytes: far below a quarter of the smallest usual stack
	// limit, which execve allows for arguments and environment together, and below one message to
	// the keeper. The script restores the rest.
	longestEnv = 128 << 10
)

// late are the functions that the script defines last, in this order, because it uses the builtins
// of these names before.
var late = []string{"unset", "declare", "umask", "alias", "export", "builtin", "shopt", "set", "eval"}

// latest is how many at the end of late the script still uses after setting the options.
const latest = 3

// WriteRestore writes DIR/restore for the new bash, and returns the environment to start it with.
// The bash sources the file without arguments at the top level, stdout and stderr to /dev/null,
// before anything of the user's.
//
// The environment is the snapshot's, without EVERTTY_SHELL, PWD, OLDPWD, SHLVL and _, which the
// caller adds. first is the environment of the first start. Variables that are too long for execve
// are in the script instead. The script needs no PATH and starts no process; set -e is on after it
// when it was on. missing names the parts that the script lacks because the file of the state
// cannot be read.
func (s *Snapshot) WriteRestore(dir string, first []string) (env, missing []string, err error) {
	env, given := s.environment(first)
	file, c, err := openCapture(Path(dir))
	if err == nil {
		defer file.Close()
	} else {
		missing = []string{"variables that are not exported, functions, arguments, completions and the directory " +
			"stack: the file of the state is damaged or missing"}
	}
	err = shelldir.Write(filepath.Join(dir, RestoreFile), func(w *bufio.Writer) error {
		r := restoring{Snapshot: s, captured: c, Writer: w}
		return r.script(given, s.Environment("", first).Unset)
	})
	if err != nil {
		return nil, nil, fmt.Errorf("shell: restore: %w", err)
	}
	return env, missing, nil
}

// environment is the environment of the new process, and the names of its variables; the script
// restores the others.
func (s *Snapshot) environment(first []string) (env []string, given map[string]bool) {
	given = map[string]bool{}
	total := 0
	for _, pair := range first {
		// bash passes entries that are no variables to its children; functions are in the snapshot.
		if name, _, _ := strings.Cut(pair, "="); !ValidName(name) && !strings.HasPrefix(name, "BASH_FUNC_") {
			env = append(env, pair)
			total += len(pair) + 1
		}
	}
	exported := s.exported()
	for _, v := range s.variables {
		value, ok := exported[v.name]
		pair := v.name + "=" + value
		if !ok || v.name == "POSIXLY_CORRECT" || len(pair) > longestEntry || total+len(pair)+1 > longestEnv {
			continue
		}
		given[v.name] = true
		total += len(pair) + 1
		env = append(env, pair)
	}
	return env, given
}

// restoring writes the script. Each write continues after an error: the Writer keeps the first one.
type restoring struct {
	*Snapshot
	captured *capture // nil when the file cannot be read
	*bufio.Writer
	oldpwd *variable           // OLDPWD, nil when it is not set
	stack  []string            // the directory stack without the directory itself
	last   map[string]function // of late
	texts  map[string]span     // of those
}

// line writes a line.
func (r *restoring) line(words ...string) {
	for _, word := range words {
		_, _ = r.WriteString(word)
	}
	_ = r.WriteByte('\n')
}

// script writes what a new bash runs. Each definition is a line of its own: one that bash refuses
// affects only itself. The order matters: functions before aliases, which would be expanded in them
// again; posix mode, which refuses names of functions, and set -e last.
func (r *restoring) script(given map[string]bool, unset []string) error {
	r.line("\\shopt -u expand_aliases\n\\set +o posix\n\\shopt -s extglob")
	r.writeVariables(given, unset)
	r.writeDirectories()
	r.writeFunctions()
	if validMask(r.umask) {
		r.line("\\umask ", r.umask)
	}
	r.writeOptions("\\shopt -s", " ", r.shopts, true, otherShopts)
	r.writeOptions("\\shopt -u", " ", r.shopts, false, otherShopts)
	for _, a := range r.aliases {
		r.line("\\alias -- ", QuoteASCII(a.key), "=", QuoteASCII(a.value))
	}
	r.writeLate(late[:len(late)-latest])
	r.writeArguments()
	if isOn(r.shopts, "expand_aliases") {
		r.line("\\shopt -s expand_aliases")
	}
	r.writeOptions("\\set", " -o ", r.sets, true, otherSets)
	r.writeOptions("\\set", " +o ", r.sets, false, otherSets)
	r.writeLate(late[len(late)-latest:])
	r.writeStrict()
	if r.captured != nil && r.captured.failed != nil {
		return r.captured.failed
	}
	return nil
}

// writeVariables writes the variables that are not in the environment.
func (r *restoring) writeVariables(given map[string]bool, unset []string) {
	// A profile may have set again what the user had removed.
	for _, name := range unset {
		r.line("\\unset -v ", name)
	}
	hasIFS := false
	each := func(d definition) {
		hasIFS = hasIFS || d.name == "IFS"
		v := d.variable
		plain := v != nil && v.flags == "x" && v.assigned && given[v.name]
		switch {
		case !isKept(d.name):
			r.keepDirectories(v)
		case plain:
		case v != nil:
			r.line(v.definition())
		default:
			for piece := range r.captured.pieces(d.span) {
				_, _ = r.Write(piece)
			}
		}
	}
	if r.captured != nil {
		r.captured.definitions(each)
	} else {
		for _, v := range r.variables {
			each(definition{name: v.name, variable: &v})
		}
	}
	if !hasIFS && r.captured != nil {
		r.line("\\unset -v IFS")
	}
}

// quoted writes a span of the capture in the quotes of QuoteASCII.
func (r *restoring) quoted(s span) {
	var out []byte
	_, _ = r.WriteString("$'")
	for piece := range r.captured.pieces(s) {
		out = appendANSI(out[:0], piece)
		_, _ = r.Write(out)
	}
	_ = r.WriteByte('\'')
}

// keepDirectories keeps OLDPWD and DIRSTACK for writeDirectories; v is nil for a long variable.
func (r *restoring) keepDirectories(v *variable) {
	switch {
	case v == nil:
	case v.name == "OLDPWD" && v.assigned:
		r.oldpwd = v
	case v.name == "DIRSTACK" && len(v.elements) > 1:
		for _, e := range v.elements[1:] {
			r.stack = append(r.stack, e.value)
		}
	}
}

// writeDirectories writes the state of cd -, popd and completions, before functions that could
// replace these builtins.
func (r *restoring) writeDirectories() {
	if v := r.oldpwd; v != nil {
		r.line("OLDPWD=", QuoteASCII(v.value))
		if v.has("x") {
			r.line("\\export OLDPWD")
		}
	}
	for _, dir := range slices.Backward(r.stack) {
		r.line("\\pushd -n ", QuoteASCII(dir))
	}
	if r.captured == nil {
		return
	}
	text, err := r.captured.section(sectionFiles)
	if err != nil {
		return
	}
	for _, c := range (&Snapshot{}).parseFiles(text) {
		r.line("\\eval ", QuoteASCII(c))
	}
}

// definition is a command that makes the variable.
func (v *variable) definition() string {
	flags := v.flags
	if flags == "" {
		flags = "-"
	}
	head := "declare -" + flags + " " + v.name // not quoted: bash would not know the list of an array as one
	if !v.assigned {
		return head
	}
	if !v.array() {
		return head + "=" + QuoteASCII(v.value)
	}
	var b strings.Builder
	b.WriteString(head + "=(")
	for n, e := range v.elements {
		if n > 0 {
			b.WriteByte(' ')
		}
		key := e.key
		if v.has("A") || !ValidNumber(key) {
			key = QuoteASCII(key)
		}
		b.WriteString("[" + key + "]=" + QuoteASCII(e.value))
	}
	b.WriteByte(')')
	return b.String()
}

// writeFunctions writes all functions but the late ones, which it keeps for writeLate.
func (r *restoring) writeFunctions() {
	r.last, r.texts = map[string]function{}, map[string]span{}
	for _, f := range r.functions {
		if f.text != "" {
			r.last[f.name] = f
		}
	}
	if r.captured == nil {
		return
	}
	names, err := r.captured.section(sectionFunctions)
	if err != nil {
		return
	}
	at, end := r.captured.skipArguments(nil), r.captured.rest.at+r.captured.rest.size
	for line := range strings.Lines(names) {
		next, ok := r.captured.find(at, end, 0)
		if !ok {
			return
		}
		f, ok := functionOf(line)
		switch text := (span{at, next - at}); {
		case !ok || !r.HasFunction(f.name): // omitted, see Usable
		case slices.Contains(late, f.name):
			r.last[f.name], r.texts[f.name] = f, text
		default:
			r.writeFunction(f, text)
		}
		at = next + 1
	}
}

// writeLate writes the functions of some names, in order.
func (r *restoring) writeLate(names []string) {
	for _, name := range names {
		if f, ok := r.last[name]; ok {
			r.writeFunction(f, r.texts[name])
		}
	}
}

// writeFunction writes a function whose text is in the capture, or in f.
func (r *restoring) writeFunction(f function, text span) {
	_, _ = r.WriteString("\\eval ")
	if f.text != "" {
		_, _ = r.WriteString(QuoteASCII(f.text))
	} else {
		r.quoted(text)
	}
	_ = r.WriteByte('\n')
	if f.flags != "" && strings.Trim(f.flags, "xrt") == "" {
		r.line("\\builtin declare -f", f.flags, " -- ", QuoteASCII(f.name))
	}
}

// writeArguments writes the positional parameters.
func (r *restoring) writeArguments() {
	if r.captured == nil || r.captured.arguments == 0 {
		return
	}
	_, _ = r.WriteString("\\set --")
	r.captured.skipArguments(func(s span) {
		_ = r.WriteByte(' ')
		r.quoted(s)
	})
	_ = r.WriteByte('\n')
}

// skipArguments calls f, unless it is nil, for each positional parameter, and returns the position
// after them.
func (c *capture) skipArguments(f func(s span)) int64 {
	at := c.rest.at
	for range c.arguments {
		next, ok := c.find(at, c.rest.at+c.rest.size, 0)
		if !ok {
			break
		}
		if f != nil {
			f(span{at, next - at})
		}
		at = next + 1
	}
	return at
}

// Options that the script sets itself, or that a running bash cannot change.
var (
	otherShopts = []string{"expand_aliases", "login_shell", "restricted_shell"}
	otherSets   = []string{"noexec", "privileged", "posix", "errexit", "nounset", "xtrace", "verbose", "history"}
)

// writeOptions writes one line with the options that are on, or off: each behind a text.
func (r *restoring) writeOptions(command, behind string, list []option, on bool, without []string) {
	line := command
	for _, o := range list {
		if o.on == on && !slices.Contains(without, o.name) {
			line += behind + o.name
		}
	}
	if line != command {
		r.line(line)
	}
}

// writeStrict writes posix mode and the options that end or trace commands.
func (r *restoring) writeStrict() {
	for _, v := range r.variables {
		if v.name != "POSIXLY_CORRECT" {
			continue
		}
		// The assignment alone switches the mode on, and then no function is before a special
		// builtin.
		r.line("POSIXLY_CORRECT=", QuoteASCII(v.value))
		if v.has("x") {
			r.line("\\export POSIXLY_CORRECT")
		}
	}
	for _, name := range [...]string{"nounset", "verbose", "xtrace", "errexit"} {
		if isOn(r.sets, name) {
			r.line("\\set -o ", name)
		}
	}
}

// isOn reports whether an option is on.
func isOn(list []option, name string) bool {
	return slices.Contains(list, option{name, true})
}

// validMask reports whether a text is a umask.
func validMask(text string) bool {
	return text != "" && strings.Trim(text, "01234567") == ""
}
