package catalog_test

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
)

// TestMain fails the package when a goroutine is left: a connection, a waiting call, a ping.
func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		_ = f.Value.Set("8") // these tests wait for processes more than they compute
	}
	code := m.Run()
	if left := goroutines(); left != "" && code == 0 {
		fmt.Fprintf(os.Stderr, "goroutines that nobody ended:\n%s\n", left)
		code = 1
	}
	os.Exit(code)
}

// goroutines waits until only this one and the runtime's are left, and tells of the others.
func goroutines() string {
	var left []string
	poll(func() bool {
		buf := make([]byte, 1<<20)
		buf = buf[:runtime.Stack(buf, true)]
		left = nil
		for g := range strings.SplitSeq(string(buf), "\n\n") {
			if !strings.Contains(g, "catalog_test.goroutines") && !strings.Contains(g, "os/signal.") &&
				!strings.Contains(g, "runtime/pprof.") {
				left = append(left, g)
			}
		}
		return len(left) == 0
	})
	return strings.Join(left, "\n\n")
}
