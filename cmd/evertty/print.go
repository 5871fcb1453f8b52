package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"
)

// printJSON writes v as one indented JSON value.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(terminalJSON(w))
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// newTable aligns columns that tabs separate. Flush it at the end.
func newTable(w io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(w, 0, 8, 2, ' ', 0) }

// printList prints a list: with asJSON the objects as the server sent them, else a table with a row for each.
func printList[T any](w io.Writer, asJSON bool, list []T, raw func(T) json.RawMessage, head string,
	row func(T) string) error {
	if asJSON {
		all := []json.RawMessage{}
		for _, one := range list {
			all = append(all, raw(one))
		}
		return printJSON(w, all)
	}
	t := newTable(w)
	fmt.Fprintln(t, head)
	for _, one := range list {
		fmt.Fprintln(t, row(one))
	}
	return t.Flush()
}

// printOne prints an object: with asJSON as the server sent it, else a line about it.
func printOne(w io.Writer, asJSON bool, raw json.RawMessage, line string) error {
	if asJSON {
		return printJSON(w, raw)
	}
	_, err := fmt.Fprintln(w, printable(line))
	return err
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
