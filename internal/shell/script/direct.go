package script

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/internal/shell/state"
)

// Observed reports whether the user could see how a text is run: by a trace, or by a trap that
// fires for the code around it.
func (b *Bash) Observed() bool {
	s := b.Snapshot
	return s.HasTrap("DEBUG") || s.HasTrap("RETURN") ||
		slices.ContainsFunc([]string{"xtrace", "verbose", "functrace"}, s.HasOption)
}

// Echo returns the text when the option verbose should have shown it and did not, because it stands
// in a control line.
func (c *Command) Echo() string {
	if c.isDirect() && c.Snapshot.HasOption("verbose") {
		return c.Text + "\n"
	}
	return ""
}

// isDirect reports whether the text stands in the control line itself, as if the user had typed it:
// then a trace has its level, and neither traps nor BASH_SOURCE have a file. It does so when the
// user could see how it is run, with a text that no option of an interactive shell changes.
func (c *Command) isDirect() bool {
	return !c.Background && !c.List && (c.Observed() || c.Look.Shows) && c.fits()
}

// fits reports whether the text may stand in a control line.
func (c *Command) fits() bool {
	s := c.Snapshot
	return c.isWhole() && !s.HasOption("histexpand") && s.HasShopt("interactive_comments")
}

// isWhole reports whether the text may stand in a group.
func (c *Command) isWhole() bool {
	s, whole := c.Snapshot, func(value string) bool { return ParseText(value).Whole }
	return c.Look.Whole && !c.Internal && c.Relay == nil && !c.Relayed && c.hasBraces() && s.Builtin(".") != "" &&
		s.Builtin("exit") != "" && !s.HasAliasOtherThan(whole, c.Text)
}

// directLines are the control lines of a text that stands in them.
func (c *Command) directLines() (string, error) {
	lines := c.lineZero()
	if null := c.Snapshot.Builtin(":"); c.Last.Sourced && null != "" && !c.Snapshot.HasTrap("DEBUG") {
		lines = "{ " + null + " " + state.QuoteASCII(c.Last.Arg) + "; } " + c.quiet() + "\n" + lines
	}
	group, back, err := c.groupAround(c.restore())
	if err != nil {
		return "", err
	}
	if back != "" && c.Snapshot.HasOption("functrace") { // else a trap on DEBUG would see the values
		lines = "{ " + c.builtin("set") + " +T; } " + c.quiet() + "\n" + lines
	}
	return lines + group + "; " + c.reportStatus() + c.reportAborted(shelldir.RecordFile) + back, nil
}

// groupAround is the text in a group, behind what restores the statuses and gives it a directory
// and variables of its own; back is the control line after it.
func (c *Command) groupAround(restore string) (group, back string, err error) {
	before, back, err := c.around()
	text := restore + "{ " + c.Text + "\n}"
	if before != "" {
		text = "{ " + before + "{ " + text + "\n}\n}"
	}
	return text + " " + c.redirections(c.input()), back, err
}

// beforeLine gives the text of a control line a directory and variables of its own; backLine takes
// them away.
func (c *Command) beforeLine() (string, error) {
	pwd, declare, names := c.path(shelldir.PwdFile), c.builtin("declare"), sortedNames(c.Env)
	if c.Cwd != "" {
		names = append(names, "PWD", "OLDPWD")
	}
	var b strings.Builder
	nounset := c.Snapshot.HasOption("nounset") // attributes of a variable that is not set are an error then
	if nounset {
		b.WriteString(c.builtin("set") + " +u\n")
	}
	for _, name := range names { // declare may be a function when the file is sourced; only bare it takes ( )
		fmt.Fprintf(&b, "%s '\\n' >>%s\n[[ ${%s@a} == *[aA]* ]] || %s '\\\\builtin ' >>%s\n%s -p %s >>%s 2>/dev/null\n",
			c.builtin("printf"), pwd, name, c.builtin("printf"), pwd, declare, name, pwd)
	}
	if nounset {
		b.WriteString(c.builtin("set") + " -u\n")
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
	line := c.builtin(".") + " " + c.path(shelldir.BeforeFile) + ` "${_-}"`
	if c.hasBraces() && !c.Observed() { // a complaint is for the user
		return "{ " + line + "; } </dev/null >/dev/null", err
	}
	return c.quietly(line), err
}
