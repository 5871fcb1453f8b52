//go:build !linux

package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
)

// errLinuxOnly is the answer of the verbs of a server's machine.
var errLinuxOnly = usage(errors.New("serve runs on Linux only; this program talks to servers elsewhere, see --server"))

// linuxOnly is a verb that is refused here, whatever its arguments are.
func linuxOnly(use, short string, hidden bool) *cobra.Command {
	return &cobra.Command{
		Use:                use,
		Short:              short + " (Linux only)",
		Hidden:             hidden,
		DisableFlagParsing: true,
		RunE: func(c *cobra.Command, args []string) error {
			for _, arg := range args {
				if arg == "--help" || arg == "-h" {
					return c.Help()
				}
			}
			return errLinuxOnly
		},
	}
}

func (a *app) newServe() *cobra.Command { return linuxOnly("serve", "Start the server", false) }

func newDoctor(*app) *cobra.Command {
	return linuxOnly("doctor", "Find servers of this user, and what is wrong", false)
}

func newStop(*app) *cobra.Command { return linuxOnly("stop", "Stop the server", false) }

func newBackup(*app) *cobra.Command {
	return linuxOnly("backup", "Write all terminals, shells and threads to one file", false)
}

func newRestore(*app) *cobra.Command {
	return linuxOnly("restore", "Make a data directory of a backup", false)
}

func newUser(*app) *cobra.Command {
	return linuxOnly("user", "Users of a server", false)
}

func newBench(*app) *cobra.Command {
	return linuxOnly("bench", "Measure a server of this machine, or an engine", false)
}

func newKeeper(*app) *cobra.Command { return linuxOnly("keeper", "Hold programs", true) }

func newRelay(*app) *cobra.Command { return linuxOnly("relay", "Hold a remote program", true) }

// startServer says that no server can be started here.
func (a *app) startServer(dir string) error {
	_, err := client.Discover(dir)
	return err
}

// keepersOnly reports whether only a data directory says where the server is: none does here.
func keepersOnly(*app) bool { return false }

func killKeepers(context.Context, *app, bool) (found bool, err error) { return false, nil }
