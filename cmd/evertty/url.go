package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

func newURL(a *app) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "url",
		Short: "Print a one-time URL that logs a browser in",
		Long: `The URL carries a ticket that works once and only for a short time. The
long-lived token never leaves its file.`,
		Example: "  xdg-open \"$(evertty url)\"",
		Args:    cobra.NoArgs,
		RunE: a.onServer(func(c *cobra.Command, server *client.Client, _ []string) error {
			t, err := server.Ticket(c.Context(), wire.TicketRequest{Login: true})
			if err != nil {
				return err
			}
			if strings.HasPrefix(server.Address(), "unix:") && !strings.HasPrefix(t.URL, "https:") {
				return errors.New("url: the server listens on a unix socket, which no browser reaches")
			}
			if asJSON {
				return printJSON(a.stdout, t)
			}
			_, err = fmt.Fprintln(a.stdout, t.URL)
			return err
		}),
	}
	jsonFlag(c, &asJSON)
	return a.talks(c)
}
