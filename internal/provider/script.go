package provider

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// commandScript is the text for bash that goes to a command's directory, exports its variables and runs it. The command comes last and as it is, so nothing in it, a comment,
// a heredoc or a quote that nobody closes, can reach what is ours. Errors: ErrNotStarted.
func commandScript(r ExecRequest) (string, error) {
	if strings.ContainsRune(r.Command, 0) || strings.ContainsRune(r.Cwd, 0) {
		return "", fmt.Errorf("%w: %w: a command has no NUL", ErrNotStarted, ErrProvider)
	}
	var b strings.Builder
	if r.Cwd != "" {
		fmt.Fprintf(&b, "\\builtin cd -- %s || \\exit 1\n", quote(r.Cwd))
	}
	for _, k := range slices.Sorted(maps.Keys(r.Env)) {
		if !envName.MatchString(k) || strings.ContainsRune(r.Env[k], 0) {
			return "", fmt.Errorf("%w: %w: no name for a variable: %q", ErrNotStarted, ErrProvider, k)
		}
		fmt.Fprintf(&b, "\\export %s=%s\n", k, quote(r.Env[k]))
	}
	b.WriteString(r.Command)
	return b.String(), nil
}

// whole is a script for a bash that gets it over a connection: it is run when all of it has come, and no part of it is otherwise, for each of its beginnings is a group
// that nobody closes.
func whole(script string) string { return "{ \\eval -- " + quote(script) + "\n}" }
