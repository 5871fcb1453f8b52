package main

import (
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

func newThreadExport(a *app) *cobra.Command {
	var rid, file string
	c := a.ofThread("export", "Write the thread's record, as Loader's files have it")
	c.RunE = a.onServer(func(c *cobra.Command, server *client.Client, args []string) error {
		from, err := server.ExportRecord(c.Context(), args[0], rid)
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
	addFlags(c,
		flag{"record", "", &rid, "a record that is not the current one, such as one before clear"},
		flag{"output", "o", &file, "the file to write instead of the standard output"},
	)
	_ = c.Flags().Bool("json", false, "for the form of other verbs: a record is JSON anyway")
	return a.talks(c)
}

func newThreadImport(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "import THREAD FILE",
		Short: "Make a record file the thread's record; - is the standard input",
		Long: "Make a record file, one of evertty's or of Loader's, the thread's record. The thread is " +
			"made when it is not there; a record that it has is kept.",
		Args: cobra.ExactArgs(2),
		ValidArgsFunction: func(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 1 {
				return nil, cobra.ShellCompDirectiveDefault // files
			}
			return a.completeFirst(threadIDs)(c, args, word)
		},
	}
	return asking(a, c, func(c *cobra.Command, server *client.Client, args []string) (h wire.RecordHead, err error) {
		text, err := recordText(a, args[1])
		if err != nil {
			return h, err
		}
		return server.ImportRecord(c.Context(), args[0], text)
	}, line(func(h wire.RecordHead) string { return fmt.Sprintf("%s: %d messages", h.SessionID, h.Messages) }))
}

// recordText reads a record file; - is the standard input.
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
	c := a.ofThread("compact", "Put the older messages of a thread behind a summary; none is lost")
	c.Flags().IntVar(&o.KeepLast, "keep", 0, "messages that stay as they are (default 4)")
	c.Flags().Int64Var(&o.Threshold, "threshold", 0, "estimated tokens from which on it is worth it (default 100000)")
	c.Flags().StringVar(&summary, "summary", "", "the summary, instead of one that the server makes")
	return asking(a, c, func(c *cobra.Command, server *client.Client, args []string) (wire.Compacted, error) {
		if c.Flags().Changed("summary") {
			o.Summary = &summary
		}
		return server.CompactThread(c.Context(), args[0], o)
	}, line(func(done wire.Compacted) string {
		if !done.Compacted {
			return "nothing to compact"
		}
		return fmt.Sprintf("%d messages are behind a summary, about %d tokens became %d", done.RemovedMessageCount,
			done.OriginalInputTokens, done.CompressedInputTokens)
	}))
}
