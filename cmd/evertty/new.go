package main

import (
	"cmp"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

func newNew(a *app) *cobra.Command {
	var o creating
	v := viewing{scrollback: client.AllHistory, nested: true}
	c := &cobra.Command{
		Use:   "new [flags] [-- CMD...]",
		Short: "Start a program in a new terminal",
		Long: `Starts CMD (a login shell without one) in a new terminal and shows it here. With
-d it only prints the terminal's id.`,
		Example: `  evertty new --name build
  evertty new -d --cwd /srv/app --env PORT=8080 -- make serve
  evertty new --sandbox workspace --memory 2GiB -- my-agent`,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, args []string) error {
			if a.guest != nil && !isTTY(a.stdin, a.stdout) {
				o.detached = true // ssh without -t
			}
			if o.asJSON && !o.detached {
				return usage(errors.New("new: --json goes with -d"))
			}
			var keys []key
			if !o.detached {
				var err error
				if keys, err = canView(a, v); err != nil {
					return err
				}
				o.statusRow = v.status
			}
			info, err := a.create(c, o, args)
			if err != nil {
				return err
			}
			if !o.detached {
				return a.view(c.Context(), info, v, keys)
			}
			return printReply(a.stdout, o.asJSON, info, line(func(i client.Terminal) string { return i.ID }))
		},
	}
	o.flags(c)
	v.flags(c)
	c.Flags().BoolVar(&o.asJSON, "json", false, "print JSON")
	return a.talks(c)
}

// create starts the program as o says; what it leaves open is taken from here.
func (a *app) create(c *cobra.Command, o creating, cmd []string) (client.Terminal, error) {
	r := o.CreateTerminal
	r.Cmd = cmd
	r.Sandbox, r.Limits = wire.Sandbox(o.sandbox), o.limits()
	if c.Flags().Changed("scrollback") {
		r.Scrollback = &o.scrollback
	}
	server, err := a.reach()
	if err != nil {
		return client.Terminal{}, err
	}
	if r.Cwd == "" && server.Local() {
		r.Cwd, _ = os.Getwd() // a directory that is gone is left to the server
	}
	cols, rows, _ := a.size()
	if o.statusRow {
		rows = aboveStatus(rows)
	}
	if cols = cmp.Or(o.cols, min(cols, maxSize)); cols > 0 {
		r.Cols = &cols
	}
	if rows = cmp.Or(o.rows, min(rows, maxSize)); rows > 0 {
		r.Rows = &rows
	}
	return server.Create(c.Context(), o.session, r)
}

// size is the size of the terminal this program runs in, if any.
func (a *app) size() (cols, rows int, ok bool) {
	for _, f := range []*os.File{a.stdout, a.stdin} {
		if cols, rows, ok = sizeOf(f); ok {
			return cols, rows, true
		}
	}
	return 0, 0, false
}
