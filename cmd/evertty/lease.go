package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
)

func newLease(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "lease",
		Short: "Show and change where processes of threads run",
		Args:  unknownVerb,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newLeaseLs(a), newLeaseChange(a, "pause", "Pause the compute of a lease, whoever uses it",
		(*client.Client).PauseLease),
		newLeaseChange(a, "resume", "Let the compute of a lease go on", (*client.Client).ResumeLease), newLeaseRm(a))
	return c
}

func newLeaseLs(a *app) *cobra.Command {
	var provider string
	var asJSON bool
	c := &cobra.Command{
		Use:     "ls",
		Aliases: []string{"list"},
		Short:   "List the leases",
		Args:    cobra.NoArgs,
		RunE: a.onServer(func(c *cobra.Command, server *client.Client, _ []string) error {
			list, err := server.Leases(c.Context(), provider)
			if err != nil {
				return err
			}
			return printList(a.stdout, asJSON, list, func(l client.Lease) json.RawMessage { return l.Raw },
				"ID\tPROVIDER\tTHREAD\tSTATE\tINSTANCE\tAGE", leaseRow)
		}),
	}
	c.Flags().StringVar(&provider, "provider", "", "only the leases of this `provider`")
	jsonFlag(c, &asJSON)
	return a.talks(c)
}

func leaseRow(l client.Lease) string {
	instance := "-"
	if l.Instance != nil {
		instance = l.Instance.InstanceID
	}
	return fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s", printable(l.LeaseID), printable(l.ProviderName),
		printable(orDash(l.ThreadID)), printable(string(l.ObservedState)), printable(instance),
		age(time.Since(l.CreatedAt)))
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// newLeaseChange is a verb that does something to a lease and prints how it is then.
func newLeaseChange(a *app, verb, short string,
	do func(*client.Client, context.Context, string) (client.Lease, error)) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:               verb + " LEASE",
		Short:             short,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeFirst(leaseIDs),
		RunE: a.onServer(func(c *cobra.Command, server *client.Client, args []string) error {
			l, err := do(server, c.Context(), args[0])
			if err != nil {
				return err
			}
			return printOne(a.stdout, asJSON, l.Raw, string(l.ObservedState))
		}),
	}
	jsonFlag(c, &asJSON)
	return a.talks(c)
}

func newLeaseRm(a *app) *cobra.Command {
	var destroy bool
	c := &cobra.Command{
		Use:               "rm LEASE",
		Short:             "Forget a lease that no thread uses",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeFirst(leaseIDs),
		RunE: a.onServer(func(c *cobra.Command, server *client.Client, args []string) error {
			if destroy {
				if _, err := server.DestroyLease(c.Context(), args[0]); err != nil {
					return err
				}
			}
			return server.DeleteLease(c.Context(), args[0])
		}),
	}
	c.Flags().BoolVar(&destroy, "destroy", false, "end its compute first")
	return a.talks(c)
}
