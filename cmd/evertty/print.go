package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
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
		printRow(t, headCells(head)...)
		for _, one := range list {
			printRow(t, row(one)...)
		}
		return t.Flush()
	}
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

// eachChanged does the same to each terminal that is meant, and with asJSON prints a list of what was changed. Errors
// are as those of eachTerminal.
func eachChanged[T any](a *app, c *cobra.Command, server *client.Client, refs []string, asJSON bool,
	do func(id string) (T, error)) error {
	changed := []T{}
	err := eachTerminal(c.Context(), server, refs, func(id string) error {
		one, err := do(id)
		if err == nil {
			changed = append(changed, one)
		}
		return err
	})
	if asJSON {
		err = errors.Join(err, printJSON(a.stdout, changed))
	}
	return err
}

// jsonFormat adds --json to a verb with a format: the same as --format json.
func jsonFormat(c *cobra.Command, format *string) {
	c.Flags().BoolFunc("json", "print JSON, as --format json does", func(given string) error {
		yes, err := strconv.ParseBool(given)
		if yes {
			*format = string(client.JSON)
		}
		return err
	})
}

// removed is what is printed of a thing that is gone.
type removed struct {
	ID string `json:"id"`
}
