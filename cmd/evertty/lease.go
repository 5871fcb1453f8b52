package main

import (
	"context"
	"encoding/json"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
)

func (a *app) newLease() *cobra.Command {
	c := &cobra.Command{
		Use:   "lease",
		Short: "Show and change where processes of threads run",
		Args:  unknownVerb,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.newLeaseLs(), a.newLeaseChange("pause", "Pause the compute of a lease, whoever uses it",
		(*client.Client).PauseLease),
		a.newLeaseChange("resume", "Let the compute of a lease go on", (*client.Client).ResumeLease), a.newLeaseRm())
	return c
}

func (a *app) newLeaseLs() *cobra.Command {
	var provider string
	var asJSON bool
	c := &cobra.Command{
		Use:     "ls",
		Aliases: []string{"list"},
		Short:   "List the leases",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			server, err := a.client()
			if err != nil {
				return err
			}
			list, err := server.Leases(c.Context(), provider)
			if err != nil {
				return err
			}
			if asJSON {
				raw := []json.RawMessage{}
				for _, l := range list {
					raw = append(raw, l.Raw)
				}
				return printJSON(a.stdout, raw)
			}
			t := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
			fmt.Fprintln(t, "ID\tPROVIDER\tTHREAD\tSTATE\tINSTANCE\tAGE")
			for _, l := range list {
				instance := "-"
				if l.Instance != nil {
					instance = l.Instance.InstanceID
				}
				fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", printable(l.LeaseID), printable(l.ProviderName),
					printable(orDash(l.ThreadID)), printable(string(l.ObservedState)),
					printable(instance), age(time.Since(l.CreatedAt)))
			}
			return t.Flush()
		},
	}
	c.Flags().StringVar(&provider, "provider", "", "only the leases of this `provider`")
	jsonFlag(c, &asJSON)
	return a.talks(c)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// newLeaseChange is a verb that does something to a lease and prints how it is then.
func (a *app) newLeaseChange(verb, short string,
	do func(*client.Client, context.Context, string) (client.Lease, error)) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:               verb + " LEASE",
		Short:             short,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeLeases,
		RunE: func(c *cobra.Command, args []string) error {
			server, err := a.client()
			if err != nil {
				return err
			}
			l, err := do(server, c.Context(), args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(a.stdout, l.Raw)
			}
			_, err = fmt.Fprintln(a.stdout, printable(string(l.ObservedState)))
			return err
		},
	}
	jsonFlag(c, &asJSON)
	return a.talks(c)
}

func (a *app) newLeaseRm() *cobra.Command {
	var destroy bool
	c := &cobra.Command{
		Use:               "rm LEASE",
		Short:             "Forget a lease that no thread uses",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeLeases,
		RunE: func(c *cobra.Command, args []string) error {
			server, err := a.client()
			if err != nil {
				return err
			}
			if destroy {
				if _, err := server.DestroyLease(c.Context(), args[0]); err != nil {
					return err
				}
			}
			return server.DeleteLease(c.Context(), args[0])
		},
	}
	c.Flags().BoolVar(&destroy, "destroy", false, "end its compute first")
	return a.talks(c)
}

// completeLeases offers ids for the first argument.
func (a *app) completeLeases(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.complete(func(ctx context.Context, server *client.Client) []string {
		var words []string
		list, _ := server.Leases(ctx, "")
		for _, l := range list {
			words = append(words, cobra.CompletionWithDesc(l.LeaseID,
				printable(l.ProviderName+" "+string(l.ObservedState))))
		}
		return words
	})
}
