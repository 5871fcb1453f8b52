package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/wire"
)

// defaultOwner is who resumes a thread by hand.
const defaultOwner = "CommandLine"

func newThreadExport(a *app) *cobra.Command {
	var rid, file string
	c := a.ofThread("export", "Write the thread's record, as Loader's files have it",
		func(c *cobra.Command, server *client.Client, thread string) error {
			from, err := server.ExportRecord(c.Context(), thread, rid)
			if err != nil {
				return err
			}
			defer from.Close()
			if file == "" || file == "-" {
				_, err = io.Copy(terminalJSON(a.stdout), from)
				return err
			}
			to, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, recordingMode)
			if err != nil {
				return err
			}
			_, err = io.Copy(to, from)
			return errors.Join(err, to.Close())
		})
	c.Flags().StringVar(&rid, "record", "", "a record that is not the current one, such as one before clear")
	c.Flags().StringVarP(&file, "output", "o", "", "the file to write instead of the standard output")
	return c
}

func newThreadImport(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "import THREAD FILE",
		Short: "Make a record file the thread's record; - is the standard input",
		Long: "Make a record file, one of evertty's or of Loader's, the thread's record. The thread is " +
			"made when it is not there; a record that it has is kept.",
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: a.completeFirst(threadIDs),
		RunE: func(c *cobra.Command, args []string) error {
			text, err := recordText(a, args[1])
			if err != nil {
				return err
			}
			server, err := a.client()
			if err != nil {
				return err
			}
			h, err := server.ImportRecord(c.Context(), args[0], text)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.stdout, "%s: %d messages\n", printable(h.SessionID), h.Messages)
			return nil
		},
	}
	return a.talks(c)
}

// recordText is what a record file has; - is the standard input.
func recordText(a *app, file string) (text []byte, err error) {
	if file == "-" {
		text, err = io.ReadAll(io.LimitReader(a.stdin, conversation.MaxImport+1))
	} else {
		text, err = readUpTo(file, conversation.MaxImport)
	}
	switch {
	case err != nil:
		return nil, err
	case len(text) > conversation.MaxImport:
		return nil, usage(fmt.Errorf("%s is longer than a record may be: %d bytes", file, conversation.MaxImport))
	case !json.Valid(text):
		return nil, usage(fmt.Errorf("%s is not JSON", file))
	}
	return text, nil
}

func newThreadCompact(a *app) *cobra.Command {
	var o wire.Compact
	var summary string
	c := a.ofThread("compact", "Put the older messages of a thread behind a summary; none is lost",
		func(c *cobra.Command, server *client.Client, thread string) error {
			if c.Flags().Changed("summary") {
				o.Summary = &summary
			}
			done, err := server.CompactThread(c.Context(), thread, o)
			if err != nil {
				return err
			}
			if !done.Compacted {
				fmt.Fprintln(a.stdout, "nothing to compact")
				return nil
			}
			fmt.Fprintf(a.stdout, "%d messages are behind a summary, about %d tokens became %d\n",
				done.RemovedMessageCount,
				done.OriginalInputTokens, done.CompressedInputTokens)
			return nil
		})
	c.Flags().IntVar(&o.KeepLast, "keep", 0, "messages that stay as they are (default 4)")
	c.Flags().Int64Var(&o.Threshold, "threshold", 0, "estimated tokens from which on it is worth it (default 100000)")
	c.Flags().StringVar(&summary, "summary", "", "the summary, instead of one that the server makes")
	return c
}

func newThreadResume(a *app) *cobra.Command {
	var owner string
	var asJSON bool
	c := &cobra.Command{
		Use:               "resume [THREAD]",
		Short:             "Take over a thread, by default the one that was changed last, and show where it stands",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeFirst(threadIDs),
		RunE: a.onServer(func(c *cobra.Command, server *client.Client, args []string) error {
			thread, err := threadOrLatest(c.Context(), server, args)
			if err != nil {
				return err
			}
			s, err := server.AttachThread(c.Context(), thread, owner)
			if err != nil {
				return err
			}
			if th, err := server.Thread(c.Context(), thread); err == nil && th.Sandbox.Status == "paused" {
				if _, err := server.ResumeThread(c.Context(), thread); err != nil {
					return err
				}
			}
			if asJSON {
				return printJSON(a.stdout, s.Raw)
			}
			return printStanding(a, s)
		}),
	}
	c.Flags().StringVar(&owner, "owner", defaultOwner, "the type of who drives the thread from now on")
	jsonFlag(c, &asJSON)
	return a.talks(c)
}

func threadOrLatest(ctx context.Context, server *client.Client, args []string) (string, error) {
	if len(args) == 1 {
		_, err := server.Thread(ctx, args[0]) // a name that was mistyped makes no thread
		return args[0], err
	}
	h, err := server.LatestRecord(ctx)
	return h.ThreadID, err
}

func printStanding(a *app, s client.Attached) error {
	t := newTable(a.stdout)
	task := "-"
	if s.CurrentTask != nil {
		task = clipped(printable(*s.CurrentTask), captionWidth)
	}
	fmt.Fprintf(t, "thread\t%s\nrecord\t%s\ntask\t%s\nmode\t%s\npermissions\t%s\n", printable(s.ThreadID),
		printable(s.SessionID), task, printable(s.WorkflowMode), printable(s.PermissionMode))
	return t.Flush()
}
