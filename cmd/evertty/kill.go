package main

import (
	"errors"

	"github.com/spf13/cobra"
)

func (a *app) newKill() *cobra.Command {
	var signal string
	var purge bool
	c := &cobra.Command{
		Use:   "kill ID...",
		Short: "End terminals, or send a signal",
		Long: `Without --signal the whole process tree is ended and the terminal leaves the
list: SIGHUP, and after three seconds SIGKILL to what is left. Its last screen
stays readable by its id until it is purged.
With --signal only that signal is sent, to the foreground process group.`,
		Example: `  evertty kill build
  evertty kill build --signal INT`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: a.completeTerminals,
		RunE: func(c *cobra.Command, ids []string) error {
			if signal != "" && purge {
				return usage(errors.New("kill: --signal and --purge exclude each other"))
			}
			server, err := a.client()
			if err != nil {
				return err
			}
			var failed error
			for _, id := range ids {
				if signal != "" {
					err = server.Signal(c.Context(), id, signal)
				} else {
					err = server.Delete(c.Context(), id, purge)
				}
				failed = errors.Join(failed, err)
			}
			return failed
		},
	}
	c.Flags().StringVar(&signal, "signal", "", "send only this `signal` (INT, TERM, HUP, …)")
	c.Flags().BoolVar(&purge, "purge", false, "also forget the last screen")
	return a.talks(c)
}
