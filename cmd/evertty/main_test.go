//go:build linux

package main

import (
	"os"
	"testing"

	"github.com/evertty/evertty/internal/strictmodes/strictmodestest"
)

// asProgram is the variable that makes this test's binary the program itself, for tests of what only a process has:
// signals, an exit, a terminal.
const asProgram = "EVERTTY_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" || len(os.Args) > 1 && os.Args[1] == "serve" { // that a verb starts
		main()
	}
	os.Exit(strictmodestest.Main(m))
}
