package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
)

// maxCommands is the most that --number takes: what a shell's history holds.
const maxCommands = 1000

func (a *app) newCommands() *cobra.Command {
	var session string
	var asJSON, cancel bool
	var number int
	c := &cobra.Command{
		Use:   "commands [ID]",
		Short: "List the commands of a session, or print the output of one",
		Long: `Lists what was run in the shells of a session, the newest last. With the ID of a
command it prints its output, from the beginning to its end, and ends with its exit
code; Ctrl-C leaves the command alone.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			server, err := a.client()
			switch {
			case err != nil:
				return err
			case len(args) == 0 && cancel:
				return usage(fmt.Errorf("commands: --cancel needs the ID of a command"))
			case cancel:
				return server.CancelCommand(c.Context(), session, args[0])
			case len(args) == 1 && asJSON:
				i, err := server.Command(c.Context(), session, args[0])
				if err != nil {
					return err
				}
				return printJSON(a.stdout, i.Raw)
			case len(args) == 1:
				return a.showCommand(c.Context(), session, args[0])
			}
			list, err := server.Commands(c.Context(), session, number, "")
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
			return printCommands(a.stdout, list, time.Now())
		},
	}
	c.Flags().StringVarP(&session, "session", "s", defaultSession, "`session` they belong to")
	_ = c.RegisterFlagCompletionFunc("session", a.completeSessions)
	c.Flags().VarP(newInt(&number, 20, 1, maxCommands), "number", "n", "the newest `N` commands")
	c.Flags().BoolVar(&cancel, "cancel", false, "end the command, as Ctrl-C does")
	jsonFlag(c, &asJSON)
	return a.talks(c)
}

// showCommand prints the output of a command and ends as it does.
func (a *app) showCommand(ctx context.Context, session, id string) error {
	e := newExecution(a.client, session)
	e.stdout, e.stderr = sievedBoth(a.stdout, a.stderr)
	e.id, e.watches = id, true
	reply, err := e.run(ctx, func(ctx context.Context, server *client.Client) (*client.ExecStream, error) {
		return server.FollowCommand(ctx, session, id, 0, 0, false)
	})
	if err == nil && reply.ExitCode != 0 {
		err = codeError(reply.ExitCode)
	}
	return err
}

func printCommands(w io.Writer, list []client.Command, now time.Time) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tSTATUS\tAGE\tTOOK\tOUTPUT\tCOMMAND")
	for _, i := range list {
		status, began := string(i.Status), "-"
		if i.QueuePosition > 0 {
			status += fmt.Sprintf("(place %d)", i.QueuePosition)
		}
		if i.ExitCode != nil {
			status += fmt.Sprintf("(%d)", *i.ExitCode)
		}
		if i.StartedAt != nil {
			began = age(now.Sub(*i.StartedAt))
		}
		took := time.Duration(i.DurationMS) * time.Millisecond
		fmt.Fprintf(t, "%s\t%s\t%s\t%v\t%d\t%s\n", printable(i.CommandID), printable(status), began, took,
			i.StdoutBytes+i.StderrBytes, clipped(printable(i.Text), captionWidth))
	}
	return t.Flush()
}
