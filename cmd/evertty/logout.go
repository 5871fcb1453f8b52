package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/wire"
)

// noLogin says what a logout of the command line would be.
const noLogin = `The command line has no login: it shows the server its token. The page logs a browser out.
evertty logout --all logs every browser out, and ends all tickets and shares and what they have opened.
`

func newLogout(a *app) *cobra.Command {
	var all, asJSON bool
	c := &cobra.Command{
		Use:   "logout",
		Short: "Log every browser out",
		Long: `With --all every browser has to log in again, and all tickets and shares end; what
they have opened is closed. Programs go on. Without --all nothing ends: the command line has
no login.`,
		Example: "  evertty logout --all",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if !all {
				return printReply(a.stdout, asJSON, wire.LogOut{}, func(w io.Writer, _ wire.LogOut) error {
					_, err := fmt.Fprint(w, noLogin)
					return err
				})
			}
			server, err := a.reach()
			if err != nil {
				return err
			}
			out := wire.LogOut{All: true}
			if _, err = server.API().LogOut(c.Context(), out); err != nil {
				return err
			}
			return printReply(a.stdout, asJSON, out, silent)
		},
	}
	addFlags(c, flag{"all", "", &all, "end all logins, tickets and shares"},
		flag{"json", "", &asJSON, "print JSON: whether all were ended"})
	return a.talks(c)
}
