//go:build linux

package main

import (
	"strings"
	"testing"
)

// TestServeVerify: the debugging switch is a flag, a variable and a key like the
// others, and off when nobody says.
func TestServeVerify(t *testing.T) {
	t.Setenv("EVERTTY_DATA_DIR", t.TempDir())
	refused := func(from string, args ...string) {
		t.Helper()
		o := evertty(t, "", append([]string{"serve"}, args...)...)
		if want := from + `: got "perhaps", allowed is true or false`; o.code != exitUsage ||
			!strings.Contains(o.stderr, want) {
			t.Errorf("%+v, want %s", o, want)
		}
	}
	refused("--verify", "--verify=perhaps")
	file := tomlFile(t, `verify = "perhaps"`)
	refused("verify (file "+file+")", "--config", file)
	t.Setenv("EVERTTY_VERIFY", "perhaps")
	refused("verify (variable EVERTTY_VERIFY)")
	var a app
	if f := a.newServe().Flags().Lookup("verify"); f == nil || f.DefValue != "false" {
		t.Errorf("%+v", f)
	}
}
