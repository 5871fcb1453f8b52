package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

func newURL(a *app) *cobra.Command {
	return asking(a, &cobra.Command{
		Use:   "url",
		Short: "Print a one-time URL that logs a browser in",
		Long: `The URL carries a ticket that works once and only for a short time. The
long-lived token never leaves its file.`,
		Example: "  xdg-open \"$(evertty url)\"",
		Args:    cobra.NoArgs,
	}, func(c *cobra.Command, server *client.Client, _ []string) (wire.Ticket, error) {
		t, err := server.Ticket(c.Context(), wire.TicketRequest{Login: true})
		if err == nil && strings.HasPrefix(server.Address(), "unix:") && !strings.HasPrefix(t.URL, "https:") {
			err = errors.New("url: the server listens on a unix socket, which no browser reaches")
		}
		return t, err
	}, line(func(t wire.Ticket) string { return t.URL }))
}
