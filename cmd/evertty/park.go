package main

import (
	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

func newPark(a *app) *cobra.Command {
	return a.talks(&cobra.Command{
		Use:   "park ID...",
		Short: "Move screens of idle terminals from memory to disk",
		Long: `The programs run on. The first look at the screen, and the first byte of output
or input, brings it back exactly. A terminal that somebody watches is refused.
"evertty serve --park-after 10m" does it by itself.`,
		Example:           `  evertty park build`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: a.completeFirst(terminalNames),
		RunE: a.onServer(func(c *cobra.Command, server *client.Client, ids []string) error {
			return eachTerminal(c.Context(), server, ids, func(id string) error {
				_, err := server.API().ParkTerminal(c.Context(), wire.TerminalRef{ID: id})
				return err
			})
		}),
	})
}
