package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

func newRestart(a *app) *cobra.Command {
	return a.onTerminals(&cobra.Command{
		Use:   "restart ID...",
		Short: "Start ended programs again",
		Long: `The same command starts in the directory the program had last, with the
environment it was created with, under the same id. The old screen stays above a
line that says when and why.` + referenceHelp,
		Example: `  evertty restart build`,
	}, func(ctx context.Context, server *client.Client, id string) (client.Terminal, error) {
		info, err := server.API().RestartTerminal(ctx, wire.TerminalRef{ID: id})
		if info.CwdFallback != "" {
			a.tell(fmt.Sprintf("no program can start in %s; %s is in %s", info.CwdFallback, id, info.Cwd))
		}
		return info, err
	})
}
