package main

import (
	"cmp"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

func newLs(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:     "ls",
		Aliases: []string{"list"},
		Short:   "List the terminals",
		Example: "  evertty ls --session work --label team=web --json",
		Args:    cobra.NoArgs,
	}
	var r wire.ListAllTerminals
	addFlags(c, flag{"session", "s", &r.Session, "only the terminals of this `session`"})
	a.labelFlag(c, &r.Labels)
	return asking(a, c, func(c *cobra.Command, server *client.Client, _ []string) ([]client.Terminal, error) {
		return server.Filter(c.Context(), r)
	}, terminalTable)
}

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
