package script

import (
	"slices"
	"strings"

	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/internal/shell/state"
)

const (
	// maxEval is the longest text that eval is given, in bytes: bash has four copies of it then.
	maxEval = 1 << 20
	// evalWord is from which length on a word of eval ends at the next space, in bytes. The time that bash takes for a
	// word grows with the square of its quotes.
	evalWord = 4 << 10
	// maxWordQuotes is how many quotes one word of eval may have: they take bash some milliseconds.
	maxWordQuotes = 4 << 10
)

// source writes the file that runs the text when it is sourced. In complaints about what it cannot read bash names the
// file of a sourced text, and says only "eval" for the text of an eval. So the file has one line, with eval and the
// text, and what is in there has the numbers of lines that it has in the text.
//
// It is the text itself where the eval could be seen, by an option or a trap of the shell's, where a function or enable
// -n is in the way, and where bash takes too long for it. So it is in the background, where bash begins every complaint
// with the name of the sourced file.
func (c *Command) source() (string, error) {
	if c.Internal {
		return shelldir.TextFile, nil
	}
	words, list := evalWords(c.Text), ""
	if !c.Background {
		list = c.listOn(words)
	}
	if c.Background || words == "" || !c.evalUnseen() {
		err := WriteText(c.Dir, c.Text)
		if err != nil || list == "" {
			return shelldir.TextFile, err
		}
		return c.write(shelldir.EvalFile, list+c.builtin(".")+" "+c.path(shelldir.TextFile)+"\n")
	}
	line := `\eval -- ` + words
	if c.hasErrTrap() { // in the same line: an unclosed text must not be followed by quotes that bash has not read
		line = "! " + line + `; \return "${PIPESTATUS[0]}"`
	}
	return c.write(shelldir.EvalFile, list+line+"\n")
}

// evalUnseen reports whether the shell can be told to eval a text and nobody sees it. An ERR trap is kept from it by an
// inversion, as in invertedGroup.
func (b *Bash) evalUnseen() bool {
	s := b.Snapshot
	if s == nil || !s.IsBuiltin("eval") || b.hasErrTrap() != s.HasTrap("ERR") ||
		b.hasErrTrap() && !s.IsBuiltin("return") {
		return false
	}
	return !slices.ContainsFunc([]string{"xtrace", "verbose", "functrace"}, s.HasOption)
}

// evalWords is a text as words of eval, which puts one space between two of them; "" when bash would take too long.
func evalWords(text string) string {
	if len(text) > maxEval {
		return ""
	}
	var words []string
	for {
		at := -1
		if len(text) > evalWord {
			at = strings.IndexByte(text[evalWord:], ' ')
		}
		word := text
		if at >= 0 {
			word = text[:evalWord+at]
		}
		if strings.Count(word, "'") > maxWordQuotes {
			return ""
		}
		words = append(words, state.Quote(word))
		if at < 0 {
			return strings.Join(words, " ")
		}
		text = text[evalWord+at+1:]
	}
}
