package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

// maxCommands is the most that --number takes: what a shell's history holds.
const maxCommands = 1000

func newCommands(a *app) *cobra.Command {
	var cancel bool
	var number int
	c := &cobra.Command{
		Use:   "commands [ID]",
		Short: "List the commands of a session, or print the output of one",
		Long: `Lists what was run in the shells of a session, the newest last. With the ID of a
command it prints its output, from the beginning to its end, and ends with its exit
code; Ctrl-C leaves the command alone.`,
		Args: cobra.MaximumNArgs(1),
	}
	session := a.sessionFlag(c, "`session` they belong to")
	c.ValidArgsFunction = a.completeFirst(commandIDs(session))
	c.Flags().VarP(newInt(&number, 20, 1, maxCommands), "number", "n", "the newest `N` commands")
	c.Flags().BoolVar(&cancel, "cancel", false, "end the command, as Ctrl-C does")
	asJSON := jsonFlag(c)
	c.RunE = a.onServer(func(c *cobra.Command, server *client.Client, args []string) error {
		if len(args) == 0 {
			if cancel {
				return usage(errors.New("commands: --cancel needs the ID of a command"))
			}
			list, err := server.Commands(c.Context(), *session, number, "")
			if err != nil {
				return err
			}
			return printReply(a.stdout, *asJSON, list, table("ID\tSTATUS\tAGE\tTOOK\tOUTPUT\tCOMMAND", commandRow))
		}
		ref := commandRef(*session, args[0])
		switch {
		case cancel:
			reply, err := server.API().CancelCommand(c.Context(), wire.CancelCommand{CommandRef: ref})
			if err != nil {
				return err
			}
			return printReply(a.stdout, *asJSON, reply, silent)
		case *asJSON:
			command, err := server.API().GetCommand(c.Context(), ref)
			if err != nil {
				return err
			}
			return printJSON(a.stdout, command)
		}
		return showCommand(c.Context(), a, *session, args[0])
	})
	return a.talks(c)
}

func commandRef(session, id string) wire.CommandRef {
	return wire.CommandRef{ShellRef: wire.ShellRef{SessionRef: wire.SessionRef{Session: session}}, Command: id}
}

// showCommand prints the output of a command and ends as it does.
func showCommand(ctx context.Context, a *app, session, id string) error {
	e := newExecution(a.client, session)
	e.stdout, e.stderr = sievedBoth(a.stdout, a.stderr)
	e.id, e.watches = id, true
	reply, err := e.run(ctx, func(ctx context.Context, server *client.Client) (*client.ExecStream, error) {
		return server.FollowCommand(ctx, session, id, 0, 0, false)
	})
	if err != nil {
		return err
	}
	return ended(reply.ExitCode)
}

func commandRow(i client.Command) []any {
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
	return []any{i.CommandID, status, began, time.Duration(i.DurationMS) * time.Millisecond,
		i.StdoutBytes + i.StderrBytes, i.Text}
}
