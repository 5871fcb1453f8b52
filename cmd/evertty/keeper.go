//go:build linux

package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/pty/keeper/holder"
)

// newKeeper is the verb that `evertty serve` starts by itself; see package keeper.
func newKeeper(a *app) *cobra.Command {
	var idle time.Duration
	log := serveFlags{logFormat: logText, logLevel: "info"}
	c := &cobra.Command{
		Use:    "keeper",
		Short:  "Hold the terminals of a data directory (serve starts it by itself)",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			dir, err := a.dir()
			if err != nil {
				return err
			}
			return holder.Run(holder.Options{Dir: dir, Idle: idle, Release: keeperRelease(),
				Log: log.logger(os.Stderr)})
		},
	}
	c.Flags().DurationVar(&idle, "idle", holder.DefaultIdle,
		"`time` it stays when it holds nothing and no server is there")
	addFlags(c, flag{"log-format", "", newEnum(&log.logFormat, logText, logJSON), "form of its log, as of serve"})
	return c
}

// keeperRelease tells binaries apart, also two builds of one version: a server
// has a keeper of another release become its own.
func keeperRelease() string {
	release := programVersion()
	if i, err := os.Stat("/proc/self/exe"); err == nil { // what runs, whatever its name means by now
		release = fmt.Sprintf("%s %d %d", release, i.Size(), i.ModTime().UnixNano())
	}
	return release
}
