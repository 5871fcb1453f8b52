package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
)

func newRestart(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "restart ID...",
		Short: "Start ended programs again",
		Long: `The same command starts in the directory the program had last, with the
environment it was created with, under the same id. The old screen stays above a
line that says when and why.`,
		Example:           `  evertty restart build`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: a.completeFirst(terminalNames),
		RunE: a.onServer(func(c *cobra.Command, server *client.Client, ids []string) error {
			var failed error
			for _, id := range ids {
				info, err := server.Restart(c.Context(), id)
				failed = errors.Join(failed, err)
				if info.CwdFallback != "" {
					a.tell(fmt.Sprintf("no program can start in %s; %s is in %s", info.CwdFallback, id, info.Cwd))
				}
			}
			return failed
		}),
	}
	return a.talks(c)
}
