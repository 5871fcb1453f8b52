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
	"runtime"
	"strconv"
	"testing"
)

// binary is the program under test. Under the race detector it is built with it
// too, and quick is the same without: calls that only print and end take half a
// second longer with it.
var binary, quick string

// beside is how many tests run at a time for each processor, unless -parallel says
// otherwise: most of a test is waiting for other processes.
const beside = 3

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == withoutLandlock {
		fmt.Fprintln(os.Stderr, execWithoutLandlock(os.Args[2:]))
		os.Exit(1)
	}
	flag.Parse()
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) (code int) {
	if f := flag.Lookup("test.list"); f != nil && f.Value.String() != "" {
		return m.Run() // nothing will be started
	}
	own, err := newOwnDir()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if left := own.close(); len(left) > 0 {
			fmt.Fprintf(os.Stderr, "left over after the tests: %q\n", left)
			code = max(code, 1)
		}
	}()
	if err := buildAll(own.path); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := runBeside(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// runBeside sets -parallel and -shuffle where nobody has. In the order of their files the tests with a browser would
// come one after the other, and most of those that run at a time would wait for one of the two browsers. The order is
// another one, and always the same.
func runBeside() error {
	set := map[string]string{
		"test.parallel": strconv.Itoa(beside * max(2, runtime.GOMAXPROCS(0))),
		"test.shuffle":  "1",
	}
	flag.Visit(func(f *flag.Flag) { delete(set, f.Name) })
	for name, value := range set {
		if err := flag.Set(name, value); err != nil {
			return err
		}
	}
	return nil
}

// buildAll makes the binaries of all tests.
func buildAll(dir string) error {
	dir = filepath.Join(dir, binDir)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	binary, quick = filepath.Join(dir, "evertty"), filepath.Join(dir, "evertty")
	if err := build(binary, raceEnabled); err != nil {
		return err
	}
	if !raceEnabled {
		return nil
	}
	quick = filepath.Join(dir, "evertty-quick")
	return build(quick, false)
}

// build makes the binary as the Makefile does, or with the race detector.
func build(to string, race bool) error {
	c := exec.Command("go", "build", "-trimpath", "-o", to)
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
