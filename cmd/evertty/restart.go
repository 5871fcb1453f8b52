package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) newRestart() *cobra.Command {
	c := &cobra.Command{
		Use:   "restart ID...",
		Short: "Start ended programs again",
		Long: `The same command starts in the directory the program had last, with the
environment it was created with, under the same id. The old screen stays above a
line that says when and why.`,
		Example:           `  evertty restart build`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: a.completeTerminals,
		RunE: func(c *cobra.Command, ids []string) error {
			server, err := a.client()
			if err != nil {
				return err
			}
			var failed error
			for _, id := range ids {
				info, err := server.Restart(c.Context(), id)
				failed = errors.Join(failed, err)
				if info.CwdFallback != "" {
					a.tell(fmt.Sprintf("no program can start in %s; %s is in %s", info.CwdFallback, id, info.Cwd))
				}
			}
			return failed
		},
	}
	return a.talks(c)
}
