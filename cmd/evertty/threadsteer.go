package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

func newThreadSteer(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "steer THREAD TEXT | THREAD -",
		Short: "Leave a message for who drives a thread",
		Long: `Leaves a message that whoever drives the thread gets with its next turn; - reads it
from standard input. With --drain it takes the messages that wait and prints them.`,
		Example: `  evertty thread steer work "do not touch the database"
  evertty thread steer work --drain`,
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: a.completeFirst(threadIDs),
	}
	drain := c.Flags().Bool("drain", false, "take the messages that wait")
	asJSON := jsonFlag(c)
	c.PreRunE = func(_ *cobra.Command, args []string) error {
		if *drain == (len(args) == 2) {
			return errors.New("thread steer: a TEXT or --drain is needed, and not both")
		}
		return nil
	}
	c.RunE = a.onServer(func(c *cobra.Command, server *client.Client, args []string) error {
		if *drain {
			waiting, err := server.API().Drain(c.Context(), threadRef(args[0]))
			if err != nil {
				return err
			}
			return printReply(a.stdout, *asJSON, append([]string{}, waiting.Messages...), printMessages)
		}
		seq, err := steer(c.Context(), a, server, args[0], args[1])
		if err != nil || !*asJSON {
			return err
		}
		return printJSON(a.stdout, seq)
	})
	return a.talks(c)
}

func steer(ctx context.Context, a *app, server *client.Client, thread, word string) (seq wire.Seq, err error) {
	text, err := steerText(a, word)
	if err != nil {
		return seq, err
	}
	if _, err := server.Thread(ctx, thread); err != nil {
		return seq, err // a message would make a thread of a name that was mistyped
	}
	return server.API().Steer(ctx, wire.Steer{ThreadRef: threadRef(thread), Message: text})
}

// maxSteer bounds a message, in bytes; the server takes less than that.
const maxSteer = 1 << 20

func steerText(a *app, word string) (string, error) {
	if word != "-" {
		return word, nil
	}
	text, err := io.ReadAll(io.LimitReader(a.stdin, maxSteer+1))
	if err == nil && len(text) > maxSteer {
		err = usage(fmt.Errorf("thread steer: the message has more than %d bytes", maxSteer))
	}
	return string(text), err
}

func printMessages(w io.Writer, list []string) error {
	for _, message := range list {
		if _, err := fmt.Fprintln(w, safeText(message)); err != nil {
			return err
		}
	}
	return nil
}
