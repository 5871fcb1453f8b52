package main

import (
	"slices"
	"testing"

	"github.com/spf13/cobra"
)

// TestVerbsAreMadeAlone: the verb that a command line begins with is the only one that is made, below the name that
// finds it.
func TestVerbsAreMadeAlone(t *testing.T) {
	all := (&app{}).newRoot("")
	for _, g := range verbGroups {
		for _, v := range g.verbs {
			found, _, err := all.Find([]string{v.name})
			if err != nil || found.Name() != v.name || found.GroupID != g.title {
				t.Errorf("%s is %v of %q, %v; want %q", v.name, found.Name(), found.GroupID, err, g.title)
			}
			made := (&app{}).newRoot(aloneVerb([]string{v.name, "more"})).Commands()
			others := slices.DeleteFunc(made, func(c *cobra.Command) bool {
				return c.Name() == v.name || c.Name() == "help"
			})
			if len(others) > 0 && v.name != "man" {
				t.Errorf("%s makes %d other verbs, the first is %s", v.name, len(others), others[0].Name())
			}
		}
	}
	for _, args := range [][]string{nil, {"nosuch"}, {"help", "exec"}, {"--data-dir", "exec"}, {"man"}} {
		if alone := aloneVerb(args); alone != "" {
			t.Errorf("%q makes %s alone", args, alone)
		}
	}
}
