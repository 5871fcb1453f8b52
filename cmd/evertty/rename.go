package main

import (
	"fmt"
	"regexp"
	"strconv"
	"sync"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

func newRename(a *app) *cobra.Command {
	return asking(a, &cobra.Command{
		Use:   "rename ID NAME",
		Short: "Give a terminal another name",
		Long: `The name is unique in the session. Programs that run keep what they were told in
EVERTTY_PTY, which is the id.` + referenceHelp,
		Example:           "  evertty rename 3k1v build",
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: a.completeFirst(terminalNames),
	}, func(c *cobra.Command, server *client.Client, args []string) (client.Terminal, error) {
		ids, err := idsOf(c.Context(), server, args[0])
		if err != nil {
			return client.Terminal{}, err
		}
		return server.Change(c.Context(), ids[0], wire.ChangeTerminal{Name: &args[1]})
	}, silent[client.Terminal])
}

func newResize(a *app) *cobra.Command {
	return asking(a, &cobra.Command{
		Use:   "resize ID COLSxROWS",
		Short: "Change the size of a terminal",
		Long: `It counts whatever the size policy; with another policy than fixed the next act of
a viewer may change it again.` + referenceHelp,
		Example: "  evertty resize build 120x40",
		Args: func(c *cobra.Command, args []string) error {
			if err := cobra.ExactArgs(2)(c, args); err != nil {
				return err
			}
			_, err := parseSize(args[1])
			return err
		},
		ValidArgsFunction: a.completeFirst(terminalNames),
	}, func(c *cobra.Command, server *client.Client, args []string) (wire.Resized, error) {
		size, _ := parseSize(args[1])
		ids, err := idsOf(c.Context(), server, args[0])
		if err != nil {
			return wire.Resized{}, err
		}
		return server.API().ResizeTerminal(c.Context(),
			wire.ResizeTerminal{TerminalRef: wire.TerminalRef{ID: ids[0]}, Size: size})
	}, silent[wire.Resized])
}

var sizeForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9]{1,4})x([0-9]{1,4})$`) })

// parseSize reads COLSxROWS.
func parseSize(text string) (wire.Size, error) {
	m := sizeForm().FindStringSubmatch(text)
	if m == nil {
		return wire.Size{}, fmt.Errorf("resize: got %.80q, allowed is COLSxROWS, such as 80x24", text)
	}
	cols, _ := strconv.Atoi(m[1])
	rows, _ := strconv.Atoi(m[2])
	if min(cols, rows) < 1 || max(cols, rows) > maxSize {
		return wire.Size{}, fmt.Errorf("resize: got %q, columns and rows may be 1 to %d", text, maxSize)
	}
	return wire.Size{Cols: cols, Rows: rows}, nil
}
