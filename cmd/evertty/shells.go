package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
)

// defaultSession is the session of who names none.
const defaultSession = "main"

func newShells(a *app) *cobra.Command {
	var session string
	var asJSON bool
	c := &cobra.Command{
		Use:   "shells",
		Short: "List the exec shells of a session",
		Args:  cobra.NoArgs,
		RunE: a.onServer(func(c *cobra.Command, server *client.Client, _ []string) error {
			list, err := server.Shells(c.Context(), session)
			if err != nil {
				return err
			}
			return printList(a.stdout, asJSON, list, func(i client.ShellInfo) json.RawMessage { return i.Raw },
				"ID\tDEFAULT\tSTATE\tPID\tQUEUED\tAGE\tCWD", shellRow)
		}),
	}
	c.Flags().StringVarP(&session, "session", "s", defaultSession, "`session` they belong to")
	_ = c.RegisterFlagCompletionFunc("session", a.complete(sessionNames))
	jsonFlag(c, &asJSON)
	return a.talks(c)
}

func shellRow(i client.ShellInfo) string {
	return fmt.Sprintf("%s\t%s\t%s\t%d\t%d\t%s\t%s", printable(i.ID), yes(i.Default, "yes"),
		printable(i.State)+yes(i.Busy, "(busy)"), i.PID, i.Queued, age(time.Since(i.CreatedAt)), printable(i.Cwd))
}

func yes(is bool, word string) string {
	if is {
		return word
	}
	return ""
}
