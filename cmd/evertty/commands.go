package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
)

// maxCommands is the most that --number takes: what a shell's history holds.
const maxCommands = 1000

func newCommands(a *app) *cobra.Command {
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
		RunE: a.onServer(func(c *cobra.Command, server *client.Client, args []string) error {
			switch {
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
				return showCommand(c.Context(), a, session, args[0])
			}
			list, err := server.Commands(c.Context(), session, number, "")
			if err != nil {
				return err
			}
			return printList(a.stdout, asJSON, list, func(i client.Command) json.RawMessage { return i.Raw },
				"ID\tSTATUS\tAGE\tTOOK\tOUTPUT\tCOMMAND", commandRow)
		}),
	}
	c.Flags().StringVarP(&session, "session", "s", defaultSession, "`session` they belong to")
	_ = c.RegisterFlagCompletionFunc("session", a.complete(sessionNames))
	c.Flags().VarP(newInt(&number, 20, 1, maxCommands), "number", "n", "the newest `N` commands")
	c.Flags().BoolVar(&cancel, "cancel", false, "end the command, as Ctrl-C does")
	jsonFlag(c, &asJSON)
	return a.talks(c)
}

// showCommand prints the output of a command and ends as it does.
func showCommand(ctx context.Context, a *app, session, id string) error {
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

func commandRow(i client.Command) string {
	status, began := string(i.Status), "-"
	if i.QueuePosition > 0 {
		status += fmt.Sprintf("(place %d)", i.QueuePosition)
	}
	if i.ExitCode != nil {
		status += fmt.Sprintf("(%d)", *i.ExitCode)
	}
	if i.StartedAt != nil {
		began = age(time.Since(*i.StartedAt))
	}
	took := time.Duration(i.DurationMS) * time.Millisecond
	return fmt.Sprintf("%s\t%s\t%s\t%v\t%d\t%s", printable(i.CommandID), printable(status), began, took,
		i.StdoutBytes+i.StderrBytes, clipped(printable(i.Text), captionWidth))
}
