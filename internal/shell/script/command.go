package script

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/internal/shell/state"
)

// Command is a command for a bash to run.
type Command struct {
	Bash
	ID   string
	Dir  string // its own
	Text string
	// Internal is a command of the server, whose text is in TextFile already. It is in no list, and
	// changes no state.
	Internal   bool
	Background bool
	Input      Input
	Cwd        string // of this command alone, absolute; "" is the shell's
	Home       string // the shell's, to which a command with a Cwd goes back
	Env        map[string]string
	Relay      []string // the program that runs the command elsewhere; nil runs it here
	Last       Last     // the command before
	Look       Text     // of Text
}

// Input is what a command reads.
type Input int

// The kinds of input.
const (
	NoInput   Input = iota // the end of file at once
	FileInput              // shelldir.InputFile
	OpenInput              // shelldir.InFIFO
)

func sortedNames(env map[string]string) []string { return slices.Sorted(maps.Keys(env)) }

// path is a file in the directory of the command as a word.
func (c *Command) path(name string) string { return state.Quote(filepath.Join(c.Dir, name)) }

// WriteText writes the text of a command as it is.
func WriteText(dir, text string) error {
	return shelldir.SpaceError(os.WriteFile(filepath.Join(dir, shelldir.TextFile), []byte(text), 0o600))
}

// Lines writes the files of the command and returns the control lines that run it. A command in the
// foreground may define aliases that the snapshot does not have, as [Command.MayAlias] says.
// Errors: shelldir.ErrNoSpace.
func (c *Command) Lines() (string, error) {
	if c.Background {
		return c.backgroundLine()
	}
	if c.isDirect() {
		return c.directLines()
	}
	if c.isSourced() {
		return c.sourcedLines()
	}
	file, err := c.file()
	if err != nil {
		return "", err
	}
	return c.foregroundLines(file)
}

// MayAlias reports whether the text mentions aliases. A text that hides the definition of an alias
// for a brace in a file or a function makes the capture fail; then its shell is ended.
func (c *Command) MayAlias() bool { return strings.Contains(c.Text, "alias") }

// file writes the file that the control line sources: the one of source, or one that runs the
// relay.
func (c *Command) file() (string, error) {
	if c.Relay == nil {
		return c.source()
	}
	return c.write(shelldir.RunFile, "command "+state.QuoteWords(c.Relay)+"\n")
}

// write writes a file of the command, into the one of the last command if that has left it.
func (c *Command) write(name, text string) (string, error) {
	path := filepath.Join(c.Dir, name)
	if slices.Contains(again[:], name) {
		_ = os.Rename(filepath.Join(c.Bash.Dir, name), path)
	}
	return name, shelldir.Rewrite(path, text)
}

// again are the files that one command after the other uses.
var again = [...]string{shelldir.EvalFile, shelldir.CodeFile}

// Forget takes the text of a command from the file that was sourced for it, which bash has read, and
// leaves the files to the next command. Told asks whether there is an EvalFile when no report says so.
func Forget(dir, shell string) {
	_ = os.Truncate(filepath.Join(dir, shelldir.EvalFile), 1) // not 0, see shelldir.Rewrite
	if e, _ := End(dir); e.text == "" {
		return
	}
	for _, name := range again {
		_ = os.Rename(filepath.Join(dir, name), filepath.Join(shell, name))
	}
}

// backLine is the control line that takes the shell back after a command with a directory or
// variables of its own. It restores PWD and OLDPWD too, so that `cd -` and paths through links work
// as before.
func (c *Command) backLine() (string, error) {
	pwd, cd, unset, source := c.path(shelldir.PwdFile), c.builtin("cd"), c.builtin("unset"), c.builtin(".")
	var text strings.Builder
	if c.Cwd != "" {
		// PWD need not name the directory: a link may lead elsewhere now, and the user may have
		// made any text of it.
		fmt.Fprintf(&text, "%s -- %s || ((1))\n%s PWD OLDPWD || ((1))\n%s %s || ((1))\n"+
			"[[ ${PWD-} -ef . ]] && %s -- \"$PWD\" || ((1))\n", cd, state.Quote(c.Home), unset, source, pwd, cd)
	}
	for _, name := range sortedNames(c.Env) {
		if c.Snapshot.Builtin("unset") == "" { // at least it is not exported
			fmt.Fprintf(&text, "%s +x %s= || ((1))\n", c.builtin("declare"), name)
			continue
		}
		fmt.Fprintf(&text, "%s -v %s || ((1))\n", unset, name)
	}
	fmt.Fprintf(&text, "%s %s || ((1))\n", source, pwd)
	if _, err := c.write(shelldir.BackFile, text.String()); err != nil {
		return "", err
	}
	return c.quietly(source+" "+c.path(shelldir.BackFile)+` "${_-}"`) + "\n", nil
}

// foregroundLines are the control lines of a command in the foreground whose text is not in them.
// The first runs it: sourced from a file at the top level, in braces and not in parentheses, so
// that everything in it lasts, and a stray brace, an open quote or a heredoc stays in there; and
// reports the status.
func (c *Command) foregroundLines(file string) (string, error) {
	name, files := c.sourcing(file)
	text := c.builtin(".") + " " + name
	if c.Internal {
		text += ` "${_-}"` // which is $_ after it too
	}
	before, back, err := c.around()
	if err != nil {
		return "", err
	}
	switch {
	case c.hasErrTrap():
		text = before + c.invertedGroup(text, files)
	case c.hasBraces():
		text = "{ " + before + text + "\n} " + files
	default:
		text = before + text + " " + files
	}
	return c.traceOff("\n") + text + "; " + c.reportStatus() + c.reportAborted(file) + back, nil
}

// stdinFile is the name of a sourced file that shows no path of the server.
const stdinFile = "/dev/stdin"

// sourcing returns the name under which the control line sources a file, and the redirections
// around it. A file that begins with openInput is /dev/stdin, which is its name in BASH_SOURCE,
// FUNCNAME and caller then.
func (c *Command) sourcing(file string) (name, files string) {
	if name = c.path(file); file == shelldir.EvalFile && c.openInput() != "" {
		return stdinFile, c.redirections(name)
	}
	return name, c.redirections(c.input())
}

// openInput is the beginning of a file that is sourced as /dev/stdin; "" where it cannot be.
func (c *Command) openInput() string {
	exec := c.builtin("exec")
	if !c.hasBraces() || c.Snapshot.Builtin("exec") == "" {
		return ""
	}
	if c.Input == OpenInput {
		return exec + " <" + c.path(shelldir.InFIFO) + "; { " + noop + "; } >|" + c.path(shelldir.InOpened) + "; "
	}
	return exec + " <" + c.input() + "; "
}

// around returns the text before a command with a directory or variables of its own, and the
// control line behind it.
func (c *Command) around() (before, back string, err error) {
	if c.Relay != nil || c.Cwd == "" && len(c.Env) == 0 {
		return "", "", nil
	}
	if before, err = c.beforeLine(); err == nil {
		back, err = c.backLine()
	}
	return before + " && ", back, err
}

// input is what a command reads, as a word.
func (c *Command) input() string {
	switch c.Input {
	case FileInput:
		return c.path(shelldir.InputFile)
	case OpenInput:
		if c.Background { // its process is reported behind that
			return c.path(shelldir.InFIFO)
		}
		// Redirections are made from left to right, and opening a FIFO waits.
		return c.path(shelldir.InFIFO) + " >|" + c.path(shelldir.InOpened)
	case NoInput:
	}
	return state.Quote(os.DevNull)
}

// redirections are the redirections to the files of a command in the foreground.
func (c *Command) redirections(in string) string {
	return fmt.Sprintf("<%s >%s 2>%s", in, c.path(shelldir.OutFIFO), c.path(shelldir.ErrFIFO))
}

// HasWhole reports whether unread control lines have the end of the one that runs the command: then
// none of it has run.
func (c *Command) HasWhole(unread string) bool {
	return strings.Contains(unread, ">|"+c.path(shelldir.EndName)) || strings.Contains(unread, c.statusMarker()) ||
		strings.Contains(unread, toDir+state.Quote(c.Dir))
}

// statusWord is $?, see reportStatus.
const statusWord = "${?-$(:)}"

// statusMarker is the marker for the status of the command alone.
func (c *Command) statusMarker() string {
	return marker(filepath.Join(c.Dir, shelldir.StatusName), statusWord)
}

// invertedGroup is a command for a shell with an ERR trap: that fires for what fails in the file,
// and would fire once more for the file as a whole. Inverted by ! a command fires no ERR trap,
// while commands in it still do. $? then says only whether it failed, and PIPESTATUS has the
// status; a user who made something else of that variable gets 1 for every failure. A line that is
// aborted makes no such marker, and the next one has the status as ever.
func (c *Command) invertedGroup(source, files string) string {
	inner := c.group(marker(filepath.Join(c.Dir, shelldir.InvertedName), "$?-${PIPESTATUS[0]}"))
	return "{ { ! " + source + "\n} " + files + "\n" + inner + "\n}"
}

// reportStatus is what ends the line of a command, reporting its status. Where the file cannot be
// made (no inode, no descriptor left) the shell ends, which is noticed too.
//
// It has to stand in that line, so that bash has read its quotes before the command: bash 5.2 that
// meets the end of a text within $( or <( takes one too many from its stack of open quotes
// (parse_comsub after reset_parser), and writes before the stack with the next quote that it reads.
// It starts anew with the stack when it looks for the end of a $( ) in a word that it expands,
// which is what ${?-$(:)} has it do; $? is always set, so that is all.
func (c *Command) reportStatus() string {
	if c.hasBraces() {
		moved := c.movedWord()
		end := marker(filepath.Join(c.Dir, shelldir.EndName), statusWord+pipeWord()+"."+moved)
		return "{ " + pwdMarker(c.Dir, moved) + "\n} </dev/null " + end + " || \\exit" + c.listOff(false) + "\n"
	}
	return c.group(c.statusMarker()) + " || \\exit" + c.listOff(false) + "\n"
}

// reportAborted is the line after that, for a jump to the top level takes away the rest of its
// line, and no more. It opens a file that is there when nothing was left to report, file, and lists
// jobs for the capture that follows. Standard input is replaced once, by what the word names: when
// a process ends while that word is expanded behind another such redirection, a trap on CHLD makes
// bash 5.2 lose its place in the control lines.
func (c *Command) reportAborted(file string) string {
	after := *c
	after.Aliases = c.MayAlias()
	line := "<>" + state.Quote(c.Dir+string(filepath.Separator)) + `"${?/#0/` + file + `}"` +
		state.JobsWord(c.Bash.Dir) + " || \\exit" + after.listOff(true) + "\n"
	if after.hasBraces() {
		return "{ " + noop + "; } " + line // not two lines, see listOff
	}
	return line
}

// backgroundLine is the control line of a command in the background. It runs in a subshell of a
// subshell, so that it is no job of the user's shell: a bare wait does not wait for it and jobs
// does not list it. The outer one waits for this very process and reports. The shell itself reports
// before that it has reached them: the line after them may end before the subshells do. The inner
// one reports that it has reached the end of the text, in a process that exits by itself: so the
// status stays, an EXIT trap sees its own standard files, and nothing shows the report.
func (c *Command) backgroundLine() (string, error) {
	text, files, err := c.backgroundText()
	if err != nil {
		return "", err
	}
	open, end := "{ ", "\n}"
	if !c.hasBraces() {
		open, end = "( ", "\n)"
	}
	status := filepath.Join(c.Dir, shelldir.StatusName)
	reached := c.group(marker(filepath.Join(c.Dir, shelldir.ReachedName), "")) + " || \\exit"
	finished := "( " + c.builtin("exit") + " ) " + c.quiet() + " 9" +
		marker(filepath.Join(c.Dir, shelldir.FinishedName), "")
	line := "( ( %s%s; %s\n%s%s %s & %s \"$!\" && %s || %s ) </dev/null >/dev/null 2>&1 & )\n"
	return reached + "\n" + c.lineZero() + fmt.Sprintf(line, open,
		marker(filepath.Join(c.Dir, shelldir.PidName), "$BASHPID"), text, finished, end, files,
		c.builtin("wait"), marker(status, "0"), marker(status, "$?")), nil
}

// backgroundText is what runs the text of a command in the background, and the redirections for it.
func (c *Command) backgroundText() (text, files string, err error) {
	before, _, err := c.around() // a subshell need not go back
	if err != nil {
		return "", "", err
	}
	if c.fits() {
		text = c.restore() + "{ " + c.Text + "\n}"
		if before != "" {
			text = before + "{ " + text + "; }"
		}
		return text, c.redirections(c.input()), nil
	}
	file, err := c.file()
	if err != nil {
		return "", "", err
	}
	name, files := c.sourcing(file)
	return c.traceOff("; ") + before + c.builtin(".") + " " + name, files, nil
}
