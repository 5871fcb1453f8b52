package service

import (
	"flag"
	"os"
	"testing"
)

// TestMain lets the test's own binary be the server that TestKill kills.
func TestMain(m *testing.M) {
	if path := os.Getenv("EVERTTY_TEST_WRITE"); path != "" {
		write(path)
	}
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		_ = f.Value.Set("8") // these tests wait for the disk more than they compute
	}
	os.Exit(m.Run())
}
