package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
)

// defaultSession is the session of who names none.
const defaultSession = "main"

func (a *app) newShells() *cobra.Command {
	var session string
	var asJSON bool
	c := &cobra.Command{
		Use:   "shells",
		Short: "List the exec shells of a session",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			server, err := a.client()
			if err != nil {
				return err
			}
			list, err := server.Shells(c.Context(), session)
			if err != nil {
				return err
			}
			if asJSON {
				raw := []json.RawMessage{}
				for _, i := range list {
					raw = append(raw, i.Raw)
				}
				return printJSON(a.stdout, raw)
			}
			t := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
			fmt.Fprintln(t, "ID\tDEFAULT\tSTATE\tPID\tQUEUED\tAGE\tCWD")
			for _, i := range list {
				fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%d\t%s\t%s\n", printable(i.ID), yes(i.Default, "yes"),
					printable(i.State)+yes(i.Busy, "(busy)"),
					i.PID, i.Queued, age(time.Since(i.CreatedAt)), printable(i.Cwd))
			}
			return t.Flush()
		},
	}
	c.Flags().StringVarP(&session, "session", "s", defaultSession, "`session` they belong to")
	_ = c.RegisterFlagCompletionFunc("session", a.completeSessions)
	jsonFlag(c, &asJSON)
	return a.talks(c)
}

func yes(is bool, word string) string {
	if is {
		return word
	}
	return ""
}

// completeSessions offers the sessions that have terminals.
func (a *app) completeSessions(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return a.complete(func(ctx context.Context, server *client.Client) []string {
		words := []string{defaultSession}
		items, _ := server.List(ctx, "")
		for _, i := range items {
			words = append(words, i.Session)
		}
		slices.Sort(words)
		return slices.Compact(words)
	})
}

// completeShells offers the shells of a session.
func (a *app) completeShells(session *string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return a.complete(func(ctx context.Context, server *client.Client) []string {
			var words []string
			list, _ := server.Shells(ctx, *session)
			for _, i := range list {
				words = append(words, cobra.CompletionWithDesc(i.ID, printable(i.Cwd)))
			}
			return words
		})
	}
}

// complete asks the server for words, for a short time.
func (a *app) complete(words func(context.Context, *client.Client) []string) ([]string, cobra.ShellCompDirective) {
	c, err := a.client()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), completionTimeout)
	defer cancel()
	return words(ctx, c), cobra.ShellCompDirectiveNoFileComp
}
