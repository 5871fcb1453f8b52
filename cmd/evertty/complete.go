package main

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/internal/permission"
)

// completionTimeout bounds how long a press of Tab may take.
const completionTimeout = time.Second

// words are what a press of Tab offers; the server tells them.
type words func(context.Context, *client.Client) []string

// complete offers words for any argument or flag.
func (a *app) complete(w words) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		server, err := a.client()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer server.Close()
		ctx, cancel := context.WithTimeout(context.Background(), completionTimeout)
		defer cancel()
		return w(ctx, server), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeFirst offers words for the first argument only.
func (a *app) completeFirst(w words) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return a.complete(w)(c, args, word)
	}
}

func terminalNames(ctx context.Context, server *client.Client) (names []string) {
	list, _ := server.List(ctx, "")
	for _, i := range list {
		names = append(names, cobra.CompletionWithDesc(nameOf(i), printable(caption(i))))
	}
	return names
}

// sessionNames are the sessions that have terminals.
func sessionNames(ctx context.Context, server *client.Client) []string {
	names := []string{defaultSession}
	list, _ := server.List(ctx, "")
	for _, i := range list {
		names = append(names, i.Session)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func shellIDs(session *string) words {
	return func(ctx context.Context, server *client.Client) (ids []string) {
		list, _ := server.Shells(ctx, *session)
		for _, i := range list {
			ids = append(ids, cobra.CompletionWithDesc(i.ID, printable(i.Cwd)))
		}
		return ids
	}
}

func threadIDs(ctx context.Context, server *client.Client) (ids []string) {
	list, _ := server.Threads(ctx)
	for _, t := range list {
		ids = append(ids, cobra.CompletionWithDesc(t.ThreadID, printable(t.Sandbox.Type+" "+t.Sandbox.Status)))
	}
	return ids
}

func leaseIDs(ctx context.Context, server *client.Client) (ids []string) {
	list, _ := server.Leases(ctx, "")
	for _, l := range list {
		ids = append(ids, cobra.CompletionWithDesc(l.LeaseID, printable(l.ProviderName+" "+string(l.ObservedState))))
	}
	return ids
}

// approvalIDs are the calls of a thread that wait.
func approvalIDs(thread string) words {
	return func(ctx context.Context, server *client.Client) (ids []string) {
		list, _ := server.Approvals(ctx, thread, permission.Pending)
		for _, one := range list {
			ids = append(ids, cobra.CompletionWithDesc(one.ID, printable(one.Tool+" "+string(one.Arguments))))
		}
		return ids
	}
}
