package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

func newLease(a *app) *cobra.Command {
	return group("lease", "Show and change where processes of threads run",
		newLeaseLs(a),
		newLeaseChange(a, "pause", "Pause the compute of a lease, whoever uses it", client.API.PauseLease),
		newLeaseChange(a, "resume", "Let the compute of a lease go on", client.API.ResumeLease),
		newLeaseRm(a))
}

func newLeaseLs(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:     "ls",
		Aliases: []string{"list"},
		Short:   "List the leases",
		Args:    cobra.NoArgs,
	}
	provider := c.Flags().String("provider", "", "only the leases of this `provider`")
	return asking(a, c, func(c *cobra.Command, server *client.Client, _ []string) ([]client.Lease, error) {
		return server.Leases(c.Context(), *provider)
	}, table("ID\tPROVIDER\tTHREAD\tSTATE\tINSTANCE\tAGE", leaseRow))
}

func leaseRow(l client.Lease) []any {
	instance := "-"
	if l.Instance != nil {
		instance = l.Instance.InstanceID
	}
	return []any{l.LeaseID, l.ProviderName, orDash(l.ThreadID), l.ObservedState, instance, age(time.Since(l.CreatedAt))}
}

// ofLease is a verb about the lease that its argument names.
func (a *app) ofLease(verb, short string) *cobra.Command {
	return &cobra.Command{
		Use:               verb + " LEASE",
		Short:             short,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeFirst(leaseIDs),
	}
}

// newLeaseChange is a verb that does something to a lease and prints the state that it has then.
func newLeaseChange(a *app, verb, short string,
	change func(client.API, context.Context, wire.LeaseRef) (client.Lease, error)) *cobra.Command {
	return asking(a, a.ofLease(verb, short),
		func(c *cobra.Command, server *client.Client, args []string) (client.Lease, error) {
			return change(server.API(), c.Context(), wire.LeaseRef{Lease: args[0]})
		}, line(func(l client.Lease) string { return string(l.ObservedState) }))
}

func newLeaseRm(a *app) *cobra.Command {
	c := a.ofLease("rm", "Forget a lease that no thread uses")
	destroy := c.Flags().Bool("destroy", false, "end its compute first")
	asJSON := jsonFlag(c)
	c.RunE = a.onServer(func(c *cobra.Command, server *client.Client, args []string) error {
		lease := wire.LeaseRef{Lease: args[0]}
		if *destroy {
			if _, err := server.API().DestroyLease(c.Context(), lease); err != nil {
				return err
			}
		}
		if _, err := server.API().DeleteLease(c.Context(), lease); err != nil {
			return err
		}
		return printReply(a.stdout, *asJSON, removed{lease.Lease}, silent)
	})
	return a.talks(c)
}
