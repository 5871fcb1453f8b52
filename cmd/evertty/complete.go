package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/wire"
)

// completionTimeout bounds how long a press of Tab may take.
const completionTimeout = time.Second

// completeFlags offers words for the flags of a verb that have none of their own: those of enums, and what the server
// has where the name of the flag says it. Verbs without arguments get no names of files.
func (a *app) completeFlags(c *cobra.Command) {
	known := map[string]cobra.CompletionFunc{
		"session": a.complete(sessionNames), "label": a.complete(labelWords), "lease": a.complete(leaseIDs),
		"shell":   a.complete(shellIDs(new(string))),
		"restore": cobra.FixedCompletions([]string{"none", "command"}, cobra.ShellCompDirectiveNoFileComp),
	}
	offer := func(f *pflag.Flag) {
		do := known[f.Name]
		if v, ok := f.Value.(*value); ok && v.words != nil {
			do = cobra.FixedCompletions(v.words, cobra.ShellCompDirectiveNoFileComp)
		}
		if do != nil {
			_ = c.RegisterFlagCompletionFunc(f.Name, do) // unless it has one
		}
		if f.Name == "cwd" || f.Name == "data-dir" {
			_ = cobra.MarkFlagDirname(c.Flags(), f.Name)
		}
	}
	c.Flags().VisitAll(offer)
	if !strings.Contains(c.Use, " ") && !c.HasSubCommands() && c.ValidArgsFunction == nil {
		c.ValidArgsFunction = cobra.NoFileCompletions
	}
}

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

// commandIDs are the commands of a session.
func commandIDs(session *string) words {
	return func(ctx context.Context, server *client.Client) []string {
		list, _ := server.Commands(ctx, *session, maxCommands, "")
		return describe(list, func(i client.Command) (string, string) { return i.CommandID, i.Text })
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

func shareIDs(ctx context.Context, server *client.Client) []string {
	list, _ := server.API().ListShares(ctx)
	return describe(list.Shares, func(s wire.Share) (string, string) { return s.ID, shared(s) + " " + s.Name })
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
