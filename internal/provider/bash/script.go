// Package bash is shared by the providers whose instances have a bash: the script of a command,
// commands by repeated calls, files by commands, the state between commands, and metrics.
package bash

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/evertty/evertty/internal/provider"
)

// Script is the text for bash that changes to a command's directory, exports its variables and runs
// it. The command is last and unchanged, so no comment, heredoc or unclosed quote in it can change
// the rest. Errors: ErrNotStarted.
func Script(r provider.ExecRequest) (string, error) {
	env, err := exports(r)
	if err == nil && r.Cwd != "" {
		env = fmt.Sprintf("\\builtin cd -- %s || \\exit 1\n%s", Quote(r.Cwd), env)
	}
	return env + r.Command, err
}

// exports is Exports for a command whose texts have no NUL. Errors: ErrNotStarted.
func exports(r provider.ExecRequest) (string, error) {
	if strings.ContainsRune(r.Command, 0) || strings.ContainsRune(r.Cwd, 0) {
		return "", fmt.Errorf("%w: %w: a command has no NUL", provider.ErrNotStarted, provider.ErrProvider)
	}
	return Exports(r.Env)
}

// AllOrNothing is a script for a bash that reads it from a connection: bash runs all of it or, when
// the connection ends early, nothing, because every prefix is an unclosed group.
func AllOrNothing(script string) string { return "{ \\eval -- " + Quote(script) + "\n}" }

// Exports is a script that sets variables. Errors: ErrNotStarted.
func Exports(env map[string]string) (string, error) {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(env)) {
		if !variableName().MatchString(k) || strings.ContainsRune(env[k], 0) {
			return "", fmt.Errorf("%w: %w: no name for a variable: %q", provider.ErrNotStarted, provider.ErrProvider, k)
		}
		fmt.Fprintf(&b, "\\export %s=%s\n", k, Quote(env[k]))
	}
	return b.String(), nil
}

// variableName is a valid name of a variable.
var variableName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`) })

// Quote makes one word of a text, for a shell.
func Quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// QuoteWords is the words of a program as a command line for a shell.
func QuoteWords(argv []string) string {
	words := make([]string, len(argv))
	for i, word := range argv {
		words[i] = Quote(word)
	}
	return strings.Join(words, " ")
}
