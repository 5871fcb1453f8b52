package main

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/wire"
)

// completionTimeout bounds how long a press of Tab may take.
const completionTimeout = time.Second

// words asks the server for the words that a press of Tab offers.
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

// describe offers words with a text about each.
func describe[T any](list []T, one func(T) (word, about string)) (all []string) {
	for _, i := range list {
		word, about := one(i)
		all = append(all, cobra.CompletionWithDesc(word, printable(about)))
	}
	return all
}

// terminalNames are the names of terminals, SESSION/NAME where several sessions have one, and all ids.
func terminalNames(ctx context.Context, server *client.Client) []string {
	list, _ := server.List(ctx, "")
	having := map[string]int{}
	for _, i := range list {
		having[i.Name]++
	}
	var words []string
	for _, i := range list {
		if i.Name != "" && having[i.Name] > 1 {
			words = append(words, cobra.CompletionWithDesc(i.Session+"/"+i.Name, printable(caption(i))))
		} else if i.Name != "" {
			words = append(words, cobra.CompletionWithDesc(i.Name, printable(caption(i))))
		}
	}
	return append(words, describe(list, func(i client.Terminal) (string, string) { return i.ID, caption(i) })...)
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
	return func(ctx context.Context, server *client.Client) []string {
		list, _ := server.Shells(ctx, *session)
		return describe(list, func(i client.ShellInfo) (string, string) { return i.ID, i.Cwd })
	}
}

func threadIDs(ctx context.Context, server *client.Client) []string {
	list, _ := server.Threads(ctx)
	return describe(list, func(t client.Thread) (string, string) {
		return t.ThreadID, t.Sandbox.Type + " " + t.Sandbox.Status
	})
}

func leaseIDs(ctx context.Context, server *client.Client) []string {
	list, _ := server.Leases(ctx, "")
	return describe(list, func(l client.Lease) (string, string) {
		return l.LeaseID, l.ProviderName + " " + string(l.ObservedState)
	})
}

// approvalIDs are the calls of a thread that wait.
func approvalIDs(thread string) words {
	return func(ctx context.Context, server *client.Client) []string {
		list, _ := server.API().ListApprovals(ctx,
			wire.ListApprovals{ThreadRef: wire.ThreadRef{Thread: thread}, Status: permission.Pending})
		return describe(list.Approvals, func(one client.Approval) (string, string) {
			return one.ID, one.Tool + " " + string(one.Arguments)
		})
	}
}
