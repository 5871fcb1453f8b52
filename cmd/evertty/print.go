package main

import (
	"encoding/json"
	"io"
	"strings"
	"unicode"
)

// printJSON writes v as one indented JSON value.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(terminalJSON(w))
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// printable replaces what could act on the user's terminal: a program may have
// put anything into its title.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, s)
}

// safeText is text of several lines as printable makes it of one.
func safeText(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = printable(l)
	}
	return strings.Join(lines, "\n")
}
