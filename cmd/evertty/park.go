package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

func newPark(a *app) *cobra.Command {
	return a.onTerminals(&cobra.Command{
		Use:   "park ID...",
		Short: "Move screens of idle terminals from memory to disk",
		Long: `The programs run on. The first look at the screen, and the first byte of output
or input, brings it back exactly. A terminal that somebody watches is refused.
"evertty serve --park-after 10m" does it by itself.`,
		Example: `  evertty park build`,
	}, func(ctx context.Context, server *client.Client, id string) (client.Terminal, error) {
		return server.API().ParkTerminal(ctx, wire.TerminalRef{ID: id})
	})
}
