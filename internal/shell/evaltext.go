package shell

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/internal/shell/state"
)

const (
	// maxEval is the longest text that eval is given, in bytes: bash has four copies of it then.
	maxEval = 1 << 20
	// evalWord is from which length on a word of eval ends at the next space, in bytes. The time that bash takes for a word grows with the square of its quotes.
	evalWord = 4 << 10
	// maxWordQuotes is how many quotes one word of eval may have: they take bash some milliseconds.
	maxWordQuotes = 4 << 10
)

// source is the name of the file that runs the text when it is sourced. In complaints about what it cannot read bash names the file of a sourced text, and says only
// "eval" for the text of an eval. So the file has one line, with eval and the text, and what is in there has the numbers of lines that it has in the text.
//
// It is the text itself where the eval could be seen, by an option or a trap of the shell's, where a function or enable -n is in the way, and where bash takes too
// long for it. So it is in the background, where bash begins every complaint with the name of the sourced file.
func (e *Exec) source() (string, error) {
	if e.hidden {
		return shelldir.TextFile, nil
	}
	e.mu.Lock()
	text, background := e.record.Info.Command, e.record.Spec.Background
	e.mu.Unlock()
	possible, guarded := e.shell.evaluates()
	words := evalWords(text)
	recall := ""
	if !background && e.shell.remembers() {
		recall = e.recallLine(words)
	}
	if !possible || background || words == "" {
		err := writeText(e.dir, text)
		if err != nil || recall == "" {
			return shelldir.TextFile, shelldir.SpaceError(err)
		}
		return shelldir.EvalFile, shelldir.SpaceError(e.writeLine(recall + e.shell.call(".") + " " + state.Quote(filepath.Join(e.dir, shelldir.TextFile))))
	}
	line := `\eval -- ` + words
	if guarded { // in the same line, for an unclosed text must not be followed by quotes that bash has not read
		line = "! " + line + `; \return "${PIPESTATUS[0]}"`
	}
	return shelldir.EvalFile, shelldir.SpaceError(e.writeLine(recall + line))
}

// writeLine writes the file that is sourced.
func (e *Exec) writeLine(line string) error {
	return os.WriteFile(filepath.Join(e.dir, shelldir.EvalFile), []byte(line+"\n"), 0o600)
}

// evaluates tells whether the shell can be told to eval a text and nobody sees it; guarded whether the status has to be kept from an ERR trap, see Exec.guarded.
func (s *Shell) evaluates() (possible, guarded bool) {
	guarded = s.errTrapped()
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.image
	if i == nil || !i.IsBuiltin("eval") || guarded != i.HasTrap("ERR") || guarded && !i.IsBuiltin("return") {
		return false, false
	}
	return !slices.ContainsFunc([]string{"xtrace", "verbose", "functrace"}, i.HasOption), guarded
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
