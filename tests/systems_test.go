package tests

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// serverOnly are packages of the server: the client of another system has none of them.
var serverOnly = []string{"internal/server", "internal/terminal", "internal/thread", "internal/shell", "internal/proc",
	"internal/datadir", "internal/journal", "pty", "pty/keeper", "stream", "webui"}

// TestOtherSystems: the client verbs compile for other systems, with their tests, and without the server.
func TestOtherSystems(t *testing.T) {
	t.Parallel()
	for _, system := range []string{"darwin/arm64", "windows/amd64", "freebsd/amd64"} {
		goos, goarch, _ := strings.Cut(system, "/")
		run := func(args ...string) string {
			c := exec.Command("go", args...)
			c.Dir = ".."
			c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch)
			out, err := c.CombinedOutput()
			if err != nil {
				t.Errorf("%s: go %s: %v\n%s", system, args[0], err, out)
			}
			return string(out)
		}
		run("vet", "-trimpath", "./cmd/evertty")
		deps := strings.Fields(run("list", "-deps", "./cmd/evertty"))
		for _, p := range serverOnly {
			for _, dep := range deps {
				if dep == module+p {
					t.Errorf("%s: the client has %s in it", system, p)
				}
			}
		}
	}
}
