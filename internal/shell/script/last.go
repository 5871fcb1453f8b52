package script

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/internal/shell/state"
)

// maxPipe is how many statuses of one pipeline are known after it.
const maxPipe = 16

// slash stands for / in what a sign tells of PWD.
const slash = "\x02"

// Last is how the command before ended, for the next one.
type Last struct {
	Code int   // $?
	Pipe []int // PIPESTATUS; nil is Code alone
}

// statuses are the elements of PIPESTATUS, at least one. Those of an earlier pipeline, as after a syntax error or an
// interrupt, do not agree with the code and do not count.
func (l Last) statuses() (pipe []int, inverted bool) {
	failed, last := 0, 0
	for _, code := range l.Pipe {
		if last = code; code != 0 {
			failed = code
		}
	}
	switch {
	case len(l.Pipe) > 0 && (l.Code == last || l.Code == failed): // failed is that of pipefail
		return l.Pipe, false
	case len(l.Pipe) > 0 && l.Code == 0 || len(l.Pipe) > 0 && l.Code == 1 && last == 0:
		return l.Pipe, true
	}
	return []int{l.Code}, false
}

// restore is what stands before a text that is to find $? and PIPESTATUS as the command before has left them; "" when
// they are 0 as after every control line. Subshells have no traps and change no $_, and nothing that they print is
// seen. Where a status could end the shell or fire ERR it stands in a list before || or &&.
func (c *Command) restore() string {
	pipe, inverted := c.Last.statuses()
	exit := c.Snapshot.Builtin("exit")
	if len(pipe) == 1 && pipe[0] == 0 && !inverted || exit == "" || !c.hasBraces() {
		return ""
	}
	var parts []string
	for _, code := range pipe {
		parts = append(parts, "( "+exit+" "+strconv.Itoa(code)+" ) "+c.quiet())
	}
	list := strings.Join(parts, " | ")
	if inverted {
		list = "! " + list
	}
	return list + c.then()
}

// restoreInFile is restore for a sourced file, where a trap on CHLD would print what it prints into the output of the
// command: a single status is that of another file, which needs no process.
func (c *Command) restoreInFile() (string, error) {
	pipe, inverted := c.Last.statuses()
	if len(pipe) > 1 || inverted || pipe[0] == 0 || c.Snapshot.Builtin("return") == "" || !c.hasBraces() {
		return c.restore(), nil
	}
	_, err := c.write(shelldir.CodeFile, c.builtin("return")+" "+strconv.Itoa(c.Last.Code)+"\n")
	return "{ " + c.builtin(".") + " " + c.path(shelldir.CodeFile) + ` "${_-}"; } ` + c.quiet() + c.then(), err
}

// then is the operator between what restores a status and the text.
func (c *Command) then() string {
	switch {
	case !c.Snapshot.HasOption("errexit") && !c.Snapshot.HasTrap("ERR"):
		return "; "
	case c.Last.Code == 0:
		return " && "
	}
	return " || "
}

// pipeWord are the elements of PIPESTATUS, each behind a dash, and dashes. The user may have made a text of the variable:
// what is not a number could not be in the name of a file. bash takes longest for elements that are not there.
func pipeWord() string {
	var others strings.Builder
	for n := 1; n < maxPipe; n++ {
		others.WriteString("-${PIPESTATUS[" + strconv.Itoa(n) + "]-}")
	}
	return "${PIPESTATUS[0]+-${PIPESTATUS[0]//[!0-9]}}${PIPESTATUS[1]+" + others.String() + "}"
}

// movedWord is "" while PWD is the directory in which the command began, else a number. What is left of PWD without
// that end begins with a slash, which no number has. A command with a directory of its own goes back to the shell's.
func (c *Command) movedWord() string {
	switch {
	case c.Cwd != "":
		return ""
	case !inQuotes.MatchString(c.Home):
		return "1"
	}
	return "${PPID/#*${PWD+${PWD%" + c.Home + "}}/}"
}

// inQuotes matches the directories that stand in an expansion in quotes as they are.
var inQuotes = regexp.MustCompile(`^/[A-Za-z0-9/._+,:=@%-]*$`)

// afterSign is a command that makes the sign of PWD where movedWord is not empty. PWD may be too long for the name of a
// file; then the sign tells nothing.
func (c *Command) afterSign() string {
	moved := c.movedWord()
	if moved == "" {
		return noop
	}
	pwd := sign(filepath.Join(c.Dir, shelldir.AfterName), `${PWD:+${PWD//\//`+slash+"}}")
	return "{ " + noop + "\n} <" + os.DevNull + `"` + moved + `" || { ` + noop + "; } " + pwd + " || { " + noop + "; } " +
		sign(filepath.Join(c.Dir, shelldir.AfterName), "")
}

// Ended is what bash has told of the end of a command.
type Ended struct {
	Code int
	Pipe []int  // PIPESTATUS; nil when it is not known
	PWD  string // "" when it is not known, as while it stays; it need not name the directory of the shell
}

// endedOf reads the rest of the name of the sign of reportStatus. moved says that the sign of afterSign follows.
func endedOf(text string) (e Ended, moved, ok bool) {
	numbers, mark, _ := strings.Cut(text, ".")
	code, pipe, _ := strings.Cut(numbers, "-")
	var err error
	if e.Code, err = strconv.Atoi(code); err != nil {
		return e, false, false
	}
	for number := range strings.SplitSeq(pipe, "-") {
		if number == "" {
			break // dashes follow
		}
		n, err := strconv.Atoi(number)
		if err != nil || n < 0 || n > maxStatus {
			e.Pipe = nil
			break
		}
		e.Pipe = append(e.Pipe, n)
	}
	return e, mark != "", true
}

// Observed reports whether somebody could see how a text is run: the user, by a trace, or a trap that fires for what
// runs it.
func (b *Bash) Observed() bool {
	s := b.Snapshot
	return s.HasTrap("DEBUG") || s.HasTrap("RETURN") ||
		slices.ContainsFunc([]string{"xtrace", "verbose", "functrace"}, s.HasOption)
}

// Echo is what bash does not show of the text although the option verbose is on: it reads the text
// in a control line, and
// none of these is shown.
func (c *Command) Echo() string {
	if c.isDirect() && c.Snapshot.HasOption("verbose") {
		return c.Text + "\n"
	}
	return ""
}

// IsPlain is IsPlain for a text that calls none of the user's functions. These may have what is not plain.
func (b *Bash) IsPlain(text string) bool {
	words, ok := plainWords(text)
	return ok && !slices.ContainsFunc(words, b.Snapshot.HasFunction)
}

// isDirect reports whether the text stands in the control line itself, as if somebody had typed it: then $_ and
// PIPESTATUS are those of its last command, a trace has its level, and neither traps nor BASH_SOURCE know of a file.
// So it is with a text that is known to be whole, and that no option of an interactive shell changes on its way.
func (c *Command) isDirect() bool { return !c.Background && !c.List && c.fits() }

// fits reports whether the text may stand in a control line.
func (c *Command) fits() bool {
	s := c.Snapshot
	return c.Whole && !c.Internal && c.Relay == nil && !c.Relayed && c.hasBraces() &&
		len(c.Text) <= MaxDirect && !s.HasOption("histexpand") && s.HasShopt("interactive_comments") &&
		s.Builtin(".") != "" && s.Builtin("exit") != "" && !s.HasAliasOtherThan(IsPlain)
}

// MaxDirect is the longest text in a control line, in bytes: a FIFO of 64 KiB has the lines all at once.
const MaxDirect = 16 << 10

// countsLines reports whether LINENO could be seen in a text: of one line, or by a trap.
func (c *Command) countsLines() bool {
	return c.Observed() || c.Snapshot.HasTraps() || strings.Contains(c.Text, "LINENO") || !IsPlain(c.Text)
}

// directLines are the control lines of a text that is whole.
func (c *Command) directLines() (string, error) {
	lines := ""
	if c.countsLines() {
		lines = c.lineZero()
	}
	text := "{ " + c.Text + "\n} " + c.redirections(c.input())
	before, back, err := c.around()
	if err != nil {
		return "", err
	}
	restore := c.restore()
	if null := c.Snapshot.Builtin(":"); c.Snapshot.LastArgument() == stdinFile && null != "" && !c.Observed() {
		lines = "{ " + null + " ''; } " + c.quiet() + "\n" + lines // it was that of a text in a file
	}
	if !c.Observed() { // it needs no process
		if restore, err = c.restoreInFile(); err != nil {
			return "", err
		}
	}
	if restore != "" && before != "" {
		text = "{ " + restore + text + "; }"
	} else {
		text = restore + text
	}
	if before != "" && c.Snapshot.HasOption("functrace") { // else a trap on DEBUG would see the values
		lines = "{ " + c.builtin("set") + " +T; } " + c.quiet() + "\n" + lines
	}
	after := *c
	after.Aliases = c.MayAlias()
	return lines + before + text + "; " + c.reportStatus() + after.reportAborted(shelldir.RecordFile) + back, nil
}

// beforeLine is what gives the text of a control line a directory and variables of its own. They go
// again with backLine.
func (c *Command) beforeLine() (string, error) {
	pwd, declare := c.path(shelldir.PwdFile), c.builtin("declare")
	var b strings.Builder
	for _, name := range append([]string{"PWD", "OLDPWD"}, sortedNames(c.Env)...) {
		b.WriteString(declare + " -p " + name + " >>" + pwd + " 2>/dev/null\n")
	}
	for _, name := range sortedNames(c.Env) {
		b.WriteString(c.builtin("export") + " " + name + "=" + state.Quote(c.Env[name]) + " || ((1))\n")
	}
	if c.Snapshot.HasOption("functrace") {
		b.WriteString(c.builtin("set") + " -T\n")
	}
	if c.Cwd != "" {
		b.WriteString(c.builtin("cd") + " -- " + state.Quote(c.Cwd) + "\n")
	}
	if _, err := c.write(shelldir.PwdFile, ""); err != nil { // bash would make it with the umask of the user
		return "", err
	}
	_, err := c.write(shelldir.BeforeFile, b.String())
	return c.quietly(c.builtin(".") + " " + c.path(shelldir.BeforeFile) + ` "${_-}"`), err
}
