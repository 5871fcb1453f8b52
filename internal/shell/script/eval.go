package script

import (
	"strings"

	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/internal/shell/state"
)

const (
	// maxEval is the longest text that eval is given, in bytes: bash has four copies of it then.
	maxEval = 1 << 20
	// evalWord is from which length on a word of eval ends at the next space, in bytes. The time
	// that bash takes for a word grows with the square of its quotes.
	evalWord = 4 << 10
	// maxWordQuotes is how many quotes one word of eval may have: they take bash some milliseconds.
	maxWordQuotes = 4 << 10
)

// source writes the file that runs the text when it is sourced. In its syntax errors bash names the
// file of a sourced text, and says only "eval" for the text of an eval. So the file has one line,
// with eval and the text, whose lines keep their numbers.
//
// It is the text itself where a function or enable -n is in the way, and where bash takes too long
// for it.
func (c *Command) source() (string, error) {
	if c.Internal {
		return shelldir.TextFile, nil
	}
	text, trace := c.Text, ""
	if c.reportsEval() {
		text += "\n" + c.reportText(shelldir.TextName, "</dev/null 2>/dev/null ")
	}
	if options := c.traced(); options != "" {
		trace = c.builtin("set") + " -" + options + "; " + c.lineZero()
	}
	words := evalWords(text)
	line := `\eval -- `
	if trace != "" {
		line += state.Quote(trace)
	}
	line += words
	evaluated := words != "" && c.mayEval()
	if !evaluated {
		name, err := c.write(shelldir.RunFile, trace+c.Text)
		if err != nil {
			return "", err
		}
		line = c.builtin(".") + " " + c.path(name)
	}
	restore, err := c.restoreInFile()
	if err != nil {
		return "", err
	}
	begin := c.openInput() + c.listOn()
	if c.reportsEval() {
		begin += c.restoreArg()
	}
	begin += restore
	if !evaluated && begin == "" {
		return shelldir.RunFile, nil
	}
	if c.hasErrTrap() { // in the same line: an unclosed text must not be followed by quotes that bash has not read
		line = "! " + line + `; \return "${PIPESTATUS[0]}"`
	}
	return c.write(shelldir.EvalFile, begin+line+"\n")
}

// reportsEval reports whether a line behind the text can report its statuses and $_: the text does
// not swallow it, and no trace shows it. bash 5.2 may fail at quotes behind an eval whose text is
// not complete, see reportStatus.
func (c *Command) reportsEval() bool {
	l := c.Look
	return c.isWhole() && !l.Reads && !l.Shows && !c.Observed() && c.Snapshot.Builtin("printf") != ""
}

// traceOff unsets the options that would show how a text is run, with end behind it; the file of
// the text sets them again, see source.
func (c *Command) traceOff(end string) string {
	if options := c.traced(); options != "" {
		return c.quietly(c.builtin("set")+" +"+options) + end
	}
	return ""
}

// lineZero is a line after which LINENO counts from 1; none where braces are aliases. A trace would
// show an assignment. One that fails, because the user has made LINENO readonly, aborts only its
// own line.
func (b *Bash) lineZero() string {
	if !b.hasBraces() {
		return ""
	}
	return "{ " + noop + `; } </dev/null"${LINENO:+${-:0:$((LINENO=0))}}"` + "\n"
}

// traced are the letters of the options that trace commands: x and v.
func (c *Command) traced() (letters string) {
	if c.Relayed || c.Internal || !c.hasBraces() {
		return ""
	}
	if c.Snapshot.HasOption("xtrace") {
		letters = "x"
	}
	if c.Snapshot.HasOption("verbose") {
		letters += "v"
	}
	return letters
}

// mayEval reports whether the shell can eval a text. An inversion keeps an ERR trap from it, as in
// invertedGroup.
func (b *Bash) mayEval() bool {
	s := b.Snapshot
	return s != nil && s.IsBuiltin("eval") && (!b.hasErrTrap() || s.IsBuiltin("return"))
}

// evalWords is a text as words of eval, which puts one space between two of them; "" when bash
// would take too long.
func evalWords(text string) string {
	if len(text) > maxEval {
		return ""
	}
	var words []string
	for more := true; more; {
		head := min(len(text), evalWord)
		tail, rest, found := strings.Cut(text[head:], " ")
		word := text[:head+len(tail)]
		if strings.Count(word, "'") > maxWordQuotes {
			return ""
		}
		words = append(words, state.Quote(word))
		text, more = rest, found
	}
	return strings.Join(words, " ")
}
