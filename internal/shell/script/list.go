package script

import (
	"path/filepath"

	"github.com/evertty/evertty/internal/shell/state"
)

// The list of commands that bash keeps (set -o history) is the user's. bash puts every line that it
// reads from its input into it, so the option is off whenever it reads a control line: it is on in
// the file of a command alone, if it was on at the end of the command before, and that file adds
// the text as one entry.

// Names of the markers of the option.
const (
	ListFile = "history"  // in the directory of a shell: the option is on, and off while control lines are read
	ListSign = "remember" // in the directory of a command: the option was on at its end
)

// maxEntry is the longest text that becomes an entry of the list, in bytes: longer ones are not for
// people.
const maxEntry = 64 << 10

// listOff is the end of a control line: it takes the option away again, with a marker. With own the
// line may have come into the list itself, and goes if it is the last entry. DEBUG traps find no
// control lines to read. It is "" when the option cannot be looked at.
func (c *Command) listOff(own bool) string {
	set, history := c.Snapshot.Builtin("set"), c.Snapshot.Builtin("history")
	if !c.hasBraces() || c.Relayed || c.Internal || set == "" || history == "" {
		return ""
	}
	remove := ""
	if own {
		last := state.Quote(c.ID + string(filepath.Separator) + ListSign)
		remove = "{ [[ $(" + history + " 1) != *" + last + "* ]] || " + history + " -d -1; } && "
	}
	isOn := "[[ -o history ]]"
	if c.Observed() || c.Look.Shows {
		// The root can be opened, a file with the name of all options not. No trap fires, and no
		// trace shows it.
		isOn = "{ " + noop + `; } </"${SHELLOPTS##*history*}"`
	}
	return "; { " + isOn + " && " + remove + set + " +o history >|" + c.path(ListSign) +
		"; } </dev/null >/dev/null || " + noop
}

// listOn is the beginning of the one line in the file of a command: it sets the option and adds the
// text to the list, or "". With the option set, history -s would remove the entry before. Without
// the assignment bash would read the file of the list again each time; posix mode refuses it for a
// readonly variable.
func (c *Command) listOn() string {
	shopt, history := c.Snapshot.Builtin("shopt"), c.Snapshot.Builtin("history")
	if !c.List || c.Background || !c.hasBraces() || shopt == "" || history == "" {
		return ""
	}
	on := shopt + " -so history"
	if c.Snapshot != nil && !c.Snapshot.HasOption("posix") {
		on = "HISTFILE= " + on + " || " + on
	}
	words := evalWords(c.Text)
	if words == "" || len(words) > maxEntry {
		return "{ " + on + "; } 2>/dev/null || ((1)); "
	}
	return "{ " + history + " -s -- " + words + "; " + on + "; } 2>/dev/null || ((1)); "
}
