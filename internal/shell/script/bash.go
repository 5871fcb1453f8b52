// Package script makes every text that the bash of an exec shell reads: the control lines of
// commands, the files that these source, and the lines that change variables. It runs nothing.
//
// A command is a file, sourced at the top level within { }: a subshell would lose cd, export and
// functions; text in the control line could leave the braces or swallow the next line. Nothing of
// ours stands in the shell, no trap, no variable, no function, no job. What is reported is the name
// of a file that a redirection makes: that works when functions, readonly variables, IFS, noclobber
// or a closed descriptor would stop anything else.
package script

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/internal/shell/state"
)

// Bash is the state of a bash that control lines depend on.
type Bash struct {
	Dir      string          // of the shell
	Snapshot *state.Snapshot // of the last capture; nil before the first
	// Aliases says that aliases may have been defined since the last capture.
	Aliases bool
	// List says that the user has the option history on; it is off while control lines are read.
	List bool
	// Relayed says that the commands run elsewhere: the bash has no state.
	Relayed bool
}

// builtin is the words that run a builtin, see [state.Snapshot.Builtin]. With no way left it is the
// name alone.
func (b *Bash) builtin(name string) string {
	if words := b.Snapshot.Builtin(name); words != "" {
		return words
	}
	return `\` + name
}

// hasBraces reports whether {, } and the other reserved words of control lines mean what they are
// for: unlike the name of a command a reserved word cannot be kept from being an alias.
func (b *Bash) hasBraces() bool {
	return !b.Aliases && !b.Snapshot.HasAlias("{", "}", "!", "for", "in", "do", "done", "case", "esac", "[[")
}

// hasErrTrap reports whether the user has an ERR trap. Under set -e it does not count: ! would
// suspend errexit for the whole command.
func (b *Bash) hasErrTrap() bool {
	return b.hasBraces() && !b.Relayed && b.Snapshot.HasTrap("ERR") && !b.Snapshot.HasOption("errexit")
}

// marker is the word for a file whose name has a number: the shell makes it by a redirection alone,
// which neither functions nor aliases nor noclobber (>|) nor IFS (the quotes) can change. A status
// never passes through a variable: a user's readonly one would keep its old value.
func marker(path, number string) string { return ">|" + state.Quote(path) + `"` + number + `"` }

// noop is a command that succeeds unseen: a loop without rounds fires no trap on DEBUG and shows in
// no trace, and $_ and PIPESTATUS stay. A command without words would not do: it has the status of
// a program that bash 5.2 did not wait for after a jump to the top level from between fork and wait
// (already_making_children), and empties $_.
const noop = "for _ in; do :; done"

// quiet has the redirections of a command of the server, which shows and reads nothing: neither a
// trace (set -x), which goes to standard error or to the descriptor of BASH_XTRACEFD, nor the
// output of a trap.
func (b *Bash) quiet() string { return "</dev/null >/dev/null 2>&1" + b.quietTrace() }

// quietly is a simple command of ours with the redirections of quiet. A trace would show it before
// they are made, so it stands in a group unless braces are aliases.
func (b *Bash) quietly(command string) string {
	if !b.hasBraces() {
		return command + " " + b.quiet()
	}
	return "{ " + command + "; } " + b.quiet()
}

// quietTrace keeps a trace from the descriptor of BASH_XTRACEFD.
func (b *Bash) quietTrace() string {
	if fd := b.Snapshot.TraceFD(); fd > 2 {
		return fmt.Sprintf(" %d>/dev/null", fd)
	}
	return ""
}

// group is a group that makes a marker. A group has its redirections made before anything in it, so
// a DEBUG trap cannot have it skipped (extdebug), nor read control lines or write anywhere. Where
// braces are aliases it is the marker alone.
func (b *Bash) group(marker string) string {
	if !b.hasBraces() {
		return marker
	}
	return "{ " + noop + "\n} </dev/null " + marker
}

// Barrier is a control line that makes a marker whose name begins with prefix, followed by the
// process id of the bash.
func (b *Bash) Barrier(prefix string) string {
	return b.group(marker(filepath.Join(b.Dir, shelldir.MarkersDir, prefix), "$BASHPID")) + " || \\exit\n"
}

// Setup is the script that makes a new bash ready, without prompts, its own list of commands and
// what profile files have set of these; with restore it has the state of its predecessor.
func (b *Bash) Setup(restore bool) string {
	script := "PS1= PS2= PS0=\nset +H +o history\n\\history -c\n\\unset -v HISTFILE\n"
	if restore {
		script += "\\. " + state.Quote(filepath.Join(b.Dir, state.RestoreFile)) + "\n"
		if set := b.Snapshot.Builtin("set"); set != "" && b.List {
			script += set + " -o history +o history\n" // reads the list from the user's file
		}
	}
	return script
}

// SetupLine is the control line that runs a setup script and makes a marker after it. $_ is the
// predecessor's.
func (b *Bash) SetupLine(script, made string) string {
	lines := "\\. " + state.Quote(script) + " </dev/null >/dev/null 2>&1\n"
	if null := b.Snapshot.Builtin(":"); null != "" {
		lines += null + " " + state.Quote(b.Snapshot.LastArgument()) + "\n"
	}
	return lines + b.group(marker(made, "0")) + "\n"
}

// Return is the words that end a sourced file with a code.
func (b *Bash) Return(code int) string { return b.builtin("return") + " " + strconv.Itoa(code) }

// ChangeDir is a line that goes to a directory, and on where that cannot be.
func (b *Bash) ChangeDir(dir string) string {
	return b.builtin("cd") + " -- " + state.Quote(dir) + " || ((1))\n"
}

// Environment is lines that export and unset variables; or runs for one that cannot be.
func (b *Bash) Environment(set map[string]string, unset []string, or string) string {
	var t strings.Builder
	for _, name := range sortedNames(set) {
		t.WriteString(b.builtin("export") + " " + name + "=" + state.Quote(set[name]) + " || " + or + "\n")
	}
	for _, name := range unset {
		t.WriteString(b.builtin("unset") + " -v " + name + " || " + or + "\n")
	}
	return t.String()
}
