package journal

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/datadir"
)

// deadline ends a child that hangs.
const deadline = time.Minute

var update = flag.Bool("update", false, "write the golden file of the index; look at the difference before you keep it")

// helpers are what this test binary does when it is started as a child: things
// that change a whole process, or that end it.
var helpers = map[string]func(dir string) error{}

func TestMain(m *testing.M) {
	if name := os.Getenv("JOURNAL_TEST_HELPER"); name != "" {
		if err := helpers[name](os.Getenv("JOURNAL_TEST_DIR")); err != nil {
			_, _ = fmt.Fprintln(os.Stdout, "error:", err, "| no space:", errors.Is(err, datadir.ErrNoSpace))
			os.Exit(3)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// helper is the test binary as a child that runs a helper on dir.
func helper(t *testing.T, name, dir string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "JOURNAL_TEST_HELPER="+name, "JOURNAL_TEST_DIR="+dir)
	return cmd
}

// must ends the test when a preparation failed.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func openStore(t testing.TB, dir string) *datadir.Store {
	t.Helper()
	s, err := datadir.Open(dir)
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// files returns the names in a terminal's directory.
func files(t testing.TB, dir, id string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, "terminals", id))
	must(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func openFiles(t testing.TB) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	return len(entries)
}
