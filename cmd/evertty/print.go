package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
)

// asker asks the server on behalf of a verb.
type asker[T any] func(c *cobra.Command, server *client.Client, args []string) (T, error)

// printer prints a reply for a person.
type printer[T any] func(w io.Writer, reply T) error

// asking makes c a verb that asks the server and prints the reply, with --json as JSON.
func asking[T any](a *app, c *cobra.Command, ask asker[T], print printer[T]) *cobra.Command {
	asJSON := jsonFlag(c)
	c.RunE = a.onServer(func(c *cobra.Command, server *client.Client, args []string) error {
		reply, err := ask(c, server, args)
		if err != nil {
			return err
		}
		return printReply(a.stdout, *asJSON, reply, print)
	})
	return a.talks(c)
}

// jsonFlag adds --json to a verb.
func jsonFlag(c *cobra.Command) *bool { return c.Flags().Bool("json", false, "print JSON") }

// printReply prints a reply as JSON or for a person.
func printReply[T any](w io.Writer, asJSON bool, reply T, print printer[T]) error {
	if asJSON {
		return printJSON(w, reply)
	}
	return print(w, reply)
}

// printJSON writes v as one indented JSON value.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(terminalJSON(w))
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// silent prints nothing: the exit code says it.
func silent[T any](io.Writer, T) error { return nil }

// line prints a reply in one line.
func line[T any](text func(T) string) printer[T] {
	return func(w io.Writer, reply T) error {
		_, err := fmt.Fprintln(w, printable(text(reply)))
		return err
	}
}

// table prints a list under a head, with a row for each.
func table[T any](head string, row func(T) []any) printer[[]T] {
	return func(w io.Writer, list []T) error {
		t := newTable(w)
		fmt.Fprintln(t, head)
		for _, one := range list {
			printRow(t, row(one)...)
		}
		return t.Flush()
	}
}

// newTable aligns columns that tabs separate. Flush it at the end.
func newTable(w io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(w, 0, 8, 2, ' ', 0) }

// printRow writes cells with tabs between them.
func printRow(w io.Writer, cells ...any) {
	for i, cell := range cells {
		cells[i] = printable(fmt.Sprint(cell))
	}
	fmt.Fprintf(w, strings.Repeat("%s\t", len(cells)-1)+"%s\n", cells...)
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
	return strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, s)
}
