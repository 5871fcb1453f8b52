package script

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/evertty/evertty/internal/shell/shelldir"
)

// maxPipe is how many statuses of one pipeline are known after it.
const maxPipe = 16

// slash stands for / of PWD in the name of a marker.
const slash = "\x02"

// Last is how the command before ended, for the next one.
type Last struct {
	Code int   // $?
	Pipe []int // PIPESTATUS; nil is Code alone
	// Arg is $_ with Sourced: the text stood in a file, and the shell has another one. Else the
	// shell has it.
	Arg     string
	Sourced bool

	file string // with the report; "" for none
}

// Last returns the end of a command that ended by itself with a code, for the next one.
func (e Ended) Last(code int) Last {
	return Last{Code: code, Pipe: e.Pipe, Arg: e.Arg, Sourced: e.Sourced, file: e.text}
}

// Forget empties the file that reported the command, which has no reader any more: $_ may be a
// value of its variables.
func (l Last) Forget() {
	if l.file != "" {
		_ = os.Truncate(l.file, 0)
	}
}

// statuses returns the elements of PIPESTATUS, at least one. Elements of an earlier pipeline, as
// after a syntax error or an interrupt, do not agree with the code and do not count.
func (l Last) statuses() (pipe []int, inverted bool) {
	failed, last := 0, 0
	for _, code := range l.Pipe {
		if last = code; code != 0 {
			failed = code
		}
	}
	switch {
	case len(l.Pipe) > 0 && (l.Code == last || l.Code == failed): // failed: with pipefail
		return l.Pipe, false
	case len(l.Pipe) > 0 && l.Code == 0 || len(l.Pipe) > 0 && l.Code == 1 && last == 0:
		return l.Pipe, true
	}
	return []int{l.Code}, false
}

// restore is the code before a text that restores $? and PIPESTATUS of the command before; "" when
// they are 0, as after every control line. It uses subshells: they have no traps and change no $_,
// and their output is discarded. A status that could end the shell or fire ERR stands in a list
// before || or &&.
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
	return list + c.then(c.Last.Code)
}

// restoreInFile is restore for a sourced file, where the output of a trap on CHLD would come into
// the command's. A single status comes from sourcing another file, which needs no process. With
// that trap no other status is restored.
func (c *Command) restoreInFile() (string, error) {
	pipe, inverted := c.Last.statuses()
	if c.Snapshot.HasTrap("CHLD") {
		if pipe, inverted = []int{c.Last.Code}, false; c.Last.Code == 0 {
			return "", nil
		}
	}
	if len(pipe) > 1 || inverted || pipe[0] == 0 || c.Snapshot.Builtin("return") == "" || !c.hasBraces() {
		return c.restore(), nil
	}
	_, err := c.write(shelldir.CodeFile, c.builtin("return")+" "+strconv.Itoa(c.Last.Code)+"\n")
	return "{ " + c.builtin(".") + " " + c.path(shelldir.CodeFile) + ` "${_-}"; } ` + c.quiet() +
		c.then(c.Last.Code), err
}

// then is the operator between a command that restores a status and the text.
func (b *Bash) then(code int) string {
	switch {
	case !b.Snapshot.HasOption("errexit") && !b.Snapshot.HasTrap("ERR"):
		return "; "
	case code == 0:
		return " && "
	}
	return " || "
}

// pipeWord are the elements of PIPESTATUS, each behind a dash, and dashes. The user may have made a
// text of the variable: other characters than digits could not be in the name of a file. bash takes
// longest for elements that are not there.
func pipeWord() string {
	var others strings.Builder
	for n := 1; n < maxPipe; n++ {
		others.WriteString("-${PIPESTATUS[" + strconv.Itoa(n) + "]-}")
	}
	return "${PIPESTATUS[0]+-${PIPESTATUS[0]//[!0-9]}}${PIPESTATUS[1]+" + others.String() + "}"
}

// movedWord is "" while PWD is the directory in which the command began, else a number. What is
// left of PWD without that end begins with a slash, which no number has. A command with a directory
// of its own goes back to the shell's.
func (c *Command) movedWord() string {
	switch {
	case c.Cwd != "":
		return ""
	case !inQuotes().MatchString(c.Home):
		return "1"
	}
	return "${PPID/#*${PWD+${PWD%" + c.Home + "}}/}"
}

// inQuotes matches the directories that stand in an expansion in quotes as they are.
var inQuotes = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^/[A-Za-z0-9/._+,:=@%-]*$`) })

// pwdMarker is a command that makes the marker of PWD where moved, a movedWord, is not empty. PWD
// may be too long for the name of a file; then the marker has none.
func pwdMarker(dir, moved string) string {
	if moved == "" {
		return noop
	}
	pwd := marker(filepath.Join(dir, shelldir.AfterName), `${PWD:+${PWD//\//`+slash+"}}")
	return "{ " + noop + "\n} <" + os.DevNull + `"` + moved + `" || { ` + noop + "; } " + pwd +
		" || { " + noop + "; } " + marker(filepath.Join(dir, shelldir.AfterName), "")
}

// Ended is what bash has reported of the end of a command.
type Ended struct {
	Code int
	Pipe []int  // PIPESTATUS; nil when it is not known
	PWD  string // "" when it is not known, as while it stays; it need not name the directory of the shell
	// Arg is $_ with Sourced, see Last.
	Arg     string
	Sourced bool

	text string // the file that reportText has made; "" for none
}

// endedOf reads the rest of the name of the marker of reportStatus. moved says that the marker of
// pwdMarker follows.
func endedOf(text string) (e Ended, moved, ok bool) {
	numbers, mark, _ := strings.Cut(text, ".")
	code, pipe, _ := strings.Cut(numbers, "-")
	var err error
	if e.Code, err = strconv.Atoi(code); err != nil {
		return e, false, false
	}
	e.Pipe = statusesOf(strings.Split(strings.TrimRight(pipe, "-"), "-"))
	return e, mark != "", true
}

// statusesOf is PIPESTATUS, nil when an element is no status.
func statusesOf(elements []string) (pipe []int) {
	for _, element := range elements {
		n, err := strconv.Atoi(element)
		if err != nil || n < 0 || n > maxStatus {
			return nil
		}
		pipe = append(pipe, n)
	}
	return pipe
}
