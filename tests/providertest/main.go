package providertest

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/evertty/evertty/tests/polling"
)

// Main runs the tests of a package, and fails when a goroutine is left: a connection, a waiting call, a ping. clean,
// when not nil, is called after the tests.
func Main(m *testing.M, clean func()) {
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		_ = f.Value.Set("8") // these tests wait for processes more than they compute
	}
	code := m.Run()
	if clean != nil {
		clean()
	}
	if left := goroutines(); left != "" && code == 0 {
		fmt.Fprintf(os.Stderr, "goroutines that did not end:\n%s\n", left)
		code = 1
	}
	os.Exit(code)
}

// goroutines waits until only this one and the runtime's are left, and returns the others.
func goroutines() string {
	var left []string
	polling.Until(Limit, func() bool {
		buf := make([]byte, 1<<20)
		buf = buf[:runtime.Stack(buf, true)]
		left = nil
		for g := range strings.SplitSeq(string(buf), "\n\n") {
			if !strings.Contains(g, "providertest.goroutines") && !strings.Contains(g, "os/signal.") &&
				!strings.Contains(g, "runtime/pprof.") {
				left = append(left, g)
			}
		}
		return len(left) == 0
	})
	return strings.Join(left, "\n\n")
}
