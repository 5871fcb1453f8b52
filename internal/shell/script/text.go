package script

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// maxText is the longest text that is parsed, in bytes: the parser takes 0.3 s for the worst one.
const maxText = 16 << 10

// Text describes the text of a command by its look.
type Text struct {
	// Whole says that bash reads the text to its end and not beyond, whatever stands around it.
	Whole bool
	// Several says that bash runs a part of the text before it reads the next one.
	Several bool
	// Reads says that the text may change how bash reads what comes next.
	Reads bool
	// Shows says that the text may change who sees how it is run: by a trace, or a trap on DEBUG or
	// RETURN.
	Shows bool
	// Traps says that the text may set a trap.
	Traps bool
	// Returns says that the text returns outside of a function, which only a sourced file may.
	Returns bool
}

// Commands that matter.
var (
	reading  = []string{".", "alias", "eval", "shopt", "source", "unalias"}       // see Text.Reads
	reserved = []string{"do", "done", "elif", "else", "esac", "fi", "in", "then"} // which the parser takes for names
	used     = []string{".", "builtin", "exec", "exit", "printf"}                 // may not become functions on the way
)

// showing has the arguments of commands that matter for Text.Shows.
var showing = sync.OnceValue(func() map[string]*regexp.Regexp {
	return map[string]*regexp.Regexp{
		"set":   regexp.MustCompile(`^[-+][a-zA-Z]*[xvT]|^(xtrace|verbose|functrace)$`),
		"shopt": regexp.MustCompile(`^extdebug$`),
		"trap":  regexp.MustCompile(`(?i)^(SIG)?(DEBUG|RETURN)$`),
	}
})

// shows reports whether an argument of a command matters for Text.Shows.
func shows(name, arg string) bool {
	form := showing()[name]
	return form != nil && form.MatchString(arg)
}

// ParseText looks at a text as bash would read it.
func ParseText(text string) Text {
	if len(text) > maxText || strings.HasSuffix(text, `\`) || strings.ContainsAny(text, "\x00\r") {
		return Text{}
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil || len(file.Stmts) == 0 {
		return Text{}
	}
	t := Text{Whole: true, Several: isSeveral(file.Stmts)}
	functions := 0
	var open []syntax.Node
	syntax.Walk(file, func(node syntax.Node) bool {
		if node == nil { // the end of the last one that is open
			if _, is := open[len(open)-1].(*syntax.FuncDecl); is {
				functions--
			}
			open = open[:len(open)-1]
			return true
		}
		open = append(open, node)
		switch n := node.(type) {
		case *syntax.FuncDecl:
			functions++
			t.Whole = t.Whole && isCompound(n.Body.Cmd) && !slices.Contains(used, n.Name.Value)
		case *syntax.ExtGlob, *syntax.CoprocClause: // an option; rare
			t.Whole = false
		case *syntax.TimeClause:
			t.Whole = t.Whole && n.Stmt != nil
		case *syntax.Redirect: // for bash a number before the next redirection is a part of that
			t.Whole = t.Whole && (n.Word == nil || n.Op == syntax.DplOut || n.Op == syntax.DplIn ||
				strings.Trim(n.Word.Lit(), "0123456789") != "")
		case *syntax.CallExpr:
			t.note(commandNames(n), n.Args, functions > 0)
		}
		return true
	})
	return t
}

// note notes a command with its possible names.
func (t *Text) note(names []string, args []*syntax.Word, inFunction bool) {
	for _, name := range names {
		t.Traps = t.Traps || name == "trap"
		t.Reads = t.Reads || slices.Contains(reading, name)
		t.Whole = t.Whole && !slices.Contains(reserved, name)
		t.Returns = t.Returns || name == "return" && !inFunction
		for _, arg := range args {
			t.Shows = t.Shows || shows(name, arg.Lit())
			t.Reads = t.Reads || name == "set" && arg.Lit() == "history" // a list of lines
		}
	}
}

// isSeveral reports whether a statement begins in a line behind the end of another one.
func isSeveral(list []*syntax.Stmt) bool {
	for i := 1; i < len(list); i++ {
		if list[i].Pos().Line() > list[i-1].End().Line() {
			return true
		}
	}
	return false
}

// isCompound reports whether a command can be the body of a function.
func isCompound(body syntax.Command) bool {
	switch body.(type) {
	case *syntax.CallExpr, *syntax.BinaryCmd, *syntax.FuncDecl, *syntax.DeclClause, *syntax.TimeClause,
		*syntax.LetClause:
		return false
	}
	return body != nil
}

// commandNames are the words of a simple command that can be the name of the command that runs.
func commandNames(call *syntax.CallExpr) (names []string) {
	for _, word := range call.Args {
		name := strings.TrimPrefix(word.Lit(), `\`)
		names = append(names, name)
		if !strings.HasPrefix(name, "-") && name != "builtin" && name != "command" {
			break
		}
	}
	return names
}
