// Package tests looks at evertty from outside: it builds the binary, starts it,
// talks to it over HTTP, kills it, and looks at it in a real browser.
//
// Nothing here knows how the server is made. What a test claims is a fact that a
// user could see: a reply, an event, a screen, a file, a process. A test waits
// for such a fact and never for time to pass.
package tests

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// binary is the program under test. Under the race detector it is built with it
// too, and quick is the same without: calls that only print and end take half a
// second longer with it.
var binary, quick string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	if f := flag.Lookup("test.list"); f != nil && f.Value.String() != "" {
		return m.Run() // nothing will be started
	}
	dir, err := os.MkdirTemp("", "evertty-binary-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	// Servers of other users are started too.
	if err := os.Chmod(dir, 0o755); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	binary, quick = filepath.Join(dir, "evertty"), filepath.Join(dir, "evertty")
	err = build(binary, raceEnabled)
	if raceEnabled && err == nil {
		quick = filepath.Join(dir, "evertty-quick")
		err = build(quick, false)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// build makes the binary as the Makefile does, or with the race detector.
func build(to string, race bool) error {
	c := exec.Command("go", "build", "-o", to)
	c.Dir = ".."
	c.Env = os.Environ()
	if race {
		c.Args = append(c.Args, "-race")
	} else {
		c.Env = append(c.Env, "CGO_ENABLED=0")
	}
	c.Args = append(c.Args, "./cmd/evertty")
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}
