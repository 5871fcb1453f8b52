package script

import (
	"path/filepath"
	"strconv"

	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/internal/shell/state"
)

// isSourced reports whether the text stands in a group of a file that the control line sources.
// There bash is not interactive: it reports no jobs and no programs that a signal ended. The file
// reports its $?, PIPESTATUS and $_, which belong to the sourcing behind it. A trap may run when
// the redirections of the group are undone already.
func (c *Command) isSourced() bool {
	s := c.Snapshot
	return !c.Background && !c.Observed() && c.isWhole() && !c.Look.Several && !c.Look.Traps && !s.HasTraps() &&
		s.Builtin("exec") != "" && s.Builtin("printf") != ""
}

// sourcedLines writes the file and makes the control lines that run it. The text begins in the
// first line of the file, so LINENO is right. The group around the file reports its status as a
// file in the directory that is its standard output: that is one where no file can be made when the
// file has reported already. It has not where the text or a trap has returned, and where a trap on
// DEBUG has the file skipped.
func (c *Command) sourcedLines() (string, error) {
	restore, err := c.restoreInFile()
	if err != nil {
		return "", err
	}
	group, back, err := c.groupAround(restore)
	if err != nil {
		return "", err
	}
	// bash has read all of the file when the list is on.
	file := c.listOn() + c.restoreArg() + group + "; " + c.reportText(shelldir.DoneName, "") + "; " +
		c.builtin("exec") + " 1</proc\n"
	if _, err := c.write(shelldir.EvalFile, file); err != nil {
		return "", err
	}
	line := "{ " + c.builtin(".") + " " + stdinFile + "\n{ " + noop + "\n} >|/proc/self/fd/1/" +
		shelldir.StatusName + `"` + statusWord + `" || ` + noop + "\n} <" + c.path(shelldir.EvalFile) + toDir +
		state.Quote(c.Dir) + c.listOff(false) + "\n"
	return line + c.reportAborted(shelldir.RecordFile) + back, nil
}

// toDir redirects standard output to a directory, the command's.
const toDir = " 1<"

// maxArg is the longest $_ that is kept, in characters; a longer one counts as empty.
const maxArg = 4 << 10

// reportText is the line behind a text that makes a marker of its status, in which PWD, $_ and
// PIPESTATUS stand: the words of a redirection and of a builtin are expanded before either changes
// one of them. quiet are redirections.
func (c *Command) reportText(name, quiet string) string {
	pwd := "${PWD-}"
	if c.Cwd != "" { // the command goes back to the shell's
		pwd = ""
	}
	return "{ " + c.builtin("printf") + ` '%s\0' "` + pwd + `" "${_+${_:0:` + strconv.Itoa(maxArg+1) +
		`}}" "${PIPESTATUS[@]}" '' || ((1)); } ` + quiet + marker(filepath.Join(c.Dir, name), "$?") + " || \\exit"
}

// restoreArg is a command before a text that is to find $_.
func (c *Command) restoreArg() string {
	null, arg := c.Snapshot.Builtin(":"), c.Last.Arg
	if null == "" {
		return ""
	}
	if !c.Last.Sourced {
		arg = c.Snapshot.LastArgument()
	}
	return null + " " + state.QuoteASCII(arg) + "; "
}
