package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

func newThread(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "thread",
		Short: "Make, show and steer threads, what lasts of sessions; their permissions and records",
		Args:  unknownVerb,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newThreadLs(a), newThreadShow(a), newThreadNew(a), newThreadRm(a), newThreadPause(a),
		newThreadResume(a), newThreadPolicy(a),
		newThreadPermissions(a), newThreadApprovals(a),
		newThreadApprove(a), newThreadDeny(a), newThreadSteer(a), newThreadExport(a), newThreadImport(a),
		newThreadCompact(a))
	return c
}

func newThreadLs(a *app) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "ls",
		Aliases: []string{"list"},
		Short:   "List the threads",
		Args:    cobra.NoArgs,
		RunE: a.onServer(func(c *cobra.Command, server *client.Client, _ []string) error {
			list, err := server.Threads(c.Context())
			if err != nil {
				return err
			}
			return printList(a.stdout, asJSON, list, func(th client.Thread) json.RawMessage { return th.Raw },
				"ID\tSANDBOX\tSTATUS\tLEASE\tAGE", threadRow)
		}),
	}
	jsonFlag(c, &asJSON)
	return a.talks(c)
}

func threadRow(th client.Thread) string {
	return fmt.Sprintf("%s\t%s\t%s\t%s\t%s", printable(th.ThreadID), printable(th.Sandbox.Type),
		printable(orDash(th.Sandbox.Status)), printable(th.LeaseID), age(time.Since(th.CreatedAt)))
}

// ofThread makes a verb that talks to the server about the thread it is given.
func (a *app) ofThread(verb, short string,
	run func(c *cobra.Command, server *client.Client, thread string) error) *cobra.Command {
	return a.talks(&cobra.Command{
		Use:               verb + " THREAD",
		Short:             short,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeFirst(threadIDs),
		RunE: a.onServer(func(c *cobra.Command, server *client.Client, args []string) error {
			return run(c, server, args[0])
		}),
	})
}

func newThreadShow(a *app) *cobra.Command {
	var asJSON bool
	c := a.ofThread("show", "Show a thread with its session, terminals and lease",
		func(c *cobra.Command, server *client.Client, thread string) error {
			th, err := server.Thread(c.Context(), thread)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(a.stdout, th.Raw)
			}
			return showThread(c.Context(), a, server, th)
		})
	jsonFlag(c, &asJSON)
	return c
}

func showThread(ctx context.Context, a *app, server *client.Client, th client.Thread) error {
	terminals, err := server.ThreadTerminals(ctx, th.ThreadID)
	if err != nil {
		return err
	}
	lease, err := server.ThreadLease(ctx, th.ThreadID)
	if err != nil {
		return err
	}
	s, err := server.ThreadSession(ctx, th.ThreadID)
	if err != nil && !errors.Is(err, client.ErrNotFound) { // it may never have had one
		return err
	}
	t := newTable(a.stdout)
	fmt.Fprintf(t, "thread\t%s\n", printable(th.ThreadID))
	if s.SessionID != nil && s.Status != nil {
		fmt.Fprintf(t, "session\t%s\t%s\n", printable(*s.SessionID), printable(sessionState(s, time.Now())))
	}
	fmt.Fprintf(t, "lease\t%s\t%s %s\n", printable(lease.LeaseID), printable(lease.ProviderName),
		printable(string(lease.ObservedState)))
	for _, one := range terminals {
		fmt.Fprintf(t, "%s\t%s\t%s  version %d %s\n", printable(one.Kind), printable(one.TerminalID),
			printable(one.Cwd),
			one.Version, yes(one.Active, "(active)"))
		for _, name := range slices.Sorted(maps.Keys(one.EnvDelta)) {
			fmt.Fprintf(t, "\t\t%s=%s\n", printable(name), clipped(printable(one.EnvDelta[name]), captionWidth))
		}
		if len(one.EnvUnset) > 0 {
			fmt.Fprintf(t, "\t\tunset %s\n", printable(strings.Join(one.EnvUnset, " ")))
		}
	}
	return t.Flush()
}

// sessionState is the status of a session, and when it expires or why it was closed.
func sessionState(s wire.ThreadSession, now time.Time) string {
	if s.EndedAt.IsZero() && s.ExpiresAt != nil {
		return fmt.Sprintf("%s, expires in %s", *s.Status, age(s.ExpiresAt.Sub(now)))
	}
	return string(*s.Status) + ": " + s.CloseReason
}
