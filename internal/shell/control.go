package shell

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/internal/shell/state"
)

// sign is the word for a file that tells a number by its name: the shell makes it by a redirection alone, which neither
// functions nor aliases nor noclobber (>|) nor IFS (the quotes) can change. A status never passes through a variable: a
// user's readonly one would keep its old value.
func sign(path, number string) string { return ">|" + state.Quote(path) + `"` + number + `"` }

// nothing is a command that succeeds. A jump to the top level from between fork and wait leaves bash 5.2 with a program
// that it did not wait for (already_making_children): the next command that does not fork has that one's status.
const nothing = "<&0 || <&0"

// signLine is a group that makes a sign. A group has its redirections made before anything in it, so a DEBUG trap
// cannot have it skipped (extdebug), nor read control lines or write anywhere. Where braces are aliases it is the sign
// alone.
func (s *Shell) signLine(sign string) string {
	if !s.braces() {
		return sign
	}
	return "{ " + nothing + "\n} </dev/null " + sign
}

// reportStatus is what ends the line of a command, reporting its status. Where the file cannot be made (no inode, no
// descriptor left) the shell ends, which is noticed too.
//
// It has to stand in that line, so that bash has read its quotes before the command: bash 5.2 that meets the end of a
// text within $( or <( takes one too many from its stack of open quotes (parse_comsub after reset_parser), and writes
// before the stack with the next quote that it reads. It starts anew with the stack when it looks for the end of a $( )
// in a word that it expands, which is what ${?-$(:)} has it do; $? is always set, so that is all.
func (e *Exec) reportStatus() string {
	status := sign(filepath.Join(e.dir, shelldir.StatusName), "${?-$(:)}")
	return e.shell.signLine(status) + " || \\exit" + e.forgetLine(false) + "\n"
}

// reportAborted is the line after that, for a jump to the top level takes away the rest of its line, and no more. It
// opens a file that is there when nothing was left to report, the script, and lists jobs for the capture that follows.
// Standard input is replaced once, by what the word names: when a process ends while that word is expanded behind
// another such redirection, a trap on CHLD makes bash 5.2 lose its place in the control lines.
func (e *Exec) reportAborted(script string) string {
	sign := "<>" + state.Quote(e.dir+string(filepath.Separator)) + `"${?/#0/` + script + `}"` + state.JobsWord(e.shell.spec.Dir) +
		" || \\exit" + e.forgetLine(true) + "\n"
	if e.shell.braces() {
		return "{ " + nothing + "; } " + sign // one line, see forgetLine
	}
	return sign
}

// commandLines are the control lines of a command in the foreground. The first runs it: sourced from a file at the top
// level, in braces and not in parentheses, so that everything in it lasts, and a stray brace, an open quote or a
// heredoc stays in there; and reports the status.
func (e *Exec) commandLines(script string) string {
	in := state.Quote("/dev/null")
	if e.hasInput() {
		in = state.Quote(filepath.Join(e.dir, shelldir.InputFile))
	} else if e.stdinOpen() {
		// Redirections are made from left to right, and opening a FIFO waits.
		in = state.Quote(filepath.Join(e.dir, shelldir.InFIFO)) + " >|" + state.Quote(filepath.Join(e.dir, shelldir.InOpened))
	}
	source := e.shell.call(".") + " " + state.Quote(filepath.Join(e.dir, script))
	files := fmt.Sprintf("<%s >%s 2>%s", in, state.Quote(filepath.Join(e.dir, shelldir.OutFIFO)), state.Quote(filepath.Join(e.dir, shelldir.ErrFIFO)))
	switch {
	case e.shell.errTrapped():
		source = e.guarded(source, files)
	case e.shell.braces():
		source = "{ " + source + "\n} " + files
	default:
		source += " " + files
	}
	line := source + "; " + e.reportStatus()
	e.shell.expectAliases(e) // after the first line
	return line + e.reportAborted(script)
}

// guarded is a command for a shell with an ERR trap: that fires for what fails in the file, and would fire once more
// for the file as a whole. Inverted by ! a command fires no ERR trap, while what is in it still does. $? then tells
// only whether it failed, and PIPESTATUS has the status; a user who made something else of that variable gets 1 for
// every failure. A line that is aborted makes no such sign, and the next one has the status as ever.
func (e *Exec) guarded(source, files string) string {
	inner := e.shell.signLine(sign(filepath.Join(e.dir, shelldir.GuardedName), "$?-${PIPESTATUS[0]}"))
	return "{ { ! " + source + "\n} " + files + "\n" + inner + "\n}"
}

// errTrapped tells whether the shell had an ERR trap after the last command. Under set -e it does not count: ! would
// suspend that for the whole command.
func (s *Shell) errTrapped() bool {
	if !s.braces() || s.remote() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.image.HasTrap("ERR") && !s.image.HasOption("errexit")
}

// status is what the shell has reported of the end of a command in the foreground or in the background.
func (e *Exec) status() (code int, ok bool) {
	if code, ok = shelldir.FindNumber(e.dir, shelldir.StatusName); !ok {
		if code, ok = abortCode(e.dir); !ok {
			return 0, false
		}
		if late, told := shelldir.FindNumber(e.dir, shelldir.StatusName); told { // it was there before, and came between the two looks
			code = late
		}
	}
	if told, found := shelldir.FindSign(e.dir, shelldir.GuardedName); found {
		return innerStatus(told), true
	}
	return code, true
}

// abortCode is what reportAborted has told.
func abortCode(dir string) (code int, ok bool) {
	list, _ := os.ReadDir(dir)
	for _, f := range list {
		if state.ValidNumber(f.Name()) {
			code, err := strconv.Atoi(f.Name())
			return code, err == nil
		}
	}
	return 0, false
}

// innerStatus is the status that guarded has told.
func innerStatus(told string) int {
	succeeded, inner, _ := strings.Cut(told, "-")
	if succeeded == "1" {
		return 0
	}
	if code, err := strconv.Atoi(inner); err == nil && code > 0 && code <= maxStatus {
		return code
	}
	return 1
}

// maxStatus is the largest status of a command.
const maxStatus = 255

// firstWords are in the first control line of a command in the foreground, and in those of no other.
func (e *Exec) firstWords() string {
	return e.shell.call(".") + " " + strings.TrimSuffix(state.Quote(e.dir+string(filepath.Separator)), "'")
}

// backgroundLines are the control lines of a command in the background. It runs in a subshell of a subshell, so that it
// is no job of the user's shell: a bare wait does not wait for it and jobs does not list it. The outer one waits for
// this very process and reports. The shell itself says before that it has come to them: the line after them may be done
// before the subshells are. The inner one says that it has come to the end of the text: an exit without a number keeps
// the status, and has an EXIT trap see its own standard files.
func (e *Exec) backgroundLines(script string) string {
	in := "/dev/null"
	if e.hasInput() {
		in = filepath.Join(e.dir, shelldir.InputFile)
	} else if e.stdinOpen() {
		in = filepath.Join(e.dir, shelldir.InFIFO)
	}
	open, end := "{ ", "\n}"
	if !e.shell.braces() {
		open, end = "( ", "\n)"
	}
	status := filepath.Join(e.dir, shelldir.StatusName)
	told := e.shell.signLine(sign(filepath.Join(e.dir, shelldir.ReachedName), "")) + " || \\exit"
	came := e.shell.call("exit") + " 9" + sign(filepath.Join(e.dir, shelldir.FinishedName), "")
	lines := "%s; ( ( %s%s\n%s %s\n%s%s <%s >%s 2>%s & %s \"$!\" && %s || %s ) </dev/null >/dev/null 2>&1 & )\n"
	return fmt.Sprintf(lines, told, open, sign(filepath.Join(e.dir, shelldir.PidName), "$BASHPID"),
		e.shell.call("."), state.Quote(filepath.Join(e.dir, script)), came, end,
		state.Quote(in), state.Quote(filepath.Join(e.dir, shelldir.OutFIFO)), state.Quote(filepath.Join(e.dir, shelldir.ErrFIFO)),
		e.shell.call("wait"), sign(status, "0"), sign(status, "$?"))
}

// tell writes control lines, all at once: a server that is killed has written all of them or none.
func (i *incarnation) tell(lines string) error {
	i.mu.Lock()
	control := i.control
	i.mu.Unlock()
	if control == nil {
		return ErrEnded
	}
	_ = control.SetWriteDeadline(time.Now().Add(tellLimit))
	if _, err := control.Write([]byte(lines)); errors.Is(err, os.ErrClosed) {
		return ErrEnded
	} else if err != nil {
		return fmt.Errorf("tell the shell: %w", err)
	}
	return nil
}
