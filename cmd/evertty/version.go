package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// release is the version of a release; the linker sets it (-X main.release=v1.2.3).
var release string

// programVersion is the release, else what Go knows of the source, else "dev".
func programVersion() string {
	if release != "" {
		return release
	}
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Version != "" && b.Main.Version != "(devel)" {
		return b.Main.Version
	}
	return "dev"
}

func newVersion(a *app) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  evertty version --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := struct {
				Version  string `json:"version"`
				Go       string `json:"go"`
				Platform string `json:"platform"`
			}{programVersion(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
			if asJSON {
				return printJSON(a.stdout, v)
			}
			_, err := fmt.Fprintf(a.stdout, "evertty %s (%s, %s)\n", v.Version, v.Go, v.Platform)
			return err
		},
	}
	jsonFlag(c, &asJSON)
	return c
}
