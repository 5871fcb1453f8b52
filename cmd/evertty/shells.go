package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
)

// defaultSession is the session of who names none.
const defaultSession = "main"

func newShells(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "shells",
		Short: "List the exec shells of a session",
		Args:  cobra.NoArgs,
	}
	session := a.sessionFlag(c, "`session` they belong to")
	return asking(a, c, func(c *cobra.Command, server *client.Client, _ []string) ([]client.ShellInfo, error) {
		return server.Shells(c.Context(), *session)
	}, table("ID\tDEFAULT\tSTATE\tPID\tQUEUED\tAGE\tCWD", shellRow))
}

// sessionFlag adds --session to a verb.
func (a *app) sessionFlag(c *cobra.Command, usage string) *string {
	session := c.Flags().StringP("session", "s", defaultSession, usage)
	_ = c.RegisterFlagCompletionFunc("session", a.complete(sessionNames))
	return session
}

func shellRow(i client.ShellInfo) []any {
	return []any{i.ID, yes(i.Default, "yes"), i.State + yes(i.Busy, "(busy)"), i.PID, i.Queued,
		age(time.Since(i.CreatedAt)), i.Cwd}
}

func yes(is bool, word string) string {
	if is {
		return word
	}
	return ""
}
