package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

// captionWidth bounds the last column of the list, in characters.
const captionWidth = 60

func (a *app) newLs() *cobra.Command {
	var session string
	var asJSON bool
	c := &cobra.Command{
		Use:     "ls",
		Aliases: []string{"list"},
		Short:   "List the terminals",
		Example: "  evertty ls --session work --json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			server, err := a.client()
			if err != nil {
				return err
			}
			items, err := server.List(c.Context(), session)
			if err != nil {
				return err
			}
			if asJSON {
				raw := []json.RawMessage{}
				for _, i := range items {
					raw = append(raw, i.Raw)
				}
				return printJSON(a.stdout, raw)
			}
			return printTable(a.stdout, items, time.Now())
		},
	}
	c.Flags().StringVarP(&session, "session", "s", "", "only the terminals of this `session`")
	jsonFlag(c, &asJSON)
	return a.talks(c)
}

func printTable(w io.Writer, items []client.Terminal, now time.Time) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tNAME\tSESSION\tSTATE\tSIZE\tVIEWERS\tACTIVE\tTITLE")
	for _, i := range items {
		name := i.Name
		if name == "" {
			name = "-"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%dx%d\t%d\t%s\t%s\n", printable(i.ID), printable(name), printable(i.Session),
			stateOf(i), i.Cols, i.Rows, i.Viewers, age(now.Sub(i.LastActivityAt)), clipped(printable(caption(i)),
				captionWidth))
	}
	return t.Flush()
}

// stateOf is the state and, once the program has ended, how.
func stateOf(i client.Terminal) string {
	if i.Exit == nil || i.State != "exited" {
		return printable(i.State)
	}
	return i.State + "(" + printable(ending(i.Exit)) + ")"
}

// ending says in a word how a program ended: 3, SIGTERM or lost.
func ending(e *wire.Exit) string {
	switch {
	case e.Signal != "":
		return "SIG" + strings.TrimPrefix(e.Signal, "SIG")
	case e.Code != nil:
		return fmt.Sprint(*e.Code)
	}
	return e.Reason
}

// caption says what the terminal shows: its title, else its command.
func caption(i client.Terminal) string {
	if i.Title != "" {
		return i.Title
	}
	return strings.Join(i.Cmd, " ")
}

func clipped(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// age is a duration in its largest unit: 5s, 12m, 3h, 4d.
func age(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(0, int(d.Seconds())))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < day:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d/day))
}
