package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/wire"
)

// noLogin says what a logout of the command line would be.
const noLogin = `The command line has no login: it shows the server its token. The page logs a browser out.
evertty logout --all logs every browser out, and ends all tickets and what they have opened.
`

func newLogout(a *app) *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use:   "logout",
		Short: "Log every browser out",
		Long: `With --all every browser has to log in again, and all tickets end; what they have
opened is closed. Programs go on. Without --all nothing ends: the command line has
no login.`,
		Example: "  evertty logout --all",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if !all {
				_, err := fmt.Fprint(a.stdout, noLogin)
				return err
			}
			server, err := a.reach()
			if err != nil {
				return err
			}
			_, err = server.API().LogOut(c.Context(), wire.LogOut{All: true})
			return err
		},
	}
	c.Flags().BoolVar(&all, "all", false, "end all logins and all tickets")
	return a.talks(c)
}
