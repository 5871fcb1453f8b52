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

// versionReport is what --json prints.
type versionReport struct {
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func newVersion(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  evertty version --json",
		Args:    cobra.NoArgs,
	}
	asJSON := jsonFlag(c)
	c.RunE = func(*cobra.Command, []string) error {
		return printReply(a.stdout, *asJSON, versionOf(), line(versionLine))
	}
	return c
}

func versionOf() versionReport {
	return versionReport{programVersion(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
}

func versionLine(v versionReport) string {
	return fmt.Sprintf("evertty %s (%s, %s)", v.Version, v.Go, v.Platform)
}
