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

// versionFlag gives the program --version. Cobra's own takes a template for other
// words: templates find methods by their names, so that the linker keeps the methods of all types, 7 MB.
func versionFlag(a *app, root *cobra.Command) {
	wanted := root.Flags().BoolP("version", "v", false, "version for "+root.Name())
	check, do := root.Args, root.RunE
	root.Args = func(c *cobra.Command, args []string) error {
		if *wanted {
			return nil
		}
		return check(c, args)
	}
	root.RunE = func(c *cobra.Command, args []string) error {
		if *wanted {
			fmt.Fprintln(a.stdout, versionLine(versionOf()))
			return nil
		}
		return do(c, args)
	}
}

func versionOf() versionReport {
	return versionReport{programVersion(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
}

func versionLine(v versionReport) string {
	return fmt.Sprintf("evertty %s (%s, %s)", v.Version, v.Go, v.Platform)
}
