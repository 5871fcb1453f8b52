package main

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

// captionWidth bounds the last column of the list, in characters.
const captionWidth = 60

func newLs(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:     "ls",
		Aliases: []string{"list"},
		Short:   "List the terminals",
		Example: "  evertty ls --session work --json",
		Args:    cobra.NoArgs,
	}
	session := c.Flags().StringP("session", "s", "", "only the terminals of this `session`")
	return asking(a, c, func(c *cobra.Command, server *client.Client, _ []string) ([]client.Terminal, error) {
		return server.List(c.Context(), *session)
	}, table("ID\tNAME\tSESSION\tSTATE\tSIZE\tVIEWERS\tACTIVE\tTITLE", terminalRow))
}

func terminalRow(i client.Terminal) []any {
	return []any{i.ID, orDash(i.Name), i.Session, stateOf(i), fmt.Sprintf("%dx%d", i.Cols, i.Rows), i.Viewers,
		age(time.Since(i.LastActivityAt)), clipped(caption(i), captionWidth)}
}

// stateOf is the state and, once the program has ended, how.
func stateOf(i client.Terminal) string {
	if i.Exit == nil || i.State != "exited" {
		return i.State
	}
	return i.State + "(" + ending(i.Exit) + ")"
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
func caption(i client.Terminal) string { return cmp.Or(i.Title, strings.Join(i.Cmd, " ")) }

func orDash(s string) string { return cmp.Or(s, "-") }

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
