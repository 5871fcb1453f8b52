package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

func newViewers(a *app) *cobra.Command {
	var kick string
	c := &cobra.Command{
		Use:   "viewers ID [lock|unlock|grant|deny [VIEWER]]",
		Short: "List who watches a terminal, lock its keyboard, or remove a viewer",
		Long: `Lists the connections that show the terminal: what they call themselves, what they
may do, and who holds the keyboard. lock lets one viewer type alone, grant hands
the keyboard over, deny refuses who asks for it, unlock lets everybody type.`,
		Example: `  evertty viewers build
  evertty viewers build lock 1790000000001
  evertty viewers build --kick 1790000000002`,
		Args:              cobra.RangeArgs(1, 3),
		ValidArgsFunction: a.completeFirst(terminalNames),
	}
	addFlags(c, flag{"kick", "", &kick, "remove this `viewer`; its ticket or share opens nothing more"})
	asJSON := jsonFlag(c)
	c.RunE = a.onServer(func(c *cobra.Command, server *client.Client, args []string) error {
		if kick != "" && len(args) > 1 {
			return usage(errors.New("viewers: --kick goes with no action"))
		}
		list, err := server.Resolve(c.Context(), args[0])
		if err != nil {
			return err
		}
		ref := wire.TerminalRef{ID: list[0].ID}
		switch {
		case kick != "":
			done, err := server.API().KickViewer(c.Context(), wire.KickViewer{TerminalRef: ref, Viewer: kick})
			if err != nil {
				return err
			}
			return printReply(a.stdout, *asJSON, done, silent)
		case len(args) == 2 && args[1] == "lock":
			return usage(errors.New("viewers: lock needs a VIEWER; evertty viewers ID lists them"))
		case len(args) > 1:
			in := wire.ControlTerminal{TerminalRef: ref, Action: args[1]}
			if len(args) > 2 {
				in.Viewer = args[2]
			}
			reply, err := server.API().ControlTerminal(c.Context(), in)
			if err != nil {
				return err
			}
			return printReply(a.stdout, *asJSON, reply, silent)
		}
		reply, err := server.API().ListViewers(c.Context(), ref)
		if err != nil {
			return err
		}
		return printReply(a.stdout, *asJSON, reply, func(w io.Writer, list wire.ViewerList) error {
			return table("VIEWER\tNAME\tROLE\tCLIENT\tSIZE\tAGE\tDOES", viewerRow(list.Control))(w, list.Viewers)
		})
	})
	return a.talks(c)
}

// viewerRow is one viewer in the table.
func viewerRow(c wire.Control) func(wire.Viewer) []any {
	return func(v wire.Viewer) []any {
		size := "-"
		if v.Cols > 0 {
			size = fmt.Sprintf("%dx%d", v.Cols, v.Rows)
		}
		return []any{v.ID, orDash(v.Name), v.Role, v.Client, size, age(time.Since(v.ConnectedAt)), doing(c, v)}
	}
}

// recently is how long after a key a viewer types, as the server has it.
const recently = 2 * time.Second

func doing(c wire.Control, v wire.Viewer) string {
	switch {
	case c.Holder != nil && *c.Holder == v.ID:
		return "holds the keyboard"
	case slices.Contains(c.Requests, v.ID):
		return "asks for the keyboard"
	case v.TypingAt != nil && time.Since(*v.TypingAt) < recently:
		return "types"
	case v.Hidden:
		return "looks at something else"
	}
	return "looks"
}
