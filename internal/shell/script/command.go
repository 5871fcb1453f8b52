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

// Command is a command that a bash is to be told.
type Command struct {
	Bash
	ID   string
	Dir  string // its own
	Text string
	// Internal is one of ours, whose text is in TextFile already: it is in no list, and nothing of its bash changes.
	Internal   bool
	Background bool
	Input      Input
	Cwd        string // of this command alone, absolute; "" is the shell's
	Home       string // the shell's, to which a command with a Cwd goes back
	Env        map[string]string
	Relay      []string // the program that runs the command elsewhere; nil runs it here
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

// Lines writes the files of the command and makes the control lines that run it. After a command in the foreground
// there may be aliases that nobody knows of, as [Command.MayAlias] says. Errors: shelldir.ErrNoSpace.
func (c *Command) Lines() (string, error) {
	file, err := c.file()
	switch {
	case err != nil:
		return "", err
	case c.Background:
		return c.backgroundLine(file), nil
	case c.Cwd == "" || c.Relay != nil:
		return c.foregroundLines(file), nil
	}
	back, err := c.backLine()
	return c.foregroundLines(file) + back, err
}

// MayAlias reports whether the text speaks of aliases. One that hides the definition in a file or a function, and
// takes a
// brace for its name, makes the capture fail: then its shell is ended.
func (c *Command) MayAlias() bool { return strings.Contains(c.Text, "alias") }

// file is the file that the control line sources: that of source; or, with a directory or variables of this command
// alone, a file that sources it with them; elsewhere one that runs the relay. Assignments before a command last as long
// as it does, however it ends.
func (c *Command) file() (string, error) {
	if c.Relay != nil {
		words := make([]string, len(c.Relay))
		for i, word := range c.Relay {
			words[i] = state.Quote(word)
		}
		return c.write(shelldir.RunFile, "command "+strings.Join(words, " ")+"\n")
	}
	source, err := c.source()
	if err != nil || c.Cwd == "" && len(c.Env) == 0 {
		return source, err
	}
	var b strings.Builder
	if c.Cwd != "" {
		if err := shelldir.Touch(filepath.Join(c.Dir, shelldir.PwdFile)); err != nil {
			return "", err
		}
		declare, pwd := c.builtin("declare"), c.path(shelldir.PwdFile)
		fmt.Fprintf(&b, "%s -p PWD >|%s 2>/dev/null\n%s -p OLDPWD >>%s 2>/dev/null\n", declare, pwd, declare, pwd)
		fmt.Fprintf(&b, "%s -- %s || %s 1\n", c.builtin("cd"), state.Quote(c.Cwd), c.builtin("return"))
	}
	inverted := c.hasErrTrap() // see invertedGroup
	if inverted {
		b.WriteString("! ")
	}
	for _, name := range sortedNames(c.Env) {
		fmt.Fprintf(&b, "%s=%s ", name, state.Quote(c.Env[name]))
	}
	fmt.Fprintf(&b, "%s %s\n", c.builtin("."), c.path(source))
	if inverted {
		b.WriteString(c.builtin("return") + " \"${PIPESTATUS[0]}\"\n")
	}
	return c.write(shelldir.RunFile, b.String())
}

func (c *Command) write(name, text string) (string, error) {
	return name, shelldir.SpaceError(os.WriteFile(filepath.Join(c.Dir, name), []byte(text), 0o600))
}

// backLine is the control line that takes the shell back after a command with a directory of its own. What PWD and
// OLDPWD said comes back too, so that `cd -` and paths through links stay what they were.
func (c *Command) backLine() (string, error) {
	pwd, cd, source := c.path(shelldir.PwdFile), c.builtin("cd"), c.builtin(".")
	text := fmt.Sprintf("%s -- %s || ((1))\n%s PWD OLDPWD || ((1))\n%s %s || ((1))\n"+
		"%s -- \"${PWD:-.}\" || ((1))\n%s %s || ((1))\n",
		cd, state.Quote(c.Home), c.builtin("unset"), source, pwd, cd, source, pwd)
	if _, err := c.write(shelldir.BackFile, text); err != nil {
		return "", err
	}
	return source + " " + c.path(shelldir.BackFile) + " </dev/null >/dev/null 2>&1\n", nil
}

// foregroundLines are the control lines of a command in the foreground. The first runs it: sourced from a file at the
// top level, in braces and not in parentheses, so that everything in it lasts, and a stray brace, an open quote or a
// heredoc stays in there; and reports the status.
func (c *Command) foregroundLines(file string) string {
	in := state.Quote(os.DevNull)
	switch c.Input {
	case FileInput:
		in = c.path(shelldir.InputFile)
	case OpenInput:
		// Redirections are made from left to right, and opening a FIFO waits.
		in = c.path(shelldir.InFIFO) + " >|" + c.path(shelldir.InOpened)
	case NoInput:
	}
	source := c.FirstWords() + file + "'"
	files := fmt.Sprintf("<%s >%s 2>%s", in, c.path(shelldir.OutFIFO), c.path(shelldir.ErrFIFO))
	switch {
	case c.hasErrTrap():
		source = c.invertedGroup(source, files)
	case c.hasBraces():
		source = "{ " + source + "\n} " + files
	default:
		source += " " + files
	}
	after := *c
	after.Aliases = c.MayAlias()
	return source + "; " + c.reportStatus() + after.reportAborted(file)
}

// FirstWords are in the first control line of a command in the foreground, and in those of no other.
func (c *Command) FirstWords() string {
	return c.builtin(".") + " " + strings.TrimSuffix(state.Quote(c.Dir+string(filepath.Separator)), "'")
}

// invertedGroup is a command for a shell with an ERR trap: that fires for what fails in the file, and would fire once
// more for the file as a whole. Inverted by ! a command fires no ERR trap, while what is in it still does. $? then
// tells only whether it failed, and PIPESTATUS has the status; a user who made something else of that variable gets 1
// for every failure. A line that is aborted makes no such sign, and the next one has the status as ever.
func (c *Command) invertedGroup(source, files string) string {
	inner := c.group(sign(filepath.Join(c.Dir, shelldir.InvertedName), "$?-${PIPESTATUS[0]}"))
	return "{ { ! " + source + "\n} " + files + "\n" + inner + "\n}"
}

// reportStatus is what ends the line of a command, reporting its status. Where the file cannot be made (no inode, no
// descriptor left) the shell ends, which is noticed too.
//
// It has to stand in that line, so that bash has read its quotes before the command: bash 5.2 that meets the end of a
// text within $( or <( takes one too many from its stack of open quotes (parse_comsub after reset_parser), and writes
// before the stack with the next quote that it reads. It starts anew with the stack when it looks for the end of a $( )
// in a word that it expands, which is what ${?-$(:)} has it do; $? is always set, so that is all.
func (c *Command) reportStatus() string {
	status := sign(filepath.Join(c.Dir, shelldir.StatusName), "${?-$(:)}")
	return c.group(status) + " || \\exit" + c.listOff(false) + "\n"
}

// reportAborted is the line after that, for a jump to the top level takes away the rest of its line, and no more. It
// opens a file that is there when nothing was left to report, file, and lists jobs for the capture that follows.
// Standard input is replaced once, by what the word names: when a process ends while that word is expanded behind
// another such redirection, a trap on CHLD makes bash 5.2 lose its place in the control lines.
func (c *Command) reportAborted(file string) string {
	sign := "<>" + state.Quote(c.Dir+string(filepath.Separator)) + `"${?/#0/` + file + `}"` +
		state.JobsWord(c.Bash.Dir) + " || \\exit" + c.listOff(true) + "\n"
	if c.hasBraces() {
		return "{ " + noop + "; } " + sign // one line, see listOff
	}
	return sign
}

// backgroundLine is the control line of a command in the background. It runs in a subshell of a subshell, so that it is
// no job of the user's shell: a bare wait does not wait for it and jobs does not list it. The outer one waits for this
// very process and reports. The shell itself says before that it has come to them: the line after them may be done
// before the subshells are. The inner one says that it has come to the end of the text: an exit without a number keeps
// the status, and has an EXIT trap see its own standard files.
func (c *Command) backgroundLine(file string) string {
	in := state.Quote(os.DevNull)
	switch c.Input {
	case FileInput:
		in = c.path(shelldir.InputFile)
	case OpenInput:
		in = c.path(shelldir.InFIFO)
	case NoInput:
	}
	open, end := "{ ", "\n}"
	if !c.hasBraces() {
		open, end = "( ", "\n)"
	}
	status := filepath.Join(c.Dir, shelldir.StatusName)
	reached := c.group(sign(filepath.Join(c.Dir, shelldir.ReachedName), "")) + " || \\exit"
	finished := c.builtin("exit") + " 9" + sign(filepath.Join(c.Dir, shelldir.FinishedName), "")
	line := "%s; ( ( %s%s\n%s %s\n%s%s <%s >%s 2>%s & %s \"$!\" && %s || %s ) </dev/null >/dev/null 2>&1 & )\n"
	return fmt.Sprintf(line, reached, open, sign(filepath.Join(c.Dir, shelldir.PidName), "$BASHPID"),
		c.builtin("."), c.path(file), finished, end,
		in, c.path(shelldir.OutFIFO), c.path(shelldir.ErrFIFO),
		c.builtin("wait"), sign(status, "0"), sign(status, "$?"))
}
