package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
)

func (a *app) newKill() *cobra.Command {
	var signal string
	var purge, all bool
	c := &cobra.Command{
		Use:   "kill ID... | --all",
		Short: "End terminals and exec shells, or send a signal",
		Long: `Without --signal the whole process tree is ended and the terminal leaves the
list: SIGHUP, and after three seconds SIGKILL to what is left. Its last screen
stays readable by its id until it is purged.
With --signal only that signal is sent, to the foreground process group.
With --all and no signal the exec shells of all sessions end too, with everything
that was started in them and their history. Where no server runs, what its keeper
holds is ended; so are, without --data-dir, programs of keepers that nobody can
reach any more because their data directory is gone (evertty doctor lists them).`,
		Example: `  evertty kill build
  evertty kill build --signal INT
  evertty kill --all          before the server is stopped for good`,
		ValidArgsFunction: a.completeTerminals,
		RunE: func(c *cobra.Command, ids []string) error {
			switch {
			case signal != "" && purge:
				return usage(errors.New("kill: --signal and --purge exclude each other"))
			case all == (len(ids) > 0):
				return usage(errors.New("kill: terminals or --all are needed, and not both"))
			}
			server, err := a.client()
			if all && signal == "" && a.keepersOnly() {
				return a.killAll(c.Context(), server, err, purge)
			}
			if err != nil {
				return err
			}
			if all {
				ids, err = everyTerminal(c.Context(), server)
			}
			failed := err
			if all && signal == "" {
				failed = errors.Join(failed, endShells(c.Context(), server))
			}
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
	c.Flags().BoolVar(&all, "all", false, "every terminal and exec shell of the server")
	return a.talks(c)
}

// killAll ends everything of a server, or else of the keeper that one has left, and what nobody can reach. noServer is why there is no server, if that is so.
func (a *app) killAll(ctx context.Context, server *client.Client, noServer error, purge bool) error {
	if noServer == nil {
		noServer = endAll(ctx, server, purge)
	}
	absent := errors.Is(noServer, client.ErrNoServer)
	found, err := a.killKeepers(ctx, absent)
	if absent && found {
		noServer = nil
	}
	return errors.Join(noServer, err)
}

// endAll ends the terminals and shells of a server.
func endAll(ctx context.Context, server *client.Client, purge bool) error {
	ids, err := everyTerminal(ctx, server)
	if errors.Is(err, client.ErrNoServer) {
		return err
	}
	err = errors.Join(err, endShells(ctx, server))
	for _, id := range ids {
		err = errors.Join(err, server.Delete(ctx, id, purge))
	}
	return err
}

// everyTerminal is the ids of all listed terminals.
func everyTerminal(ctx context.Context, server *client.Client) ([]string, error) {
	list, err := server.List(ctx, "")
	ids := make([]string, len(list))
	for i, t := range list {
		ids[i] = t.ID
	}
	return ids, err
}

// endShells ends the exec shells of all sessions.
func endShells(ctx context.Context, server *client.Client) error {
	list, err := server.Shells(ctx, "")
	ended := map[string]bool{}
	for _, s := range list {
		if !ended[s.Session] {
			ended[s.Session] = true
			err = errors.Join(err, server.DeleteShells(ctx, s.Session))
		}
	}
	return err
}
