package shell

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// longestEntry is how long one KEY=value of an environment may be here, in bytes: execve refuses 32 pages, with the closing NUL (MAX_ARG_STRLEN).
	longestEntry = 96 << 10
	// longestEnv bounds an environment, in bytes: far below a quarter of the smallest usual stack limit, which execve allows for arguments and
	// environment together, and below what one message to the keeper takes. What is beyond comes back by the script.
	longestEnv = 128 << 10
)

// late are the functions that the script defines last, because it uses the builtins of these names up to there; in the order in which it is done with them.
var late = []string{"unset", "declare", "umask", "alias", "export", "builtin", "shopt", "set", "eval"}

// latest is how many of the end of late are still used after the options are set.
const latest = 3

// restore writes DIR/restore, to be sourced by the new incarnation (`. DIR/restore` without arguments at the top level, stdout and stderr to /dev/null, before
// anything of the user's), and returns the environment to start it with: that of the image, without EVERTTY_SHELL, PWD, OLDPWD, SHLVL and _,
// which the caller adds. first is the environment of the first start. Variables that are too long for execve are in the script
// instead. The script needs no PATH and starts no process; set -e is on after it when it was on.
func (i *image) restore(dir string, first []string) (env []string, err error) {
	env, long := i.environment(first)
	if err := writeBeside(filepath.Join(dir, restoreFile), []byte(i.script(long, i.state("", first).Unset))); err != nil {
		return nil, fmt.Errorf("shell: restore: %w", err)
	}
	return env, nil
}

// environment is what the new process is given, and the names of those that the script has to bring.
func (i *image) environment(first []string) (env []string, long map[string]bool) {
	long = map[string]bool{}
	total := 0
	for _, pair := range first {
		// bash hands on what it cannot have as a variable, but functions are in the image.
		if name, _, _ := strings.Cut(pair, "="); !validName(name) && !strings.HasPrefix(name, "BASH_FUNC_") {
			env = append(env, pair)
			total += len(pair) + 1
		}
	}
	exported := i.exported()
	for _, v := range i.variables {
		value, ok := exported[v.name]
		if !ok || v.name == "POSIXLY_CORRECT" {
			continue
		}
		pair := v.name + "=" + value
		if len(pair) > longestEntry || total+len(pair)+1 > longestEnv {
			long[v.name] = true
			continue
		}
		total += len(pair) + 1
		env = append(env, pair)
	}
	return env, long
}

// script is what a new incarnation runs. Each definition stands alone, as a line that is right whatever is in it: one that bash refuses costs only itself.
// The order matters: functions before aliases, which would be expanded in them again; posix mode, which refuses names of functions, and set -e last.
func (i *image) script(long map[string]bool, unset []string) string {
	var b strings.Builder
	b.WriteString("\\shopt -u expand_aliases\n\\set +o posix\n\\shopt -s extglob\n")
	i.writeVariables(&b, long, unset)
	i.writePlaces(&b)
	i.writeFunctions(&b, func(place int) bool { return place < 0 })
	if validMask(i.umask) {
		b.WriteString("\\umask " + i.umask + "\n")
	}
	writeOptions(&b, "\\shopt -s", "\\shopt -u", i.shopts, "expand_aliases", "login_shell", "restricted_shell")
	for _, a := range i.aliases {
		b.WriteString("\\alias -- " + ansi(a.key) + "=" + ansi(a.value) + "\n")
	}
	i.writeFunctions(&b, func(place int) bool { return place >= 0 && place < len(late)-latest })
	if len(i.arguments) > 0 {
		b.WriteString("\\set --")
		for _, a := range i.arguments {
			b.WriteString(" " + ansi(a))
		}
		b.WriteString("\n")
	}
	if isOn(i.shopts, "expand_aliases") {
		b.WriteString("\\shopt -s expand_aliases\n")
	}
	writeOptions(&b, "\\set -o", "\\set +o", i.sets, "noexec", "privileged", "posix", "errexit", "nounset", "xtrace", "verbose", "history")
	i.writeFunctions(&b, func(place int) bool { return place >= len(late)-latest })
	i.writeStrict(&b)
	return b.String()
}

// writeVariables writes all that the environment does not bring.
func (i *image) writeVariables(b *strings.Builder, long map[string]bool, unset []string) {
	// A profile may have set again what the user had removed.
	for _, name := range unset {
		b.WriteString("\\unset -v " + name + "\n")
	}
	hasIFS := false
	for _, v := range i.variables {
		hasIFS = hasIFS || v.name == "IFS"
		plain := v.flags == "x" && v.assigned && !long[v.name]
		if !plain && v.name != "POSIXLY_CORRECT" {
			b.WriteString(v.definition() + "\n")
		}
	}
	if !hasIFS {
		b.WriteString("\\unset -v IFS\n")
	}
}

// writePlaces writes what cd -, popd and the completion of words remember. It comes before functions that could be in the way.
func (i *image) writePlaces(b *strings.Builder) {
	if v := i.oldpwd; v != nil {
		b.WriteString("OLDPWD=" + ansi(v.value) + "\n")
		if v.has("x") {
			b.WriteString("\\export OLDPWD\n")
		}
	}
	for _, dir := range slices.Backward(i.stack) {
		b.WriteString("\\pushd -n " + ansi(dir) + "\n")
	}
	for _, c := range i.completes {
		b.WriteString("\\eval " + ansi(c) + "\n")
	}
}

// definition is a variable as a command that makes it.
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
		return head + "=" + ansi(v.value)
	}
	var b strings.Builder
	b.WriteString(head + "=(")
	for n, e := range v.elements {
		if n > 0 {
			b.WriteByte(' ')
		}
		key := e.key
		if v.has("A") || !validNumber(key) {
			key = ansi(key)
		}
		b.WriteString("[" + key + "]=" + ansi(e.value))
	}
	b.WriteByte(')')
	return b.String()
}

// writeFunctions writes those whose place in late is wanted, in the order of late; -1 is the place of all others.
func (i *image) writeFunctions(b *strings.Builder, wanted func(place int) bool) {
	list := slices.Clone(i.functions)
	place := func(f function) int { return slices.Index(late, f.name) }
	slices.SortStableFunc(list, func(a, b function) int { return place(a) - place(b) })
	for _, f := range list {
		if !wanted(place(f)) {
			continue
		}
		b.WriteString("\\eval " + ansi(f.text) + "\n")
		if f.flags != "" && strings.Trim(f.flags, "xrt") == "" {
			b.WriteString("\\builtin declare -f" + f.flags + " -- " + ansi(f.name) + "\n")
		}
	}
}

// writeOptions writes one line for those that are on and one for those that are off.
func writeOptions(b *strings.Builder, on, off string, list []option, without ...string) {
	for _, way := range []struct {
		command string
		on      bool
	}{{on, true}, {off, false}} {
		var names []string
		for _, o := range list {
			if o.on == way.on && !slices.Contains(without, o.name) {
				names = append(names, o.name)
			}
		}
		if len(names) == 0 {
			continue
		}
		if !strings.HasSuffix(way.command, "o") { // shopt takes many at once, set -o one
			b.WriteString(way.command + " " + strings.Join(names, " ") + "\n")
			continue
		}
		b.WriteString("\\set")
		for _, name := range names {
			b.WriteString(strings.TrimPrefix(way.command, "\\set") + " " + name)
		}
		b.WriteString("\n")
	}
}

// writeStrict writes what would be in the way of everything else: posix mode and the options that end or trace what they meet.
func (i *image) writeStrict(b *strings.Builder) {
	for _, v := range i.variables {
		if v.name != "POSIXLY_CORRECT" {
			continue
		}
		// The assignment alone switches the mode on, and then no function is before a special builtin.
		b.WriteString("POSIXLY_CORRECT=" + ansi(v.value) + "\n")
		if v.has("x") {
			b.WriteString("\\export POSIXLY_CORRECT\n")
		}
	}
	for _, name := range [...]string{"nounset", "verbose", "xtrace", "errexit"} {
		if isOn(i.sets, name) {
			b.WriteString("\\set -o " + name + "\n")
		}
	}
}

// isOn tells whether an option is on.
func isOn(list []option, name string) bool {
	return slices.Contains(list, option{name, true})
}

// validMask tells whether a text is what umask prints.
func validMask(text string) bool {
	return text != "" && strings.Trim(text, "01234567") == ""
}
